/**
 * @module core/module
 * Loader and typed view of the WebAssembly core (wasm/include/anyvmaf.h): one instance, its memory, its contexts.
 */

import { AnyvmafError } from './errors.js';
import type { VideoFormat } from './frame.js';
import { type MetricVariant, metricSpec } from './kernel.js';
import type { WasmBytes, WasmMemory, WasmModule } from './wasm-types.js';

/** Which column of the core's function table runs. */
export type Implementation = 'simd128' | 'portable';

const ABI_VERSION = 2;
const IMPLEMENTATIONS: Record<Implementation, number> = { portable: 0, simd128: 1 };
const OUT_OF_MEMORY = -12;
const OUT_OF_RANGE = -22;

/** Fixed layout of the core's `AnyvmafAdmVariant`, bytes. */
const ADM_VARIANT = { bytes: 88, gainLimit: 0, noiseWeight: 8, rf: 16, fi: 48, skipAim: 80, skipScale0: 84 };

/** A plane in the core's memory. */
export interface CorePlane {
  readonly address: number;
  readonly width: number;
  readonly height: number;
}

/** A picture in the core's memory. */
export interface CorePicture {
  /** Given to no other picture of the same context. */
  readonly serial: number;
  /** Luma, then Cb and Cr where they are held. */
  readonly planes: readonly CorePlane[];
}

/** What a metric may look at. */
export interface CoreFrames {
  readonly reference: CorePicture;
  readonly distorted: CorePicture;
  readonly earlierReference: CorePicture | undefined;
  readonly earlierDistorted: CorePicture | undefined;
}

/** 32-bit words of the core's `AnyvmafPicture` and `AnyvmafFrames`. */
const PICTURE_WORDS = 10;
const FRAMES_WORDS = 4 * PICTURE_WORDS;

/** One parameter set of ADM as the core takes it; index [scale][0] is for bands h and v, [scale][1] for band d. */
export interface CoreAdmVariant {
  readonly gainLimit: number;
  readonly noiseWeight: number;
  /** Factors in binary32. */
  readonly rf: readonly (readonly [number, number])[];
  /** The same in fixed point. */
  readonly fi: readonly (readonly [number, number])[];
  readonly skipAim: boolean;
  readonly skipScale0: boolean;
}

type Native = (...args: number[]) => number;

interface CoreExports {
  readonly memory: WasmMemory;
  readonly call: (name: string) => Native;
}

/**
 * Compiles the core once for any number of instances.
 * @throws {AnyvmafError} 'internal' when the bytes are no WebAssembly module or this runtime has no 128-bit SIMD.
 */
export async function compileCore(bytes: WasmBytes): Promise<WasmModule> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new AnyvmafError(
      'internal',
      'The WebAssembly core does not compile here; anyvmaf needs a runtime with WebAssembly SIMD (Node 20.19 or a ' +
        'browser of 2023 or later).',
      { cause },
    );
  }
}

function readExports(instance: WebAssembly.Instance): CoreExports {
  const { exports } = instance;
  const memory = exports.memory;
  if (!(memory instanceof WebAssembly.Memory)) {
    throw new AnyvmafError(
      'internal',
      'The module handed in as the core exports no memory; it is not anyvmaf.wasm.',
    );
  }
  return {
    memory,
    call: (name) => {
      const value = exports[name];
      if (typeof value !== 'function') {
        throw new AnyvmafError(
          'internal',
          `The module handed in as the core lacks ${name}; it is not anyvmaf.wasm.`,
        );
      }
      return (...args) => Number(value(...args));
    },
  };
}

/** An instance of the core. Not shared between threads. */
export class Core {
  readonly memory: WasmMemory;
  readonly #alloc: Native;
  readonly #free: Native;
  readonly #planeBytes: Native;
  /** The exported functions by name. */
  readonly call: CoreExports['call'];

  constructor(module: WasmModule) {
    // Growth needs no notice: views are made anew from the memory's current buffer.
    const imports = { env: { emscripten_notify_memory_growth: () => {} } };
    const { memory, call } = readExports(new WebAssembly.Instance(module, imports));
    this.memory = memory;
    this.call = call;
    call('_initialize')();
    const version = call('anyvmaf_abi_version')();
    if (version !== ABI_VERSION) {
      throw new AnyvmafError(
        'internal',
        `The core has interface version ${version} but this package needs ${ABI_VERSION}; use the anyvmaf.wasm that ` +
          'came with it.',
      );
    }
    this.#alloc = call('anyvmaf_alloc');
    this.#free = call('anyvmaf_free');
    this.#planeBytes = call('anyvmaf_plane_bytes');
  }

  /**
   * Zeroed memory, 16-byte aligned.
   * @returns its address
   * @throws {AnyvmafError} 'resource' when there is none left.
   */
  alloc(bytes: number): number {
    const address = this.#alloc(bytes) >>> 0;
    if (address === 0) throw outOfMemory();
    new Uint8Array(this.memory.buffer, address, bytes).fill(0);
    return address;
  }

