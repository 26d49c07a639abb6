/**
 * @module test/exhaustive/search-shots
 * Shots of real films: cuts found as well as ffmpeg's scdet finds them, settings per shot, and joined files frame by frame.
 * Needs ffmpeg.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { detectShots, type TuneShotsOptions, tuneShots } from '../../src/index.js';
import { anyvmaf, anyvmafProcess } from '../support/cli.js';
import {
  canJoin,
  counters,
  type FilmPart,
  film,
  hasFfmpeg,
  needsFfmpeg,
  packetTimes,
  probed,
} from '../support/encode.js';
import { privateTmp, testFolder } from '../support/folders.js';

const FAST = {
  encoder: 'libx264',
  encoderOptions: { preset: 'ultrafast', bf: '2' },
  cache: false,
  threads: 0,
  minSeconds: 0.2,
  range: { min: 16, max: 44, step: 4 },
} as const;

/** Three shots of 12, 9 and 11 frames. */
const PARTS: readonly FilmPart[] = [
  { source: 'testsrc2', frames: 12 },
  { source: 'mandelbrot', frames: 9, filter: 'noise=alls=12:all_seed=5' },
  { source: 'smptehdbars', frames: 11 },
];

const joins = canJoin();

const { leftovers } = privateTmp('anyvmaf-search-');

const counting = (frames: number) => Array.from({ length: frames }, (_, i) => i);

describe.skipIf(!hasFfmpeg)(`shots of films (${needsFfmpeg})`, () => {
  const firsts = async (source: string, options = {}) =>
    (await detectShots(source, { minSeconds: 0.2, ...options })).shots.map(({ first }) => first);

  it('are found at every cut, also in the dark, and not in fades and flashes, where scdet is misled', async () => {
    const dark = 'lutyuv=y=val/5+16';
    const source = film({
      parts: [
        { source: 'testsrc2', frames: 30, filter: 'drawbox=color=white:t=fill:enable=between(n\\,12\\,13)' },
        { source: 'mandelbrot', frames: 25 },
        { source: 'testsrc2', frames: 40, filter: 'fade=out:10:10,fade=in:22:10' },
        { source: 'mandelbrot', frames: 20, filter: dark },
        { source: 'smptehdbars', frames: 20, filter: dark },
      ],
    });
    const known = [30, 55, 95, 115];
    expect(await firsts(source)).toEqual([0, ...known]);
    const { stderr } = spawnSync(
      'ffmpeg',
      ['-hide_banner', '-i', source, '-vf', 'scdet', '-f', 'null', '-'],
      { encoding: 'utf8' },
    );
    const theirs = [...stderr.matchAll(/lavfi\.scd\.time: ([\d.]+)/g)].map(([, time]) =>
      Math.round(Number(time) * 25),
    );
    const right = theirs.filter((frame) => known.includes(frame)).length;
    expect(right).toBeLessThanOrEqual(known.length);
    // It calls the flash a cut, or misses one in the dark.
    expect(theirs.length === known.length && right === known.length).toBe(false);
  });

  it('are one for a still picture, for one shot, and for what is shorter than a shot', async () => {
    const still = film({ parts: [{ source: 'color=c=gray', frames: 30 }] });
    expect(await firsts(still)).toEqual([0]);
    expect(await firsts(film({ parts: [{ source: 'mandelbrot', frames: 30 }] }))).toEqual([0]);
    const short = film({
      parts: [
        { source: 'testsrc2', frames: 3 },
        { source: 'mandelbrot', frames: 3 },
      ],
    });
    expect((await detectShots(short)).shots).toMatchObject([{ first: 0, count: 6, begins: 'start' }]);
    expect((await detectShots(film({ parts: [{ source: 'testsrc2', frames: 1 }] }))).shots).toMatchObject([
      { first: 0, count: 1, start: 0 },
    ]);
  });
});

