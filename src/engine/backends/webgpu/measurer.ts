/**
 * @module engine/backends/webgpu/measurer
 * Measures frame pairs on this machine's GPU: several in flight, with one submission and one small read-back each.
 */
import { type AnyvmafError, backendError, internalError } from '../../../core/errors.js';
import { describeFormat, type VideoFormat } from '../../../core/frame.js';
import type { CoreCall, PlaneArgument } from '../../../core/module.js';
import type { AdapterFacts, GpuKind } from '../composite.js';
import type { ExtractionPlan, FrameSlot, Measurer, RecordLayout } from '../measurer.js';
import { callsOf, historyNeeds, planeSizes, recordLayout } from '../measurer.js';
import { ADM_ON_GPU } from './adm.js';
import type { Encode, GpuFunction, GpuKernel } from './device.js';
import {
  BufferUsage,
  closedError,
  GpuLostError,
  OpenDevice,
  Pictures,
  paddedBytes,
  Transfer,
} from './device.js';
import { MOTION, MOTION_LEGACY, SSE } from './picture-sum.js';
import { VIF } from './vif.js';

const GPU_FUNCTIONS: ReadonlyMap<string, GpuFunction> = new Map(
  [SSE, MOTION, MOTION_LEGACY, VIF, ADM_ON_GPU].map((gpuFunction) => [gpuFunction.run, gpuFunction]),
);

/** Pairs in flight: one is uploaded, one measured and one read back. */
const SLOTS = 3;
/** Pictures on the GPU besides history: one is measured while the next is uploaded. */
const PLACES = 2;
/** Alignment of result offsets in bytes. */
const ALIGNMENT = 256;

const SIDES = ['reference', 'distorted'] as const;

interface Bound {
  readonly kernel: GpuKernel;
  /** Byte offset of its words in the results. */
  readonly offset: number;
  /** By place of a pair on the GPU. */
  readonly encodes: readonly (readonly Encode[])[];
}

/** Measures on a GPU; rejects its promises with a {@link GpuLostError} if the GPU is lost. */
export class GpuMeasurer implements Measurer {
  readonly layout: RecordLayout;
  readonly slots = SLOTS;
  dispatches = 0;
  readonly #plan: ExtractionPlan;
  readonly #gpu: OpenDevice;
  readonly #reference: Pictures;
  readonly #distorted: Pictures;
  readonly #results: GPUBuffer;
  readonly #bound: readonly Bound[];
  readonly #places: number;
  readonly #idle: Transfer[];
  readonly #transfers: readonly Transfer[];
  /** Rejects each pair in flight. */
  readonly #inFlight = new Set<(error: AnyvmafError) => void>();
  readonly #forget: () => void;
  #closed = false;

