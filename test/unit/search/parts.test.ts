/**
 * @module test/unit/search/parts
 * What a search is made of: targets, parameters and options of encoders, samples, and estimates from them.
 */
import { describe, expect, it } from 'vitest';
import { storedFrameBytes } from '../../../src/core/frame.js';
import { statisticOf } from '../../../src/report/verdict.js';
import { pictureArguments } from '../../../src/search/commands.js';
import {
  type EncoderFacts,
  encoderArguments,
  isForeignEncoder,
  parameterOf,
} from '../../../src/search/encoders.js';
import { chooseSamples, type Sample } from '../../../src/search/material.js';
import { nextStep } from '../../../src/search/strategy.js';
import { completeTargets, estimate, pooledOf, qualityIn } from '../../../src/search/targets.js';
import { parseEncoder, parseTarget } from '../../../src/search/types.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const encoder = (name: string, options: Record<string, string>): EncoderFacts => ({
  name,
  version: 'ffmpeg 5.1.9',
  options: new Map(Object.entries(options)),
  pixelFormats: ['yuv420p'],
});
const X264 = encoder('libx264', {
  ...{ crf: 'float', qp: 'int', preset: 'string', 'x264-params': 'dictionary', x264opts: 'string' },
  ...{ stats: 'string', fastfirstpass: 'boolean', 'aq-mode': 'int', crf_max: 'float', cplxblur: 'float' },
});
const X265 = encoder('libx265', { crf: 'float', preset: 'string', 'x265-params': 'dictionary' });
const SVT = encoder('libsvtav1', { crf: 'int', preset: 'int', 'svtav1-params': 'dictionary' });
const OMX = encoder('h264_omx', { omx_libname: 'string', omx_libprefix: 'string', zerocopy: 'int' });

const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

it('pictures keep the levels of grey, and palettes get the stated matrix', () => {
  const grey = pictureArguments(undefined, 'grey');
  expect(grey).toEqual(['-vf', 'scale=in_range=limited:out_range=limited']);
  expect(pictureArguments(undefined, 'palette')[1]).toMatch(/^format=rgb24,scale=out_color_matrix=bt709/);
});

