/**
 * @module engine/backends/native/types
 * Types of installed programs that contain libvmaf, of their backends, and of probes.
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

/** Options for finding programs. */
export interface NativeOptions {
  /**
   * The installed program: a `vmaf`, or an ffmpeg or ffprobe with the libvmaf filter. Default: `VMAF_BIN`, else `vmaf`
   * on PATH, else ffmpeg and ffprobe (`ANYVMAF_FFMPEG`, `ANYVMAF_FFPROBE`, PATH).
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
  /** Version it reports: libvmaf's for `vmaf`, ffmpeg's for the others; `null` if it reports none. */
  readonly version: string | null;
  readonly build_flags: BuildFlags;
  /** Options in the help of `vmaf` (long ones, without dashes) or of the libvmaf filter. */
  readonly options: ReadonlySet<string>;
  /** Changes when the file does: path, size and time. */
  readonly key: string;
}

/** The installed program that native backends would run. */
export interface NativeDescription {
  /** Absolute path of the program, or of the one that was rejected; `null` if there is none. */
  readonly binary_path: string | null;
  readonly version: string | null;
  readonly build_flags: BuildFlags;
  /** Kind of program; `null` if there is none. */
  readonly flavour: NativeFlavour | null;
  /** A sentence if there is none, or if it cannot be used. */
  readonly error: string | null;
}

/** One backend in a {@link BackendList}. */
export interface BackendDetail {
  readonly backend: Exclude<BackendName, 'wasm'>;
  /** Whether something here was built with it. */
  readonly compiled_in: boolean;
  /** What runs it: this package's core, or a program's absolute path; `null` if nothing does. */
  readonly runs: string | null;
  /** How to install it, a sentence; `null` if it is available. */
  readonly advice: string | null;
}

/** Available backends. The flags mean compiled in; `probeBackend` checks whether one works. */
export interface BackendList extends BuildFlags {
  /** Whether WebGPU's requirements are installed; there may still be no GPU. */
  readonly webgpu: boolean;
  /** Whether the backend `native-cpu` has an installed libvmaf. */
  readonly native_cpu: boolean;
  readonly details: readonly BackendDetail[];
  readonly native: NativeDescription;
}

/** Options of a probe. */
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
  /** GPU that measured, for `webgpu` and `hybrid`. */
  readonly adapter?: AdapterFacts;
}

/** Backends that an installed program runs. */
export type NativeBackend = Exclude<BackendName, 'cpu' | 'wasm' | OwnGpuBackend>;

export interface NativeModel
  extends Pick<ModelRequest, 'name' | 'disableClip' | 'enableTransform' | 'overloads'> {
  /** A model built into the program, or a file in its working directory. */
  readonly source: { readonly version: string } | { readonly file: string };
}

/** Device options of the `vmaf` tool. */
export interface DeviceOptions {
  /** Mask of SIMD levels to disable. */
  readonly cpumask?: number;
  /** If not 0: mask of GPU operations to disable. */
  readonly gpumask?: number;
  /** Device number. */
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
  /** Leading frames to discard. */
  readonly skip?: Readonly<Record<InputRole, number>>;
  readonly log: string;
}

/** Keys and values that describe a model to libvmaf; flags in the form that both grammars accept. */
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
