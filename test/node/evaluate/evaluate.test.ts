/**
 * @module test/node/evaluate/evaluate
 * Models made for the purpose, on tables made for the purpose: what is fed to them, computed and said.
 */
import { describe, expect, it } from 'vitest';
import { compare, drawsOf, evaluate } from '../../../src/evaluate/evaluate.js';
import { floats, linear, meanOf, model, node, port } from '../../support/onnx.js';
import { type Columns, parquet, platformOf, tableOf } from '../../support/tiny.js';

const SIX = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];

/** Gives the first feature unchanged. */
const FIRST = linear([1, 0, 0, 0, 0, 0], 0);

const PLAIN = { 'm.onnx': FIRST };

/** Four rows, of the split test by default, in which adm2 is 1, 3, 2, 4 and mos 1, 2, 3, 4. */
function columns(changes: Columns = {}, names: readonly string[] = SIX): Columns {
  return {
    key: ['clip_0000', 'clip_0000', 'clip_0019', 'clip_0019'],
    mos: [1, 2, 3, 4],
    ...Object.fromEntries(names.map((name, i) => [name, i === 0 ? [1, 3, 2, 4] : [0.5, 0.5, 0.5, 0.5]])),
    ...changes,
  };
}

const run = async (
  files: Parameters<typeof platformOf>[0],
  table: Columns,
  options: Parameters<typeof evaluate>[3] = {},
) => evaluate(platformOf(files), 'm.onnx', await tableOf(parquet(table)), options);

