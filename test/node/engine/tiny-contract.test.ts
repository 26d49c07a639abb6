/**
 * @module test/node/engine/tiny-contract
 * Models as other trainers export them for the reference's contract: types, shapes, versions, names and orders of tensors,
 * subgraphs, and 8-bit siblings next to the original models.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Report, score, type TinyModelOptions } from '../../../src/index.js';
import { manifestOf } from '../../../src/tiny/load.js';
import { toHalves } from '../../../src/tiny/ort.js';
import { testFolder } from '../../support/folders.js';
import { floats, graph, longs, model, node, port, TYPE, tensor } from '../../support/onnx.js';
import { seeded } from '../../support/random.js';
import { sha256 } from '../../support/tiny.js';

const FORMAT = { width: 48, height: 32, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 3;
const random = seeded(11);
const reference = random.bytes((FRAMES * FORMAT.width * FORMAT.height * 3) / 2);
const distorted = reference.map((value, i) => (i % 5 === 0 ? value >> 1 : value));

const FEATURES = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];
/** Powers of two, which half floats represent exactly. */
const WEIGHTS = [32, 16, 8, 4, 2, 0.25];
const OFFSET = 7;

const folder = testFolder();

/** Writes a model and a sidecar. @returns its path */
function save(name: string, onnx: Uint8Array, sidecar?: object): string {
  const path = join(folder, `${name}.onnx`);
  writeFileSync(path, onnx);
  if (sidecar) writeFileSync(join(folder, `${name}.json`), JSON.stringify(sidecar));
  return path;
}

const run = (...tiny: TinyModelOptions[]): Promise<Report> =>
  score({ reference, distorted, raw: FORMAT }, { models: [], threads: 0, preflight: false, tiny });

/** The linear model's value of a frame. */
function expected(metrics: Readonly<Record<string, number>>): number {
  return FEATURES.reduce(
    (sum, name, i) => sum + (WEIGHTS[i] ?? 0) * (metrics[`integer_${name}`] ?? Number.NaN),
    OFFSET,
  );
}

/** The linear model, from `x` of any number of rows to `y`, followed by further nodes. */
function linearParts(more: readonly (readonly number[])[] = [], output = port('y', ['N', 1])) {
  return {
    nodes: [node('Gemm', ['x', 'w', 'b'], ['y']), ...more],
    initializers: [floats('w', [6, 1], WEIGHTS), floats('b', [1], [OFFSET])],
    inputs: [port('x', ['N', 6])],
    outputs: [output],
  };
}

async function expectLinear(onnx: Uint8Array, digits = 4, plus = 0): Promise<void> {
  const { frames } = await run({ model: save('linear', onnx) });
  expect(frames).toHaveLength(FRAMES);
  for (const { metrics } of frames)
    expect(metrics.vmaf_tiny_model).toBeCloseTo(expected(metrics) + plus, digits);
}

