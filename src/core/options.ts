/**
 * @module core/options
 * The table of options: meaning, values, default, and the calls that take each. The API's types and checks, the command
 * line, tool parameters, queue jobs and hints derive from it; words for users are in core/option-words, which web pages
 * do not load.
 */
import {
  AOM_CTC_VERSIONS,
  BACKEND_CHOICES,
  COLOR_MATRICES,
  COLOR_RANGES,
  COLOUR_AS,
  COMPATS,
  DECODER_CHOICES,
  FILM_GRAIN,
  FRAME_RATE_POLICIES,
  NFLX_CTC_VERSIONS,
  PAIR_BY,
  SCALE_FILTERS,
  V1_SETTINGS,
} from './choices.js';
import { type FrameRange, MOST_FRAMES } from './frame.js';
import type { ScaleTo } from './size.js';

/**
 * What takes options: public functions, and jobs of a queue. `look` is inspecting and aligning, `describe` is describing
 * one video, `pair` is bringing two together.
 */
export type OptionTaker =
  | 'score'
  | 'batch'
  | 'shard'
  | 'dataset'
  | 'scorer'
  | 'look'
  | 'describe'
  | 'extract'
  | 'job'
  | 'pair';

/** Types of values by the kind of an option; a list of choices narrows them. */
interface Values {
  readonly area: string;
  readonly choice: string;
  readonly count: number;
  readonly crop: string;
  readonly flag: boolean;
  readonly hosts: boolean | readonly string[];
  readonly mask: number;
  readonly names: { readonly reference: string; readonly distorted: string };
  readonly offset: number | 'auto';
  readonly program: string;
  readonly range: FrameRange;
  readonly rate: number | string;
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly size: ScaleTo;
  readonly text: string;
  readonly texts: readonly string[];
  readonly version: string;
}

/** Kinds of values. The last three have types in higher layers, which also check them, except functions. */
export type OptionKind = keyof Values | 'checked' | 'function' | 'samples';

export interface OptionRow {
  readonly kind: OptionKind;
  readonly of?: readonly string[];
  readonly least?: number;
  readonly most?: number;
  readonly default?: boolean | number | string;
  readonly by: readonly OptionTaker[];
  /** Concerns a reference, so it excludes scoring without one. */
  readonly reference?: true;
  /** Determines how to match sizes or times of two stored videos, which are otherwise compared as they are. */
  readonly unites?: 'sizes' | 'times';
  /** Supported by this package's core only, not by installed programs. */
  readonly core?: true;
  /** Affects how the reference is read: jobs of a batch share a reference only if equal. */
  readonly reads?: true;
  /** Needs every frame, so it excludes samples. */
  readonly whole?: true;
  /** Changes the pictures of a video. */
  readonly filter?: true;
  /** About the machine and the call, not about what is measured. */
  readonly machine?: true;
}

const COUNT = { kind: 'count', least: 0, most: MOST_FRAMES } as const;
const FLAG = { kind: 'flag', default: false } as const;
/** More threads are a mistake. */
const MOST_THREADS = 1024;
/** More video tracks than any container has. */
const MOST_TRACKS = 999;
/** A year, in seconds: the longest time limit. */
export const MOST_SECONDS = 366 * 86_400;
const RUN = ['score', 'batch', 'shard'] as const;
const WHOLE = [...RUN, 'dataset'] as const;
const JOB = [...WHOLE, 'job'] as const;
const CALL = [...WHOLE, 'look', 'extract', 'describe'] as const;
const PAIR = [...WHOLE, 'look', 'extract', 'pair'] as const;
const PAIR_JOB = [...PAIR, 'job'] as const;
const SCORER = [...WHOLE, 'scorer'] as const;
const SCORER_JOB = [...SCORER, 'job'] as const;
const CUT = [...JOB, 'extract'] as const;

