/**
 * @module test/node/tiny/onnx-size
 * The size of a graph is known before it runs: shapes equal the runtime's, small files that would need gigabytes are refused at
 * once, and usual exports are accepted. Limits of tiny models: small pictures, frames without content, unreliable values.
 */

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import {
  createScorer,
  describeTinyModel,
  formatReport,
  listTinyModels,
  type Report,
  type ScoreOptions,
  score,
} from '../../../src/index.js';
import { nodeTinyRuntimes } from '../../../src/platform/node/tiny/runtimes.js';
import { checkOnnx, checkSize } from '../../../src/tiny/onnx/check.js';
import { readOnnx } from '../../../src/tiny/onnx/read.js';
import { type Shaped, shapedTensor, shapesOf } from '../../../src/tiny/onnx/shapes.js';
import { contentOf } from '../../../src/tiny/scorers.js';
import { testFolder } from '../../support/folders.js';
import {
  type Attributes,
  BOMBS,
  type Bytes,
  bombBytes,
  floats,
  type GraphParts,
  graph,
  longs,
  meanOf,
  model,
  node,
  port,
  TYPE,
  tensor,
} from '../../support/onnx.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { cpuTime } from '../../support/tier.js';

type Shapes = Readonly<Record<string, readonly number[]>>;

const size = (bytes: Uint8Array, shapes: Shapes) =>
  checkSize({ source: 'a.onnx', program: { bytes } }, shapes);

/** The error about a graph, or `accepted`. */
function saying(parts: GraphParts | Uint8Array, shapes: Shapes = { x: [1, 4] }): string {
  try {
    size(parts instanceof Uint8Array ? parts : model(parts), shapes);
    return 'accepted';
  } catch (error) {
    expect(error).toBeInstanceOf(AnyvmafError);
    expect(error).toMatchObject({ code: 'model' });
    return error instanceof Error ? error.message : '';
  }
}

const ones = (name: string, dims: readonly number[]): number[] =>
  floats(name, dims, Array<number>(dims.reduce((product, length) => product * length, 1)).fill(1));

const short = (name: string, values: readonly number[]) =>
  tensor(name, 6, [values.length], Int32Array.from(values));
const small = (name: string, type: number, dims: readonly number[]) =>
  tensor(name, type, dims, new Uint8Array(dims.reduce((product, length) => product * length, 1)).fill(1));

interface Case {
  readonly x: readonly number[];
  readonly type?: number;
  readonly with?: readonly Bytes[];
  /** Names of its inputs; default `x` and those of `with`. */
  readonly takes?: readonly string[];
  /** Whole numbers, lists of them, texts, or attributes of the file. */
  readonly attributes?: Readonly<Record<string, number | string | readonly number[] | Attributes[string]>>;
  readonly outputs?: number;
  readonly opset?: number;
}

/** Typed attributes. */
function typed(attributes: NonNullable<Case['attributes']>): Attributes {
  const entries = Object.entries(attributes).map(([name, value]) => {
    if (typeof value === 'number') return [name, { int: value }];
    if (typeof value === 'string') return [name, { text: value }];
    return [name, Array.isArray(value) ? { ints: value } : value];
  });
  return Object.fromEntries(entries);
}

