/**
 * @module test/unit/models/loading
 * Model strings as the `vmaf` tool takes them, and what is loaded for them.
 */
import { describe, expect, it } from 'vitest';
import { parseModelString } from '../../../src/models/grammar.js';
import { loadModels } from '../../../src/models/load.js';
import { modelStore, refusalOf, smallModel } from '../../support/models.js';

describe('parseModelString', () => {
  it('reads version, name, flags and overloads', () => {
    const text =
      'version=vmaf_v0.6.1:name=a:disable_clip:enable_transform=true:vif.vif_enhn_gain_limit=1.0:motion.debug=true';
    expect(parseModelString(text)).toEqual({
      text,
      source: { kind: 'version', version: 'vmaf_v0.6.1' },
      name: 'a',
      disableClip: true,
      enableTransform: true,
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

  it('names the score vmaf unless told otherwise', () => {
    expect(parseModelString('path=/a/b.json')).toMatchObject({
      source: { kind: 'path', path: '/a/b.json' },
      name: 'vmaf',
      disableClip: false,
      enableTransform: false,
    });
  });

  it('prefers version to path, the last of an item, and a value up to its second =', () => {
    expect(parseModelString('path=x.json:version=v').source).toEqual({ kind: 'version', version: 'v' });
    expect(parseModelString('version=a:version=b:name=x=y')).toMatchObject({
      source: { version: 'b' },
      name: 'x',
    });
  });

  it('ignores flags with another value than true', () => {
    expect(parseModelString('version=v:disable_clip=false:enable_transform=1')).toMatchObject({
      disableClip: false,
      enableTransform: false,
    });
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
    ['name=:version=v', /^Model string "name=:version=v" gives an empty name; leave name= out\.$/],
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
  it('registers the extractors in the order of the model’s features', async () => {
    const { extractors } = await load('version=vmaf_v0.6.1');
    expect(extractors.map(({ key }) => key)).toEqual(['adm', 'motion', 'vif']);
  });

  it('gives the options of a model to its extractors', async () => {
    const { extractors } = await load('version=vmaf_4k_v0.6.1neg');
    expect(extractors.map(({ key }) => key)).toEqual(['adm_egl_1', 'motion', 'vif_egl_1']);
  });

  it('puts overloads over the model’s own options, in every member', async () => {
    const plain = await load('version=vmaf_v0.6.1neg:vif.vif_enhn_gain_limit=1.2');
    expect(plain.extractors.map(({ key }) => key)).toEqual(['adm_egl_1', 'motion', 'vif_egl_1.2']);
    const collection = await load('version=vmaf_b_v0.6.3:motion.motion_force_zero=true');
    expect(collection.members).toHaveLength(21);
    for (const { inputs } of collection.members) expect(inputs[1]?.logName).toBe('integer_motion2_force_0');
    expect(collection.extractors.map(({ key }) => key)).toEqual(['adm', 'motion_force_0', 'vif']);
  });

  it('loads files by path', async () => {
    expect(await load('path=small.json:name=s')).toMatchObject({
      name: 's',
      source: 'small.json',
      kind: 'single',
    });
  });

  it.each([
    [
      'version=vmaf_v0.6.2',
      'model',
      /no built-in model "vmaf_v0.6.2"; did you mean vmaf_v0.6.1\? If not, there/,
    ],
    [
      'version=vmaf_v9',
      'model',
      /no built-in model "vmaf_v9"; did you mean vmaf_v0.6.1\? If not, there are vmaf_v0.6.1, .*path=FILE/,
    ],
    ['path=missing.json', 'io', /missing.json/],
    ['path=text.txt', 'model', /Model "text.txt" is not JSON/],
    [
      'path=unknown.json',
      'model',
      /reads the feature "VMAF_feature_ssim_score", which none of the extractors here gives/,
    ],
    ['path=aggregate.json', 'model', /reads the feature "apsnr_y"/],
    ['path=option.json', 'feature', /adm extractor has no option "adm_gain" \(in model "option.json"\)/],
    [
      'version=vmaf_v0.6.1:psnr.enable_mse=true',
      'model',
      /does not use the extractor "psnr".*it uses adm, motion, vif/,
    ],
    ['version=vmaf_v0.6.1:vif.gain=1', 'feature', /vif extractor has no option "gain"/],
    ['version=vmaf_v0.6.1:vif.vif_enhn_gain_limit=0', 'feature', /a number from 1 to 100/],
  ] as const)('refuses %s', async (text, code, message) => {
    expect(await refusalOf(code, () => load(text))).toMatch(message);
  });

  it.each([
    ['vmaf_v0.6.1neg', 'vmaf'],
    ['vmaf_v0.6.1neg:name=neg', 'neg'],
  ])('takes the name of a built-in model alone, as in "%s"', async (text, name) => {
    const [model] = await loadModels([text], modelStore());
    const [same] = await loadModels([`version=vmaf_v0.6.1neg:name=${name}`], modelStore());
    expect({ ...model, request: null, text: null }).toEqual({ ...same, request: null, text: null });
  });

  it.each([
    ['VMAF-v061', 'did you mean vmaf_v0.6.1?'],
    ['vmaf_v0.6.1ng', 'did you mean vmaf_v0.6.1neg?'],
    ['vmaf_4k', 'did you mean vmaf_4k_v0.6.1?'],
  ])('guesses what was meant by "%s"', async (text, part) => {
    expect(await refusalOf('model', () => loadModels([text], modelStore()))).toContain(part);
  });

  it('wants every model to have its own name', async () => {
    const same = ['version=vmaf_v0.6.1', 'version=vmaf_4k_v0.6.1'];
    expect(await refusalOf('usage', () => loadModels(same, modelStore()))).toMatch(
      /"version=vmaf_4k_v0.6.1" gives its score the name "vmaf", which another model has already; add name=NAME/,
    );
  });
});
