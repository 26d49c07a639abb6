/**
 * @module test/unit/models/prediction
 * Predictions against values of libvmaf and glibc, the transform, and exp.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseFeature } from '../../../src/metrics/options.js';
import { exp } from '../../../src/models/libsvm.js';
import { loadModels } from '../../../src/models/load.js';
import { parseModelFile } from '../../../src/models/parse.js';
import { applyTransform, clip, Predictor } from '../../../src/models/predict.js';
import type { LoadedModel, ScoreTransform } from '../../../src/models/types.js';
import { modelStore, smallModel } from '../../support/models.js';
import { fnv1aOfDoubles } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { needsShared, sharedPath } from '../../support/tier.js';

/** Log names in the order of the built-in models' inputs. */
const NAMES = ['adm2', 'motion2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3'];
const INPUTS = NAMES.map((name) => `integer_${name}`);

async function predict(
  models: readonly string[],
  values: readonly number[],
  names: readonly string[] = INPUTS,
  files: Record<string, string> = {},
): Promise<Record<string, number>> {
  const predictor = new Predictor(await loadModels(models, modelStore(files)), names);
  const scores = new Float64Array(predictor.names.length);
  predictor.predict(Float64Array.from(values), scores);
  return Object.fromEntries(predictor.names.map((name, i) => [name, scores[i] ?? Number.NaN]));
}

const A = [0.95, 4, 0.5, 0.85, 0.9, 0.95];
const PERFECT = [1, 0, 1, 1, 1, 1];
const BAD = [0.4, 19, 0.05, 0.1, 0.1, 0.1];

describe('single models', () => {
  it.each([
    ['version=vmaf_v0.6.1', A, 83.42541993627728],
    ['version=vmaf_v0.6.1:enable_transform', A, 96.64777650363554],
    ['version=vmaf_4k_v0.6.1', A, 88.88230721321372],
    ['version=vmaf_v0.6.1', PERFECT, 97.42804264261031],
    ['version=vmaf_v0.6.1:enable_transform=true', PERFECT, 100],
    ['version=vmaf_4k_v0.6.1', PERFECT, 100],
    ['version=vmaf_4k_v0.6.1:disable_clip', PERFECT, 100.8937736628905],
    ['version=vmaf_v0.6.1', BAD, 8.924662057813396],
    ['version=vmaf_v0.6.1:enable_transform', BAD, 16.55285399979484],
    ['version=vmaf_4k_v0.6.1', BAD, 38.6601911420377],
  ])('%s of %j', async (model, values, expected) => {
    expect(await predict([model], values)).toEqual({ vmaf: expected });
  });

  it('keeps scores beyond the range with disable_clip', async () => {
    const raw = await predict(['version=vmaf_v0.6.1:enable_transform:disable_clip'], PERFECT);
    expect(raw.vmaf).toBeGreaterThan(100);
  });

  it('finds its features in any order, by the names that options give them', async () => {
    const named = INPUTS.map((name) => (name === 'integer_motion2' ? name : `${name}_egl_1`));
    const names = ['x', ...named.reverse()];
    const neg = await predict(['version=vmaf_v0.6.1neg'], [7, ...[...A].reverse()], names);
    expect(neg).toEqual({ vmaf: 83.42541993627728 });
    const overloaded = 'version=vmaf_v0.6.1:vif.vif_enhn_gain_limit=1.0:adm.adm_enhn_gain_limit=1';
    expect(await predict([overloaded], [7, ...[...A].reverse()], names)).toEqual(neg);
  });

  it('scores several models in order, and names a feature that a run lacks', async () => {
    const scores = await predict(['version=vmaf_4k_v0.6.1:name=uhd', 'version=vmaf_v0.6.1:name=hd'], A);
    expect(Object.entries(scores)).toEqual([
      ['uhd', 88.88230721321372],
      ['hd', 83.42541993627728],
    ]);
    const names = INPUTS.filter((name) => name !== 'integer_vif_scale2');
    expect(await refusalOf('model', () => predict(['version=vmaf_v0.6.1'], A, names))).toMatch(
      /Model "vmaf_v0.6.1" reads the feature integer_vif_scale2, which the vif extractor does not provide/,
    );
  });

  it('does not normalise if norm_type is none', async () => {
    const files = { 'm.json': JSON.stringify(smallModel()) };
    const { vmaf } = await predict(['path=m.json'], [1, 2], ['integer_adm2', 'integer_motion2'], files);
    expect(vmaf).toBeCloseTo(1 - Math.exp(-2.5) - 0.25, 15);
  });
});