/** Operators of old and new versions. */
const CASES: readonly (readonly [string, Case])[] = [
  ['Reshape', { x: [2, 3, 4], with: [longs('s', [3], [0, -1, 2])] }],
  ['Flatten', { x: [2, 3, 4], attributes: { axis: -1 } }],
  ['Flatten', { x: [2, 3, 4], attributes: { axis: 3 } }],
  ['Squeeze', { x: [1, 3, 1], with: [longs('a', [1], [-1])] }],
  ['Squeeze', { x: [1, 3, 1], attributes: { axes: [0] }, opset: 11 }],
  ['Squeeze', { x: [1, 3, 1] }],
  ['Unsqueeze', { x: [3, 4], with: [longs('a', [2], [0, -1])] }],
  ['Unsqueeze', { x: [3, 4], attributes: { axes: [1, 3] }, opset: 11 }],
  ['Transpose', { x: [2, 3, 4], attributes: { perm: [2, 0, 1] } }],
  ['Transpose', { x: [2, 3, 4] }],
  ['Concat', { x: [2, 3], takes: ['x', 'x', 'w'], with: [ones('w', [2, 5])], attributes: { axis: -1 } }],
  [
    'Slice',
    {
      x: [9, 7],
      takes: ['x', 's', 'e', 'a', 'p'],
      with: slices([-1, 1], [-(2 ** 40), 2 ** 62], [0, 1], [-2, 3]),
    },
  ],
  ['Slice', { x: [9, 7], takes: ['x', 's', 'e'], with: slices([2, -3], [-2, 100], [], []) }],
  ['Slice', { x: [9, 7], attributes: { starts: [1], ends: [-1], axes: [1] }, opset: 9 }],
  ['Gather', { x: [4, 5, 6], with: [longs('i', [2, 3], [0, 1, 2, 0, 1, -1])], attributes: { axis: 1 } }],
  ['Gather', { x: [4, 5], with: [longs('i', [], [0])] }],
  ['GatherND', { x: [4, 5, 6], with: [longs('i', [3, 2], [0, 1, 2, 0, 1, 1])] }],
  ['GatherND', { x: [2, 5, 6], with: [longs('i', [2, 1], [0, 1])], attributes: { batch_dims: 1 } }],
  ['ScatterND', { x: [4, 5], with: [longs('i', [1, 1], [0]), ones('u', [1, 5])] }],
  ['Expand', { x: [3, 1], with: [longs('s', [3], [2, 1, 4])] }],
  ['Shape', { x: [3, 1, 7] }],
  ['Shape', { x: [3, 1, 7], attributes: { start: 1, end: -1 } }],
  ['Add', { x: [3, 1], with: [ones('w', [2, 1, 4])] }],
  ['Max', { x: [3, 1], takes: ['x', 'w', 'x'], with: [ones('w', [4])] }],
  ['Pow', { x: [3, 4], with: [ones('w', [])] }],
  ['Clip', { x: [3, 4], takes: ['x', '', 'w'], with: [ones('w', [])] }],
  ['PRelu', { x: [2, 3, 4], with: [ones('w', [3, 1])] }],
  ['Softmax', { x: [2, 3, 4], attributes: { axis: 1 } }],
  ['ReduceMean', { x: [2, 3, 4], attributes: { axes: [-1, 0], keepdims: 0 } }],
  ['ReduceMean', { x: [2, 3, 4], with: [longs('a', [1], [1])], opset: 18 }],
  ['ReduceSum', { x: [2, 3, 4], with: [longs('a', [2], [0, 2])] }],
  ['ReduceSum', { x: [2, 3, 4], attributes: { noop_with_empty_axes: 1 } }],
  ['ReduceMax', { x: [2, 3, 4] }],
  ['ReduceProd', { x: [2, 3, 4], attributes: { keepdims: 0 } }],
  ['GlobalAveragePool', { x: [2, 3, 4, 5] }],
  ['GlobalMaxPool', { x: [2, 3, 4, 5] }],
  ['Gemm', { x: [5, 3], with: [ones('w', [7, 5]), ones('b', [7])], attributes: { transA: 1, transB: 1 } }],
  ['MatMul', { x: [2, 1, 3, 4], with: [ones('w', [5, 4, 6])] }],
  ['MatMul', { x: [3, 4], with: [ones('w', [4])] }],
  ['MatMul', { x: [4], with: [ones('w', [2, 4, 3])] }],
  [
    'Conv',
    {
      x: [2, 4, 9, 8],
      with: [ones('w', [6, 2, 3, 3]), ones('b', [6])],
      attributes: { group: 2, strides: [2, 1], pads: [1, 0, 1, 2], dilations: [1, 2] },
    },
  ],
  [
    'Conv',
    {
      x: [1, 1, 9, 8],
      with: [ones('w', [2, 1, 3, 3])],
      attributes: { auto_pad: 'SAME_UPPER', strides: [2, 3] },
    },
  ],
  ['Conv', { x: [1, 1, 9, 8], with: [ones('w', [2, 1, 3, 3])], attributes: { auto_pad: 'VALID' } }],
  ['Conv', { x: [1, 2, 9], with: [ones('w', [3, 2, 4])] }],
  [
    'ConvTranspose',
    {
      x: [1, 4, 5, 6],
      with: [ones('w', [4, 3, 3, 2])],
      attributes: { group: 2, strides: [2, 3], pads: [1, 0, 0, 1], output_padding: [1, 0] },
    },
  ],
  [
    'ConvTranspose',
    {
      x: [1, 1, 5, 6],
      with: [ones('w', [1, 2, 3, 3])],
      attributes: { strides: [2, 2], output_shape: [10, 12] },
    },
  ],
  [
    'ConvTranspose',
    {
      x: [1, 1, 5, 6],
      with: [ones('w', [1, 2, 3, 3])],
      attributes: { strides: [2, 2], auto_pad: 'SAME_LOWER' },
    },
  ],
  ['MaxPool', { x: [1, 2, 9, 8], attributes: { kernel_shape: [2, 3], strides: [2, 2] }, outputs: 2 }],
  ['MaxPool', { x: [1, 2, 9, 8], attributes: { kernel_shape: [2, 2], strides: [2, 2], ceil_mode: 1 } }],
  ['AveragePool', { x: [1, 2, 9, 8], attributes: { kernel_shape: [3, 3], pads: [1, 1, 1, 1] } }],
  ['Pad', { x: [3, 4], with: [longs('p', [4], [0, 2, 1, -1])] }],
  [
    'Pad',
    {
      x: [3, 4],
      takes: ['x', 'p', '', 'a'],
      with: [longs('p', [2], [2, 3]), longs('a', [1], [-1])],
      opset: 18,
    },
  ],
  ['Pad', { x: [3, 4], attributes: { pads: [1, 0, 0, 2] }, opset: 10 }],
  ['Resize', { x: [1, 1, 5, 7], takes: ['x', '', 'f'], with: [floats('f', [4], [1, 1, 2.5, 0.5])] }],
  ['Resize', { x: [1, 1, 5, 7], takes: ['x', '', '', 's'], with: [longs('s', [4], [1, 1, 8, 3])] }],
  [
    'Resize',
    {
      x: [1, 1, 5, 7],
      takes: ['x', 'r', 'r', 's'],
      with: [floats('r', [0], []), longs('s', [4], [1, 1, 8, 3])],
      opset: 11,
    },
  ],
  ['Resize', { x: [1, 1, 5, 7], takes: ['x', 'f'], with: [floats('f', [4], [1, 1, 2, 3])], opset: 10 }],
  [
    'Resize',
    {
      x: [1, 1, 5, 7],
      takes: ['x', '', '', 's'],
      with: [longs('s', [2], [10, 10])],
      attributes: { axes: [2, 3], keep_aspect_ratio_policy: 'not_larger' },
      opset: 18,
    },
  ],
  ['BatchNormalization', { x: [2, 3, 4], with: ['s', 'b', 'm', 'v'].map((name) => ones(name, [3])) }],
  ['LayerNormalization', { x: [2, 3, 4], with: [ones('s', [4])] }],
  ['InstanceNormalization', { x: [2, 3, 4], with: [ones('s', [3]), ones('b', [3])] }],
  ['Dropout', { x: [2, 3], outputs: 2 }],
  ['Cast', { x: [2, 3], attributes: { to: TYPE.int64 } }],
  ['QuantizeLinear', { x: [2, 3], with: [floats('s', [], [1]), small('z', TYPE.int8, [])] }],
  [
    'DequantizeLinear',
    { x: [2, 3], takes: ['q', 's'], with: [small('q', TYPE.uint8, [3, 2]), floats('s', [], [1])] },
  ],
  ['DynamicQuantizeLinear', { x: [2, 3], outputs: 3 }],
  [
    'MatMulInteger',
    { x: [1], takes: ['a', 'b'], with: [small('a', TYPE.uint8, [2, 3]), small('b', TYPE.uint8, [3, 4])] },
  ],
  [
    'ConvInteger',
    {
      x: [1],
      takes: ['a', 'b'],
      with: [small('a', TYPE.uint8, [1, 2, 6, 6]), small('b', TYPE.uint8, [3, 2, 3, 3])],
    },
  ],
  [
    'ConstantOfShape',
    {
      x: [1],
      takes: ['s'],
      with: [longs('s', [2], [3, 5])],
      attributes: { value: { tensor: longs('', [1], [7]) } },
    },
  ],
  ['Erf', { x: [0, 3] }],
];

