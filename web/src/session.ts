/**
 * @module web/session
 * Everything the page knows: files, settings, what was found, how far a run is, and what came of it. Views watch its
 * cells and write to them; none of them knows another view. Saved reports are opened by `openReports(files, session)` of
 * results/open, which the toolbar and drops of .json, .xml and .csv files call.
 */
import type {
  FrameMetrics,
  FrameRange,
  FrameRatePolicy,
  Inspection,
  Progress,
  RawVideoFormat,
  ReadReport,
  Report,
  ScaleFilter,
  ScaleTo,
  ScoreManyOptions,
} from 'anyvmaf';
import { Cell } from './dom.js';
import type { Failure } from './engine/calls.js';

/** How a file holds its frames, by its name and first bytes. */
export type FileKind = 'y4m' | 'raw' | 'encoded';

/** A video that was picked or dropped. */
export interface ChosenFile {
  /** Different for every choice, also of the same file. */
  readonly id: number;
  readonly file: File;
  readonly kind: FileKind;
}

/** How to score. What stands at its default is left to the library. */
export interface Settings {
  /** Model strings in libvmaf's grammar; `auto` chooses by size. */
  readonly models: readonly string[];
  /** Feature strings in libvmaf's grammar. */
  readonly features: readonly string[];
  /** `default`: bicubic where it is needed, with a warning. */
  readonly scale: ScaleFilter | 'none' | 'default';
  readonly scaleTo: ScaleTo;
  /** `default`: nearest, with a warning. */
  readonly frameRatePolicy: FrameRatePolicy | 'default';
  /** Frames, or `auto` to search when scoring starts. */
  readonly offset: number | 'auto';
  readonly range: FrameRange | null;
  readonly subsample: number;
  /** `null`: as many as there are cores. */
  readonly threads: number | null;
  /** What measures: the processor (default), a GPU, both, or whichever is faster. */
  readonly backend?: 'cpu' | 'auto' | 'webgpu' | 'hybrid';
  /** Score a damaged video up to its damage. */
  readonly allowDamaged: boolean;
  /** `mediabunny` decodes with the browser's own decoders, `wasm` with ffmpeg.wasm. */
  readonly decoder: 'mediabunny' | 'wasm';
}

export const DEFAULT_SETTINGS: Settings = {
  models: ['version=vmaf_v0.6.1'],
  features: [],
  scale: 'default',
  scaleTo: 'ref',
  frameRatePolicy: 'default',
  offset: 0,
  range: null,
  subsample: 1,
  threads: null,
  allowDamaged: false,
  decoder: 'mediabunny',
};

/** A tiny ONNX model that was picked, with its sidecar and weights beside it. */
export interface ChosenTiny {
  /** The name of its file, or the id of one that the page brings. */
  readonly model: string;
  /** Absent for a model that the page brings. */
  readonly files?: Readonly<Record<string, File>>;
  /** It takes pictures of one size, to which they are to be brought. */
  readonly resizes: boolean;
}

/** What a look at the reference and one distorted video gave. */
export type Look =
  | { readonly phase: 'looking' }
  | { readonly phase: 'found'; readonly inspection: Inspection }
  | { readonly phase: 'failed'; readonly failure: Failure };

/** The run, one for all encodes. */
export type Run =
  | { readonly phase: 'idle' }
  | {
      readonly phase: 'running' | 'paused';
      /** By encode that did not fail; `null` before its first frame. */
      readonly progress: readonly (Progress | null)[];
    }
  /** Of several encodes, some may have failed. */
  | { readonly phase: 'done'; readonly failures: readonly Failure[] }
  | { readonly phase: 'cancelled' }
  | { readonly phase: 'failed'; readonly failure: Failure };

/** Options as they went to the engine, without callbacks. */
export type RunOptions = Omit<
  ScoreManyOptions,
  'signal' | 'gate' | 'onStart' | 'onProgress' | 'onFrame' | 'onReport' | 'onFailure'
>;

/** The two files of an encode and how they were paired: all that it takes to get its frames again. */
export interface EncodeSource {
  readonly reference: File;
  readonly distorted: File;
  readonly options: RunOptions;
}

/** One encode's result: growing while it is scored, whole when `report` is there, or opened from a saved report. */
export interface EncodeResult {
  /** File name, or the saved report's name of the distorted video. */
  readonly name: string;
  /** Frames in order whose values are final. Grows in place; `session.results` gets a new array whenever it did. */
  readonly frames: FrameMetrics[];
  /** Frames of the reference before the first pair; there from the first frame on. */
  readonly skipped?: number;
  /** There once the encode is done. */
  readonly report?: Report;
  /** There once a saved report is read, with or without `report`: what its file says. `frames` are elsewhere: above. */
  readonly saved?: Omit<ReadReport, 'frames'>;
  /** Absent for a saved report, and without a reference: frames are not shown then. */
  readonly source?: EncodeSource;
}

/** The frame on show. */
export interface Cursor {
  /** Index into `session.results`. */
  readonly encode: number;
  /** `frameNum` of the report's frames. */
  readonly frame: number;
}

/** The page's state. */
export class Session {
  readonly reference = new Cell<ChosenFile | null>(null);
  readonly distorted = new Cell<readonly ChosenFile[]>([]);
  /** Geometry of those files that are raw YUV; `null` until it is known or needed. */
  readonly raw = new Cell<RawVideoFormat | null>(null);
  readonly settings = new Cell<Settings>(DEFAULT_SETTINGS);
  /** Tiny models that score beside VMAF, or alone where there is no reference. */
  readonly tiny = new Cell<readonly ChosenTiny[]>([]);
  /** Whether the settings of a link go with a tiny model that the user has to pick. */
  readonly tinyToPick = new Cell(false);
  /** By the distorted file's id. */
  readonly looks = new Cell<ReadonlyMap<number, Look>>(new Map());
  readonly run = new Cell<Run>({ phase: 'idle' });
  /** What result views show, in the order of the encodes' colours. Empty: nothing to show. */
  readonly results = new Cell<readonly EncodeResult[]>([]);
  /** Whether saved reports are being read. */
  readonly reading = new Cell(false);
  /** `null`: no frame is open. */
  readonly cursor = new Cell<Cursor | null>(null);

  /** Calls back now and when a run begins, is held up, goes on or ends: not for every step of it. */
  watchPhase(watcher: (phase: Run['phase'], before: Run['phase'] | undefined) => void): void {
    let before: Run['phase'] | undefined;
    this.run.watch(({ phase }) => {
      if (phase === before) return;
      const was = before;
      before = phase;
      watcher(phase, was);
    });
  }
}