describe('a target', () => {
  it('is not reached by frames that equal the source alone', () => {
    const measure = { metric: 'psnr_hvs', statistic: 'mean' } as const;
    const of = (...values: number[]) => qualityIn(measure, { psnr_hvs: [values] }, 25);
    const equal = Number.POSITIVE_INFINITY;
    expect(() => of(equal, 30, 31)).toThrow(/the mean of psnr_hvs is not finite, .*use p5 or min/);
    expect(of(equal, equal)).toBe(equal);
    const grid = { values: [10, 20, 30, 40], start: 1, slope: 5 };
    const points = [10, 20, 30].map((value) => ({ value, margin: equal }));
    expect(nextStep(points, grid)).toEqual({ kind: 'try', value: 40 });
  });

  it('may name a model or an extractor, as in gates', () => {
    const texts = ['ssim>=0.98', 'psnr.p5>=40', 'vmaf_v0.6.1.p5>=90', 'cvvdp>=9', 'cambi.max<=5'];
    const metrics = completeTargets(texts.map(parseTarget), undefined).map(({ metric }) => metric);
    expect(metrics).toEqual(['float_ssim', 'psnr_y', 'vmaf', 'cvvdp', 'cambi']);
  });

  it.each([
    ['95', { atLeast: 95 }],
    ['p5>=90', { statistic: 'p5', atLeast: 90 }],
    ['worst_second >= 80.5', { statistic: 'worst_second', atLeast: 80.5 }],
    ['psnr_y:min>=38', { metric: 'psnr_y', statistic: 'min', atLeast: 38 }],
    ['vmaf.p5>=90', { metric: 'vmaf', statistic: 'p5', atLeast: 90 }],
    ['psnr_y>=40', { metric: 'psnr_y', atLeast: 40 }],
    ['cambi.max<=5', { metric: 'cambi', statistic: 'max', atMost: 5 }],
    ['ssimulacra2>=80', { metric: 'ssimulacra2', atLeast: 80 }],
    ['butteraugli_3norm.max<=1.5', { metric: 'butteraugli_3norm', statistic: 'max', atMost: 1.5 }],
    ['butteraugli.norm3<=1.5', { metric: 'butteraugli_3norm', atMost: 1.5 }],
    ['butteraugli.norm3.p95<=1.5', { metric: 'butteraugli_3norm', statistic: 'p95', atMost: 1.5 }],
    ['cvvdp>=9.5', { metric: 'cvvdp', atLeast: 9.5 }],
  ])('%s is read', (text, target) => expect(parseTarget(text)).toEqual(target));

  it.each(['', 'p5', '95 or so', '>=95', 'p5>90', 'NaN'])('%s is refused', (text) =>
    expect(() => parseTarget(text)).toThrow(/must be a number such as 93/),
  );

  it('is no harmonic mean of a metric with values below 0', () => {
    const target = parseTarget('ssimulacra2.harmonic_mean>=70');
    expect(() => completeTargets([target], undefined)).toThrow(/no harmonic mean/);
    expect(pooledOf({ ssimulacra2: [[-50, 90]] }).ssimulacra2?.harmonic_mean).toBeNaN();
  });

  it('has its worst second within a run of frames, where high values are the worse ones the highest', () => {
    expect(statisticOf([10, 90, 90, 90, 90, 20], 'worst_second', 2)).toBe(50);
    // Seconds 90 20 and 10 90 of two runs that begin at 0 and 4.
    expect(statisticOf([90, 90, 90, 20, 10, 90], 'worst_second', 2, [0, 4])).toBe(50);
    expect(statisticOf([90, 90, 90, 20, 10, 90], 'worst_second', 2)).toBe(15);
    const cambi = [[1, 2, 8, 6, 1, 1]];
    for (const [metric, worst] of [
      ['cambi', 7],
      ['vmaf', 1],
    ] as const)
      expect(qualityIn({ metric, statistic: 'worst_second' }, { [metric]: cambi }, 2)).toBe(worst);
    expect(estimate(cambi, 'worst_second', 2, { isWorseHigh: true }).value).toBe(7);
  });
});

describe('the parameter of an encoder', () => {
  it('is its scale of constant quality, in steps that it tells apart and that ffmpeg takes', () => {
    const { name, grid, args } = parameterOf(X264, undefined, undefined);
    expect(name).toBe('crf');
    expect(grid.values.slice(0, 3)).toEqual([0, 0.5, 1]);
    expect(grid.values.at(-1)).toBe(51);
    expect(grid.values[grid.start]).toBe(24);
    expect(args(23.5)).toEqual(['-crf', '23.5']);
    const av1 = (crf: string) => parameterOf(encoder('libsvtav1', { crf }), undefined, undefined).grid.values;
    expect(av1('int').slice(0, 2)).toEqual([1, 2]);
    expect(av1('float').slice(0, 2)).toEqual([1, 1.25]);
    const vp8 = parameterOf(encoder('libvpx', { crf: 'int' }), undefined, undefined);
    expect([vp8.grid.values[0], vp8.args(10)]).toEqual([4, ['-crf', '10', '-b:v', '100M']]);
  });

  it('is the bit rate of an encoder without such a scale, from high to low', () => {
    const { name, grid } = parameterOf(encoder('mpeg2video', {}), undefined, { min: 1e6, max: 2e6 });
    expect(name).toBe('bitrate');
    expect([grid.values.length, grid.values[0], grid.values.at(-1)]).toEqual([13, 2e6, 1e6]);
    const ends = { min: 1e6, max: 1.5e6 };
    const { grid: odd } = parameterOf(X264, 'bitrate', ends);
    expect([odd.values[0], odd.values.at(-1)]).toEqual([1.5e6, 1e6]);
    const { grid: even } = parameterOf(X264, 'bitrate', { ...ends, step: 2e5 });
    expect(even.values).toEqual([1.4e6, 1.2e6, 1e6]);
  });

  it('goes by the range and the step that are asked for', () => {
    const { grid } = parameterOf(X264, 'qp', { min: 20, max: 26, step: 2 });
    expect(grid.values).toEqual([20, 22, 24, 26]);
    expect(() => parameterOf(X264, undefined, { min: 20, max: 90 })).toThrow(/goes from 0 to 51/);
    expect(() => parameterOf(X264, 'qp', { min: 0, max: 51, step: 1e-9 })).toThrow(/more than 10000 values/);
    expect(() => parameterOf(X264, 'cq', undefined)).toThrow(/has no parameter cq/);
    const vp9 = encoder('libvpx-vp9', { crf: 'int' });
    expect(() => parameterOf(vp9, 'crf', { min: 30, max: 40, step: 0.5 })).toThrow(
      'the range includes 30.5, but libvpx-vp9 takes only whole numbers for crf',
    );
    expect(parameterOf(vp9, 'crf', { min: 30, max: 40.5, step: 5 }).grid.values).toEqual([30, 35, 40]);
  });
});

