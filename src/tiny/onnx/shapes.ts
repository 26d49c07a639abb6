/**
 * @module tiny/onnx/shapes
 * Infers output shapes of operators, and values of small constants from which graphs compute shapes.
 */
import { quoted } from '../../core/printable.js';
import type { OnnxAttribute, OnnxNode, OnnxTensor } from './read.js';

export interface Shaped {
  /** TensorProto.DataType. */
  readonly type: number;
  readonly dims: readonly number[];
  /** Known values of a small tensor that does not depend on pictures or features. */
  readonly values?: readonly number[];
}

export interface OperatorResult {
  readonly outputs: readonly Shaped[];
  /** Multiplications or visited elements. */
  readonly work: number;
}

/** Inference failed; the message is the end of a sentence. */
export class ShapeError extends Error {}

/** Longest tensor whose values are propagated. */
const MAX_VALUES = 64;
const MAX_LIST = 16;
const FLOAT = 1;
const UINT8 = 2;
const INT32 = 6;
const INT64 = 7;
const BOOL = 9;
const DOUBLE = 11;

function listed(dims: readonly number[]): string {
  return `[${dims.join(', ')}]`;
}

export function elementsOf(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1);
}

export function shapedTensor({ type, dims, integers, floats }: OnnxTensor): Shaped {
  return { type, dims, values: integers ?? floats };
}

class Step {
  constructor(
    readonly node: OnnxNode,
    readonly inputs: readonly (Shaped | undefined)[],
  ) {}

  optional(i: number): Shaped | undefined {
    return this.inputs[i];
  }

  input(i: number): Shaped {
    const found = this.inputs[i];
    if (found) return found;
    throw new ShapeError(`it has no input ${i + 1}`);
  }

  /** The values of an input; `undefined` if it is omitted. */
  values(i: number): readonly number[] | undefined {
    const found = this.inputs[i];
    if (!found) return undefined;
    if (found.values) return found.values;
    throw new ShapeError(`its input ${quoted(this.node.inputs[i] ?? '')} is not constant`);
  }

  attribute(name: string): OnnxAttribute | undefined {
    return this.node.attributes.get(name);
  }

  int(name: string, otherwise: number): number {
    return this.attribute(name)?.int ?? otherwise;
  }

  ints(name: string): readonly number[] | undefined {
    const list = this.attribute(name)?.ints;
    if (list && list.length > MAX_LIST) throw new ShapeError(`its ${name} has more than ${MAX_LIST} entries`);
    // Slices may use huge bounds for "to the end".
    if (list?.every(Number.isSafeInteger) === false && name !== 'ends' && name !== 'starts')
      throw new ShapeError(`its ${name} has an invalid number`);
    return list;
  }

  text(name: string, otherwise: string): string {
    return this.attribute(name)?.text ?? otherwise;
  }

  axis(value: number, rank: number): number {
    const axis = value < 0 ? value + rank : value;
    if (Number.isInteger(axis) && axis >= 0 && axis < rank) return axis;
    throw new ShapeError(`its axis ${value} is out of range for rank ${rank}`);
  }

  /** Axes from an input, or from the attribute of earlier opsets. */
  axes(i: number, rank: number): readonly number[] | undefined {
    const list = this.values(i) ?? this.ints('axes');
    return list?.map((value) => this.axis(value, rank));
  }
}

type Rule = (step: Step) => OperatorResult;

/** @param work `null` for the number of output elements */
function inferred(work: number | null, ...outputs: readonly Shaped[]): OperatorResult {
  return { outputs, work: work ?? outputs.reduce((sum, { dims }) => sum + elementsOf(dims), 0) };
}

/** A tensor; keeps its values if they are known and few. */
function shaped(type: number, dims: readonly number[], values?: readonly number[] | null): Shaped {
  const isKnown = values && values.length <= MAX_VALUES && values.length === elementsOf(dims);
  return { type, dims, values: isKnown ? values : undefined };
}

