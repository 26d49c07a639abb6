/**
 * @module report/own-keys
 * What a report says beyond libvmaf's log, as JSON under snake_case keys (docs/report.md).
 *
 * - `reference`, `distorted`: `name`, `container`, `width`, `height`, `bit_depth`, `chroma`, `frame_rate` (`"num/den"`,
 *   where known), `frame_count` (null where unknown), `skipped`;
 * - `pairing`, where anything was decoded, resized or paired by time: what was done, see {@link pairingJson};
 * - `preflight`: per finding `code`, `severity`, `message`, and where they apply `reference`, `distorted`, `fix`;
 * - `models`: per model `name`, `source`, `chosen` (where the choice was ours), `features`, `options` {`disable_clip`, `enable_transform`} and, for a
 *   bootstrap collection, `collection` {`members`, `bagging`, `stddev`, `ci_p95_lo`, `ci_p95_hi`};
 * - `no_reference`, where the distorted video was scored by itself: true;
 * - `tiny`, where there are tiny models: per model `name`, `source`, `file`, `sha256`, `manifest_sha256`,
 *   `parts` (per file `name`, `role`, `bytes`, `sha256`), `registered`, `kind`,
 *   `precision_requested`, `quantisation`, `metrics`, `features`, `device_requested`, `device`, `runtime`, and where they
 *   apply `adapter`, `codec`, `preset`,
 *   `crf`, `resize`, `notices` (each `code`, `message` and with `no-scene` `frames`);
 * - `distribution`: per complete metric `percentiles` {`p1` .. `p99`} and `stddev`;
 * - `native`, where an installed libvmaf measured: `flavour`, `path`, `version`, `libvmaf`, `decimals`, `pooled`, `input`;
 * - `compat`, `backend_requested`, `backend_used`, `implementation`, `threads`, `subsample`, `frame_count`, `warnings`;
 * - `trust`: `verdict` (`fine`, `doubtful`, `untrusted`), `codes`, and unless it is fine `cause` and `fix`.
 */
import type { FrameList, InputPairing, Pairing } from '../media/pairing/types.js';
import type { Finding, FindingPlace } from '../media/preflight/types.js';
import { type Json, quote } from './json-text.js';
import { trustOf } from './trust.js';
import type {
  FailedEncode,
  NativeRun,
  PooledMetric,
  Report,
  ReportHead,
  ReportInput,
  ReportModel,
  ReportTinyModel,
  ReportTinyNotice,
  ReportTinyPart,
} from './types.js';

/** Key and value, in the order in which they are written. */
export type JsonEntries = readonly (readonly [key: string, value: Json])[];

/** Pooled statistics in the order of the log. */
export const POOLED_KEYS = ['min', 'max', 'mean', 'harmonic_mean'] as const;

/** Percentiles in ascending order. */
export const PERCENTILE_KEYS = ['p1', 'p5', 'p10', 'p25', 'p50', 'p75', 'p90', 'p95', 'p99'] as const;

/** The pooled values of a metric, or `undefined` when one of its frames has none. */
export function pooledMetric(report: Pick<Report, 'pooled_metrics'>, name: string): PooledMetric | undefined {
  const pooled = report.pooled_metrics[name];
  return pooled !== undefined && isPooled(pooled) ? pooled : undefined;
}

function isPooled(pooled: PooledMetric | Record<string, never>): pooled is PooledMetric {
  return typeof pooled.mean === 'number';
}

/** A frame rate as `"num/den"`, or `undefined` when the container does not say. */
export function frameRateText({ frameRate }: Pick<ReportInput, 'frameRate'>): string | undefined {
  return frameRate && `${frameRate.num}/${frameRate.den}`;
}

/** All there is of an encode that could not be scored: who, and why not. */
export function failureKeys({ version, reference, distorted, code, message }: FailedEncode): JsonEntries {
  return [
    ['version', quote(version)],
    ['reference', { map: [['name', quote(reference)]] }],
    ['distorted', { map: [['name', quote(distorted)]] }],
    [
      'error',
      {
        map: [
          ['code', quote(code)],
          ['message', quote(message)],
        ],
      },
    ],
  ];
}

/** Who was compared with whom. */
export function inputKeys({ reference, distorted, noReference }: ReportHead): JsonEntries {
  return [
    ['reference', inputJson(reference)],
    ['distorted', inputJson(distorted)],
    ...entry('no_reference', noReference, String),
  ];
}

