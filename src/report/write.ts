/**
 * @module report/write
 * Writes a report in any of its file formats, with a precision: JSON, NDJSON, XML, CSV and MicroDVD subtitles.
 */
import { requireObject } from '../core/arguments.js';
import type { ReportFormat } from '../core/choices.js';
import { type AnyvmafError, usageError } from '../core/errors.js';
import { formatFixed, formatGeneral } from '../core/numbers.js';
import { quoted, showValue } from '../core/printable.js';
import {
  type Attributes,
  attributesOf,
  entriesOf,
  type Fields,
  type Json,
  type JsonEntries,
  type NumberText,
  quote,
} from './kinds.js';
import { pooledMetric } from './pool.js';
import type { FailedEncode, FrameMetrics, Report, ReportHead } from './schema.js';
import * as schema from './schema.js';
import { trustOf } from './trust.js';

export type { ReportFormat } from '../core/choices.js';

export interface WriteOptions {
  /** Precision of measured values. Default `legacy`, libvmaf's six decimals. */
  readonly precision?: Precision;
}

const WRITERS: Readonly<Record<ReportFormat, (report: Report, precision?: Precision) => Iterable<string>>> = {
  xml: writeXml,
  json: writeJson,
  csv: writeCsv,
  sub: writeSub,
  ndjson: writeNdjson,
};

/** Formats that have frames only. */
const ROWS: readonly ReportFormat[] = ['csv', 'sub'];

/** Characters per piece: few writes, and no second copy of the report in memory. */
const PIECE_LENGTH = 1 << 16;

/**
 * Yields the file in pieces of about 64 thousand characters, to be written in order as UTF-8.
 * @throws {AnyvmafError} `usage` if the format or the precision is invalid
 */
export function* writeReport(
  report: Report,
  format: ReportFormat,
  options: WriteOptions = {},
): Generator<string, void, undefined> {
  if (typeof format !== 'string' || !Object.hasOwn(WRITERS, format))
    throw usageError(
      `The report format is ${showValue(format)}, but it must be one of ${Object.keys(WRITERS).join(', ')}.`,
    );
  requireObject('options', options);
  schema.requireParts('report', report, ROWS.includes(format) ? ['frames', 'metrics'] : schema.WHOLE);
  let gathered = '';
  for (const piece of WRITERS[format](report, options.precision)) {
    gathered += piece;
    if (gathered.length >= PIECE_LENGTH) {
      yield gathered;
      gathered = '';
    }
  }
  if (gathered !== '') yield gathered;
}

/**
 * Returns the whole file as one string.
 * @throws {AnyvmafError} `usage` if the format or the precision is invalid
 */
export function formatReport(report: Report, format: ReportFormat, options: WriteOptions = {}): string {
  return [...writeReport(report, format, options)].join('');
}

/** CSV without pooled values. As in libvmaf, a missing value is skipped, not left blank. */
function* writeCsv(report: Report, precision?: Precision): Generator<string, void, undefined> {
  yield `Frame,${report.metrics.map((name) => `${name},`).join('')}\n`;
  yield* rows(
    report,
    precision,
    ({ frameNum }) => `${frameNum},`,
    (_, value) => `${value},`,
  );
}

/** Subtitles that show a frame's values; otherwise as {@link writeCsv}. */
function* writeSub(report: Report, precision?: Precision): Generator<string, void, undefined> {
  const begin = ({ frameNum: n }: FrameMetrics) => `{${n}}{${n + 1}}frame: ${n}|`;
  yield* rows(report, precision, begin, (name, value) => `${name}: ${value}|`);
}

function* rows(
  { frames, metrics }: Report,
  precision: Precision = 'legacy',
  begin: (frame: FrameMetrics) => string,
  cell: (name: string, value: string) => string,
): Generator<string, void, undefined> {
  const number = textNumber(precision);
  for (const frame of frames) {
    let row = begin(frame);
    for (const name of metrics) {
      const value = frame.metrics[name];
      if (typeof value === 'number') row += cell(name, number(value));
    }
    yield `${row}\n`;
  }
}