export const OPTIONS = {
  /**
   * Model strings in libvmaf's grammar (`version=vmaf_v0.6.1:name=hd`). In place of `version=…` or `path=…`, `auto`
   * chooses vmaf_v0.6.1 or vmaf_4k_v0.6.1 by the scored size; `hd`, `4k`, `neg`, `4k-neg` and `phone` are short names.
   * Default: `['version=vmaf_v0.6.1']`.
   */
  models: { kind: 'texts', by: [...RUN, 'scorer', 'job', 'look'] },
  /** Models whose features are measured without predicting, so that live clients can switch to them. Default: none. */
  alsoModels: { kind: 'texts', by: SCORER, core: true },
  /** Feature strings in libvmaf's grammar (`psnr=enable_apsnr=true`). Default: only the models' features. */
  features: { kind: 'texts', by: [...SCORER_JOB, 'look'], reference: true },
  /**
   * The AOM common test conditions of this version: adds their models (`vmaf`, `vmaf_neg`) and features before `models`
   * and `features`, which need other names.
   */
  aomCtc: { kind: 'version', of: AOM_CTC_VERSIONS, by: SCORER, reference: true },
  /** The Netflix common test conditions of this version, likewise. */
  nflxCtc: { kind: 'version', of: NFLX_CTC_VERSIONS, by: SCORER, reference: true },
  /** Extract features only; models still register their extractors. Default false. */
  noPrediction: { ...FLAG, by: [...RUN, 'scorer', 'job'] },
  tiny: { kind: 'checked', by: [...RUN, 'scorer', 'job'], core: true, whole: true },
  /** The libvmaf generation whose arithmetic to use. Default `libvmaf-3.2`. */
  compat: { kind: 'choice', of: COMPATS, default: 'libvmaf-3.2', by: SCORER_JOB, core: true },
  /** Score only frames whose index is a multiple of this. 0 and 1 mean all. Default 1. */
  subsample: { ...COUNT, default: 1, by: SCORER_JOB, whole: true },
  /**
   * Number of workers, limited to the number of chunks. 0 runs in the calling thread, which blocks while a frame is
   * measured. Default: the number of cores, fewer for short clips; runs of unknown length, including every scorer, count
   * as 500 frames. The backend `hybrid` needs at least 1, and adds the GPU's worker; its default is two fewer, for that
   * worker and the thread that reads.
   */
  threads: { ...COUNT, most: MOST_THREADS, by: SCORER_JOB, machine: true },
  /** Which variant of the core's functions to run. Default `simd128`. */
  implementation: {
    kind: 'choice',
    of: ['simd128', 'portable'],
    default: 'simd128',
    by: SCORER_JOB,
    core: true,
  },
  onFrame: { kind: 'function', by: ['score', 'scorer'], machine: true, whole: true },
  keep: { kind: 'checked', by: ['score', 'batch', 'scorer'], whole: true },
  /** Names of the two videos in the report. Default: `reference` and `distorted`. */
  names: { kind: 'names', by: ['scorer'] },
  /**
   * Settings of VMAF v1 models for an encode that is scaled up. `encode` (default) passes its size and depth as
   * `cambi.enc_width`, `cambi.enc_height` and `cambi.enc_bitdepth` unless one of them is set; `plain` passes nothing, as
   * a bare `vmaf` does.
   */
  v1Settings: { kind: 'choice', of: V1_SETTINGS, default: 'encode', by: JOB },
  /** Score only the distorted video, by the no-reference models of `tiny`, without VMAF models. Default false. */
  noReference: { ...FLAG, by: [...RUN, 'job'], core: true, whole: true },
  samples: { kind: 'samples', by: ['score', 'batch'] },
  /** At most this many pairs; 0 means all. Default 0. */
  frameCount: { ...COUNT, default: 0, by: CUT },
  /** Reference frames to discard at the start. Default 0. */
  skipReference: { ...COUNT, default: 0, by: CUT, reference: true, reads: true },
  /** Distorted frames to discard at the start. Default 0. */
  skipDistorted: { ...COUNT, default: 0, by: CUT },
  /** Consecutive frames per chunk of a worker; does not affect results. Default: chosen by the clip's length. */
  chunkFrames: { ...COUNT, least: 1, by: WHOLE, core: true, machine: true },
  /** Most workers if `threads` is not set, for programs that share a machine. Default: the number of cores. */
  maxThreads: { ...COUNT, least: 1, most: MOST_THREADS, by: WHOLE, machine: true },
  /**
   * What measures the frames. `cpu` and `wasm` are this package's core. `webgpu` measures on a GPU what the GPU supports,
   * and the rest with the core; `hybrid` shares the frames between a GPU and the core's workers; both are bit-exact with
   * the core. `native-cpu`, `cuda`, `sycl`, `hip` and `metal` run an installed libvmaf. A backend requested by name is
   * refused if it is missing or does not work. `auto` takes a native GPU backend that works, else WebGPU if it is faster
   * than the core, else the core. Default `wasm`, which searches for no other backend.
   */
  backend: { kind: 'choice', of: BACKEND_CHOICES, by: JOB },
  /**
   * The program that native backends run: a `vmaf`, or an ffmpeg or ffprobe with the libvmaf filter. Default:
   * `VMAF_BIN`, else `vmaf` on PATH, else ffmpeg or ffprobe.
   */
  vmafBin: { kind: 'program', by: WHOLE, machine: true },
  /** Native backends: mask of SIMD levels to disable, as for the `vmaf` tool. */
  cpumask: { ...COUNT, kind: 'mask', by: WHOLE, machine: true },
  /** Native backends: mask of GPU operations to disable, as for the `vmaf` tool. */
  gpumask: { ...COUNT, kind: 'mask', by: WHOLE, machine: true },
  /** Backend sycl: number of the device. */
  syclDevice: { ...COUNT, by: WHOLE, machine: true },
  /** Backend hip: number of the device. */
  hipDevice: { ...COUNT, by: WHOLE, machine: true },
  /** Backend metal: number of the device. */
  metalDevice: { ...COUNT, by: WHOLE, machine: true },
  /** Time limit of the run in seconds, above 0 and up to a year. Default: no limit. */
  maxSeconds: { kind: 'seconds', by: JOB, machine: true },
  gate: { kind: 'function', by: WHOLE, machine: true, whole: true },
  onProgress: { kind: 'function', by: WHOLE, machine: true },
  onStart: { kind: 'function', by: ['score'], machine: true, whole: true },
  /** Aborts the run, which then rejects with the signal's reason. */
  signal: { kind: 'signal', by: CALL, machine: true },
  /** Decoder of encoded video. Default `auto`: the first that is installed of ffmpeg, mediabunny and wasm. */
  decoder: {
    kind: 'choice',
    of: DECODER_CHOICES,
    default: 'auto',
    by: [...PAIR_JOB, 'describe'],
    reads: true,
  },
  /** Resizing filter if sizes differ; `none` refuses different sizes. Default `bicubic`. */
  scale: { kind: 'choice', of: [...SCALE_FILTERS, 'none'], by: PAIR_JOB, unites: 'sizes' },
  /** The size to score at: the reference's, the distorted's, or another. Default `ref`. */
  scaleTo: { kind: 'size', by: PAIR_JOB, reference: true, unites: 'sizes' },
  /**
   * Pairs frames by their time from each video's first frame: each reference frame with the distorted frame nearest in
   * time. `strict` refuses different frame rates, and missing or repeated frames. Default `nearest`.
   */
  frameRatePolicy: {
    kind: 'choice',
    of: FRAME_RATE_POLICIES,
    by: PAIR_JOB,
    reference: true,
    unites: 'times',
  },
  /**
   * The video whose frames are scored. `distorted` pairs each distorted frame with the reference frame nearest in time,
   * for an encode with fewer frames per second. Default `reference`.
   */
  pairBy: {
    kind: 'choice',
    of: PAIR_BY,
    default: 'reference',
    by: PAIR_JOB,
    reference: true,
    unites: 'times',
  },
  /**
   * Reference frames before the distorted video's first: distorted frame n is paired with reference frame n + offset.
   * Negative if the distorted video starts earlier. `auto` searches the first seconds for it. Default 0.
   */
  offset: { kind: 'offset', default: 0, by: PAIR_JOB, reference: true },
  /** `offset: 'auto'` tries -window…window frames, 1..1000. Default: 50, then 150 and 500 while unclear. */
  window: { ...COUNT, least: 1, most: 1000, by: PAIR_JOB },
  /** The part of the reference to score. Default: all. */
  range: { kind: 'range', by: PAIR_JOB },
  /**
   * `off` leaves out the film grain that AV1 decoders add, which metrics count as a loss. `both` scores with grain, and
   * adds the values without it to the report (`withoutGrain`); functions that do not score treat it as `on`. `off` and
   * `both` need ffmpeg to decode. Default `on`.
   */
  grain: { kind: 'choice', of: FILM_GRAIN, default: 'on', by: PAIR_JOB },
  /**
   * Converts colour for colour metrics like another tool, to reproduce its numbers: `libjxl` on PNG files that ffmpeg
   * writes; `vship` (FFVship); `vszip`. Default: as the videos state.
   */
  colourAs: { kind: 'choice', of: COLOUR_AS, by: PAIR_JOB },
  /** Score a damaged or truncated video up to its first damage instead of refusing it. Default false. */
  allowDamaged: { ...FLAG, by: PAIR_JOB },
  /**
   * Fetch videos from `http` and `https` URLs. Node: a list of hosts, such as `media.example.com`, `*.example.com`,
   * `localhost:9000`, `10.0.0.5` or `10.0.0.0/8`, reads them in parts, from these hosts only, and from private addresses
   * only if listed; redirects are checked too. `true` lets ffmpeg fetch any URL, unchecked. Default false.
   */
  allowUrl: { kind: 'hosts', default: false, by: [...PAIR, 'describe'], reads: true },
  /**
   * Pictures per second of image sequences (`frame_%04d.png`, `shots/*.jpg`, a folder): a number, or a fraction such as
   * `24000/1001`. Default 25.
   */
  rate: { kind: 'rate', by: PAIR },
  /**
   * The video track to read, 0-based among the file's video tracks without cover art. Default: the default track; if
   * there are several or none, the largest. A finding (`tracks`) names the track if a file has several.
   */
  trackReference: { ...COUNT, most: MOST_TRACKS, by: PAIR_JOB, reference: true },
  trackDistorted: { ...COUNT, most: MOST_TRACKS, by: PAIR_JOB },
  origin: { kind: 'checked', by: PAIR, machine: true },
  /**
   * Compare two stored videos of different bit depths at the larger one, by shifting the other's samples. Default false,
   * which refuses such a pair; true with `aomCtc` from v6.0. Videos paired by time are always compared this way.
   */
  commonBitDepth: { kind: 'flag', by: PAIR_JOB },
  /** Refuse a pair with preflight warnings. Default false. */
  strict: { ...FLAG, by: PAIR_JOB, reference: true },
  /**
   * Compare the videos' declared properties before scoring, and inspect some frames during it. Default true; frames of
   * two stored videos of one format are inspected only if it is set explicitly.
   */
  preflight: { ...FLAG, default: true, by: PAIR_JOB },
  /** Deinterlaces each video that is interlaced by its pictures or its label, with ffmpeg's bwdif. */
  deinterlace: { kind: 'flag', by: PAIR_JOB, filter: true },
  /** `auto` crops black borders, and nothing that is picture in either video. */
  crop: { kind: 'crop', of: ['auto'], by: PAIR_JOB, filter: true },
  /** The part of the picture to keep, `WIDTH:HEIGHT:X:Y` in samples as in ffmpeg; without X and Y, the centre. */
  cropReference: { kind: 'area', by: PAIR_JOB, reference: true, filter: true },
  cropDistorted: { kind: 'area', by: PAIR_JOB, filter: true },
  /** A chain of ffmpeg filters as after `-vf`; needs ffmpeg to decode. */
  vfReference: { kind: 'text', by: PAIR_JOB, reference: true, filter: true },
  vfDistorted: { kind: 'text', by: PAIR_JOB, filter: true },
  /** Converts to this range; untagged counts as limited. */
  colorRange: { kind: 'choice', of: COLOR_RANGES, by: PAIR_JOB, filter: true },
  /** Converts to this matrix; untagged counts as the usual one of the size. */
  matrix: { kind: 'choice', of: COLOR_MATRICES, by: PAIR_JOB, filter: true },
  /** ffmpeg's name of the planar format to compare in, such as `yuv420p10le`. */
  pixelFormat: { kind: 'text', by: PAIR_JOB, filter: true },
} as const satisfies Readonly<Record<string, OptionRow>>;

