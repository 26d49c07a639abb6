/**
 * @module test/exhaustive/page-engineer
 * An encoding engineer's session in headless Chromium: twelve encodes of three codecs and two presets, one of which begins late and
 * one is smaller; two added encodes; guessed and edited series, an anchor, checkboxes, and saved files. All tests share one page;
 * Cancel and Back lose nothing.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { bdQuality, bdRate, type RatePoint } from '../../src/report/bd-rate.js';
import { bitrateText, sizeText } from '../../src/report/facts.js';
import { noChromium } from '../support/chromium.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { FIRST, lookAround } from '../support/looks.js';
import {
  allShown,
  checked,
  choose,
  drop,
  leave,
  pages,
  reportsOf,
  saved,
  says,
  start,
} from '../support/page.js';
import { openSent } from '../support/saved-reports.js';

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);

/** Frames of the video at 24 fps, and frames that one encode lacks at its start. */
const [FRAMES, LATE] = [48, 5];

const vpx = (speed: number) => [
  'libvpx-vp9',
  '-deadline',
  'realtime',
  '-cpu-used',
  String(speed),
  '-b:v',
  '0',
];
const aom = (speed: number) => ['libaom-av1', '-usage', 'realtime', '-cpu-used', String(speed), '-b:v', '0'];

/** Encoders with the options of both presets, and two qualities. */
const CODECS = {
  h264: {
    end: 'mp4',
    crf: [26, 34],
    fast: ['libx264', '-preset', 'superfast'],
    slow: ['libx264', '-preset', 'medium'],
  },
  vp9: { end: 'webm', crf: [30, 44], fast: vpx(8), slow: vpx(5) },
  av1: { end: 'mkv', crf: [34, 48], fast: aom(8), slow: aom(6) },
} as const;
type Codec = keyof typeof CODECS;

function film(): string {
  return ffmpeg(join(encodeFolder(), 'film.mp4'), [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=24', '-frames:v', String(FRAMES)],
    ...['-vf', 'noise=alls=6:allf=t:all_seed=3', '-pix_fmt', 'yuv420p'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '8'],
  ]);
}

/** @param odd a filter, and a word for the name */
function encoded(
  codec: Codec,
  preset: 'fast' | 'slow',
  crf: number,
  odd?: readonly [filter: string, name: string],
) {
  const { end, [preset]: encoder } = CODECS[codec];
  const name = `film-${codec}-${preset}-crf${crf}${odd ? `-${odd[1]}` : ''}.${end}`;
  return ffmpeg(join(encodeFolder(), name), [
    ...['-i', film(), ...(odd ? ['-vf', odd[0]] : [])],
    ...['-pix_fmt', 'yuv420p', '-c:v', ...encoder, '-crf', String(crf)],
  ]);
}

/** Twelve encodes, of which one is late and one small; and correct versions of those two. */
function encodes() {
  const odd = {
    vp9: [`trim=start_frame=${LATE},setpts=PTS-STARTPTS`, 'late'],
    av1: ['scale=480:270', '270p'],
  } as const;
  const twelve = (Object.keys(CODECS) as Codec[]).flatMap((codec) => {
    const [good, small] = CODECS[codec].crf;
    return [
      ...[encoded(codec, 'fast', good), encoded(codec, 'fast', small), encoded(codec, 'slow', good)],
      encoded(codec, 'slow', small, codec === 'h264' ? undefined : odd[codec]),
    ];
  });
  return { twelve, two: [encoded('vp9', 'slow', 44), encoded('av1', 'slow', 48)] };
}

const LATE_ONE = 'film-vp9-slow-crf44-late.webm';
const SMALL_ONE = 'film-av1-slow-crf48-270p.mkv';

/** BD-rate in percent and BD-quality by the library. @param rates range of the anchor in kb/s */
function bd(anchor: readonly RatePoint[], test: readonly RatePoint[], rates?: readonly [number, number]) {
  const options = rates && { rates: { min: rates[0], max: rates[1] } };
  return { rate: bdRate(anchor, test, options).value, quality: bdQuality(anchor, test, options).value };
}

/** Compares a number on the page with a value, to the digits on the page. */
function expectNumber(text: string | undefined, value: number): void {
  const bare = (text ?? '').replace('−', '-').replace(/[+ %]/g, '');
  const digits = /\.(\d+)$/.exec(bare)?.[1]?.length ?? 0;
  expect(bare).toBe(value.toFixed(digits));
}

