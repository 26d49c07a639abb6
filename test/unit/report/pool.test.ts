/**
 * @module test/unit/report/pool
 * Pooled values and distributions, reports from series, the worst frames, and the place of a mean's name in a chart.
 */
import { describe, expect, it } from 'vitest';
import { comparedText, frameTime } from '../../../src/report/facts.js';
import { isWorseHigh, metricIn, parseLimit } from '../../../src/report/limits.js';
import { distribution, pool } from '../../../src/report/pool.js';
import { frameGap, ranking, worstFrames } from '../../../src/report/ranking.js';
import { runGroups } from '../../../src/report/run.js';
import type { Report } from '../../../src/report/schema.js';
import { holdAgainst } from '../../../src/report/verdict.js';
import { placeName } from '../../../src/report/view/chart-drawing.js';
import { built, frames, paired, report, vmafModel } from '../../support/report.js';

describe('pool', () => {
  it('gives minimum, maximum, mean and harmonic mean of libvmaf', () => {
    // By hand: 1/2 + 1/4 + 1/4 = 1, so the harmonic mean is 3 / 1 - 1.
    expect(pool([1, 3, 3])).toEqual({ min: 1, max: 3, mean: 7 / 3, harmonic_mean: 2 });
  });

  it('adds in ascending order of frames, and starts minimum and maximum from the first value', () => {
    // In doubles (1e16 + 1) + 1 is 1e16, while 1 + 1 + 1e16 is 1e16 + 2.
    expect(pool([1e16, 1, 1])?.mean).toBe(1e16 / 3);
    expect(pool([1, 1, 1e16])?.mean).toBe((1e16 + 2) / 3);
    expect(pool([5, 7])).toMatchObject({ min: 5, max: 7 });
    expect(pool([-5, -7])).toMatchObject({ min: -7, max: -5 });
  });

  it("equals libvmaf's pooled score of three frames", () => {
    // vmaf_v0.6.1 on the 10-bit 576x324 pair.
    expect(pool([83.85628400042145, 82.63980469307762, 81.19659095351699])).toEqual({
      ...{ min: 81.19659095351699, max: 83.85628400042145 },
      ...{ mean: 82.56422654900535, harmonic_mean: 82.55006320496456 },
    });
  });

  it('propagates values that are not finite', () => {
    const infinite = { max: Number.POSITIVE_INFINITY, mean: Number.POSITIVE_INFINITY };
    expect(pool([1, Number.POSITIVE_INFINITY])).toEqual({ min: 1, ...infinite, harmonic_mean: 3 });
    expect(pool([1, Number.NaN])).toEqual({ min: 1, max: 1, mean: Number.NaN, harmonic_mean: Number.NaN });
    expect(pool([Number.NaN, 1])).toMatchObject({ min: Number.NaN, max: Number.NaN });
    // 1 / (-1 + 1) is infinite.
    expect(pool([-1, 0])?.harmonic_mean).toBe(-1);
    // SSIMULACRA2 can be negative, also with options in its name; others keep libvmaf's value.
    const names = ['ssimulacra2', 'ssimulacra2_mode_exact', 'ssimulacra', 'vmaf'];
    const means = names.map((name) => pool([1, 3, 3], name));
    expect(means.map((pooled) => pooled?.harmonic_mean)).toEqual([Number.NaN, Number.NaN, 2, 2]);
    expect(means[0]).toMatchObject({ min: 1, max: 3, mean: 7 / 3 });
  });

  it('is undefined without frames', () => {
    expect(pool([])).toBeUndefined();
    expect(distribution([])).toBeUndefined();
  });
});

describe('the worse values', () => {
  it.each([
    ['ssimulacra2', false],
    ['butteraugli', true],
    ['butteraugli_3norm', true],
    ['xpsnr_min', false],
    ['cvvdp', false],
    ['cvvdp_display_standard_hdr_pq', false],
    ['cvvdp_q', true],
    ['cvvdp_q_display_standard_hdr_pq', true],
  ])('of %s are the high ones: %s', (metric, isHigh) => expect(isWorseHigh({}, metric)).toBe(isHigh));

  it('are not those of frames if the whole run has a value of that name', () => {
    expect(metricIn({ metrics: ['cvvdp_q'] }, 'cvvdp')).toBeUndefined();
    expect(metricIn({ metrics: ['cvvdp_q'], aggregate_metrics: { cvvdp: 9 } }, 'cvvdp')).toBe('cvvdp');
    expect(metricIn({ metrics: ['psnr_y'] }, 'psnr')).toBe('psnr_y');
  });
});

