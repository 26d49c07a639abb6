/**
 * @module web/session
 * The page's state: files, settings, findings, progress and results. Independent views watch and write its cells.
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

/** Set in `localStorage` while a session is stored (web/last), so that pages without one do not load that code. */
export const LAST = 'anyvmaf-last';

/** Limit in the form and in links. */
export const MOST_THREADS = 64;

/** Detected by name and first bytes. */
export type FileKind = 'y4m' | 'raw' | 'encoded';

export interface ChosenFile {
  /** Unique, even for a file chosen twice. */
  readonly id: number;
  readonly file: File;
  readonly kind: FileKind;
  /** Settings of this encode that replace the common ones. */
  readonly own?: Partial<Settings>;
}

/** Settings of a run. */
export interface Settings {
  /** In libvmaf's grammar; `auto` chooses by size. */
  readonly models: readonly string[];
  /** In libvmaf's grammar. */
  readonly features: readonly string[];
  /** `default`: bicubic if needed, with a warning. */
  readonly scale: ScaleFilter | 'none' | 'default';
  readonly scaleTo: ScaleTo;
  /** `default`: nearest, with a warning. */
  readonly frameRatePolicy: FrameRatePolicy | 'default';
  readonly pairBy: PairBy;
  /** In frames, or `auto` to search when scoring starts. */
  readonly offset: number | 'auto';
  readonly range: FrameRange | null;
  readonly subsample: number;
  /** 1 to {@link MOST_THREADS}; `null`: one per core. */
  readonly threads: number | null;
  /** Default: `cpu`. `auto`: the faster one. */
  readonly backend?: 'cpu' | 'auto' | 'webgpu' | 'hybrid';
  readonly allowDamaged: boolean;
  /** Crops black borders of both. */
  readonly crop?: 'auto' | undefined;
  /** In the syntax of {@link parseArea}. */
  readonly cropReference?: string | undefined;
  readonly cropDistorted?: string | undefined;
  readonly colorRange?: 'limited' | 'full' | undefined;
  /** ffmpeg's name of the format. */
  readonly pixelFormat?: string | undefined;
  /** 0-based among the video tracks. */
  readonly trackReference?: number | undefined;
  readonly trackDistorted?: number | undefined;
  /** The browser's decoders, or ffmpeg.wasm. */
  readonly decoder: 'mediabunny' | 'wasm';
}

/** In the order in which they are shown. */
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

export type PairingSetting = keyof typeof DEFAULT_PAIRING;
export const PAIRING_SETTINGS = Object.keys(DEFAULT_PAIRING) as PairingSetting[];

export function settingsOf({ settings }: Session, { own }: ChosenFile): Settings {
  return { ...settings.value, ...own };
}

/** A tiny ONNX model with its sidecar and weights. */
export interface ChosenTiny {
  /** The name of its file, or the id of a built-in model. */
  readonly model: string;
  /** Absent for built-in models. */
  readonly files?: Readonly<Record<string, File>>;
  /** The model takes one size, so pictures are resized. */
  readonly resizes: boolean;
}

export type PairInspection =
  | { readonly phase: 'pending' }
  | { readonly phase: 'found'; readonly inspection: Inspection }
  | { readonly phase: 'failed'; readonly failure: Failure };

/** One run for all encodes. */
export type Run =
  | { readonly phase: 'idle' }
  | {
      readonly phase: 'running' | 'paused';
      /** Per encode without those that failed; `null` before its first frame. */
      readonly progress: readonly (Progress | null)[];
    }
  /** With several encodes, some may have failed. */
  | { readonly phase: 'done'; readonly failures: readonly Failure[] }
  | { readonly phase: 'cancelled' }
  | { readonly phase: 'failed'; readonly failure: Failure };

export type ActiveRun = Extract<Run, { readonly progress: unknown }>;

export function isActive(run: Run): run is ActiveRun {
  return run.phase === 'running' || run.phase === 'paused';
}

/** Options of a run without callbacks. */
export type RunOptions = Omit<
  ScoreManyOptions,
  'signal' | 'gate' | 'onStart' | 'onProgress' | 'onFrame' | 'onReport' | 'onFailure'
>;

/** Files and options to read an encode's frames again. */
export interface EncodeSource {
  readonly reference: File;
  readonly distorted: File;
  readonly options: RunOptions;
}

/** The source with the offset that a run found in place of `auto`. */
export function sourceOf({
  source,
  report,
}: Pick<EncodeResult, 'source' | 'report'>): EncodeSource | undefined {
  const offset = report?.pairing?.frames.offset;
  return source && offset !== undefined ? { ...source, options: { ...source.options, offset } } : source;
}

/** @param by the filter; bicubic by default */
export function scaledTo(
  scaleTo: { readonly width: number; readonly height: number },
  by: RunOptions['scale'],
): Pick<RunOptions, 'scale' | 'scaleTo'> {
  return { scaleTo, scale: by === undefined || by === 'none' ? 'bicubic' : by };
}

/** Facts of a pair from its report. */
export type PairFacts = Pick<Report, 'reference' | 'distorted'> & Partial<Pick<Report, 'pairing'>>;