const same: Rule = (step) => inferred(null, shaped(step.input(0).type, step.input(0).dims));

/** @throws {ShapeError} if the shapes are incompatible */
function broadcast(shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(0, ...shapes.map((dims) => dims.length));
  return Array.from({ length: rank }, (_, i) => {
    let size = 1;
    for (const dims of shapes) {
      const own = dims[i - rank + dims.length] ?? 1;
      if (own === 1) continue;
      if (size !== 1 && size !== own)
        throw new ShapeError(`it cannot broadcast ${shapes.map(listed).join(' and ')}`);
      size = own;
    }
    return size;
  });
}

/** Index in a tensor of shape `dims` of the value at `at` in the shape that it was broadcast to. */
function origin(at: number, result: readonly number[], dims: readonly number[]): number {
  let left = at;
  let stride = 1;
  let from = 0;
  for (let i = result.length - 1; i >= 0; i--) {
    const size = result[i]!;
    const own = dims[i - result.length + dims.length] ?? 1;
    if (own !== 1) from += (left % size) * stride;
    stride *= own;
    left = Math.floor(left / size);
  }
  return from;
}

/** @param fold combines two values; without it, the result's values are unknown */
function elementwise(fold?: (a: number, b: number) => number): Rule {
  return (step) => {
    const inputs = step.node.inputs.flatMap((name, i) => (name === '' ? [] : [step.input(i)]));
    const [first] = inputs;
    if (!first) throw new ShapeError('it has no input');
    const dims = broadcast(inputs.map((input) => input.dims));
    const count = elementsOf(dims);
    const known = fold && count <= MAX_VALUES && inputs.every(({ type, values }) => isExact(type, values));
    const values = known
      ? Array.from({ length: count }, (_, at) =>
          inputs
            .map((input) => input.values![origin(at, dims, input.dims)]!)
            .reduce((a, b) => rounded(fold(a, b), first.type)),
        )
      : undefined;
    return inferred(
      count * Math.max(1, inputs.length - 1),
      shaped(first.type, dims, isExact(first.type, values) ? values : null),
    );
  };
}

function rounded(value: number, type: number): number {
  return type === FLOAT ? Math.fround(value) : type === DOUBLE ? value : Math.trunc(value);
}

/** True if every runtime computes the same from these values, without overflow or lost digits. */
function isExact(type: number, values: readonly number[] | undefined): values is readonly number[] {
  if (!values) return false;
  if (type === FLOAT || type === DOUBLE) return values.every(Number.isFinite);
  const limit = type === INT32 ? 2 ** 31 : type === INT64 ? Number.MAX_SAFE_INTEGER : 0;
  return values.every((value) => Number.isInteger(value) && Math.abs(value) < limit);
}

function reshaped(dimsOf: (step: Step, dims: readonly number[]) => readonly number[]): Rule {
  return (step) => {
    const { type, dims, values } = step.input(0);
    return inferred(null, shaped(type, dimsOf(step, dims), values));
  };
}

function reshape(step: Step, dims: readonly number[]): readonly number[] {
  const wanted = step.values(1) ?? step.ints('shape') ?? [];
  const copies = step.int('allowzero', 0) === 0;
  const sizes = wanted.map((size, i) => (size === 0 && copies ? (dims[i] ?? 0) : size));
  const count = elementsOf(dims);
  const open = sizes.indexOf(-1);
  const stated = sizes.reduce((product, size) => (size === -1 ? product : product * size), 1);
  const result = sizes.map((size, i) => (i === open ? (stated === 0 ? 0 : count / stated) : size));
  if (elementsOf(result) === count) return result;
  throw new ShapeError(`it cannot reshape ${listed(dims)} to ${listed(wanted)}`);
}

function flatten(step: Step, dims: readonly number[]): readonly number[] {
  const stated = step.int('axis', 1);
  const axis = stated === dims.length ? stated : step.axis(stated, dims.length);
  return [elementsOf(dims.slice(0, axis)), elementsOf(dims.slice(axis))];
}

