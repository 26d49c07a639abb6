/**
 * @module report/schema
 * The result of a run: libvmaf's JSON log, then our own keys: the type of each, how it is written (docs/report.md) and read.
 * Files have the keys in snake case, in this order.
 */
import { isObject, requireObject } from '../core/arguments.js';
import {
  CHROMA_FORMATS,
  CHROMA_UPSAMPLERS,
  COLOUR_AS,
  COLOUR_MATRICES,
  COMPATS,
  DECODERS,
  FRAME_RATE_POLICIES,
  type NativeFlavour,
  PRIMARIES,
  SCALE_FILTERS,
  SITINGS,
  TINY_PRECISIONS,
  TRANSFERS,
} from '../core/choices.js';
import { type ErrorCode, usageError } from '../core/errors.js';
import type { FrameList, FramePairing, FrameRange, InputPairing, Pairing } from '../media/pairing/types.js';
import type { Finding, FindingCode, FindingPlace } from '../media/preflight/findings.js';
import {
  allOf,
  bounds,
  choice,
  either,
  flag,
  fraction,
  inline,
  integer,
  type Kind,
  list,
  measured,
  named,
  nullable,
  number,
  object,
  objectOf,
  openChoice,
  optional,
  or,
  orEmpty,
  plain,
  set,
  size,
  text,
  unless,
  unlessEmpty,
  type ValueOf,
} from './kinds.js';

const chroma = choice(...CHROMA_FORMATS);
const textOrEmpty = or(text, () => '');
/** Separated by spaces in XML. */
const words = list(text, ' ');

export const pooled = object({
  min: measured,
  max: measured,
  mean: measured,
  /** n / sum(1 / (x + 1)) - 1. */
  harmonic_mean: measured,
});

/** Pooled statistics of one metric over the scored frames (spec 7). `null` stands for a non-finite value. */
export interface PooledMetric extends ValueOf<typeof pooled> {}

/** Percentiles in reports, in percent. */
export const PERCENTS = [1, 5, 10, 25, 50, 75, 90, 95, 99] as const;
export const PERCENTILE_KEYS = PERCENTS.map((percent) => `p${percent}` as const);

const percentiles = Object.fromEntries(PERCENTILE_KEYS.map((key) => [key, measured])) as Readonly<
  Record<(typeof PERCENTILE_KEYS)[number], typeof measured>
>;

export const spread = object({
  /** Percentiles 1, 5, 10, 25, 50, 75, 90, 95, 99 by linear interpolation between order statistics. */
  percentiles: inline(object(percentiles)),
  /** Population standard deviation. */
  stddev: measured,
});

/** Statistics of one metric that libvmaf's log lacks. */
export interface MetricDistribution extends ValueOf<typeof spread> {}

const colour = object({
  matrix: choice(...COLOUR_MATRICES),
  range: choice('limited', 'full'),
  transfer: choice(...TRANSFERS),
  siting: choice(...SITINGS),
  upsampling: choice(...CHROMA_UPSAMPLERS),
  /** Absent: implied by matrix and transfer. */
  primaries: optional(choice(...PRIMARIES)),
  /** Set if alpha was read: ssimulacra2 and butteraugli take the worse of two backgrounds. */
  alpha: optional(set),
  /** Tool whose conversion was requested. */
  as: optional(choice(...COLOUR_AS)),
  /** Which of these the video does not declare. */
  guessed: or(words, () => []),
});

export const input = object({
  name: text,
  /** `y4m`, `yuv`, `frames`, or ffmpeg's short name of an encoded file's container. */
  container: textOrEmpty,
  width: size,
  height: size,
  bitDepth: size,
  chroma,
  /** Frames per second; absent if the container does not say. */
  frameRate: optional(fraction),
  /** Frames in the file; `null` if unknown (a pipe that was not read to its end). */
  frameCount: or(nullable(integer), () => null),
  /** Frames skipped at the start by request. */
  skipped: or(integer, () => 0),
  /** Bytes of a file of raw frames; {@link Report.pairing} has those of encoded files. */
  fileSize: optional(integer),
  /** Conversion to linear light; set if colour metrics ran. */
  colour: optional(inline(colour, 'colour_')),
});