/** @throws {AnyvmafError} `usage` if the precision is invalid */
function* writeJson(report: Report, precision: Precision = 'legacy'): Generator<string, void, undefined> {
  const number = jsonNumber(precision);
  const keys = report.metrics.map((name) => [name, `        ${quote(name)}: `] as const);
  yield `{\n  "version": ${quote(report.version)},\n  "fps": ${fpsText(report)},\n  "frames": [`;
  let separator = '\n';
  for (const frame of report.frames) {
    let piece = `${separator}    {\n      "frameNum": ${frame.frameNum},\n      "metrics": {`;
    let lineEnd = '\n';
    for (const [name, key] of keys) {
      const value = frame.metrics[name];
      // A metric may share its name with an inherited property.
      if (typeof value !== 'number') continue;
      piece += lineEnd + key + number(value);
      lineEnd = ',\n';
    }
    yield `${piece}\n      }\n    }`;
    separator = ',\n';
  }
  yield '\n  ]';
  for (const [key, value] of pooledEntries(report, number))
    yield `,\n  ${quote(key)}: ${pretty(value, '  ', 'open')}`;
  const own = [
    ...[schema.inputs, schema.preparation, schema.models].flatMap(({ fields }) =>
      entriesOf(fields, report, number),
    ),
    ...distributionEntry(report, number),
    ...[schema.run, schema.outcome].flatMap(({ fields }) => entriesOf(fields, report, number)),
    ...trustEntry(report, number),
  ];
  for (const [key, value] of own) yield `,\n  ${quote(key)}: ${pretty(value, '  ')}`;
  yield '\n}\n';
}

export function fpsText({ fps }: Report): string {
  return Number.isFinite(fps) ? formatFixed(fps, 2) : 'null';
}

export function pooledEntries(report: Report, number: NumberText): JsonEntries {
  const statistics = report.metrics.map((name) => {
    const map = entriesOf(schema.pooled.fields, pooledMetric(report, name) ?? {}, number);
    return [name, { map }] as const;
  });
  const map = Object.entries(report.aggregate_metrics).map(([name, value]) => [name, number(value)] as const);
  return [
    ['pooled_metrics', { map: statistics }],
    ['aggregate_metrics', { map }],
  ];
}

export function distributionEntry({ metrics, distribution }: Report, number: NumberText): JsonEntries {
  const map = metrics.flatMap((name): JsonEntries => {
    const values = distribution[name];
    return values?.percentiles === undefined ? [] : [[name, schema.spread.json(values, number)]];
  });
  return [['distribution', { map }]];
}

export function trustEntry(report: Report, number: NumberText): JsonEntries {
  return [['trust', schema.trust.json(trustOf(report), number)]];
}

export function failureEntries({ version, reference, distorted, ...error }: FailedEncode): JsonEntries {
  const value = { version, reference: { name: reference }, distorted: { name: distorted }, error };
  return entriesOf(schema.failure.fields, value, String);
}

/**
 * On several lines, indented by two spaces per level except for the first line.
 * @param empty objects without members: closed, or open on two lines, as in libvmaf's log
 */
export function pretty(json: Json, indent = '', empty: 'closed' | 'open' = 'closed'): string {
  if (typeof json === 'string') return json;
  const inner = `${indent}  `;
  if ('list' in json) {
    if (json.list.length === 0) return '[]';
    return `[\n${json.list.map((item) => inner + pretty(item, inner, empty)).join(',\n')}\n${indent}]`;
  }
  if (json.map.length === 0) return empty === 'open' ? `{\n${indent}}` : '{}';
  const entries = json.map.map(([key, value]) => `${inner}${quote(key)}: ${pretty(value, inner, empty)}`);
  return `{\n${entries.join(',\n')}\n${indent}}`;
}

