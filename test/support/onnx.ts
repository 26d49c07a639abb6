/**
 * @module test/support/onnx
 * Writes small ONNX models by onnx.proto's field numbers: valid ones, invalid ones, and those of test/fixtures/hostile, of a
 * kilobyte or two, that would take gigabytes or hours.
 */

/** Bytes of a field or of a message. */
export type Bytes = readonly number[];

/** A varint; negative numbers take 64 bits. */
export function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(left & 0x7fn);
    left >>= 7n;
    bytes.push(left > 0n ? low | 0x80 : low);
  } while (left > 0n);
  return bytes;
}

/** A numeric field. */
export function int(field: number, value: number): number[] {
  return [...varint(field * 8), ...varint(value)];
}

/** A field of bytes, text or a message. */
export function bytes(field: number, value: Iterable<number> | string): number[] {
  const content = typeof value === 'string' ? [...new TextEncoder().encode(value)] : [...value];
  return [...varint(field * 8 + 2), ...varint(content.length), ...content];
}

/** TensorProto.DataType. */
export const TYPE = {
  float: 1,
  uint8: 2,
  int8: 3,
  int64: 7,
  string: 8,
  bool: 9,
  float16: 10,
  double: 11,
} as const;

/** A ValueInfoProto. */
export function port(name: string, dims: readonly (number | string)[] | null, type: number = TYPE.float) {
  const shape = dims?.flatMap((size) => bytes(1, typeof size === 'number' ? int(1, size) : bytes(2, size)));
  return [...bytes(1, name), ...bytes(2, bytes(1, [...int(1, type), ...(shape ? bytes(2, shape) : [])]))];
}

const tensorHead = (name: string, type: number, dims: readonly number[]): number[] => [
  ...dims.flatMap((size) => int(1, size)),
  ...int(2, type),
  ...bytes(8, name),
];

/** A TensorProto of any type. */
export function tensor(
  name: string,
  type: number,
  dims: readonly number[],
  { buffer, byteOffset, byteLength }: ArrayBufferView,
): number[] {
  return [...tensorHead(name, type, dims), ...bytes(9, new Uint8Array(buffer, byteOffset, byteLength))];
}

export const floats = (name: string, dims: readonly number[], values: readonly number[]): number[] =>
  tensor(name, TYPE.float, dims, Float32Array.from(values));

export const longs = (name: string, dims: readonly number[], values: readonly number[]): number[] =>
  tensor(name, TYPE.int64, dims, BigInt64Array.from(values, BigInt));

/** A TensorProto with external data. */
export function elsewhere(name: string, dims: readonly number[], location: string): number[] {
  const entry = [...bytes(1, 'location'), ...bytes(2, location)];
  return [...tensorHead(name, TYPE.float, dims), ...bytes(13, entry), ...int(14, 1)];
}

export interface Attributes {
  readonly [name: string]:
    | { readonly int: number }
    | { readonly ints: readonly number[] }
    | { readonly float: number }
    | { readonly text: string }
    | { readonly tensor: Bytes }
    | { readonly graph: Bytes };
}

/** AttributeProto.AttributeType. */
const KIND = { float: 1, int: 2, text: 3, tensor: 4, graph: 5, ints: 7 } as const;

function attribute(name: string, value: Attributes[string]): number[] {
  const body =
    'int' in value
      ? [...int(3, value.int), ...int(20, KIND.int)]
      : 'ints' in value
        ? [...value.ints.flatMap((one) => int(8, one)), ...int(20, KIND.ints)]
        : 'float' in value
          ? [
              ...varint(2 * 8 + 5),
              ...new Uint8Array(Float32Array.of(value.float).buffer),
              ...int(20, KIND.float),
            ]
          : 'text' in value
            ? [...bytes(4, value.text), ...int(20, KIND.text)]
            : 'tensor' in value
              ? [...bytes(5, value.tensor), ...int(20, KIND.tensor)]
              : [...bytes(6, value.graph), ...int(20, KIND.graph)];
  return [...bytes(1, name), ...body];
}