function slices(starts: number[], ends: number[], axes: number[], steps: number[]): Bytes[] {
  return Object.entries({ s: starts, e: ends, a: axes, p: steps })
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => longs(name, [list.length], list));
}

it.each(CASES)('the predicted shape of %s equals that of the runtime (%j)', async (operator, one) => {
  const { x, with: constants = [], attributes = {}, outputs = 1, opset = 17 } = one;
  const given = readOnnx(model({ initializers: constants })).graph.initializers;
  const takes = one.takes ?? ['x', ...given.map(({ name }) => name)];
  const names = Array.from({ length: outputs }, (_, i) => `y${i}`);
  const bytes = model(
    {
      // The input must be used.
      nodes: [node(operator, takes, names, typed(attributes)), node('Neg', ['x'], ['unused'])],
      initializers: constants,
      inputs: [port('x', x)],
      outputs: names.map((name, i) => port(name, null, outputTypes(operator)[i] ?? TYPE.float)),
    },
    opset,
  );
  const [first] = readOnnx(bytes).graph.nodes;
  const known = new Map<string, Shaped>([
    ['x', { type: TYPE.float, dims: x }],
    ...given.map((found) => [found.name, shapedTensor(found)] as const),
  ]);
  if (!first) throw new Error('no node');
  const foreseen = shapesOf(
    first,
    takes.map((name) => known.get(name)),
  ).outputs.map(({ dims }) => dims);
  const session = await nodeTinyRuntimes().open(
    { source: 'a', program: { bytes, external: [] }, graph: checkOnnx(bytes, 'a') },
    { device: 'cpu', threads: 1, fp16: false },
  );
  const data = new Float32Array(x.reduce((product, length) => product * length, 1));
  const made = await session.run({ x: { data, dims: x } });
  await session.close();
  expect(foreseen).toEqual(names.map((name) => [...(made[name]?.dims ?? [])]));
});

