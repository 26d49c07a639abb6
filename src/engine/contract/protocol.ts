/**
 * @module engine/contract/protocol
 * The messages between the engine and its workers, the same over Node's worker threads and browsers' module workers.
 */

import type { ErrorData, InputRole } from '../../core/errors.js';
import type { CoreModules, Implementation } from '../../core/module.js';
import type { SourceDescriptor } from '../../media/types.js';
import type { GpuState, GpuUse } from '../backends/gpu.js';
import type { PictureModel, TinySessionFacts } from '../backends/tiny.js';
import type { ExtractionPlan } from '../backends/types.js';

/** Consecutive frame pairs, numbered from the first scored pair. */
export interface Chunk {
  readonly first: number;
  readonly count: number;
}

/** Two videos that a worker opens by itself. Pair n is reference frame `skip.reference + n` and so on. */
export interface PairDescriptor {
  readonly reference: SourceDescriptor;
  readonly distorted: SourceDescriptor;
  readonly skip: Readonly<Record<InputRole, number>>;
}

export interface WorkerSetup {
  readonly modules: CoreModules;
  readonly plan: ExtractionPlan;
  readonly implementation: Implementation;
  /** Pairs whose number is not a multiple get only the features that need every frame. */
  readonly subsample: number;
  /** How to use a GPU; absent: the core measures everything. */
  readonly gpu?: GpuUse;
  readonly pictures?: readonly PictureModel[];
  /** Heatmap files to write; see HeatmapRun. */
  readonly heatmaps?: readonly string[];
  /** URL of onnxruntime-web for a browser's worker. */
  readonly onnxruntime?: string;
  /** Absent when the engine reads the frames and sends them. */
  readonly pair?: PairDescriptor;
  /** Whether to send a signature of each picture with the records, for videos that the worker reads itself. */
  readonly signs?: boolean;
}

/** Which videos had no more frames. */
export interface EndOfPair {
  readonly reference: boolean;
  readonly distorted: boolean;
}

/**
 * Messages to a worker. `measure` is for videos it reads itself; `begin` (`prime`)* (`pair`)* `end` brings a chunk
 * whose frames the engine sends, as buffers laid out by engine/backends/frame-buffer.
 */
export type ToWorker =
  | { readonly kind: 'start'; readonly setup: WorkerSetup }
  | { readonly kind: 'measure'; readonly chunk: Chunk }
  | { readonly kind: 'begin'; readonly first: number }
  | {
      readonly kind: 'prime';
      readonly reference: Uint8Array<ArrayBuffer>;
      readonly distorted?: Uint8Array<ArrayBuffer>;
    }
  | { readonly kind: 'pair'; readonly reference: ArrayBuffer; readonly distorted: ArrayBuffer }
  | { readonly kind: 'end' }
  | { readonly kind: 'stop' }
  /** Like `stop`, but at any time: a GPU driver may not survive the termination of its thread. */
  | { readonly kind: 'abort' };

/** Messages from a worker. */
export type FromWorker =
  /** Its picture models are ready. Sent before any records, and again before each if the sessions keep counts. */
  | { readonly kind: 'sessions'; readonly sessions: readonly TinySessionFacts[] }
  /** Its GPU is open, or there is none to use. Sent again when it is lost, and before records of a chunk. */
  | { readonly kind: 'gpu'; readonly state: GpuState }
  /** Further `pairs` are measured: sent now and then, the last of a chunk only with its records. */
  | { readonly kind: 'progress'; readonly pairs: number }
  /** A pair that was sent is measured; its buffers go back for reuse. */
  | { readonly kind: 'measured'; readonly buffers: readonly ArrayBuffer[] }
  /** The history sent with `prime` is copied; its buffers go back for reuse. */
  | { readonly kind: 'primed'; readonly buffers: readonly ArrayBuffer[] }
  /** A chunk is done: records of `count` pairs from `first` on, fewer than requested if a video `ended`. */
  | {
      readonly kind: 'records';
      readonly first: number;
      readonly count: number;
      readonly records: Float64Array<ArrayBuffer>;
      readonly ended: EndOfPair | null;
      /** One per pair, as in media/align/thumbnail, if requested. */
      readonly signatures?: Uint8Array<ArrayBuffer>;
    }
  | ({ readonly kind: 'failed' } & ErrorData)
  /** The answer to `stop` and `abort`: memory and files are released. */
  | { readonly kind: 'stopped' };

/** One worker as the engine holds it; platforms make them. */
export interface WorkerHandle {
  /** Sends a message; `transfer` gives buffers away instead of copying them. */
  post(message: ToWorker, transfer?: ArrayBuffer[]): void;
  /** Sets the one receiver of messages and of the worker's death (a sentence). Call once, before `post`. */
  listen(onMessage: (message: FromWorker) => void, onDeath: (how: string) => void): void;
  /** Ends the worker at once, whatever it does; no message and no death is reported afterwards. */
  terminate(): Promise<void>;
}