describe('a model of features', () => {
  it.each([
    [13, 7],
    [15, 8],
    [17, 8],
    [18, 8],
    [19, 9],
    [21, 10],
  ])('runs in operators of version %i, file version %i', async (opset, ir) => {
    await expectLinear(model(linearParts(), opset, ir));
  });

  it.each<[shape: string, axes: number[] | null, dims: (number | string)[] | null]>([
    ['[]', [0, 1], []],
    ['[1]', [1], [1]],
    ['[N]', [1], ['N']],
    ['[N, 1]', null, ['N', 1]],
    ['[1, 1]', null, [1, 1]],
    ['not stated', null, null],
  ])('gives one number a frame in the shape %s', async (_shape, axes, dims) => {
    // Only a graph of one row can end without a dimension.
    const rows = dims?.includes('N') || dims === null ? 'N' : 1;
    const output = axes ? 'z' : 'y';
    const squeeze = axes
      ? [
          node('Constant', [], ['axes'], { value: { tensor: longs('', [axes.length], axes) } }),
          node('Squeeze', ['y', 'axes'], ['z']),
        ]
      : [];
    const parts = linearParts(squeeze, port(output, dims));
    await expectLinear(model({ ...parts, inputs: [port('x', [rows, 6])] }));
  });

  it('has weights and tensors of half, single or double precision', async () => {
    const half = (values: readonly number[]) => toHalves(Float32Array.from(values));
    const end = (name: string, count: number, type: number) => [port(name, ['N', count], type)];
    const ends = (type: number) => ({ inputs: end('x', 6, type), outputs: end('y', 1, type) });
    const halves = [
      tensor('w', TYPE.float16, [6, 1], half(WEIGHTS)),
      tensor('b', TYPE.float16, [1], half([OFFSET])),
    ];
    // Features and their sum, which is below 128, have eleven bits.
    await expectLinear(model({ ...linearParts(), initializers: halves, ...ends(TYPE.float16) }), 0);
    const doubles = [
      tensor('w', TYPE.double, [6, 1], Float64Array.from(WEIGHTS)),
      tensor('b', TYPE.double, [1], Float64Array.of(OFFSET)),
    ];
    await expectLinear(model({ ...linearParts(), initializers: doubles, ...ends(TYPE.double) }));
    const { nodes, initializers, ...rest } = linearParts();
    const stored = [tensor('w16', TYPE.float16, [6, 1], half(WEIGHTS)), ...initializers.slice(1)];
    const cast = node('Cast', ['w16'], ['w'], { to: { int: TYPE.float } });
    await expectLinear(model({ ...rest, nodes: [cast, ...nodes], initializers: stored }));
  });

  it('may list its weights among its inputs, as early exporters did', async () => {
    const parts = linearParts();
    const listed = [...parts.inputs, port('w', [6, 1]), port('b', [1])];
    await expectLinear(model({ ...parts, inputs: listed }, 13, 3));
  });

  it('may have a Loop and an If within the limits', async () => {
    const scalar = (name: string) => port(name, [], TYPE.bool);
    const body = graph({
      nodes: [node('Identity', ['go'], ['going']), node('Add', ['sum', 'one'], ['next'])],
      inputs: [port('i', [], TYPE.int64), scalar('go'), port('sum', ['N', 1])],
      outputs: [scalar('going'), port('next', ['N', 1])],
    });
    const parts = linearParts(
      [node('Loop', ['rounds', 'yes', 'y'], ['z'], { body: { graph: body } })],
      port('z', ['N', 1]),
    );
    const constants = [
      tensor('rounds', TYPE.int64, [], BigInt64Array.of(5n)),
      tensor('yes', TYPE.bool, [], Uint8Array.of(1)),
      floats('one', [1, 1], [1]),
    ];
    await expectLinear(model({ ...parts, initializers: [...parts.initializers, ...constants] }), 4, 5);
    const branch = (operator: string) =>
      graph({ nodes: [node(operator, ['y'], ['r'])], outputs: [port('r', ['N', 1])] });
    const chosen = linearParts(
      [
        node('If', ['yes'], ['z'], {
          then_branch: { graph: branch('Identity') },
          else_branch: { graph: branch('Neg') },
        }),
      ],
      port('z', ['N', 1]),
    );
    await expectLinear(model({ ...chosen, initializers: [...chosen.initializers, ...constants.slice(1)] }));
  });

  it('finds its features by name behind a codec block', async () => {
    const onnx = model({
      nodes: [
        node('Gemm', ['features', 'w', 'b'], ['y']),
        node('MatMul', ['codec', 'v'], ['c']),
        node('Add', ['y', 'c'], ['score']),
      ],
      // 100 for the first encoder, 200 for the second, 10 for the preset, 1 for the rate factor.
      initializers: [...linearParts().initializers, floats('v', [4, 1], [100, 200, 10, 1])],
      inputs: [port('codec', ['N', 4]), port('features', ['N', 6])],
      outputs: [port('score', ['N', 1])],
    });
    const sidecar = { name: 'codec', encoder_vocab: ['libx264', 'libx265'], feature_order: FEATURES };
    const path = save('codec', onnx, sidecar);
    const { frames } = await run({ model: path, codec: 'hevc', preset: 'veryslow', crf: 21 });
    for (const { metrics } of frames)
      expect(metrics.codec).toBeCloseTo(expected(metrics) + 200 + (10 * 8) / 9 + 21 / 63, 3);
  });
});

describe('a model of two pictures', () => {
  /** The mean of a minus that of b. */
  const difference = (a: string, b: string) =>
    model({
      nodes: [
        node('Sub', [a, b], ['d']),
        node('ReduceMean', ['d'], ['score'], { axes: { ints: [0, 1, 2, 3] }, keepdims: { int: 0 } }),
      ],
      inputs: [b, a].map((name) => port(name, [1, 1, 'H', 'W'])),
      outputs: [port('score', [])],
    });
  const luma = (video: Uint8Array) => {
    const size = FORMAT.width * FORMAT.height;
    return video.subarray(0, size).reduce((sum, value) => sum + value, 0) / size / 255;
  };

  it('tells them apart by name, whatever their order in the graph', async () => {
    const wanted = luma(reference) - luma(distorted);
    const names = [
      ['ref', 'dist'],
      ['reference', 'distorted'],
      ['ref', 'x'],
      ['x', 'dis'],
    ] as const;
    for (const [a, b] of names) {
      const { frames } = await run({ model: save('pair', difference(a, b)) });
      expect(frames[0]?.metrics.vmaf_tiny_model).toBeCloseTo(wanted, 5);
    }
  });

  it('prefers the names of its sidecar', async () => {
    const path = save('said', difference('ref', 'dist'), { name: 'said', reference_input: 'dist' });
    const { frames } = await run({ model: path });
    expect(frames[0]?.metrics.said).toBeCloseTo(luma(distorted) - luma(reference), 5);
  });
});

