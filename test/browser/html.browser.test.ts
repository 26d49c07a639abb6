/**
 * @module test/browser/html.browser
 * The page in a real browser: it draws, answers, loads nothing and never runs what a file is called.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encode as encodePng } from 'fast-png';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildReport } from '../../src/report/build.js';
import { type HtmlOptions, writeHtml } from '../../src/report/html.js';
import type { Report } from '../../src/report/types.js';
import { worstFrames } from '../../src/report/worst.js';
import { noChromium, sharedChromium } from '../support/chromium.js';
import { lookAround } from '../support/looks.js';
import { paired, report, vmafModel } from '../support/report.js';

const HOSTILE = `"><script>window.hacked=1</script><img src=x onerror="window.hacked=1">.mp4`;

/** 500 frames at 90 with a dip to 20 in frame 300, and another of one frame in 444. */
const scores = Float64Array.from({ length: 500 }, (_, i) =>
  i === 444 ? 40 : 90 - 70 * Math.exp(-((i - 300) ** 2) / 40),
);

function run(name: string, values = scores): Report {
  const { frames, pooled_metrics, aggregate_metrics, metrics, distribution, ...facts } = report();
  const rate = { num: 25, den: 1 };
  return buildReport({
    ...facts,
    reference: { ...facts.reference, frameRate: rate },
    distorted: { ...facts.distorted, name, frameRate: rate },
    frameNumbers: Array.from(values, (_, i) => i),
    series: [
      { name: 'integer_adm2', values: values.map((value) => value / 100) },
      { name: 'vmaf', values },
    ],
    models: [vmafModel],
    frameCount: values.length,
  });
}

/** The pixel column of the large chart in which the line of an encode is drawn lowest. */
function lowestColumn(page: Page, encode: number): Promise<number> {
  return page
    .locator('.chart.big canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement, name) => {
      const pen = canvas.getContext('2d');
      if (!pen) return -1;
      const { data, width } = pen.getImageData(0, 0, canvas.width, canvas.height);
      pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const wanted = [1, 3, 5].map((at) => Number.parseInt(String(pen.fillStyle).slice(at, at + 2), 16));
      let last = -1;
      for (let i = 0; i < data.length; i += 4)
        if (wanted.every((level, channel) => data[i + channel] === level)) last = i / 4;
      return last % width;
    }, `--s${encode}`);
}

/** What is drawn below the lines: the marks of the frame axis. */
function axisPixels(page: Page): Promise<string> {
  return page
    .locator('.chart.big canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => {
      const pixels =
        canvas.getContext('2d')?.getImageData(0, canvas.height - 20, canvas.width, 20).data ?? [];
      return Array.from(pixels, (value) => (value > 0 ? 1 : 0)).join('');
    });
}

/** The same without its first 12 frames, scored with an offset. */
function late(name: string): Report {
  const whole = run(name, scores.slice(12));
  return { ...whole, reference: { ...whole.reference, skipped: 12 } };
}

