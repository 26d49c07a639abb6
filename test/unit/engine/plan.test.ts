/**
 * @module test/unit/engine/plan
 * What a set of extractors makes the backend measure: everything needed, nothing twice, only what the video allows. How a video is
 * cut into chunks for workers, and which short runs are drawn to estimate it.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { checkSamples, drawRuns, intervalsOf, mulberry, type Samples } from '../../../src/core/sampling.js';
import { type FeaturePlan, planFeatures } from '../../../src/engine/backends/features.js';
import {
  type ExtractionPlan,
  historyNeeds,
  planesRead,
  recordLayout,
} from '../../../src/engine/backends/measurer.js';
import { checkOptions } from '../../../src/engine/contract/options.js';
import type { ScoreOptions } from '../../../src/engine/contract/types.js';
import {
  chooseThreads,
  cutChunks,
  loadSettled,
  planRun,
  usefulThreads,
} from '../../../src/engine/plan/plan.js';
import { admStructs, admVariant } from '../../../src/metrics/adm.js';
import { admCsf } from '../../../src/metrics/adm-csf.js';
import { doubles } from '../../../src/metrics/metric.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { loadModels } from '../../../src/models/load.js';
import { planOf, videoFormat } from '../../support/metric.js';
import { modelStore, smallModel } from '../../support/models.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const format = videoFormat(1920, 1080);
const LUMA = { of: 'reference', plane: 0, back: 0 };
const CSF = admCsf({ normViewDist: 3, refDisplayHeight: 1080, csfMode: 0, csfScale: 1, csfDiagScale: 1 });
const plainAdm = (gainLimit = 100) => admVariant(gainLimit, 0.03125, CSF, { aim: true, scale0: true });

const callsOf = ({ extraction }: FeaturePlan) =>
  extraction.calls.map(({ run, parameters }) => [run, parameters] as const);

describe('a model with CAMBI', () => {
  const names = ['VMAF_integer_feature_adm2_score', 'Cambi_feature_cambi_score'];
  const store = modelStore({ 'cambi.json': JSON.stringify(smallModel({ feature_names: names })) });
  const model = 'path=cambi.json:cambi.cambi_high_res_speedup=1080';

  it.each([
    [3840, 2160, 1280, 720, true],
    [4096, 2160, 2048, 1080, true],
    // Without the speed-up the window of the source would be too large; or the encode is too small for CAMBI.
    [4096, 2160, 1280, 720, false],
    [1280, 960, 200, 150, false],
  ])('of %ix%i is told of an encode of %ix%i: %s', async (width, height, across, down, told) => {
    const size = () => ({ width, height, encode: { width: across, height: down, bitDepth: 8 } });
    const load = (texts: readonly string[]) => loadModels(texts, store);
    const { texts, models } = await loadSettled([model], { v1Settings: 'encode' }, size, load);
    expect(texts.join().includes('enc_width')).toBe(told);
    const requested = { models, chosen: new Map(), extractors: models.flatMap((each) => each.extractors) };
    expect(() => planRun(requested, videoFormat(width, height), 'libvmaf-3.2')).not.toThrow();
  });
});

describe('planFeatures', () => {
  it('measures plain and NEG in one pass: two variants of vif and adm, one of motion', async () => {
    const models = await loadModels(['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=neg'], modelStore());
    const extractors = models.flatMap((model) => model.extractors);
    const plan = planFeatures(extractors, format, 'libvmaf-3.2');
    expect(plan.extraction.format).toEqual(format);
    expect(callsOf(plan)).toEqual([
      ['adm', admStructs([plainAdm(), plainAdm(1)])],
      ['motion', undefined],
      ['vif', doubles([100, 1])],
    ]);
    const keys = plan.extractors.map(({ instance }) => instance.key);
    expect(keys).toEqual(['adm', 'motion', 'vif', 'adm_egl_1', 'vif_egl_1']);
    expect(plan.extractors.map(({ column }) => column)).toEqual([0, 24, 25, 12, 33]);
    expect(plan.layout).toEqual(recordLayout(plan.extraction));
    expect(plan.warnings).toEqual([]);
  });

  it('measures nothing twice for options that apply after measuring', () => {
    const final = 'motion=motion_max_val=18:motion_fps_weight=0.5:motion_moving_average=true';
    const adm = ['adm', 'adm=adm_dlm_weight=0.7:adm_min_val=0.5', 'adm=adm_csf_scale=2'];
    const plan = planOf([...adm, 'motion', final, 'motion=motion_force_zero=true'], format);
    expect(callsOf(plan)).toEqual([
      ['adm', admStructs([plainAdm()])],
      ['motion', undefined],
    ]);
    expect(plan.extraction.calls.map(({ back }) => back)).toEqual([0, 1]);
  });

  it('leaves out only what no user of a shared measurement needs', () => {
    const firstScales = (...features: string[]) =>
      planOf(features, format).extraction.calls.map(({ args }) => args.at(-1));
    expect(firstScales('vif=vif_skip_scale0=true')).toEqual([1]);
    expect(firstScales('vif=vif_skip_scale0=true', 'vif')).toEqual([0]);
    const adm = ['adm=adm_skip_aim=true', 'adm=adm_min_val=0.1', 'adm=adm_skip_scale0=true'];
    expect(callsOf(planOf(adm, format))).toEqual([['adm', admStructs([plainAdm()])]]);
  });

  it('refuses two extractors that report one name, and says which', async () => {
    const adm = ['float_adm=debug=true', 'float_adm=debug=true:adm_csf_mode=1'];
    const requested = { models: [], chosen: new Map(), extractors: adm.map(parseFeature) };
    expect(await refusalOf('feature', () => planRun(requested, format, 'libvmaf-3.2'))).toBe(
      'float_adm and float_adm_csf_1 would both report "adm", whose name never shows options; request it with one of ' +
        'them only.',
    );
  });

  it('measures the planes that psnr needs', () => {
    const planes = (...features: string[]) => planOf(features, format).extraction.calls.length;
    expect(planes('psnr=enable_chroma=false')).toBe(1);
    expect(planes('psnr')).toBe(3);
  });

  it('names the model that needs what cannot be measured', async () => {
    const text = 'version=vmaf_v0.6.1:adm.adm_norm_view_dist=1';
    const [model] = await loadModels([text], modelStore());
    expect(() => planFeatures(model?.extractors ?? [], format, 'libvmaf-3.2')).toThrow(
      /^The adm extractor's .* at least 3240 .*\. The model "vmaf_v0\.6\.1" needs it\.$/,
    );
  });

  it('warns once that the sensitivities of Barten overflow in fixed point, not in floating point', () => {
    const { warnings } = planOf(['adm=adm_csf_mode=1', 'adm=adm_csf_mode=1:adm_csf_scale=2'], format);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^The adm extractor overflows with adm_csf_mode=1, .*\.$/);
    expect(planOf(['float_adm=adm_csf_mode=1', 'adm=adm_csf_mode=2'], format).warnings).toEqual([]);
  });

  it('measures variants separately, and no motion that is forced to zero', () => {
    const adm = ['adm=adm_csf_mode=1', 'adm=adm_csf_mode=1:adm_csf_scale=2', 'adm=adm_noise_weight=0.02'];
    const { extraction } = planOf([...adm, 'motion', 'motion=motion_five_frame_window=true'], format);
    expect(extraction.calls.map(({ run, args, back }) => [run, args.at(-1), back])).toEqual([
      ['adm', 3, 0],
      ['motion', LUMA, 1],
      ['motion', LUMA, 2],
    ]);
    const zero = planOf(['motion=motion_force_zero=true'], format);
    expect(zero.extraction.calls).toEqual([]);
    expect(zero.extractors[0]?.column).toBe(-1);
    expect(planOf(['float_motion=motion_force_zero=true'], format).extraction.calls).toEqual([]);
  });

  it('drops a second extractor of the same name, as libvmaf does, with a warning', () => {
    const twice = ['motion', 'motion=debug=true', 'psnr', 'psnr=enable_mse=true:min_sse=1', 'vif', 'vif'];
    const plan = planOf(twice, format);
    expect(plan.extractors.map(({ instance }) => instance.key)).toEqual(['motion', 'psnr', 'vif']);
    expect(plan.names).not.toContain('integer_motion');
    expect(plan.warnings).toHaveLength(2);
    expect(plan.warnings[0]).toMatch(
      /^The motion extractor is requested twice with different debug, .*the first is used/,
    );
    expect(plan.warnings[1]).toMatch(
      /^The psnr extractor is requested twice with different enable_mse, min_sse, /,
    );
  });

  it('lists names in the order in which libvmaf first stores them, and aggregates separately', () => {
    const plan = planOf(['psnr=enable_apsnr=true'], format);
    expect(plan.names).toEqual(['psnr_y', 'psnr_cb', 'psnr_cr']);
    expect(plan.aggregateNames).toEqual(['apsnr_y', 'apsnr_cb', 'apsnr_cr']);
    // motion3 of float_motion comes with the second frame; the integer motions come at the end, whichever is requested first.
    expect(planOf(['motion', 'float_motion', 'psnr=enable_chroma=false'], format).names).toEqual([
      ...['VMAF_integer_feature_motion_sad_score', 'motion2', 'motion', 'psnr_y', 'motion3'],
      ...['integer_motion2', 'integer_motion3'],
    ]);
  });
});

const optionsOf = (feature: string, format: VideoFormat) =>
  planOf([feature], format).extraction.calls.map(({ parameters }) => [
    ...new Float64Array(parameters?.buffer ?? new ArrayBuffer(0)),
  ]);

describe('the floating-point extractors', () => {
  it.each([
    [1920, 1080, 4],
    [352, 288, 1],
    [640, 384, 2],
    [640, 383, 1],
    [3840, 2160, 8],
  ])('float_ssim reduces %ix%i by %i by default', (width, height, scale) => {
    expect(optionsOf('float_ssim', videoFormat(width, height))).toEqual([[scale]]);
    expect(optionsOf('float_ssim=scale=3', videoFormat(width, height))).toEqual([[3]]);
  });

  it('measure nothing twice for options that apply after measuring', () => {
    const { extraction, extractors } = planOf(
      [
        ...['float_vif', 'float_vif=vif_scale1_min_val=0.5', 'float_motion', 'cambi', 'float_adm'],
        ...['float_motion=motion_fps_weight=2', 'cambi=cambi_max_val=17'],
        'float_adm=adm_dlm_weight=0.7:adm_min_val=0.5',
      ],
      format,
    );
    expect(extractors.map(({ instance }) => instance.key)).toHaveLength(8);
    const measured = ['float_vif', 'float_motion', 'cambi', 'float_adm'];
    expect(extraction.calls.map(({ metric }) => metric)).toEqual(measured);
  });

  it('need chroma and earlier pictures only where they read them', () => {
    const needs = (...features: string[]) => {
      const { extraction } = planOf(features, format);
      return [planesRead(extraction), historyNeeds(extraction)];
    };
    const none = { frames: 0, chroma: false, distorted: false };
    expect(needs('float_ssim', 'float_vif', 'cambi')).toEqual([1, none]);
    expect(needs('ciede')).toEqual([3, none]);
    expect(needs('float_motion')).toEqual([1, { ...none, frames: 1 }]);
    expect(needs('float_motion=motion_add_uv=true')).toEqual([3, { ...none, frames: 1, chroma: true }]);
    expect(needs('speed_temporal', 'ciede')).toEqual([3, { ...none, frames: 1, distorted: true }]);
    const temporal = needs('speed_temporal', 'motion=motion_five_frame_window=true');
    expect(temporal).toEqual([1, { frames: 2, chroma: false, distorted: true }]);
  });
});

describe('refusals', () => {
  const SMALL = videoFormat(160, 90);
  const GREY = videoFormat(160, 90, { chroma: '400' });
  it.each([
    ['float_ms_ssim', SMALL, /float_ms_ssim extractor needs pictures of at least 176x176 .* is 160x90/],
    ['float_ssim=scale=9', SMALL, /float_ssim extractor needs pictures of at least 99x99 with scale 9/],
    [
      'float_motion=motion_add_uv=true',
      GREY,
      /extractor measures colour with motion_add_uv but .* leave out motion_add_uv\.$/,
    ],
    [
      'float_vif=vif_prescale=4:vif_prescale_method=bilinear',
      videoFormat(3840, 2160),
      /prescale to 15360 columns, but bilinear supports at most 7680/,
    ],
    ['float_vif=vif_prescale=0.1', videoFormat(160, 60), /prescale 160x60 to 16x6, but needs at least 8x8/],
  ] as const)('%s on a video that does not allow it', async (feature, format, message) => {
    expect(await refusalOf('feature', () => planOf([feature], format))).toMatch(message);
  });

  it.each<[string, ScoreOptions, RegExp]>([
    ['an empty range', { range: { unit: 'frames', start: 5, end: 5 } }, /its end must come after its start/],
    [
      'a start before 0',
      { range: { unit: 'seconds', start: -1 } },
      /^range is -1 s to the end, but its start must be 0 or more/,
    ],
    ['an offset beyond counting', { offset: 2 ** 40 }, /offset is 1099511627776/],
  ])('%s before any input is opened', async (_, options, message) => {
    expect(await refusalOf('usage', () => checkOptions(options, 'score'))).toMatch(message);
  });

  it.each([
    ['float_vif=vif_kernelscale=0.9', /vif_kernelscale .* "0.9" .* within 0.001 of one of 1, 0.5, 1.5, 2,/],
    ['float_vif=vif_prescale_method=cubic', /must be nearest or bilinear or bicubic or lanczos4/],
    ['float_psnr=debug=true', /float_psnr extractor has no option "debug" .* It has none./],
  ])('%s on any video', async (feature, message) => {
    expect(await refusalOf('feature', () => parseFeature(feature))).toMatch(message);
  });
});

/** The extraction of vmaf_v0.6.1. */
function plan(width: number, height: number): ExtractionPlan {
  return planOf(['vif', 'adm', 'motion'], { width, height, bitDepth: 8, chroma: '420' }).extraction;
}