/** Output types of an operator that are not float32. */
function outputTypes(operator: string): readonly number[] {
  const table: Readonly<Record<string, readonly number[]>> = {
    Shape: [TYPE.int64],
    ConstantOfShape: [TYPE.int64],
    Cast: [TYPE.int64],
    MaxPool: [TYPE.float, TYPE.int64],
    Dropout: [TYPE.float, TYPE.bool],
    QuantizeLinear: [TYPE.int8],
    DynamicQuantizeLinear: [TYPE.uint8, TYPE.float, TYPE.uint8],
    MatMulInteger: [6],
    ConvInteger: [6],
  };
  return table[operator] ?? [];
}

it.each(BOMBS)(
  'a small file that would need gigabytes is refused at once, and equals the generator: $name',
  (bomb) => {
    const { name, shapes, says } = bomb;
    const file = readFileSync(new URL(`../../fixtures/hostile/${name}.onnx`, import.meta.url));
    expect(file.length).toBeLessThan(4096);
    const bytes = new Uint8Array(file);
    expect(cpuTime(() => expect(saying(bytes, shapes)).toMatch(says))).toBeLessThan(2000);
    expect([...bytes]).toEqual([...bombBytes(bomb)]);
  },
);

it('thousands of branches in a graph with many names are measured at once', () => {
  const branch = { graph: graph({ outputs: [port('x', [1, 4])] }) };
  const branches = { then_branch: branch, else_branch: branch };
  const bytes = model({
    nodes: Array.from({ length: 4000 }, (_, i) => node('If', ['go'], [`y${i}`], branches)),
    initializers: [
      longs('go', [], [1]),
      ...Array.from({ length: 10_000 }, (_, i) => floats(`w${i}`, [1], [1])),
    ],
    inputs: [port('x', [1, 4])],
    outputs: [port('y0', [1, 4])],
  });
  // Copies of the names took 15 s.
  expect(cpuTime(() => expect(saying(bytes)).toBe('accepted'))).toBeLessThan(7000);
});

