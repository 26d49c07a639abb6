/**
 * @module engine/backends/webgpu/device
 * A GPU device: compiled shaders, one error for any failure, the pictures of a video in main and GPU memory, and the buffers
 * that upload pairs and download results. Also the interface of a metric on it, which mirrors the core's functions
 * (wasm/include/anyvmaf.h): compute passes that produce exact integers, and arithmetic that turns them into the core's
 * fields. Pictures stay in main memory while a pair is in flight, so that another measurer can take over.
 */
import { serializeCalls } from '../../../core/abort.js';
import { AnyvmafError, backendError, internalError, messageOf } from '../../../core/errors.js';
import { type FramePlanes, sampleBytes, type VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/module.js';
import type { PictureSize } from '../../../core/size.js';
import { type ExtractionPlan, placeOf, planeSizes, planesRead } from '../measurer.js';

/**
 * Planes of a picture in GPU memory: luma and, if a call reads them, Cb and Cr. They have no gaps between rows; samples
 * have 8 bits for 8-bit video, else 16 bits little-endian; zeros pad the buffer to whole words.
 */
type GpuPicture = readonly GPUBuffer[];

/** Pictures of a pair, newest first, as far as the plan looks back. */
export interface GpuPair {
  readonly reference: readonly GpuPicture[];
  readonly distorted: readonly GpuPicture[];
}

export type Encode = (pass: GPUComputePassEncoder) => void;

/** One call of the plan on a device. Pairs share the kernel's scratch memory, one after another. */
export interface GpuKernel {
  /** 32-bit words of results per pair. */
  readonly words: number;
  /** Makes the dispatches for one arrangement of pictures. @param results range for the words, aligned to 256 bytes */
  bind(pair: GpuPair, results: GPUBufferBinding): readonly Encode[];
  /** Turns the words into the call's fields: doubles that equal the core's to the last bit. */
  read(words: Uint32Array, fields: Float64Array): void;
  close(): void;
}

export interface GpuFunction {
  /** Name of the core's function, without `anyvmaf_`. */
  readonly run: string;
  /** Bytes of the largest buffer that it binds besides planes; the device must support it. */
  largestBuffer?(call: CoreCall, format: VideoFormat): number;
  open(gpu: OpenDevice, call: CoreCall, format: VideoFormat): Promise<GpuKernel>;
}

/** WebGPU's `GPUBufferUsage`, which is not a global in Node. */
export const BufferUsage = {
  MAP_READ: 0x1,
  MAP_WRITE: 0x2,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
} as const;

/** WebGPU's `GPUMapMode`, which is not a global in Node. */
const MapMode = { READ: 1, WRITE: 2 } as const;

/** The GPU was lost during the run; another measurer can take over. */
export class GpuLostError extends AnyvmafError {
  override readonly name = 'GpuLostError';

  constructor(reason: string) {
    super('backend', `The GPU was lost while it measured (${reason || 'no reason given'}).`);
  }
}

const OPTIONAL_FEATURES = ['timestamp-query', 'subgroups'] as const;

export class OpenDevice {
  readonly device: GPUDevice;
  /** Bytes of the largest buffer that shaders can bind. */
  readonly mostBytes: number;
  readonly #modules = new Map<string, GPUShaderModule>();
  readonly #messages: Promise<readonly string[]>[] = [];
  readonly #onFailure = new Set<(error: AnyvmafError) => void>();
  /** Preparations run one after another, because error scopes form a stack. */
  readonly #serialize = serializeCalls();
  #failure: AnyvmafError | undefined;

  private constructor(device: GPUDevice) {
    this.device = device;
    this.mostBytes = Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize);
    device.lost.then(({ message }) => this.#fail(new GpuLostError(message)));
    device.addEventListener('uncapturederror', ({ error }) => this.#fail(runError(error)));
  }

  /** @param bytes of the largest buffer @throws {AnyvmafError} `backend` if the adapter provides no device */
  static async open(adapter: GPUAdapter, bytes: number): Promise<OpenDevice> {
    const requiredLimits = Object.fromEntries(
      Object.entries({ maxStorageBufferBindingSize: 128 * 2 ** 20, maxBufferSize: 256 * 2 ** 20 })
        .filter(([, always]) => bytes > always)
        .map(([limit]) => [limit, bytes]),
    );
    const requiredFeatures = OPTIONAL_FEATURES.filter((feature) => adapter.features.has(feature));
    try {
      return new OpenDevice(await adapter.requestDevice({ requiredFeatures, requiredLimits }));
    } catch (cause) {
      throw backendError(`The GPU cannot be opened (${messageOf(cause)}).`, { cause });
    }
  }

  get failure(): AnyvmafError | undefined {
    return this.#failure;
  }

  /** @returns a function that removes the listener */
  onFailure(listener: (error: AnyvmafError) => void): () => void {
    this.#onFailure.add(listener);
    return () => this.#onFailure.delete(listener);
  }

  /** Compiles the concatenated WGSL files once for all kernels. */
  module(label: string, ...files: readonly string[]): GPUShaderModule {
    const code = files.join('\n');
    const known = this.#modules.get(code);
    if (known) return known;
    const module = this.device.createShaderModule({ label, code });
    this.#modules.set(code, module);
    this.#messages.push(
      module.getCompilationInfo().then(
        ({ messages }) =>
          messages
            .filter(({ type }) => type === 'error')
            .map(({ lineNum, message }) => `${label}, line ${lineNum}: ${message}`),
        () => [],
      ),
    );
    return module;
  }

  /** Makes shaders and buffers. @throws {AnyvmafError} `resource` if memory is short, `internal` for a bad shader */
  prepare<T>(work: () => Promise<T>): Promise<T> {
    return this.#serialize(() => this.#prepare(work));
  }

  async #prepare<T>(work: () => Promise<T>): Promise<T> {
    const { device } = this;
    for (const kind of ['internal', 'validation', 'out-of-memory'] as const) device.pushErrorScope(kind);
    const [made] = await Promise.allSettled([work()]);
    const scopes = await Promise.allSettled([0, 1, 2].map(() => device.popErrorScope()));
    if (this.#failure) throw this.#failure;
    const messages = (await Promise.all(this.#messages)).flat();
    if (messages.length > 0) throw refusal(messages.join('; '));
    for (const scope of scopes) if (scope.status === 'fulfilled' && scope.value) throw runError(scope.value);
    if (made.status === 'fulfilled') return made.value;
    const { reason } = made;
    // A buffer was too large to be mapped at creation.
    if (reason instanceof RangeError) throw outOfMemory(reason.message);
    throw reason instanceof AnyvmafError ? reason : refusal(messageOf(reason));
  }

  /** Frees the device; pairs in flight fail. */
  close(): void {
    this.#fail(closedError());
    this.device.destroy();
  }

  #fail(error: AnyvmafError): void {
    if (this.#failure) return;
    this.#failure = error;
    for (const listener of this.#onFailure) listener(error);
    this.#onFailure.clear();
  }
}

export function closedError(): AnyvmafError {
  return new AnyvmafError('aborted', 'The GPU was closed while it measured.');
}

function refusal(reason: string): AnyvmafError {
  return internalError(
    `The GPU rejected a command of anyvmaf; this is a bug in anyvmaf or in the GPU driver, please report it with the ` +
      `name of the GPU (${firstLine(reason)}).`,
  );
}

function runError(error: GPUError): AnyvmafError {
  return error.constructor.name === 'GPUOutOfMemoryError'
    ? outOfMemory(error.message)
    : refusal(error.message);
}

function outOfMemory(reason: string): AnyvmafError {
  return new AnyvmafError(
    'resource',
    `The GPU is out of memory (${firstLine(reason)}); close other programs that use it, or use the backend cpu.`,
  );
}

/** Drivers append lines of context. */
const firstLine = (text: string): string => text.slice(0, `${text}\n`.indexOf('\n'));

/** A dispatch with resources from binding 0 on; `undefined` leaves a gap. */
export function dispatchOf(
  device: GPUDevice,
  pipeline: GPUComputePipeline,
  resources: readonly (GPUBuffer | GPUBufferBinding | undefined)[],
  groups: readonly [x: number, y?: number, z?: number],
): Encode {
  const entries = resources.flatMap((bound, binding) => {
    if (!bound) return [];
    return [{ binding, resource: 'buffer' in bound ? bound : { buffer: bound } }];
  });
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  return (pass) => {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(...groups);
  };
}

export class Buffers {
  readonly #device: GPUDevice;
  readonly #all: GPUBuffer[] = [];

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Holds results between passes. */
  scratch(label: string, bytes: number): GPUBuffer {
    return this.#made({ label, size: bytes, usage: BufferUsage.STORAGE });
  }

  uniform(data: Uint32Array): GPUBuffer {
    return this.#filled(data, BufferUsage.UNIFORM);
  }

  storage(data: Uint32Array): GPUBuffer {
    return this.#filled(data, BufferUsage.STORAGE);
  }

  #filled(data: Uint32Array, usage: number): GPUBuffer {
    const buffer = this.#made({ size: data.byteLength, usage, mappedAtCreation: true });
    new Uint32Array(buffer.getMappedRange()).set(data);
    buffer.unmap();
    return buffer;
  }

  #made(descriptor: GPUBufferDescriptor): GPUBuffer {
    const buffer = this.#device.createBuffer(descriptor);
    this.#all.push(buffer);
    return buffer;
  }

  close(): void {
    for (const buffer of this.#all) buffer.destroy();
  }
}

const pipelines = new WeakMap<GPUShaderModule, Map<string, Promise<GPUComputePipeline>>>();

/** Compiles a compute pipeline once per module and constants, the values of its `override` declarations. */
export function pipelineOf(
  device: GPUDevice,
  module: GPUShaderModule,
  constants: Readonly<Record<string, number>> = {},
): Promise<GPUComputePipeline> {
  const compiled = pipelines.get(module) ?? new Map<string, Promise<GPUComputePipeline>>();
  pipelines.set(module, compiled);
  const key = JSON.stringify(constants);
  const known = compiled.get(key);
  if (known) return known;
  const { label } = module;
  const compute = { module, constants };
  const compiling = device.createComputePipelineAsync({ label, layout: 'auto', compute });
  compiled.set(key, compiling);
  return compiling;
}

interface Written {
  /** Padded with zeros to whole words. */
  readonly planes: readonly Uint8Array<ArrayBuffer>[];
  /** The planes without padding. */
  readonly samples: readonly Uint8Array<ArrayBuffer>[];
  /** Changes with each write. */
  version: number;
  /** Index of the pair that it holds; -1 while it is written. */
  index: number;
}

interface Uploaded {
  readonly buffer: GPUBuffer;
  version: number;
}

export interface RingSizes {
  /** In main memory. */
  readonly written: number;
  /** On the GPU. */
  readonly uploaded: number;
}

/** Bytes of a plane's buffer, in whole words. */
export function paddedBytes({ width, height }: PictureSize, bitDepth: number): number {
  return Math.ceil((width * height * sampleBytes(bitDepth)) / 4) * 4;
}

/** Rings of pictures, indexed by pair. */
export class Pictures {
  readonly bytes: number;
  readonly #written: readonly Written[];
  readonly #uploaded: readonly (readonly Uploaded[])[];
  #version = 0;

  /** @param planes number of a picture's planes that the GPU reads, luma first */
  constructor(device: GPUDevice, plan: ExtractionPlan, planes: number, { written, uploaded }: RingSizes) {
    const { format } = plan;
    const sizes = planeSizes(format).slice(0, planesRead(plan));
    const bytes = sizes.map((size) => paddedBytes(size, format.bitDepth));
    this.bytes = bytes.slice(0, planes).reduce((sum, size) => sum + size, 0);
    this.#written = Array.from({ length: written }, () => {
      const memory = bytes.map((length) => new Uint8Array(length));
      const samples = sizes.map(({ width, height }, i) =>
        (memory[i] as Uint8Array<ArrayBuffer>).subarray(0, width * height * sampleBytes(format.bitDepth)),
      );
      return { planes: memory, samples, version: 0, index: -1 };
    });
    this.#uploaded = Array.from({ length: uploaded }, () =>
      bytes.slice(0, planes).map((size) => {
        const usage = BufferUsage.STORAGE | BufferUsage.COPY_DST;
        return { buffer: device.createBuffer({ label: 'plane', size, usage }), version: 0 };
      }),
    );
  }

  write(index: number): FramePlanes {
    const picture = placeOf(this.#written, index);
    picture.version = ++this.#version;
    picture.index = -1;
    return this.#frame(picture);
  }

  keep(index: number): void {
    placeOf(this.#written, index).index = index;
  }

  frame(index: number): FramePlanes | undefined {
    const picture = index >= 0 ? placeOf(this.#written, index) : undefined;
    return picture?.index === index ? this.#frame(picture) : undefined;
  }

  /** Uploads a plane of a kept picture, unless the GPU has it. */
  upload(index: number, plane: number, transfer: Transfer): void {
    const { planes, version } = placeOf(this.#written, index);
    const [from, to] = [planes[plane], placeOf(this.#uploaded, index)[plane]];
    if (!from || !to || to.version === version) return;
    transfer.upload(from, to.buffer);
    to.version = version;
  }

  /** GPU buffers of a picture and its predecessors, newest first. */
  newestFirst(index: number): GpuPicture[] {
    const count = this.#uploaded.length;
    return this.#uploaded.map((_, back) =>
      placeOf(this.#uploaded, index + count - back).map(({ buffer }) => buffer),
    );
  }

  close(): void {
    for (const { buffer } of this.#uploaded.flat()) buffer.destroy();
  }

  #frame({ samples: [y = new Uint8Array(), cb, cr] }: Written): FramePlanes {
    return cb && cr ? { y, cb, cr } : { y };
  }
}

interface Copy {
  readonly offset: number;
  readonly to: GPUBuffer;
}

/** Transfers one pair at a time. Reuses buffers: `writeBuffer` allocates one per large write, slower than the kernels. */
export class Transfer {
  readonly #queue: GPUQueue;
  readonly #staging: GPUBuffer;
  readonly #readback: GPUBuffer;
  /** Memory of the staging buffer until it is submitted. */
  #mapped: Uint8Array;
  #copies: Copy[] = [];
  #used = 0;

  /** @param uploaded bytes of a pair's planes @param results bytes of its results */
  constructor(device: GPUDevice, uploaded: number, results: number) {
    const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST } = BufferUsage;
    this.#queue = device.queue;
    const usage = MAP_WRITE | COPY_SRC;
    const size = Math.min(uploaded, device.limits.maxBufferSize);
    this.#staging = device.createBuffer({ label: 'staging', size, usage, mappedAtCreation: true });
    this.#readback = device.createBuffer({ label: 'read-back', size: results, usage: MAP_READ | COPY_DST });
    this.#mapped = new Uint8Array(this.#staging.getMappedRange());
  }

  /** Uploads whole words to a buffer before the kernels of the next submission run. */
  upload(from: Uint8Array<ArrayBuffer>, to: GPUBuffer): void {
    const offset = this.#used;
    // The first pair of a chunk also uploads its history, and a pair may be larger than a buffer.
    if (offset + from.length > this.#mapped.length) {
      this.#queue.writeBuffer(to, 0, from);
      return;
    }
    this.#mapped.set(from, offset);
    this.#copies.push({ offset, to });
    this.#used += from.length;
  }

  copy(encoder: GPUCommandEncoder): void {
    if (this.#used > 0) this.#staging.unmap();
    for (const { offset, to } of this.#copies)
      encoder.copyBufferToBuffer(this.#staging, offset, to, 0, to.size);
  }

  /** Encodes the copy of the results and submits. */
  submit(encoder: GPUCommandEncoder, results: GPUBuffer): void {
    encoder.copyBufferToBuffer(results, 0, this.#readback, 0, this.#readback.size);
    this.#queue.submit([encoder.finish()]);
  }

  /** Reads the results; then the next pair may follow. @throws the device's error if it is lost or closed */
  async take(read: (results: ArrayBuffer) => void): Promise<void> {
    const staged = this.#used > 0 ? this.#staging.mapAsync(MapMode.WRITE) : undefined;
    await Promise.all([this.#readback.mapAsync(MapMode.READ), staged]);
    read(this.#readback.getMappedRange());
    this.#readback.unmap();
    if (staged) this.#mapped = new Uint8Array(this.#staging.getMappedRange());
    this.#copies = [];
    this.#used = 0;
  }

  close(): void {
    this.#staging.destroy();
    this.#readback.destroy();
  }
}