describe('the worst second of a report', () => {
  const saved = (metric: string, values: readonly number[], more: object = {}) => {
    const base = report({ frames: frames(metric, values), metrics: [metric], ...more });
    return { ...base, reference: { ...base.reference, frameRate: { num: 2, den: 1 } } };
  };
  const found = (text: string, of: ReturnType<typeof saved>) =>
    holdAgainst(of, parseLimit(text)).flatMap(({ name, value, passed }) => [name, value, passed]);

  it('is the lowest mean of a second, or the highest if high values are worse', () => {
    const psnr = found('psnr_y.worst_second>=30', saved('psnr_y', [40, 20, 30, 90]));
    expect(psnr).toEqual(['psnr_y.worst_second', 25, false]);
    const cambi = found('cambi.worst_second<=6', saved('cambi', [4, 8, 4, 0]));
    expect(cambi).toEqual(['cambi.worst_second', 6, true]);
  });

  it('is not lost after identical frames, whose values are infinite', () => {
    const black = Number.POSITIVE_INFINITY;
    const faded = saved('psnr_hvs', [black, black, 40, 20, 30, 30]);
    expect(found('psnr_hvs.worst_second>=20', faded)).toEqual(['psnr_hvs.worst_second', 25, true]);
  });

  it('is within a run of scored frames, of which a step leaves out some, and unknown if a frame has no value', () => {
    const gap = saved('psnr_y', [40, 20, 30, 90]);
    const moved = gap.frames.map((frame, i) => ({ ...frame, frameNum: i < 2 ? i : i + 50 }));
    const apart = found('psnr_y.worst_second>=30', { ...gap, frames: moved });
    expect(apart).toEqual(['psnr_y.worst_second', 30, true]);
    const step = found('psnr_y.worst_second>=20', saved('psnr_y', [40, 20], { subsample: 2 }));
    expect(step).toEqual(['psnr_y.worst_second', 20, true]);
    const halved = { ...paired({}).frames, policy: 'nearest', by: 'distorted' } as const;
    const slow = saved('psnr_y', [40, 20, 30, 90], { pairing: { ...paired({}), frames: halved } });
    const distorted = { ...slow.distorted, frameRate: { num: 1, den: 1 } };
    const own = found('psnr_y.worst_second>=30', { ...slow, distorted });
    expect(own).toEqual(['psnr_y.worst_second', 20, false]);
    const none = found('vmaf.worst_second>=1', { ...saved('psnr_y', [40, 20]), metrics: ['vmaf'] });
    expect(none).toEqual(['vmaf.worst_second', undefined, false]);
  });
});

describe('a limit', () => {
  const held = (text: string, of: Report) =>
    holdAgainst(of, parseLimit(text)).map(({ name, value, passed }) => [name, value, passed]);

  it('on a statistic of frames is not held against the value of the whole run', () => {
    const clip = built({ cvvdp_q: [1, 2] }, { aggregates: { cvvdp: 9 } });
    expect(held('cvvdp>=8', clip)).toEqual([['cvvdp', 9, true]]);
    expect(held('cvvdp.min>=8', clip)).toEqual([['cvvdp.min', undefined, false]]);
    const stills = built({ cvvdp: [10, 5] }, { aggregates: { cvvdp: 8 } });
    expect(held('cvvdp.min>=7', stills)).toEqual([['cvvdp.min', 5, false]]);
  });

  it('on a percentile is passed where only the frames below it differ', () => {
    const same = Number.POSITIVE_INFINITY;
    const slides = built({ ciede2000: [20, same, same, same] });
    expect(held('ciede2000.p50>=60', slides)).toEqual([['ciede2000.p50', same, true]]);
    expect(held('ciede2000.min>=60', slides)).toEqual([['ciede2000.min', 20, false]]);
    expect(held('ciede2000>=60', slides)).toEqual([['ciede2000.mean', undefined, false]]);
  });

  it.each(['mean', 'min', 'p5', 'worst_second'])('on the %s of identical frames is passed', (statistic) => {
    const [identical, limit] = [Number.POSITIVE_INFINITY, `ciede2000.${statistic}>=60`];
    const all = built({ ciede2000: [identical, identical, identical] });
    expect(held(limit, all)).toMatchObject([[`ciede2000.${statistic}`, identical, true]]);
    const some = built({ ciede2000: [identical, 20, 20] });
    expect(holdAgainst(some, parseLimit(limit))).toMatchObject([{ passed: false }]);
  });
});