/** What was done to the frames, and what is to be known of the pair. */
export function pairingKeys({ pairing, preflight }: Report): JsonEntries {
  return [
    ...entry('pairing', pairing, pairingJson),
    ...entry('preflight', preflight, (findings) => ({ list: findings.map(findingJson) })),
  ];
}

/** By which models. */
export function modelKeys({ models, tiny }: ReportHead): JsonEntries {
  return [
    ['models', { list: models.map(modelJson) }],
    ...entry('tiny', tiny, (list) => ({ list: list.map(tinyJson) })),
  ];
}

/**
 * Percentiles and standard deviation of every metric that has them.
 * @param number writes a measured value
 */
export function distributionKey(report: Report, number: (value: number) => string): JsonEntries {
  const metrics = report.metrics.flatMap((name): [string, Json][] => {
    const spread = report.distribution[name];
    if (spread?.percentiles === undefined) return [];
    const percentiles = PERCENTILE_KEYS.map((key) => [key, number(spread.percentiles[key])] as const);
    return [
      [
        name,
        { map: [['percentiles', { map: percentiles }] as const, ['stddev', number(spread.stddev)] as const] },
      ],
    ];
  });
  return [['distribution', { map: metrics }]];
}

/** What was asked for and what ran. */
export function runKeys(report: ReportHead): JsonEntries {
  return [
    ['compat', quote(report.compat)],
    ['backend_requested', quote(report.backend_requested)],
    ['backend_used', quote(report.backend_used)],
    ['implementation', quote(report.implementation)],
    ...entry('native', report.native, nativeJson),
    ['threads', String(report.threads)],
    ['subsample', String(report.subsample)],
  ];
}

/** How it ended. */
export function outcomeKeys(report: Report): JsonEntries {
  return [
    ['frame_count', String(report.frameCount)],
    ['warnings', { list: report.warnings.map(quote) }],
    ['trust', trustJson(report)],
  ];
}

function trustJson(report: Report): Json {
  const { verdict, codes, cause, fix } = trustOf(report);
  return {
    map: [
      ['verdict', quote(verdict)],
      ['codes', { list: codes.map(quote) }],
      ...entry('cause', cause),
      ...entry('fix', fix),
    ],
  };
}

function nativeJson({ flavour, path, version, libvmaf, decimals, pooled, input }: NativeRun): Json {
  return {
    map: [
      ['flavour', quote(flavour)],
      ['path', quote(path)],
      ['version', scalar(version)],
      ['libvmaf', scalar(libvmaf)],
      ['decimals', scalar(decimals)],
      ['pooled', quote(pooled)],
      ['input', quote(input)],
    ],
  };
}

function inputJson(input: ReportInput): Json {
  const rate = frameRateText(input);
  return {
    map: [
      ['name', quote(input.name)],
      ['container', quote(input.container)],
      ['width', String(input.width)],
      ['height', String(input.height)],
      ['bit_depth', String(input.bitDepth)],
      ['chroma', quote(input.chroma)],
      ...(rate === undefined ? [] : [['frame_rate', quote(rate)] as const]),
      ['frame_count', String(input.frameCount)],
      ['skipped', String(input.skipped)],
      ...entry('file_size', input.fileSize, number),
    ],
  };
}

/** A value that may be missing, as an entry or none. */
function entry<T>(
  key: string,
  value: T | undefined,
  write: (value: T) => Json = (it) => quote(String(it)),
): [string, Json][] {
  return value === undefined ? [] : [[key, write(value)]];
}

const number = (value: number): Json => String(value);
const scalar = (value: string | number | boolean | null): Json =>
  typeof value === 'string' ? quote(value) : String(value);

/**
 * `reference`, `distorted` (decoder, what the file declares, what was done to its samples), the format scored, `scale`
 * (the filter asked for), `range` and `frames` (how frames were paired).
 */
function pairingJson(pairing: Pairing): Json {
  const { frames, range } = pairing;
  return {
    map: [
      ['reference', inputPairingJson(pairing.reference)],
      ['distorted', inputPairingJson(pairing.distorted)],
      ['width', number(pairing.width)],
      ['height', number(pairing.height)],
      ['bit_depth', number(pairing.bitDepth)],
      ['chroma', quote(pairing.chroma)],
      ['scale', quote(pairing.scale)],
      ...entry('range', range, ({ unit, start, end }) => ({
        map: [['unit', quote(unit)], ['start', number(start)], ...entry('end', end, number)],
      })),
      [
        'frames',
        {
          map: [
            ['policy', quote(frames.policy)],
            ['offset', number(frames.offset)],
            ['offset_requested', scalar(frames.offsetRequested)],
            ...entry('offset_confidence', frames.offsetConfidence, number),
            ...entry('offset_state', frames.offsetState),
            ['pairs', number(frames.pairs)],
            ['missing', frameListJson(frames.missing)],
            ['repeated', frameListJson(frames.repeated)],
            ['dropped', frameListJson(frames.dropped)],
          ],
        },
      ],
    ],
  };
}

