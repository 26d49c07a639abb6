/**
 * @module tiny/devices
 * Selects a device by name or by the order of `auto`, and explains why a device is not available.
 */
import { TINY_DEVICES } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import type {
  TinyDevice,
  TinyDeviceStatus,
  TinyModel,
  TinyRuntimeName,
  TinySession,
  TinySessionOptions,
} from './types.js';

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
    const offer = offers.find((one) => one.device === device);
    if (!offer) return { device, available: false, runtime: null, how: `${sentence(HOW[device])}.` };
    const { runtime, adapter } = offer;
    const failure = failures.get(device);
    if (failure !== undefined) {
      const how = `Offered by ${runtime}, but it does not start: ${failure}. ${sentence(HOW[device])}.`;
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
    throw new AnyvmafError(
      'backend',
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
  throw new AnyvmafError('backend', `No runtime for tiny models is available: ${HOW.cpu}.`);
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
