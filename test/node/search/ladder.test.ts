/**
 * @module test/node/search/ladder
 * Ladders and comparisons with a real encoder: hull and rungs from what was measured, the command that encodes them, files of
 * results, and all that is refused. Needs ffmpeg.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bdRate,
  buildLadder,
  type ComparisonResult,
  compareEncoders,
  formatEncodingResult,
  type LadderOptions,
  type LadderPoint,
  type LadderResult,
} from '../../../src/index.js';
import { convexHull } from '../../../src/search/hull.js';
import { anyvmaf } from '../../support/cli.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { privateTmp } from '../../support/private-tmp.js';

const FAST = { encoder: 'libx264', encoderOptions: { preset: 'ultrafast' } } as const;
const { leftovers } = privateTmp('anyvmaf-search-');

describe.skipIf(!hasFfmpeg)(`ladders and comparisons (${needsFfmpeg})`, () => {
  let folder = '';
  let source = '';
  let result: LadderResult;
  let compared: ComparisonResult;
  const seen: LadderPoint[] = [];
  const ladder = (options: Partial<LadderOptions> = {}) =>
    buildLadder(source, {
      ...FAST,
      sizes: [96, { width: 80, height: 48 }],
      range: { min: 14, max: 38, step: 8 },
      cache: join(folder, 'points'),
      threads: 0,
      ...options,
    });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'anyvmaf-test-'));
    source = await encode({ codec: 'ffv1', size: '160x96', frames: 10, source: 'mandelbrot' });
    result = await ladder({ rungs: 3, between: { min: 1, max: 100 }, onPoint: (point) => seen.push(point) });
    compared = await compareEncoders(source, {
      encoders: [
        { ...FAST, range: { min: 14, max: 38, step: 8 } },
        { encoder: 'libx264', encoderOptions: { preset: 'medium' }, range: { min: 14, max: 38, step: 8 } },
      ],
      cache: join(folder, 'points'),
      threads: 0,
    });
  }, 120_000);
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(leftovers()).toEqual([]);
  });

  it('measure every size and value once, and smaller pictures at the size of the source', () => {
    const { curves, encodes, cached, metric, statistic } = result;
    expect({ metric, statistic, cached }).toEqual({ metric: 'vmaf', statistic: 'mean', cached: 0 });
    expect(curves.map(({ width, height }) => [width, height])).toEqual([
      [160, 96],
      [80, 48],
    ]);
    expect(encodes).toBe(seen.length);
    expect(new Set(seen.map(({ height, value }) => `${height} ${value}`)).size).toBe(encodes);
    const [large, small] = curves;
    const at = (curve: typeof large, value: number) => curve?.points.find((point) => point.value === value);
    for (const value of [14, 22, 30, 38]) {
      expect(at(small, value)?.kbps).toBeLessThan(at(large, value)?.kbps ?? 0);
      expect(at(small, value)?.quality).toBeLessThan(at(large, value)?.quality ?? 0);
      expect(at(large, value)?.quality).toBe(at(large, value)?.pooled.vmaf?.mean);
    }
  });

  it('take the hull of all points, and rungs that were measured, evenly apart', () => {
    const { hull, rungs, curves, takeovers } = result;
    const points = curves.flatMap((curve) => curve.points);
    expect(hull).toEqual(convexHull(points));
    expect(rungs).toHaveLength(3);
    for (const rung of rungs) expect(points).toContainEqual(rung);
    const rates = rungs.map(({ kbps }) => Math.log(kbps));
    const [low, middle, high] = rates as [number, number, number];
    // As even as the encoder's steps allow.
    expect((middle - low) / (high - low)).toBeCloseTo(0.5, 1);
    expect(takeovers.at(-1)).toMatchObject({ width: 160, height: 96 });
  });

  it('go on from what is known, by another statistic, spread in quality, at searched qualities', async () => {
    const again = await ladder({ statistic: 'min', spacing: 'quality', rungs: 2 });
    expect(again.encodes).toBeLessThanOrEqual(2);
    expect(again.cached).toBeGreaterThanOrEqual(8);
    expect(again.rungs[0]?.quality).toBe(again.rungs[0]?.pooled.vmaf?.min);
    const { curves } = await ladder({ targets: [70], rungs: 1, sizes: [96] });
    const held = curves[0]?.points.filter(({ quality }) => quality >= 70) ?? [];
    expect(held.length).toBeGreaterThan(0);
    const next = curves[0]?.points.find(({ value }) => value > (held.at(-1)?.value ?? 0));
    expect(next?.quality).toBeLessThan(70);
  });

  it('give a command that encodes every rung for DASH and HLS', () => {
    const into = mkdtempSync(join(folder, 'dash-'));
    const [program = '', ...args] = result.command;
    execFileSync(program, ['-v', 'error', ...args], { cwd: into, stdio: 'pipe' });
    const manifest = readFileSync(join(into, 'ladder.mpd'), 'utf8');
    for (const { width, height } of result.rungs)
      expect(manifest).toContain(`width="${width}" height="${height}"`);
    expect(manifest.match(/<Representation /g)).toHaveLength(result.rungs.length);
    expect(existsSync(join(into, 'master.m3u8'))).toBe(true);
  });

  it('compare presets by BD-rate, by name, with what a quality costs', async () => {
    const [anchor, test] = compared.curves;
    expect(compared.curves.map(({ name }) => name)).toEqual([
      'libx264 preset=ultrafast',
      'libx264 preset=medium',
    ]);
    const [delta] = compared.deltas;
    expect(delta?.rate).toEqual(await bdRate(anchor?.points ?? [], test?.points ?? []));
    expect(delta?.rate?.value).toBeLessThan(0);
    expect(anchor?.framesPerSecond).toBeNull();
    expect(test?.framesPerSecond).toBeGreaterThan(0);
    const asked = await compareEncoders(source, {
      encoders: [
        { ...FAST, name: 'a', range: { min: 30, max: 32 } },
        { ...FAST, name: 'b' },
      ],
      targets: [60],
      cache: join(folder, 'points'),
    });
    expect(asked.curves[1]?.atTargets[0]).toMatchObject({ target: 60, reached: true });
  });

  it('are written as tables, JSON, CSV and a page that loads nothing', async () => {
    expect(JSON.parse(await formatEncodingResult(result, 'json'))).toEqual(result);
    const lines = (await formatEncodingResult(result, 'csv')).trim().split('\n');
    expect(lines[0]).toBe('width,height,crf,bytes,kbps,quality,frames_per_second,hull,rung');
    expect(lines).toHaveLength(1 + result.curves.flatMap(({ points }) => points).length);
    expect(lines.filter((line) => /,[123]$/.test(line))).toHaveLength(3);
    expect(await formatEncodingResult(result, 'text')).toMatch(/^Rungs\n {2}rung +size +crf +vmaf +kb\/s/);
    const hostile = { ...result, source: '<script>alert(1)</script>' };
    const page = await formatEncodingResult(hostile, 'html');
    expect(page).not.toContain('<script>');
    expect(page).not.toMatch(/(?:src|href)=/);
    expect(page).toContain('Where each size takes over');
    const table = await formatEncodingResult(
      { ...compared, curves: compared.curves.map((curve) => ({ ...curve, name: '=1+1,"x"' })) },
      'csv',
    );
    expect(table.split('\n')[1]).toMatch(/^"'=1\+1,""x""",libx264,crf,14,/);
    expect(await formatEncodingResult(compared, 'html')).toContain('BD-rate');
    await expect(formatEncodingResult(result, 'pdf' as 'csv')).rejects.toThrow(/format.*pdf.*html/s);
  });

  it.each([
    [{ sizes: [720] }, 'usage', /size 1200x720, but sizes go from 16 pixels up to the source's 160x96/],
    [{ sizes: [{ width: 81, height: 48 }] }, 'usage', /81x48.*even sides/],
    [{ sizes: [] }, 'usage', /one size at least/],
    [{ sizes: ['720'] }, 'usage', /height such as 720/],
    [{ rungs: 0 }, 'usage', /whole number from 1 to 32/],
    [{ between: { min: 99.99, max: 100 } }, 'usage', /rungs are wanted between 99\.99 and 100/],
    [{ between: { min: 9, max: 1 } }, 'usage', /min that is not above/],
    [{ spacing: 'even' }, 'usage', /spacing.*rate.*quality/],
    [{ metric: 'psnr_y' }, 'feature', /psnr_y, which no frame has/],
    [{ atMost: 4 }, 'usage', /There is no option "atMost"/],
  ])('refuse %j', async (options, code, message) => {
    const task = ladder({ rungs: 1, ...(options as Partial<LadderOptions>) });
    await expect(task).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('refuse an encoder that is compared with itself, and one alone', async () => {
    await expect(compareEncoders(source, { encoders: [FAST, FAST] })).rejects.toMatchObject({
      message: expect.stringContaining('compared twice'),
    });
    await expect(compareEncoders(source, { encoders: [FAST] })).rejects.toMatchObject({
      message: expect.stringContaining('2 to 16 encoders'),
    });
  });

  it('are commands, with result files by the end of their names', async () => {
    const files = ['l.json', 'l.csv', 'l.html'].map((name) => join(folder, name));
    const shared = [
      '--encoder-arg',
      'preset=ultrafast',
      '--range',
      '14..38:8',
      '--cache',
      join(folder, 'points'),
    ];
    const outputs = files.flatMap((file) => ['-o', file]);
    const args = ['ladder', source, '--encoder', 'libx264', '--sizes', '96,80x48', ...shared, '--rungs', '2'];
    const built = await anyvmaf([...args, ...outputs]);
    expect(built.code, built.stderr).toBe(0);
    expect(built.stdout).toMatch(/^Rungs\n.*Where each size takes over\n.*\nffmpeg -i /s);
    expect(built.stderr).toMatch(/^size +value +quality +kb\/s\n160x96 +14 /);
    expect(files.map((file) => existsSync(file))).toEqual([true, true, true]);
    const none = await anyvmaf([...args, '-o', join(folder, 'l.pdf')]);
    expect(none).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('must end in .json') });
    expect(readdirSync(folder)).not.toContain('l.pdf');

    const pair = ['--encoder', 'libx264:preset=ultrafast', '--encoder', 'libx264:preset=medium'];
    const both = await anyvmaf([
      'compare-encoders',
      source,
      ...pair,
      '--target',
      '60',
      '--csv',
      '--cache',
      join(folder, 'points'),
    ]);
    expect(both.code, both.stderr).toBe(0);
    expect(both.stdout).toMatch(/^name,encoder,parameter,value,.*\nlibx264 preset=ultrafast,libx264,crf,/);
    for (const [wrong, message] of [
      [['ladder', source, '--encoder', 'libx264'], /needs sizes/],
      [['ladder', source, '--sizes', '96'], /needs an encoder/],
      [['ladder', '--sizes', '96'], /takes one source, but none was given/],
      [['ladder', source, '--sizes', 'big'], /must be heights or sizes/],
      [['ladder', source, '--by', 'a:b:c'], /must be a statistic, a metric, or both/],
      [['compare-encoders', source, '--encoder', 'libx264'], /needs two encoders or more/],
      [['compare-encoders', source, '--encoder', 'libx264:fast'], /such as libx264:preset=slow/],
    ] as const) {
      const { code, stderr } = await anyvmaf(wrong);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
    }
  });
});