/** One input of the comparison, as it was read. */
export interface ReportInput extends ValueOf<typeof input> {}

export const model = object({
  /** Key of its score in the frames. */
  name: text,
  /** Built-in version or path. */
  source: text,
  /** Why it was chosen if the caller did not choose, a sentence. */
  chosen: optional(text),
  /** Encode settings given to CAMBI of a VMAF v1 model, a sentence. */
  settings: optional(text),
  /** Log names of its features. */
  features: or(words, () => []),
  options: inline(object({ disableClip: or(flag, () => false), enableTransform: or(flag, () => false) })),
  /** Range that scores are clipped to, if not 0 to 100. */
  scoreRange: optional(bounds('score_min', 'score_max')),
  /** Keys of the bootstrap statistics if the model is a collection. */
  collection: optional(
    inline(
      object({
        members: integer,
        bagging: text,
        stddev: textOrEmpty,
        ciLow: named('ci_p95_lo', textOrEmpty),
        ciHigh: named('ci_p95_hi', textOrEmpty),
      }),
    ),
  ),
});

/** A model as it ran. */
export interface ReportModel extends ValueOf<typeof model> {}

const tinyPart = object({
  /** Relative to the folder of the graph. */
  name: text,
  role: choice('graph', 'weights', 'sidecar'),
  bytes: integer,
  sha256: text,
});

/** A file of a tiny model. */
export interface ReportTinyPart extends ValueOf<typeof tinyPart> {}

const tinyNotice = object({
  /** `experimental`: do not rely on its values; `smoke`: they mean nothing; `no-scene`: frames are flat or noise. */
  code: choice('experimental', 'smoke', 'no-scene'),
  /** A full sentence. */
  message: text,
  /** Number of frames it is about, if not all; with `no-scene`. */
  frames: optional(integer),
});

/** A reason to doubt the values of a tiny model. */
export interface ReportTinyNotice extends ValueOf<typeof tinyNotice> {}

const notices = list<ReportTinyNotice>(tinyNotice);

export const tinyModel = object({
  /** Key of its score; with several scores, their common prefix. */
  name: text,
  /** Id in the registry, or path. */
  source: text,
  /** File that was read; may be an 8-bit sibling. */
  file: text,
  sha256: text,
  /** Digest of the manifest of all parts. */
  manifest_sha256: text,
  /** Its files: graph, weights, sidecar. */
  parts: list<ReportTinyPart>(tinyPart),
  /** Whether a registry lists it and vouches for every part that its scores depend on. */
  registered: flag,
  /** `fr` compares with the reference, `nr` reads only the distorted video. */
  kind: choice('fr', 'nr'),
  precision_requested: choice(...TINY_PRECISIONS),
  /** What ran: `fp32` is the model itself, the others are 8 bit. */
  quantisation: choice('fp32', 'static', 'dynamic', 'qat'),
  /** Keys of its scores in the frames. */
  metrics: words,
  better: unless<'higher' | 'lower'>('higher', choice('higher', 'lower')),
  /** Log names of its features; empty for models that read pictures. */
  features: unlessEmpty(words),
  device_requested: text,
  /** Device it ran on; `null` if no frame was scored. */
  device: nullable(text),
  /** Library that ran it. */
  runtime: nullable(text),
  /** The GPU's name by its driver, if the platform reports it. */
  adapter: optional(text),
  /** Threads of each of its sessions on the CPU, if known. */
  threads: optional(integer),
  /** Encoder, for a codec-aware model. */
  codec: optional(text),
  preset: optional(text),
  crf: optional(number),
  /** Filter that resized pictures to its input size. */
  resize: optional(text),
  /** Reasons to doubt its values, each also among the warnings; absent if there are none. */
  notices: optional<typeof notices>({
    ...notices,
    attributes: (key, all) => [[key, all.map(({ code }) => code).join(' ')]],
  }),
});

