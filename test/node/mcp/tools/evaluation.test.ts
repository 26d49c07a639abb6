/**
 * @module test/node/mcp/tools/evaluation
 * `eval_model_on_split` and `compare_models` answer with the reference's keys, and ours.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../../../src/index.js';
import { compareModels } from '../../../../src/mcp/tools/compare-models.js';
import { evalModelOnSplit } from '../../../../src/mcp/tools/eval-model-on-split.js';
import { call, fakeContext, refused, videoFolder } from '../../../support/mcp-tools.js';
import { linear } from '../../../support/onnx.js';
import { parquet } from '../../../support/tables.js';

type Told = Evaluation & { readonly keys: number | null };

const root = videoFolder();
const put = (name: string, content: Uint8Array | string) => {
  writeFileSync(join(root, name), content);
  return join(root, name);
};

const SIX = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];
const features = put(
  'features.parquet',
  parquet({
    key: ['clip_0000', 'clip_0000', 'clip_0019', 'clip_0019', 'clip_0001'],
    mos: [1, 2, 3, 4, 9],
    ...Object.fromEntries(SIX.map((name, i) => [name, i === 0 ? [1, 3, 2, 4, 0] : [0, 0, 0, 0, 0]])),
  }),
);
const good = put('good.onnx', linear([1, 0, 0, 0, 0, 0], 0));
const worse = put('worse.onnx', linear([-1, 0, 0, 0, 0, 0], 0));
const constant = put('constant.onnx', linear([0, 0, 0, 0, 0, 0], 1));
const broken = put('broken.onnx', 'broken');

describe('eval_model_on_split', () => {
  it('tells the figures of the split test by default', async () => {
    const context = fakeContext(root);
    const told = await call<Told>(evalModelOnSplit, { model: good, features }, context);
    expect(told).toMatchObject({
      model: good,
      features,
      split: 'test',
      n: 4,
      plcc: 0.8,
      srocc: 0.8,
      krocc: 4 / 6,
      rmse: Math.sqrt(0.5),
      columns: SIX,
      keys: 2,
      left_out: { other_split: 1 },
      bootstrap: { unit: 'key', units: 2 },
    });
    expect(told.notes.join(' ')).toMatch(/rest on 2 keys only/);
    expect([...context.asked].sort()).toEqual([features, good]);
    expect(context.ran).toEqual([['eval_model_on_split', 1]]);
  });

  it('says what is not defined as null', async () => {
    const told = await call<Told>(
      evalModelOnSplit,
      { model: constant, features, split: 'all' },
      fakeContext(root),
    );
    expect(told).toMatchObject({ n: 5, plcc: null, srocc: null, krocc: null, intervals: { plcc: null } });
    expect(told.notes.join(' ')).toMatch(/All predictions are 1/);
  });

  it('refuses with a sentence', async () => {
    const context = fakeContext(root);
    expect(await refused(evalModelOnSplit, { model: good, features, split: 'val' }, context)).toMatch(
      /split "val".*0 rows, but at least 2.*1 of train, 4 of test/,
    );
    expect(await refused(evalModelOnSplit, { model: good, features: '/etc/passwd' }, context)).toMatch(
      /not allowed/,
    );
    expect(await refused(evalModelOnSplit, { model: '/etc/m.onnx', features }, context)).toMatch(
      /not allowed/,
    );
    expect(await refused(evalModelOnSplit, { model: good, features, input_name: 'x' }, context)).toMatch(
      /no input "x"; it has "features"/,
    );
    expect(await refused(evalModelOnSplit, { model: good, features: broken }, context)).toMatch(
      /not a Parquet file/,
    );
  });
});

describe('compare_models', () => {
  it('ranks what works and lists what fails in the order of the call', async () => {
    const models = [join(root, 'absent.onnx'), worse, broken, good, '/etc/m.onnx', constant];
    const told = await call<{ ranked: Told[]; errors: { model: string; error: string }[] }>(
      compareModels,
      { models, features },
      fakeContext(root),
    );
    expect(told.ranked.map(({ model, plcc, n }) => [model, plcc, n])).toEqual([
      [good, 0.8, 4],
      [worse, -0.8, 4],
      [constant, null, 4],
    ]);
    expect(told.errors.map(({ model }) => model)).toEqual([models[0], broken, '/etc/m.onnx']);
    expect(told.errors[1]?.error).toMatch(/not an ONNX model/);
  });
});