function squeeze(step: Step, dims: readonly number[]): readonly number[] {
  const axes = step.axes(1, dims.length) ?? dims.flatMap((size, i) => (size === 1 ? [i] : []));
  if (axes.some((axis) => dims[axis] !== 1)) throw new ShapeError(`it cannot squeeze ${listed(dims)}`);
  return dims.filter((_, i) => !axes.includes(i));
}

function unsqueeze(step: Step, dims: readonly number[]): readonly number[] {
  const list = step.values(1) ?? step.ints('axes') ?? [];
  const rank = dims.length + list.length;
  const axes = list.map((value) => step.axis(value, rank));
  if (new Set(axes).size !== axes.length) throw new ShapeError('its axes repeat');
  let next = 0;
  return Array.from({ length: rank }, (_, i) => (axes.includes(i) ? 1 : dims[next++]!));
}

const transpose: Rule = (step) => {
  const { type, dims, values } = step.input(0);
  const order = step.ints('perm') ?? dims.map((_, i) => dims.length - 1 - i);
  if (order.length !== dims.length || new Set(order).size !== dims.length)
    throw new ShapeError(`its perm does not fit ${listed(dims)}`);
  const result = order.map((axis) => dims[step.axis(axis, dims.length)]!);
  return inferred(null, shaped(type, result, dims.length < 2 ? values : null));
};

const concat: Rule = (step) => {
  const parts = step.node.inputs.map((_, i) => step.input(i));
  const [first] = parts;
  if (!first) throw new ShapeError('it has no input');
  const axis = step.axis(step.int('axis', 0), first.dims.length);
  const fits = parts.every(
    ({ dims }) =>
      dims.length === first.dims.length && dims.every((size, i) => i === axis || size === first.dims[i]),
  );
  if (!fits)
    throw new ShapeError(`it cannot concatenate ${parts.map(({ dims }) => listed(dims)).join(' and ')}`);
  const length = parts.reduce((sum, { dims }) => sum + dims[axis]!, 0);
  const result = first.dims.map((size, i) => (i === axis ? length : size));
  const known = first.dims.length === 1 && length <= MAX_VALUES && parts.every(({ values }) => values);
  const values = known ? parts.flatMap((part) => part.values ?? []) : null;
  return inferred(null, shaped(first.type, result, values));
};

const slice: Rule = (step) => {
  const { type, dims, values } = step.input(0);
  const starts = step.values(1) ?? step.ints('starts') ?? [];
  const ends = step.values(2) ?? step.ints('ends') ?? [];
  const axes = step.axes(3, dims.length) ?? starts.map((_, i) => i);
  const steps = step.values(4) ?? starts.map(() => 1);
  if (ends.length !== starts.length || axes.length !== starts.length || steps.length !== starts.length)
    throw new ShapeError('its starts, ends, axes and steps differ in length');
  const result = [...dims];
  let sliced = values;
  axes.forEach((axis, i) => {
    const size = dims[axis]!;
    const stride = steps[i]!;
    if (stride === 0 || !Number.isInteger(stride)) throw new ShapeError(`its step ${stride} is invalid`);
    const from = bound(starts[i]!, size, stride, false);
    const to = bound(ends[i]!, size, stride, true);
    const length = Math.max(0, Math.ceil((to - from) / stride));
    result[axis] = length;
    if (dims.length === 1 && values)
      sliced =
        length > MAX_VALUES
          ? undefined
          : Array.from({ length }, (_, j) => values[from + j * stride] ?? Number.NaN);
  });
  return inferred(null, shaped(type, result, dims.length === 1 ? sliced : null));
};

function bound(value: number, size: number, stride: number, isEnd: boolean): number {
  const at = value < 0 ? value + size : value;
  if (stride > 0) return Math.min(size, Math.max(0, at));
  return Math.min(size - 1, Math.max(isEnd ? -1 : 0, at));
}

