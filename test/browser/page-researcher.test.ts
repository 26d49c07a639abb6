/**
 * @module test/browser/page-researcher
 * A researcher's session in headless Chromium: why the worst moment is the worst, by coded frames, cuts, spans and the viewer, and
 * comparison with earlier runs. Compared with ffprobe, the run's own frames and the library in Node. All tests share one page.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from 'anyvmaf';
import { decode } from 'fast-png';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildReport } from '../../src/report/build.js';
import { bitrateText, sizeText } from '../../src/report/facts.js';
import { formatReport } from '../../src/report/write.js';
import { packetFunctions } from '../../web/src/packets/functions.js';
import { noChromium } from '../support/chromium.js';
import {
  type EncodedCodec,
  encode,
  encodeFolder,
  ffmpeg,
  hasFfmpeg,
  needsFfmpeg,
} from '../support/encode.js';
import { FIRST, lookAround } from '../support/looks.js';
import {
  checked,
  choose,
  download,
  drag,
  pages,
  pairInNode,
  reportsOf,
  samplesOf,
  says,
  score,
  shiftsLittle,
  tabTo,
  watchShifts,
  write,
} from '../support/page.js';

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);

/** Frames of each of the two shots, at 25 fps. */
const SHOT = 30;

/** Two shots, and an encode of them with B frames and a key frame at least every 20 frames. */
function clips() {
  const part = (source: string, n: number) => [
    ...['-f', 'lavfi', '-i', `${source}=size=320x180:rate=25`],
    ...(n === 0
      ? []
      : ['-filter_complex', `[0]trim=end_frame=${SHOT}[a];[1]trim=end_frame=${SHOT}[b];[a][b]concat`]),
  ];
  const x264 = (...more: string[]) => ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', ...more];
  const reference = ffmpeg(join(encodeFolder(), 'two-shots.mp4'), [
    ...part('testsrc2', 0),
    ...part('mandelbrot', 1),
    ...x264('-preset', 'ultrafast', '-crf', '12'),
  ]);
  const distorted = ffmpeg(join(encodeFolder(), 'two-shots-crf38.mp4'), [
    ...['-i', reference],
    ...x264('-preset', 'fast', '-crf', '38', '-g', '20', '-bf', '2'),
  ]);
  return { reference, distorted };
}

interface Probed {
  readonly kind: string;
  readonly bytes: number;
}

/** Types and bytes of frames in display order. */
function probed(file: string): Probed[] {
  const entries = 'frame=key_frame,pict_type,pkt_size';
  const all = execFileSync('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', file], {
    encoding: 'utf8',
  });
  const { frames }: { frames: { key_frame: number; pict_type: string; pkt_size: string }[] } =
    JSON.parse(all);
  return frames.map(({ key_frame, pict_type, pkt_size }) => ({
    kind: key_frame === 1 ? 'key' : pict_type,
    bytes: Number(pkt_size),
  }));
}

