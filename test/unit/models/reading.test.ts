/**
 * @module test/unit/models/reading
 * Model files and libsvm texts: reading, evaluation and refusal of any damage. Model strings of the `vmaf` tool, and what is
 * loaded for them.
 */
import { describe, expect, it } from 'vitest';
import { parseModelString } from '../../../src/models/grammar.js';
import { evaluate, parseLibsvm } from '../../../src/models/libsvm.js';
import { loadModels } from '../../../src/models/load.js';
import { parseModelFile } from '../../../src/models/parse.js';
import { modelStore, smallModel } from '../../support/models.js';
import { refusalOf } from '../../support/refusals.js';

const HEADER = 'svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\n';
const TEXT = `${HEADER}SV\n1 1:1 2:2 \n-1 2:4 \n`;

describe('parseLibsvm', () => {
  it('reads header and support vectors, absent indices as 0, with any whitespace', () => {
    expect(parseLibsvm(TEXT, 2, 'Model')).toEqual({
      ...{ gamma: 0.5, rho: 0.25, count: 2, dimensions: 2 },
      ...{ coefficients: Float64Array.of(1, -1), vectors: Float64Array.of(1, 2, 0, 4) },
    });
    expect(parseLibsvm(TEXT.replaceAll('\n', '\r\n'), 2, 'Model')).toEqual(parseLibsvm(TEXT, 2, 'Model'));
  });

  it('reads numbers to the nearest double', () => {
    const text = TEXT.replace('1:1 ', '1:-1.110223e-16 ').replace('0.5', '0.035000000000000003');
    const svm = parseLibsvm(text, 2, 'M');
    expect(svm.vectors[0]).toBe(-1.110223e-16);
    expect(svm.gamma).toBe(0.035);
  });

  it.each([
    ['', /without the line "SV"/],
    [HEADER, /without the line "SV"/],
    [TEXT.replace('nu_svr', 'c_svc'), /svm_type "c_svc" instead of nu_svr/],
    [TEXT.replace('rbf', 'linear'), /kernel_type "linear" instead of rbf/],
    [TEXT.replace('nr_class 2', 'nr_class 3'), /nr_class "3" instead of 2/],
    [TEXT.replace('gamma 0.5\n', ''), /without gamma/],
    [TEXT.replace('svm_type nu_svr\n', ''), /without svm_type/],
    [TEXT.replace('gamma 0.5', 'gamma 0.5x'), /gamma "0.5x", which is not a number/],
    [TEXT.replace('gamma 0.5', 'gamma -1'), /gamma -1, which must not be negative/],
    [TEXT.replace('gamma', 'Gamma'), /unknown word "Gamma"/],
    [TEXT.replace('gamma', 'constructor'), /unknown word "constructor"/],
    [TEXT.replace('total_sv 2', 'total_sv 3'), /promises 3 support vectors but 2 follow/],
    [TEXT.replace('total_sv 2', 'total_sv 1.5'), /total_sv 1.5, which is not a count/],
    [TEXT.replace('total_sv 2', 'total_sv 1e99'), /promises 1e\+99/],
    [`${HEADER.replace('total_sv 2', 'total_sv 0')}SV\n`, /promises 0 support vectors/],
    [TEXT.replace('2:4', '3:4'), /support vector 2 has "3:4" where a value from 1 to 2 in order belongs/],
    [TEXT.replace('1:1 2:2', '2:1 1:2'), /support vector 1 has "1:2"/],
    [TEXT.replace('2:4', '0:4'), /"0:4"/],
    [TEXT.replace('2:4', '2;4'), /"2;4"/],
    [TEXT.replace('2:4', '2:'), /"2:"/],
    [TEXT.replace('2:4', '2:nan'), /"2:nan"/],
    [TEXT.replace('2:4', '2:1e999'), /"2:1e999"/],
    [TEXT.replace('-1 2:4', '2:4'), /support vector 2 has "2:4"/],
  ])('refuses a damaged text (%#)', async (text, message) => {
    expect(await refusalOf('model', () => parseLibsvm(text, 2, 'Model "x"'))).toMatch(message);
  });
});

it('evaluate sums the kernels in order and subtracts rho', () => {
  // At (1, 2) the first distance is 0, the second 1 + 4.
  const value = evaluate(parseLibsvm(TEXT, 2, 'Model'), Float64Array.of(1, 2));
  expect(value).toBeCloseTo(1 - Math.exp(-2.5) - 0.25, 15);
});

const KNOTS = [
  [0, 0],
  [1, 2],
];

const parse = (changes: Record<string, unknown> = {}) =>
  parseModelFile(JSON.stringify(smallModel(changes)), 'm.json');

const RESCALED = { norm_type: 'linear_rescale', slopes: [1, 1, 1], intercepts: [0, 0, 0] };

