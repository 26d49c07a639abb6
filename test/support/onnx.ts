/**
 * @module test/support/onnx
 * Writes small ONNX models, right and wrong ones: the wire format of Protocol Buffers, by onnx.proto's field numbers.
 */

/** Bytes of a field or of a message. */
export type Bytes = readonly number[];

/** A varint; negative numbers have 64 bits. */
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

/** A field that is a number. */
export function int(field: number, value: number): number[] {
  return [...varint(field * 8), ...varint(value)];
}

/** A field of bytes, of text or of a message. */
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

/** A ValueInfoProto: an input or output. */
export function port(
  name: string,
  dims: readonly (number | string)[] | null,
  type: number = TYPE.float,
): number[] {
  const shape = dims?.flatMap((size) => bytes(1, typeof size === 'number' ? int(1, size) : bytes(2, size)));
  return [...bytes(1, name), ...bytes(2, bytes(1, [...int(1, type), ...(shape ? bytes(2, shape) : [])]))];
}

/** A TensorProto of float32. */
export function floats(name: string, dims: readonly number[], values: readonly number[]): number[] {
  const raw = new Uint8Array(Float32Array.from(values).buffer);
  return [
    ...dims.flatMap((size) => int(1, size)),
    ...int(2, TYPE.float),
    ...bytes(8, name),
    ...bytes(9, raw),
  ];
}

/** A TensorProto of any type, from its bytes. */
export function tensor(
  name: string,
  type: number,
  dims: readonly number[],
  { buffer, byteOffset, byteLength }: ArrayBufferView,
): number[] {
  const raw = new Uint8Array(buffer, byteOffset, byteLength);
  return [...dims.flatMap((size) => int(1, size)), ...int(2, type), ...bytes(8, name), ...bytes(9, raw)];
}

/** A TensorProto of int64. */
export function longs(name: string, dims: readonly number[], values: readonly number[]): number[] {
  const raw = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return [
    ...dims.flatMap((size) => int(1, size)),
    ...int(2, TYPE.int64),
    ...bytes(8, name),
    ...bytes(9, raw),
  ];
}

/** A TensorProto whose data is in another file. */
export function elsewhere(name: string, dims: readonly number[], location: string): number[] {
  const entry = [...bytes(1, 'location'), ...bytes(2, location)];
  return [
    ...dims.flatMap((size) => int(1, size)),
    ...int(2, TYPE.float),
    ...bytes(8, name),
    ...bytes(13, entry),
    ...int(14, 1),
  ];
}

/** Attributes of a node. */
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

/** A NodeProto. */
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

/** Parts of a GraphProto. */
export interface GraphParts {
  readonly nodes?: readonly Bytes[];
  readonly initializers?: readonly Bytes[];
  readonly inputs?: readonly Bytes[];
  readonly outputs?: readonly Bytes[];
}

/** A GraphProto. */
export function graph({ nodes = [], initializers = [], inputs = [], outputs = [] }: GraphParts): number[] {
  return [
    ...nodes.flatMap((one) => bytes(1, one)),
    ...bytes(2, 'g'),
    ...initializers.flatMap((one) => bytes(5, one)),
    ...inputs.flatMap((one) => bytes(11, one)),
    ...outputs.flatMap((one) => bytes(12, one)),
  ];
}

/** A whole ModelProto. */
export function model(parts: GraphParts, opset = 17, irVersion = 8): Uint8Array {
  return Uint8Array.from([
    ...int(1, irVersion),
    ...bytes(2, 'anyvmaf tests'),
    ...bytes(7, graph(parts)),
    ...bytes(8, int(2, opset)),
  ]);
}

/** `offset + sum(weights[i] * x[i])` of rows of features, of any number or one at a time. */
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

/** The mean of a picture's samples, times a factor. */
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

/** The mean of |a - b| over two pictures. */
export function differenceOf(dims: readonly (number | string)[]): Uint8Array {
  return model({
    nodes: [
      node('Sub', ['ref', 'dist'], ['d']),
      node('Abs', ['d'], ['a']),
      node('ReduceMean', ['a'], ['score'], { axes: { ints: [0, 1, 2, 3] }, keepdims: { int: 0 } }),
    ],
    inputs: [port('ref', dims), port('dist', dims)],
    outputs: [port('score', [])],
  });
}
