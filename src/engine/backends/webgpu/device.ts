/**
 * @module engine/backends/webgpu/device
 * A GPU device: compiled shaders, and one error for whatever goes wrong on it.
 */
import { AnyvmafError } from '../../../core/errors.js';
import type { Gpu } from './kernel.js';

/** What buffers are for: WebGPU's `GPUBufferUsage`, which is no global in Node. */
export const BufferUsage = {
  MAP_READ: 0x1,
  MAP_WRITE: 0x2,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  QUERY_RESOLVE: 0x200,
} as const;

/** WebGPU's `GPUMapMode`, likewise. */
export const MapMode = { READ: 1, WRITE: 2 } as const;

/** The GPU went away in the middle: what it has not measured, others can. */
export class GpuLostError extends AnyvmafError {
  override readonly name = 'GpuLostError';

  constructor(reason: string) {
    super('backend', `The GPU was lost while it measured (${reason || 'no reason given'}).`);
  }
}

/** What kernels use where the adapter has it. */
const FEATURES = ['timestamp-query', 'subgroups'] as const;

/** A device, until it fails or is closed. */
export class OpenDevice implements Gpu {
  readonly device: GPUDevice;
  /** Bytes of the largest buffer that shaders can bind. */
  readonly mostBytes: number;
  readonly #modules = new Map<string, GPUShaderModule>();
  /** Errors of the shaders compiled so far. */
  readonly #messages: Promise<readonly string[]>[] = [];
  readonly #onFailure = new Set<(error: AnyvmafError) => void>();
  /** What is being prepared: one after the other, since errors are told by what was begun last. */
  #preparing: Promise<unknown> = Promise.resolve();
  #failure: AnyvmafError | undefined;

  private constructor(device: GPUDevice) {
    this.device = device;
    this.mostBytes = Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize);
    device.lost.then(({ message }) => this.#fail(new GpuLostError(message)));
    device.addEventListener('uncapturederror', ({ error }) => this.#fail(runError(error)));
  }

  /**
   * Gets the device of an adapter, with no more than is needed.
   * @param bytes of the largest buffer
   * @throws {AnyvmafError} `backend` where the adapter gives none
   */
  static async open(adapter: GPUAdapter, bytes: number): Promise<OpenDevice> {
    const requiredLimits = Object.fromEntries(
      Object.entries({ maxStorageBufferBindingSize: 128 * 2 ** 20, maxBufferSize: 256 * 2 ** 20 })
        .filter(([, always]) => bytes > always)
        .map(([limit]) => [limit, bytes]),
    );
    const requiredFeatures = FEATURES.filter((feature) => adapter.features.has(feature));
    try {
      return new OpenDevice(await adapter.requestDevice({ requiredFeatures, requiredLimits }));
    } catch (cause) {
      throw new AnyvmafError('backend', `The GPU cannot be opened (${reasonOf(cause)}).`, { cause });
    }
  }

  /** Why it measures no more. */
  get failure(): AnyvmafError | undefined {
    return this.#failure;
  }

  /**
   * Calls back when it fails.
   * @returns what ends that
   */
  onFailure(listener: (error: AnyvmafError) => void): () => void {
    this.#onFailure.add(listener);
    return () => this.#onFailure.delete(listener);
  }

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

  /**
   * Makes shaders and buffers.
   * @throws {AnyvmafError} `resource` when the GPU's memory is short, `internal` for a shader that it refuses
   */
  prepare<T>(work: () => Promise<T>): Promise<T> {
    const preparing = this.#preparing.then(() => this.#prepare(work));
    this.#preparing = preparing.catch(() => {});
    return preparing;
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
    // What a buffer that is to be mapped at once cannot be made for.
    if (reason instanceof RangeError) throw outOfMemory(reason.message);
    throw reason instanceof AnyvmafError ? reason : refusal(reasonOf(reason));
  }

  /** Frees it; what is in flight fails. */
  close(): void {
    this.#fail(new AnyvmafError('aborted', 'The GPU was closed while it measured.'));
    this.device.destroy();
  }

  #fail(error: AnyvmafError): void {
    if (this.#failure) return;
    this.#failure = error;
    for (const listener of this.#onFailure) listener(error);
    this.#onFailure.clear();
  }
}

function refusal(reason: string): AnyvmafError {
  return new AnyvmafError(
    'internal',
    `The GPU refuses what anyvmaf asks of it; this is a defect of anyvmaf or of the GPU's driver, please report it ` +
      `with the name of the GPU (${firstLine(reason)}).`,
  );
}

/** What an error of the device says of itself. */
function runError(error: GPUError): AnyvmafError {
  return error.constructor.name === 'GPUOutOfMemoryError'
    ? outOfMemory(error.message)
    : refusal(error.message);
}

function outOfMemory(reason: string): AnyvmafError {
  return new AnyvmafError(
    'resource',
    `The GPU is out of memory (${firstLine(reason)}); close other programs that use it, or measure on the processor.`,
  );
}

/** Drivers add lines of what they were doing. */
function firstLine(text: string): string {
  return text.slice(0, `${text}\n`.indexOf('\n'));
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
