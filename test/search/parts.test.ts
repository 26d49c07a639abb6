import { describe, expect, it } from 'vitest';
import { encoderArguments, parameterOf } from '../../src/search/encoders.js';
import { estimate } from '../../src/search/estimate.js';
import type { EncoderFacts } from '../../src/search/host.js';
import { chooseSamples } from '../../src/search/samples.js';
import { parseTarget, statisticOf } from '../../src/search/targets.js';

const encoder = (name: string, options: Record<string, string>): EncoderFacts => ({
  name,
  version: 'ffmpeg 5.1.9',
  options: new Map(Object.entries(options)),
  pixelFormats: ['yuv420p'],
});
const X264 = encoder('libx264', { crf: 'float', qp: 'int', preset: 'string', 'x264-params': 'dictionary' });

describe('a target', () => {
  it.each([
    ['95', { atLeast: 95 }],
    ['p5>=90', { statistic: 'p5', atLeast: 90 }],
    ['worst_second >= 80.5', { statistic: 'worst_second', atLeast: 80.5 }],
    ['psnr_y:min>=38', { metric: 'psnr_y', statistic: 'min', atLeast: 38 }],
  ])('%s is read', (text, target) => expect(parseTarget(text)).toEqual(target));

  it.each(['', 'p5', 'p6>=90', 'good>=1', '95 or so', '>=95', 'a:b:mean>=1', 'NaN'])(
    '%s is refused',
    (text) => expect(() => parseTarget(text)).toThrow(/must be a number such as 95/),
  );

  it('takes the worst second within a run of frames, not across runs', () => {
    const values = [10, 90, 90, 90, 90, 20];
    expect(statisticOf(values, 'worst_second', 2)).toBe(50);
    // Seconds 90 20 and 10 90 of two runs that begin at 0 and 4.
    expect(statisticOf([90, 90, 90, 20, 10, 90], 'worst_second', 2, [0, 4])).toBe(50);
    expect(statisticOf([90, 90, 90, 20, 10, 90], 'worst_second', 2)).toBe(15);
  });
});

describe('the parameter of an encoder', () => {
  it('is its scale of constant quality, in steps that it tells apart', () => {
    const { name, grid, args } = parameterOf(X264, undefined, undefined);
    expect(name).toBe('crf');
    expect(grid.values.slice(0, 3)).toEqual([0, 0.5, 1]);
    expect(grid.values.at(-1)).toBe(51);
    expect(grid.values[grid.start]).toBe(24);
    expect(args(23.5)).toEqual(['-crf', '23.5']);
  });

  it('has whole steps where ffmpeg takes whole numbers', () => {
    const whole = parameterOf(encoder('libsvtav1', { crf: 'int' }), undefined, undefined);
    expect(whole.grid.values.slice(0, 2)).toEqual([1, 2]);
    const fine = parameterOf(encoder('libsvtav1', { crf: 'float' }), undefined, undefined);
    expect(fine.grid.values.slice(0, 2)).toEqual([1, 1.25]);
  });

  it('is the bit rate of an encoder without such a scale, from high to low', () => {
    const { name, grid } = parameterOf(encoder('mpeg2video', {}), undefined, { min: 1e6, max: 2e6 });
    expect(name).toBe('bitrate');
    expect(grid.values[0]).toBe(2e6);
    expect(grid.values.at(-1)).toBeGreaterThanOrEqual(1e6);
    expect(grid.values.at(-1)).toBeLessThan(1.06e6);
  });

  it('goes by the range and the step that are asked for', () => {
    const { grid } = parameterOf(X264, 'qp', { min: 20, max: 26, step: 2 });
    expect(grid.values).toEqual([20, 22, 24, 26]);
    expect(() => parameterOf(X264, undefined, { min: 20, max: 90 })).toThrow(/goes from 0 to 51/);
    expect(() => parameterOf(X264, 'cq', undefined)).toThrow(/has no parameter cq/);
  });
});

