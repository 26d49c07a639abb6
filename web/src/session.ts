/**
 * @module web/session
 * The page's state: files, settings, findings, progress and results. Views watch its cells and write to them, and do not
 * know each other. `openReports(files, session)` of results/open opens saved reports, from the toolbar or dropped.
 */
import type {
  CurveResult,
  FrameMetrics,
  FrameRange,
  FrameRatePolicy,
  Inspection,
  PairBy,
  Progress,
  RawVideoFormat,
  ReadReport,
  Report,
  ScaleFilter,
  ScaleTo,
  ScoreManyOptions,
} from 'anyvmaf';
import type { CurveChoice } from 'anyvmaf/view';
import { Cell } from './dom.js';
import type { Failure } from './engine/calls.js';

/** In `localStorage` while a session is stored (web/last): a page without one loads nothing of that. */
export const LAST = 'anyvmaf-last';

/** How a file stores its frames, by its name and first bytes. */
export type FileKind = 'y4m' | 'raw' | 'encoded';

/** A video that was picked or dropped. */
export interface ChosenFile {
  /** Unique, even if the same file is chosen again. */
  readonly id: number;
  readonly file: File;
  readonly kind: FileKind;
  /** Settings of this encode alone, in place of those of all. */
  readonly own?: Partial<Settings>;
}

/** How to score. Defaults are left to the library. */
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
  readonly pairBy: PairBy;
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
  /** Cuts off what is black in both. Absent, as those below: pictures and tracks are compared as they are. */
  readonly crop?: 'auto' | undefined;
  /** The part of the picture to compare, as {@link parseArea} of setup/fixes reads it. */
  readonly cropReference?: string | undefined;
  readonly cropDistorted?: string | undefined;
  readonly colorRange?: 'limited' | 'full' | undefined;
  /** ffmpeg's name of the format to compare in. */
  readonly pixelFormat?: string | undefined;
  /** Among the file's video tracks, from 0. */
  readonly trackReference?: number | undefined;
  readonly trackDistorted?: number | undefined;
  /** `mediabunny` decodes with the browser's own decoders, `wasm` with ffmpeg.wasm. */
  readonly decoder: 'mediabunny' | 'wasm';
}

/** Those of pairing frames, in the order in which they are told. */
export const DEFAULT_PAIRING = {
  offset: 0,
  range: null,
  scale: 'default',
  scaleTo: 'ref',
  frameRatePolicy: 'default',
  pairBy: 'reference',
  allowDamaged: false,
  crop: undefined,
  cropReference: undefined,
  cropDistorted: undefined,
  colorRange: undefined,
  pixelFormat: undefined,
  trackReference: undefined,
  trackDistorted: undefined,
  decoder: 'mediabunny',
} as const satisfies Partial<Settings>;

export const DEFAULT_SETTINGS: Settings = {
  models: ['version=vmaf_v0.6.1'],
  features: [],
  ...DEFAULT_PAIRING,
  subsample: 1,
  threads: null,
};

/** A setting of pairing frames. */
export type PairingSetting = keyof typeof DEFAULT_PAIRING;
/** Their names. */
export const PAIRING_SETTINGS = Object.keys(DEFAULT_PAIRING) as PairingSetting[];

/** The settings of one encode. */
export function settingsOf({ settings }: Session, { own }: ChosenFile): Settings {
  return { ...settings.value, ...own };
}

/** A tiny ONNX model that was picked, with its sidecar and weights beside it. */
export interface ChosenTiny {
  /** The name of its file, or the id of one of the page's own. */
  readonly model: string;
  /** Absent for one of the page's own models. */
  readonly files?: Readonly<Record<string, File>>;
  /** True if the model takes one size of pictures, so that pictures are resized. */
  readonly resizes: boolean;
}

/** The inspection of the reference and one distorted video. */
export type PairInspection =
  | { readonly phase: 'pending' }
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

/** A run that can be paused, resumed or cancelled. */
export type ActiveRun = Extract<Run, { readonly progress: unknown }>;

export function isActive(run: Run): run is ActiveRun {
  return run.phase === 'running' || run.phase === 'paused';
}

/** The options of a run, without callbacks. */
export type RunOptions = Omit<
  ScoreManyOptions,
  'signal' | 'gate' | 'onStart' | 'onProgress' | 'onFrame' | 'onReport' | 'onFailure'
>;

/** The two files of an encode and their pairing: all that is needed to read its frames again. */
export interface EncodeSource {
  readonly reference: File;
  readonly distorted: File;
  readonly options: RunOptions;
}

/** The same with the offset that a run found, in place of a search for it. */
export function sourceOf({
  source,
  report,
}: Pick<EncodeResult, 'source' | 'report'>): EncodeSource | undefined {
  const offset = report?.pairing?.frames.offset;
  return source && offset !== undefined ? { ...source, options: { ...source.options, offset } } : source;
}

/** The files and settings that an encode is scored with. */
export interface Scored {
  readonly reference: File | null;
  readonly distorted: File;
  readonly settings: Settings;
  /** `null` unless one of the files is raw. */
  readonly raw: RawVideoFormat | null;
  readonly tiny: readonly ChosenTiny[];
}

