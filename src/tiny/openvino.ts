/**
 * @module tiny/openvino
 * Sessions of OpenVINO through the package openvino-node.
 */
import { type AnyvmafError, backendError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { outputValues, type TensorType, typedInput } from './ort.js';
import { type DeviceOffer, type LibrarySession, openSession } from './session.js';
import type { TinyDevice, TinyPort, TinyTensor } from './types.js';

/** The parts of openvino-node in use. The package is optional, so its types may be absent. */
export interface OpenVino {
  readonly Core: new () => OpenVinoCore;
  readonly Tensor: new (type: unknown, shape: readonly number[], data: unknown) => OpenVinoTensor;
  readonly element: Readonly<Record<string, unknown>>;
}

interface OpenVinoCore {
  getAvailableDevices(): readonly string[];
  readModel(model: Uint8Array): Promise<unknown>;
  compileModel(
    model: unknown,
    device: string,
    options: Readonly<Record<string, string | number>>,
  ): Promise<{ createInferRequest(): OpenVinoRequest }>;
}

interface OpenVinoRequest {
  inferAsync(
    inputs: Readonly<Record<string, OpenVinoTensor>>,
  ): Promise<Readonly<Record<string, OpenVinoTensor>>>;
}

interface OpenVinoTensor {
  readonly data: unknown;
  getShape(): readonly number[];
}

/** OpenVINO's names of devices; AUTO lets it choose. */
const NAMES: readonly { readonly device: TinyDevice; readonly name: string }[] = [
  { device: 'openvino', name: 'AUTO' },
  { device: 'openvino-cpu', name: 'CPU' },
  { device: 'openvino-gpu', name: 'GPU' },
  { device: 'openvino-npu', name: 'NPU' },
];

/** OpenVINO's element types. */
const ELEMENTS: Readonly<Record<TensorType, string>> = {
  float32: 'f32',
  float16: 'f16',
  float64: 'f64',
  int64: 'i64',
  int32: 'i32',
  int8: 'i8',
  uint8: 'u8',
};

/** @throws the library's errors if it does not start */
export function openVinoOffers(library: OpenVino): readonly DeviceOffer[] {
  const core = new library.Core();
  const found = core.getAvailableDevices();
  // Several devices of a kind are named GPU.0, GPU.1.
  const exists = (name: string) => found.some((device) => device === name || device.startsWith(`${name}.`));
  return NAMES.filter(({ name }) => (name === 'AUTO' ? found.length > 0 : exists(name))).map(
    ({ device, name }) => ({
      device,
      runtime: 'openvino-node',
      async open(model, options, notes) {
        if (model.program.external.length > 0) throw externalWeights(model.source);
        const facts = { runtime: 'openvino-node', device, notes } as const;
        return openSession(model, facts, () => start(library, core, name, model, options));
      },
    }),
  );
}

async function start(
  library: OpenVino,
  core: OpenVinoCore,
  name: string,
  { source, program }: Parameters<DeviceOffer['open']>[0],
  { threads, fp16 }: Parameters<DeviceOffer['open']>[1],
): Promise<LibrarySession<OpenVinoTensor>> {
  const model = await core.readModel(program.bytes);
  const compiled = await core.compileModel(model, name, {
    INFERENCE_PRECISION_HINT: fp16 ? 'f16' : 'f32',
    ...(threads > 0 && (name === 'CPU' || name === 'AUTO') && { INFERENCE_NUM_THREADS: threads }),
  });
  const request = compiled.createInferRequest();
  return {
    tensor: (port, tensor) => toOpenVino(library, port, tensor, source),
    async run(feeds) {
      const results = Object.entries(await request.inferAsync(feeds));
      return Object.fromEntries(
        results.map(([output, tensor]) => [
          output,
          // Copy: OpenVINO reuses its tensors.
          { data: outputValues(tensor.data, true).slice(), dims: tensor.getShape() },
        ]),
      );
    },
    async release() {},
  };
}

function toOpenVino(
  library: OpenVino,
  port: TinyPort | undefined,
  { data, dims }: TinyTensor,
  source: string,
): OpenVinoTensor {
  const { type, values } = typedInput(port, data, source);
  return new library.Tensor(library.element[ELEMENTS[type]], dims, values);
}

function externalWeights(source: string): AnyvmafError {
  return backendError(
    `The tiny model ${quoted(source)} keeps its weights in another file, which OpenVINO cannot load from memory; ` +
      'save them in the model itself, or use another device.',
  );
}
