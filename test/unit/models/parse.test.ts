/**
 * @module test/unit/models/parse
 * Model files: what is read from them, and what a damaged one is told.
 */
import { describe, expect, it } from 'vitest';
import { parseModelFile } from '../../../src/models/parse.js';
import { refusalOf, smallModel } from '../../support/models.js';

const parse = (changes: Record<string, unknown> = {}) =>
  parseModelFile(JSON.stringify(smallModel(changes)), 'm.json');

describe('parseModelFile', () => {
  it('reads a model with nothing optional', () => {
    const { kind, members } = parse();
    expect(kind).toBe('single');
    expect(members).toHaveLength(1);
    expect(Object.keys(members[0] ?? {}).sort()).toEqual(['inputs', 'svm', 'type']);
    expect(members[0]?.inputs).toEqual([
      { feature: 'VMAF_integer_feature_adm2_score', options: {} },
      { feature: 'VMAF_integer_feature_motion2_score', options: {} },
    ]);
  });

  it('reads everything a model can have', () => {
    const { members } = parse({
      norm_type: 'linear_rescale',
      slopes: [0.5, 1, 2],
      intercepts: [-1, 0, 1],
      score_clip: [0, 100],
      score_transform: {
        enabled: true,
        p0: 1,
        p2: 3,
        knots: [
          [0, 0],
          [1, 2],
        ],
        out_gte_in: 'true',
        out_lte_in: 'false',
      },
      feature_opts_dicts: [{ adm_enhn_gain_limit: 1.0, debug: true }, { motion_max_val: '18' }],
      feature_names: ['x_adm3', 'speed_chroma_y'],
      chroma_correction_parameter: 120,
      feature_dict: 'ignored',
    });
    expect(members[0]).toMatchObject({
      type: 'LIBSVMNUSVR',
      normalisation: {
        score: { slope: 0.5, intercept: -1 },
        inputs: [
          { slope: 1, intercept: 0 },
          { slope: 2, intercept: 1 },
        ],
      },
      clip: [0, 100],
      transform: {
        enabled: true,
        p0: 1,
        p2: 3,
        knots: [
          [0, 0],
          [1, 2],
        ],
        outGteIn: true,
        outLteIn: false,
      },
      inputs: [
        { options: { adm_enhn_gain_limit: '1', debug: 'true' } },
        { options: { motion_max_val: '18' } },
      ],
      chromaCorrection: 120,
    });
  });

  it('takes a transform for disabled unless it says enabled', () => {
    expect(parse({ score_transform: { p0: 1 } }).members[0]?.transform).toMatchObject({
      enabled: false,
      p0: 1,
    });
  });

  it('takes null for absent', () => {
    const { members } = parse({
      score_clip: null,
      score_transform: { p0: null, knots: null, enabled: null },
    });
    expect(members[0]).not.toHaveProperty('clip');
    expect(members[0]?.transform).toEqual({ enabled: false, outLteIn: false, outGteIn: false });
  });

  it('reads a collection, the main model first', () => {
    const text = JSON.stringify({ 0: smallModel(), 1: smallModel({ score_clip: [0, 1] }), 2: smallModel() });
    const { kind, members } = parseModelFile(text, 'm.json');
    expect(kind).toBe('collection');
    expect(members.map(({ clip }) => clip)).toEqual([undefined, [0, 1], undefined]);
  });

  it.each<[string, RegExp]>([
    ['', /Model "m.json" is not JSON: /],
    ['{"a":\n\n1', /^[^\n]+$/],
    ['\x00\x01\x7fELF', /^Model "m.json" is not JSON: it has characters that no text has\.$/],
    ['YUV\uFFFD\uFFFD', /^Model "m.json" is not JSON: it has characters that no text has\.$/],
    ['hello', /^Model "m.json" is not JSON: .*hello/],
    ['[]', /is \[\] but must be an object/],
    ['null', /is null but must be an object/],
    ['{}', /neither a member "model_dict" nor "0"/],
    ['{"model_dict":3}', /"model_dict" is 3 but must be an object/],
    [JSON.stringify({ 0: smallModel() }), /is a collection, whose keys must be/],
    [JSON.stringify({ 0: smallModel(), 2: smallModel() }), /is a collection, whose keys must be/],
    [JSON.stringify({ 0: smallModel(), 1: {} }), /member "1", member "model_dict" is missing/],
  ])('refuses what is not a model file: %s', async (text, message) => {
    const refusal = await refusalOf('model', () => parseModelFile(text, 'm.json'));
    expect(refusal).toMatch(message);
    expect(refusal).not.toContain('\n');
  });

  it.each<[Record<string, unknown>, RegExp]>([
    [{ model_type: 'LIBLINEAR' }, /"model_type" is "LIBLINEAR" but must be "LIBSVMNUSVR" or/],
    [{ model_type: undefined }, /"model_type" is missing/],
    [{ norm_type: 'clip_0to1' }, /"norm_type" is "clip_0to1" but must be "linear_rescale" or "none"/],
    [{ norm_type: 'linear_rescale' }, /"slopes" is missing but must be an array/],
    [
      { norm_type: 'linear_rescale', slopes: [1, 1], intercepts: [0, 0, 0] },
      /"slopes" is \[1,1\] but must be 3 numbers/,
    ],
    [{ norm_type: 'linear_rescale', slopes: [0, 1, 1], intercepts: [0, 0, 0] }, /other than 0 for the score/],
    [
      { norm_type: 'linear_rescale', slopes: [1, 1, 1], intercepts: [0, 0, '0'] },
      /"intercepts" is "0" but must be a number/,
    ],
    [{ feature_names: [] }, /"feature_names" is \[\] but must be 1 to 64 names/],
    [{ feature_names: Array.from({ length: 65 }, () => 'x') }, /1 to 64 names/],
    [{ feature_names: ['a', 3] }, /must be a string/],
    [{ feature_names: 'a' }, /must be an array/],
    [{ feature_opts_dicts: [{}] }, /has 1 entries for 2 features/],
    [{ feature_opts_dicts: [{}, { a: [] }] }, /"a" is \[\] but must be a string/],
    [{ score_clip: [0] }, /"score_clip" is \[0\] but must be 2 numbers/],
    [{ score_clip: [1, 0] }, /must be \[smallest, largest\]/],
    [{ score_transform: [] }, /"score_transform" is \[\] but must be an object/],
    [{ score_transform: { enabled: 'true' } }, /"enabled" is "true" but must be true or false/],
    [{ score_transform: { p1: '1' } }, /"p1" is "1" but must be a number/],
    [{ score_transform: { out_gte_in: true } }, /"out_gte_in" is true but must be "true" or "false"/],
    [{ score_transform: { knots: [[0, 0, 0]] } }, /must be 2 numbers/],
    [{ score_transform: { knots: Array.from({ length: 11 }, (_, i) => [i, i]) } }, /at most 10 points/],
    [{ chroma_correction_parameter: 120 }, /chroma correction, for which one feature must be adm3/],
    [{ model: 3 }, /"model" is 3 but must be a string/],
    [{ model: 'svm' }, /without the line "SV"/],
  ])('refuses a damaged member: %j', async (changes, message) => {
    const refusal = await refusalOf('model', () => parse(changes));
    expect(refusal).toMatch(message);
    expect(refusal).toMatch(/^Model "m.json"[^\n]+\.$/);
  });

  it('refuses numbers beyond the range of doubles', async () => {
    const text = JSON.stringify(smallModel({ score_clip: [0, 'big'] })).replace('"big"', '1e999');
    expect(await refusalOf('model', () => parseModelFile(text, 'm.json'))).toMatch(/must be a number/);
  });
});