/** One encode's result: it grows during the run and is complete with `report`, or comes from a saved report. */
export interface EncodeResult {
  /** File name, or the saved report's name of the distorted video. */
  readonly name: string;
  /** The number of its colour; absent for a saved report, whose colour goes by its place. */
  readonly colour?: number;
  /** Frames with final values, in order. Grows in place; `session.results` then gets a new array. */
  readonly frames: FrameMetrics[];
  /** Frames of the reference before the first pair; known from the first frame on. */
  readonly skipped?: number;
  /** Frames that a run that was stopped would have scored, where that was known. */
  readonly total?: number | undefined;
  /** What is known of the pair before it is scored. */
  readonly found?: Inspection;
  /** Present once the encode is done. */
  readonly report?: Report;
  /** The contents of a saved report, with or without `report`. Its frames are in `frames`. */
  readonly saved?: Omit<ReadReport, 'frames'>;
  /** Absent for a saved report or without a reference; frames cannot be shown then. */
  readonly source?: EncodeSource;
  /** Absent for a saved report. */
  readonly scored?: Scored;
  /** The same of a result of the last session, whose videos are not here. */
  readonly was?: Pick<Scored, 'settings' | 'raw' | 'tiny'>;
}

/** The frame on show. */
export interface Cursor {
  /** Index into `session.results`. */
  readonly encode: number;
  /** `frameNum` of the report's frames. */
  readonly frame: number;
  /** The first and the last frame that the viewer keeps to; absent: all. */
  readonly span?: readonly [from: number, to: number];
}

/** The page's state. */
export class Session {
  readonly reference = new Cell<ChosenFile | null>(null);
  readonly distorted = new Cell<readonly ChosenFile[]>([]);
  /** The numbers of the colours of distorted videos, by {@link coloursOf}. */
  readonly colours = new WeakMap<File, number>();
  /** Format of the raw YUV files; `null` until it is known or needed. */
  readonly raw = new Cell<RawVideoFormat | null>(null);
  readonly settings = new Cell<Settings>(DEFAULT_SETTINGS);
  /** Tiny models that score beside VMAF, or alone if there is no reference. */
  readonly tiny = new Cell<readonly ChosenTiny[]>([]);
  /** Whether a link's settings need a tiny model file that the user must pick. */
  readonly tinyToPick = new Cell(false);
  /** By the distorted file's id. */
  readonly inspections = new Cell<ReadonlyMap<number, PairInspection>>(new Map());
  readonly run = new Cell<Run>({ phase: 'idle' });
  /** The results on show, in the order of the encodes' colours. */
  readonly results = new Cell<readonly EncodeResult[]>([]);
  /** Finished results, the latest last: what is scored already is not scored again. */
  readonly kept = new Cell<readonly EncodeResult[]>([]);
  /** The series that the user put encodes into, by their frames. */
  readonly series = new Cell<ReadonlyMap<readonly FrameMetrics[], string>>(new Map());
  /** Encodes that the user left out of tables and curves, by their frames: they stay so beside others that come. */
  readonly leftOut = new Cell<ReadonlySet<readonly FrameMetrics[]>>(new Set());
  /** How curves of quality over bit rate are compared; an empty anchor: each with each. */
  readonly comparison = new Cell<CurveChoice>({});
  /** Million bytes of an HTML report at most; absent: the library's default. */
  readonly pageMegabytes = new Cell<number | undefined>(undefined);
  /** Whether the results on show are of other files or settings than those chosen now. */
  readonly outdated = new Cell(false);
  /** Whether results of a run are on show of which nothing was saved. */
  readonly unsaved = new Cell(false);
  /** How many runs views other than the run bar have asked for. */
  readonly runsAsked = new Cell(0);
  /** Whether saved reports are being read. */
  readonly reading = new Cell(false);
  /** The result of a search, a ladder or a comparison that was opened. */
  readonly curves = new Cell<{ readonly name: string; readonly result: CurveResult } | null>(null);
  /** `null`: no frame is open. */
  readonly cursor = new Cell<Cursor | null>(null);

  /** Calls back now and when a run starts, pauses, resumes or ends, but not for its progress. */
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

/** The numbers of the encodes that are chosen: a new one has the first that no other on the page has. */
export function coloursOf({ distorted, results, colours }: Session): number[] {
  const owners = new Map<number, File | undefined>();
  for (const { colour, scored } of results.value) {
    if (colour === undefined) continue;
    owners.set(colour, scored?.distorted);
    if (scored) colours.set(scored.distorted, colour);
  }
  const files = distorted.value.map(({ file }) => file);
  for (const file of files) {
    const number = colours.get(file);
    if (number !== undefined && !owners.has(number)) owners.set(number, file);
  }
  return files.map((file) => {
    let number = colours.get(file) ?? 0;
    if (owners.get(number) === file) return number;
    for (number = 0; owners.has(number); ) number++;
    owners.set(number, file);
    colours.set(file, number);
    return number;
  });
}

const numbers = new WeakMap<object, number>();
let last = 0;

/** The same number for the same object, while it lives. */
export function identityOf(object: object): number {
  const number = numbers.get(object) ?? ++last;
  numbers.set(object, number);
  return number;
}
