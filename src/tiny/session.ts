/**
 * @module tiny/session
 * Sessions of any ONNX library: on a device by name or by the order of `auto`, one call at a time, with errors that name
 * model, device and runtime; and scores from outputs.
 */
import { serializeCalls } from '../core/abort.js';
import { TINY_DEVICES } from '../core/choices.js';
import { AnyvmafError, backendError, capital, messageOf, modelError, usageError } from '../core/errors.js';
import { clause, quoted, shown } from '../core/printable.js';
import type { TinyBinding } from './bind.js';
import type {
  TinyDevice,
  TinyDeviceStatus,
  TinyModel,
  TinyPort,
  TinyRuntimeName,
  TinySession,
  TinySessionOptions,
  TinyTensor,
} from './types.js';

type Named<T> = Readonly<Record<string, T>>;

export interface LibrarySession<Tensor> {
  /** @param port absent if the graph has no such input */
  tensor(port: TinyPort | undefined, tensor: TinyTensor): Tensor;
  run(feeds: Named<Tensor>): Promise<Named<TinyTensor>>;
  release(): Promise<void>;
}

/** @throws {AnyvmafError} `backend` if `start` fails */
export async function openSession<Tensor>(
  { source, graph }: Pick<TinyModel, 'source' | 'graph'>,
  facts: Pick<TinySession, 'runtime' | 'device' | 'adapter' | 'threads' | 'notes'>,
  start: () => Promise<LibrarySession<Tensor>>,
): Promise<TinySession> {
  const { runtime, device } = facts;
  const failure = (code: 'backend' | 'model', what: string, cause: unknown, more = '') => {
    const reason = shown(clause(messageOf(cause).replaceAll(/\s+/g, ' ')), 300);
    const message = `The tiny model ${quoted(source)} ${what} on ${device} (${runtime}: ${reason}).${more}`;
    return new AnyvmafError(code, message, { cause });
  };
  let session: LibrarySession<Tensor> | undefined = await start().catch((cause: unknown) => {
    const others = device === 'cpu' ? 'auto' : 'auto or cpu';
    const advice = ` A named device has no fallback; ask for ${others} to use another.`;
    throw failure('backend', 'does not start', cause, advice);
  });
  const ports = new Map(graph.inputs.map((port) => [port.name, port]));
  const call = (inputs: Named<TinyTensor>) => {
    const open = session;
    if (!open) throw usageError(`The session of ${quoted(source)} is closed.`);
    const feeds = Object.entries(inputs).map(
      ([name, tensor]) => [name, open.tensor(ports.get(name), tensor)] as const,
    );
    return open.run(Object.fromEntries(feeds)).catch((cause: unknown) => {
      throw failure('model', 'failed', cause);
    });
  };
  // Make one call after the other, since some libraries do not allow concurrent calls.
  const serialize = serializeCalls();
  return {
    ...facts,
    run: (inputs) => serialize(() => call(inputs)),
    async close() {
      const closing = session;
      session = undefined;
      await serialize(() => closing?.release());
    },
  };
}

/**
 * Extracts one value per row of every output.
 * @param into receives the scores, row-major, one column per output
 * @throws {AnyvmafError} `model` if an output has another size or is not finite
 */
export function takeScores(
  { source, outputs, reduce, range }: Pick<TinyBinding, 'source' | 'outputs' | 'reduce' | 'range'>,
  results: Readonly<Record<string, TinyTensor>>,
  rows: number,
  into: Float64Array,
  frameOf: (row: number) => number,
): void {
  outputs.forEach(({ tensor }, column) => {
    const data = results[tensor]?.data;
    const each = data === undefined ? 0 : data.length / rows;
    if (data === undefined || !Number.isInteger(each) || each === 0 || (each > 1 && reduce === undefined))
      throw modelError(
        `The tiny model ${quoted(source)} returns ${data?.length ?? 'no'} values as ${quoted(tensor)} for ` +
          `${rows === 1 ? 'one frame' : `${rows} frames`}, but must return one per frame; set output_reduce in its sidecar ` +
          'to reduce several to one.',
      );
    for (let row = 0; row < rows; row++) {
      let sum = 0;
      for (let i = 0; i < each; i++) sum += data[row * each + i]!;
      const value = sum / each;
      if (!Number.isFinite(value))
        throw modelError(
          `The tiny model ${quoted(source)} returns ${value} for frame ${frameOf(row)}, which is not a score; the ` +
            'model does not work on such input.',
        );
      into[row * outputs.length + column] = range ? Math.min(range[1], Math.max(range[0], value)) : value;
    }
  });
}

