/**
 * @module report/write
 * Writes a report in any of its file formats; CSV and MicroDVD subtitles, a line per frame, are written here.
 */
import { requireObject } from '../core/arguments.js';
import type { ReportFormat } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { showValue } from '../core/printable.js';
import { type Precision, textNumber } from './format.js';
import { writeJson, writeNdjson } from './json.js';
import { type FrameMetrics, type Report, requireParts, WHOLE } from './types.js';
import { writeXml } from './xml.js';

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
  if (typeof format !== 'string' || !Object.hasOwn(WRITERS, format)) {
    throw usageError(
      `The report format is ${showValue(format)}, but it must be one of ${Object.keys(WRITERS).join(', ')}.`,
    );
  }
  requireObject('options', options);
  requireParts('report', report, ROWS.includes(format) ? ['frames', 'metrics'] : WHOLE);
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