describe('options of an encoder', () => {
  it('become arguments of ffmpeg, one by one', () => {
    expect(encoderArguments(X264, { preset: 'slow', g: '240' })).toEqual(['-preset', 'slow', '-g', '240']);
  });

  it.each([
    [{ i: 'other.mp4' }, /has no option "i"/],
    [{ f: 'tee' }, /has no option "f"/],
    [{ crf: '20' }, /not for a search/],
    [{ passlogfile: 'x' }, /not for a search/],
    [{ preset: '../x' }, /names a file/],
    [{ 'x264-params': 'stats=x' }, /names a file/],
    [{ 'x264-params': 'keyint=50:qpfile=q' }, /names a file/],
    [{ presett: 'slow' }, /did you mean preset/],
  ])('%j is refused', (options, message) => expect(() => encoderArguments(X264, options)).toThrow(message));
});

describe('samples of a video', () => {
  const video = (frames: number, perSecond: number, keys: number[]) => ({
    times: Float64Array.from({ length: frames }, (_, i) => i / perSecond),
    sizes: Float64Array.from({ length: frames }, (_, i) => 1000 + ((i * 7919) % 4000)),
    keys,
  });

  it('lie in order, one in each part, within the video, with frames around them', () => {
    const facts = video(4500, 25, [0, 250, 500, 750]);
    const samples = chooseSamples(facts) ?? [];
    expect(samples).toHaveLength(12);
    samples.forEach(({ scored, encoded }, part) => {
      expect(scored.count).toBe(50);
      expect(scored.first).toBeGreaterThanOrEqual((part * 4500) / 12);
      expect(scored.first + scored.count).toBeLessThanOrEqual(((part + 1) * 4500) / 12);
      expect(encoded.first).toBe(Math.max(0, scored.first - 8));
      expect(encoded.first + encoded.count).toBe(Math.min(4500, scored.first + 58));
    });
  });

  it('begin at shots where a part has some', () => {
    const keys = Array.from({ length: 180 }, (_, i) => i * 25);
    const samples = chooseSamples(video(4500, 25, keys)) ?? [];
    expect(samples.every(({ scored }) => scored.first % 25 === 0)).toBe(true);
  });

  it('are none where they would be half the video, and no frame is asked for twice', () => {
    expect(chooseSamples(video(500, 25, [0]))).toBeNull();
    expect(chooseSamples(video(1, 25, [0]))).toBeNull();
    expect(chooseSamples(video(0, 25, []))).toBeNull();
  });

  it('stay below the most frames that are allowed', () => {
    const samples = chooseSamples(video(100_000, 60, [0])) ?? [];
    expect(samples.reduce((sum, { encoded }) => sum + encoded.count, 0)).toBeLessThanOrEqual(4000);
  });
});

describe('an estimate from samples', () => {
  it('of one run is that run, and nothing is uncertain', () => {
    expect(estimate([[90, 92]], 'mean', 25)).toEqual({
      value: 91,
      interval95: [91, 91],
      interval99: [91, 91],
    });
  });

  it('has an interval by hand: two samples of means 90 and 94', () => {
    // Neighbours differ by 4: standard error sqrt(16 / (2 * 1 * 2)) = 2, one degree of freedom.
    const { value, interval95, interval99 } = estimate([[90], [94]], 'mean', 25);
    expect(value).toBe(92);
    expect(interval95[1]).toBeCloseTo(92 + 2 * 12.706, 9);
    expect(interval99[0]).toBeCloseTo(92 - 2 * 63.657, 9);
  });

  it('holds the whole video’s mean in the 99 % interval of nearly all of 400 videos that drift', () => {
    let state = 99;
    const next = () => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return state / 0x7fffffff;
    };
    let inside = 0;
    for (let round = 0; round < 400; round++) {
      const [drift, wave] = [20 * next() - 10, 6 * next()];
      const all = Array.from(
        { length: 4500 },
        (_, i) => 85 + (drift * i) / 4500 + wave * Math.sin(i / 90 + round) + 2 * (next() - 0.5),
      );
      const parts = 12;
      const samples = Array.from({ length: parts }, (_, part) => {
        const start = Math.floor((part * 4500) / parts + next() * (4500 / parts - 50));
        return all.slice(start, start + 50);
      });
      const { interval99 } = estimate(samples, 'mean', 25);
      const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
      if (mean >= interval99[0] && mean <= interval99[1]) inside++;
    }
    expect(inside).toBeGreaterThanOrEqual(394);
  });
});