describe('an evaluation', () => {
  it("has the reference's keys and figures", async () => {
    expect(await run(PLAIN, columns())).toMatchObject({
      model: 'm.onnx',
      features: 'features.parquet',
      split: 'test',
      n: 4,
      plcc: 0.8,
      srocc: 0.8,
      rmse: Math.sqrt(0.5),
      columns: SIX,
      target: 'mos',
      left_out: { other_split: 0, no_key: 0, no_target: 0, no_feature: 0 },
    });
  });

  it('takes only the rows of the split', async () => {
    // clip_0007 is val, clip_0001 train.
    const key = ['clip_0000', 'clip_0007', 'clip_0001', 'clip_0019'];
    const test = await run(PLAIN, columns({ key }));
    expect(test).toMatchObject({ n: 2, plcc: 1, left_out: { other_split: 2 } });
    await expect(run(PLAIN, columns({ key }), { split: 'val' })).rejects.toThrow(
      /split "val" of features\.parquet has 1 row, but at least 2.*1 of train, 1 of val, 2 of test/,
    );
    expect(await run(PLAIN, columns({ key }), { split: 'all' })).toMatchObject({ n: 4, split: 'all' });
  });

  it('takes keys that are numbers as their text', async () => {
    // "2" is val, "24" test; as doubles they would be "2.0" and "24.0".
    const key = [2n, 24n, 24n, 2n];
    expect(await run(PLAIN, columns({ key }))).toMatchObject({ n: 2, per_key: [{ key: '24' }] });
    const val = await run(PLAIN, columns({ key }), { split: 'val' });
    expect(val).toMatchObject({ n: 2, per_key: [{ key: '2' }] });
  });

  it('says that a table without keys was taken whole', async () => {
    const { key: _, ...rest } = columns();
    const found = await run(PLAIN, rest);
    const facts = { split: 'all', n: 4, per_key: null, clips: null, bootstrap: { unit: 'row' } };
    expect(found).toMatchObject(facts);
    const said = found.notes.join(' ');
    expect(said).toMatch(
      /no column "key", so it cannot be split: all rows were evaluated instead of the split test/,
    );
    expect(said).toMatch(/frames of one clip are similar/);
  });

  it('leaves out rows without key, target or feature, and says how many', async () => {
    const rows = (extra: unknown, kind: string) =>
      columns({
        key: ['clip_0000', 'clip_0000', 'clip_0019', 'clip_0019', kind === 'key' ? extra : 'clip_0019'],
        mos: [1, 2, 3, 4, kind === 'mos' ? extra : 9],
        adm2: [1, 3, 2, 4, kind === 'adm2' ? extra : 9],
        ...Object.fromEntries(SIX.slice(1).map((name) => [name, [0, 0, 0, 0, 0]])),
      });
    for (const [kind, extra, reason] of [
      ['key', null, 'no_key'],
      ['mos', null, 'no_target'],
      ['mos', Number.NaN, 'no_target'],
      ['adm2', Number.NaN, 'no_feature'],
      ['adm2', Number.POSITIVE_INFINITY, 'no_feature'],
      ['adm2', null, 'no_feature'],
    ] as const) {
      const found = await run(PLAIN, rows(extra, kind));
      expect(found, `${kind} ${extra}`).toMatchObject({ n: 4, plcc: 0.8, left_out: { [reason]: 1 } });
      expect(found.notes.some((note) => /^1 row /.test(note))).toBe(true);
    }
  });

  it('finds features under the other spelling, in the order of the model', async () => {
    const names = SIX.map((name) => `integer_${name}`);
    const prefixed = columns({}, names);
    expect(await run(PLAIN, prefixed)).toMatchObject({ plcc: 0.8, columns: SIX });
    const sidecar = JSON.stringify({ feature_order: ['integer_motion2', 'adm2'] });
    const second = await run({ 'm.onnx': linear([0, 1], 0), 'm.json': sidecar }, columns());
    expect(second).toMatchObject({ plcc: 0.8, columns: ['integer_motion2', 'adm2'] });
  });

  it("applies the sidecar's scaler, once", async () => {
    // (adm2 - 2) / 0.5 is -2, 2, 0, 4: against 1, 2, 3, 4 the squared errors are 9, 0, 9, 0.
    const scaling = { feature_mean: [2, 0, 0, 0, 0, 0], feature_std: [0.5, 1, 1, 1, 1, 1] };
    const scaler = { feature_order: SIX, ...scaling };
    const outside = { 'm.onnx': FIRST, 'm.json': JSON.stringify(scaler) };
    expect((await run(outside, columns())).rmse).toBeCloseTo(Math.sqrt(4.5), 6);
    const inside = { 'm.onnx': FIRST, 'm.json': JSON.stringify({ ...scaler, onnx_has_scaler: true }) };
    expect((await run(inside, columns())).rmse).toBeCloseTo(Math.sqrt(0.5), 6);
  });

  it('takes one row at a time where the graph does, and finds an input of any name', async () => {
    const single = { 'm.onnx': linear([1, 0, 0, 0, 0, 0], 0, { rows: 1 }) };
    expect(await run(single, columns())).toMatchObject({ plcc: 0.8 });
    const other = linear([1, 0, 0, 0, 0, 0], 0, { input: 'x' });
    expect(await run({ 'm.onnx': other }, columns())).toMatchObject({ plcc: 0.8 });
    expect(await run({ 'm.onnx': other }, columns(), { inputName: 'x' })).toMatchObject({ plcc: 0.8 });
    const missing = run({ 'm.onnx': other }, columns(), { inputName: 'y' });
    await expect(missing).rejects.toThrow(/no input "y"; it has "x"/);
  });

  describe('of a codec-aware model', () => {
    // Two encoders, preset and rate factor: the score is the sum of features[0], 10 * libx265, preset and crf.
    const two = model({
      nodes: [
        node('MatMul', ['features', 'w'], ['a']),
        node('MatMul', ['codec', 'v'], ['b']),
        node('Add', ['a', 'b'], ['score']),
      ],
      initializers: [floats('w', [1, 1], [1]), floats('v', [4, 1], [0, 10, 9, 63])],
      inputs: [port('features', ['N', 1]), port('codec', ['N', 4])],
      outputs: [port('score', ['N', 1])],
    });
    const files = {
      'm.onnx': two,
      'm.json': JSON.stringify({ feature_order: ['adm2'], encoder_vocab: ['libx264', 'libx265'] }),
    };
    // libx264 medium 20: 1 + 5 + 20; hevc slow 30: 3 + 10 + 6 + 30; h264, no preset, 40: 2 + 5 + 40; libx265 placebo 0: 4 + 10 + 9.
    const encoded = columns({
      codec: ['libx264', 'hevc', 'h264', 'libx265'],
      preset: ['medium', 'slow', null, 'placebo'],
      crf: [20, 30, 40, 0],
      mos: [26, 49, 47, 23],
    });

    it('makes the codec block from the columns of each row', async () => {
      const found = await run(files, encoded);
      expect(found.rmse).toBeCloseTo(0, 4);
      expect(found.plcc).toBeCloseTo(1, 6);
    });

    it('or from what the caller says of all rows', async () => {
      const found = await run(files, columns(), { codec: 'libx264', preset: 'ultrafast', crf: 0 });
      expect(found).toMatchObject({ plcc: 0.8 });
      await expect(run(files, columns())).rejects.toThrow(
        /the columns "codec" and "crf" .*of features\.parquet, or one codec and crf for all rows/,
      );
      await expect(run(files, columns(), { codec: 'mpeg2', crf: 3 })).rejects.toThrow(/"mpeg2"/);
    });

    it('takes other inputs from columns named after them', async () => {
      const sidecar = JSON.stringify({ feature_order: ['adm2'] });
      const other = { ...files, 'm.json': sidecar };
      const zero = [0, 0, 0, 0];
      const named = columns({ codec_0: zero, codec_1: zero, codec_2: zero, codec_3: zero });
      expect(await run(other, named)).toMatchObject({ plcc: 0.8 });
      await expect(run(other, columns())).rejects.toThrow(/lacks the columns "codec_0"/);
    });
  });

  it('has figures of clips and keys, and intervals by key', async () => {
    const rows = 24;
    const at = <T>(make: (i: number) => T) => Array.from({ length: rows }, (_, i) => make(i));
    // The keys are of the split test: two clips each, three frames a clip; predictions are off by the clip.
    const keys = ['clip_0000', 'clip_0019', 'clip_0029', '24'];
    const table = {
      key: at((i) => keys[Math.floor(i / 6)]),
      clip: at((i) => `c${Math.floor(i / 3)}`),
      mos: at((i) => Math.floor(i / 3)),
      adm2: at((i) => Math.floor(i / 3) + ([-1, 0, 4][i % 3] ?? 0)),
      ...Object.fromEntries(SIX.slice(1).map((name) => [name, at(() => 0)])),
    };
    const found = await run(PLAIN, table);
    expect(found.per_key?.map(({ key, n }) => [key, n])).toEqual(keys.map((key) => [key, 6]));
    expect(found.per_key?.[0]).toMatchObject({ mean_prediction: 1.5, mean_target: 0.5 });
    // The mean of each clip is off by 1: a perfect order, and an error of 1.
    expect(found.clips).toMatchObject({ n: 8, plcc: 1, srocc: 1, krocc: 1, rmse: 1 });
    expect(found.rmse).toBeCloseTo(Math.sqrt(17 / 3), 12);
    expect(found.bootstrap).toEqual({ unit: 'key', units: 4, resamples: 1000, seed: 1, level: 0.95 });
    // Every key has the same errors: no draw changes them.
    expect(found.intervals?.rmse?.[0]).toBeCloseTo(found.rmse, 9);
    expect(found.intervals?.rmse?.[1]).toBeCloseTo(found.rmse, 9);
    expect(found.notes.join(' ')).toMatch(/rest on only 4 keys/);
    expect(await run(PLAIN, table, { resamples: 0 })).toMatchObject({ intervals: null, bootstrap: null });
  });

  it('says which figures are undefined', async () => {
    const constant = await run({ 'm.onnx': linear([0, 0, 0, 0, 0, 0], 7) }, columns());
    const rmse = Math.sqrt((36 + 25 + 16 + 9) / 4);
    expect(constant).toMatchObject({ plcc: null, srocc: null, krocc: null, rmse });
    expect(constant.notes.join(' ')).toMatch(/All predictions are 7/);
    const flat = await run(PLAIN, columns({ mos: [3, 3, 3, 3] }));
    expect(flat).toMatchObject({ plcc: null });
    expect(flat.notes.join(' ')).toMatch(/All targets are 3/);
    const one = await run(PLAIN, columns({ key: Array(4).fill('clip_0000') }));
    expect(one).toMatchObject({ plcc: 0.8, intervals: null });
    expect(one.notes.join(' ')).toMatch(/one key/);
  });

  it('predicts another column when asked', async () => {
    const found = await run(PLAIN, columns({ teacher: [1, 3, 2, 4] }), { target: 'teacher' });
    expect(found).toMatchObject({ plcc: 1, rmse: 0, target: 'teacher' });
  });
});