/** The options that pair frames as in a report. */
export function pairingOf({ reference, distorted, pairing }: PairFacts, { decoder }: Settings): RunOptions {
  const { scale, width, height, range, frames } = pairing ?? {};
  const { offset = 0, policy, by } = frames ?? {};
  const stored = [reference, distorted].find(({ container }) => container === 'yuv');
  return {
    decoder,
    offset,
    ...(scale && scale !== 'none' && width && height && scaledTo({ width, height }, scale)),
    ...(policy && policy !== 'number' && { frameRatePolicy: policy }),
    ...(by && { pairBy: by }),
    ...(pairing?.reference.track !== undefined && { trackReference: pairing.reference.track }),
    ...(pairing?.distorted.track !== undefined && { trackDistorted: pairing.distorted.track }),
    ...(range && { range }),
    // A report's `skipped` includes frames before the range or offset. Frames paired by time need the exact start.
    ...(!(range && policy && policy !== 'number') && {
      skipReference: Math.max(0, reference.skipped - Math.max(0, offset)),
      skipDistorted: Math.max(0, distorted.skipped - Math.max(0, -offset)),
    }),
    ...(stored && {
      raw: { width: stored.width, height: stored.height, bitDepth: stored.bitDepth, chroma: stored.chroma },
    }),
  };
}

export interface Scored {
  readonly reference: File | null;
  readonly distorted: File;
  readonly settings: Settings;
  /** `null` unless a file is raw. */
  readonly raw: RawVideoFormat | null;
  readonly tiny: readonly ChosenTiny[];
}

/** When the videos of a result were last modified, in milliseconds as of `File`. */
interface Modified {
  readonly reference: number | undefined;
  readonly distorted: number;
}

/** Grows during the run and is complete with `report`, or comes from a saved report. */
export interface EncodeResult {
  /** File name, or the distorted video's name in a saved report. */
  readonly name: string;
  /** Index of its colour; absent for saved reports, which get theirs by position. */
  readonly colour?: number;
  /** Final values, in order. Grows in place; `session.results` then gets a new array. */
  readonly frames: FrameMetrics[];
  /** Frames of the reference before the first pair; set with the first frame. */
  readonly skipped?: number;
  /** Frames to score, if known; for runs that were stopped. */
  readonly total?: number | undefined;
  readonly found?: Inspection;
  /** Set once the encode is done. */
  readonly report?: Report;
  /** A saved report, with or without `report`; its frames are in `frames`. */
  readonly saved?: Omit<ReadReport, 'frames'>;
  /** Absent without a reference or videos; frames cannot be shown then. */
  readonly source?: EncodeSource;
  /** Absent for saved reports. */
  readonly scored?: Scored;
  /** For a result of the last session while its videos are absent. */
  readonly was?: Pick<Scored, 'settings' | 'raw' | 'tiny'> & { readonly modified?: Modified };
}

export interface Cursor {
  /** Index into `session.results`. */
  readonly encode: number;
  /** `frameNum` of the report. */
  readonly frame: number;
  /** First and last frame that the viewer is limited to. */
  readonly span?: readonly [from: number, to: number];
}

export class Session {
  readonly reference = new Cell<ChosenFile | null>(null);
  readonly distorted = new Cell<readonly ChosenFile[]>([]);
  /** Colour indices of distorted videos, see {@link coloursOf}. */
  readonly colours = new WeakMap<File, number>();
  /** Format of the raw YUV files; `null` until known or needed. */
  readonly raw = new Cell<RawVideoFormat | null>(null);
  readonly settings = new Cell<Settings>(DEFAULT_SETTINGS);
  /** Scored beside VMAF, or alone without a reference. */
  readonly tiny = new Cell<readonly ChosenTiny[]>([]);
  /** A link needs a tiny model file that the user must pick. */
  readonly tinyToPick = new Cell(false);
  /** By id of the distorted file. */
  readonly inspections = new Cell<ReadonlyMap<number, PairInspection>>(new Map());
  readonly run = new Cell<Run>({ phase: 'idle' });
  /** In the order of their colours. */
  readonly results = new Cell<readonly EncodeResult[]>([]);
  /** Finished results, latest last, which need not be scored again. */
  readonly kept = new Cell<readonly EncodeResult[]>([]);
  /** Series chosen by the user, by the frames of encodes. */
  readonly series = new Cell<ReadonlyMap<readonly FrameMetrics[], string>>(new Map());
  /** Encodes left out of tables and curves, by their frames; kept while other encodes come and go. */
  readonly leftOut = new Cell<ReadonlySet<readonly FrameMetrics[]>>(new Set());
  /** An empty anchor compares all pairs of curves. */
  readonly comparison = new Cell<CurveChoice>({});
  /** Largest HTML report in million bytes; absent: the library's default. */
  readonly pageMegabytes = new Cell<number | undefined>(undefined);
  /** Files or settings have changed since the results. */
  readonly outdated = new Cell(false);
  /** No file of the results was saved. */
  readonly unsaved = new Cell(false);
  /** Count of runs requested outside of the run bar. */
  readonly runsAsked = new Cell(0);
  /** Saved reports are being read. */
  readonly reading = new Cell(false);
  /** An opened result of a search, a ladder or a comparison. */
  readonly curves = new Cell<{ readonly name: string; readonly result: CurveResult } | null>(null);
  readonly cursor = new Cell<Cursor | null>(null);

  /** Calls back now and on each change of phase. */
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

/** Colour indices of the chosen encodes; a new encode gets the first free one. */
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

/** A number per object. */
export function identityOf(object: object): number {
  const number = numbers.get(object) ?? ++last;
  numbers.set(object, number);
  return number;
}
