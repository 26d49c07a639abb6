/**
 * @module test/node/models/registry
 * The models in the package: that they are the original files, what is said about them, and what they predict.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listModels as listAll, openModel } from '../../../src/index.js';
import { describeModel, listModels } from '../../../src/models/registry.js';
import { readFixture } from '../../support/fixtures.js';
import { modelStore, refusalOf } from '../../support/models.js';

const SUMS = {
  'vmaf_v0.6.1': '5950d61fa1f861bd45d8149d80539ed9f3376cfc2495b8f0fa8e9f57cb131ee3',
  'vmaf_v0.6.1neg': '1fcda193aaa2a3136471b7516b3c5dc344546c05fcde2d58609f8c60a2387392',
  'vmaf_4k_v0.6.1': '73b187001309703c89d57cf58baab01660bd11e4ea6fac62bc064c5f5da6dac8',
  'vmaf_b_v0.6.3': '34f620dbaff662fe7d33dd80326553c2cc3910e4135349ba4c367171d3a3cfbd',
};

const read = (name: string): string =>
  readFileSync(new URL(`../../../model/${name}`, import.meta.url), 'utf8');

describe('the model folder', () => {
  it.each(Object.entries(SUMS))('%s is the original file', (name, sum) => {
    expect(
      createHash('sha256')
        .update(read(`${name}.json`))
        .digest('hex'),
    ).toBe(sum);
  });

  it('has as 4K NEG the 4K model with the two gain limits and nothing else', () => {
    const { feature_opts_dicts: limits, ...rest } = JSON.parse(read('vmaf_4k_v0.6.1neg.json')).model_dict;
    expect(rest).toEqual(JSON.parse(read('vmaf_4k_v0.6.1.json')).model_dict);
    const vif = { vif_enhn_gain_limit: 1 };
    expect(limits).toEqual([{ adm_enhn_gain_limit: 1 }, {}, vif, vif, vif, vif]);
  });

  it('is what the extraction script would write', () => {
    const script = fileURLToPath(new URL('../../../scripts/extract-models.mjs', import.meta.url));
    expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toMatch(
      /as they should be/,
    );
  });

  it('carries the licence of the models', () => {
    expect(read('LICENSE-VMAF.txt')).toMatch(
      /BSD-2-Clause-Patent.*Copyright \(c\) 2016-2020 Netflix, Inc\..*patent license/s,
    );
  });
});

describe('listModels', () => {
  it('lists the built-in models, the default first', async () => {
    const models = await listModels(modelStore());
    expect(models.map(({ name, kind }) => [name, kind])).toEqual([
      ['vmaf_v0.6.1', 'single'],
      ['vmaf_v0.6.1neg', 'single'],
      ['vmaf_4k_v0.6.1', 'single'],
      ['vmaf_4k_v0.6.1neg', 'single'],
      ['vmaf_b_v0.6.3', 'collection'],
      ['vmaf_float_v0.6.1', 'single'],
      ['vmaf_float_v0.6.1neg', 'single'],
      ['vmaf_float_4k_v0.6.1', 'single'],
      ['vmaf_float_b_v0.6.3', 'collection'],
      ['vmaf_v1.0.16_3d0h', 'single'],
      ['vmaf_v1.0.16_5d0h', 'single'],
      ['vmaf_v1.0.16_1d5h_2160', 'single'],
      ['vmaf_v1.0.16_3d0h_2160', 'single'],
      ['vmaf_v1.0.16_hfr_3d0h', 'single'],
      ['vmaf_v1.0.16_hfr_5d0h', 'single'],
      ['vmaf_v1.0.16_hfr_1d5h_2160', 'single'],
      ['vmaf_v1.0.16_hfr_3d0h_2160', 'single'],
    ]);
    for (const { intendedUse } of models) expect(intendedUse).toMatch(/^[A-Z0-9].*\.$/);
  });

  it('knows the sizes of the files', async () => {
    for (const { file, bytes, availability } of await listModels(modelStore())) {
      if (availability === 'built-in') expect([file, bytes]).toEqual([file, Buffer.byteLength(read(file))]);
    }
  });

  it('says when the registry is damaged', async () => {
    for (const text of ['{"models":[{}]}', '{}', '<html>', 'null']) {
      const store = { ...modelStore(), readBuiltIn: async () => text };
      expect(await refusalOf('internal', () => listModels(store))).toMatch(
        /^model\/registry\.json is damaged/,
      );
    }
  });
});

describe('describeModel', () => {
  it('tells a NEG model’s inputs with their options', async () => {
    const model = await describeModel('vmaf_v0.6.1neg', modelStore());
    expect(model).toMatchObject({
      name: 'vmaf_v0.6.1neg',
      kind: 'single',
      clip: [0, 100],
      transform: { enabled: false, p0: 1.70674692, p1: 1.72643844, p2: -0.00705305, outGteIn: true },
      supportVectors: [211],
      licence: 'BSD-2-Clause-Patent',
      sha256: SUMS['vmaf_v0.6.1neg'],
    });
    expect(model.inputs[0]).toEqual({
      feature: 'VMAF_integer_feature_adm2_score',
      logName: 'integer_adm2_egl_1',
      extractor: 'adm',
      options: { adm_enhn_gain_limit: '1' },
    });
    expect(model.inputs.map(({ logName }) => logName)).toContain('integer_motion2');
  });

  it('derives the float models by renaming features alone', async () => {
    for (const name of ['v0.6.1', 'v0.6.1neg', '4k_v0.6.1', 'b_v0.6.3']) {
      const float = await describeModel(`vmaf_float_${name}`, modelStore());
      const plain = await describeModel(`vmaf_${name}`, modelStore());
      expect(float.supportVectors).toEqual(plain.supportVectors);
      expect([float.clip, float.transform]).toEqual([plain.clip, plain.transform]);
      expect(float.inputs.map(({ feature }) => feature)).toEqual(
        plain.inputs.map(({ feature }) => feature.replace('_integer', '')),
      );
      expect(float.inputs.map(({ logName }) => logName)).toEqual(
        plain.inputs.map(({ logName }) => logName.replace('integer_', '')),
      );
      expect(new Set(float.inputs.map(({ extractor }) => extractor))).toEqual(
        new Set(['float_adm', 'float_motion', 'float_vif']),
      );
      expect(float.inputs.map(({ options }) => options)).toEqual(plain.inputs.map(({ options }) => options));
    }
  });

  it('counts the support vectors of models and members', async () => {
    const uhd = await describeModel('vmaf_4k_v0.6.1', modelStore());
    expect([uhd.supportVectors, uhd.transform]).toEqual([[262], null]);
    const collection = await describeModel('vmaf_b_v0.6.3', modelStore());
    expect(collection.supportVectors).toHaveLength(21);
    expect(collection.supportVectors[0]).toBe(210);
  });
});

const PERFECT = {
  integer_adm2: 1,
  integer_motion2: 0,
  integer_vif_scale0: 1,
  integer_vif_scale1: 1,
  integer_vif_scale2: 1,
  integer_vif_scale3: 1,
};

describe('openModel', () => {
  it("gives libvmaf's scores for the features that libvmaf measured, collections by their main model", async () => {
    let compared = 0;
    for (const { runs } of ['models', 'formats'].flatMap(readFixture)) {
      for (const { models = [], metrics } of runs) {
        for (const text of models) {
          const model = await openModel(text);
          const frames = metrics[model.name] ?? [];
          if (!model.inputs.every(({ logName }) => metrics[logName]?.length === frames.length)) continue;
          frames.forEach((expected, i) => {
            const values = Object.fromEntries(
              model.inputs.map(({ logName }) => [logName, metrics[logName]?.[i] ?? Number.NaN]),
            );
            expect(model.predict(values), `${text}, frame ${i}`).toBe(expected);
            compared++;
          });
        }
      }
    }
    expect(compared).toBeGreaterThan(20);
  });

  it('names the features that a run must measure, options included', async () => {
    expect((await openModel()).features).toEqual(['adm', 'motion', 'vif']);
    const neg = await openModel('version=vmaf_v0.6.1neg:motion.motion_force_zero=true:name=n');
    expect(neg.features).toEqual([
      'adm=adm_enhn_gain_limit=1',
      'motion=motion_force_zero=true',
      'vif=vif_enhn_gain_limit=1',
    ]);
    expect(neg.name).toBe('n');
    expect(neg.inputs.map(({ logName }) => logName)).toContain('integer_adm2_egl_1');
  });

  it('says what kind of regression a model is', async () => {
    const types = await Promise.all(
      (await listAll())
        .filter(({ availability }) => availability === 'built-in')
        .map(async ({ name }) => [name, (await openModel(`version=${name}`)).type]),
    );
    expect(Object.fromEntries(types)).toMatchObject({
      'vmaf_v0.6.1': 'LIBSVMNUSVR',
      'vmaf_b_v0.6.3': 'BOOTSTRAP_LIBSVMNUSVR',
    });
  });

  it('refuses values that lack an input, naming it', async () => {
    const model = await openModel();
    const { integer_vif_scale2: _, ...rest } = PERFECT;
    expect(await refusalOf('feature', () => model.predict(rest))).toContain(
      'no value for integer_vif_scale2',
    );
  });
});