  private constructor(gpu: OpenDevice, plan: ExtractionPlan, kernels: readonly GpuKernel[]) {
    const { device } = gpu;
    this.layout = recordLayout(plan);
    this.#gpu = gpu;
    this.#plan = plan;
    const { frames } = historyNeeds(plan);
    this.#places = PLACES + frames;
    const sizes = { written: SLOTS + frames, uploaded: this.#places };
    this.#reference = new Pictures(device, plan, planesOf(plan, 'reference'), sizes);
    this.#distorted = new Pictures(device, plan, planesOf(plan, 'distorted'), sizes);
    let bytes = 0;
    const offsets = kernels.map(({ words }) => {
      const offset = bytes;
      bytes += Math.ceil((words * 4) / ALIGNMENT) * ALIGNMENT;
      return offset;
    });
    const { STORAGE, COPY_SRC } = BufferUsage;
    this.#results = device.createBuffer({ label: 'results', size: bytes, usage: STORAGE | COPY_SRC });
    const uploaded = this.#reference.bytes + this.#distorted.bytes;
    this.#transfers = Array.from({ length: SLOTS }, () => new Transfer(device, uploaded, bytes));
    this.#idle = [...this.#transfers];
    this.#bound = kernels.map((kernel, i) => this.#bind(kernel, offsets[i] as number));
    this.#forget = gpu.onFailure((error) => this.#reject(error));
  }

  /** Compiles and allocates everything that the plan needs. @throws {AnyvmafError} as {@link OpenDevice.prepare} */
  static open(gpu: OpenDevice, plan: ExtractionPlan): Promise<GpuMeasurer> {
    return gpu.prepare(async () => {
      const kernels = plan.calls.map((call) => {
        const found = GPU_FUNCTIONS.get(call.run);
        if (!found) throw internalError(`The GPU has no ${call.metric}.`);
        return found.open(gpu, call, plan.format);
      });
      return new GpuMeasurer(gpu, plan, await Promise.all(kernels));
    });
  }

  /** For tests, which destroy it. */
  get device(): GPUDevice {
    return this.#gpu.device;
  }

  slot(index: number): FrameSlot {
    return { index, reference: this.#reference.write(index), distorted: this.#distorted.write(index) };
  }

  holds(index: number): boolean {
    return this.#reference.frame(index) !== undefined;
  }

  keep({ index }: FrameSlot): void {
    this.#reference.keep(index);
    this.#distorted.keep(index);
  }

  /** Frames of a pair in flight or in its history. They outlive the device. */
  frames(index: number): FrameSlot | undefined {
    const [reference, distorted] = [this.#reference.frame(index), this.#distorted.frame(index)];
    return reference && distorted && { index, reference, distorted };
  }

  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): Promise<void> {
    const { index } = slot;
    this.keep(slot);
    record.fill(Number.NaN);
    const due = callsOf(this.#plan, index, spatial, (earlier) => this.holds(earlier));
    if (due.length === 0) return Promise.resolve();
    const failure = this.#gpu.failure ?? (this.#closed ? closedError() : undefined);
    if (failure) return Promise.reject(failure);
    const transfer = this.#idle.pop();
    if (!transfer) throw internalError(`More than ${SLOTS} pairs are in flight.`);
    for (const [, call] of due) {
      for (const { of, plane, back } of planeArguments(call))
        this.#picturesOf(of).upload(index - back, plane, transfer);
    }
    this.#submit(index, due, transfer);
    return this.#take(due, transfer, record);
  }

  /** None: no call that a GPU measures writes heatmaps. */
  heatmaps(): readonly Uint8Array[] {
    return [];
  }

  close(): void {
    this.#closed = true;
    this.#forget();
    this.#reject(closedError());
    for (const { kernel } of this.#bound) kernel.close();
    for (const pictures of [this.#reference, this.#distorted]) pictures.close();
    for (const transfer of this.#transfers) transfer.close();
    this.#results.destroy();
  }

  #reject(error: AnyvmafError): void {
    for (const reject of this.#inFlight) reject(error);
  }

  #picturesOf(side: (typeof SIDES)[number]): Pictures {
    return side === 'reference' ? this.#reference : this.#distorted;
  }

  #bind(kernel: GpuKernel, offset: number): Bound {
    const results = { buffer: this.#results, offset, size: kernel.words * 4 };
    const encodes = Array.from({ length: this.#places }, (_, place) => {
      const pair = {
        reference: this.#reference.newestFirst(place),
        distorted: this.#distorted.newestFirst(place),
      };
      return kernel.bind(pair, results);
    });
    return { kernel, offset, encodes };
  }

  #submit(index: number, due: ReturnType<typeof callsOf>, transfer: Transfer): void {
    const encoder = this.#gpu.device.createCommandEncoder();
    transfer.copy(encoder);
    const pass = encoder.beginComputePass();
    const dispatch = pass.dispatchWorkgroups.bind(pass);
    pass.dispatchWorkgroups = (...groups) => {
      this.dispatches++;
      dispatch(...groups);
    };
    for (const [i] of due) {
      for (const encode of this.#bound[i]?.encodes[index % this.#places] ?? []) encode(pass);
    }
    pass.end();
    transfer.submit(encoder, this.#results);
  }

  #take(due: ReturnType<typeof callsOf>, transfer: Transfer, record: Float64Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#inFlight.add(reject);
      const read = (results: ArrayBuffer) => {
        if (this.#gpu.failure) throw this.#gpu.failure;
        for (const [i, { fields }] of due) {
          const { kernel, offset } = this.#bound[i] as Bound;
          const at = this.layout.calls[i] as number;
          kernel.read(new Uint32Array(results, offset, kernel.words), record.subarray(at, at + fields));
        }
      };
      transfer
        .take(read)
        // A lost device first reports unmapped buffers.
        .catch((cause) => {
          throw this.#gpu.failure ?? (isAbort(cause) ? new GpuLostError(cause.message) : cause);
        })
        .then(() => {
          this.#idle.push(transfer);
          resolve();
        }, reject)
        .finally(() => this.#inFlight.delete(reject));
    });
  }
}

const isAbort = (cause: unknown): cause is Error => cause instanceof Error && cause.name === 'AbortError';

function planeArguments({ args }: CoreCall): PlaneArgument[] {
  return args.filter((arg) => typeof arg === 'object');
}

/** Number of planes of a video that the plan's calls read, luma first. */
function planesOf({ calls }: ExtractionPlan, side: (typeof SIDES)[number]): number {
  const read = calls.flatMap(planeArguments).filter(({ of }) => of === side);
  return Math.max(0, ...read.map(({ plane }) => plane + 1));
}

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
  readonly #gpu: GPU;
  readonly #options: WebgpuOptions;
  /** Bytes of the largest buffer that a shader may bind. */
  readonly #mostBytes: number;
  /** Adapter for the next device: each provides only one. */
  #next: GPUAdapter | undefined;
  readonly #devices = new Set<OpenDevice>();

  constructor(gpu: GPU, adapter: GPUAdapter, options: WebgpuOptions) {
    this.#gpu = gpu;
    this.#next = adapter;
    this.#options = options;
    this.adapter = factsOf(adapter);
    const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
    const limits = { maxStorageBufferBindingSize, maxBufferSize, ...options.limits };
    this.#mostBytes = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  }

  problem(call: CoreCall, format: VideoFormat): string | undefined {
    if (!GPU_FUNCTIONS.has(call.run)) return `there is no shader for ${call.metric}`;
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
    device.onFailure(() => this.#devices.delete(device));
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
  throw backendError(
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