describe('options of an encoder', () => {
  it('become arguments of ffmpeg, one by one', () => {
    expect(encoderArguments(X264, { preset: 'slow', g: '240' })).toEqual(['-preset', 'slow', '-g', '240']);
  });

  it.each([
    [{ i: 'other.mp4' }, /has no option "i"/],
    [{ f: 'tee' }, /has no option "f"/],
    [{ crf: '20' }, /is set by the search/],
    [{ passlogfile: 'x' }, /has no option "passlogfile"/],
    [{ preset: '../x' }, /but only letters, digits and/],
    [{ 'x264-params': 'stats=x' }, /"stats" is set by the search/],
    [
      { 'x264-params': 'keyint=50:qpfile=q' },
      /"qpfile" is not a known option of the encoder, or may name a file/,
    ],
    [{ presett: 'slow' }, /did you mean preset/],
    [{ stats: 'x.log' }, /is set by the search/],
    [{ flags: '+pass1' }, /only flags that affect the picture/],
    [{ flags: '+cgop+qscale' }, /only flags that affect the picture/],
    [{ g: '250\n-i x' }, /but only letters, digits and/],
    [{ preset: "fast'" }, /but only letters, digits and/],
    // As ffmpeg and the encoder take quotes and backslashes off, or do not.
    [{ 'x264-params': "'dump-yuv'=d.yuv" }, /without quotes/],
    [{ 'x264-params': "keyint=50:'stats'=x" }, /without quotes/],
    [{ 'x264-params': 'dump\\-yuv=d.yuv' }, /without quotes/],
    [{ 'x264-params': 'keyint=50\\:dump-yuv=d.yuv' }, /without quotes/],
    [{ 'x264-params': ' dump-yuv=d.yuv' }, /without quotes, spaces/],
    [{ 'x264-params': 'keyint=50,dump-yuv=d.yuv' }, /two equals signs/],
    [{ 'x264-params': 'keyint=/etc/passwd' }, /paths/],
    [{ 'x264-params': 'dump_yuv=d.yuv' }, /"dump_yuv" is not a known option/],
    [{ 'x264-params': 'DUMP-YUV=d.yuv' }, /"DUMP-YUV" is not a known option/],
    [{ 'x264-params': 'no-dump-yuv=d.yuv' }, /is not a known option/],
    [{ 'x264-params': 'keyint=1:crf=20' }, /"crf" is set by the search/],
    [{ 'x264-params': 'no_crf=20' }, /is set by the search/],
    [{ 'x264-params': 'foo=bar' }, /"foo" is not a known option/],
    [{ x264opts: 'qpfile=q' }, /"qpfile" is not a known option/],
    [{ x264opts: 'bitrate=100' }, /"bitrate" is set by the search/],
  ])('%j is refused', (options, message) => expect(() => encoderArguments(X264, options)).toThrow(message));

  it.each([
    [X265, { 'x265-params': 'crf=20' }, /"crf" is set by the search/],
    [X265, { 'x265-params': 'csv=x.csv' }, /"csv" is not a known option/],
    [X265, { 'x265-params': "'csv'=x.csv" }, /without quotes/],
    [X265, { 'x265-params': 'analysis-save=x:lossless=1' }, /"analysis-save" is not a known option/],
    [X265, { 'x265-params': 'lossless=1' }, /"lossless" is set by the search/],
    [SVT, { 'svtav1-params': 'rc=1:tbr=100' }, /"rc" is set by the search/],
    [SVT, { 'svtav1-params': 'stat-file=x' }, /"stat-file" is not a known option/],
    [OMX, { omx_libname: '/tmp/evil.so' }, /may name a file, a library or a device/],
  ])('of %j, %j, are refused', (facts, options, message) =>
    expect(() => encoderArguments(facts, options)).toThrow(message),
  );

  it.each([
    [X264, { 'x264-params': 'keyint=250:no-scenecut=1:deblock=-1:-1:partitions=p8x8,b8x8:psy-rd=1.0:0.15' }],
    [X264, { x264opts: 'bframes=3:aq_mode=2', flags: '+cgop', 'aq-mode': '3', tune: 'film' }],
    [
      X265,
      { 'x265-params': 'aq-mode=3:no-sao=1:rd=4:master-display=G(8500,39850)B(6550,2300)R(35400,14600)' },
    ],
    [SVT, { 'svtav1-params': 'tune=0:film-grain=8:lp=4' }],
  ])('of the picture are taken: $1', (facts, options) =>
    expect(encoderArguments(facts, options)).toEqual(
      Object.entries(options).flatMap(([name, value]) => [`-${name}`, value]),
    ),
  );

  it('loads nothing for encoders that are not known to be harmless', () => {
    const known = ['libx264', 'libx265', 'libsvtav1', 'hevc_vaapi', 'ffv1'];
    expect(known.map(isForeignEncoder)).not.toContain(false);
    const others = ['h264_omx', 'h264_v4l2m2m', 'rawvideo', 'wrapped_avframe', 'libx264 ', ''];
    expect(others.map(isForeignEncoder)).not.toContain(true);
  });
});