/** A graph of one chain of operators from six features to the score. */
function graphOf(nodes: readonly number[][], width: number, ...weights: number[]): Uint8Array {
  return model({
    nodes,
    initializers: [floats('w', [6, width], weights)],
    inputs: [port('features', ['N', 6])],
    outputs: [port('score', ['N', width])],
  });
}

const product = (output: string) => node('MatMul', ['features', 'w'], [output]);
const twoOutputs = graphOf([product('score')], 2, ...Array<number>(12).fill(1));
const log = graphOf([product('a'), node('Log', ['a'], ['score'])], 1, 1, 0, 0, 0, 0, 0);
const unknown = { feature_order: ['adm2', 'cambi'] };

const without = (name: string) => {
  const { [name]: _, ...rest } = columns();
  return rest;
};

it.each([
  ['no target', PLAIN, without('mos'), /no column "mos".*it has "key"/],
  ['text as a target', PLAIN, columns({ mos: ['a', 'b', 'c', 'd'] }), /"mos".*holds text/],
  ['one feature missing', PLAIN, without('vif_scale3'), /takes 6 features.*5 of the six.*"vif_scale3"/],
  ['no feature at all', PLAIN, { key: ['24', '24'], mos: [1, 2] }, /none of the features/],
  [
    'a feature of the sidecar missing',
    { 'm.onnx': linear([1, 1], 0), 'm.json': JSON.stringify(unknown) },
    columns(),
    /not all of the features.*"cambi" is missing/,
  ],
  [
    'two numbers a row',
    { 'm.onnx': twoOutputs },
    columns(),
    /"score".*shape \[4, 2\] for 4 rows.*shape \[4\]/,
  ],
  ['pictures', { 'm.onnx': meanOf(['N', 1, 8, 8]) }, columns(), /shape \[N, 1, 8, 8\], so it reads pictures/],
  ['not a number', { 'm.onnx': log }, columns({ adm2: [-1, 1, 2, 3] }), /gives NaN for row 0/],
  ['no model', {}, columns(), /no file m\.onnx/],
  ['no ONNX', { 'm.onnx': 'hello' }, columns(), /not a valid ONNX model/],
] as const)('what cannot be evaluated is refused: %s', async (_, files, table, message) => {
  await expect(run(files, table)).rejects.toThrow(message);
});