/** A tiny ONNX model as it ran. */
export interface ReportTinyModel extends ValueOf<typeof tinyModel> {}

export const nativeRun = object({
  /** libvmaf's own tool, or an ffmpeg tool with the libvmaf filter. */
  flavour: choice<NativeFlavour>('vmaf', 'ffmpeg', 'ffprobe'),
  /** Absolute path. */
  path: text,
  /** Version that the program reports. */
  version: or(nullable(text), () => null),
  /** Version of libvmaf in the log. */
  libvmaf: or(nullable(text), () => null),
  /** Decimals of its values: stock libvmaf prints six. `null`: all digits. */
  decimals: or(nullable<6>(number as Kind<6>), () => null),
  /**
   * `printed`: pooled by libvmaf before its values were rounded; `computed`: pooled here. Percentiles and
   * standard deviations always come from the printed values of the frames.
   */
  pooled: choice('printed', 'computed'),
  /** How it got the frames: it read the files, or frames were decoded and prepared here and piped to it. */
  input: choice('files', 'pipes'),
});

/** A run of an installed libvmaf. */
export interface NativeRun extends ValueOf<typeof nativeRun> {}

const adapter = object({
  /** As the driver describes it; unknown fields are empty. */
  vendor: text,
  architecture: text,
  device: text,
  description: text,
  /** A CPU does its work. */
  software: flag,
});

export const measurer = object({
  /** `webgpu`: a GPU. `cpu`: this package's own core. */
  backend: choice('webgpu', 'cpu'),
  /** Names of the extractors it measured. */
  extractors: words,
  /** Pairs it measured, before subsampling. */
  frames: integer,
  /** The GPU, for `webgpu`. */
  adapter: optional(inline(adapter, 'adapter_')),
});

/** A backend that measured some extractors of a run. */
export interface ReportMeasurer extends ValueOf<typeof measurer> {}

const frameNumbers = or(list(number, ' '), () => []);

/** In XML, `missing="3" missing_frames="7 8 9"`. */
const frameList = or<FrameList>(
  {
    ...objectOf<FrameList>({
      count: or(integer, (source) => frameNumbers.take(source, 'frames')?.length ?? 0),
      frames: frameNumbers,
    }),
    attributes: (key, { count, frames }) => [
      [key, String(count)],
      ...(frames.length > 0 ? [[`${key}_frames`, frames.join(' ')] as const] : []),
    ],
  },
  (source, key) => ({
    count: integer.take(source, key) ?? 0,
    frames: frameNumbers.take(source, `${key}_frames`) ?? [],
  }),
);

export const inputPairing = objectOf<InputPairing>({
  decoder: or(choice(...DECODERS, 'none'), () => 'none'),
  decodedBy: optional(text),
  codec: optional(text),
  track: optional(integer),
  tracks: optional(integer),
  encoderSettings: optional(text),
  pixelFormat: optional(text),
  bitrate: optional(number),
  fileSize: optional(integer),
  duration: optional(number),
  width: size,
  height: size,
  bitDepth: size,
  chroma,
  frameRate: optional(fraction),
  scaledBy: optional(text),
  conversions: or(unlessEmpty(list(text, '; ')), () => []),
});

const range = objectOf<FrameRange>({
  unit: choice('frames', 'seconds'),
  start: or(number, () => 0),
  end: optional(number),
});

const framePairing = objectOf<FramePairing>({
  policy: choice(...FRAME_RATE_POLICIES, 'number'),
  by: optional(choice('distorted')),
  offset: integer,
  offsetRequested: or(either(choice('auto'), integer), ({ offset }) => integer.read(offset) ?? 0),
  offsetConfidence: optional(number),
  offsetState: optional(choice('found', 'ambiguous', 'none')),
  pairs: integer,
  missing: frameList,
  repeated: frameList,
  dropped: frameList,
});