/** How to get each device, as the end of a sentence. */
const HOW: Readonly<Record<TinyDevice, string>> = {
  cpu: 'install onnxruntime-node or onnxruntime-web',
  cuda: 'it needs Linux on x64 with an NVIDIA GPU, CUDA 12, cuDNN 9, and onnxruntime-node installed with its CUDA libraries (npm install onnxruntime-node --onnxruntime-node-install=cuda12)',
  tensorrt:
    'it needs Linux on x64 with an NVIDIA GPU, TensorRT, and onnxruntime-node installed with its CUDA libraries',
  openvino: 'install openvino-node (Node 21 or later)',
  'openvino-npu': 'install openvino-node (Node 21 or later); it needs an Intel NPU and its driver',
  'openvino-cpu': 'install openvino-node (Node 21 or later)',
  'openvino-gpu': 'install openvino-node (Node 21 or later); it needs an Intel GPU and its driver',
  coreml: 'it needs macOS and onnxruntime-node',
  'coreml-ane': 'it needs macOS on Apple silicon and onnxruntime-node',
  'coreml-gpu': 'it needs macOS and onnxruntime-node',
  'coreml-cpu': 'it needs macOS and onnxruntime-node',
  rocm: 'no package for Node or browsers offers it; on Linux, WebGPU runs on AMD GPUs',
  webgpu: 'it needs a GPU, and a browser with WebGPU or onnxruntime-node',
  directml: 'it needs Windows and onnxruntime-node',
};

export interface DeviceOffer {
  readonly device: TinyDevice;
  readonly runtime: TinyRuntimeName;
  /** The GPU, if the platform names it. */
  readonly adapter?: { readonly name: string; readonly software: boolean };
  open(
    model: Pick<TinyModel, 'source' | 'program' | 'graph'>,
    options: Pick<TinySessionOptions, 'threads' | 'fp16'>,
    notes: readonly string[],
  ): Promise<TinySession>;
}

/** @param failures reasons why offered devices do not start */
export function describeDevices(
  offers: readonly DeviceOffer[],
  failures: ReadonlyMap<TinyDevice, string> = new Map(),
): readonly TinyDeviceStatus[] {
  return TINY_DEVICES.map((device) => {
    const offer = offers.find((candidate) => candidate.device === device);
    if (!offer) return { device, available: false, runtime: null, how: `${capital(HOW[device])}.` };
    const { runtime, adapter } = offer;
    const failure = failures.get(device);
    if (failure !== undefined) {
      const how = `Offered by ${runtime}, but it does not start: ${failure}. ${capital(HOW[device])}.`;
      return { device, available: false, runtime, how };
    }
    return {
      device,
      available: true,
      runtime,
      ...(adapter && { adapter: adapter.name }),
      ...(adapter?.software && { software: true }),
    };
  });
}

/**
 * @param order of devices for `auto`, which skips unavailable ones
 * @throws {AnyvmafError} `backend` if the device is not available or does not start
 */
export async function openOn(
  model: Pick<TinyModel, 'source' | 'program' | 'graph'>,
  options: TinySessionOptions,
  offers: readonly DeviceOffer[],
  order: readonly TinyDevice[],
): Promise<TinySession> {
  const { device } = options;
  const offerOf = (name: TinyDevice) => offers.find((offer) => offer.device === name);
  if (device !== 'auto') {
    const offer = offerOf(device);
    if (offer) return offer.open(model, options, []);
    const available = TINY_DEVICES.filter(offerOf);
    throw backendError(
      `The device ${device} is not available for tiny models: ${HOW[device]}. ` +
        (available.length === 0
          ? 'No device is.'
          : `Available: ${available.join(', ')}; name one of them, or auto.`),
    );
  }
  const failures: string[] = [];
  let failure: unknown;
  for (const name of options.only === undefined ? order : [options.only]) {
    const offer = offerOf(name);
    if (!offer) continue;
    if (offer.adapter?.software) {
      failures.push(
        `The device ${name} was skipped: its adapter ${offer.adapter.name} is a software renderer, slower than cpu.`,
      );
      continue;
    }
    try {
      return await offer.open(model, options, failures);
    } catch (error) {
      if (!(error instanceof AnyvmafError) || error.code !== 'backend') throw error;
      failure ??= error;
      failures.push(`The device ${name} was skipped: ${error.message}`);
    }
  }
  if (failure !== undefined) throw failure;
  throw backendError(`No runtime for tiny models is available: ${HOW.cpu}.`);
}