describe('an exported graph', () => {
  it('is measured by the tensors alive at once', () => {
    const parts = {
      nodes: [
        node('Gemm', ['x', 'w', 'b'], ['h']),
        node('Relu', ['h'], ['r']),
        node('MatMul', ['r', 'v'], ['y']),
      ],
      initializers: [ones('w', [4, 8]), ones('b', [8]), ones('v', [8, 1])],
      inputs: [port('x', ['N', 4])],
      outputs: [port('y', ['N', 1])],
    };
    const weights = 4 * (32 + 8 + 8);
    // Input and hidden layer; Relu works in place.
    expect(size(model(parts), { x: [100, 4] })).toEqual({
      bytes: weights + 4 * (100 * 4 + 100 * 8 + 100),
      work: 100 * (4 * 8 + 8 + 8),
    });
  });

  it('of a network that flattens by computed shapes is accepted', () => {
    // As PyTorch writes x.view(x.size(0), -1) and interpolate(x, size=y.shape[2:]).
    const parts = {
      nodes: [
        node('Conv', ['x', 'w'], ['c'], { pads: { ints: [1, 1, 1, 1] } }),
        node('MaxPool', ['c'], ['p'], { kernel_shape: { ints: [2, 2] }, strides: { ints: [2, 2] } }),
        node('Shape', ['c'], ['cs']),
        node('Slice', ['cs', 'two', 'four', 'zero'], ['hw']),
        node('Shape', ['p'], ['ps']),
        node('Slice', ['ps', 'zero', 'two', 'zero'], ['nc']),
        node('Concat', ['nc', 'hw'], ['sizes'], { axis: { int: 0 } }),
        node('Resize', ['p', '', '', 'sizes'], ['u']),
        node('Concat', ['u', 'c'], ['both'], { axis: { int: 1 } }),
        node('GlobalAveragePool', ['both'], ['g']),
        node('Shape', ['g'], ['gs']),
        node('Constant', [], ['first'], { value: { tensor: longs('', [], [0]) } }),
        node('Gather', ['gs', 'first'], ['n']),
        node('Unsqueeze', ['n', 'zero'], ['n1']),
        node('Concat', ['n1', 'rest'], ['flat'], { axis: { int: 0 } }),
        node('Reshape', ['g', 'flat'], ['f']),
        node('Gemm', ['f', 'v'], ['y']),
      ],
      initializers: [
        ones('w', [3, 1, 3, 3]),
        ones('v', [6, 1]),
        longs('zero', [1], [0]),
        longs('two', [1], [2]),
        longs('four', [1], [4]),
        longs('rest', [1], [-1]),
      ],
      inputs: [port('x', ['N', 1, 'H', 'W'])],
      outputs: [port('y', ['N', 1])],
    };
    expect(saying(parts, { x: [1, 1, 1080, 1920] })).toBe('accepted');
    expect(saying(parts, { x: [1, 1, 33, 65] })).toBe('accepted');
    expect(saying(parts, { x: [1, 1, 20_000, 20_000] })).toMatch(
      /refused for an input of 1x1x20000x20000: the output of its operator Conv "c" has 1200000000 elements/,
    );
  });

  it('of a network whose sizes are scaled as floating-point numbers is accepted', () => {
    // As tf2onnx writes a resize to twice the size, between layouts.
    const parts = {
      nodes: [
        node('Transpose', ['x'], ['t'], { perm: { ints: [0, 2, 3, 1] } }),
        node('Transpose', ['t'], ['b'], { perm: { ints: [0, 3, 1, 2] } }),
        node('Shape', ['b'], ['s']),
        node('Cast', ['s'], ['sf'], { to: { int: TYPE.float } }),
        node('Slice', ['sf', 'from', 'to'], ['hw']),
        node('Mul', ['hw', 'twice'], ['hw2']),
        node('Div', ['hw2', 'hw'], ['factors']),
        node('Concat', ['keep', 'factors'], ['scales'], { axis: { int: 0 } }),
        node('Resize', ['b', '', 'scales'], ['u']),
        node('ReduceMean', ['u'], ['y'], { axes: { ints: [1, 2, 3] }, keepdims: { int: 0 } }),
      ],
      initializers: [
        short('from', [2]),
        short('to', [4]),
        floats('twice', [2], [2, 2]),
        floats('keep', [2], [1, 1]),
      ],
      inputs: [port('x', ['N', 1, 'H', 'W'])],
      outputs: [port('y', ['N'])],
    };
    expect(saying(parts, { x: [1, 1, 300, 400] })).toBe('accepted');
  });

  it('is refused if a shape depends on the data, with the name of the operator', () => {
    const parts = {
      nodes: [node('Cast', ['x'], ['i'], { to: { int: TYPE.int64 } }), node('Expand', ['one', 'i'], ['y'])],
      initializers: [ones('one', [1])],
      inputs: [port('x', [4])],
      outputs: [port('y', null)],
    };
    expect(saying(parts, { x: [4] })).toMatch(
      /the output size of its operator Expand "y" is not known before it runs: its input "i" is not constant/,
    );
  });

  it('is refused for wrong names and shapes', () => {
    const inputs = [port('x', [1, 4])];
    const outputs = [port('y', null)];
    const again = [node('Neg', ['x'], ['a']), node('Neg', ['x'], ['a']), node('Neg', ['a'], ['y'])];
    expect(saying({ nodes: again, inputs, outputs })).toContain('two of its tensors have the name "a"');
    const early = [node('Neg', ['a'], ['y']), node('Neg', ['x'], ['a'])];
    const found = saying({ nodes: early, inputs, outputs });
    expect(found).toContain('reads "a", which no operator before it computes');
    const unfit = [node('MatMul', ['x', 'x'], ['y'])];
    expect(saying({ nodes: unfit, inputs, outputs })).toContain('it cannot multiply [1, 4] by [1, 4]');
  });
});