export const pairing = objectOf<Pairing>({
  reference: inputPairing,
  distorted: inputPairing,
  width: size,
  height: size,
  bitDepth: size,
  chroma,
  scale: or(choice(...SCALE_FILTERS, 'none'), () => 'none'),
  range: optional(inline(range, 'range_')),
  frames: inline(framePairing),
});

export const findingPlace = objectOf<FindingPlace>({ frame: integer, frames: integer });

/** In XML, the message is the content of the element. */
export const finding = objectOf<Omit<Finding, 'hint'>>({
  code: openChoice<FindingCode>(),
  severity: choice('error', 'warning', 'info'),
  message: { ...text, attributes: () => [] },
  reference: optional(plain),
  distorted: optional(plain),
  fix: optional(text),
  follows: optional(openChoice<FindingCode>()),
  places: optional(list(findingPlace)),
});

export const trust = object({
  /**
   * `fine`: no problems found. `doubtful`: a warning says that the score may not mean what it seems to.
   * `untrusted`: frames were compared that do not belong together, so the score says nothing about the encode.
   */
  verdict: choice('fine', 'doubtful', 'untrusted'),
  /** Codes of the findings behind it, root cause first; a warning without a code adds none. */
  codes: list(text),
  /** The root cause, a full sentence; absent if all is fine. */
  cause: optional(text),
  /** Remedy for the root cause, if there is one. */
  fix: optional(text),
});

/** A verdict and its grounds. */
export interface Trust extends ValueOf<typeof trust> {}

export const failure = object({
  version: text,
  reference: object({ name: text }),
  distorted: object({ name: text }),
  error: object({ code: openChoice<ErrorCode>(), message: text }),
});

export const inputs = object({
  /** With `noReference`, a stand-in that was not read. */
  reference: input as Kind<ReportInput>,
  distorted: input as Kind<ReportInput>,
  /** Set if the distorted video was scored without a reference. */
  noReference: optional(set),
});

export const preparation = object({
  /** How the two were brought together; absent if stored frames were compared as they are, by number. */
  pairing: optional<Kind<Pairing>>(pairing),
  /** Findings about the pair; absent without preflight. */
  preflight: optional(orEmpty<Finding>(finding)),
});

export const models = object({
  models: allOf<ReportModel>(model),
  /** Tiny models; absent if there are none. */
  tiny: optional(allOf<ReportTinyModel>(tinyModel)),
});

export const run = object({
  /** libvmaf generation whose arithmetic was requested and ran. */
  compat: choice(...COMPATS),
  backend_requested: text,
  backend_used: text,
  /** `simd128` or `portable` for this package's own core; kind and version of an installed program. */
  implementation: text,
  /** Installed program that measured, if one did. */
  native: optional<Kind<NativeRun>>(nativeRun),
  threads: integer,
  subsample: integer,
});

export const swap = object({
  /** First frame that the new model scored. */
  frame: integer,
  /** Key of the score that ended with the frame before. */
  from: text,
  /** Key of the new score. */
  to: text,
});

/** A change of models during a run. */
export interface ReportSwap extends ValueOf<typeof swap> {}

export const sampledInterval = object({
  metric: text,
  /** `mean`, `p1`, `p5`, `p10` or `p50`. */
  statistic: text,
  low: number,
  high: number,
});

export const sampling = object({
  /** Runs of pairs that were scored, and pairs per run. */
  runs: integer,
  run_frames: integer,
  /** Scored pairs, out of `total`. */
  frames: integer,
  total: integer,
  /** Seed by which the runs were drawn. */
  seed: integer,
  /** Confidence of the intervals, 0..1. */
  level: number,
  /** First pair of each run. */
  starts: list(number, ' '),
  /** Confidence intervals of the whole video's pooled values. */
  intervals: or(list(sampledInterval), () => []),
});