/** Presses Cancel as soon as `count` encodes are scored. */
function cancelAfter(page: Page, count: number): Promise<void> {
  return page.evaluate((count) => {
    const timer = setInterval(() => {
      if (window.reports.length < count) return;
      clearInterval(timer);
      window.press('Cancel');
    }, 5);
  }, count);
}

describe.skipIf(absent !== '')(`an encoding engineer${absent}`, () => {
  const site = pages({ remembers: true });
  let page: Page;
  let files: ReturnType<typeof encodes>;

  beforeAll(async () => {
    files = encodes();
    page = await site.open({ ...FIRST, stays: true });
    await choose(page, film(), ...files.twelve);
  });

  const rows = () => page.locator('table.encodes tbody tr');
  const card = () => page.locator('section:has(> .bar #rates-heading)');
  const texts = (of: string) =>
    page.evaluate(
      (of) =>
        [...document.querySelectorAll(of)].map((row) =>
          [...row.querySelectorAll('th, td:not(.track-cell)')].map(
            (cell) => cell.querySelector('.open')?.textContent ?? cell.textContent ?? '',
          ),
        ),
      of,
    );
  const bdRows = () => texts('#results .bd tr');
  const bdOf = async (name: string) => (await bdRows()).find(([series]) => series === name)?.slice(1) ?? [];
  const series = () =>
    page
      .locator('.series li:not(.fresh)')
      .evaluateAll((all) =>
        all.map((row) => [row.querySelector('input')?.value, row.querySelectorAll('.chip').length]),
      );
  const scored = async () => (await reportsOf(page)).map(({ distorted }) => distorted.name);
  const box = (name: string) => page.getByLabel(`Include ${name} in tables, curves and BD-rate`);

  /** Rows of the saved comparison. */
  async function csv(): Promise<Record<string, string>[]> {
    const { text } = await saved(page, 'Download Comparison CSV');
    const [head = [], ...lines] = text
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    return lines.map((cells) => Object.fromEntries(cells.map((cell, i) => [head[i], cell])));
  }
  /** Points of encodes by the start of their names, without the late and the small one. */
  const curve = (all: readonly Record<string, string>[], start: string): RatePoint[] =>
    all
      .filter(
        ({ distorted = '' }) => distorted.startsWith(start) && ![LATE_ONE, SMALL_ONE].includes(distorted),
      )
      .map(({ kbps, vmaf_mean }) => ({ kbps: Number(kbps), quality: Number(vmaf_mean) }));

  it('is told before the run which encode is late and which is small', async () => {
    await says(page.locator('#findings .wrong')).toBe(`A score of ${LATE_ONE} could not be trusted.`);
    const about = (name: string) => page.locator('.finding').filter({ hasText: name });
    await says(about(LATE_ONE).first()).toContain(`Use offset ${LATE}`);
    await says(about(SMALL_ONE).first()).toContain('Distorted is 480x270 but reference is 640x360');
    expect(await lookAround(page)).toEqual({});
    await page.setViewportSize(FIRST);
  });

  it('scores all at once; a cancelled run keeps finished encodes', async () => {
    await cancelAfter(page, 2);
    await start(page);
    const go = page.locator('button.primary');
    await go.filter({ hasText: /^Score \d+ / }).waitFor();
    const left = Number(/\d+/.exec((await go.textContent()) ?? '')?.[0]);
    expect(left).toBeLessThan(12);
    const whole = rows().filter({ has: page.locator('td.main'), hasNotText: 'stopped: the first' });
    const numbers = async () =>
      (await whole.locator('td.main').allTextContents()).filter((text) => /\d/.test(text));
    // The table is drawn a little later than the button.
    await expect.poll(async () => (await numbers()).length).toBe(12 - left);
    const kept = await numbers();
    await go.click();
    await allShown(page);
    await expect.poll(() => rows().count()).toBe(12);
    const all = (await rows().locator('td.main').allTextContents()).map((text) => Number.parseFloat(text));
    expect(all.every((value) => value > 0)).toBe(true);
    expect(all).toEqual(expect.arrayContaining(kept.map((text) => Number.parseFloat(text))));
  });

  it('is told which encodes are not comparable, and sees curves by codec and preset', async () => {
    await says(page.locator('.headline .note')).toContain(
      `Not compared with the others: ${LATE_ONE} (another number of frames).`,
    );
    for (const [name, sign] of [
      [LATE_ONE, '×'],
      [SMALL_ONE, '!'],
    ] as const) {
      await says(rows().filter({ hasText: name }).locator('td.main')).toContain(sign);
      await says(page.locator('.flaw-note').filter({ hasText: name })).toContain(
        sign === '×' ? '[offset]' : '[size]',
      );
    }
    await says(card()).toContain(`Left out because its score cannot be trusted: ${LATE_ONE}.`);
    await card().getByText('Series', { exact: true }).click();
    await expect.poll(series).toEqual([
      ...['h264 fast', 'h264 slow', 'vp9 fast', 'vp9 slow'].map((name) => [name, 2]),
      ...[
        ['av1 640×360 fast', 2],
        ['av1 640×360 slow', 1],
        ['av1 480×270', 1],
      ],
    ]);
    expect((await bdRows()).map(([name]) => name)).toEqual([
      'curve',
      'h264 slow',
      'vp9 fast',
      'av1 640×360 fast',
    ]);
  });

  it('adds two encodes, which alone are scored and complete their curves', async () => {
    const before = await scored();
    await page.getByRole('button', { name: 'Change' }).click();
    await page.setInputFiles('#pick-distorted', files.two);
    await checked(page);
    await page.getByRole('button', { name: 'Score 2 new encodes' }).click();
    await expect.poll(() => rows().count()).toBe(14);
    await allShown(page);
    expect((await scored()).slice(before.length).sort()).toEqual([
      'film-av1-slow-crf48.mkv',
      'film-vp9-slow-crf44.webm',
    ]);
    await expect
      .poll(async () => (await bdRows()).map(([name]) => name))
      .toEqual(['curve', 'h264 slow', 'vp9 fast', 'vp9 slow', 'av1 640×360 fast', 'av1 640×360 slow']);
  });

  it('saves the table on show, with the bit rates of ffprobe', async () => {
    const [, ...table] = await texts('#results table.encodes tr');
    const fileRows = await csv();
    expect(
      table.map(([name, score = '', worst, rate, size]) => [
        name,
        score.replace(/[×!]| \(best\)/g, ''),
        ...[worst, rate, size].map((cell) => cell?.replace(' (best)', '')),
      ]),
    ).toEqual(
      fileRows.map(({ distorted, vmaf_mean, vmaf_p1, bitrate, size }) => [
        distorted,
        Number(vmaf_mean).toFixed(2),
        Number(vmaf_p1).toFixed(2),
        bitrateText(Number(bitrate)),
        sizeText(Number(size)),
      ]),
    );
    for (const path of [files.twelve[0], files.twelve[6], files.twelve[9]]) {
      const entries = ['-show_entries', 'packet=size', '-of', 'csv=p=0', path ?? ''];
      const packets = execFileSync('ffprobe', ['-v', 'error', ...entries], { encoding: 'utf8' });
      const bytes = packets
        .trim()
        .split(/\s+/)
        .reduce((sum, size) => sum + Number.parseInt(size, 10), 0);
      const found = fileRows.find(({ distorted = '' }) => path?.endsWith(distorted));
      expect(Math.abs(Number(found?.kbps) / ((8 * bytes * 24) / FRAMES / 1000) - 1)).toBeLessThan(0.01);
    }
  });

  it('reads the library’s BD-rate and BD-VMAF, against an anchor and between bit rates', async () => {
    await page.getByLabel('Full precision').check();
    const names = ['h264-fast', 'h264-slow', 'vp9-fast', 'vp9-slow', 'av1-fast', 'av1-slow'];
    const all = await csv();
    const points = Object.fromEntries(
      names.map((name) => [name.replace('-', ' '), curve(all, `film-${name}`)] as const),
    );
    const compare = async (anchor: string, rates?: readonly [number, number]) => {
      for (const [shown = '', rate, quality] of (await bdRows()).slice(1)) {
        const own = bd(points[anchor] ?? [], points[shown.replace('640×360 ', '')] ?? [], rates);
        expectNumber(rate, own.rate);
        expectNumber(quality, own.quality);
      }
    };
    await compare('h264 fast');
    await card().getByLabel('Compare with').selectOption('av1 640×360 slow');
    await expect.poll(async () => (await bdRows())[0]?.[1]).toBe('against av1 640×360 slow');
    expect((await bdOf('h264 slow')).slice(0, 1)).not.toEqual(['none']);
    await card().getByLabel('Compare with').selectOption('vp9 slow');
    await card().getByLabel('From kb/s').fill('600');
    await card().getByLabel('to kb/s', { exact: true }).fill('900');
    await card().getByLabel('to kb/s', { exact: true }).blur();
    await expect.poll(async () => (await bdOf('av1 640×360 slow'))[2]).toContain('600 kb/s to');
    const own = bd(points['vp9 slow'] ?? [], points['av1 slow'] ?? [], [600, 900]);
    const [rate, quality] = await bdOf('av1 640×360 slow');
    expectNumber(rate, own.rate);
    expectNumber(quality, own.quality);
  });

  it('edits series, and gets the library’s BD-rate for curves of four encodes', async () => {
    for (const limit of ['From kb/s', 'to kb/s']) await card().getByLabel(limit, { exact: true }).fill('');
    await card().getByLabel('to kb/s', { exact: true }).blur();
    // The editor stays open when encodes are added.
    await page.locator('.series + .tools select').waitFor();
    const list = page.locator('.series');
    for (const codec of ['h264', 'av1']) {
      const name = codec === 'av1' ? 'av1 640×360' : codec;
      for (const chip of await list.locator(`li:has(input[aria-label$="${name} slow"]) .chip input`).all())
        await chip.check();
      await page.locator('.series + .tools select').selectOption(`${name} fast`);
      await card().getByRole('button', { name: 'Move ticked encodes' }).click();
      // The list is redrawn a little later.
      await list.locator(`li:has(input[aria-label$="${name} slow"])`).waitFor({ state: 'detached' });
      const input = card().getByLabel(`Name of the series ${name} fast`);
      await input.fill(`all ${codec}`);
      await input.press('Enter');
    }
    await expect.poll(series).toEqual([
      ...[
        ['all h264', 4],
        ['vp9 fast', 2],
        ['vp9 slow', 3],
        ['all av1', 4],
        ['av1 480×270', 1],
      ],
    ]);
    await card().getByLabel('Compare with').selectOption('all h264');
    await expect.poll(async () => (await bdRows())[0]?.[1]).toBe('against all h264');
    const all = await csv();
    const own = bd(curve(all, 'film-h264'), curve(all, 'film-av1'));
    const [rate, quality] = await bdOf('all av1');
    expectNumber(rate, own.rate);
    expectNumber(quality, own.quality);
  });

  it('leaves encodes out by their checkboxes, also in files', async () => {
    for (const name of [LATE_ONE, SMALL_ONE]) await box(name).uncheck();
    await says(page.locator('.headline .note')).toBe('Bold is the best of its column.');
    expect((await csv()).map(({ distorted }) => distorted)).toEqual(
      [...files.twelve, ...files.two]
        .map((path) => path.slice(encodeFolder().length + 1))
        .filter((name) => name !== LATE_ONE && name !== SMALL_ONE),
    );
    expect(await lookAround(page, { zoomed: true })).toEqual({});
    await page.setViewportSize(FIRST);
  });

  it('saves twelve encodes as an HTML report with the same curves, which prints', async () => {
    const { text } = await saved(page, 'HTML report');
    const sent = await openSent(site.served, 'twelve.html', text);
    expect(await sent.page.locator('h1').textContent()).toBe('12 encodes of film.mp4');
    expect(
      await sent.page.evaluate(() =>
        [...document.querySelectorAll('.bd tr')].map((row) =>
          [...row.children].map((cell) => cell.textContent),
        ),
      ),
    ).toEqual(await bdRows());
    expect(await sent.cut()).toEqual([]);
    expect(await sent.sheets()).toBeLessThanOrEqual(11);
    await sent.close();
  });

  it('loses nothing by Back or Reload; dropping the videos attaches them again', async () => {
    const all = async () => [await texts('#results table.encodes tr'), await bdRows()];
    const before = await all();
    await rows().first().getByRole('button').click();
    await page.locator('dialog[open][data-frame]').waitFor();
    await leave(page, () => page.goBack());
    expect(await all()).toEqual(before);
    const boxes = () =>
      page
        .locator('#results table.encodes input')
        .evaluateAll((all) => all.map((input) => (input as HTMLInputElement).checked));
    const ticked = await boxes();
    // Leaving asks, as results are unsaved.
    page.once('dialog', (dialog) => dialog.accept());
    await page.reload();
    await page.getByRole('button', { name: 'Continue where you left off' }).click();
    await rows().nth(13).waitFor();
    await expect.poll(all).toEqual(before);
    expect(await boxes()).toEqual(ticked);
    await drop(page, 'main', [film(), ...files.twelve, ...files.two]);
    await says(page.locator('.notice')).toContain('14 results have their videos again.');
    await page.getByRole('button', { name: 'Score again', exact: true }).waitFor();
    expect(await all()).toEqual(before);
  });
});