describe('subgraphs', () => {
  it('count for each run', () => {
    const body = graph({
      nodes: [node('Identity', ['go'], ['going']), node('MatMul', ['v', 'w'], ['next'])],
      inputs: [port('i', [], TYPE.int64), port('go', [], TYPE.bool), port('v', [1, 4])],
      outputs: [port('going', [], TYPE.bool), port('next', [1, 4])],
    });
    const parts = (trips: number) => ({
      nodes: [node('Loop', ['m', '', 'x'], ['y'], { body: { graph: body } })],
      initializers: [longs('m', [], [trips]), ones('w', [4, 4])],
      inputs: [port('x', [1, 4])],
      outputs: [port('y', [1, 4])],
    });
    const work = (trips: number) => size(model(parts(trips)), { x: [1, 4] }).work;
    expect(work(500)).toBe(500 * (16 + 1));
  });

  it('of an If must agree', () => {
    const branch = (operator: string, dims: number[]) =>
      graph({
        nodes: [
          node('Constant', [], ['s'], { value: { tensor: longs('', [2], dims) } }),
          node(operator, ['x', 's'], ['r']),
        ],
        outputs: [port('r', null)],
      });
    const parts = (dims: number[]) => ({
      nodes: [
        node('Cast', ['x0'], ['c'], { to: { int: TYPE.bool } }),
        node('If', ['c'], ['y'], {
          then_branch: { graph: branch('Reshape', [2, 2]) },
          else_branch: { graph: branch('Reshape', dims) },
        }),
      ],
      inputs: [port('x', [1, 4]), port('x0', [])],
      outputs: [port('y', null)],
    });
    const shapes = { x: [1, 4], x0: [] };
    expect(saying(parts([2, 2]), shapes)).toBe('accepted');
    expect(saying(parts([4, 1]), shapes)).toContain('its branches output [2, 2] and [4, 1]');
  });
});