const gather: Rule = (step) => {
  const [data, at] = [step.input(0), step.input(1)];
  const axis = step.axis(step.int('axis', 0), data.dims.length);
  const result = [...data.dims.slice(0, axis), ...at.dims, ...data.dims.slice(axis + 1)];
  const { values } = data;
  const chosen =
    data.dims.length === 1 && values && at.values
      ? at.values.map((i) => values[i < 0 ? i + values.length : i] ?? Number.NaN)
      : null;
  return inferred(null, shaped(data.type, result, chosen?.some(Number.isNaN) ? null : chosen));
};

const gatherNd: Rule = (step) => {
  const [data, at] = [step.input(0), step.input(1)];
  const batch = step.int('batch_dims', 0);
  const depth = at.dims.at(-1);
  if (depth === undefined || batch < 0 || batch + depth > data.dims.length)
    throw new ShapeError(`it cannot gather ${listed(at.dims)} from ${listed(data.dims)}`);
  return inferred(null, shaped(data.type, [...at.dims.slice(0, -1), ...data.dims.slice(batch + depth)]));
};

const expand: Rule = (step) => {
  const { type, dims, values } = step.input(0);
  const result = broadcast([dims, step.values(1) ?? []]);
  const few = values && elementsOf(result) <= MAX_VALUES;
  const expanded = few
    ? Array.from({ length: elementsOf(result) }, (_, at) => values[origin(at, result, dims)]!)
    : null;
  return inferred(null, shaped(type, result, expanded));
};

const shape: Rule = (step) => {
  const { dims } = step.input(0);
  const part = dims.slice(step.int('start', 0), step.attribute('end')?.int);
  return inferred(part.length, shaped(INT64, [part.length], part));
};

const constantOfShape: Rule = (step) => {
  const dims = step.values(0) ?? [];
  const tensor = step.attribute('value')?.tensor;
  const [fill = tensor ? undefined : 0] = tensor?.integers ?? tensor?.floats ?? [];
  const few = fill !== undefined && elementsOf(dims) <= MAX_VALUES;
  const values = few ? Array<number>(elementsOf(dims)).fill(fill) : null;
  return inferred(null, shaped(tensor?.type ?? FLOAT, dims, values));
};

const constant: Rule = (step) => {
  const { attributes } = step.node;
  const tensor = (attributes.get('value') ?? attributes.get('sparse_value'))?.tensor;
  if (tensor) return inferred(null, shapedTensor(tensor));
  for (const [scalar, many, type] of [
    ['value_int', 'value_ints', INT64],
    ['value_float', 'value_floats', FLOAT],
  ] as const) {
    const single = attributes.get(scalar)?.int ?? attributes.get(scalar)?.float;
    if (single !== undefined) return inferred(null, shaped(type, [], [single]));
    const list = attributes.get(many)?.ints ?? attributes.get(many)?.floats;
    if (list && list.length <= MAX_LIST) return inferred(null, shaped(type, [list.length], list));
  }
  throw new ShapeError('its value has an unsupported type');
};

const cast: Rule = (step) => {
  const { dims, values } = step.input(0);
  const type = step.int('to', FLOAT);
  const known = isExact(step.input(0).type, values);
  const turned = known ? values.map((value) => rounded(value, type)) : undefined;
  return inferred(null, shaped(type, dims, isExact(type, turned) ? turned : null));
};

/** @param fold combines two values if all are known */
function reduce(fold?: (a: number, b: number) => number): Rule {
  return (step) => {
    const { type, dims, values } = step.input(0);
    const stated = step.axes(1, dims.length);
    const all = stated === undefined || stated.length === 0;
    if (all && step.int('noop_with_empty_axes', 0) === 1) return same(step);
    const axes = all ? dims.map((_, i) => i) : stated;
    const keeps = step.int('keepdims', 1) !== 0;
    const result = dims.flatMap((size, i) => (axes.includes(i) ? (keeps ? [1] : []) : [size]));
    // Results in floating point would depend on the order of summation.
    const known = fold && (type === INT64 || type === INT32) && values?.length && isExact(type, values);
    const folded = known && elementsOf(result) === 1 ? [values.reduce(fold)] : undefined;
    return inferred(elementsOf(dims), shaped(type, result, isExact(type, folded) ? folded : null));
  };
}