export function node(
  operator: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Attributes = {},
  domain?: string,
): number[] {
  return [
    ...inputs.flatMap((name) => bytes(1, name)),
    ...outputs.flatMap((name) => bytes(2, name)),
    ...bytes(4, operator),
    ...Object.entries(attributes).flatMap(([name, value]) => bytes(5, attribute(name, value))),
    ...(domain === undefined ? [] : bytes(7, domain)),
  ];
}

export interface GraphParts {
  readonly nodes?: readonly Bytes[];
  readonly initializers?: readonly Bytes[];
  readonly inputs?: readonly Bytes[];
  readonly outputs?: readonly Bytes[];
}

export function graph({ nodes = [], initializers = [], inputs = [], outputs = [] }: GraphParts): number[] {
  return [
    ...nodes.flatMap((one) => bytes(1, one)),
    ...bytes(2, 'g'),
    ...initializers.flatMap((one) => bytes(5, one)),
    ...inputs.flatMap((one) => bytes(11, one)),
    ...outputs.flatMap((one) => bytes(12, one)),
  ];
}

export function model(parts: GraphParts, opset = 17, irVersion = 8): Uint8Array {
  return Uint8Array.from([
    ...int(1, irVersion),
    ...bytes(2, 'anyvmaf tests'),
    ...bytes(7, graph(parts)),
    ...bytes(8, int(2, opset)),
  ]);
}

/** `offset + sum(weights[i] * x[i])` of rows of features. */
export function linear(
  weights: readonly number[],
  offset: number,
  {
    rows = 'N',
    input = 'features',
    output = 'score',
  }: { rows?: number | string; input?: string; output?: string } = {},
): Uint8Array {
  return model({
    nodes: [node('Gemm', [input, 'w', 'b'], [output])],
    initializers: [floats('w', [weights.length, 1], weights), floats('b', [1], [offset])],
    inputs: [port(input, [rows, weights.length])],
    outputs: [port(output, [rows, 1])],
  });
}

/** The mean of a picture's samples times a factor. */
export function meanOf(
  dims: readonly (number | string)[],
  { factor = 1, input = 'frame', output = 'mos' }: { factor?: number; input?: string; output?: string } = {},
): Uint8Array {
  return model({
    nodes: [
      node('ReduceMean', [input], ['m'], { axes: { ints: [1, 2, 3] }, keepdims: { int: 0 } }),
      node('Mul', ['m', 'k'], [output]),
    ],
    initializers: [floats('k', [1], [factor])],
    inputs: [port(input, dims)],
    outputs: [port(output, ['N'])],
  });
}

/** The mean of |a - b| over two pictures. @param other shape of the second */
export function differenceOf(dims: readonly (number | string)[], other = dims): Uint8Array {
  return model({
    nodes: [
      node('Sub', ['ref', 'dist'], ['d']),
      node('Abs', ['d'], ['a']),
      node('ReduceMean', ['a'], ['score'], { axes: { ints: [0, 1, 2, 3] }, keepdims: { int: 0 } }),
    ],
    inputs: [port('ref', dims), port('dist', other)],
    outputs: [port('score', [])],
  });
}

/** A model and the message that refuses it. */
export interface Bomb {
  /** File name without the extension. */
  readonly name: string;
  readonly parts: GraphParts;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly says: RegExp;
}

/** @param fed a row of features, or a picture */
function bomb(name: string, says: RegExp, parts: GraphParts, fed: 'features' | 'picture' = 'features'): Bomb {
  const inputs = [port('x', fed === 'features' ? [1, 4] : [1, 1, 'H', 'W'])];
  return {
    ...{ name: `onnx-${name}`, says, parts: { ...parts, inputs, outputs: [port('y', null)] } },
    shapes: { x: fed === 'features' ? [1, 4] : [1, 1, 64, 64] },
  };
}

/** A chain of operators from `from` to `y`. */
function chain(count: number, from: string, each: (before: string, after: string) => Bytes): Bytes[] {
  return Array.from({ length: count }, (_, i) =>
    each(i === 0 ? from : `t${i}`, i === count - 1 ? 'y' : `t${i + 1}`),
  );
}

const doubled = (before: string, after: string) =>
  node('Concat', [before, before], [after], { axis: { int: 0 } });

/** Computes `side` from constants by a multiplication, which constant folding alone does not see. */
const side = (length: number) => [longs('a', [1], [length / 1000]), longs('b', [1], [1000])];
const grown = node('Mul', ['a', 'b'], ['side']);
const square = node('Concat', ['side', 'side'], ['shape'], { axis: { int: 0 } });