const SHIPPED = 'nr_vmaf_v0.6.1';
const [WIDTH, HEIGHT] = [96, 64];
const PIXELS = WIDTH * HEIGHT;
const RAW = { width: WIDTH, height: HEIGHT, bitDepth: 8, chroma: '400' } as const;
const random = seeded(11);

const black = new Uint8Array(PIXELS).fill(16);
const nearlyFlat = Uint8Array.from({ length: PIXELS }, () => random.int(126, 129));
const noise = Uint8Array.from({ length: PIXELS }, () => random.int(0, 255));
const scene = Uint8Array.from({ length: PIXELS }, (_, i) => {
  const [x, y] = [i % WIDTH, Math.floor(i / WIDTH)];
  return Math.round(120 + 60 * Math.sin(x / 9) * Math.cos(y / 7) + random.int(-6, 6));
});
const FRAMES = [scene, black, noise, scene, nearlyFlat, scene, black];

describe('the content of a picture', () => {
  it.each([
    ['black', black, 'flat'],
    ['one tone with a little grain', nearlyFlat, 'flat'],
    ['white noise', noise, 'noise'],
    ['a scene with grain', scene, 'scene'],
  ] as const)('%s, at 8 and at 10 bit', (_, luma, expected) => {
    expect(contentOf(luma, WIDTH, HEIGHT, 8)).toBe(expected);
    const ten = Uint16Array.from(luma, (value) => 4 * value);
    expect(contentOf(ten, WIDTH, HEIGHT, 10)).toBe(expected);
  });

  it.each([12, 16])(
    'is noise for noise and a scene for a slope, with the largest samples of %i bit',
    (bits) => {
      const peak = 2 ** bits - 1;
      const loud = Uint16Array.from({ length: PIXELS }, () => peak * random.int(0, 1));
      expect(contentOf(loud, WIDTH, HEIGHT, bits)).toBe('noise');
      const slope = Uint16Array.from({ length: PIXELS }, (_, i) =>
        Math.round((peak * (i % WIDTH)) / (WIDTH - 1)),
      );
      expect(contentOf(slope, WIDTH, HEIGHT, bits)).toBe('scene');
      expect(contentOf(new Uint16Array(PIXELS).fill(peak), WIDTH, HEIGHT, bits)).toBe('flat');
    },
  );

  it('is a scene for stripes, whose neighbours along them are equal', () => {
    const stripes = Uint8Array.from({ length: PIXELS }, (_, i) => (i % 2 ? 200 : 40));
    expect(contentOf(stripes, WIDTH, HEIGHT, 8)).toBe('scene');
  });
});

function alone(options: ScoreOptions = {}, model = SHIPPED): Promise<Report> {
  return score(
    { distorted: Buffer.concat(FRAMES), raw: RAW },
    { noReference: true, tiny: [{ model }], ...options },
  );
}

const EXPERIMENTAL =
  /^The tiny model "nr_vmaf_v0.6.1" is experimental: good for the order of versions of one scene/;
const NO_SCENE = '4 of 7 frames are flat or noise (3 flat, 1 noise), which the tiny model';