export function compact(json: Json): string {
  if (typeof json === 'string') return json;
  if ('list' in json) return `[${json.list.map(compact).join(',')}]`;
  return `{${json.map.map(([key, value]) => `${quote(key)}:${compact(value)}`).join(',')}}`;
}

/**
 * Writes a report while it is measured; every line ends with a line feed.
 * @throws {AnyvmafError} `usage` if the precision is invalid
 */
export function ndjsonLines(precision: Precision = 'legacy') {
  const number = jsonNumber(precision);
  return {
    header: (head: ReportHead) =>
      line('header', [
        ['version', quote(head.version)],
        ...entriesOf(schema.inputs.fields, head, number),
        ...entriesOf(schema.models.fields, head, number),
        ['metrics', { list: head.metrics.map(quote) }],
        ...entriesOf(schema.run.fields, head, number),
      ]),

    frame({ frameNum, metrics: values }: FrameMetrics, metrics: readonly string[]) {
      const map = metrics.flatMap((name): JsonEntries => {
        const value = values[name];
        return typeof value === 'number' ? [[name, number(value)]] : [];
      });
      return line('frame', [
        ['frameNum', String(frameNum)],
        ['metrics', { map }],
      ]);
    },

    /** @param whole false if the lines have more frames than the report, whose percentiles are those of its own */
    summary: (report: Report, whole = true) =>
      line('summary', [
        ['fps', fpsText(report)],
        ...pooledEntries(report, number),
        ...entriesOf(schema.preparation.fields, report, number),
        // The header knows only the models of the start.
        ...(report.swaps ? entriesOf(schema.models.fields, report, number) : []),
        ...(whole ? distributionEntry(report, number) : []),
        ...entriesOf(schema.outcome.fields, report, number),
        ...trustEntry(report, number),
      ]),

    /** Replaces the summary, or the whole file if nothing was scored. */
    failure: (failed: FailedEncode) => line('failure', failureEntries(failed)),
  };
}

/** As {@link ndjsonLines}, for a finished report, line by line. */
function* writeNdjson(report: Report, precision?: Precision): Generator<string, void, undefined> {
  const lines = ndjsonLines(precision);
  yield lines.header(report);
  for (const frame of report.frames) yield lines.frame(frame, report.metrics);
  yield lines.summary(report);
}

function line(type: string, entries: JsonEntries): string {
  return `${compact({ map: [['type', quote(type)], ...entries] })}\n`;
}

/** @throws {AnyvmafError} `usage` if the precision is invalid */
function* writeXml(report: Report, precision: Precision = 'legacy'): Generator<string, void, undefined> {
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
      // A metric may share its name with an inherited property.
      if (typeof value === 'number') piece += `${name}="${number(value)}" `;
    }
    yield `${piece}/>\n`;
  }
  yield '  </frames>\n  <pooled_metrics>\n';
  for (const name of report.metrics) {
    const values = attributesOf(schema.pooled.fields, pooledMetric(report, name) ?? {}, number);
    yield `    <metric name="${name}" ${attributeText(values)}/>\n`;
  }
  const aggregates = Object.entries(report.aggregate_metrics);
  const totals = aggregates.map(([name, value]) => `${name}="${number(value)}" `).join('');
  yield `  </pooled_metrics>\n  <aggregate_metrics ${totals}/>\n`;
  yield* ownElement(report, number);
  yield '</VMAF>\n';
}