describe('parseModelFile', () => {
  it('reads a model without optional members', () => {
    const { kind, members } = parse();
    expect(kind).toBe('single');
    expect(members).toHaveLength(1);
    expect(Object.keys(members[0] ?? {}).sort()).toEqual(['inputs', 'svm', 'type']);
    expect(members[0]?.inputs).toEqual([
      { feature: 'VMAF_integer_feature_adm2_score', options: {} },
      { feature: 'VMAF_integer_feature_motion2_score', options: {} },
    ]);
  });

  it('reads every member of a model', () => {
    const { members } = parse({
      norm_type: 'linear_rescale',
      slopes: [0.5, 1, 2],
      intercepts: [-1, 0, 1],
      score_clip: [0, 100],
      score_transform: {
        ...{ enabled: true, p0: 1, p2: 3, knots: KNOTS },
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
      transform: { ...{ enabled: true, p0: 1, p2: 3, knots: KNOTS }, outGteIn: true, outLteIn: false },
      inputs: [
        { options: { adm_enhn_gain_limit: '1', debug: 'true' } },
        { options: { motion_max_val: '18' } },
      ],
      chromaCorrection: 120,
    });
  });

  it('reads a transform as disabled unless it is enabled, and null as absent', () => {
    const [one] = parse({ score_transform: { p0: 1 } }).members;
    expect(one?.transform).toMatchObject({ enabled: false, p0: 1 });
    const none = { p0: null, knots: null, enabled: null };
    const { members } = parse({ score_clip: null, score_transform: none });
    expect(members[0]).not.toHaveProperty('clip');
    expect(members[0]?.transform).toEqual({ enabled: false, outLteIn: false, outGteIn: false });
  });

  it('reads a collection, with the main model first', () => {
    const text = JSON.stringify({ 0: smallModel(), 1: smallModel({ score_clip: [0, 1] }), 2: smallModel() });
    const { kind, members } = parseModelFile(text, 'm.json');
    expect(kind).toBe('collection');
    expect(members.map(({ clip }) => clip)).toEqual([undefined, [0, 1], undefined]);
  });

  it.each<[string, RegExp]>([
    ['', /Model "m.json" is not JSON: /],
    ['{"a":\n\n1', /^[^\n]+$/],
    ['\x00\x01\x7fELF', /^Model "m.json" is not JSON: it contains binary data\.$/],
    ['YUV\uFFFD\uFFFD', /^Model "m.json" is not JSON: it contains binary data\.$/],
    ['hello', /^Model "m.json" is not JSON: .*hello/],
    ['[]', /is \[\] but must be an object/],
    ['null', /is null but must be an object/],
    ['{}', /neither a member "model_dict" nor "0"/],
    ['{"model_dict":3}', /"model_dict" is 3 but must be an object/],
    [JSON.stringify({ 0: smallModel() }), /is a collection, so its keys must be/],
    [JSON.stringify({ 0: smallModel(), 2: smallModel() }), /is a collection, so its keys must be/],
    [JSON.stringify({ 0: smallModel(), 1: {} }), /member "1", "model_dict" is missing/],
  ])('refuses other files: %s', async (text, message) => {
    const refusal = await refusalOf('model', () => parseModelFile(text, 'm.json'));
    expect(refusal).toMatch(message);
    expect(refusal).not.toContain('\n');
  });

  it.each<[Record<string, unknown>, RegExp]>([
    [{ model_type: 'LIBLINEAR' }, /model_type" is "LIBLINEAR" but must be one of LIBSVMNUSVR, /],
    [{ model_type: undefined }, /model_type" is missing/],
    [{ norm_type: 'clip_0to1' }, /norm_type" is "clip_0to1" but must be one of linear_rescale, none/],
    [{ norm_type: 'linear_rescale' }, /slopes" is missing but must be 3 numbers/],
    [{ ...RESCALED, slopes: [1, 1] }, /slopes" is \[1,1\] but must be 3 numbers/],
    [{ ...RESCALED, slopes: [0, 1, 1] }, /other than 0 for the score/],
    [{ ...RESCALED, intercepts: [0, 0, '0'] }, /intercepts\[2\]" is "0" but must be a number/],
    [{ feature_names: [] }, /feature_names" is \[\] but must be 1 to 64 names/],
    [{ feature_names: Array.from({ length: 65 }, () => 'x') }, /1 to 64 names/],
    [{ feature_names: ['a', 3] }, /must be a string/],
    [{ feature_names: 'a' }, /must be 1 to 64 names/],
    [{ feature_opts_dicts: [{}] }, /has 1 entries for 2 features/],
    [
      { feature_opts_dicts: [{}, { a: [] }] },
      /feature_opts_dicts\[1\]\.a" is \[\] but must be a text, a number, /,
    ],
    [{ score_clip: [0] }, /score_clip" is \[0\] but must be 2 numbers/],
    [{ score_clip: [1, 0] }, /must be \[smallest, largest\]/],
    [{ score_transform: [] }, /score_transform" is \[\] but must be an object/],
    [{ score_transform: { enabled: 'true' } }, /enabled" is "true" but must be true or false/],
    [{ score_transform: { p1: '1' } }, /p1" is "1" but must be a number/],
    [{ score_transform: { out_gte_in: true } }, /out_gte_in" is true but must be "true" or "false"/],
    [{ score_transform: { knots: [[0, 0, 0]] } }, /must be 2 numbers/],
    [{ score_transform: { knots: Array.from({ length: 11 }, (_, i) => [i, i]) } }, /at most 10 points/],
    [{ chroma_correction_parameter: 120 }, /chroma correction, which needs exactly one adm3 feature/],
    [{ model: 3 }, /model" is 3 but must be a string/],
    [{ model: 'svm' }, /without the line "SV"/],
  ])('refuses a damaged member: %j', async (changes, message) => {
    const refusal = await refusalOf('model', () => parse(changes));
    expect(refusal).toMatch(message);
    expect(refusal).toMatch(/^Model "m.json"[^\n]+\.$/);
  });

  it('refuses what is nested beyond reason', async () => {
    const nested = (open: string, close: string) => `${open.repeat(200_000)}1${close.repeat(200_000)}`;
    for (const text of [nested('[', ']'), `{"model_dict":${nested('{"a":', '}')}}`])
      expect(await refusalOf('model', () => parseModelFile(text, 'm.json'))).not.toContain('\n');
  });

  it('refuses numbers beyond the range of doubles', async () => {
    const text = JSON.stringify(smallModel({ score_clip: [0, 'big'] })).replace('"big"', '1e999');
    expect(await refusalOf('model', () => parseModelFile(text, 'm.json'))).toMatch(/must be a number/);
  });
});

describe('parseModelString', () => {
  it('reads version, name, flags and overloads', () => {
    const text =
      'version=vmaf_v0.6.1:name=a:disable_clip:enable_transform=true:vif.vif_enhn_gain_limit=1.0:motion.debug=true';
    expect(parseModelString(text)).toEqual({
      ...{ text, source: { kind: 'version', version: 'vmaf_v0.6.1' }, name: 'a' },
      ...{ disableClip: true, enableTransform: true },
      overloads: [
        { extractor: 'vif', option: 'vif_enhn_gain_limit', value: '1.0' },
        { extractor: 'motion', option: 'debug', value: 'true' },
      ],
    });
  });

  it.each([
    ['hd', 'vmaf_v0.6.1', false],
    ['neg', 'vmaf_v0.6.1neg', false],
    ['4K', 'vmaf_4k_v0.6.1', false],
    ['version=4k-neg:name=b', 'vmaf_4k_v0.6.1neg', false],
    ['phone', 'vmaf_v0.6.1', true],
    ['constructor', 'constructor', false],
  ])('%s is short for %s', (text, version, enableTransform) => {
    expect(parseModelString(text)).toMatchObject({ source: { kind: 'version', version }, enableTransform });
  });

  it('names the score vmaf by default, and ignores flags with another value than true', () => {
    expect(parseModelString('path=/a/b.json')).toMatchObject({
      ...{ source: { kind: 'path', path: '/a/b.json' }, name: 'vmaf' },
      ...{ disableClip: false, enableTransform: false },
    });
    const flags = { disableClip: false, enableTransform: false };
    expect(parseModelString('version=v:disable_clip=false:enable_transform=1')).toMatchObject(flags);
  });

  it('prefers version to path, the last of an item, and a value up to its second =', () => {
    expect(parseModelString('path=x.json:version=v').source).toEqual({ kind: 'version', version: 'v' });
    const last = { source: { version: 'b' }, name: 'x' };
    expect(parseModelString('version=a:version=b:name=x=y')).toMatchObject(last);
  });

  it.each([
    ['', /bad option string ""/],
    ['version=v:', /bad option string ""/],
    ['version=v:clip=false', /unknown item "clip"/],
    ['version=v:nme=a', /unknown item "nme"; did you mean name\? If not, a model string is made of/],
    ['version=v:disable_clp', /bad option string "disable_clp": did you mean disable_clip\? If not, a model/],
    ['version=v:.x=1', /unknown item ".x"/],
    ['name=x', /needs version= or path=/],
    ['version=', /needs version= or path=/],
    ['version=v:name=', /empty name/],
    ['name=:version=v', /^Model string "name=:version=v" has an empty name; omit name=\.$/],
  ])('refuses "%s"', async (text, message) => {
    const refusal = await refusalOf('usage', () => parseModelString(text));
    expect(refusal).toMatch(message);
    expect(refusal).toMatch(/^[^\n]+\.$/);
  });
});

const NO_SUCH_FEATURE = smallModel({
  feature_names: ['VMAF_feature_ssim_score', 'VMAF_integer_feature_adm2_score'],
});
const FILES = {
  'small.json': JSON.stringify(smallModel()),
  'unknown.json': JSON.stringify(NO_SUCH_FEATURE),
  'aggregate.json': JSON.stringify(smallModel({ feature_names: ['apsnr_y', 'psnr_y'] })),
  'option.json': JSON.stringify(smallModel({ feature_opts_dicts: [{ adm_gain: 1 }, {}] })),
  'text.txt': 'YUV4MPEG2 W1 H1',
};

async function load(text: string) {
  const [model] = await loadModels([text], modelStore(FILES));
  if (!model) throw new Error('nothing was loaded');
  return model;
}

describe('loadModels', () => {
  const keysOf = (model: Awaited<ReturnType<typeof load>>) => model.extractors.map(({ key }) => key);

  it('registers the extractors in the order of the features, with the options of the model', async () => {
    expect(keysOf(await load('version=vmaf_v0.6.1'))).toEqual(['adm', 'motion', 'vif']);
    expect(keysOf(await load('version=vmaf_4k_v0.6.1neg'))).toEqual(['adm_egl_1', 'motion', 'vif_egl_1']);
  });

  it("applies overloads after the model's own options, in every member", async () => {
    const plain = await load('version=vmaf_v0.6.1neg:vif.vif_enhn_gain_limit=1.2');
    expect(keysOf(plain)).toEqual(['adm_egl_1', 'motion', 'vif_egl_1.2']);
    const collection = await load('version=vmaf_b_v0.6.3:motion.motion_force_zero=true');
    expect(collection.members).toHaveLength(21);
    for (const { inputs } of collection.members) expect(inputs[1]?.logName).toBe('integer_motion2_force_0');
    expect(keysOf(collection)).toEqual(['adm', 'motion_force_0', 'vif']);
  });

  it('loads files by path', async () => {
    const small = { name: 's', source: 'small.json', kind: 'single' };
    expect(await load('path=small.json:name=s')).toMatchObject(small);
  });

  it.each([
    [
      'version=vmaf_v9',
      'model',
      /no built-in model "vmaf_v9"; did you mean vmaf_v0.6.1\? If not, there are vmaf_v0.6.1, .*path=FILE/,
    ],
    ['path=missing.json', 'io', /missing.json/],
    ['path=text.txt', 'model', /Model "text.txt" is not JSON/],
    ['path=unknown.json', 'model', /needs the feature "VMAF_feature_ssim_score", which no extractor prov/],
    ['path=aggregate.json', 'model', /needs the feature "apsnr_y"/],
    ['path=option.json', 'feature', /adm extractor has no option "adm_gain" \(in model "option.json"\)/],
    ['version=vmaf_v0.6.1:psnr.enable_mse=true', 'model', /not use .* "psnr".*it uses adm, motion, vif/],
    ['version=vmaf_v0.6.1:vif.gain=1', 'feature', /vif extractor has no option "gain"/],
    ['version=vmaf_v0.6.1:vif.vif_enhn_gain_limit=0', 'feature', /a number from 1 to 100/],
  ] as const)('refuses %s', async (text, code, message) => {
    expect(await refusalOf(code, () => load(text))).toMatch(message);
  });

  it.each([
    ['vmaf_v0.6.1neg', 'vmaf'],
    ['vmaf_v0.6.1neg:name=neg', 'neg'],
  ])('accepts the bare name of a built-in model, as in "%s"', async (text, name) => {
    const [model] = await loadModels([text], modelStore());
    const [same] = await loadModels([`version=vmaf_v0.6.1neg:name=${name}`], modelStore());
    expect({ ...model, request: null, text: null }).toEqual({ ...same, request: null, text: null });
  });

  it.each([
    ['VMAF-v061', 'did you mean vmaf_v0.6.1?'],
    ['vmaf_v0.6.1ng', 'did you mean vmaf_v0.6.1neg?'],
    ['vmaf_4k', 'did you mean vmaf_4k_v0.6.1?'],
  ])('suggests a model for "%s"', async (text, part) => {
    expect(await refusalOf('model', () => loadModels([text], modelStore()))).toContain(part);
  });

  it('requires different names of models', async () => {
    const same = ['version=vmaf_v0.6.1', 'version=vmaf_4k_v0.6.1'];
    expect(await refusalOf('usage', () => loadModels(same, modelStore()))).toMatch(
      /"version=vmaf_4k_v0.6.1" names its score "vmaf", as another model does; add name=NAME/,
    );
  });
});
