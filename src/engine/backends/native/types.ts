/**
 * @module engine/backends/native/types
 * Types of installed programs that contain libvmaf: which are installed, their compiled-in backends, and whether they
 * work.
 */
import {
  type BackendChoice,
  type BackendName,
  type GpuBackend,
  type NativeFlavour,
  OWN_GPU_BACKENDS,
  type OwnGpuBackend,
} from '../../../core/choices.js';
import type { InputRole } from '../../../core/errors.js';
import type { VideoFormat } from '../../../core/frame.js';
import type { ModelRequest } from '../../../models/types.js';
import type { AdapterFacts } from '../gpu.js';

export {
  BACKEND_CHOICES,
  type BackendChoice,
  type BackendName,
  GPU_BACKENDS,
  type GpuBackend,
} from '../../../core/choices.js';

/** Whether a backend needs no installed program. */
export function isOwnBackend(backend: BackendChoice): backend is 'cpu' | 'wasm' | OwnGpuBackend {
  return ['cpu', 'wasm', ...OWN_GPU_BACKENDS].includes(backend);
}

/** Compiled-in backends, whether they work or not. */
export type BuildFlags = Readonly<Record<'cpu' | GpuBackend, boolean>>;

/** Options of searching for programs. */
export interface NativeOptions {
  /**
   * The installed program: a `vmaf`, or an ffmpeg or ffprobe with the libvmaf filter. Default: what `VMAF_BIN` says,
   * else `vmaf` on PATH, else ffmpeg and ffprobe (`ANYVMAF_FFMPEG`, `ANYVMAF_FFPROBE`, PATH).
   */
  readonly vmafBin?: string;
  /** Aborts the search; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** An installed program that contains libvmaf. */
export interface NativeProgram {
  readonly flavour: NativeFlavour;
  /** Absolute path. */
  readonly path: string;
  /** What it says its version is: libvmaf's for `vmaf`, ffmpeg's for the others; `null` when it does not say. */
  readonly version: string | null;
  readonly build_flags: BuildFlags;
  /** Long options of `vmaf` (without dashes) or of the libvmaf filter that its help names. */
  readonly options: ReadonlySet<string>;
  /** Changes when the file does: path, size and time. */
  readonly key: string;
}

/** The installed `vmaf`, for people and agents who ask what would run. */
export interface NativeDescription {
  /** Absolute path of what was found, or what was looked for; `null` when there was nothing to look at. */
  readonly binary_path: string | null;
  readonly version: string | null;
  readonly build_flags: BuildFlags;
  /** What kind of program it is; `null` when there is none. */
  readonly flavour: NativeFlavour | null;
  /** A sentence, when there is none or it cannot be used. */
  readonly error: string | null;
}

/** One backend in a {@link BackendList}. */
export interface BackendDetail {
  readonly backend: Exclude<BackendName, 'wasm'>;
  /** Whether something here was built with it. */
  readonly compiled_in: boolean;
  /** What would run it: this package's core, or a program's absolute path; `null` if nothing would. */
  readonly runs: string | null;
  /** How to install it, a sentence; `null` if it is available. */
  readonly advice: string | null;
}

/** The backends there are. The flags say compiled in; `probeBackend` says whether one works. */
export interface BackendList extends BuildFlags {
  /** Whether what WebGPU needs is here; a GPU may be missing still. */
  readonly webgpu: boolean;
  /** Whether an installed libvmaf can be asked for by name, `native-cpu`. */
  readonly native_cpu: boolean;
  readonly details: readonly BackendDetail[];
  readonly native: NativeDescription;
}

/** How to probe. */
export interface ProbeOptions extends NativeOptions {
  /** Time limit of a program in milliseconds. Default 20000. */
  readonly timeout?: number;
}

/** Whether a backend works: one 64x64 grey frame scored against itself with vmaf_v0.6.1. */
export interface BackendHealth {
  readonly backend: Exclude<BackendName, 'wasm'>;
  readonly compiled_in: boolean;
  readonly runtime_healthy: boolean;
  /** Wall-clock milliseconds of the probe; `null` if nothing could be started. */
  readonly latency_ms: number | null;
  /** VMAF, near 100; `null` without a score. */
  readonly score: number | null;
  /** Why it does not work, a sentence; `null` if it works. */
  readonly error: string | null;
  /** Backends `webgpu` and `hybrid`: the GPU that measured. */
  readonly adapter?: AdapterFacts;
}

/** Backends that an installed program runs. */
export type NativeBackend = Exclude<BackendName, 'cpu' | 'wasm' | OwnGpuBackend>;

/** A model as libvmaf finds it. */
export interface NativeModel
  extends Pick<ModelRequest, 'name' | 'disableClip' | 'enableTransform' | 'overloads'> {
  /** A model built into the program, or a file in its working directory. */
  readonly source: { readonly version: string } | { readonly file: string };
}

/** Which processors to use, as the `vmaf` tool takes it. */
export interface DeviceOptions {
  /** Mask of SIMD levels to disable. */
  readonly cpumask?: number;
  /** If not 0: mask of GPU operations to disable. */
  readonly gpumask?: number;
  /** Number of the device. */
  readonly syclDevice?: number;
  readonly hipDevice?: number;
  readonly metalDevice?: number;
}

/** Two videos: stored Y4M files, or raw planar files and pipes of one format. */
export interface NativeInput {
  readonly reference: string;
  readonly distorted: string;
  /** Absent for Y4M. */
  readonly raw?: VideoFormat;
}

/** Everything that a command line says. */
export interface NativeTask {
  readonly backend: NativeBackend;
  readonly input: NativeInput;
  readonly models: readonly NativeModel[];
  /** Feature strings in libvmaf's grammar. */
  readonly features: readonly string[];
  readonly predicts: boolean;
  /** At least 1. */
  readonly subsample: number;
  /** 0: none beside the main thread. */
  readonly threads: number;
  readonly devices: DeviceOptions;
  /** Pairs to score; absent for all. */
  readonly frameCount?: number;
  /** Frames to discard at the start of each. */
  readonly skip?: Readonly<Record<InputRole, number>>;
  /** File for the log. */
  readonly log: string;
}

/** What libvmaf is told of a model, as key and value; flags in the form that both grammars take. */
export function modelItems(model: NativeModel): readonly (readonly [string, string])[] {
  const { source, name, disableClip, enableTransform, overloads } = model;
  return [
    'version' in source ? ['version', source.version] : ['path', source.file],
    ['name', name],
    ...(disableClip ? [['disable_clip', 'true'] as const] : []),
    ...(enableTransform ? [['enable_transform', 'true'] as const] : []),
    ...overloads.map(({ extractor, option, value }) => [`${extractor}.${option}`, value] as const),
  ];
}