/** The scored part of a pair that was sampled. */
export interface ReportSampling extends ValueOf<typeof sampling> {}

export const metricValue = object({
  /** A key of the pooled values or of the aggregates. */
  metric: text,
  /** Mean of the frames, or value of the whole run. */
  value: measured,
});

export const outcome = object({
  /** Model changes during the run, in order; absent if there were none. */
  swaps: optional(list<ReportSwap>(swap)),
  /** Runs scored in place of all pairs; pooled values are then estimates. */
  sampling: optional<Kind<ReportSampling>>(sampling),
  /** Values without the film grain that decoders add, if requested; empty if they add none, so both are equal. */
  withoutGrain: optional(orEmpty<ValueOf<typeof metricValue>>(metricValue)),
  /** Pairs measured, before subsampling. */
  frameCount: integer,
  /** What each backend measured; set if a GPU measured. */
  measurers: optional(list<ReportMeasurer>(measurer)),
  /** Full sentences. */
  warnings: list(text),
});

/** Values of one frame, keyed by log name in the order in which libvmaf writes them. */
export interface FrameMetrics {
  readonly frameNum: number;
  /** A metric without a value in this frame has no key. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** An encode that could not be scored, in place of its report. */
export interface FailedEncode {
  /** Version of anyvmaf. */
  readonly version: string;
  /** As the user named the two. */
  readonly reference: string;
  readonly distorted: string;
  readonly code: ErrorCode;
  /** A full sentence. */
  readonly message: string;
}

/** Facts of a run that are known with its first frame; lengths may still be unknown. */
export interface ReportHead extends ValueOf<typeof inputs>, ValueOf<typeof models>, ValueOf<typeof run> {
  /** Version of anyvmaf. */
  readonly version: string;
  /** Metric names in libvmaf's order. */
  readonly metrics: readonly string[];
}

/** The result of a run. */
export interface Report extends ReportHead, ValueOf<typeof preparation>, ValueOf<typeof outcome> {
  /** Frames per second of wall-clock time, from the first frame to the last. */
  readonly fps: number;
  readonly frames: readonly FrameMetrics[];
  readonly pooled_metrics: Readonly<Record<string, PooledMetric | Record<string, never>>>;
  readonly aggregate_metrics: Readonly<Record<string, number>>;
  readonly distribution: Readonly<Record<string, MetricDistribution>>;
}

const PART_LISTS: readonly string[] = ['frames', 'metrics', 'models', 'warnings'];
const STATISTICS = ['pooled_metrics', 'aggregate_metrics', 'distribution'];

/** Parts that summaries, pages, JSON, NDJSON and XML need. */
export const WHOLE = [...PART_LISTS, ...STATISTICS, 'reference', 'distorted'] as readonly (keyof Report)[];

/** @throws {AnyvmafError} `usage` if `parts` are missing, as in reports read from CSV, SUB and other programs' logs */
export function requireParts(name: string, report: unknown, parts: readonly (keyof Report)[]): void {
  requireObject(name, report, 'a report');
  const members = new Map(Object.entries(report as object));
  const lacking = parts.filter((part) => !fits(part, members.get(part)));
  if (lacking.length === 0) return;
  throw usageError(
    `${name} has no ${lacking.join(', ')}; pass a report from score(), or from readReport() if isReport() is true.`,
  );
}

function fits(part: string, value: unknown): boolean {
  if (part === 'frames')
    return Array.isArray(value) && value.every((frame) => isObject(frame) && isObject(frame.metrics));
  if (part === 'metrics') return Array.isArray(value) && value.every((metric) => typeof metric === 'string');
  if (PART_LISTS.includes(part)) return Array.isArray(value) && !value.includes(null);
  return isObject(value);
}