describe('chunks', () => {
  it('are contiguous up to the last pair', () => {
    const random = seeded(20261);
    for (let round = 0; round < tier(40, 100); round++) {
      const total = random.int(0, 300);
      const workers = random.int(1, 20);
      const fixed = random.int(0, 1) ? random.int(1, 40) : undefined;
      const where = `seed ${random.seed}: ${total} pairs, ${workers} workers, size ${fixed}`;
      let next = 0;
      for (const { first, count } of cutChunks(total, workers, fixed)) {
        expect(first, where).toBe(next);
        expect(count, where).toBeGreaterThan(0);
        if (fixed) expect(count, where).toBeLessThanOrEqual(fixed);
        next += count;
      }
      expect(next, where).toBe(total);
    }
  });

  it('continue while the total is unknown', () => {
    const chunks = cutChunks(null, 2, 3);
    for (let i = 0; i < 1000; i++) expect(chunks.next().value).toEqual({ first: 3 * i, count: 3 });
  });
});

describe('threads', () => {
  it.each([
    ['none if the run is over before one has started', 8, plan(576, 324), 2, 0],
    ['none for a single pair', 8, plan(1920, 1080), 1, 0],
    ['all cores for a clip', 8, plan(1920, 1080), 48, 8],
    ['all cores for a stream of unknown length', 8, plan(1920, 1080), null, 8],
    // 500 of them at 25.5 ns a sample, 60 ms a worker.
    ['few for small frames of unknown length', 8, plan(160, 90), null, 3],
    ['none for the smallest of unknown length', 64, plan(64, 64), null, 0],
    ['no more than frames', 64, plan(3840, 2160), 3, 3],
    ['no more than cores', 1, plan(1920, 1080), 100, 1],
  ] as const)('are %s', (_, cores, made, frames, threads) => {
    expect(chooseThreads(cores, made, frames)).toBe(threads);
  });

  it('are limited to those that get a chunk', () => {
    expect(usefulThreads(64, 3)).toBe(3);
    expect(usefulThreads(64, 100, 8)).toBe(13);
    expect(usefulThreads(2, 100, 8)).toBe(2);
    expect(usefulThreads(64, 0)).toBe(1);
    expect(usefulThreads(64, null, 8)).toBe(64);
    const random = seeded(20262);
    for (let round = 0; round < tier(60, 200); round++) {
      const [limit, total] = [random.int(1, 64), random.int(1, 300)];
      const workers = usefulThreads(limit, total);
      const where = `seed ${random.seed}: ${total} pairs, at most ${limit} threads`;
      expect([...cutChunks(total, workers)].length, where).toBeGreaterThanOrEqual(workers);
    }
  });
});