describe('an encoder as people write it', () => {
  it.each([
    ['libx264', 'libx264', {}],
    ['libx264:preset=slow:tune=film', 'libx264', { preset: 'slow', tune: 'film' }],
    ['libx265:x265-params=a=b', 'libx265', { 'x265-params': 'a=b' }],
  ])('%s is read', (text, encoder, encoderOptions) =>
    expect(parseEncoder(text)).toEqual({ encoder, encoderOptions }),
  );

  it.each(['', ':preset=slow', 'libx264:', 'libx264:slow', 'libx264:=slow'])('%j is refused', (text) =>
    expect(() => parseEncoder(text)).toThrow(/must be the name of an ffmpeg encoder/),
  );
});

describe('samples of a video', () => {
  const video = (frames: number, perSecond: number) => ({
    times: Float64Array.from({ length: frames }, (_, i) => i / perSecond),
    sizes: Float64Array.from({ length: frames }, (_, i) => 1000 + ((i * 7919) % 4000)),
  });
  const encoded = (samples: readonly Sample[]) => samples.reduce((sum, one) => sum + one.encoded.count, 0);

  it('lie in order, one in each part, within the video, with frames around them', () => {
    const samples = chooseSamples(video(4500, 25)) ?? [];
    expect(samples).toHaveLength(69);
    samples.forEach(({ scored, encoded }, part) => {
      expect([12, 13]).toContain(scored.count);
      expect(scored.first).toBeGreaterThanOrEqual(Math.floor((part * 4500) / 69));
      expect(scored.first + scored.count).toBeLessThanOrEqual(Math.floor(((part + 1) * 4500) / 69));
      const end = Math.min(4500, scored.first + scored.count + 6);
      expect(encoded).toEqual({ first: Math.max(0, end - 32), count: Math.min(end, 32) });
    });
  });

  it('take each shot for as much as its length', () => {
    const cuts = [30, 90, 400, 1000, 1010, 2500, 4480];
    const { motion, texture } = flat(4500);
    const samples = chooseSamples({ ...video(4500, 25), activity: { cuts, motion, texture } }) ?? [];
    const share = samples.reduce((sum, one) => sum + one.scored.count, 0) / 4500;
    expect(share).toBeGreaterThan(0.17);
    [0, ...cuts].forEach((cut, shot) => {
      const end = cuts[shot] ?? 4500;
      const own = samples.filter((one) => one.shot === shot);
      const scored = own.reduce((sum, one) => sum + one.scored.count, 0);
      expect(Math.abs(scored - share * (end - cut))).toBeLessThanOrEqual(1.5);
      for (const { scored: run } of own) {
        expect(run.first).toBeGreaterThanOrEqual(cut);
        expect(run.first + run.count).toBeLessThanOrEqual(end);
      }
    });
  });

  it('move as much as the whole does, and follow cuts as often', () => {
    const { next } = seeded(7);
    const { texture } = flat(4500);
    const cuts = Array.from({ length: 44 }, (_, i) => 100 * (i + 1));
    const motion = texture.map((_, i) => 3 + 2 * Math.sin(i / 17) + next());
    const settled = (at: number) => Math.exp(-(at % 100) / 8);
    const samples = chooseSamples({ ...video(4500, 25), activity: { cuts, motion, texture } }) ?? [];
    const all = Array.from({ length: 4500 }, (_, i) => i);
    const frames = samples.flatMap(({ scored: { first, count } }) => all.slice(first, first + count));
    const moved = (at: number) => motion[at] ?? 0;
    expect(Math.abs(mean(frames.map(moved)) - mean(all.map(moved)))).toBeLessThan(0.03);
    expect(Math.abs(mean(frames.map(settled)) - mean(all.map(settled)))).toBeLessThan(0.01);
  });

  it('are spread over the whole where there are more shots than samples', () => {
    const cuts = Array.from({ length: 749 }, (_, i) => 20 * (i + 1));
    const samples = chooseSamples({ ...video(15_000, 25), activity: { cuts, ...flat(15_000) } }) ?? [];
    expect(encoded(samples)).toBeLessThanOrEqual(4000);
    expect(samples.length).toBeGreaterThanOrEqual(115);
  });

  it('cost on average what the whole costs', () => {
    const { times } = video(4500, 25);
    // Scenes of 7 seconds, the dearer the later.
    const sizes = Array.from(times, (time) => 1000 * (1 + Math.floor(time / 7)));
    const samples = chooseSamples({ times, sizes: Float64Array.from(sizes) }) ?? [];
    const sampled = samples.map(({ scored: { first, count } }) => mean(sizes.slice(first, first + count)));
    expect(Math.abs(mean(sampled) / mean(sizes) - 1)).toBeLessThan(0.02);
  });

  it('are none where half the video holds too few, and no frame is asked for twice', () => {
    for (const frames of [500, 1, 0]) expect(chooseSamples(video(frames, 25))).toBeNull();
    const samples = chooseSamples(video(1500, 25)) ?? [];
    expect(samples.length).toBeGreaterThanOrEqual(24);
    expect(encoded(samples)).toBeLessThanOrEqual(750);
    samples.slice(1).forEach(({ scored }, i) => {
      const before = (samples[i] as Sample).scored;
      expect(scored.first).toBeGreaterThanOrEqual(before.first + before.count);
    });
  });

  it('stay below the most frames and bytes that are allowed', () => {
    expect(encoded(chooseSamples(video(30_000, 60)) ?? [])).toBeLessThanOrEqual(4000);
    const track = { width: 3840, height: 2160, bitDepth: 10, chroma: '420' } as const;
    const large = chooseSamples({ ...video(30_000, 25), track }) ?? [];
    expect(large.length).toBeGreaterThanOrEqual(2);
    expect(encoded(large) * storedFrameBytes(track)).toBeLessThanOrEqual(6e9);
  });
});

