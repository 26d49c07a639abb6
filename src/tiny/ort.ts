/**
 * @module tiny/ort
 * Sessions of onnxruntime, whichever of its packages was loaded: they share one interface.
 */
import { AnyvmafError } from '../core/errors.js';
import { clause, quoted, shown } from '../core/printable.js';
import { inTurn } from './call-serializer.js';
import { fromHalves, toHalves } from './half.js';
import type {
  TinyDevice,
  TinyModel,
  TinyPort,
  TinyRuntimeName,
  TinySession,
  TinySessionOptions,
  TinyTensor,
} from './types.js';
import { requireWhole } from './whole.js';

/** What of onnxruntime's packages is used; they are optional, so their own types are not. */
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

/** Names of TensorProto.DataType that sessions are fed with. */
const TYPES: Readonly<Record<number, string>> = {
  1: 'float32',
  2: 'uint8',
  3: 'int8',
  6: 'int32',
  7: 'int64',
  10: 'float16',
  11: 'float64',
};

/** How onnxruntime is asked for a device. */
export interface OrtTarget {
  readonly runtime: TinyRuntimeName;
  readonly device: TinyDevice;
  /** A provider's name, or its name and options. */
  readonly provider: string | Readonly<Record<string, unknown>>;
  /** The GPU as its driver calls it, where the platform says. */
  readonly adapter?: string;
  readonly notes?: readonly string[];
}

/**
 * Starts a session.
 * @throws {AnyvmafError} `backend` when the device does not start with this model
 */
export async function openOrt(
  ort: OrtModule,
  { source, program, graph }: Pick<TinyModel, 'source' | 'program' | 'graph'>,
  { threads }: Pick<TinySessionOptions, 'threads'>,
  { runtime, device, provider, adapter, notes = [] }: OrtTarget,
): Promise<TinySession> {
  let session: OrtSession;
  try {
    session = await ort.InferenceSession.create(program.bytes, {
      executionProviders: [provider],
      // Fatal ones alone: what fails is thrown as well.
      logSeverityLevel: 4,
      ...(threads > 0 && { intraOpNumThreads: threads }),
      interOpNumThreads: 1,
      ...(program.external.length > 0 && {
        externalData: program.external.map(({ path, bytes }) => ({ path, data: bytes })),
      }),
    });
  } catch (cause) {
    throw new AnyvmafError(
      'backend',
      `The tiny model ${quoted(source)} does not start on ${device} (${runtime}: ${reason(cause)}). No other ` +
        'device is taken instead; ask for auto or cpu if any will do.',
      { cause },
    );
  }
  const ports = new Map(graph.inputs.map((port) => [port.name, port]));
  let closed = false;

  async function run(inputs: Readonly<Record<string, TinyTensor>>): Promise<Record<string, TinyTensor>> {
    if (closed) throw new AnyvmafError('usage', `The session of ${quoted(source)} is closed.`);
    const feeds = Object.entries(inputs).map(
      ([name, tensor]) => [name, toOrt(ort, ports.get(name), tensor, source)] as const,
    );
    try {
      const results = await session.run(Object.fromEntries(feeds));
      const outputs: Record<string, TinyTensor> = {};
      for (const [name, tensor] of Object.entries(results)) outputs[name] = await fromOrt(tensor);
      return outputs;
    } catch (cause) {
      throw new AnyvmafError(
        'model',
        `The tiny model ${quoted(source)} failed on ${device} (${runtime}: ${reason(cause)}).`,
        { cause },
      );
    }
  }

  const calls = inTurn(run);
  return {
    runtime,
    device,
    ...(adapter !== undefined && { adapter }),
    notes,
    // Some providers take one call at a time.
    run: calls.run,
    async close() {
      if (closed) return;
      closed = true;
      await calls.settled();
      await session.release();
    },
  };
}

/** What onnxruntime says, in one line. */
function reason(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return shown(clause(text.replaceAll(/\s+/g, ' ')), 300);
}

function toOrt(
  ort: OrtModule,
  port: TinyPort | undefined,
  { data, dims }: TinyTensor,
  source: string,
): OrtTensor {
  const type = TYPES[port?.type ?? 1] ?? 'float32';
  if (type === 'int64' || type === 'int32' || type === 'uint8' || type === 'int8')
    requireWhole(data, type, inputOf(source, port));
  return new ort.Tensor(type, toType(type, data), dims);
}

/** An input as messages call it. */
export function inputOf(source: string, port: TinyPort | undefined): string {
  return `The input ${quoted(port?.name ?? '')} of the tiny model ${quoted(source)}`;
}

function toType(type: string, data: Float32Array): unknown {
  switch (type) {
    case 'float16':
      return toHalves(data);
    case 'float64':
      return Float64Array.from(data);
    case 'int64':
      return BigInt64Array.from(data, BigInt);
    case 'int32':
      return Int32Array.from(data);
    case 'uint8':
      return Uint8Array.from(data);
    case 'int8':
      return Int8Array.from(data);
    default:
      return data;
  }
}

async function fromOrt(tensor: OrtTensor): Promise<TinyTensor> {
  const data = tensor.getData ? await tensor.getData() : tensor.data;
  return { data: fromType(tensor.type, data), dims: tensor.dims };
}

function fromType(type: string, data: unknown): Float32Array {
  if (data instanceof Float32Array) return data;
  // Half floats come as their bits, or where JavaScript has them as numbers.
  if (type === 'float16' && data instanceof Uint16Array) return fromHalves(data);
  if (ArrayBuffer.isView(data) && Symbol.iterator in data) {
    const values: Iterable<unknown> = Object.values(data);
    return Float32Array.from(values, Number);
  }
  throw new Error(`an output is of type ${type}, which is no score`);
}