describe('drawRuns', () => {
  it.each([
    [10_000, 100, 8],
    [1601, 50, 8],
    [172_800, 48, 24],
  ])('spreads runs over %i pairs, each in its part, without overlap', (total, length, runs) => {
    for (let seed = 0; seed < tier(40, 200); seed++) {
      const drawn = drawRuns(total, length, { runs, seconds: 1, seed });
      expect(drawn?.starts.length).toBe(runs);
      for (const [i, start] of (drawn?.starts ?? []).entries()) {
        const part = i >> 1;
        expect(start).toBeGreaterThanOrEqual(Math.floor((part * total * 2) / runs));
        expect(start + length).toBeLessThanOrEqual(Math.ceil(((part + 1) * total * 2) / runs));
        if (i > 0) expect(start).toBeGreaterThanOrEqual((drawn?.starts[i - 1] ?? 0) + length);
      }
    }
  });

  it('gives all pairs about the same chance', () => {
    const seen = new Float64Array(4000);
    for (let seed = 0; seed < 20_000; seed++) {
      for (const start of drawRuns(4000, 50, { runs: 8, seconds: 1, seed })?.starts ?? [])
        for (let i = start; i < start + 50; i++) seen[i] = (seen[i] ?? 0) + 1;
    }
    expect(Math.min(...seen)).toBeGreaterThan(0.1 * 20_000 * 0.85);
    expect(Math.max(...seen)).toBeLessThan(0.1 * 20_000 * 1.15);
  });

  it('draws nothing if it would be a quarter of the video; the same runs for the same seed only', () => {
    expect(drawRuns(3199, 100, { runs: 8, seconds: 1, seed: 1 })).toBeUndefined();
    expect(drawRuns(3200, 100, { runs: 8, seconds: 1, seed: 1 })).toBeDefined();
    const of = (seed: number) => drawRuns(9000, 100, { runs: 8, seconds: 1, seed })?.starts;
    expect(of(7)).toEqual(of(7));
    expect(of(7)).not.toEqual(of(8));
  });

  it.each([
    [{ runs: 7, seconds: 4 }],
    [{ runs: 2, seconds: 4 }],
    [{ runs: 1002, seconds: 4 }],
    [{ runs: 8, seconds: 0 }],
    [{ runs: 8, seconds: Number.NaN }],
    [{ runs: 8, seconds: 4, seed: -1 }],
    ['some' as Samples],
    [null as unknown as Samples],
  ])('refuses %j', (samples) => {
    expect(() => checkSamples(samples)).toThrow(/^samples/);
  });
});

