/**
 * @module engine/backends/webgpu/device
 * A GPU device: its compiled shaders, and a single error for any failure on it.
 */
import { AnyvmafError } from '../../../core/errors.js';
import type { Gpu } from './kernel.js';

/** WebGPU's `GPUBufferUsage`, which is not a global in Node. */
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

/** The GPU was lost during the run: what it has not measured, other measurers can. */
export class GpuLostError extends AnyvmafError {
  override readonly name = 'GpuLostError';

  constructor(reason: string) {
    super('backend', `The GPU was lost while it measured (${reason || 'no reason given'}).`);
  }
}

/** Features that kernels use if the adapter has them. */
const FEATURES = ['timestamp-query', 'subgroups'] as const;

export class OpenDevice implements Gpu {
  readonly device: GPUDevice;
  /** Bytes of the largest buffer that shaders can bind. */
  readonly mostBytes: number;
  readonly #modules = new Map<string, GPUShaderModule>();
  readonly #messages: Promise<readonly string[]>[] = [];
  readonly #onFailure = new Set<(error: AnyvmafError) => void>();
  /** Preparations run one after another, because error scopes form a stack. */
  #preparing: Promise<unknown> = Promise.resolve();
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
    const requiredFeatures = FEATURES.filter((feature) => adapter.features.has(feature));
    try {
      return new OpenDevice(await adapter.requestDevice({ requiredFeatures, requiredLimits }));
    } catch (cause) {
      throw new AnyvmafError('backend', `The GPU cannot be opened (${reasonOf(cause)}).`, { cause });
    }
  }

  /** Why it stopped measuring. */
  get failure(): AnyvmafError | undefined {
    return this.#failure;
  }

  /** Calls back on failure. @returns a function that removes the listener */
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

  /** Makes shaders and buffers. @throws {AnyvmafError} `resource` if memory is short, `internal` for a bad shader */
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
    // Thrown for a buffer that is too large to be mapped at creation.
    if (reason instanceof RangeError) throw outOfMemory(reason.message);
    throw reason instanceof AnyvmafError ? reason : refusal(reasonOf(reason));
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
  return new AnyvmafError(
    'internal',
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
function firstLine(text: string): string {
  return text.slice(0, `${text}\n`.indexOf('\n'));
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