describe('distribution', () => {
  it('interpolates between order statistics', () => {
    // 0..100 shuffled: percentile p is p itself. Variance of 0..100 is (101^2 - 1) / 12 = 850.
    const values = Array.from({ length: 101 }, (_, i) => (i * 37) % 101);
    expect(distribution(values)).toEqual({
      percentiles: { p1: 1, p5: 5, p10: 10, p25: 25, p50: 50, p75: 75, p90: 90, p95: 95, p99: 99 },
      stddev: Math.sqrt(850),
    });
    // Position 0.05 * (3 - 1) = 0.1 between 10 and 20.
    expect(distribution([30, 10, 20])?.percentiles.p5).toBeCloseTo(11, 12);
  });

  it('of one value is that value; the input stays in order', () => {
    const { percentiles, stddev } = distribution([7]) ?? {};
    expect(new Set(Object.values(percentiles ?? {}))).toEqual(new Set([7]));
    expect(stddev).toBe(0);
    const values = Float64Array.of(3, 1, 2);
    distribution(values);
    expect([...values]).toEqual([3, 1, 2]);
  });

  it('keeps infinities in order, and is NaN if a value is', () => {
    const { percentiles } = distribution([Number.POSITIVE_INFINITY, 1, 2, Number.POSITIVE_INFINITY]) ?? {};
    expect(percentiles?.p1).toBeCloseTo(1.03, 12);
    expect(percentiles?.p90).toBe(Number.POSITIVE_INFINITY);
    const spread = distribution([1, Number.NaN, 2]);
    expect(spread?.stddev).toBeNaN();
    expect(new Set(Object.values(spread?.percentiles ?? {}))).toEqual(new Set([Number.NaN]));
  });
});

describe('buildReport', () => {
  it('turns series into frames, pooled values and distributions, in the order of the series', () => {
    const one = built(
      { zeta: [1, 3], alpha: [4, 4] },
      { frameNumbers: [0, 5], aggregates: { apsnr_y: 33 }, frameCount: 10, subsample: 5 },
    );
    expect(one.metrics).toEqual(['zeta', 'alpha']);
    expect(one.frames).toEqual([
      { frameNum: 0, metrics: { zeta: 1, alpha: 4 } },
      { frameNum: 5, metrics: { zeta: 3, alpha: 4 } },
    ]);
    expect(Object.keys(one.frames[0]?.metrics ?? {})).toEqual(['zeta', 'alpha']);
    // 2 / (1/2 + 1/4) - 1 = 5/3.
    expect(one.pooled_metrics.zeta).toEqual({ min: 1, max: 3, mean: 2, harmonic_mean: 2 / 0.75 - 1 });
    expect(one.distribution.zeta?.percentiles.p50).toBe(2);
    expect(one.distribution.zeta?.stddev).toBe(1);
    expect(one.aggregate_metrics).toEqual({ apsnr_y: 33 });
    expect(one).toMatchObject({ frameCount: 10, subsample: 5, compat: 'libvmaf-3.2' });
  });

  it('takes NaN as missing, and does not pool such a metric', () => {
    const one = built({ a: [Number.NaN, 2] });
    expect(one.frames).toEqual([{ frameNum: 1, metrics: { a: 2 } }]);
    expect(one.pooled_metrics).toEqual({ a: {} });
    expect(one.distribution).toEqual({});
  });

  it('uses a mask if there is one: NaN may be a value, and a value hidden', () => {
    const masked = (list: number[], mask: number[]) => {
      const values = Float64Array.from(list);
      return built({ a: list }, { series: [{ name: 'a', values, present: Uint8Array.from(mask) }] });
    };
    const seen = masked([Number.NaN, 2], [1, 1]);
    expect(seen.frames[0]).toEqual({ frameNum: 0, metrics: { a: Number.NaN } });
    expect(seen.pooled_metrics.a).toMatchObject({ mean: Number.NaN });
    const hidden = masked([1, 2], [1, 0]);
    expect(hidden.frames).toEqual([{ frameNum: 0, metrics: { a: 1 } }]);
    expect(hidden.pooled_metrics).toEqual({ a: {} });
  });

  it('without frames still names its metrics, and keeps a model named __proto__', () => {
    const empty = { frames: [], metrics: ['a'], pooled_metrics: { a: {} }, distribution: {} };
    expect(built({ a: [] })).toMatchObject(empty);
    const series = [{ name: '__proto__', values: Float64Array.of(9) }];
    const one = built({}, { frameNumbers: [0], series });
    expect(Object.entries(one.frames[0]?.metrics ?? {})).toEqual([['__proto__', 9]]);
    expect(Object.keys(one.pooled_metrics)).toEqual(['__proto__']);
  });

  it('refuses a series of another length than the list of frames', () => {
    const wrong = () => built({ a: [1, 2, 3] }, { frameNumbers: [0] });
    expect(wrong).toThrow('Metric a has 3 values for 1 frames');
  });
});

