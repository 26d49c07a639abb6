/**
 * @module test/support/onnx-bombs
 * Models of a kilobyte or two that would take gigabytes or hours: files of test/fixtures/hostile, made here.
 */
import { type Bytes, floats, type GraphParts, graph, longs, model, node, port, TYPE } from './onnx.js';

/** A model, what it is fed, and what is said of it. */
export interface Bomb {
  /** Of its file, without the ending. */
  readonly name: string;
  readonly parts: GraphParts;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly says: RegExp;
}

const inputs = [port('x', [1, 4])];
const outputs = [port('y', null)];
const FEATURES = { x: [1, 4] };
const PICTURE = { x: [1, 1, 64, 64] };
const picture = { inputs: [port('x', [1, 1, 'H', 'W'])], outputs };

/** A chain of operators from `from` to `y`. */
function chain(count: number, from: string, each: (before: string, after: string) => Bytes): Bytes[] {
  return Array.from({ length: count }, (_, i) =>
    each(i === 0 ? from : `t${i}`, i === count - 1 ? 'y' : `t${i + 1}`),
  );
}

const doubled = (before: string, after: string) =>
  node('Concat', [before, before], [after], { axis: { int: 0 } });

/** Makes `side` of constants by a multiplication, which no reader of constants alone sees through. */
const side = (length: number) => [longs('a', [1], [length / 1000]), longs('b', [1], [1000])];
const grown = node('Mul', ['a', 'b'], ['side']);
const square = node('Concat', ['side', 'side'], ['shape'], { axis: { int: 0 } });