describe('an estimate from samples', () => {
  it('of one run is that run, and of two samples of means 90 and 94 has an interval by hand', () => {
    const even = [91, 91];
    expect(estimate([[90, 92]], 'mean', 25)).toEqual({ value: 91, interval95: even, interval99: even });
    // Neighbours differ by 4: variance 16 / (2 * 1 * 2); all values by 2: surroundings (0.055 * 2) ** 2; one degree of freedom.
    const error = Math.sqrt(4 + 0.0121);
    const { value, interval95, interval99 } = estimate([[90], [94]], 'mean', 25);
    expect(value).toBe(92);
    expect(interval95[1]).toBeCloseTo(92 + error * 12.706, 9);
    expect(interval99[0]).toBeCloseTo(92 - error * 63.657, 9);
  });

  it('covers the whole as often as it says on videos of scenes, with intervals that are of use', () => {
    const { next } = seeded(20261123);
    const films = tier(60, 200);
    const outcomes = Array.from({ length: films }, () => {
      const { facts, activity, scores } = scenes(next);
      const samples = chooseSamples({ ...facts, activity }) ?? [];
      const values = samples.map(({ scored: { first, count } }) => scores.slice(first, first + count));
      const shots = samples.map(({ shot }) => shot);
      const { value, interval95, interval99 } = estimate(values, 'mean', 25, {
        frames: scores.length,
        shots,
      });
      const whole = mean(scores);
      const holds = ([low, high]: readonly [number, number]) => whole >= low && whole <= high;
      const half = (interval99[1] - interval99[0]) / 2;
      return { error: Math.abs(value - whole), in95: holds(interval95), in99: holds(interval99), half };
    });
    const sorted = (of: (one: (typeof outcomes)[number]) => number) => outcomes.map(of).sort((a, b) => a - b);
    expect(outcomes.filter(({ in95 }) => in95).length).toBeGreaterThanOrEqual(0.95 * films);
    expect(outcomes.filter(({ in99 }) => in99).length).toBeGreaterThanOrEqual(0.98 * films);
    expect(sorted(({ error }) => error)[0.9 * films]).toBeLessThan(0.5);
    // Scenes differ by 4 points: six times as much as the interval is wide.
    expect(sorted(({ half }) => half)[films / 2]).toBeLessThan(1.4);
  });

  it('is surer of one percentile or the other, as the samples are', () => {
    const even = Array.from({ length: 30 }, (_, i) => [90, 90.2, 89.8, 90 + (i % 3) / 10]);
    const uneven = even.map((values, i) => values.map((one) => one - (i % 5 === 0 ? 20 : 0)));
    const width = (samples: readonly (readonly number[])[]) => {
      const { value, interval99 } = estimate(samples, 'p10', 25);
      expect(interval99[0]).toBeLessThanOrEqual(value);
      return interval99[1] - interval99[0];
    };
    expect(width(even)).toBeLessThan(1.5);
    expect(width(uneven)).toBeGreaterThan(width(even));
  });
});

function flat(frames: number): { readonly motion: number[]; readonly texture: number[] } {
  const same = Array.from({ length: frames }, () => 1);
  return { motion: same, texture: same };
}

/** A video of 3 minutes: scenes of 1 to 10 seconds whose quality differs by 4 points, and frames by 1. */
function scenes(next: () => number) {
  const gauss = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const scores: number[] = [];
  const sizes: number[] = [];
  const cuts: number[] = [];
  const motion: number[] = [];
  while (scores.length < 4500) {
    const frames = Math.min(4500 - scores.length, Math.round(25 + 225 * next()));
    if (scores.length > 0) cuts.push(scores.length);
    const level = 88 + 4 * gauss();
    const cost = Math.exp(8 - (level - 88) / 8 + 0.5 * gauss());
    for (let i = 0; i < frames; i++) {
      scores.push(Math.min(100, level + gauss() + Math.sin(i / 4)));
      sizes.push(cost * (i % 8 === 0 ? 3 : 1));
      motion.push(1 + next());
    }
  }
  const times = Float64Array.from(scores, (_, i) => i / 25);
  const activity = { cuts, motion, texture: motion.map(() => 3) };
  return { scores, activity, facts: { times, sizes: Float64Array.from(sizes) } };
}