function* ownElement(report: Report, number: NumberText): Generator<string, void, undefined> {
  const attributes = ({ fields }: { readonly fields: Fields }, value: object) =>
    attributeText(attributesOf(fields, value, number));
  const elements = (name: string, kind: { readonly fields: Fields }, values: readonly object[] = []) =>
    values.map((value) => `    <${name} ${attributes(kind, value)}/>\n`).join('');
  const facts = [schema.run, schema.inputs, schema.preparation, schema.outcome]
    .map((kind) => attributes(kind, report))
    .join('');
  yield `  <anyvmaf ${facts.trimEnd()}>\n`;
  for (const role of ROLES) yield elements(role, schema.input, [report[role]]);
  const { pairing, preflight = [], native, sampling } = report;
  if (pairing) {
    yield `    <pairing ${attributes(schema.pairing, pairing).trimEnd()}>\n`;
    for (const role of ROLES) yield `  ${elements(role, schema.inputPairing, [pairing[role]])}`;
    yield '    </pairing>\n';
  }
  for (const finding of preflight) {
    const { message, places = [] } = finding;
    const marks = places.map((place) => `<place ${attributes(schema.findingPlace, place)}/>`).join('');
    yield `    <finding ${attributes(schema.finding, finding).trimEnd()}>${escapeXml(message)}${marks}</finding>\n`;
  }
  yield elements('model', schema.model, report.models);
  yield elements('tiny', schema.tinyModel, report.tiny);
  if (native) yield elements('native', schema.nativeRun, [native]);
  yield elements('measurer', schema.measurer, report.measurers);
  yield elements('swap', schema.swap, report.swaps);
  if (sampling) {
    yield `    <sampling ${attributes(schema.sampling, sampling).trimEnd()}>\n`;
    for (const part of sampling.intervals) yield `  ${elements('interval', schema.sampledInterval, [part])}`;
    yield '    </sampling>\n';
  }
  yield elements('without_grain', schema.metricValue, report.withoutGrain);
  for (const name of report.metrics) {
    const values = report.distribution[name];
    if (values?.percentiles === undefined) continue;
    yield `    <distribution metric="${escapeXml(name)}" ${attributes(schema.spread, values)}/>\n`;
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

/**
 * How reports write measured values. `legacy`: as libvmaf 3.2.0 does, six decimals, or sixteen if the fraction
 * is below a millionth. A number 1..17: that many significant digits (`%.Ng`). `max`: 17, which restores the
 * double.
 */
export type Precision = 'legacy' | 'max' | number;

/** @throws {AnyvmafError} `usage` unless the text is `legacy`, `max`, `full` (an alias of `max`) or 1..17 */
export function parsePrecision(text: string): Precision {
  if (text === 'legacy' || text === 'max') return text;
  if (text === 'full') return 'max';
  const digits = /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (digits >= 1 && digits <= 17) return digits;
  throw badPrecision(text);
}

/**
 * Returns the writer of measured values for text formats: non-finite values are `inf`, `-inf`, `-nan`.
 * @throws {AnyvmafError} `usage` if the precision is invalid
 */
export function textNumber(precision: Precision): (value: number) => string {
  if (precision === 'legacy') return formatLegacy;
  const digits = precision === 'max' ? 17 : precision;
  if (!Number.isInteger(digits) || digits < 1 || digits > 17) throw badPrecision(String(precision));
  return (value) => formatGeneral(value, digits);
}

/** As {@link textNumber}, for JSON: non-finite values are `null`. */
export function jsonNumber(precision: Precision): (value: number) => string {
  const write = textNumber(precision);
  return (value) => (Number.isFinite(value) ? write(value) : 'null');
}

/** libvmaf 3.2.0's choice between `%.6f` and `%.16f`. */
export function formatLegacy(value: number): string {
  return formatFixed(value, isTinyFraction(value) ? 16 : 6);
}

/** Like libvmaf, multiplies the fraction by ten, in doubles, until it reaches 1: more than six steps are tiny. */
function isTinyFraction(value: number): boolean {
  let fraction = Math.abs(value) % 1;
  if (!(fraction > 0 && fraction < 1e-5)) return false;
  let steps = 0;
  for (; fraction < 1; steps++) fraction *= 10;
  return steps > 6;
}

function badPrecision(text: string): AnyvmafError {
  return usageError(
    `Precision ${quoted(text)} is not one of legacy, max, full or a whole number from 1 to 17; pass 17 or max for values ` +
      'that read back as the same double.',
  );
}
