/**
 * @module tiny/ort
 * Sessions of onnxruntime-node and onnxruntime-web, which share an interface, and half-precision numbers for tensors.
 */
import { modelError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { openSession } from './session.js';
import type {
  TinyDevice,
  TinyModel,
  TinyPort,
  TinyRuntimeName,
  TinySession,
  TinySessionOptions,
  TinyTensor,
} from './types.js';

/** The parts of onnxruntime in use. Its packages are optional, so their types may be absent. */
export interface OrtModule {
  readonly InferenceSession: {
    create(bytes: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<OrtSession>;
  };
  readonly Tensor: new (type: string, data: unknown, dims: readonly number[]) => OrtTensor;
}

interface OrtSession {
  run(feeds: Readonly<Record<string, OrtTensor>>): Promise<Readonly<Record<string, OrtTensor>>>;
  release(): Promise<void>;
}

interface OrtTensor {
  readonly type: string;
  readonly data: unknown;
  readonly dims: readonly number[];
  getData?(): Promise<unknown>;
}

/** Supported types of inputs, as onnxruntime names them. */
export type TensorType = 'float32' | 'float16' | 'float64' | keyof typeof RANGES;

/** Input types by TensorProto.DataType. */
const TYPES: Readonly<Record<number, TensorType>> = {
  1: 'float32',
  2: 'uint8',
  3: 'int8',
  6: 'int32',
  7: 'int64',
  10: 'float16',
  11: 'float64',
};

export interface OrtTarget {
  readonly runtime: TinyRuntimeName;
  readonly device: TinyDevice;
  /** Name of an execution provider, or its name and options. */
  readonly provider: string | Readonly<Record<string, unknown>>;
  readonly adapter?: string;
  readonly notes?: readonly string[];
}

/** @throws {AnyvmafError} `backend` if the device cannot start this model */
export function openOrt(
  ort: OrtModule,
  model: Pick<TinyModel, 'source' | 'program' | 'graph'>,
  { threads }: Pick<TinySessionOptions, 'threads'>,
  { runtime, device, provider, adapter, notes = [] }: OrtTarget,
): Promise<TinySession> {
  const { bytes, external } = model.program;
  // The loader of onnxruntime-web limits it to one thread.
  const used = device !== 'cpu' ? 0 : runtime === 'onnxruntime-web' ? 1 : threads;
  const facts = {
    runtime,
    device,
    ...(adapter !== undefined && { adapter }),
    ...(used > 0 && { threads: used }),
    notes,
  };
  return openSession<OrtTensor>(model, facts, async () => {
    const session = await ort.InferenceSession.create(bytes, {
      executionProviders: [provider],
      // Log fatal errors only: onnxruntime also throws errors.
      logSeverityLevel: 4,
      ...(threads > 0 && { intraOpNumThreads: threads }),
      interOpNumThreads: 1,
      ...(external.length > 0 && {
        externalData: external.map(({ path, bytes }) => ({ path, data: bytes })),
      }),
    });
    return {
      tensor: (port, tensor) => toOrt(ort, port, tensor, model.source),
      async run(feeds) {
        const outputs: Record<string, TinyTensor> = {};
        for (const [name, tensor] of Object.entries(await session.run(feeds)))
          outputs[name] = await fromOrt(tensor);
        return outputs;
      },
      release: () => session.release(),
    };
  });
}

function toOrt(ort: OrtModule, port: TinyPort | undefined, { data, dims }: TinyTensor, source: string) {
  const { type, values } = typedInput(port, data, source);
  return new ort.Tensor(type, values, dims);
}

/**
 * Converts values to the type of an input.
 * @throws {AnyvmafError} `model` for values that an integer input cannot hold, since rounding would change features
 */
export function typedInput(
  port: TinyPort | undefined,
  data: Float32Array,
  source: string,
): { readonly type: TensorType; readonly values: unknown } {
  const type = TYPES[port?.type ?? 1] ?? 'float32';
  if (isInteger(type)) requireWhole(data, type, port, source);
  return { type, values: CONVERT[type](data) };
}

/** Smallest and largest value of integer inputs; 2^63 stands for the largest float below it. */
const RANGES = {
  int64: [-(2 ** 63), 2 ** 63],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint8: [0, 255],
  int8: [-128, 127],
} as const;

function isInteger(type: TensorType): type is keyof typeof RANGES {
  return Object.hasOwn(RANGES, type);
}

/** @throws {AnyvmafError} `model`, with the first wrong value */
function requireWhole(
  data: Float32Array,
  type: keyof typeof RANGES,
  port: TinyPort | undefined,
  source: string,
): void {
  const [least, greatest] = RANGES[type];
  const bad = data.find((value) => !Number.isInteger(value) || value < least || value > greatest);
  // 2 ** 63 itself does not fit into 64 bits.
  if (bad === undefined && !(type === 'int64' && data.includes(greatest))) return;
  throw modelError(
    `The input ${quoted(port?.name ?? '')} of the tiny model ${quoted(source)} takes whole numbers (${type}), but gets ` +
      `${bad ?? greatest}, and rounding would change the score. Export the model with a floating-point input.`,
  );
}

const CONVERT: Readonly<Record<TensorType, (data: Float32Array) => unknown>> = {
  float32: (data) => data,
  float16: (data) => toHalves(data),
  float64: (data) => Float64Array.from(data),
  int64: (data) => BigInt64Array.from(data, BigInt),
  int32: (data) => Int32Array.from(data),
  uint8: (data) => Uint8Array.from(data),
  int8: (data) => Int8Array.from(data),
};

async function fromOrt(tensor: OrtTensor): Promise<TinyTensor> {
  const data = tensor.getData ? await tensor.getData() : tensor.data;
  return { data: outputValues(data, tensor.type === 'float16'), dims: tensor.dims };
}

/** @param halves true if a `Uint16Array` holds bits of halves; engines with Float16Array return numbers */
export function outputValues(data: unknown, halves: boolean): Float32Array {
  if (data instanceof Float32Array) return data;
  if (halves && data instanceof Uint16Array) return fromHalves(data);
  if (ArrayBuffer.isView(data) && Symbol.iterator in data) {
    const values: Iterable<unknown> = Object.values(data);
    return Float32Array.from(values, Number);
  }
  throw new Error('an output is not numeric');
}

/** One number as IEEE 754 binary32, and its bits. */
const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** Rounds each value to the nearest half (binary16), ties to even; values beyond 65504 become infinite. */
export function toHalves(values: Float32Array): Uint16Array<ArrayBuffer> {
  return Uint16Array.from(values, toHalf);
}

function toHalf(value: number): number {
  float[0] = value;
  const word = bits[0]!;
  const sign = (word >>> 16) & 0x8000;
  const exponent = (word >>> 23) & 0xff;
  const fraction = word & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (fraction > 0 ? 0x200 : 0);
  const shifted = exponent - 112;
  if (shifted >= 31) return sign | 0x7c00;
  if (shifted < -10) return sign;
  // Subnormal halves have no implicit leading one, so it becomes part of the fraction.
  const [significand, drop] = shifted > 0 ? [fraction, 13] : [fraction | 0x800000, 14 - shifted];
  const truncated = significand >>> drop;
  const dropped = significand & ((1 << drop) - 1);
  const middle = 1 << (drop - 1);
  const up = dropped > middle || (dropped === middle && (truncated & 1) === 1) ? 1 : 0;
  // A carry out of the fraction correctly increments the exponent.
  return sign | ((Math.max(0, shifted) << 10) + truncated + up);
}

export function fromHalves(halves: Uint16Array): Float32Array<ArrayBuffer> {
  return Float32Array.from(halves, fromHalf);
}

function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