const TWELVE = Array.from({ length: 12 }, (_, i) => `b${i}`);

export const BOMBS: readonly Bomb[] = [
  bomb('doubled-constant', /its constants grow to \d+ MiB, more than 256 MiB/, {
    nodes: chain(28, 'w', doubled),
    initializers: [floats('w', [4], [1, 2, 3, 4])],
  }),
  bomb(
    'doubled-input',
    /the output of its operator Concat "t26" has 268435456 elements \(67108864x4\), but at most 134217728/,
    { nodes: chain(28, 'x', doubled) },
  ),
  bomb(
    'resize',
    /the output of its operator Resize "y" has 368640000 elements/,
    { nodes: [node('Resize', ['x', '', 'f'], ['y'])], initializers: [floats('f', [4], [1, 1, 300, 300])] },
    'picture',
  ),
  bomb(
    'pad',
    /the output of its operator Pad "y" has 402564096 elements/,
    {
      nodes: [node('Pad', ['x', 'p'], ['y'])],
      initializers: [longs('p', [8], [0, 0, 0, 0, 0, 0, 20_000, 20_000])],
    },
    'picture',
  ),
  bomb('computed-shape', /the output of its operator ConstantOfShape "y" has 400000000 elements/, {
    nodes: [grown, square, node('ConstantOfShape', ['shape'], ['y'])],
    initializers: side(20_000),
  }),
  bomb(
    'wrapped-shape',
    /ConstantOfShape "y" is not known before it runs: its input "shape" is not constant/,
    {
      // 2^62 * 4 is 0 in 64 bits, so only the addend remains.
      nodes: [
        node('Mul', ['a', 'b'], ['zero']),
        node('Add', ['zero', 'c'], ['shape']),
        node('ConstantOfShape', ['shape'], ['y']),
      ],
      initializers: [longs('a', [1], [2 ** 62]), longs('b', [1], [4]), longs('c', [1], [400_000_000])],
    },
  ),
  bomb('outer-product', /the output of its operator Mul "y" has 1600000000 elements \(40000x40000\)/, {
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
  }),
  bomb(
    'transposed-convolution',
    /the output of its operator ConvTranspose "y" has 992313001 elements/,
    {
      nodes: [node('ConvTranspose', ['x', 'w'], ['y'], { strides: { ints: [500, 500] } })],
      initializers: [floats('w', [1, 1, 1, 1], [1])],
    },
    'picture',
  ),
  bomb(
    'many-at-once',
    /at its operator Exp "b\d" its tensors take \d+ MiB, but at most 1024 MiB are allowed/,
    {
      nodes: [
        node('Expand', ['x', 'wide'], ['a']),
        ...TWELVE.map((name) => node('Exp', ['a'], [name])),
        node('Sum', TWELVE, ['y']),
      ],
      initializers: [longs('wide', [2], [10_000_000, 4])],
    },
  ),
  bomb('rounds', /the output of its operator Loop "last" has 409600000 elements \(1024x100000x4\)/, {
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
  }),
  bomb('growing-rounds', /Loop "y" is not known before it runs: an iteration turns \[1, 4\] into \[2, 4\]/, {
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
  }),
  bomb('work', /it takes 1\.\d+e\+12 operations, but at most 1\.00e\+12 are allowed/, {
    nodes: [
      node('Expand', ['x', 'wide'], ['a']),
      node('Reshape', ['a', 'square'], ['s']),
      ...chain(16, 's', (before, after) => node('MatMul', [before, 's'], [after])),
    ],
    initializers: [longs('wide', [2], [2 ** 22, 4]), longs('square', [2], [4096, -1])],
  }),
  bomb('work-of-constants', /it takes 6\.75e\+9 operations on constants, but at most 4\.29e\+9 are allowed/, {
    nodes: [
      node('ConstantOfShape', ['square'], ['s']),
      ...chain(8, 's', (before, after) => node('MatMul', [before, 's'], [after])),
    ],
    initializers: [longs('square', [2], [1500, 1500])],
  }),
];

export function bombBytes({ parts }: Bomb): Uint8Array {
  return model(parts);
}
