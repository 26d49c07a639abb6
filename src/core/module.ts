/**
 * @module core/module
 * Loads the WebAssembly core (wasm/include/anyvmaf.h): one instance with its memory, its contexts, and calls of its
 * functions as data.
 */
import type { WasmMemory, WasmModule } from './compile.js';
import { AnyvmafError, internalError, messageOf } from './errors.js';
import type { VideoFormat } from './frame.js';

/** Column of the core's function table. */
export type Implementation = 'simd128' | 'portable';

const ABI_VERSION = 3;
const IMPLEMENTATIONS: Record<Implementation, number> = { portable: 0, simd128: 1 };
const OUT_OF_MEMORY = -12;
const OUT_OF_RANGE = -22;
/** Sizes of the memory for parameters and results of a call. */
const PARAMETER_BYTES = 8192;
const RESULT_BYTES = 8192;

export interface CoreModules {
  readonly core: WasmModule;
  /** `perceptual.wasm`, for metrics of colour. */
  readonly perceptual?: WasmModule;
}

export interface CorePlane {
  readonly address: number;
  readonly width: number;
  readonly height: number;
}

export interface CorePicture {
  /** Unique among the pictures of a context. */
  readonly serial: number;
  /** Luma, Cb, Cr, alpha, as far as present. */
  readonly planes: readonly CorePlane[];
}

/** Pictures that a call may read: the pair's, then those of earlier pairs. */
export interface CoreFrames {
  readonly reference: readonly CorePicture[];
  readonly distorted: readonly CorePicture[];
}

/** Sizes in 32-bit words of the core's `AnyvmafPicture`, `AnyvmafFrames`, and `AnyvmafHistory` without its pictures. */
const PICTURE_WORDS = 13;
const FRAMES_WORDS = 4 * PICTURE_WORDS;
const HISTORY_WORDS = 3;

type Native = (...args: number[]) => number;

interface CoreExports {
  readonly memory: WasmMemory;
  readonly call: (name: string) => Native;
}