describe('collections', () => {
  it('give members and confidence: the statistics of raw scores, transformed and clipped like scores', async () => {
    const scores = await predict(['version=vmaf_b_v0.6.3'], A);
    expect(Object.keys(scores)).toEqual([
      'vmaf',
      ...Array.from({ length: 20 }, (_, i) => `vmaf_00${String(i + 1).padStart(2, '0')}`),
      'vmaf_bagging',
      'vmaf_stddev',
      'vmaf_ci_p95_lo',
      'vmaf_ci_p95_hi',
    ]);
    expect(scores).toMatchObject({
      vmaf: 82.32902078780731,
      vmaf_0001: 81.93382633397842,
      vmaf_0002: 82.39565711668547,
      vmaf_0003: 82.7129131446988,
      vmaf_bagging: 81.83796649953374,
      vmaf_stddev: 1.4643895381936505,
      vmaf_ci_p95_lo: 79.07763714413794,
      vmaf_ci_p95_hi: 84.19611248262717,
    });
    expect(await predict(['version=vmaf_b_v0.6.3:enable_transform'], A)).toMatchObject({
      vmaf: 96.03668299890634,
      vmaf_bagging: 95.75748894181632,
      vmaf_stddev: 0.837665815870489,
      vmaf_ci_p95_lo: 94.12477443937323,
      vmaf_ci_p95_hi: 97.06718383506214,
    });
  });

  it('come after the scores of all models', async () => {
    const scores = await predict(['version=vmaf_b_v0.6.3:name=b', 'version=vmaf_v0.6.1'], A);
    expect(Object.keys(scores).slice(0, 3)).toEqual(['b', 'vmaf', 'b_0001']);
    expect(Object.keys(scores).at(-1)).toBe('b_ci_p95_hi');
  });
});

interface Golden {
  readonly pairs: Record<
    string,
    { readonly results: Record<string, { readonly features?: Record<string, readonly number[]> }> }
  >;
}

const goldenPath = sharedPath('golden/features.json');
const { pairs }: Golden = goldenPath ? JSON.parse(readFileSync(goldenPath, 'utf8')) : { pairs: {} };
const clips = Object.entries(pairs);

describe.skipIf(!goldenPath)(`every score of ../shared/golden, to the last bit (${needsShared})`, () => {
  const versions = ['vmaf_v0.6.1', 'vmaf_v0.6.1neg', 'vmaf_4k_v0.6.1', 'vmaf_4k_v0.6.1neg', 'vmaf_b_v0.6.3'];
  it.each(versions)('%s', async (version) => {
    const models = await loadModels([`version=${version}`], modelStore());
    let compared = 0;
    for (const [clip, { results }] of clips) {
      const { features = {} } = results[`m:${version}`] ?? {};
      const names = Object.keys(features).filter((name) => !name.startsWith('vmaf'));
      const predictor = new Predictor(models, names);
      const scores = new Float64Array(predictor.names.length);
      for (let frame = 0; frame < (features.vmaf?.length ?? 0); frame++) {
        const values = Float64Array.from(names, (name) => features[name]?.[frame] ?? Number.NaN);
        predictor.predict(values, scores);
        const expected = predictor.names.map((name) => features[name]?.[frame]);
        expect([...scores], `${clip}, frame ${frame}`).toEqual(expected);
        compared++;
      }
    }
    expect(compared).toBe(60);
  });
});

describe.skipIf(!goldenPath)(`the v1 models on ../shared/golden's features (${needsShared})`, () => {
  /** The model of a file, with inputs from the features whose names start like its own. */
  function bind(file: string, names: readonly string[]): LoadedModel {
    const { kind, members } = parseModelFile(readFileSync(sharedPath(file) ?? '', 'utf8'), file);
    const inputs = ['cambi', 'speed_chroma_uv', 'integer_adm3', 'integer_motion3'].map((start) => {
      const instance = parseFeature('vif');
      const feature = { name: start, alias: start, when: [], emitted: 'frame' } as const;
      return { instance, feature, logName: names.find((name) => name.startsWith(start)) ?? start };
    });
    return {
      ...{ name: 'vmaf', source: file, kind, disableClip: false, enableTransform: false, extractors: [] },
      members: members.map((definition) => ({ definition, inputs })),
    };
  }

  const views = ['3d0h', '5d0h', '1d5h_2160', '3d0h_2160'];
  const files = views.map((view) => `vmaf_v1.0.16/vmaf_v1.0.16_${view}`);
  const further = 'vmaf_v1.0.16_hfr/vmaf_v1.0.16_hfr_3d0h';
  it.each([...files, further])('%s, with transform and chroma correction', (file) => {
    let compared = 0;
    let corrected = 0;
    for (const [clip, { results }] of clips) {
      const { features = {} } = results[`m:${file.split('/')[1]}`] ?? {};
      if (!features.vmaf) continue;
      const names = Object.keys(features).filter((name) => name !== 'vmaf');
      const predictor = new Predictor([bind(`models/${file}.json`, names)], names);
      const scores = new Float64Array(1);
      for (const [frame, expected] of features.vmaf.entries()) {
        const values = Float64Array.from(names, (name) => features[name]?.[frame] ?? Number.NaN);
        predictor.predict(values, scores);
        expect(scores[0], `${clip}, frame ${frame}`).toBe(expected);
        compared++;
        if (values[names.findIndex((name) => name.startsWith('speed_chroma_uv'))] === 0) corrected++;
      }
    }
    expect(compared).toBeGreaterThan(5);
    expect(corrected).toBeGreaterThan(0);
  });
});