describe('an 8-bit sibling', () => {
  const weights = Float32Array.from([40, 12, 9, 6, 3, 0.5]);
  const step = 40 / 127;
  const small = Int8Array.from(weights, (value) => Math.round(value / step));
  const ends = { inputs: [port('features', ['N', 6])], outputs: [port('score', ['N', 1])] };
  const full = model({
    nodes: [node('MatMul', ['features', 'w'], ['score'])],
    initializers: [floats('w', [6, 1], [...weights])],
    ...ends,
  });
  /** Weights of 8 bit; activations quantised dynamically. */
  const dynamic = model({
    nodes: [
      node('DynamicQuantizeLinear', ['features'], ['q', 'q_scale', 'q_zero']),
      node('MatMulInteger', ['q', 'w', 'q_zero', 'w_zero'], ['product']),
      node('Cast', ['product'], ['product_f'], { to: { int: TYPE.float } }),
      node('Mul', ['q_scale', 'w_scale'], ['scale']),
      node('Mul', ['product_f', 'scale'], ['score']),
    ],
    initializers: [
      tensor('w', TYPE.int8, [6, 1], small),
      tensor('w_zero', TYPE.int8, [], Int8Array.of(0)),
      floats('w_scale', [], [step]),
    ],
    ...ends,
  });
  /** Weights and activations of 8 bit, with pairs of quantising and dequantising operators. */
  const qdq = model({
    nodes: [
      node('QuantizeLinear', ['features', 'x_scale', 'x_zero'], ['q']),
      node('DequantizeLinear', ['q', 'x_scale', 'x_zero'], ['x']),
      node('DequantizeLinear', ['w', 'w_scale', 'w_zero'], ['weights']),
      node('MatMul', ['x', 'weights'], ['score']),
    ],
    initializers: [
      // Steps of 1/64, from 0 to 4.
      floats('x_scale', [], [1 / 64]),
      tensor('x_zero', TYPE.uint8, [], Uint8Array.of(0)),
      tensor('w', TYPE.int8, [6, 1], small),
      floats('w_scale', [], [step]),
      tensor('w_zero', TYPE.int8, [], Int8Array.of(0)),
    ],
    ...ends,
  });
  const SIBLINGS = [
    ['dynamic', dynamic],
    ['static', qdq],
  ] as const;

  /** A folder with a registry, the model and its sibling. */
  async function registered(mode: string, sibling: Uint8Array) {
    const place = join(folder, mode);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'm.onnx'), full);
    writeFileSync(join(place, 'm.int8.onnx'), sibling);
    const sidecar = JSON.stringify({ name: 'm', feature_order: FEATURES });
    const part = { name: 'm.json', bytes: Buffer.from(sidecar) };
    writeFileSync(join(place, 'm.json'), part.bytes);
    const manifest = async (file: string, bytes: Uint8Array) =>
      (await manifestOf({ bytes, external: [] }, file, part)).sha256;
    const row = {
      id: 'm',
      kind: 'fr',
      onnx: 'm.onnx',
      sha256: sha256(full),
      manifest_sha256: await manifest('m.onnx', full),
      int8_manifest_sha256: await manifest('m.int8.onnx', sibling),
      quant_mode: mode,
      int8_sha256: sha256(sibling),
    };
    writeFileSync(join(place, 'registry.json'), JSON.stringify({ schema_version: 1, models: [row] }));
    return join(place, 'm.onnx');
  }

  it('scores in place of the model, within the loss of its quantisation steps', async () => {
    // Features of these videos are in 0..4, except motion, which has the least weight.
    for (const [mode, sibling] of SIBLINGS) {
      const path = await registered(mode, sibling);
      const { frames, tiny } = await run({ model: path });
      expect(tiny?.[0]).toMatchObject({
        ...{ precision_requested: 'auto', file: 'm.int8.onnx', quantisation: mode, registered: true },
        parts: expect.arrayContaining([expect.objectContaining({ name: 'm.json', role: 'sidecar' })]),
      });
      const plain = await run({ model: save(`plain_${mode}`, full, { name: 'plain' }) });
      frames.forEach(({ metrics }, i) => {
        const loss = Math.abs((metrics.m ?? Number.NaN) - (plain.frames[i]?.metrics.plain ?? Number.NaN));
        const x = FEATURES.map((name) => metrics[`integer_${name}`] ?? Number.NaN);
        // A dynamic step is 1/255 of the range of the rows; a static step is 1/64, clipped at 255 steps.
        const activation = mode === 'dynamic' ? Math.max(...x) / 255 : 1 / 64;
        const clipped = mode === 'dynamic' ? 0 : 0.5 * Math.max(0, (x[5] ?? 0) - 255 / 64);
        const bound =
          weights.reduce((sum, w) => sum + (w * activation) / 2, 0) +
          x.reduce((sum, value) => sum + (value * step) / 2, 0) +
          clipped;
        expect(loss).toBeGreaterThan(0);
        expect(loss).toBeLessThan(bound + 1e-3);
      });
    }
  });
});
