/**
 * @module engine/backends/webgpu/open
 * Opens the GPU of this machine as a kind of measurer.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { describeFormat, type VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/kernel.js';
import type { AdapterFacts, GpuKind } from '../gpu.js';
import { type ExtractionPlan, planeSizes } from '../types.js';
import { GpuLostError, OpenDevice } from './device.js';
import { GPU_FUNCTIONS, GpuMeasurer } from './measurer.js';
import { paddedBytes } from './pictures.js';

export interface WebgpuOptions {
  readonly powerPreference?: GPUPowerPreference;
  /** Limits below the adapter's, for tests. */
  readonly limits?: Readonly<Record<string, number>>;
}

/** @param gpu `navigator.gpu`, or `create([])` of `webgpu` @throws {AnyvmafError} `backend` if there is no adapter */
export async function openWebgpu(gpu: GPU, options: WebgpuOptions = {}): Promise<WebgpuKind> {
  return new WebgpuKind(gpu, await adapterOf(gpu, options), options);
}

/** Names of adapters that a processor emulates. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i;

/** A GPU whose measurers share a device. */
export class WebgpuKind implements GpuKind {
  readonly adapter: AdapterFacts;
  readonly lost: Promise<string>;
  readonly #gpu: GPU;
  readonly #options: WebgpuOptions;
  /** Bytes of the largest buffer that a shader may bind. */
  readonly #mostBytes: number;
  /** Adapter for the next device: each provides only one. */
  #next: GPUAdapter | undefined;
  readonly #devices = new Set<OpenDevice>();
  #onLost: (reason: string) => void = () => {};

  constructor(gpu: GPU, adapter: GPUAdapter, options: WebgpuOptions) {
    this.#gpu = gpu;
    this.#next = adapter;
    this.#options = options;
    this.adapter = factsOf(adapter);
    const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
    const limits = { maxStorageBufferBindingSize, maxBufferSize, ...options.limits };
    this.#mostBytes = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    this.lost = new Promise((resolve) => {
      this.#onLost = resolve;
    });
  }

  problem(call: CoreCall, format: VideoFormat): string | undefined {
    const found = GPU_FUNCTIONS.get(call.run);
    if (call.heatmaps) return `GPUs write no heatmaps of ${call.metric}`;
    if (!found) return `there is no shader for ${call.metric}`;
    return this.limit(call, format);
  }

  limit(call: CoreCall, format: VideoFormat): string | undefined {
    const bytes = GPU_FUNCTIONS.has(call.run) ? largestBuffer(call, format) : 0;
    if (bytes <= this.#mostBytes) return undefined;
    const size = (count: number) => `${Math.ceil(count / 2 ** 20)} MiB`;
    return (
      `${call.metric} of ${describeFormat(format)} needs a buffer of ${size(bytes)}, and this GPU binds at most ` +
      size(this.#mostBytes)
    );
  }

  /** @throws {AnyvmafError} `backend` if the GPU provides no device, `resource` if its memory is short */
  async open(plan: ExtractionPlan): Promise<GpuMeasurer> {
    const bytes = Math.max(0, ...plan.calls.map((call) => largestBuffer(call, plan.format)));
    const [open] = [...this.#devices].filter(({ mostBytes }) => mostBytes >= bytes);
    return GpuMeasurer.open(open ?? (await this.#openDevice(bytes)), plan);
  }

  async #openDevice(bytes: number): Promise<OpenDevice> {
    const adapter = this.#next ?? (await adapterOf(this.#gpu, this.#options));
    this.#next = undefined;
    const device = await OpenDevice.open(adapter, bytes);
    this.#devices.add(device);
    device.onFailure((error) => {
      this.#devices.delete(device);
      if (error instanceof GpuLostError) this.#onLost(error.message);
    });
    return device;
  }

  /** Destroys its devices, so that the process can end. */
  close(): void {
    for (const device of this.#devices) device.close();
  }
}

async function adapterOf(gpu: GPU, { powerPreference }: WebgpuOptions): Promise<GPUAdapter> {
  const adapter = await gpu.requestAdapter(powerPreference ? { powerPreference } : {});
  if (adapter) return adapter;
  throw new AnyvmafError(
    'backend',
    'WebGPU found no GPU that it can use: no driver for Vulkan, Metal or Direct3D 12 was found, or it is blocked.',
  );
}

function factsOf({ info }: GPUAdapter): AdapterFacts {
  const { vendor, architecture, device, description, isFallbackAdapter } = info;
  const named = [vendor, architecture, device, description].some((name) => SOFTWARE.test(name));
  return { vendor, architecture, device, description, software: isFallbackAdapter || named };
}

function largestBuffer(call: CoreCall, format: VideoFormat): number {
  const planes = planeSizes(format).map((size) => paddedBytes(size, format.bitDepth));
  return Math.max(...planes, GPU_FUNCTIONS.get(call.run)?.largestBuffer?.(call, format) ?? 0);
}
