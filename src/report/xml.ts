/**
 * @module report/xml
 * Writes the XML log: libvmaf's elements byte for byte, unescaped, then an escaped `<anyvmaf>`.
 */
import { formatFixed } from '../core/printf.js';
import { type Precision, textNumber } from './format.js';
import { type Attributes, attributesOf, type Fields, type NumberText } from './kinds.js';
import { pooledMetric } from './pool.js';
import {
  finding,
  findingPlace,
  input,
  inputPairing,
  inputs,
  measurer,
  metricValue,
  model,
  nativeRun,
  outcome,
  pairing,
  pooled,
  preparation,
  run,
  sampledInterval,
  sampling,
  spread,
  swap,
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
  const elements = (name: string, kind: { readonly fields: Fields }, values: readonly object[] = []) =>
    values.map((one) => `    <${name} ${attributes(kind, one)}/>\n`).join('');
  const facts = [run, inputs, preparation, outcome].map((kind) => attributes(kind, report)).join('');
  yield `  <anyvmaf ${facts.trimEnd()}>\n`;
  for (const role of ROLES) yield elements(role, input, [report[role]]);
  const { pairing: paired, native, sampling: sampled } = report;
  if (paired) {
    yield `    <pairing ${attributes(pairing, paired).trimEnd()}>\n`;
    for (const role of ROLES) yield `  ${elements(role, inputPairing, [paired[role]])}`;
    yield '    </pairing>\n';
  }
  for (const one of report.preflight ?? []) {
    const places = (one.places ?? []).map((place) => `<place ${attributes(findingPlace, place)}/>`).join('');
    yield `    <finding ${attributes(finding, one).trimEnd()}>${escapeXml(one.message)}${places}</finding>\n`;
  }
  yield elements('model', model, report.models);
  yield elements('tiny', tinyModel, report.tiny);
  if (native) yield elements('native', nativeRun, [native]);
  yield elements('measurer', measurer, report.measurers);
  yield elements('swap', swap, report.swaps);
  if (sampled) {
    yield `    <sampling ${attributes(sampling, sampled).trimEnd()}>\n`;
    for (const one of sampled.intervals) yield `  ${elements('interval', sampledInterval, [one])}`;
    yield '    </sampling>\n';
  }
  yield elements('without_grain', metricValue, report.withoutGrain);
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
