/**
 * @module report/xml
 * Writes the XML log: libvmaf's elements byte for byte, unescaped (specification C.3), then an escaped `<anyvmaf>`.
 */
import { formatFixed } from '../core/printf.js';
import { type Precision, textNumber } from './format.js';
import { type Attributes, attributesOf, type Fields, type NumberText } from './kinds.js';
import { pooledMetric } from './pool.js';
import {
  finding,
  input,
  inputPairing,
  measurer,
  model,
  outcome,
  pairing,
  pooled,
  run,
  spread,
  tinyModel,
} from './schema.js';
import type { Report } from './types.js';

/** @throws {AnyvmafError} `usage` if the precision is invalid */
export function* writeXml(
  report: Report,
  precision: Precision = 'legacy',
): Generator<string, void, undefined> {
  const number = textNumber(precision);
  // libvmaf writes the size of the first picture, so 0 without pictures.
  const { width, height } = report.frameCount > 0 ? report.reference : { width: 0, height: 0 };
  yield `<VMAF version="${report.version}">\n` +
    `  <params qualityWidth="${width}" qualityHeight="${height}" />\n` +
    `  <fyi fps="${formatFixed(report.fps, 2)}" />\n` +
    '  <frames>\n';
  for (const frame of report.frames) {
    let piece = `    <frame frameNum="${frame.frameNum}" `;
    for (const name of report.metrics) {
      const value = frame.metrics[name];
      // typeof, because a metric may share its name with an inherited property.
      if (typeof value === 'number') piece += `${name}="${number(value)}" `;
    }
    yield `${piece}/>\n`;
  }
  yield '  </frames>\n  <pooled_metrics>\n';
  for (const name of report.metrics) {
    const values = attributesOf(pooled.fields, pooledMetric(report, name) ?? {}, number);
    yield `    <metric name="${name}" ${attributeText(values)}/>\n`;
  }
  const aggregates = Object.entries(report.aggregate_metrics);
  yield `  </pooled_metrics>\n  <aggregate_metrics ${aggregates
    .map(([name, value]) => `${name}="${number(value)}" `)
    .join('')}/>\n`;
  yield* ownElement(report, number);
  yield '</VMAF>\n';
}

function* ownElement(report: Report, number: NumberText): Generator<string, void, undefined> {
  const attributes = ({ fields }: { readonly fields: Fields }, value: object) =>
    attributeText(attributesOf(fields, value, number));
  yield `  <anyvmaf ${(attributes(run, report) + attributes(outcome, report)).trimEnd()}>\n`;
  for (const role of ROLES) yield `    <${role} ${attributes(input, report[role])}/>\n`;
  const { pairing: paired } = report;
  if (paired) {
    yield `    <pairing ${attributes(pairing, paired).trimEnd()}>\n`;
    for (const role of ROLES) yield `      <${role} ${attributes(inputPairing, paired[role])}/>\n`;
    yield '    </pairing>\n';
  }
  for (const one of report.preflight ?? [])
    yield `    <finding ${attributes(finding, one).trimEnd()}>${escapeXml(one.message)}</finding>\n`;
  for (const one of report.models) yield `    <model ${attributes(model, one)}/>\n`;
  for (const one of report.tiny ?? []) yield `    <tiny ${attributes(tinyModel, one)}/>\n`;
  for (const one of report.measurers ?? []) yield `    <measurer ${attributes(measurer, one)}/>\n`;
  for (const { metric, value } of report.withoutGrain ?? [])
    yield `    <without_grain metric="${escapeXml(metric)}" value="${number(value)}" />\n`;
  for (const name of report.metrics) {
    const values = report.distribution[name];
    if (values?.percentiles === undefined) continue;
    yield `    <distribution metric="${escapeXml(name)}" ${attributes(spread, values)}/>\n`;
  }
  for (const warning of report.warnings) yield `    <warning>${escapeXml(warning)}</warning>\n`;
  yield '  </anyvmaf>\n';
}

const ROLES = ['reference', 'distorted'] as const;

/** A space after every attribute, as libvmaf writes it. */
function attributeText(attributes: Attributes): string {
  return attributes.map(([name, text]) => `${name}="${escapeXml(text)}" `).join('');
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

/** Escapes text for content and attributes; characters that XML 1.0 does not allow become U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .replace(/[&<>"\t\n\r]/g, (c) => ENTITIES[c] ?? c)
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '\uFFFD');
}
