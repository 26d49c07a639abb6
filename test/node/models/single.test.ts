/**
 * @module test/node/models/single
 * Scores of feature values without a video: libvmaf's, for the values that libvmaf had.
 */
import { describe, expect, it } from 'vitest';
import { listModels, openModel } from '../../../src/index.js';
import { readFixture } from '../../support/fixtures.js';
import { refusalOf } from '../../support/models.js';

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

  it.each([
    ['version=vmaf_v0.6.1', 97.42804264261031],
    ['version=vmaf_4k_v0.6.1:disable_clip', 100.8937736628905],
    ['version=vmaf_v0.6.1:enable_transform', 100],
  ])('%s of a perfect still copy', async (text, expected) => {
    expect((await openModel(text)).predict(PERFECT)).toBe(expected);
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
      (await listModels())
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