/** Quantizers of frames in display order, by ffmpeg's trace_headers. Frames shown again have that of their slot. */
function traced(file: string): (number | undefined)[] {
  const trace = ['-c', 'copy', '-bsf:v', 'trace_headers', '-f', 'null', '-'];
  const { stderr } = spawnSync('ffmpeg', ['-nostats', '-i', file, '-map', '0:v', ...trace], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const packets: { time: number; qp?: number | undefined }[] = [];
  const parameters = new Map<number, number>();
  const slots: (number | undefined)[] = [];
  const now: Record<string, number> = {};
  for (const line of stderr.split('\n')) {
    const [, time] = /Packet: \d+ bytes.* pts (-?\d+)/.exec(line) ?? [];
    if (time !== undefined) packets.push({ time: Number(time) });
    const [, name = '', value] = /^\[trace_headers.*?\] +\d+ +(\w+) .*= (-?\d+)$/.exec(line) ?? [];
    const packet = packets.at(-1);
    now[name.replace(/^(pps|slice)_pic_/, 'pic_')] = Number(value);
    if (/^(pic_)?init_qp_minus26$/.test(name))
      parameters.set(now.pic_parameter_set_id ?? 0, 26 + Number(value));
    if (!packet) continue;
    if (name === 'slice_qp_delta')
      packet.qp ??= (parameters.get(now.pic_parameter_set_id ?? 0) ?? Number.NaN) + Number(value);
    if (name === 'frame_to_show_map_idx') packet.qp = slots[Number(value)];
    if (name !== 'base_q_idx') continue;
    const isKey = now.frame_type === 0;
    for (let i = 0; i < 8; i++)
      if (isKey || ((now.refresh_frame_flags ?? 0) >> i) & 1) slots[i] = Number(value);
    if (now.show_frame === 1) packet.qp = Number(value);
  }
  const shown = packets.filter(({ qp }) => qp !== undefined);
  return shown.sort((a, b) => a.time - b.time).map(({ qp }) => qp);
}

/** A report with changed scores. */
function scoredBy(report: Report, by: (value: number, frame: number) => number): Report {
  const { frames } = report;
  const values = frames.map(({ frameNum, metrics }) => by(metrics.vmaf ?? Number.NaN, frameNum));
  return buildReport({
    ...report,
    frameCount: frames.length,
    frameNumbers: frames.map(({ frameNum }) => frameNum),
    series: [{ name: 'vmaf', values: Float64Array.from(values) }],
  });
}

/** RGB samples of some columns of a picture. */
function columnsOf(
  data: ArrayLike<number>,
  stride: number,
  from: number,
  width: number,
  channels: number,
): Uint8Array {
  const rows = Math.round(data.length / (stride * channels));
  const out: number[] = [];
  for (let y = 0; y < rows; y++)
    for (let x = from; x < from + width; x++)
      for (let c = 0; c < 3; c++) out.push(data[(y * stride + x) * channels + c] ?? -1);
  return Uint8Array.from(out);
}

const x265 = (params: string) => ['-x265-params', `${params}:log-level=error`];
/** One quantizer for all frames in libvpx and libaom: 30 on their scale of 64 is index 120. */
const FIXED = ['-qmin', '30', '-qmax', '30', '-crf', '30', '-b:v', '0'];

describe.skipIf(!hasFfmpeg)(`quantizers of coded frames${hasFfmpeg ? '' : ` (${needsFfmpeg})`}`, () => {
  it.each<readonly [EncodedCodec, string, number | undefined, readonly string[]]>([
    ['h264', 'qp 27', 27, ['-qp', '27', '-x264-params', 'ipratio=1:pbratio=1:keyint=9:8x8dct=1:cqm=jvt']],
    [
      'h264',
      'weights, slices',
      undefined,
      ['-preset', 'slow', '-crf', '30', '-slices', '3', '-vf', 'fade=out:0:24'],
    ],
    ['h264', 'interlaced', undefined, ['-crf', '30', '-flags', '+ildct+ilme', '-x264-params', 'tff=1']],
    ['hevc', 'qp 27', 27, x265('qp=27:ipratio=1:pbratio=1:scaling-list=default')],
    [
      'hevc',
      'weights, slices',
      undefined,
      [...x265('crf=33:weightb=1:ref=5:slices=2'), '-vf', 'fade=out:0:24'],
    ],
    ['vp9', 'q 30', 120, FIXED],
    [
      'vp9',
      'hidden frames',
      undefined,
      ['-deadline', 'good', '-cpu-used', '5', '-crf', '40', '-b:v', '0', '-lag-in-frames', '16'],
    ],
    ['av1', 'q 30', 120, FIXED],
    [
      'av1',
      'hidden frames',
      undefined,
      ['-usage', 'good', '-crf', '40', '-tiles', '2x1', '-lag-in-frames', '16'],
    ],
  ])('of %s (%s) are those set, and match ffmpeg', async (codec, _, qp, extra) => {
    const path = encode({ codec, frames: 24, size: '320x180', extra });
    const call = { emit: () => {}, signal: new AbortController().signal };
    const file = new File([readFileSync(path)], path);
    const { quantizers = [] } = (await packetFunctions.codedFrames({ file }, call)) ?? {};
    expect([...quantizers]).toEqual(traced(path));
    if (qp !== undefined) expect([...quantizers]).toEqual(new Array(24).fill(qp));
    else expect(new Set(quantizers).size).toBeGreaterThan(2);
  });
});

describe.skipIf(absent !== '')(`a researcher${absent}`, () => {
  const site = pages();
  let page: Page;
  let files: ReturnType<typeof clips>;
  let coded: (Probed & { readonly qp: number | undefined })[];
  let report: Report;
  let span: readonly [number, number];

  beforeAll(async () => {
    files = clips();
    const quantizers = traced(files.distorted);
    coded = probed(files.distorted).map((frame, i) => ({ ...frame, qp: quantizers[i] }));
    page = await site.open({ width: 1280, height: 720, stays: true });
    await choose(page, files.reference, files.distorted);
    await watchShifts(page);
    await score(page);
    const [first] = await reportsOf(page);
    if (!first) throw new Error('there is no report');
    report = first;
  });

  const chart = () => page.getByRole('slider', { name: /of every frame/ });
  const frame = (number: number) => page.locator(`dialog[data-frame="${number}"]:not([data-busy])`).waitFor();
  const scoreOf = (number: number) => report.frames[number]?.metrics.vmaf ?? Number.NaN;

  it('sees hardly any layout shifts during the run, and the worst moments on the first screen', async () => {
    await shiftsLittle(page);
    await page.setViewportSize(FIRST);
    const strip = page.locator('.strip');
    await expect.poll(() => strip.locator('canvas').count()).toBeGreaterThan(0);
    const box = await strip.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(FIRST.height);
    const listed = await page.locator('.moments .when').allTextContents();
    const numbers = (texts: readonly (string | null)[]) =>
      texts.map((text) => Number(/frame (\d+)/.exec(text ?? '')?.[1])).sort((a, b) => a - b);
    expect(numbers(await strip.locator('button').allTextContents())).toEqual(numbers(listed));
  });

  it('sees the types, bytes and quantizers of ffprobe and ffmpeg, and the cut', async () => {
    const legend = page.locator('.coded .lane-key');
    const kinds = ['key', 'I', 'P', 'B'].flatMap((kind) => {
      const count = coded.filter((frame) => frame.kind === kind).length;
      return count > 0 ? [`${count} ${kind}`] : [];
    });
    await says(legend).toContain(kinds.join(''));
    const text = await legend.textContent();
    expect(text).toContain(`up to ${sizeText(Math.max(...coded.map(({ bytes }) => bytes)))};`);
    expect(text).toContain('dotted: 1 cut');
    const quantizers = coded.map(({ qp }) => qp ?? Number.NaN);
    const [least, most] = [Math.min(...quantizers), Math.max(...quantizers)];
    const all = `below: QP of first slices, ${least} to ${most}`;
    expect(text).toContain(all);
    expect(await page.getByRole('img', { name: all, exact: true }).isVisible()).toBe(true);
    await chart().focus();
    await page.keyboard.press('Home');
    for (const frame of coded.slice(0, 5)) {
      await says(page.locator('.coded .lane-now')).toContain(
        `${frame.kind} frame · ${sizeText(frame.bytes)} · QP ${frame.qp} (first slice) · `,
      );
      await page.keyboard.press('ArrowRight');
    }
  });

  it('selects a span for its statistics and bit rate, and adds another metric below', async () => {
    const plot = page.locator('.plot.large');
    const { x = 0, y = 0, width = 0 } = (await plot.boundingBox()) ?? {};
    const at = (number: number) => x + 40 + ((width - 44) * number) / (2 * SHOT - 1);
    await drag(page, [at(15.5), y + 60], [at(44.5), y + 60], 3);
    const table = page.locator('.span-statistics');
    const head = (await table.locator('h3').textContent()) ?? '';
    const [from = 0, to = 0] = [...head.matchAll(/frame (\d+)/g)].map(([, number]) => Number(number));
    expect([Math.abs(from - 16), Math.abs(to - 44)].every((off) => off <= 1)).toBe(true);
    span = [from, to];
    const scores = report.frames.slice(from, to + 1).map(({ metrics }) => metrics.vmaf ?? Number.NaN);
    const sorted = scores.toSorted((a, b) => a - b);
    const place = 0.05 * (scores.length - 1);
    const low = sorted[Math.floor(place)] ?? 0;
    const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
    const bytes = sum(coded.slice(from, to + 1).map((frame) => frame.bytes));
    const values = () => table.locator('td[data-label]').allTextContents();
    await expect
      .poll(values)
      .toEqual([
        String(scores.length),
        (sum(scores) / scores.length).toFixed(2),
        (scores.length / sum(scores.map((value) => 1 / (value + 1))) - 1).toFixed(2),
        sorted[0]?.toFixed(2),
        (low + (place % 1) * ((sorted[Math.ceil(place)] ?? 0) - low)).toFixed(2),
        bitrateText((8 * bytes * 25) / scores.length),
      ]);
    await page.locator('.lane-add select').selectOption('integer_motion2');
    const lane = page.locator('.lane:not(.quantizers)', { has: page.locator('canvas') });
    await expect.poll(() => lane.count()).toBe(2);
    await page.getByRole('button', { name: 'Remove integer_motion2' }).press('Enter');
    await expect.poll(() => lane.count()).toBe(1);
  });

  it('opens the worst frame of the span by key, and steps through its key frames', async () => {
    await page.getByRole('button', { name: 'Worst frame' }).press('Enter');
    const [from, to] = span;
    const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const worst = numbers.reduce((a, b) => (scoreOf(b) < scoreOf(a) ? b : a));
    await frame(worst);
    const { kind = '', bytes = 0, qp } = coded[worst] ?? {};
    await says(page.locator('.frames-meta')).toContain(
      `${kind} frame · ${sizeText(bytes)} · QP ${qp} (first slice) · `,
    );
    await page.keyboard.press('Home');
    await frame(from);
    const keys = numbers.filter((number) => coded[number]?.kind === 'key');
    for (const key of keys.filter((number) => number > from)) {
      await page.keyboard.press('o');
      await frame(key);
    }
    expect(keys.length).toBeGreaterThan(0);
    await page.keyboard.press('End');
    await frame(to);
    await page.keyboard.press('a');
    await page.keyboard.press('End');
    await frame(2 * SHOT - 1);
    expect(await page.getByRole('button', { name: 'All frames of the video' }).isVisible()).toBe(false);
    await page.getByLabel('Frame number').fill(String(worst));
    await page.getByLabel('Frame number').press('Enter');
    await frame(worst);
    await page.locator('.frames-stage').focus();
  });

  it('compares at the same place and zoom in all views, with the reference a frame later, and by scopes', async () => {
    const places: string[] = [];
    for (const [key, made] of [['2'], ['3'], ['4', 'difference'], ['5', 'map']] as const) {
      await page.keyboard.press(key);
      if (made) await page.locator(`dialog[data-made^="${made} "]`).waitFor();
      await page.locator('.frames-stage:not([data-placing])').waitFor();
      const box = JSON.stringify(await page.locator('.frames-stage').boundingBox());
      places.push(`${box} ${await page.locator('.frames-zoom').textContent()}`);
    }
    expect(new Set(places).size).toBe(1);
    await page.keyboard.press('1');
    const now = Number(await page.locator('dialog').getAttribute('data-frame'));
    const later = now + 1;
    await page.keyboard.press('g');
    await says(page.locator('.frames-badge').first()).toBe('Reference, +1');
    await says(page.locator('.frames-meta')).toContain(`reference frame ${later}`);
    const canvas = page.locator('.frames-reference canvas');
    const shown = await canvas.evaluate((canvas: HTMLCanvasElement) => {
      const image = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height);
      return [...(image?.data ?? [])];
    });
    const expected = (await pairInNode(files, later)).reference.image();
    expect(Buffer.compare(columnsOf(shown, 320, 0, 320, 4), expected.data)).toBe(0);
    await page.keyboard.press('d');
    await says(page.locator('.frames-badge').first()).toBe('Reference');
    for (const kind of ['Histogram', 'Waveform', 'Vectorscope']) {
      await page.keyboard.press('h');
      await expect.poll(() => page.getByRole('img', { name: kind }).count()).toBe(2);
    }
    await page.keyboard.press('h');
    await expect.poll(() => page.locator('.frames-scopes').isVisible()).toBe(false);
  });

  it('saves reference, encode and loss as one picture, sample by sample', async () => {
    const now = Number(await page.locator('dialog').getAttribute('data-frame'));
    await tabTo(page, /^Save PNG$/);
    await page.keyboard.press('Enter');
    const button = page.getByRole('button', { name: 'Reference, encode and loss side by side' });
    const { name, bytes } = await download(page, () => button.press('Enter'));
    expect(name).toBe(`two-shots-crf38.frame-${now}.triple.png`);
    const { data, width, height, channels } = decode(bytes);
    expect([width, height]).toEqual([3 * 320, 180]);
    const pair = await pairInNode(files, now);
    const third = (i: number) => columnsOf(data, width, 320 * i, 320, channels);
    expect(Buffer.compare(third(0), pair.reference.image().data)).toBe(0);
    expect(Buffer.compare(third(1), pair.distorted.image().data)).toBe(0);
    expect(new Set(third(2)).size).toBeGreaterThan(20);
  });

  it('saves the difference of the frame in its name, also right after a step', async () => {
    await page.keyboard.press('4');
    await page.locator('dialog[data-made^="difference "]').waitFor();
    const next = Number(await page.locator('dialog').getAttribute('data-frame')) + 1;
    const { name, bytes } = await download(page, () =>
      page.evaluate(() => {
        const dialog = document.querySelector('dialog[open]');
        const press = (key: string) => {
          const stage = dialog?.querySelector('.frames-stage');
          stage?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        };
        // After the picture, before its difference.
        new MutationObserver((_, observer) => {
          observer.disconnect();
          press('s');
        }).observe(dialog ?? document.body, { attributeFilter: ['data-frame'] });
        press('ArrowRight');
      }),
    );
    expect(name).toBe(`two-shots-crf38.frame-${next}.difference.png`);
    await page.locator(`dialog[data-made="difference ${next}"]`).waitFor();
    const { data, channels } = decode(bytes);
    const saved = columnsOf(data, 320, 0, 320, channels);
    const shown = await samplesOf(page.locator('.frames-difference canvas'));
    expect(Buffer.compare(shown, saved)).toBe(0);
    await page.keyboard.press('1');
  });

  it('finds nothing cut off, overlapping or inaccessible in the viewer and below the chart', async () => {
    await page.keyboard.press('h');
    await page.keyboard.press('5');
    await page.locator('dialog[data-made^="map "]').waitFor();
    expect(await lookAround(page, { zoomed: true })).toEqual({});
    await page.keyboard.press('Escape');
    await page.locator('.lane-add select').selectOption('integer_motion2');
    expect(await lookAround(page)).toEqual({});
  });

  it('compares the encode with an earlier report, in pooled values and frame by frame', async () => {
    // Ten points lower in the second shot, except its first frame, which was better.
    const by = (frame: number) => (frame < SHOT ? 0 : frame === SHOT ? 3 : -10);
    const earlier = scoredBy(report, (value, frame) => value + by(frame));
    const file = write('earlier.json', formatReport(earlier, 'json', { precision: 'max' }));
    const card = page.locator('.changes');
    await card.locator('input[type=file]').setInputFiles(file);
    const row = card.locator('tbody tr');
    await expect.poll(() => row.count()).toBe(1);
    const means = [report, earlier].map((scored) => {
      const values = scored.frames.map(({ metrics }) => metrics.vmaf ?? Number.NaN);
      return values.reduce((a, b) => a + b, 0) / values.length;
    });
    const [now = 0, then = 0] = means;
    const cells = await row.locator('td').allTextContents();
    expect(cells[0]).toBe(`${now.toFixed(2)}+${(now - then).toFixed(2)} better was ${then.toFixed(2)}`);
    expect(cells.at(-1)).toBe(`${SHOT}−3.00`);
    await expect.poll(() => card.locator('.plot').getAttribute('data-last')).toBe(String(2 * SHOT - 1));
    // The chart shares the cursor of the large one.
    await chart().focus();
    await page.keyboard.press('End');
    await says(card.locator('.tip b')).toBe('+10.00');
    await page.keyboard.press('Home');
    await says(card.locator('.tip b')).toBe('0.00');
  });

  it('is told why a report of other frames cannot be compared', async () => {
    const card = page.locator('.changes');
    const other = { ...report, reference: { ...report.reference, skipped: 7 } };
    await card.locator('input[type=file]').setInputFiles(write('other.json', formatReport(other, 'json')));
    await says(card.locator('.why')).toMatch(/it starts at reference frame 7, this run at frame 0/);
    expect(await card.locator('.plot').count()).toBe(0);
    await card.locator('input[type=file]').setInputFiles(write('no-report.json', '[{"a":'));
    await says(card.locator('[role=status]')).toMatch(/no-report\.json"? is damaged/);
    await card.locator('input[type=file]').setInputFiles(write('earlier.json', formatReport(report, 'json')));
    await says(card.locator('tbody td').first()).toContain('0.00 same');
    // On a phone, a card per row, with the name of each value.
    await page.setViewportSize({ width: 390, height: 844 });
    const cut = await card.locator('tbody :is(th, td)').evaluateAll((all: HTMLElement[]) =>
      all.flatMap((cell) => {
        const { left, right } = cell.getBoundingClientRect();
        const label = cell.matches('td') && getComputedStyle(cell, '::before').content.length < 3;
        return left < 0 || right > innerWidth || cell.scrollWidth > cell.clientWidth || label
          ? [cell.outerHTML]
          : [];
      }),
    );
    expect(cut).toEqual([]);
  });

  it('keeps the earlier report when another encode is added', async () => {
    const card = page.locator('.changes');
    await page.setInputFiles('#pick-distorted', write('second.mp4', readFileSync(files.distorted)));
    await checked(page);
    await score(page);
    await says(card.getByLabel('Before', { exact: true }).locator('option:checked')).toBe('earlier.json');
    await expect.poll(() => card.locator('tbody tr, .why').count()).toBe(2);
    expect(await card.locator('tbody td').first().textContent()).toContain('0.00 same');
    // Also while all encodes are scored again, which begins without results.
    await page.getByRole('button', { name: 'Score again' }).waitFor();
    await score(page);
    await says(card.getByLabel('Before', { exact: true }).locator('option:checked')).toBe('earlier.json');
  });
});
