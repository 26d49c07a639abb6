/**
 * @module engine/backends/native/types
 * Types of installed programs that contain libvmaf, of their backends and probes, and of a platform that runs them; and
 * their names in messages.
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
import { shown } from '../../../core/printable.js';
import type { ModelRequest } from '../../../models/types.js';
import type { AdapterFacts } from '../composite.js';

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
  /** Changes with the file: path, size and time. */
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

export interface DeviceOptions {
  /** Mask of SIMD levels to disable. */
  readonly cpumask?: number;
  /** If not 0: mask of GPU operations to disable. */
  readonly gpumask?: number;
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

/** Keys and values that describe a model to libvmaf, with flags in the form that both grammars accept. */
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

/** A file that may be the requested program. */
export interface Candidate {
  /** Absolute path, or the requested name if there is no file. */
  readonly path: string;
  /** Origin of the name: `vmafBin`, an environment variable, or `PATH`. */
  readonly from: string;
  /** Changes with the file; absent if it cannot run. */
  readonly key?: string;
  /** Why it cannot run, as the end of a sentence. */
  readonly problem?: string;
}

/** Feeds one pipe. `write` resolves when its bytes may be overwritten, with `false` if the reader is gone. */
export type Feed = (write: (bytes: Uint8Array) => Promise<boolean>) => Promise<void>;

export interface NativeJob {
  readonly path: string;
  readonly args: readonly string[];
  /** Small files to create in the private working directory. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Named pipes to create there. */
  readonly feeds?: Readonly<Record<string, Feed>>;
  /** File there to read back. */
  readonly output?: string;
  /** Time limit in milliseconds. Default: none. */
  readonly timeout?: number;
  /** Milliseconds without a read from its pipes after which it is killed. Default: no limit. */
  readonly stall?: number;
  /** Kills it; `run` throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Result of a run whose folder and pipes are removed. */
export interface NativeOutcome {
  /** `unstartable`: it never ran; `timeout`: it was killed. */
  readonly kind: 'ended' | 'unstartable' | 'timeout';
  /** `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Start and end of its output. */
  readonly stdout: string;
  readonly stderr: string;
  /** Absent if the file was not written. */
  readonly output?: string;
  /** Why it could not start, as the end of a sentence. */
  readonly reason?: string;
  /** Wall-clock milliseconds. */
  readonly time: number;
  /** Time limit that it exceeded, in milliseconds. */
  readonly limit?: number;
}

export interface NativeHost {
  /** Whether {@link NativeJob.feeds} is supported. */
  readonly pipes: boolean;
  /** Files that may be the program, in order of preference; `named` alone if given. */
  candidates(kind: 'vmaf' | 'ffmpeg', named?: string): readonly Candidate[];
  /** Runs a program to its end; leaves no process and no file. @throws the signal's reason; errors of feeds */
  run(job: NativeJob): Promise<NativeOutcome>;
}

export function programName({ flavour, path }: Pick<NativeProgram, 'flavour' | 'path'>): string {
  return `${flavour} (${oneLine(path)})`;
}

/** Joins the lines of a program's output for a message, in at most `most` characters. */
export function oneLine(text: string, most = 300): string {
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return shown(lines.filter((line) => line !== '').join(' / '), most);
}

/** How a run failed, as the end of a sentence; `undefined` if it succeeded. */
export function failure(outcome: NativeOutcome): string | undefined {
  const { kind, code, signal, reason, time, limit = time } = outcome;
  if (kind === 'unstartable') return `cannot be started: ${reason ?? 'unknown reason'}`;
  if (kind === 'timeout') return `did not answer within ${Math.round(limit / 100) / 10} s and was ended`;
  if (signal !== null) return `was ended by ${signal}${saying(outcome)}`;
  if (code !== 0) return `exited with status ${code}${saying(outcome)}`;
  return undefined;
}

function saying({ stdout, stderr }: NativeOutcome): string {
  const text = stderr.trim() || stdout.trim();
  const lines = text.split('\n').slice(-3).join('\n');
  return text === '' ? ' without output' : `, printing "${oneLine(lines)}"`;
}