function readExports(instance: WebAssembly.Instance): CoreExports {
  const { exports } = instance;
  const memory = exports.memory;
  if (!(memory instanceof WebAssembly.Memory))
    throw internalError('The module handed in as the core exports no memory; it is not anyvmaf.wasm.');
  return {
    memory,
    call: (name) => {
      const value = exports[name];
      if (typeof value !== 'function')
        throw internalError(`The module handed in as the core lacks ${name}; it is not anyvmaf.wasm.`);
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
  readonly call: CoreExports['call'];

  constructor(module: WasmModule) {
    // Views are made from the memory's current buffer each time, so growth needs no notification.
    const imports = { env: { emscripten_notify_memory_growth: () => {} } };
    const { memory, call } = readExports(new WebAssembly.Instance(module, imports));
    this.memory = memory;
    this.call = call;
    call('_initialize')();
    const version = call('anyvmaf_abi_version')();
    if (version !== ABI_VERSION)
      throw internalError(
        `The core has interface version ${version} but this package needs ${ABI_VERSION}; use the anyvmaf.wasm that ` +
          'came with it.',
      );
    this.#alloc = call('anyvmaf_alloc');
    this.#free = call('anyvmaf_free');
    this.#planeBytes = call('anyvmaf_plane_bytes');
  }

  /** Address of zeroed memory, 16-byte aligned. @throws {AnyvmafError} `resource` if memory runs out */
  alloc(bytes: number): number {
    const address = this.#alloc(bytes) >>> 0;
    if (address === 0) throw outOfMemory();
    new Uint8Array(this.memory.buffer, address, bytes).fill(0);
    return address;
  }

  free(address: number): void {
    this.#free(address);
  }

  /** Bytes to allocate for a plane: its samples, and padding that vectors may read. */
  planeBytes(width: number, height: number, bitDepth: number): number {
    return this.#planeBytes(width, height, bitDepth);
  }

  open(format: VideoFormat, implementation: Implementation): CoreContext {
    return new CoreContext(this, format, implementation);
  }
}

/** Adds what was measured to traps of the module, which are always defects of the core, never of the input. */
function reporting(run: Native, metric: string, { width, height, bitDepth }: VideoFormat): Native {
  return (...args) => {
    try {
      return run(...args);
    } catch (cause) {
      throw internalError(
        `The WebAssembly core failed on ${metric} of ${width}x${height} pictures of ${bitDepth} bits (${messageOf(cause)}); this ` +
          'is a defect of anyvmaf: please report it with the metric, the size and the options of the run.',
        { cause },
      );
    }
  };
}

function outOfMemory(): AnyvmafError {
  return new AnyvmafError('resource', 'The WebAssembly core is out of memory; score with fewer threads.');
}

/** An `AnyvmafPicture` up to its last present plane. */
function pictureWords({ serial, planes }: CorePicture): number[] {
  return [serial, ...planes.flatMap(({ address, width, height }) => [address, width, height])];
}

/** The core's metrics for pictures of one format. Planes are addresses in the core's memory. */
export class CoreContext {
  readonly #core: Core;
  readonly #format: VideoFormat;
  readonly #context: number;
  readonly #results: number;
  readonly #parameters: number;
  /** Address of the core's `AnyvmafFrames`. */
  readonly #frames: number;
  /** An `AnyvmafHistory`, with room behind it for the pictures of `pairs` pairs. */
  #history = { address: 0, pairs: 0 };
  readonly #close: Native;
  readonly #functions = new Map<string, Native>();
  #pictures: CoreFrames = { reference: [], distorted: [] };

  constructor(core: Core, format: VideoFormat, implementation: Implementation) {
    this.#core = core;
    this.#format = format;
    const open = core.call('anyvmaf_open');
    this.#context = open(format.width, format.height, format.bitDepth, IMPLEMENTATIONS[implementation]) >>> 0;
    if (this.#context === 0) throw outOfMemory();
    this.#results = core.alloc(RESULT_BYTES);
    this.#parameters = core.alloc(PARAMETER_BYTES);
    this.#frames = core.alloc(FRAMES_WORDS * 4);
    this.#close = core.call('anyvmaf_close');
  }

  #function(name: string, metric: string): Native {
    let run = this.#functions.get(name);
    if (!run) {
      run = reporting(this.#core.call(`anyvmaf_${name}`), metric, this.#format);
      this.#functions.set(name, run);
    }
    return run;
  }

  close(): void {
    this.#close(this.#context);
    this.#core.free(this.#results);
    this.#core.free(this.#parameters);
    this.#core.free(this.#frames);
    this.#core.free(this.#history.address);
  }

  /**
   * VIF by cells, see `anyvmaf_vif_map`.
   * @param block side of a cell in pixels, a power of two up to 256
   * @param cells number over all scales
   * @returns 4 integers per cell, below 2^53
   */
  vifMap(
    reference: number,
    distorted: number,
    gainLimit: number,
    block: number,
    cells: number,
  ): Float64Array<ArrayBuffer> {
    const run = this.#function('vif_map', 'map of vif');
    return this.#takeCells('map of vif', 4 * cells, (at) =>
      run(this.#context, reference, distorted, gainLimit, block, at),
    );
  }

  /**
   * ADM by cells, see `anyvmaf_adm_map`; otherwise like {@link vifMap}.
   * @param parameters an `AnyvmafAdmVariant`
   * @returns 6 integers per cell, and the scores of the scales from their sums
   */
  admMap(
    reference: number,
    distorted: number,
    parameters: Uint8Array,
    block: number,
    cells: number,
  ): { readonly cells: Float64Array<ArrayBuffer>; readonly scores: Float64Array<ArrayBuffer> } {
    this.#setParameters(parameters);
    const run = this.#function('adm_map', 'map of adm');
    const taken = this.#takeCells('map of adm', 6 * cells, (at) =>
      run(this.#context, reference, distorted, this.#parameters, block, at, this.#results),
    );
    return { cells: taken, scores: this.#take(0, 'map of adm', 8).slice() };
  }

  /** Runs a function that writes `length` 64-bit integers, and returns them as doubles. */
  #takeCells(metric: string, length: number, run: (address: number) => number): Float64Array<ArrayBuffer> {
    const address = this.#core.alloc(8 * length);
    try {
      this.#take(run(address), metric, 0);
      return Float64Array.from(new BigInt64Array(this.#core.memory.buffer, address, length), Number);
    } finally {
      this.#core.free(address);
    }
  }

  setFrames(pictures: CoreFrames): void {
    this.#pictures = pictures;
    const words = new Uint32Array(this.#core.memory.buffer, this.#frames, FRAMES_WORDS).fill(0);
    const [[reference, earlierReference], [distorted, earlierDistorted]] = [
      pictures.reference,
      pictures.distorted,
    ];
    [reference, distorted, earlierReference, earlierDistorted].forEach((picture, i) => {
      if (picture) words.set(pictureWords(picture), i * PICTURE_WORDS);
    });
  }

  #putHistory(metric: string): number {
    const { reference, distorted } = this.#pictures;
    const pairs = reference.length;
    if (distorted.length !== pairs)
      throw internalError(
        `For ${metric}, ${pairs} reference pictures are held but ${distorted.length} distorted ones.`,
      );
    const length = HISTORY_WORDS + 2 * pairs * PICTURE_WORDS;
    if (pairs > this.#history.pairs) {
      this.#core.free(this.#history.address);
      this.#history = { address: 0, pairs: 0 };
      this.#history = { address: this.#core.alloc(4 * length), pairs };
    }
    const { address } = this.#history;
    const words = new Uint32Array(this.#core.memory.buffer, address, length).fill(0);
    const first = address + 4 * HISTORY_WORDS;
    words.set([pairs, first, first + 4 * pairs * PICTURE_WORDS]);
    [...reference, ...distorted].forEach((picture, i) => {
      words.set(pictureWords(picture), HISTORY_WORDS + i * PICTURE_WORDS);
    });
    return address;
  }

  /**
   * Runs a call on the pictures of {@link setFrames}.
   * @param heat address for its heatmaps, if requested
   * @returns its fields as in wasm/include/anyvmaf.h, valid until the next call; `undefined` if a sample has more bits
   * than the video and the metric then has no value
   */
  run(
    call: Pick<CoreCall, 'metric' | 'run' | 'args' | 'parameters' | 'fields' | 'padded'>,
    heat?: number,
  ): Float64Array | undefined {
    const { metric, run, args, parameters, fields, padded } = call;
    const native = this.#function(run, metric);
    if (parameters) this.#setParameters(parameters);
    const values = args.map((arg) => {
      if (typeof arg === 'number') return arg;
      if (typeof arg === 'object') return this.#plane(arg, padded);
      if (arg === 'history') return this.#putHistory(metric);
      if (arg !== 'heatmaps') return arg === 'frames' ? this.#frames : this.#parameters;
      if (heat !== undefined) return heat;
      throw internalError(`There is no room for the heatmaps of ${metric}.`);
    });
    const status = native(this.#context, ...values, this.#results);
    // Options and sizes are checked before a run, so only samples can be out of range.
    if (status === OUT_OF_RANGE) return undefined;
    return this.#take(status, metric, fields);
  }

  #setParameters(bytes: Uint8Array): void {
    if (bytes.length > PARAMETER_BYTES)
      throw internalError(`A call of the core has ${bytes.length} bytes of parameters.`);
    new Uint8Array(this.#core.memory.buffer, this.#parameters, bytes.length).set(bytes);
  }

  /** @param padded gives null for a picture before the first pair */
  #plane({ of, plane, back }: PlaneArgument, padded = false): number {
    const picture = this.#pictures[of][back];
    if (padded && !picture) return 0;
    const found = picture?.planes[plane];
    if (!found) throw internalError(`Plane ${plane} of the ${of} video is not held.`);
    return found.address;
  }

  #take(status: number, metric: string, length: number): Float64Array {
    if (status === OUT_OF_MEMORY) throw outOfMemory();
    if (status !== 0)
      throw internalError(`The core refused ${metric} with code ${status}; please report this.`);
    return new Float64Array(this.#core.memory.buffer, this.#results, length);
  }
}

export interface PlaneArgument {
  readonly of: 'reference' | 'distorted';
  /** 0 luma, 1 Cb, 2 Cr. */
  readonly plane: 0 | 1 | 2;
  /** Pairs back from the measured one, 0 for itself. */
  readonly back: number;
}

/**
 * An argument of a core function, between the context and the address of the results. `frames`: the pair and the one
 * before it. `history`: the pair and all earlier ones present, which are fewer when a clip begins.
 */
export type CallArgument = number | 'frames' | 'history' | 'parameters' | 'heatmaps' | PlaneArgument;

/** A file of pictures, one per frame, with a metric's value of every sample. */
export interface HeatmapFile {
  /** The folder, as the caller named it. */
  readonly folder: string;
  readonly name: string;
  /** Samples per picture, 16 bits each, little-endian. */
  readonly samples: number;
}

/** One call of the core for each frame pair. */
export interface CoreCall {
  /** Name of the extractor. */
  readonly metric: string;
  /** The core's function, without `anyvmaf_`. */
  readonly run: string;
  /** Set for functions of perceptual.wasm. */
  readonly module?: 'perceptual';
  readonly args: readonly CallArgument[];
  /** Parameters as structs or doubles, as the function expects. */
  readonly parameters?: Uint8Array;
  /** Number of doubles that it returns per frame. */
  readonly fields: number;
  /** Earlier pairs that it reads; of the distorted video too if `pictures` is `pair`. */
  readonly back: number;
  /** Set if it reads only the reference's luma of earlier pairs. */
  readonly earlier?: 'luma';
  /** Also runs while earlier pairs are missing at the start, with null for their planes or a shorter history. */
  readonly padded?: true;
  readonly pictures: 'reference' | 'pair';
  readonly chroma: boolean;
  /** True if also measured on frames that subsampling skips. */
  readonly everyFrame: boolean;
  /** Nanoseconds per luma sample, measured; decides how many workers a run needs. */
  readonly cost: number;
  /** Files of its heatmaps by scale, if requested. */
  readonly heatmaps?: readonly HeatmapFile[];
}