const globalPool: Rule = (step) => {
  const { type, dims } = step.input(0);
  return inferred(elementsOf(dims), shaped(type, [...dims.slice(0, 2), ...dims.slice(2).map(() => 1)]));
};

const gemm: Rule = (step) => {
  const [a, b] = [step.input(0).dims, step.input(1).dims];
  const [rows, depth] = step.int('transA', 0) === 0 ? a : a.toReversed();
  const [inner, columns] = step.int('transB', 0) === 0 ? b : b.toReversed();
  if (a.length !== 2 || b.length !== 2 || depth !== inner) throw unfit(a, b);
  const dims = [rows!, columns!];
  return inferred(elementsOf(dims) * depth!, shaped(step.input(0).type, dims));
};

function unfit(a: readonly number[], b: readonly number[]): ShapeError {
  return new ShapeError(`it cannot multiply ${listed(a)} by ${listed(b)}`);
}

/** @param type of the product; default: the first input's */
function matMul(type?: number): Rule {
  return (step) => {
    const [first, second] = [step.input(0), step.input(1)];
    const a = first.dims.length === 1 ? [1, ...first.dims] : first.dims;
    const b = second.dims.length === 1 ? [...second.dims, 1] : second.dims;
    const [rows, depth] = a.slice(-2);
    const [inner, columns] = b.slice(-2);
    if (rows === undefined || columns === undefined || depth === undefined || depth !== inner)
      throw unfit(first.dims, second.dims);
    const batch = broadcast([a.slice(0, -2), b.slice(0, -2)]);
    const dims = [
      ...batch,
      ...(first.dims.length === 1 ? [] : [rows]),
      ...(second.dims.length === 1 ? [] : [columns]),
    ];
    return inferred(elementsOf(batch) * rows * columns * depth, shaped(type ?? first.type, dims));
  };
}

function windows(step: Step, sizes: readonly number[], kernel: readonly number[]): number[] {
  const strides = step.ints('strides') ?? [];
  const dilations = step.ints('dilations') ?? [];
  const pads = step.ints('pads') ?? [];
  const mode = step.text('auto_pad', 'NOTSET');
  if (kernel.length !== sizes.length || kernel.some((size) => !(size >= 1)))
    throw new ShapeError(`its window ${listed(kernel)} does not fit ${listed(sizes)}`);
  return sizes.map((size, i) => {
    const stride = positive(strides[i] ?? 1);
    if (mode.startsWith('SAME')) return Math.ceil(size / stride);
    const padding = mode === 'VALID' ? 0 : (pads[i] ?? 0) + (pads[i + sizes.length] ?? 0);
    const room = size + padding - (kernel[i]! - 1) * positive(dilations[i] ?? 1) - 1;
    if (room < 0) throw new ShapeError(`its window is larger than ${listed(sizes)}`);
    return (step.int('ceil_mode', 0) === 0 ? Math.floor(room / stride) : Math.ceil(room / stride)) + 1;
  });
}

function positive(value: number): number {
  if (value >= 1) return value;
  throw new ShapeError(`its stride or dilation ${value} is below 1`);
}

/** @param type of the result; default: the first input's */
function conv(type?: number): Rule {
  return (step) => {
    const [x, w] = [step.input(0), step.input(1)];
    const [batch, channels] = x.dims;
    const [maps, depth, ...kernel] = w.dims;
    if (batch === undefined || channels === undefined || maps === undefined || depth === undefined)
      throw unfit(x.dims, w.dims);
    const dims = [batch, maps, ...windows(step, x.dims.slice(2), kernel)];
    return inferred(elementsOf(dims) * depth * elementsOf(kernel), shaped(type ?? x.type, dims));
  };
}