describe.skipIf(!hasFfmpeg)(`settings of shots (${needsFfmpeg})`, () => {
  const folder = testFolder();
  const points = join(folder, 'points');
  let source = '';
  beforeAll(() => {
    source = film({
      parts: PARTS,
      counted: true,
      inputs: ['-f', 'lavfi', '-i', 'sine=duration=1.28'],
      extra: ['-map', '0:a', '-c:a', 'aac', '-metadata', 'title=counted'],
    });
  });
  afterAll(() => expect(leftovers()).toEqual([]));

  const tune = (options: Partial<TuneShotsOptions> = {}, input = source) =>
    tuneShots(input, { ...FAST, ...options });
  const fixed = { range: { min: 26, max: 26 }, targets: [{ atLeast: 1 }] };

  it('reach the target each with the largest value, and tell what that saves', async () => {
    const seen: number[] = [];
    const result = await tune({
      targets: [{ atLeast: 85 }],
      cache: points,
      onShot: ({ number }) => seen.push(number),
    });
    expect(seen).toEqual([1, 2, 3]);
    expect(result.shots.map(({ first, count }) => [first, count])).toEqual([
      [0, 12],
      [12, 9],
      [21, 11],
    ]);
    for (const { value, margin, points, pooled } of result.shots) {
      const better = points.find((point) => point.value > value && (point.pooled.vmaf?.mean ?? 0) >= 85);
      expect({ better, holds: margin >= 0 }).toEqual({ better: undefined, holds: true });
      expect(margin).toBeCloseTo((pooled.vmaf?.mean ?? 0) - 85, 9);
    }
    const values = result.shots.map(({ value }) => value);
    expect(new Set(values).size).toBeGreaterThan(1);
    expect(result).toMatchObject({ reached: true, single: { value: Math.min(...values), reached: true } });
    expect(result.saving).toBeCloseTo(1 - result.bytes / result.single.bytes, 12);
    expect(result.saving).toBeGreaterThan(0);
  });

  it('reach it together with fewer bytes than each by itself, and say so where they cannot', {
    timeout: 120_000,
  }, async () => {
    const whole = await tune({ goal: 'whole', targets: [{ atLeast: 85 }], cache: points });
    expect(whole.reached).toBe(true);
    expect(whole.pooled.vmaf?.mean).toBeGreaterThanOrEqual(85);
    const each = await tune({ targets: [{ atLeast: 85 }], cache: points });
    expect(whole.bytes).toBeLessThan(each.bytes);
    expect(each).toMatchObject({ encodes: 0, reached: true });
    const missed = await tune({ goal: 'whole', targets: [{ atLeast: 100.5 }], cache: points });
    expect(missed).toMatchObject({ reached: false });
    expect(missed.margin).toBeLessThan(0);
    expect(missed.shots.every(({ value }) => value === 16)).toBe(true);
  });

  it.skipIf(!joins)(
    'are joined frame by frame, with the scores of the shots and the sound of the source',
    async () => {
      const output = join(folder, 'joined.mp4');
      const { final, pooled, bytes } = await tune({ targets: [{ atLeast: 85 }], cache: points, output });
      expect(counters(output)).toEqual(counting(32));
      expect(packetTimes(output)).toEqual(counting(32).map((i) => i * 40));
      expect(final?.difference).toEqual({ within: 0, edges: 0 });
      expect(final?.pooled.vmaf?.mean).toBeCloseTo(pooled.vmaf?.mean ?? Number.NaN, 9);
      expect(final?.bytes).toBeGreaterThanOrEqual(bytes);
      expect(probed(output, 'stream=codec_name')).toMatch(/h264[\s\S]*aac/);
      expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
    },
  );

  it.skipIf(!joins)('keep times that are not even, also beyond one shot', async () => {
    const filter = 'setpts=(N+floor(N/3)+floor(N/7))/25/TB';
    const uneven = film({ parts: PARTS, counted: true, filter, extra: ['-vsync', 'vfr'] });
    expect(new Set(packetTimes(uneven).map((time, i, all) => time - (all[i - 1] ?? 0))).size).toBeGreaterThan(
      2,
    );
    for (const name of ['uneven.mkv', 'uneven.mp4']) {
      const output = join(folder, name);
      await tune({ ...fixed, cache: points, output }, uneven);
      expect(packetTimes(output)).toEqual(packetTimes(uneven));
      expect(counters(output)).toEqual(counting(32));
    }
  });

  it.skipIf(!joins)('keep depth, colour, shape and odd sizes', async () => {
    const hdr = '-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv'.split(
      ' ',
    );
    const parts = PARTS.slice(0, 2);
    const deep = film({ parts, pixelFormat: 'yuv420p10le', filter: 'setsar=4/3', extra: hdr });
    const output = join(folder, 'deep.mkv');
    await tune({ ...fixed, output }, deep);
    const facts = probed(
      output,
      'stream=pix_fmt,color_primaries,color_transfer,color_space,sample_aspect_ratio',
    );
    for (const fact of ['yuv420p10le', 'bt2020', 'smpte2084', 'bt2020nc', '4:3'])
      expect(facts).toContain(fact);
    const odd = film({ parts, counted: true, filter: 'scale=129:73:flags=neighbor' });
    const other = join(folder, 'odd.mp4');
    const vp9 = { encoder: 'libvpx-vp9', encoderOptions: { deadline: 'realtime', 'cpu-used': '8' } };
    await tune({ ...fixed, ...vp9, output: other }, odd);
    expect(probed(other, 'stream=width,height')).toContain('width=129|height=73');
    expect(counters(other)).toEqual(counting(21));
  });

  it.skipIf(!joins)(
    'make a script that makes the same with ffmpeg alone, a table, and exit codes',
    { timeout: 120_000 },
    async () => {
      const args = [
        'shots',
        source,
        '--encoder',
        'libx264',
        '--encoder-arg',
        'preset=ultrafast',
        '--cache',
        'none',
      ];
      const script = join(folder, 'make.sh');
      const limits = ['--min-length', '0.2', '--values', '34..34'];
      const made = await anyvmaf([...args, ...limits, '--target', '10', '-o', script]);
      expect(made.code, made.stderr).toBe(0);
      expect(made.stdout).toMatch(
        /^ shot +first +frames +time +crf +vmaf +kb\/s\n +1 +0 +12 +0:00\.00 +[\d.]+ /,
      );
      expect(made.stdout).toContain('\nEvery shot reaches vmaf mean of at least 10.\n');
      const output = join(folder, 'by script.mkv');
      execFileSync('sh', [script, output], { stdio: 'pipe' });
      expect(counters(output)).toEqual(counting(32));
      expect(probed(output, 'stream=codec_name')).toMatch(/h264[\s\S]*aac/);
      const missed = await anyvmaf([...args, ...limits, '--target', '100.5', '--csv']);
      expect(missed.code).toBe(3);
      expect(missed.stdout).toMatch(
        /^shot,first_frame,frames,start,seconds,begins,crf,bytes,kbps,vmaf_mean,/,
      );
      expect(missed.stdout.trim().split('\n')).toHaveLength(4);
    },
  );

  it('are not asked for where shots are only listed', async () => {
    const listed = await anyvmaf(['shots', source, '--min-length', '0.2']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toMatch(/\n +2 +12 +9 +0:00\.48 .* cut \(0\.\d\d\)\n/);
    expect(listed.stdout).toMatch(/\n3 shots, 32 frames at 25 per second\.\n$/);
  });

  it('leave no file when they are stopped while joining, and never the source overwritten', async () => {
    const stop = new AbortController();
    const output = join(folder, 'stopped.mp4');
    const onStage: TuneShotsOptions['onStage'] = ({ kind }) => kind === 'joining' && stop.abort();
    const task = tune({ ...fixed, output, onStage, signal: stop.signal });
    await expect(task).rejects.toMatchObject({ name: 'AbortError' });
    expect(existsSync(output)).toBe(false);
    const before = readFileSync(source);
    const encoded: string[] = [];
    const late = tune({ ...fixed, output: source, onStage: ({ kind }) => encoded.push(kind) });
    await expect(late).rejects.toMatchObject({ message: /is the source/ });
    expect(readFileSync(source).equals(before)).toBe(true);
    // Said before hours of work, not after.
    expect(encoded).toEqual(['reading']);
  });

  it('leave nothing when they are killed, once the next run has started', async () => {
    const tmp = mkdtempSync(join(folder, 'tmp-'));
    const args = ['shots', source, '--encoder', 'libx264', '--cache', 'none', '-q', '--min-length', '0.2'];
    const env = { TMPDIR: tmp };
    const { code } = await anyvmafProcess([...args, '--encoder-arg', 'preset=veryslow'], {
      env,
      meanwhile: async (child) => {
        while (!readdirSync(tmp, { recursive: true }).some((name) => String(name).endsWith('.y4m')))
          await sleep(5);
        child.kill('SIGKILL');
      },
    });
    expect(code).toBeNull();
    expect(await anyvmaf(['shots', source], { env })).toMatchObject({ code: 0 });
    expect(readdirSync(tmp)).toEqual([]);
    expect(execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' })).not.toContain(tmp);
  });
});
