/**
 * @module engine/backends/native/task
 * A scoring run for an installed program of any kind.
 */

import type { OwnGpuBackend } from '../../../core/choices.js';
import type { InputRole } from '../../../core/errors.js';
import type { VideoFormat } from '../../../core/frame.js';
import type { ModelRequest } from '../../../models/types.js';
import type { BackendName } from './types.js';

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