describe('a comparison', () => {
  const files = {
    'good.onnx': linear([1, 0, 0, 0, 0, 0], 0),
    'reversed.onnx': linear([-1, 0, 0, 0, 0, 0], 0),
    'constant.onnx': linear([0, 0, 0, 0, 0, 0], 1),
    'broken.onnx': 'broken',
    'wide.onnx': linear([1, 1, 1, 1, 1, 1, 1], 0),
  };

  it('ranks by PLCC and goes on after failures, which it lists in order', async () => {
    const table = await tableOf(parquet(columns()));
    const names = ['constant.onnx', 'wide.onnx', 'reversed.onnx', 'broken.onnx', 'good.onnx', 'absent.onnx'];
    const { ranked, errors } = await compare(platformOf(files), names, table);
    expect(ranked.map(({ model: name, plcc }) => [name, plcc])).toEqual([
      ['good.onnx', 0.8],
      ['reversed.onnx', -0.8],
      ['constant.onnx', null],
    ]);
    expect(errors.map(({ model: name }) => name)).toEqual(['wide.onnx', 'broken.onnx', 'absent.onnx']);
    expect(errors[1]?.error).toMatch(/not a valid ONNX model/);
  });

  it('refuses no models and a table that serves none, and stops when it is told to', async () => {
    const table = await tableOf(parquet(columns()));
    await expect(compare(platformOf(files), [], table)).rejects.toThrow(/name at least one/);
    const other = compare(platformOf(files), ['good.onnx'], table, { target: 'dmos' });
    await expect(other).rejects.toThrow(/"dmos"/);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(compare(platformOf(files), ['good.onnx'], table, { signal })).rejects.toThrow('enough');
  });
});

it('the more rows there are, the fewer resamples are drawn', () => {
  expect([4, 20_000, 40_000, 100_000, 5_000_000].map(drawsOf)).toEqual([1000, 1000, 500, 200, 200]);
});
