/**
 * @module report/schema
 * Every key of a report that is not in libvmaf's log, once: its type, how it is written (docs/report.md) and read back.
 * Files have the properties' names in snake case, in this order.
 */

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
import type { ErrorCode } from '../core/errors.js';
import type { FrameList, FramePairing, FrameRange, InputPairing, Pairing } from '../media/pairing/types.js';
import type { Finding, FindingCode, FindingPlace } from '../media/preflight/types.js';
import {
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
  plain,
  set,
  size,
  text,
  type ValueOf,
} from './kinds.js';

const chroma = choice(...CHROMA_FORMATS);

/** Words of a list, separated by blanks in XML. */
const words = list(text, ' ');

/** A list that XML leaves out if it is empty. */
function unlessEmpty<T>(kind: Kind<readonly T[]>): Kind<readonly T[]> {
  return {
    ...kind,
    attributes: (key, values, write) => (values.length > 0 ? kind.attributes(key, values, write) : []),
  };
}

/** A list that is read back only if each of its items is. */
function allOf<T>(item: Kind<T>): Kind<readonly T[]> {
  const kind = list(item);
  return {
    ...kind,
    take: (source, key) => {
      const items = source[key];
      const whole = Array.isArray(items) && items.every((one) => item.read(one) !== undefined);
      return whole ? kind.read(items) : undefined;
    },
  };
}

/** A value that files have only where it is another than the usual one. */
function unless<T>(usual: T, kind: Kind<T>): Kind<T> {
  return {
    ...or(kind, () => usual),
    entries: (key, value, write) => (value === usual ? [] : kind.entries(key, value, write)),
    attributes: (key, value, write) => (value === usual ? [] : kind.attributes(key, value, write)),
  };
}

export const pooled = object({
  min: measured,
  max: measured,
  mean: measured,
  /** n / sum(1 / (x + 1)) - 1. */
  harmonic_mean: measured,
});

/** Pooled statistics of one metric over the scored frames (spec 7). `null` stands for a non-finite value. */
export interface PooledMetric extends ValueOf<typeof pooled> {}

const percentiles = object({
  p1: measured,
  p5: measured,
  p10: measured,
  p25: measured,
  p50: measured,
  p75: measured,
  p90: measured,
  p95: measured,
  p99: measured,
});

export const spread = object({
  /** Percentiles 1, 5, 10, 25, 50, 75, 90, 95, 99 by linear interpolation between order statistics. */
  percentiles: inline(percentiles),
  /** Population standard deviation. */
  stddev: measured,
});

/** In ascending order. */
export const PERCENTILE_KEYS = Object.keys(percentiles.fields) as readonly (keyof ValueOf<
  typeof percentiles
>)[];

/** Our additions to pooling. */
export interface MetricDistribution extends ValueOf<typeof spread> {}

const colour = object({
  matrix: choice(...COLOUR_MATRICES),
  range: choice('limited', 'full'),
  transfer: choice(...TRANSFERS),
  siting: choice(...SITINGS),
  upsampling: choice(...CHROMA_UPSAMPLERS),
  /** Absent: those that go with matrix and transfer. */
  primaries: optional(choice(...PRIMARIES)),
  /** Set if alpha was read: by ssimulacra2 and butteraugli, which take the worse of two backgrounds. */
  alpha: optional(set),
  /** The tool whose conversion was asked for. */
  as: optional(choice(...COLOUR_AS)),
  /** Which of these the video does not state. */
  guessed: or(words, () => []),
});

export const input = object({
  name: text,
  /** `y4m`, `yuv`, `frames`, or an encoded file's container by ffmpeg's short names. */
  container: or(text, () => ''),
  width: size,
  height: size,
  bitDepth: size,
  chroma,
  /** Frames per second as a fraction, when the container says so. */
  frameRate: optional(fraction),
  /** Frames in the file, `null` when unknown (a pipe that was not read to its end). */
  frameCount: or(nullable(integer), () => null),
  /** Frames skipped at the start by request. */
  skipped: or(integer, () => 0),
  /** Bytes of the file, where it is one of stored frames; {@link Report.pairing} has those of encoded ones. */
  fileSize: optional(integer),
  /** How its samples became light, where metrics of colour were measured. */
  colour: optional(inline(colour, 'colour_')),
});

/** One side of the comparison as it was read. */
export interface ReportInput extends ValueOf<typeof input> {}