export const BOMBS: readonly Bomb[] = [
  {
    name: 'onnx-doubled-constant',
    parts: {
      nodes: chain(28, 'w', doubled),
      initializers: [floats('w', [4], [1, 2, 3, 4])],
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /its constants grow to \d+ MiB, more than 256 MiB/,
  },
  {
    name: 'onnx-doubled-input',
    parts: { nodes: chain(28, 'x', doubled), inputs, outputs },
    shapes: FEATURES,
    says: /the output of its operator Concat "t26" has 268435456 elements \(67108864x4\), but at most 134217728/,
  },
  {
    name: 'onnx-resize',
    parts: {
      ...picture,
      nodes: [node('Resize', ['x', '', 'f'], ['y'])],
      initializers: [floats('f', [4], [1, 1, 300, 300])],
    },
    shapes: PICTURE,
    says: /the output of its operator Resize "y" has 368640000 elements/,
  },
  {
    name: 'onnx-pad',
    parts: {
      ...picture,
      nodes: [node('Pad', ['x', 'p'], ['y'])],
      initializers: [longs('p', [8], [0, 0, 0, 0, 0, 0, 20_000, 20_000])],
    },
    shapes: PICTURE,
    says: /the output of its operator Pad "y" has 402564096 elements/,
  },
  {
    name: 'onnx-computed-shape',
    parts: {
      nodes: [grown, square, node('ConstantOfShape', ['shape'], ['y'])],
      initializers: side(20_000),
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /the output of its operator ConstantOfShape "y" has 400000000 elements/,
  },
  {
    name: 'onnx-wrapped-shape',
    parts: {
      // 2^62 * 4 is 0 in 64 bits, so that what is added is all that remains.
      nodes: [
        node('Mul', ['a', 'b'], ['zero']),
        node('Add', ['zero', 'c'], ['shape']),
        node('ConstantOfShape', ['shape'], ['y']),
      ],
      initializers: [longs('a', [1], [2 ** 62]), longs('b', [1], [4]), longs('c', [1], [400_000_000])],
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /ConstantOfShape "y" is not known before it runs: its input "shape" is not constant/,
  },
  {
    name: 'onnx-outer-product',
    parts: {
      nodes: [
        node('Expand', ['x', 'wide'], ['a']),
        node('Reshape', ['a', 'row'], ['r']),
        node('Reshape', ['a', 'column'], ['c']),
        node('Mul', ['r', 'c'], ['y']),
      ],
      initializers: [
        longs('wide', [2], [10_000, 4]),
        longs('row', [2], [1, -1]),
        longs('column', [2], [-1, 1]),
      ],
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /the output of its operator Mul "y" has 1600000000 elements \(40000x40000\)/,
  },
  {
    name: 'onnx-transposed-convolution',
    parts: {
      ...picture,
      nodes: [node('ConvTranspose', ['x', 'w'], ['y'], { strides: { ints: [500, 500] } })],
      initializers: [floats('w', [1, 1, 1, 1], [1])],
    },
    shapes: PICTURE,
    says: /the output of its operator ConvTranspose "y" has 992313001 elements/,
  },
  {
    name: 'onnx-many-at-once',
    parts: {
      nodes: [
        node('Expand', ['x', 'wide'], ['a']),
        ...Array.from({ length: 12 }, (_, i) => node('Exp', ['a'], [`b${i}`])),
        node(
          'Sum',
          Array.from({ length: 12 }, (_, i) => `b${i}`),
          ['y'],
        ),
      ],
      initializers: [longs('wide', [2], [10_000_000, 4])],
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /at its operator Exp "b\d" its tensors take \d+ MiB, but at most 1024 MiB are allowed/,
  },
  {
    name: 'onnx-rounds',
    parts: {
      nodes: [
        node('Loop', ['rounds', '', 'x'], ['last', 'y'], {
          body: {
            graph: graph({
              nodes: [
                node('Identity', ['go'], ['going']),
                node('Identity', ['v'], ['w']),
                node('Expand', ['v', 'wide'], ['scan']),
              ],
              inputs: [port('i', [], TYPE.int64), port('go', [], TYPE.bool), port('v', [1, 4])],
              outputs: [port('going', [], TYPE.bool), port('w', [1, 4]), port('scan', null)],
            }),
          },
        }),
      ],
      initializers: [longs('rounds', [], [1024]), longs('wide', [2], [100_000, 4])],
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /the output of its operator Loop "last" has 409600000 elements \(1024x100000x4\)/,
  },
  {
    name: 'onnx-growing-rounds',
    parts: {
      nodes: [
        node('Loop', ['rounds', '', 'x'], ['y'], {
          body: {
            graph: graph({
              nodes: [
                node('Identity', ['go'], ['going']),
                node('Concat', ['v', 'v'], ['w'], { axis: { int: 0 } }),
              ],
              inputs: [port('i', [], TYPE.int64), port('go', [], TYPE.bool), port('v', null)],
              outputs: [port('going', [], TYPE.bool), port('w', null)],
            }),
          },
        }),
      ],
      initializers: [longs('rounds', [], [28])],
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /Loop "y" is not known before it runs: an iteration turns \[1, 4\] into \[2, 4\]/,
  },
  {
    name: 'onnx-work',
    parts: {
      nodes: [
        node('Expand', ['x', 'wide'], ['a']),
        node('Reshape', ['a', 'square'], ['s']),
        ...chain(16, 's', (before, after) => node('MatMul', [before, 's'], [after])),
      ],
      initializers: [longs('wide', [2], [2 ** 22, 4]), longs('square', [2], [4096, -1])],
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /it takes 1\.\d+e\+12 operations, but at most 1\.00e\+12 are allowed/,
  },
  {
    name: 'onnx-work-of-constants',
    parts: {
      nodes: [
        node('ConstantOfShape', ['square'], ['s']),
        ...chain(8, 's', (before, after) => node('MatMul', [before, 's'], [after])),
      ],
      initializers: [longs('square', [2], [1500, 1500])],
      inputs,
      outputs,
    },
    shapes: FEATURES,
    says: /it takes 6\.75e\+9 operations on constants, but at most 4\.29e\+9 are allowed/,
  },
];

/** The file of a bomb. */
export function bombBytes({ parts }: Bomb): Uint8Array {
  return model(parts);
}