const transform = (changes: Partial<ScoreTransform>): ScoreTransform => ({
  ...{ enabled: true, outLteIn: false, outGteIn: false, ...changes },
});

describe('applyTransform', () => {
  it('sums its terms, or leaves the score', () => {
    expect(applyTransform(transform({}), 42)).toBe(42);
    expect(applyTransform(transform({ p0: 1, p1: 2, p2: 3 }), 10)).toBe(1 + 20 + 300);
    expect(applyTransform(transform({ p2: 0.5 }), 4)).toBe(8);
    expect(applyTransform(transform({ p0: 7 }), 4)).toBe(7);
  });

  it('limits the result by the input', () => {
    expect(applyTransform(transform({ p1: 0.5, outGteIn: true }), 10)).toBe(10);
    expect(applyTransform(transform({ p1: 2, outGteIn: true }), 10)).toBe(20);
    expect(applyTransform(transform({ p1: 2, outLteIn: true }), 10)).toBe(10);
    expect(applyTransform(transform({ p1: 0.5, outLteIn: true }), 10)).toBe(5);
  });

  const knots = [
    [10, 10],
    [20, 40],
    [30, 40],
    [40, 60],
  ] as const;

  it.each([
    [10, 10],
    [15, 25],
    [20, 40],
    [25, 40],
    [35, 50],
    // Beyond the ends the end segments continue.
    [0, -20],
    [50, 80],
  ])('follows the curve at %d', (x, y) => {
    expect(applyTransform(transform({ knots }), x)).toBeCloseTo(y, 12);
  });

  it('starts a segment at 0 without dividing by it, ends at a falling one, and ignores a single knot', () => {
    const zero = [
      [0, 5],
      [4, 7],
    ] as const;
    expect(applyTransform(transform({ knots: zero }), 2)).toBe(6);
    const falling = [
      [0, 0],
      [10, 10],
      [20, 5],
      [30, 30],
    ] as const;
    expect(applyTransform(transform({ knots: falling }), 5)).toBe(5);
    expect(applyTransform(transform({ knots: falling }), 15)).toBe(0);
    expect(applyTransform(transform({ knots: [[0, 5]] }), 2)).toBe(2);
  });
});

it('clip limits to the range', () => {
  expect([-1, 0, 50, 100, 101].map((y) => clip([0, 100], y))).toEqual([0, 0, 50, 100, 100]);
});

describe('exp', () => {
  it.each([
    [0, 1],
    [-0.04, 0.96078943915232318],
    [-0.1, 0.90483741803595952],
    [-0.2345678, 0.79091260819865206],
    [-0.5, 0.60653065971263342],
    [-1, 0.36787944117144233],
    [-1.5, 0.22313016014842982],
    [-2.75, 0.06392786120670757],
    [-10 / 3, 0.035673993347252395],
    [-10, 4.5399929762484854e-5],
    [-100.25, 2.8971980832101479e-44],
    [-699.5, 1.6255858439919858e-304],
    [0.3, 1.3498588075760032],
    [1, Math.E],
    [20.125, 549764190.66046834],
    [690, 4.6046064047829897e299],
    [-1e-10, 0.99999999989999999],
    [-1e-300, 1],
    // Beyond the range of doubles.
    [-1e4, 0],
    [1e4, Number.POSITIVE_INFINITY],
    [Number.NaN, Number.NaN],
  ])('of %d', (x, expected) => {
    expect(exp(x)).toBe(expected);
  });

  it('of 0, -0.000731, ... 20000 values', () => {
    const results = Float64Array.from({ length: 20000 }, (_, i) => exp(-i * 0.000731));
    expect(fnv1aOfDoubles(results)).toBe('cacb36a495c14378');
  });
});