export const model = object({
  /** Key of its score in the frames. */
  name: text,
  /** Built-in version or path it came from. */
  source: text,
  /** Why it was chosen, a sentence, where the caller left the choice open. */
  chosen: optional(text),
  /** What CAMBI of a VMAF v1 model was told of the encode, a sentence. */
  settings: optional(text),
  /** Features it read, as log names. */
  features: or(words, () => []),
  options: inline(object({ disableClip: or(flag, () => false), enableTransform: or(flag, () => false) })),
  /** What its scores are clipped to, where that is not 0 to 100. */
  scoreRange: optional(bounds('score_min', 'score_max')),
  /** Keys of the bootstrap statistics when the model is a collection. */
  collection: optional(
    inline(
      object({
        members: integer,
        bagging: text,
        stddev: or(text, () => ''),
        ciLow: named(
          'ci_p95_lo',
          or(text, () => ''),
        ),
        ciHigh: named(
          'ci_p95_hi',
          or(text, () => ''),
        ),
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
  /** Its size. */
  bytes: integer,
  sha256: text,
});

/** A file that a tiny model is made of. */
export interface ReportTinyPart extends ValueOf<typeof tinyPart> {}

const tinyNotice = object({
  /**
   * `experimental`: its values are not to be relied upon; `smoke`: they mean nothing; `no-scene`: some frames are flat or
   * noise.
   */
  code: choice('experimental', 'smoke', 'no-scene'),
  /** A full sentence. */
  message: text,
  /** Frames that it is about, where not all; with `no-scene`. */
  frames: optional(integer),
});

/** A reason to doubt the values of a tiny model. */
export interface ReportTinyNotice extends ValueOf<typeof tinyNotice> {}

const notices = list<ReportTinyNotice>(tinyNotice);

export const tinyModel = object({
  /** Key of its score; of several the beginning. */
  name: text,
  /** Id in the registry, or path. */
  source: text,
  /** The file that was read, an 8-bit sibling perhaps. */
  file: text,
  sha256: text,
  /** Of the manifest of all parts. */
  manifest_sha256: text,
  /** The files that it is made of: graph, weights, sidecar. */
  parts: list<ReportTinyPart>(tinyPart),
  /** Whether a registry lists it, and vouches for every part that its scores depend on. */
  registered: flag,
  /** `fr` compares with the reference, `nr` reads only the distorted video. */
  kind: choice('fr', 'nr'),
  precision_requested: choice(...TINY_PRECISIONS),
  /** What ran: the model itself, or an 8-bit one. */
  quantisation: choice('fp32', 'static', 'dynamic', 'qat'),
  /** Keys of its scores in the frames. */
  metrics: words,
  /** Which of its values are the good ones. */
  better: unless<'higher' | 'lower'>('higher', choice('higher', 'lower')),
  /** Features it read, as log names; empty for models that read pictures. */
  features: unlessEmpty(words),
  device_requested: text,
  /** What it ran on; `null` where no frame was scored. */
  device: nullable(text),
  /** The library that ran it. */
  runtime: nullable(text),
  /** The GPU as its driver calls it, where the platform says. */
  adapter: optional(text),
  /** Threads of each of its sessions on the processor, where known. */
  threads: optional(integer),
  /** The encoder, for a codec-aware model. */
  codec: optional(text),
  preset: optional(text),
  crf: optional(number),
  /** The filter that brought pictures to its size. */
  resize: optional(text),
  /** Reasons to doubt its values; absent if there is none. Each is among the warnings too. */
  notices: optional<typeof notices>({
    ...notices,
    attributes: (key, all) => [[key, all.map(({ code }) => code).join(' ')]],
  }),
});

/** A tiny ONNX model as it ran. */
export interface ReportTinyModel extends ValueOf<typeof tinyModel> {}

const nativeRun = object({
  /** libvmaf's own tool, or one of ffmpeg's with the libvmaf filter. */
  flavour: choice<NativeFlavour>('vmaf', 'ffmpeg', 'ffprobe'),
  /** Absolute path. */
  path: text,
  /** What the program calls its version. */
  version: nullable(text),
  /** What the log calls libvmaf's version. */
  libvmaf: nullable(text),
  /** Decimals of the values it gave: stock libvmaf prints six. `null`: all digits. */
  decimals: nullable<6>(number as Kind<6>),
  /**
   * Whose pooled values the report has: `printed` are libvmaf's own, made before its values were cut to their decimals.
   * Percentiles and standard deviations are always made of the printed values of the frames.
   */
  pooled: choice('printed', 'computed'),
  /** How it got the frames: it read the files by itself, or they were decoded and prepared here and piped to it. */
  input: choice('files', 'pipes'),
});

/** A run of an installed libvmaf. */
export interface NativeRun extends ValueOf<typeof nativeRun> {}

const adapter = object({
  /** As the driver describes it; what it does not say is empty. */
  vendor: text,
  architecture: text,
  device: text,
  description: text,
  /** A processor does its work. */
  software: flag,
});

export const measurer = object({
  /** `webgpu`: a GPU. `cpu`: this package's own core. */
  backend: choice('webgpu', 'cpu'),
  /** Names of the extractors that it measured. */
  extractors: words,
  /** Pairs that it measured of them, before subsampling. */
  frames: integer,
  /** The GPU. */
  adapter: optional(inline(adapter, 'adapter_')),
});

/** Who measured some extractors of a run. */
export interface ReportMeasurer extends ValueOf<typeof measurer> {}

const frameNumbers = or(list(number), () => []);

/** XML has only the count. */
const frameList = or<FrameList>(
  {
    ...objectOf<FrameList>({
      count: or(integer, (source) => frameNumbers.take(source, 'frames')?.length ?? 0),
      frames: frameNumbers,
    }),
    attributes: (key, { count }) => [[key, String(count)]],
  },
  (source, key) => ({ count: integer.take(source, key) ?? 0, frames: [] }),
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

/** Its message is the content of its element in XML. */
export const finding = objectOf<Omit<Finding, 'hint'>>({
  code: openChoice<FindingCode>(),
  severity: choice('error', 'warning', 'info'),
  message: { ...text, attributes: () => [] },
  reference: optional(plain),
  distorted: optional(plain),
  fix: optional(text),
  follows: optional(openChoice<FindingCode>()),
  places: optional(list(objectOf<FindingPlace>({ frame: integer, frames: integer }))),
});

export const trust = object({
  /**
   * `fine`: nothing was found against the score. `doubtful`: a warning says that it may not mean what its reader thinks.
   * `untrusted`: frames were compared that do not belong together, so that the number says nothing about the encode.
   */
  verdict: choice('fine', 'doubtful', 'untrusted'),
  /** Codes of the findings behind it, the root cause first; a warning without a code has none. */
  codes: list(text),
  /** The root cause, a full sentence; absent when all is fine. */
  cause: optional(text),
  /** What resolves the root cause, where something does. */
  fix: optional(text),
});

/** A verdict and what it rests on. */
export interface Trust extends ValueOf<typeof trust> {}

/** An encode that could not be scored. */
export const failure = object({
  version: text,
  reference: object({ name: text }),
  distorted: object({ name: text }),
  error: object({ code: openChoice<ErrorCode>(), message: text }),
});

/** The videos compared. */
export const inputs = object({
  /** With {@link noReference} what stands in its place: it was not read. */
  reference: input as Kind<ReportInput>,
  distorted: input as Kind<ReportInput>,
  /** Set when the distorted video was scored by itself. */
  noReference: optional(set),
});

/** What was done to the frames, and what to know about the pair. */
export const preparation = object({
  /**
   * What was done to bring the two together; absent where nothing was decoded and frames were compared as stored, by
   * number.
   */
  pairing: optional<Kind<Pairing>>(pairing),
  /** What to know about the pair before its score is believed; absent without preflight. */
  preflight: optional(list<Finding>(finding)),
});

/** The models that predicted. */
export const models = object({
  models: allOf<ReportModel>(model),
  /** Tiny models; absent where there are none. */
  tiny: optional(allOf<ReportTinyModel>(tinyModel)),
});

/** What was asked for and what ran. */
export const run = object({
  /** Which libvmaf generation's arithmetic was asked for and ran. */
  compat: choice(...COMPATS),
  backend_requested: text,
  backend_used: text,
  /** `simd128` or `portable` of this package's own core; an installed program's kind and version. */
  implementation: text,
  /** The installed program that measured, where one did. */
  native: optional<Kind<NativeRun>>(nativeRun),
  threads: integer,
  subsample: integer,
});

const swap = object({
  /** The first frame that the new model scored. */
  frame: integer,
  /** Key of the score that ended with the frame before. */
  from: text,
  /** Key of the score that began. */
  to: text,
});

/** A change of models during a run. */
export interface ReportSwap extends ValueOf<typeof swap> {}

const sampledInterval = object({
  metric: text,
  /** `mean`, `p1`, `p5`, `p10` or `p50`. */
  statistic: text,
  low: number,
  high: number,
});

const sampling = object({
  /** Runs that were scored, and pairs of each. */
  runs: integer,
  run_frames: integer,
  /** Pairs that were scored, of so many. */
  frames: integer,
  total: integer,
  /** By which the runs were drawn. */
  seed: integer,
  /** Confidence of the intervals, 0..1. */
  level: number,
  /** First pairs of the runs. */
  starts: list(number, ' '),
  /** Where pooled values of the whole lie. */
  intervals: list(sampledInterval),
});

/** What was scored of a pair, where that was not all. */
export interface ReportSampling extends ValueOf<typeof sampling> {}

const metricValue = object({
  /** A key of the pooled values or of the aggregates. */
  metric: text,
  /** The mean of the frames, or the value of the whole run. */
  value: measured,
});

/** How the run ended. */
export const outcome = object({
  /** Changes of models while it ran, in order; absent where there was none. */
  swaps: optional(list<ReportSwap>(swap)),
  /** Runs that were scored in place of all pairs; pooled values are estimates then. */
  sampling: optional<Kind<ReportSampling>>(sampling),
  /**
   * What the videos score without the film grain that their decoders add, where both were asked for; empty if they add none,
   * so that one measurement stands for both.
   */
  withoutGrain: optional(list<ValueOf<typeof metricValue>>(metricValue)),
  /** Pairs measured, before subsampling. */
  frameCount: integer,
  /** Who measured what, where a GPU measured. */
  measurers: optional(list<ReportMeasurer>(measurer)),
  /** Full sentences; empty when there is nothing to say. */
  warnings: list(text),
});