describe.skipIf(noChromium)(`the page in Chromium${noChromium}`, () => {
  let folder = '';
  let browser: Browser | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'anyvmaf-html-'));
    browser = await sharedChromium();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a page of reports; collects what it asks for and what goes wrong in it. */
  async function open(
    reports: Report | Report[],
    options: BrowserContextOptions = {},
    shown: HtmlOptions = {},
  ) {
    const file = join(folder, 'report.html');
    writeFileSync(file, [...writeHtml(reports, { command: HOSTILE, ...shown })].join(''));
    const context = await browser?.newContext({ viewport: { width: 1100, height: 900 }, ...options });
    const page = await context?.newPage();
    if (!page) throw new Error('there is no browser');
    const troubles: string[] = [];
    page.on('request', (request) => {
      if (request.url() !== pathToFileURL(file).href) troubles.push(`asked for ${request.url()}`);
    });
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') troubles.push(message.text());
    });
    await page.goto(pathToFileURL(file).href);
    return { page, troubles, close: () => context?.close() };
  }

  /** How many pixels of a chart differ from transparent. */
  const inked = (page: Page, selector: string) =>
    page
      .locator(`${selector} canvas`)
      .first()
      .evaluate((canvas: HTMLCanvasElement) => {
        const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
        let count = 0;
        for (let i = 3; i < pixels.length; i += 4) if (pixels[i] !== 0) count++;
        return count;
      });

  test('draws every chart and loads nothing, whatever files are called', async () => {
    const { page, troubles, close } = await open([run(HOSTILE), run('b.mp4')]);
    await expect.poll(() => inked(page, '.chart.big')).toBeGreaterThan(1000);
    // What the score is made of is folded until somebody asks.
    expect(await page.locator('.chart.tiny').first().isVisible()).toBe(false);
    await page.getByText('All features').click();
    await expect.poll(() => inked(page, '.chart.tiny')).toBeGreaterThan(200);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await page.locator('.legend button').first().textContent()).toBe(HOSTILE.replace(/^.*\//, ''));
    expect(troubles).toEqual([]);
    await close();
  });

  test('tells frame, time and value under the pointer', async () => {
    const { page, troubles, close } = await open(run('a.mp4'));
    const chart = page.locator('.chart.big');
    await expect.poll(() => inked(page, '.chart.big')).toBeGreaterThan(1000);
    const box = await chart.boundingBox();
    if (!box) throw new Error('no chart');
    // The plot begins 40 px from the left and ends 4 px from the right.
    await page.mouse.move(box.x + 40 + ((box.width - 44) * 300) / 499, box.y + 100);
    const tip = await page.locator('.tip').textContent();
    expect(tip).toContain('frame 300');
    expect(tip).toContain('0:12.00');
    expect(tip).toContain('20.00');
    expect(await page.locator('.feature .now').first().textContent()).toBe('0.2000');
    expect(troubles).toEqual([]);
    await close();
  });

  test('puts the same content of encodes that begin apart in the same place', async () => {
    const { page, troubles, close } = await open([run('whole.mp4'), late('late.mp4')]);
    await expect.poll(() => inked(page, '.chart.big')).toBeGreaterThan(1000);
    // The axis is that of the reference: the dip of both is at its frame 300, 12 s from its start.
    for (const list of await page.locator('.worst').all()) {
      await list.locator('button').first().click();
      await expect
        .poll(() => page.locator('.tip').textContent())
        .toContain('reference frame 300  ·  0:12.00');
      const values = await page.locator('.tip b').allTextContents();
      expect(values).toEqual(['20.00', '20.00']);
    }
    await page.getByRole('button', { name: 'All' }).click();
    await page.mouse.move(0, 0);
    const lowest: number[] = [];
    for (const other of [1, 0]) {
      const toggle = page.locator(`.legend [data-run="${other}"]`);
      await toggle.click();
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
      lowest.push(await lowestColumn(page, 1 - other));
      await toggle.click();
    }
    const [whole = -1, cut = -1] = lowest;
    expect(whole).toBeGreaterThan(0);
    expect(Math.abs(whole - cut)).toBeLessThanOrEqual(1);
    expect(troubles).toEqual([]);
    await close();
  });

  test('zooms by dragging and by a worst frame, and back', async () => {
    const { page, close } = await open(run('a.mp4'));
    const all = page.getByRole('button', { name: 'All' });
    await expect.poll(() => inked(page, '.chart.big')).toBeGreaterThan(1000);
    expect(await all.isDisabled()).toBe(true);
    const labels = await axisPixels(page);
    const box = await page.locator('.chart.big').boundingBox();
    if (!box) throw new Error('no chart');
    await page.mouse.move(box.x + 200, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + 100, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => all.isDisabled()).toBe(false);
    await expect.poll(() => axisPixels(page)).not.toBe(labels);
    await page.locator('.chart.big').dblclick();
    await expect.poll(() => all.isDisabled()).toBe(true);
    await expect.poll(() => axisPixels(page)).toBe(labels);

    await page.locator('.worst button').first().click();
    await expect.poll(() => page.locator('.tip').textContent()).toContain('frame 300');
    await all.click();
    await expect.poll(() => all.isDisabled()).toBe(true);
    await close();
  });

  test('moves from frame to frame by keys', async () => {
    const { page, close } = await open(run('a.mp4'));
    await page.locator('.chart.big').focus();
    await page.keyboard.press('ArrowRight');
    const first = Number(/frame (\d+)/.exec((await page.locator('.tip').textContent()) ?? '')?.[1]);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowLeft');
    expect(await page.locator('.tip').textContent()).toContain(`frame ${first - 9}`);
    await close();
  });

  test.each([
    ['light', 360],
    ['dark', 360],
    ['light', 1400],
  ] as const)('is not wider than its %s screen of %i px', async (colorScheme, width) => {
    const { page, close } = await open([run('a.mp4'), run(`${'long'.repeat(60)}.mp4`)], {
      colorScheme,
      viewport: { width, height: 800 },
    });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(background).toBe(colorScheme === 'dark' ? 'rgb(17, 19, 24)' : 'rgb(245, 245, 242)');
    await close();
  });

  /** With all metrics of the default model, on full HD, in a codec at a bit rate. */
  function whole(name: string, codec: string, bitrate: number, level: number, parts: Partial<Report> = {}) {
    const values = scores.map((value) => Math.max(0, value - 90 + level));
    const { frames, pooled_metrics, aggregate_metrics, metrics, distribution, ...facts } = run(name, values);
    const names = [
      ...[
        'adm2',
        'aim',
        'adm3',
        'adm_scale0',
        'adm_scale1',
        'adm_scale2',
        'adm_scale3',
        'motion2',
        'motion3',
      ],
      ...['vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'feature_motion_sad'],
    ];
    return buildReport({
      ...facts,
      pairing: paired({ codec, bitrate, fileSize: bitrate * 2.5 }),
      preflight: [],
      frameNumbers: Array.from(values, (_, i) => i),
      series: [
        ...names.map((metric, i) => ({
          name: `integer_${metric}`,
          values: values.map((value) => value / (100 + 20 * i)),
        })),
        { name: 'vmaf', values },
      ],
      ...parts,
    });
  }

  /** With as many further metrics as have columns. */
  function measured(name: string, bitrate: number) {
    const { frames, pooled_metrics, aggregate_metrics, metrics, distribution, ...facts } = run(name);
    const series = ['vmaf', 'psnr_y', 'float_ssim', 'float_ms_ssim', 'cambi', 'ciede2000', 'psnr_hvs'].map(
      (metric) => ({ name: metric, values: scores }),
    );
    return buildReport({
      ...facts,
      ...{ pairing: paired({ codec: 'h264', bitrate }), preflight: [], series, models: [vmafModel] },
      ...{ frameNumbers: Array.from(scores, (_, i) => i), frameCount: scores.length },
    });
  }

  /** Small pictures of all moments that the page lists. */
  function pictured(one: Report, encodes = 1): HtmlOptions {
    const picture = encodePng({
      width: 192,
      height: 108,
      channels: 3,
      data: Uint8Array.from({ length: 192 * 108 * 3 }, (_, i) => (i >> 5) & 255),
    });
    const files = { reference: picture, distorted: picture, map: picture };
    const moments = worstFrames(one, { metric: 'vmaf', worse: 'low' }, 9);
    return {
      pictures: Array.from({ length: encodes }, (_, report) =>
        moments.map(({ frameNum }) => ({ report, frame: frameNum, ...files })),
      ).flat(),
    };
  }

  const eleven = Array.from({ length: 11 }, (_, i) =>
    whole(`encode-${i}.mp4`, i < 6 ? 'h264' : 'vp9', 400_000 * 1.6 ** (i % 6), 60 + 6 * (i % 6)),
  );
  const offset = { code: 'offset', severity: 'error', message: 'Other moments are compared.' } as const;
  const levels = { code: 'levels', severity: 'warning', message: 'Levels differ.' } as const;
  const lone = whole('a.mp4', 'h264', 2e6, 90);
  const bad = { distorted: '/b/bad.mp4', message: '/b/bad.mp4 is no video.' };

  test.each<[name: string, reports: Report[], shown: HtmlOptions, screens: number | undefined]>([
    ['one encode', [lone], pictured(lone), 2],
    ['five encodes', eleven.slice(0, 5), pictured(lone, 5), 3],
    ['eleven encodes', eleven, pictured(lone, 11), 4],
    ['two encodes with many metrics', [1, 2].map((i) => measured(`${i}.mp4`, 1e6 * i)), {}, 3],
    ['a wrong pair', [whole('w.mp4', 'h264', 2e6, 20, { preflight: [levels, offset] })], {}, 2],
    ['a failed file', eleven.slice(0, 2), { failed: [bad] }, undefined],
  ])(
    'axe finds nothing, and all of it fits: %s',
    async (_name, reports, shown, screens) => {
      const { page, troubles, close } = await open(reports, { reducedMotion: 'reduce' }, shown);
      const wrong = await lookAround(page, {
        unfolds: true,
        thorough: process.env.ANYVMAF_LOOK === '1',
        async seen({ width, height, kind }) {
          if (screens === undefined || width !== 1440 || kind === 'unfolded') return;
          const tall = await page.evaluate(() => document.documentElement.scrollHeight);
          expect(tall).toBeLessThanOrEqual(screens * height);
        },
      });
      expect(wrong).toEqual({});
      expect(troubles).toEqual([]);
      await close();
    },
    300_000,
  );

  test.each([820, 1280, 390])('has room for names beside many metrics at %i px', async (width) => {
    const reports = [1, 2].map((i) => measured(`encode-${i}.mp4`, 1e6 * i));
    const { page, close } = await open(reports, { viewport: { width, height: 900 } });
    const names = page.locator('.encode .name span:last-child');
    for (const name of await names.all())
      expect(
        await name.evaluate((one) => [one.scrollWidth <= one.clientWidth, one.clientWidth > 60]),
      ).toEqual([true, true]);
    expect(await names.count()).toBe(2);
    await close();
  });

  test('keeps the pictures of a moment, and its numbers, in a column of their own', async () => {
    const dips = Float64Array.from({ length: 500 }, (_, i) => (i % 100 === 50 ? 20 + i / 100 : 90));
    const one = run('a.mp4', dips);
    for (const [reports, width] of [
      [[one], 1440],
      [Array.from({ length: 6 }, (_, i) => run(`${i}.mp4`, dips)), 1440],
      [[one], 820],
    ] as const) {
      const { page, close } = await open(
        [...reports],
        { viewport: { width, height: 900 } },
        pictured(one, 6),
      );
      const rows = page.locator('.worst button');
      const boxes = await rows.evaluateAll((buttons) =>
        buttons.map((button) => {
          const parts = [...button.querySelectorAll('img, b, .soft')].map((part) =>
            part.getBoundingClientRect(),
          );
          const [left, right] = [
            Math.min(...parts.map((part) => part.left)),
            Math.max(...parts.map((part) => part.right)),
          ];
          const card = button.closest('section')?.getBoundingClientRect();
          return { left, right, top: button.getBoundingClientRect().top, within: (card?.right ?? 0) - 20 };
        }),
      );
      expect(boxes.length).toBeGreaterThanOrEqual(5);
      for (const box of boxes) expect(box.right).toBeLessThanOrEqual(box.within);
      const beside = boxes.flatMap((a, i) => {
        const b = boxes[i + 1];
        return b && b.top === a.top ? [b.left - a.right] : [];
      });
      expect(beside.length).toBeGreaterThan(0);
      expect(Math.min(...beside)).toBeGreaterThanOrEqual(20);
      await close();
    }
  });

  test('without script shows a still chart, the tables, and no dead buttons', async () => {
    const { page, close } = await open(run('a.mp4'), { javaScriptEnabled: false });
    expect(await page.locator('.still svg path').isVisible()).toBe(true);
    expect(await page.locator('.chart.big').isVisible()).toBe(false);
    expect(await page.locator('.tool').first().isVisible()).toBe(false);
    expect(await page.locator('table').last().isVisible()).toBe(true);
    await close();
  });

  test('of 200,000 frames is ready within two seconds', async () => {
    const { page, close } = await open(
      run(
        'long.mp4',
        Float64Array.from({ length: 200_000 }, (_, i) => 50 + 40 * Math.sin(i / 999)),
      ),
    );
    const started = performance.now();
    await expect.poll(() => inked(page, '.chart.big'), { interval: 20 }).toBeGreaterThan(1000);
    expect(performance.now() - started).toBeLessThan(2000);
    await close();
  });
});