  free(address: number): void {
    this.#free(address);
  }

  /** Bytes to allocate for a plane: its samples and the slack that vectors may read. */
  planeBytes(width: number, height: number, bitDepth: number): number {
    return this.#planeBytes(width, height, bitDepth);
  }

  /** Opens a context for pictures of `format`. */
  open(format: VideoFormat, implementation: Implementation): CoreContext {
    return new CoreContext(this, format, implementation);
  }
}

/** A function of the core that says what it measured when the module traps: a defect of the core, never of the input. */
function reporting(run: Native, metric: string, { width, height, bitDepth }: VideoFormat): Native {
  return (...args) => {
    try {
      return run(...args);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new AnyvmafError(
        'internal',
        `The WebAssembly core failed on ${metric} of ${width}x${height} pictures of ${bitDepth} bits (${reason}); this ` +
          'is a defect of anyvmaf: please report it with the metric, the size and the options of the run.',
        { cause },
      );
    }
  };
}

function outOfMemory(): AnyvmafError {
  return new AnyvmafError('resource', 'The WebAssembly core is out of memory; score with fewer threads.');
}

/** Most VIF gain limits and ADM parameter sets that one call measures. */
export const MAX_GAIN_LIMITS = 16;
export const MAX_ADM_VARIANTS = 64;

/** The core's metrics for pictures of one format. Planes are addresses in the core's memory. */
export class CoreContext {
  readonly #core: Core;
  readonly #format: VideoFormat;
  readonly #context: number;
  readonly #results: number;
  readonly #parameters: number;
  readonly #frames: number;
  readonly #close: Native;
  readonly #vif: Native;
  readonly #adm: Native;
  readonly #motion: Native;
  readonly #motionLegacy: Native;
  readonly #sse: Native;
  readonly #metrics = new Map<string, Native>();

