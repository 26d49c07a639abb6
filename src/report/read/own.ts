/**
 * @module report/read/own
 * Reads back what our reports say beyond libvmaf's log: the keys of `own-keys`, from JSON or from XML's elements.
 */
import { CHROMA_FORMATS, COMPATS, DECODERS, FRAME_RATE_POLICIES, SCALE_FILTERS } from '../../core/choices.js';
import type { Fraction } from '../../media/decoder.js';
import type { FrameList, FramePairing, InputPairing, Pairing } from '../../media/pairing/types.js';
import type { Finding, FindingCode, FindingPlace } from '../../media/preflight/types.js';
import { PERCENTILE_KEYS, POOLED_KEYS } from '../own-keys.js';
import type { MetricDistribution, PooledMetric, ReportInput, ReportModel } from '../types.js';
import { Fields, known } from './fields.js';
import type { SavedParts } from './parts.js';

/** Everything but the measured values, as far as it is there and whole. */
export function ownParts(fields: Fields): Omit<SavedParts, 'frames' | 'notes'> {
  const models = fields.list('models')?.map((item) => modelOf(Fields.of(item)));
  return known({
    version: fields.text('version'),
    fps: fields.number('fps') ?? (fields.scalar('fps') === null ? Number.NaN : undefined),
    reference: inputOf(fields.object('reference')),
    distorted: inputOf(fields.object('distorted')),
    pairing: pairingOf(fields.object('pairing')),
    preflight: fields.has('preflight') ? fields.objects('preflight').flatMap(findingOf) : undefined,
    models: models?.every((model) => model !== undefined) ? models : undefined,
    compat: fields.oneOf('compat', COMPATS),
    backend_requested: fields.text('backend_requested'),
    backend_used: fields.text('backend_used'),
    implementation: fields.text('implementation'),
    threads: fields.number('threads'),
    subsample: fields.number('subsample'),
    frameCount: fields.number('frame_count'),
    warnings: fields.has('warnings') ? fields.texts('warnings') : undefined,
  });
}

/** Pooled values of one metric; `null` in the file is a value that is not finite. */
export function pooledOf(fields: Fields): PooledMetric | Record<string, never> {
  const [min, max, mean, harmonic] = POOLED_KEYS.map((key) => statistic(fields, key));
  if (min === undefined || max === undefined || mean === undefined || harmonic === undefined) return {};
  return { min, max, mean, harmonic_mean: harmonic };
}

/** Percentiles and deviation of one metric. */
export function distributionOf(fields: Fields): MetricDistribution | undefined {
  const inner = fields.object('percentiles') ?? fields;
  const values = PERCENTILE_KEYS.map((key) => statistic(inner, key));
  const stddev = statistic(fields, 'stddev');
  const [p1, p5, p10, p25, p50, p75, p90, p95, p99] = values;
  if (
    p1 === undefined ||
    p5 === undefined ||
    p10 === undefined ||
    p25 === undefined ||
    p50 === undefined ||
    p75 === undefined ||
    p90 === undefined ||
    p95 === undefined ||
    p99 === undefined ||
    stddev === undefined
  )
    return undefined;
  return { percentiles: { p1, p5, p10, p25, p50, p75, p90, p95, p99 }, stddev };
}

function statistic(fields: Fields, key: string): number | undefined {
  return fields.number(key) ?? (fields.scalar(key) === null ? Number.NaN : undefined);
}

function inputOf(fields: Fields | undefined): ReportInput | undefined {
  const name = fields?.text('name');
  const chroma = fields?.oneOf('chroma', CHROMA_FORMATS);
  const [width, height, bitDepth] = ['width', 'height', 'bit_depth'].map((key) => fields?.number(key));
  if (!fields || name === undefined || !chroma || !width || !height || !bitDepth) return undefined;
  // Where the report has it: bytes of a file of stored frames.
  const fileSize: { fileSize?: number } = known({ fileSize: fields.number('file_size') });
  return {
    name,
    container: fields.text('container') ?? '',
    width,
    height,
    bitDepth,
    chroma,
    frameCount: fields.number('frame_count') ?? null,
    skipped: fields.number('skipped') ?? 0,
    ...rate(fields),
    ...fileSize,
  };
}

function rate(fields: Fields): { frameRate?: Fraction } {
  return known({ frameRate: fields.fraction('frame_rate') });
}