const convTranspose: Rule = (step) => {
  const [x, w] = [step.input(0), step.input(1)];
  const [batch, , ...sizes] = x.dims;
  const [, depth, ...kernel] = w.dims;
  if (batch === undefined || depth === undefined || kernel.length !== sizes.length)
    throw unfit(x.dims, w.dims);
  const strides = step.ints('strides') ?? [];
  const dilations = step.ints('dilations') ?? [];
  const pads = step.ints('pads') ?? [];
  const more = step.ints('output_padding') ?? [];
  const stated = step.ints('output_shape')?.slice(-sizes.length);
  const mode = step.text('auto_pad', 'NOTSET');
  const result = sizes.map((size, i) => {
    const stride = positive(strides[i] ?? 1);
    if (stated?.[i] !== undefined) return stated[i];
    if (mode.startsWith('SAME')) return size * stride;
    const padding = mode === 'VALID' ? 0 : (pads[i] ?? 0) + (pads[i + sizes.length] ?? 0);
    const reach = (kernel[i]! - 1) * positive(dilations[i] ?? 1) + 1;
    return stride * (size - 1) + (more[i] ?? 0) + reach - padding;
  });
  const dims = [batch, depth * step.int('group', 1), ...result];
  return inferred(elementsOf(x.dims) * depth * elementsOf(kernel) + elementsOf(dims), shaped(x.type, dims));
};

const pool: Rule = (step) => {
  const { type, dims } = step.input(0);
  const kernel = step.ints('kernel_shape') ?? [];
  const result = [...dims.slice(0, 2), ...windows(step, dims.slice(2), kernel)];
  const work = elementsOf(result) * elementsOf(kernel);
  return inferred(work, shaped(type, result), shaped(INT64, result));
};

const pad: Rule = (step) => {
  const { type, dims } = step.input(0);
  const pads = step.values(1) ?? step.ints('pads') ?? [];
  const axes = step.axes(3, dims.length) ?? dims.map((_, i) => i);
  if (pads.length !== 2 * axes.length || !pads.every(Number.isSafeInteger))
    throw new ShapeError(`its ${pads.length} pads do not fit ${listed(dims)}`);
  const result = [...dims];
  axes.forEach((axis, i) => {
    result[axis] = dims[axis]! + pads[i]! + pads[i + axes.length]!;
  });
  return inferred(null, shaped(type, result));
};

const resize: Rule = (step) => {
  const { type, dims } = step.input(0);
  // Opset 10 has no region of interest before the scales.
  const early = step.node.inputs.length === 2;
  const scales = step.optional(early ? 1 : 2);
  const byScale = scales !== undefined && elementsOf(scales.dims) > 0;
  const factors = byScale ? step.values(early ? 1 : 2) : undefined;
  const wanted = factors ?? step.values(3) ?? [];
  const axes = step.ints('axes')?.map((axis) => step.axis(axis, dims.length)) ?? dims.map((_, i) => i);
  if (wanted.length !== axes.length)
    throw new ShapeError(`it has ${wanted.length} sizes or scales for ${axes.length} axes`);
  if (factors && step.text('coordinate_transformation_mode', '') === 'tf_crop_and_resize')
    throw new ShapeError('it crops before it scales, which is not supported');
  const policy = step.text('keep_aspect_ratio_policy', 'stretch');
  const ratios = axes.map((axis, i) => wanted[i]! / dims[axis]!);
  const ratio = policy === 'not_larger' ? Math.min(...ratios) : Math.max(...ratios);
  const result = [...dims];
  axes.forEach((axis, i) => {
    const size = dims[axis]!;
    if (factors) result[axis] = Math.floor(size * wanted[i]!);
    else result[axis] = policy === 'stretch' ? wanted[i]! : Math.round(size * ratio);
  });
  return inferred(null, shaped(type, result));
};