describe('worstFrames', () => {
  const low = { metric: 'vmaf', worse: 'low' } as const;
  const numbers = (run: Report, least: number, gap: number, order: Parameters<typeof worstFrames>[1] = low) =>
    worstFrames(run, order, least, gap).map((frame) => frame.frameNum);

  it('lists the lowest frames, without their neighbours', () => {
    const values = Array.from({ length: 60 }, (_, i) => 90 + i / 100);
    Object.assign(values, { 20: 40, 21: 41, 29: 42, 30: 50, 55: 45 });
    const run = report({ frames: frames('vmaf', values) });
    expect(worstFrames(run, low, 4)).toEqual([
      { frameNum: 20, value: 40 },
      { frameNum: 55, value: 45 },
      { frameNum: 30, value: 50 },
      { frameNum: 0, value: 90 },
    ]);
    expect(numbers(run, 3, 1)).toEqual([20, 21, 29]);
  });

  it('takes the earlier of equal frames, and counts distance in frame numbers', () => {
    expect(numbers(report({ frames: frames('vmaf', [5, 5, 5]) }), 2, 1)).toEqual([0, 1]);
    const stepped = [0, 5, 10].map((frameNum) => ({ frameNum, metrics: { vmaf: frameNum } }));
    expect(numbers(report({ frames: stepped }), 5, 10)).toEqual([0, 10]);
  });

  it('ranks the highest first if high is worse, and ignores missing values', () => {
    const run = report({
      frames: [
        { frameNum: 0, metrics: { cambi: 1 } },
        { frameNum: 1, metrics: {} },
        { frameNum: 2, metrics: { cambi: Number.POSITIVE_INFINITY } },
        { frameNum: 3, metrics: { cambi: Number.NaN } },
      ],
    });
    expect(numbers(run, 5, 1, { metric: 'cambi', worse: 'high' })).toEqual([2, 0]);
  });
});

describe('a pair at the frames of an encode with half the frame rate', () => {
  const [frameRate, half] = [50, 25].map((num) => ({ num, den: 1 }));
  const pairing = paired({});
  const { reference, distorted } = report();
  const run = report({
    reference: { ...reference, frameRate, skipped: 100 },
    distorted: { ...distorted, frameRate: half, skipped: 10 },
    pairing: { ...pairing, frames: { ...pairing.frames, policy: 'nearest', by: 'distorted' } },
    frameCount: 250,
  });

  it('has times of the reference, and seconds of the encode', () => {
    expect(frameTime(run, 25)).toBe(3);
    expect(frameGap(run)).toBe(25);
    expect(comparedText(run)).toBe('Compared at 1920×1080, distorted frames 10 to 259.');
  });

  it('counts as any other if the same frames run at another speed', () => {
    const retimed = {
      ...run,
      pairing: { ...pairing, frames: { ...pairing.frames, by: 'distorted' as const } },
    };
    expect([frameTime(retimed, 50), frameGap(retimed)]).toEqual([3, 50]);
  });
});

it('a run without a reference has times of the video after its skipped frames', () => {
  const distorted = { ...report().distorted, frameRate: { num: 25, den: 1 }, skipped: 100 };
  expect(frameTime(report({ noReference: true, distorted }), 10)).toBe(4.4);
});

it('a sampled run says which frames the samples are from', () => {
  const sampling = { runs: 4, run_frames: 12, frames: 48, total: 400, seed: 1, level: 0.95, starts: [0] };
  const run = report({ frameCount: 48, sampling: { ...sampling, intervals: [] } });
  expect(comparedText(run)).toBe('Compared at 576×324, reference frames 0 to 399, 48 of them sampled.');
  expect(runGroups([run])).toContainEqual(['Comparison', [['pairs', '400, 48 sampled']]]);
});

it('frameGap is a second, or ten frames if the rate is unknown', () => {
  const at = (num: number, den: number) =>
    frameGap(report({ reference: { ...report().reference, frameRate: { num, den } } }));
  expect(frameGap(report())).toBe(10);
  expect(at(30000, 1001)).toBe(30);
  expect(at(1, 5)).toBe(1);
  expect(at(25, 0)).toBe(10);
});

