/**
 * @module test/node/search/search
 * Searches with real encoders: against a full grid, from a cache, with samples, and all that is refused. Needs ffmpeg.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SearchOptions, type SearchPoint, searchQuality } from '../../../src/index.js';
import { anyvmaf, anyvmafProcess } from '../../support/cli.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { privateTmp } from '../../support/private-tmp.js';

const FAST = { encoder: 'libx264', encoderOptions: { preset: 'ultrafast' } } as const;
const { leftovers } = privateTmp('anyvmaf-search-');

describe.skipIf(!hasFfmpeg)(`a search with real encoders (${needsFfmpeg})`, () => {
  let folder = '';
  let source = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'anyvmaf-test-'));
    source = await encode({
      codec: 'ffv1',
      size: '160x96',
      frames: 24,
      source: 'testsrc2',
      extra: ['-vf', 'noise=alls=12:all_seed=5'],
    });
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(leftovers()).toEqual([]);
  });

  const search = (options: Partial<SearchOptions> = {}) =>
    searchQuality(source, { ...FAST, cache: join(folder, 'points'), threads: 0, ...options });

  it('finds what a full grid finds within a step, and goes on from its points for another target', async () => {
    const seen: SearchPoint[] = [];
    const found = await search({ targets: [{ atLeast: 85 }], onPoint: (point) => seen.push(point) });
    expect(found).toMatchObject({
      encoder: 'libx264',
      parameter: 'crf',
      shortfall: null,
      samples: null,
      cached: 0,
    });
    expect(found.encodes).toBe(seen.length);
    expect(found.points).toHaveLength(found.encodes);
    const at = found.points.find(({ value }) => value === found.value) as SearchPoint;
    expect(at.margin).toBeGreaterThanOrEqual(0);
    expect(at.pooled.vmaf?.mean).toBe(found.predicted.value);

    const range = { min: found.value - 2, max: found.value + 2, step: 0.5 };
    const grid = await search({ targets: [{ atLeast: 85 }], all: true, range });
    expect(Math.abs(grid.value - found.value)).toBeLessThanOrEqual(0.5);
    expect(grid.cached).toBeGreaterThan(0);

    const other = await search({ targets: [{ statistic: 'min', atLeast: 80 }, { atLeast: 70 }] });
    expect(other.cached).toBeGreaterThanOrEqual(found.encodes);
    expect(other.encodes).toBeLessThan(found.encodes + 2);
    const again = await search({ targets: [{ atLeast: 85 }] });
    expect(again).toMatchObject({ value: found.value, encodes: 0 });
  });

  it('reads no line that a kill cut short, and none of another length', async () => {
    const points = join(folder, 'torn');
    const first = await search({ cache: points, range: { min: 20, max: 30 } });
    const [name = ''] = readdirSync(points);
    const lines = readFileSync(join(points, name), 'utf8').trim().split('\n');
    const short = JSON.parse(lines[0] as string) as { metrics: { vmaf: number[][] } };
    short.metrics.vmaf[0]?.pop();
    writeFileSync(join(points, name), `${JSON.stringify(short)}\n{"value":1,\n[]\nnull\n`);
    const again = await search({ cache: points, range: { min: 20, max: 30 } });
    expect(again).toMatchObject({ value: first.value, encodes: first.encodes, cached: 0 });
  });

  it('says how far it fell short, and of what', async () => {
    const high = await search({ targets: [{ atLeast: 101 }], range: { min: 0, max: 10 } });
    expect(high.shortfall).toMatchObject({ reason: 'target' });
    const small = await search({ targets: [{ atLeast: 85 }], maxSize: 0.001 });
    expect(small.shortfall).toMatchObject({ reason: 'size' });
    const narrow = await search({ targets: [{ atLeast: 10 }], atMost: 20, range: { min: 10, max: 20 } });
    expect(narrow.shortfall).toMatchObject({ reason: 'above' });
  });

  it('encodes the whole source, scores it, and leaves nothing else behind', async () => {
    const output = join(folder, 'out.mp4');
    const { final, value, predicted } = await search({ targets: [{ atLeast: 85 }], output });
    expect(final).toMatchObject({ file: output, reached: true });
    // Nothing was sampled, so that the prediction is the thing itself.
    expect(final?.pooled.vmaf?.mean).toBe(predicted.value);
    expect(existsSync(output)).toBe(true);
    expect(value).toBeGreaterThan(0);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('never writes over its source', async () => {
    const copy = join(folder, 'copy.mkv');
    copyFileSync(source, copy);
    const task = searchQuality(copy, { ...FAST, cache: false, output: copy, range: { min: 30, max: 30 } });
    await expect(task).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('is the source'),
    });
    expect(readFileSync(copy).equals(readFileSync(source))).toBe(true);
  });

  it.each([
    [{ encoder: 'libx265x' }, 'usage', /no video encoder "libx265x"/],
    [{ encoder: 'a b; rm' }, 'usage', /no video encoder/],
    [{ encoderOptions: { preset: 'nonesuch' } }, 'media', /could not encode/],
    [{ encoderOptions: { f: 'tee' } }, 'usage', /no option "f"/],
    [{ pixelFormat: 'rgb24' }, 'usage', /does not take the pixel format rgb24/],
    [{ range: { min: 5, max: 90 } }, 'usage', /from 0 to 51/],
    [{ targets: [{ metric: 'psnr_y', atLeast: 30 }] }, 'feature', /names psnr_y, which no frame has/],
    [{ scratchBytes: 2000 }, 'io', /temporary files/],
    [{ output: '/nonexistent/x.txt' }, 'usage', /must end in \.mp4/],
    [{ output: '/nonexistent/x.mkv' }, 'io', /cannot write \/nonexistent\/x\.mkv: /],
    [{ nonesuch: 1 }, 'usage', /There is no option "nonesuch"/],
  ])('refuses %j', async (options, code, message) => {
    const task = search({
      cache: false,
      range: { min: 30, max: 30 },
      ...(options as Partial<SearchOptions>),
    });
    await expect(task).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('finds that its encode cannot be written before it encodes anything', async () => {
    const encoded: number[] = [];
    const task = search({
      cache: false,
      output: join(folder, 'missing', 'out.mkv'),
      onPoint: ({ value }) => encoded.push(value),
    });
    await expect(task).rejects.toMatchObject({ code: 'io' });
    expect(encoded).toEqual([]);
  });

  it('names the release of the encoder’s library', async () => {
    const { version } = await search({ cache: false, range: { min: 30, max: 30 } });
    expect(version).toMatch(/^ffmpeg \S+, libavcodec \S+, libx264 \d+/);
  });

  it('stops at once when it is told to, with no file and no process left', async () => {
    const stop = new AbortController();
    const task = search({
      cache: false,
      signal: stop.signal,
      onStage: ({ kind }) => kind === 'encoding' && stop.abort(),
    });
    await expect(task).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('takes samples of a longer source, frame for frame, and predicts the whole', async () => {
    const long = await encode({
      codec: 'h264',
      size: '96x64',
      frames: 1500,
      source: 'mandelbrot',
      extra: ['-bf', '3'],
    });
    const options = { ...FAST, cache: false, threads: 0, range: { min: 34, max: 34 }, verify: true } as const;
    const { samples, predicted, final } = await searchQuality(long, options);
    expect(samples?.length).toBeGreaterThanOrEqual(6);
    const mean = final?.pooled.vmaf?.mean ?? Number.NaN;
    expect(predicted.interval99[0]).toBeLessThanOrEqual(mean);
    expect(predicted.interval99[1]).toBeGreaterThanOrEqual(mean);
  });

  it('removes what a killed search left, at the next start', { timeout: 120_000 }, async () => {
    const tmp = mkdtempSync(join(folder, 'tmp-'));
    const args = [
      'search',
      source,
      '--encoder',
      'libx264',
      '--encoder-arg',
      'preset=veryslow',
      '--cache',
      'none',
      '-q',
    ];
    const env = { TMPDIR: tmp };
    const { code } = await anyvmafProcess(args, {
      env,
      meanwhile: async (child) => {
        while (!readdirSync(tmp).some((name) => name.startsWith('anyvmaf-search-'))) await sleep(5);
        child.kill('SIGKILL');
      },
    });
    expect(code).toBeNull();
    const next = await anyvmaf([...args, '--range', '30..30', '--target', '1'], { env });
    expect(next).toMatchObject({ code: 0 });
    expect(readdirSync(tmp)).toEqual([]);
    expect(execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' })).not.toContain(tmp);
  });

  it('is a command: a table as it goes, an answer, JSON, and exit codes', async () => {
    const args = [
      'search',
      source,
      '--encoder',
      'libx264',
      '--encoder-arg',
      'preset=ultrafast',
      '--cache',
      'none',
    ];
    const found = await anyvmaf([...args, '--target', '85', '--range', '20..40']);
    expect(found.code, found.stderr).toBe(0);
    expect(found.stdout).toMatch(/^libx264 crf [\d.]+ gives vmaf mean of at least 85\.\n/);
    expect(found.stdout).toMatch(
      /\nffmpeg -i \S+ -c:v libx264 -crf [\d.]+ -preset ultrafast -pix_fmt \S+ encode\.mkv\n$/,
    );
    expect(found.stderr).toMatch(/^ +crf +vmaf +kb\/s\n +\d/);
    const file = join(folder, 'result.json');
    const missed = await anyvmaf([...args, '--target', '100.5', '--range', '30..31', '--json', '-o', file]);
    expect(missed.code).toBe(3);
    const result = JSON.parse(missed.stdout);
    expect(result).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    expect(result).toMatchObject({
      encoder: 'libx264',
      parameter: 'crf',
      shortfall: { reason: 'target' },
      encodes: 1,
    });
    for (const [wrong, message] of [
      [['search'], /takes one source/],
      [['search', source], /needs an encoder/],
      [[...args, '--target', 'best'], /must be a number such as 95/],
      [[...args, '--range', '40-20'], /must be a range such as 18\.\.40/],
      [[...args, '--max-size', 'big'], /must be a share such as 60%/],
      [[...args, '--encoder-arg', 'slow'], /must be NAME=VALUE/],
    ] as const) {
      const { code, stderr } = await anyvmaf(wrong);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
    }
  });
});