describe('the no-reference model that ships', () => {
  it.each([0, 2])('counts frames without content, with a warning, with %i threads', async (threads) => {
    const report = await alone({ threads, chunkFrames: 2 });
    const [experimental, nothing] = report.tiny?.[0]?.notices ?? [];
    const told = { code: 'experimental', message: expect.stringMatching(EXPERIMENTAL) };
    expect(experimental).toMatchObject(told);
    const empty = { code: 'no-scene', frames: 4, message: expect.stringContaining(NO_SCENE) };
    expect(nothing).toMatchObject(empty);
    expect(report.warnings).toEqual([experimental?.message, nothing?.message]);
  });

  it('counts only frames that it scored, with subsampling', async () => {
    const report = await alone({ threads: 0, subsample: 3 });
    const found = report.tiny?.[0]?.notices?.[1]?.message;
    expect(found).toContain('1 of 3 frames are flat or noise (1 flat, 0 noise)');
  });

  it('counts pushed frames too', async () => {
    await using scorer = await createScorer(RAW, { models: [], threads: 0, tiny: [{ model: SHIPPED }] });
    for (const luma of FRAMES) await scorer.push({ y: luma }, { y: luma });
    const report = await scorer.finish();
    expect(report.tiny?.[0]?.notices?.[1]?.message).toContain(NO_SCENE);
  });

  it('has no such notice if all frames have content', async () => {
    const report = await score(
      { distorted: Buffer.concat([scene, scene]), raw: RAW },
      { noReference: true, threads: 0, tiny: [{ model: SHIPPED }] },
    );
    expect(report.tiny?.[0]?.notices?.map(({ code }) => code)).toEqual(['experimental']);
  });

  it.each([
    [96, 63],
    [63, 96],
    [32, 32],
  ])('refuses pictures of %ix%i', async (width, height) => {
    const distorted = new Uint8Array(width * height).map((_, i) => i % 251);
    const running = score(
      { distorted, raw: { ...RAW, width, height } },
      { noReference: true, threads: 0, tiny: [{ model: SHIPPED }] },
    );
    expect(await refusalOf('usage', () => running)).toBe(
      `The tiny model "nr_vmaf_v0.6.1" needs pictures of at least 64x64, but these are ${width}x${height}; ` +
        'leave it out, or score the video before it was downscaled.',
    );
  });

  it('writes its notices into JSON and XML', async () => {
    const report = await alone({ threads: 0 });
    const [json, xml] = [formatReport(report, 'json'), formatReport(report, 'xml')];
    expect(JSON.parse(json).tiny[0].notices).toEqual(report.tiny?.[0]?.notices);
    expect(xml).toContain('notices="experimental no-scene"');
  });

  it('is the only shipped model that is experimental', async () => {
    const experimental = (await listTinyModels()).filter((model) => model.experimental !== undefined);
    expect(experimental.map(({ id }) => id)).toEqual([SHIPPED]);
    expect((await describeTinyModel(SHIPPED)).registry?.experimental).toBe(experimental[0]?.experimental);
  });
});

describe('other models', () => {
  const folder = testFolder('limits');
  const at = (name: string) => join(folder, name);

  beforeAll(() => {
    const graph = meanOf(['B', 1, 'H', 'W'], { factor: 255 });
    for (const name of ['plain', 'listed', 'larger', 'wrong']) writeFileSync(at(`${name}.onnx`), graph);
    writeFileSync(at('larger.json'), JSON.stringify({ min_size: [97, 8] }));
    writeFileSync(at('wrong.json'), JSON.stringify({ min_size: [64, 0.5] }));
    const sha256 = createHash('sha256').update(graph).digest('hex');
    const row = { id: 'listed', kind: 'nr', onnx: 'listed.onnx', sha256, experimental: 'made yesterday' };
    writeFileSync(at('registry.json'), JSON.stringify({ schema_version: 1, models: [row] }));
  });

  it('are experimental only if their registry says so', async () => {
    const report = await alone({ threads: 0 }, at('plain.onnx'));
    expect(report.tiny?.[0]?.notices).toBeUndefined();
    expect(report.warnings).toEqual([]);
    const listed = await alone({ threads: 0 }, at('listed.onnx'));
    expect(listed.warnings).toContain('The tiny model "listed" is experimental: made yesterday.');
  });

  it('take pictures of any size unless their sidecar limits it', async () => {
    const run = alone({ threads: 0 }, at('larger.onnx'));
    await expect(run).rejects.toThrow('at least 97x8, but these are 96x64');
    await expect(alone({ threads: 0 }, at('wrong.onnx'))).rejects.toThrow('two whole numbers above 0');
  });
});