describe('ranking', () => {
  it('is by the first predicted model', () => {
    const ranked = ranking(report({ models: [vmafModel], metrics: ['psnr_y', 'vmaf'] }));
    expect(ranked).toEqual({ metric: 'vmaf', worse: 'low' });
    expect(ranking(report({ models: [vmafModel], metrics: ['psnr_y'] }))?.metric).toBe('psnr_y');
  });

  it.each([
    [['mse_y', 'psnr_y'], 'mse_y', 'high'],
    [['integer_vif_num', 'integer_vif_scale0'], 'integer_vif_scale0', 'low'],
    [['integer_aim'], 'integer_aim', 'high'],
    [['float_moment_ref1st', 'float_anpsnr'], 'float_anpsnr', 'low'],
    [['ciede2000'], 'ciede2000', 'low'],
    [['psnr_hvs_cb'], 'psnr_hvs_cb', 'low'],
    [['float_ms_ssim'], 'float_ms_ssim', 'low'],
    [['motion2', 'adm2'], 'adm2', 'low'],
    [['psnr_y', 'xpsnr_y', 'xpsnr_weighted'], 'xpsnr_weighted', 'low'],
    [['psnr_y', 'xpsnr_weighted', 'butteraugli_3norm'], 'butteraugli_3norm', 'high'],
    [['cvvdp_q_display_standard_fhd', 'ssimulacra2'], 'cvvdp_q_display_standard_fhd', 'high'],
    [['vif_scale0_egl_1'], 'vif_scale0_egl_1', 'low'],
    [['cambi_source', 'cambi_full_reference'], 'cambi_full_reference', 'high'],
    [['cambi_hrs_1080'], 'cambi_hrs_1080', 'high'],
    [['speed_chroma_uv'], 'speed_chroma_uv', 'high'],
  ])('of features %j is by %s, %s', (metrics, metric, worse) => {
    expect(ranking(report({ metrics }))).toEqual({ metric, worse });
  });

  it('is undefined for features without a direction', () => {
    const metrics = ['integer_motion2', 'VMAF_integer_feature_motion_sad_score'];
    expect(ranking(report({ metrics }))).toBeUndefined();
  });
});

describe('the name of a mean in a chart', () => {
  const SIZE = { width: 600, height: 200 };
  const WIDE = 80;

  /** A line over the whole width. */
  const line = (y: (x: number) => number) =>
    Array.from({ length: 121 }, (_, i) => ({ x: 5 * i, y: y(5 * i) }));

  /** The place of the name. */
  const placed = (drawn: Parameters<typeof placeName>[3], at = 100, width = SIZE.width) =>
    placeName({ ...SIZE, width }, at, WIDE, drawn);

  /** Whether the name covers the line. */
  const covers = (place: { x: number; y: number }, drawn: readonly { x: number; y: number }[]) =>
    drawn.some(({ x, y }) => x >= place.x - WIDE && x <= place.x && Math.abs(y - place.y) <= 8);

  it('is above the mean at the right if that is free, below if not or if there is no room', () => {
    expect(placed([])).toEqual({ x: 600, y: 90 });
    expect(placed(line(() => 150))).toEqual({ x: 600, y: 90 });
    expect(placed(line(() => 90))).toEqual({ x: 600, y: 111 });
    expect(placed([], 5)).toEqual({ x: 600, y: 16 });
  });

  it('moves to the left of a line that crosses both sides', () => {
    // High on the left, oscillating on the right.
    const drawn = line((x) => (x < 300 ? 20 : 100 + 60 * Math.sin(x / 9)));
    const place = placed(drawn);
    expect(place.x).toBeLessThan(320);
    expect(covers(place, drawn)).toBe(false);
  });

  it('is just beyond a line that crosses both sides everywhere', () => {
    const drawn = line((x) => 100 + 22 * Math.sin(x / 9));
    const place = placed(drawn);
    expect(place.x).toBe(600);
    expect(place.y).toBeLessThan(78);
    expect(place.y).toBeGreaterThan(52);
    expect(covers(place, drawn)).toBe(false);
    // Near the top there is only room below.
    const drawnLow = line((x) => 25 + 22 * Math.sin(x / 9));
    expect(placed(drawnLow, 25).y).toBeGreaterThan(47);
  });

  it('is not between two points whose line crosses it', () => {
    const steep = [
      { x: 0, y: 20 },
      { x: 560, y: 20 },
      { x: 570, y: 180 },
      { x: 600, y: 180 },
    ];
    expect(placed(steep).x).toBeLessThan(560);
  });

  it('ignores gaps, and stays inside the chart', () => {
    expect(placed(line(() => Number.NaN))).toEqual({ x: 600, y: 90 });
    const full = line((x) => ((x / 5) % 2 === 0 ? 0 : 200));
    expect(placed(full)).toEqual({ x: 600, y: 90 });
    for (const width of [10, 79, 80, 81]) expect(placed(full, 100, width).x).toBe(width);
  });
});