function modelOf(fields: Fields | undefined): ReportModel | undefined {
  const [name, source] = [fields?.text('name'), fields?.text('source')];
  if (!fields || name === undefined || source === undefined) return undefined;
  const options = fields.object('options') ?? fields;
  const collection = fields.object('collection') ?? fields;
  const [members, bagging] = [collection.number('members'), collection.text('bagging')];
  const [least, greatest] = [fields.number('score_min'), fields.number('score_max')];
  return {
    name,
    source,
    // A list in JSON, words in XML.
    features: fields.list('features')
      ? fields.texts('features')
      : (fields.text('features') ?? '').split(' ').filter((word) => word !== ''),
    ...known({ chosen: fields.text('chosen') }),
    options: {
      disableClip: options.flag('disable_clip') ?? false,
      enableTransform: options.flag('enable_transform') ?? false,
    },
    ...(least !== undefined && greatest !== undefined && { scoreRange: [least, greatest] }),
    ...(members !== undefined &&
      bagging !== undefined && {
        collection: {
          members,
          bagging,
          stddev: collection.text('stddev') ?? '',
          ciLow: collection.text('ci_p95_lo') ?? '',
          ciHigh: collection.text('ci_p95_hi') ?? '',
        },
      }),
  };
}

/** Codes of other versions are kept as they are. */
function findingOf(fields: Fields): Finding[] {
  const [code, message] = [fields.text('code'), fields.text('message')];
  const severity = fields.oneOf('severity', ['error', 'warning', 'info']);
  if (code === undefined || message === undefined || severity === undefined) return [];
  const facts = known({
    reference: fields.scalar('reference'),
    distorted: fields.scalar('distorted'),
    fix: fields.text('fix'),
    places: fields.has('places') ? fields.objects('places').flatMap(placeOf) : undefined,
  });
  return [{ code: code as FindingCode, severity, message, ...facts }];
}

function placeOf(fields: Fields): FindingPlace[] {
  const [frame, frames] = [fields.number('frame'), fields.number('frames')];
  return frame === undefined || frames === undefined ? [] : [{ frame, frames }];
}

function pairingOf(fields: Fields | undefined): Pairing | undefined {
  const reference = sideOf(fields?.object('reference'));
  const distorted = sideOf(fields?.object('distorted'));
  const frames = framesOf(fields?.object('frames') ?? fields);
  const chroma = fields?.oneOf('chroma', CHROMA_FORMATS);
  const [width, height, bitDepth] = ['width', 'height', 'bit_depth'].map((key) => fields?.number(key));
  if (!fields || !reference || !distorted || !frames || !chroma || !width || !height || !bitDepth)
    return undefined;
  const range = fields.object('range') ?? fields;
  const unit = range.oneOf('unit', ['frames', 'seconds']) ?? range.oneOf('range_unit', ['frames', 'seconds']);
  return {
    reference,
    distorted,
    width,
    height,
    bitDepth,
    chroma,
    scale: fields.oneOf('scale', [...SCALE_FILTERS, 'none']) ?? 'none',
    ...(unit && {
      range: {
        unit,
        start: range.number('start') ?? range.number('range_start') ?? 0,
        ...known({ end: range.number('end') ?? range.number('range_end') }),
      },
    }),
    frames,
  };
}

function sideOf(fields: Fields | undefined): InputPairing | undefined {
  const chroma = fields?.oneOf('chroma', CHROMA_FORMATS);
  const [width, height, bitDepth] = ['width', 'height', 'bit_depth'].map((key) => fields?.number(key));
  if (!fields || !chroma || !width || !height || !bitDepth) return undefined;
  const conversions = fields.text('conversions')?.split('; ') ?? fields.texts('conversions');
  return {
    decoder: fields.oneOf('decoder', [...DECODERS, 'none']) ?? 'none',
    ...known({
      decodedBy: fields.text('decoded_by'),
      codec: fields.text('codec'),
      pixelFormat: fields.text('pixel_format'),
      bitrate: fields.number('bitrate'),
      fileSize: fields.number('file_size'),
      duration: fields.number('duration'),
      scaledBy: fields.text('scaled_by'),
    }),
    ...rate(fields),
    width,
    height,
    bitDepth,
    chroma,
    conversions,
  };
}

function framesOf(fields: Fields | undefined): FramePairing | undefined {
  const policy = fields?.oneOf('policy', [...FRAME_RATE_POLICIES, 'number']);
  const asked = fields?.text('offset_requested') === 'auto' ? 'auto' : fields?.number('offset_requested');
  const [offset, pairs] = [fields?.number('offset'), fields?.number('pairs')];
  if (!fields || !policy || offset === undefined || pairs === undefined) return undefined;
  return {
    policy,
    offset,
    offsetRequested: asked ?? offset,
    ...known({
      offsetConfidence: fields.number('offset_confidence'),
      offsetState: fields.oneOf('offset_state', ['found', 'ambiguous', 'none']),
    }),
    pairs,
    missing: listOf(fields, 'missing'),
    repeated: listOf(fields, 'repeated'),
    dropped: listOf(fields, 'dropped'),
  };
}

/** XML has the counts only. */
function listOf(fields: Fields, key: string): FrameList {
  const inner = fields.object(key);
  const frames = (inner?.list('frames') ?? []).filter((item) => typeof item === 'number');
  return { count: inner?.number('count') ?? fields.number(key) ?? frames.length, frames };
}