const RULES: Readonly<Record<string, Rule>> = {
  Reshape: reshaped(reshape),
  Flatten: reshaped(flatten),
  Squeeze: reshaped(squeeze),
  Unsqueeze: reshaped(unsqueeze),
  Identity: reshaped((_, dims) => dims),
  Transpose: transpose,
  Concat: concat,
  Slice: slice,
  Gather: gather,
  GatherND: gatherNd,
  Expand: expand,
  Shape: shape,
  Constant: constant,
  ConstantOfShape: constantOfShape,
  Cast: cast,
  Add: elementwise((a, b) => a + b),
  Sub: elementwise((a, b) => a - b),
  Mul: elementwise((a, b) => a * b),
  Div: elementwise((a, b) => a / b),
  Min: elementwise(Math.min),
  Max: elementwise(Math.max),
  Sum: elementwise(),
  Mean: elementwise(),
  Pow: elementwise(),
  BitShift: elementwise(),
  ReduceProd: reduce((a, b) => a * b),
  ReduceSum: reduce((a, b) => a + b),
  ReduceMax: reduce(Math.max),
  ReduceMin: reduce(Math.min),
  ReduceMean: reduce(),
  GlobalAveragePool: globalPool,
  GlobalMaxPool: globalPool,
  Gemm: gemm,
  MatMul: matMul(),
  MatMulInteger: matMul(INT32),
  Conv: conv(),
  ConvInteger: conv(INT32),
  ConvTranspose: convTranspose,
  MaxPool: pool,
  AveragePool: pool,
  Pad: pad,
  Resize: resize,
  ScatterND: same,
  BatchNormalization: (step) => {
    const { type, dims } = step.input(0);
    const each = shaped(type, dims.slice(1, 2));
    return inferred(null, shaped(type, dims), each, each, each, each);
  },
  LayerNormalization: (step) => {
    const { type, dims } = step.input(0);
    return inferred(null, shaped(type, dims), shaped(FLOAT, dims), shaped(FLOAT, dims));
  },
  Dropout: (step) =>
    inferred(null, shaped(step.input(0).type, step.input(0).dims), shaped(BOOL, step.input(0).dims)),
  QuantizeLinear: (step) => inferred(null, shaped(step.optional(2)?.type ?? UINT8, step.input(0).dims)),
  DequantizeLinear: (step) => inferred(null, shaped(step.input(1).type, step.input(0).dims)),
  DynamicQuantizeLinear: (step) =>
    inferred(null, shaped(UINT8, step.input(0).dims), shaped(FLOAT, []), shaped(UINT8, [])),
};

/** Operators whose outputs have the shape of their first input. */
const UNARY: ReadonlySet<string> = new Set(
  (
    'Neg Abs Sqrt Exp Log Clip Reciprocal InstanceNormalization Relu LeakyRelu Sigmoid Tanh Softmax Elu Selu Softplus ' +
    'Softsign Gelu Erf HardSigmoid HardSwish PRelu'
  ).split(' '),
);

/** Operators of the default domain on tensors: no strings, sequences, random numbers, custom code or unbounded loops. */
export const ALLOWED_OPERATORS: ReadonlySet<string> = new Set([
  ...Object.keys(RULES),
  ...UNARY,
  'Loop',
  'If',
]);

/**
 * For all operators but Loop and If.
 * @param inputs in the node's order; `undefined` for omitted ones
 * @throws {ShapeError} if shapes depend on values that are known only when the graph runs
 */
export function shapesOf(node: OnnxNode, inputs: readonly (Shaped | undefined)[]): OperatorResult {
  const rule = UNARY.has(node.operator) ? same : RULES[node.operator];
  if (!rule) throw new ShapeError('it is not supported');
  const { outputs, work } = rule(new Step(node, inputs));
  const used = node.outputs.length;
  if (used > outputs.length) throw new ShapeError(`it has ${used} outputs, more than ${outputs.length}`);
  for (const { dims } of outputs)
    if (dims.some((size) => !Number.isSafeInteger(size) || size < 0))
      throw new ShapeError(`its output would have the shape ${listed(dims)}`);
  return { outputs: outputs.slice(0, used), work };
}