type Table = typeof OPTIONS;

export type OptionName = keyof Table;

/** Options whose rows have a property, such as a `default`. */
export type OptionWith<Property extends object> = {
  [Name in OptionName]: Table[Name] extends Property ? Name : never;
}[OptionName];

export type ValueOf<Name extends OptionName> = Table[Name] extends { readonly of: readonly (infer Choice)[] }
  ? Choice
  : Table[Name]['kind'] extends keyof Values
    ? Values[Table[Name]['kind']]
    : never;

/** Options that a taker accepts; higher layers add those that they type. */
export type OptionsOf<Taker extends OptionTaker> = {
  readonly [Name in OptionName as Taker extends Table[Name]['by'][number]
    ? Table[Name]['kind'] extends keyof Values
      ? Name
      : never
    : never]?: ValueOf<Name>;
};

/** Changes to a video's pictures before comparing, made after rotation and in the order of these members. */
export interface FilterOptions extends Pick<OptionsOf<'pair'>, OptionWith<{ filter: true }>> {}

const ROWS: ReadonlyMap<string, OptionRow> = new Map(Object.entries(OPTIONS));

/** Options of a taker, in the table's order. */
export function optionsOf(taker: OptionTaker): readonly string[] {
  return [...ROWS].flatMap(([name, { by }]) => (by.includes(taker) ? [name] : []));
}

export function pickOptions<Options extends object>(
  options: Options,
  fits: (row: OptionRow) => boolean | undefined,
): Partial<Options> {
  const given = Object.entries(options).filter(([name, value]) => {
    const row = ROWS.get(name);
    return value !== undefined && row && fits(row);
  });
  return Object.fromEntries(given) as Partial<Options>;
}

/** Names of given options whose rows fit and that differ from their defaults. */
export function changed(options: object, fits: (row: OptionRow) => boolean | undefined): string[] {
  return Object.entries(pickOptions(options, fits)).flatMap(([name, value]) =>
    value === ROWS.get(name)?.default || (Array.isArray(value) && value.length === 0) ? [] : [name],
  );
}