  constructor(core: Core, format: VideoFormat, implementation: Implementation) {
    this.#core = core;
    this.#format = format;
    const open = core.call('anyvmaf_open');
    this.#context = open(format.width, format.height, format.bitDepth, IMPLEMENTATIONS[implementation]) >>> 0;
    if (this.#context === 0) throw outOfMemory();
    this.#results = core.alloc(MAX_ADM_VARIANTS * 12 * 8);
    this.#parameters = core.alloc(MAX_ADM_VARIANTS * ADM_VARIANT.bytes);
    this.#frames = core.alloc(FRAMES_WORDS * 4);
    this.#close = core.call('anyvmaf_close');
    this.#vif = this.#function('anyvmaf_vif', 'vif');
    this.#adm = this.#function('anyvmaf_adm', 'adm');
    this.#motion = this.#function('anyvmaf_motion', 'motion');
    this.#motionLegacy = this.#function('anyvmaf_motion_legacy', 'motion');
    this.#sse = this.#function('anyvmaf_sse', 'psnr');
  }

  #function(name: string, metric: string): Native {
    return reporting(this.#core.call(name), metric, this.#format);
  }

  close(): void {
    this.#close(this.#context);
    this.#core.free(this.#results);
    this.#core.free(this.#parameters);
    this.#core.free(this.#frames);
  }

  /** VIF for up to {@link MAX_GAIN_LIMITS} gain limits at once; 8 doubles each, see `anyvmaf_vif`. */
  vif(reference: number, distorted: number, gainLimits: readonly number[], firstScale: 0 | 1): Float64Array {
    new Float64Array(this.#core.memory.buffer, this.#parameters, gainLimits.length).set(gainLimits);
    const count = gainLimits.length;
    const status = this.#vif(
      this.#context,
      reference,
      distorted,
      this.#parameters,
      count,
      firstScale,
      this.#results,
    );
    return this.#take(status, 'vif', count * 8);
  }

  /** ADM for up to {@link MAX_ADM_VARIANTS} parameter sets; 12 doubles each, see `anyvmaf_adm`. */
  adm(reference: number, distorted: number, variants: readonly CoreAdmVariant[]): Float64Array {
    this.#writeVariants(variants);
    const count = variants.length;
    const status = this.#adm(this.#context, reference, distorted, this.#parameters, count, this.#results);
    return this.#take(status, 'adm', count * 12);
  }

  /**
   * VIF by cells, see `anyvmaf_vif_map`.
   * @param block side of a cell in pixels, a power of two up to 256
   * @param cells number of cells of all scales
   * @returns 4 integers a cell, below 2^53
   */
  vifMap(
    reference: number,
    distorted: number,
    gainLimit: number,
    block: number,
    cells: number,
  ): Float64Array<ArrayBuffer> {
    const run = this.#function('anyvmaf_vif_map', 'map of vif');
    return this.#takeCells('map of vif', 4 * cells, (at) =>
      run(this.#context, reference, distorted, gainLimit, block, at),
    );
  }

  /**
   * ADM by cells, see `anyvmaf_adm_map`; otherwise as {@link vifMap}.
   * @returns 6 integers a cell, and the scores of the scales that follow from their sums
   */
  admMap(
    reference: number,
    distorted: number,
    variant: CoreAdmVariant,
    block: number,
    cells: number,
  ): { readonly cells: Float64Array<ArrayBuffer>; readonly scores: Float64Array<ArrayBuffer> } {
    this.#writeVariants([variant]);
    const run = this.#function('anyvmaf_adm_map', 'map of adm');
    const taken = this.#takeCells('map of adm', 6 * cells, (at) =>
      run(this.#context, reference, distorted, this.#parameters, block, at, this.#results),
    );
    return { cells: taken, scores: this.#take(0, 'map of adm', 8).slice() };
  }

  /** Runs what writes `length` 64-bit integers, and gives them as doubles. */
  #takeCells(metric: string, length: number, run: (address: number) => number): Float64Array<ArrayBuffer> {
    const address = this.#core.alloc(8 * length);
    try {
      this.#take(run(address), metric, 0);
      return Float64Array.from(new BigInt64Array(this.#core.memory.buffer, address, length), Number);
    } finally {
      this.#core.free(address);
    }
  }

  #writeVariants(variants: readonly CoreAdmVariant[]): void {
    const view = new DataView(
      this.#core.memory.buffer,
      this.#parameters,
      variants.length * ADM_VARIANT.bytes,
    );
    variants.forEach((variant, i) => {
      const at = i * ADM_VARIANT.bytes;
      view.setFloat64(at + ADM_VARIANT.gainLimit, variant.gainLimit, true);
      view.setFloat64(at + ADM_VARIANT.noiseWeight, variant.noiseWeight, true);
      variant.rf.flat().forEach((factor, k) => {
        view.setFloat32(at + ADM_VARIANT.rf + 4 * k, factor, true);
      });
      variant.fi.flat().forEach((factor, k) => {
        view.setUint32(at + ADM_VARIANT.fi + 4 * k, factor, true);
      });
      view.setUint32(at + ADM_VARIANT.skipAim, Number(variant.skipAim), true);
      view.setUint32(at + ADM_VARIANT.skipScale0, Number(variant.skipScale0), true);
    });
  }

  /** Integer SAD of the blurred difference of two reference planes, or of the blurred planes (`legacy`). */
  motion(earlier: number, current: number, legacy: boolean): number {
    const run = legacy ? this.#motionLegacy : this.#motion;
    return this.#take(run(this.#context, earlier, current, this.#results), 'motion', 1)[0] ?? Number.NaN;
  }

  /** Sum of squared errors of `samples` samples: its high and low 32 bits. */
  sse(a: number, b: number, samples: number): Float64Array {
    return this.#take(this.#sse(this.#context, a, b, samples, this.#results), 'psnr', 2);
  }

  /** Says which pictures {@link metric} measures from now on. */
  setFrames({ reference, distorted, earlierReference, earlierDistorted }: CoreFrames): void {
    const words = new Uint32Array(this.#core.memory.buffer, this.#frames, FRAMES_WORDS).fill(0);
    [reference, distorted, earlierReference, earlierDistorted].forEach((picture, i) => {
      if (!picture) return;
      words[i * PICTURE_WORDS] = picture.serial;
      picture.planes.forEach(({ address, width, height }, plane) => {
        words.set([address, width, height], i * PICTURE_WORDS + 1 + 3 * plane);
      });
    });
  }

  /**
   * Runs a metric on the pictures of {@link setFrames}; its fields as wasm/include/anyvmaf.h has them, `undefined` when
   * a sample needs more bits than the video has and the metric has no value then.
   * @param heat where its heatmaps go, if they are wanted
   */
  metric({ metric, options }: MetricVariant, heat?: number): Float64Array | undefined {
    const name = heat === undefined ? `anyvmaf_${metric}` : `anyvmaf_${metric}_map`;
    let run = this.#metrics.get(name);
    if (!run) {
      run = this.#function(name, metric);
      this.#metrics.set(name, run);
    }
    new Float64Array(this.#core.memory.buffer, this.#parameters, options.length).set(options);
    const places = heat === undefined ? [this.#results] : [heat, this.#results];
    const status = run(this.#context, this.#frames, this.#parameters, ...places);
    // Options and sizes are checked before a run, so it can only be the samples.
    if (status === OUT_OF_RANGE) return undefined;
    return this.#take(status, metric, metricSpec(metric).fields);
  }

  #take(status: number, metric: string, length: number): Float64Array {
    if (status === OUT_OF_MEMORY) throw outOfMemory();
    if (status !== 0) {
      throw new AnyvmafError(
        'internal',
        `The core refused ${metric} with code ${status}; please report this.`,
      );
    }
    return new Float64Array(this.#core.memory.buffer, this.#results, length);
  }
}