/** A series of scores: scenes of random length, each around its own level. */
interface Kind {
  readonly scene: number;
  readonly spread: number;
  /** Mean level by the elapsed share of the film. */
  readonly level: (at: number) => number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'short scenes': { scene: 100, spread: 6, level: () => 80 },
  'long scenes': { scene: 1500, spread: 6, level: () => 78 },
  'a film that gets worse': { scene: 100, spread: 4, level: (at) => 90 - 20 * at },
  'a film with hard parts': { scene: 200, spread: 5, level: (at) => 78 + 8 * Math.sin(12 * at) },
};

const FRAMES = tier(30_000, 60_000);

function film({ scene, spread, level }: Kind, seed: number): Float64Array {
  const random = mulberry(seed);
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let left = 0;
  let base = 0;
  return Float64Array.from({ length: FRAMES }, (_, i) => {
    if (left-- <= 0) {
      left = Math.floor(-Math.log(1 - random()) * scene);
      base = level(i / FRAMES) + spread * gauss();
    }
    return Math.max(0, Math.min(100, base + 2 * gauss()));
  });
}

describe('intervalsOf', () => {
  it.each([
    // The 97.5 % quantiles of Student's t for 4, 8 and 12 degrees of freedom.
    [8, 2.776],
    [16, 2.306],
    [24, 2.179],
  ])('is as wide as the %i runs differ, by the t of as many degrees of freedom as parts', (count, t) => {
    // The two runs of a part differ by 2, so that resampling two of them has a variance of 2^2 / 8.
    const runs = Array.from({ length: count }, (_, i) => new Float64Array(10).fill(70 + i + (i & 1)));
    const mean = 70 + (count - 1) / 2 + 0.5;
    const half = t * Math.sqrt(2 * (1 - 0.19)) * Math.sqrt(0.5 / (count / 2));
    const [found] = intervalsOf(runs, 0.19, 1);
    expect(((found?.high ?? 0) + (found?.low ?? 0)) / 2).toBeCloseTo(mean, 9);
    const ratio = ((found?.high ?? 0) - (found?.low ?? 0)) / 2 / half;
    // A thousand draws estimate a deviation to a few percent.
    expect(Math.abs(ratio - 1)).toBeLessThan(0.06);
  });

  const kinds = tier(['a film with hard parts'], Object.keys(KINDS));
  it.each(kinds)('holds the true mean in about 95 of 100 draws: %s', { timeout: 240_000 }, (name) => {
    const kind = KINDS[name];
    if (!kind) throw new Error(name);
    const [films, perFilm, least, most] = tier([2, 30, 0.88, 1], [8, 100, 0.93, 0.97]);
    let held = 0;
    for (let n = 0; n < films; n++) {
      const values = film(kind, 1000 + n);
      const truth = values.reduce((sum, value) => sum + value, 0) / FRAMES;
      for (let seed = 0; seed < perFilm; seed++) {
        const runs = [8, 16, 24][seed % 3] ?? 8;
        const drawn = drawRuns(FRAMES, 50, { runs, seconds: 2, seed: seed * 131 + n });
        if (!drawn) throw new Error('nothing drawn');
        const parts = drawn.starts.map((start) => values.subarray(start, start + 50));
        const mean = intervalsOf(parts, drawn.share, seed).find(({ statistic }) => statistic === 'mean');
        if (mean && mean.low <= truth && truth <= mean.high) held++;
      }
    }
    const share = held / (films * perFilm);
    expect(share).toBeGreaterThanOrEqual(least);
    expect(share).toBeLessThanOrEqual(most);
  });

  it('covers the mean and percentiles, with no width where nothing varies', () => {
    const runs = Array.from({ length: 8 }, () => new Float64Array(10).fill(91));
    const found = intervalsOf(runs, 0.1, 1);
    for (const { low, high } of found) expect([low, high]).toEqual([91, 91]);
    const varied = runs.map((_, i) => Float64Array.from({ length: 20 }, (_, n) => i + n));
    const statistics = intervalsOf(varied, 0.1, 1).map(({ statistic }) => statistic);
    expect(statistics).toEqual(['mean', 'p1', 'p5', 'p10', 'p50']);
  });
});
