/**
 * @module report/xml
 * The XML log: libvmaf's elements byte for byte (specification C.3), then one of ours, `<anyvmaf>`, before the end.
 * libvmaf escapes nothing and neither does its part here; ours is escaped.
 */
import type { InputPairing, Pairing } from '../media/pairing/types.js';
import type { Finding } from '../media/preflight/types.js';
import { formatFixed, type Precision, textNumber } from './format.js';
import { frameRateText, PERCENTILE_KEYS, POOLED_KEYS, pooledMetric } from './own-keys.js';
import type { Report, ReportInput, ReportModel, ReportTinyModel } from './types.js';

/**
 * @returns the file in pieces, one or more per frame
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function* writeXml(
  report: Report,
  precision: Precision = 'legacy',
): Generator<string, void, undefined> {
  const number = textNumber(precision);
  // libvmaf gives the size of the first picture it saw, so none without pictures.
  const { width, height } = report.frameCount > 0 ? report.reference : { width: 0, height: 0 };
  yield `<VMAF version="${report.version}">\n` +
    `  <params qualityWidth="${width}" qualityHeight="${height}" />\n` +
    `  <fyi fps="${formatFixed(report.fps, 2)}" />\n` +
    '  <frames>\n';
  for (const frame of report.frames) {
    let piece = `    <frame frameNum="${frame.frameNum}" `;
    for (const name of report.metrics) {
      const value = frame.metrics[name];
      // typeof, because a metric may bear the name of something that every object inherits.
      if (typeof value === 'number') piece += `${name}="${number(value)}" `;
    }
    yield `${piece}/>\n`;
  }
  yield '  </frames>\n  <pooled_metrics>\n';
  for (const name of report.metrics) {
    const pooled = pooledMetric(report, name);
    const values = pooled ? POOLED_KEYS.map((key) => `${key}="${number(pooled[key])}" `) : [];
    yield `    <metric name="${name}" ${values.join('')}/>\n`;
  }
  const aggregates = Object.entries(report.aggregate_metrics);
  yield `  </pooled_metrics>\n  <aggregate_metrics ${aggregates
    .map(([name, value]) => `${name}="${number(value)}" `)
    .join('')}/>\n`;
  yield* ownElement(report, number);
  yield '</VMAF>\n';
}

function* ownElement(report: Report, number: (value: number) => string): Generator<string, void, undefined> {
  const run = attributes([
    ['compat', report.compat],
    ['backend_requested', report.backend_requested],
    ['backend_used', report.backend_used],
    ['implementation', report.implementation],
    ['threads', report.threads],
    ['subsample', report.subsample],
    ['frame_count', report.frameCount],
  ]);
  yield `  <anyvmaf ${run.trimEnd()}>\n`;
  yield inputElement('reference', report.reference);
  yield inputElement('distorted', report.distorted);
  if (report.pairing) yield pairingElement(report.pairing);
  for (const finding of report.preflight ?? []) yield findingElement(finding);
  for (const model of report.models) yield modelElement(model);
  for (const model of report.tiny ?? []) yield tinyElement(model);
  for (const name of report.metrics) {
    const spread = report.distribution[name];
    if (spread?.percentiles === undefined) continue;
    const values = attributes([
      ['metric', name],
      ...PERCENTILE_KEYS.map((key) => [key, number(spread.percentiles[key])] as const),
      ['stddev', number(spread.stddev)],
    ]);
    yield `    <distribution ${values}/>\n`;
  }
  for (const warning of report.warnings) yield `    <warning>${escapeXml(warning)}</warning>\n`;
  yield '  </anyvmaf>\n';
}

function tinyElement({ metrics, features, ...model }: ReportTinyModel): string {
  const values = attributes([
    ['name', model.name],
    ['source', model.source],
    ['file', model.file],
    ['sha256', model.sha256],
    ['manifest_sha256', model.manifest_sha256],
    ['registered', String(model.registered)],
    ['kind', model.kind],
    ['precision_requested', model.precision_requested],
    ['quantisation', model.quantisation],
    ['metrics', metrics.join(' ')],
    ['features', features.length > 0 ? features.join(' ') : undefined],
    ['device_requested', model.device_requested],
    ['device', model.device ?? undefined],
    ['runtime', model.runtime ?? undefined],
    ['adapter', model.adapter],
    ['codec', model.codec],
    ['preset', model.preset],
    ['crf', model.crf],
    ['resize', model.resize],
    ['notices', model.notices?.map(({ code }) => code).join(' ')],
  ]);
  return `    <tiny ${values}/>\n`;
}

function inputElement(role: 'reference' | 'distorted', input: ReportInput): string {
  const values = attributes([
    ['name', input.name],
    ['container', input.container],
    ['width', input.width],
    ['height', input.height],
    ['bit_depth', input.bitDepth],
    ['chroma', input.chroma],
    ['frame_rate', frameRateText(input)],
    ['frame_count', input.frameCount ?? undefined],
    ['skipped', input.skipped],
    ['file_size', input.fileSize],
  ]);
  return `    <${role} ${values}/>\n`;
}

function pairingElement({ reference, distorted, range, frames, ...as }: Pairing): string {
  const values = attributes([
    ['width', as.width],
    ['height', as.height],
    ['bit_depth', as.bitDepth],
    ['chroma', as.chroma],
    ['scale', as.scale],
    ['range_unit', range?.unit],
    ['range_start', range?.start],
    ['range_end', range?.end],
    ['policy', frames.policy],
    ['offset', frames.offset],
    ['offset_requested', frames.offsetRequested],
    ['offset_confidence', frames.offsetConfidence],
    ['offset_state', frames.offsetState],
    ['pairs', frames.pairs],
    ['missing', frames.missing.count],
    ['repeated', frames.repeated.count],
    ['dropped', frames.dropped.count],
  ]);
  const sides = [decodedElement('reference', reference), decodedElement('distorted', distorted)];
  return `    <pairing ${values.trimEnd()}>\n${sides.join('')}    </pairing>\n`;
}

function decodedElement(role: 'reference' | 'distorted', input: InputPairing): string {
  const values = attributes([
    ['decoder', input.decoder],
    ['decoded_by', input.decodedBy],
    ['codec', input.codec],
    ['pixel_format', input.pixelFormat],
    ['bitrate', input.bitrate],
    ['file_size', input.fileSize],
    ['duration', input.duration],
    ['width', input.width],
    ['height', input.height],
    ['bit_depth', input.bitDepth],
    ['chroma', input.chroma],
    ['frame_rate', frameRateText(input)],
    ['scaled_by', input.scaledBy],
    ['conversions', input.conversions.length > 0 ? input.conversions.join('; ') : undefined],
  ]);
  return `      <${role} ${values}/>\n`;
}

function findingElement({ code, severity, message, reference, distorted, fix }: Finding): string {
  const values = attributes([
    ['code', code],
    ['severity', severity],
    ['reference', reference === null ? undefined : reference],
    ['distorted', distorted === null ? undefined : distorted],
    ['fix', fix],
  ]);
  return `    <finding ${values.trimEnd()}>${escapeXml(message)}</finding>\n`;
}

function modelElement(model: ReportModel): string {
  const values = attributes([
    ['name', model.name],
    ['source', model.source],
    ['chosen', model.chosen],
    ['features', model.features.join(' ')],
    ['disable_clip', String(model.options.disableClip)],
    ['enable_transform', String(model.options.enableTransform)],
    ['score_min', model.scoreRange?.[0]],
    ['score_max', model.scoreRange?.[1]],
    ['members', model.collection?.members],
    ['bagging', model.collection?.bagging],
    ['stddev', model.collection?.stddev],
    ['ci_p95_lo', model.collection?.ciLow],
    ['ci_p95_hi', model.collection?.ciHigh],
  ]);
  return `    <model ${values}/>\n`;
}

/** libvmaf's habit: a blank after every attribute. Those without a value are left out. */
function attributes(
  pairs: readonly (readonly [name: string, value: string | number | boolean | undefined])[],
): string {
  return pairs
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${escapeXml(String(value))}" `)
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Escapes text for content and attributes; what XML 1.0 cannot hold at all becomes U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replace(/[&<>"\t\n\r]/g, (c) => ENTITIES[c] ?? c)
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '\uFFFD');
}