function inputPairingJson(input: InputPairing): Json {
  return {
    map: [
      ['decoder', quote(input.decoder)],
      ...entry('decoded_by', input.decodedBy),
      ...entry('codec', input.codec),
      ...entry('pixel_format', input.pixelFormat),
      ...entry('bitrate', input.bitrate, number),
      ...entry('file_size', input.fileSize, number),
      ...entry('duration', input.duration, number),
      ['width', number(input.width)],
      ['height', number(input.height)],
      ['bit_depth', number(input.bitDepth)],
      ['chroma', quote(input.chroma)],
      ...entry('frame_rate', frameRateText(input)),
      ...entry('scaled_by', input.scaledBy),
      ['conversions', { list: input.conversions.map(quote) }],
    ],
  };
}

function frameListJson({ count, frames }: FrameList): Json {
  return {
    map: [
      ['count', number(count)],
      ['frames', { list: frames.map(number) }],
    ],
  };
}

function findingJson(finding: Finding): Json {
  return {
    map: [
      ['code', quote(finding.code)],
      ['severity', quote(finding.severity)],
      ['message', quote(finding.message)],
      ...entry('reference', finding.reference, scalar),
      ...entry('distorted', finding.distorted, scalar),
      ...entry('fix', finding.fix),
      ...entry('places', finding.places, (places) => ({ list: places.map(placeJson) })),
    ],
  };
}

function placeJson({ frame, frames }: FindingPlace): Json {
  return {
    map: [
      ['frame', String(frame)],
      ['frames', String(frames)],
    ],
  };
}

function tinyJson(model: ReportTinyModel): Json {
  return {
    map: [
      ['name', quote(model.name)],
      ['source', quote(model.source)],
      ['file', quote(model.file)],
      ['sha256', quote(model.sha256)],
      ['manifest_sha256', quote(model.manifest_sha256)],
      ['parts', { list: model.parts.map(partJson) }],
      ['registered', String(model.registered)],
      ['kind', quote(model.kind)],
      ['precision_requested', quote(model.precision_requested)],
      ['quantisation', quote(model.quantisation)],
      ['metrics', { list: model.metrics.map(quote) }],
      ['features', { list: model.features.map(quote) }],
      ['device_requested', quote(model.device_requested)],
      ['device', scalar(model.device)],
      ['runtime', scalar(model.runtime)],
      ...entry('adapter', model.adapter),
      ...entry('codec', model.codec),
      ...entry('preset', model.preset),
      ...entry('crf', model.crf, number),
      ...entry('resize', model.resize),
      ...(model.notices ? [['notices', { list: model.notices.map(noticeJson) }] as const] : []),
    ],
  };
}

function noticeJson({ code, message, frames }: ReportTinyNotice): Json {
  return { map: [['code', quote(code)], ['message', quote(message)], ...entry('frames', frames, number)] };
}

function partJson({ name, role, bytes, sha256 }: ReportTinyPart): Json {
  return {
    map: [
      ['name', quote(name)],
      ['role', quote(role)],
      ['bytes', number(bytes)],
      ['sha256', quote(sha256)],
    ],
  };
}

function modelJson(model: ReportModel): Json {
  const { collection, scoreRange } = model;
  const entries: [string, Json][] = [
    ['name', quote(model.name)],
    ['source', quote(model.source)],
    ...entry('chosen', model.chosen),
    ['features', { list: model.features.map(quote) }],
    [
      'options',
      {
        map: [
          ['disable_clip', String(model.options.disableClip)],
          ['enable_transform', String(model.options.enableTransform)],
        ],
      },
    ],
  ];
  if (scoreRange) entries.push(['score_min', String(scoreRange[0])], ['score_max', String(scoreRange[1])]);
  if (collection) {
    entries.push([
      'collection',
      {
        map: [
          ['members', String(collection.members)],
          ['bagging', quote(collection.bagging)],
          ['stddev', quote(collection.stddev)],
          ['ci_p95_lo', quote(collection.ciLow)],
          ['ci_p95_hi', quote(collection.ciHigh)],
        ],
      },
    ]);
  }
  return { map: entries };
}
