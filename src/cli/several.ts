/**
 * @module cli/several
 * The results of several encodes of one reference in one stream: a JSON array, a CSV table, or JSON lines.
 */
import type { Precision } from '../report/format.js';
import { writeTableCsv } from '../report/table.js';
import type { Report } from '../report/types.js';
import { type ReportFormat, writeReport } from '../report/write.js';
import { plainResult } from './plain-result.js';

/** Formats that can hold several reports. */
export type SeveralFormat = Exclude<ReportFormat, 'xml' | 'sub'>;

/**
 * One record each: `json` is an array of whole reports, `csv` a table with a row per encode, `ndjson` one report's lines
 * after the other's, each begun by its header.
 * @returns the text in pieces
 */
export function* writeReports(
  reports: readonly Report[],
  format: SeveralFormat,
  precision: Precision,
): Generator<string, void, undefined> {
  if (format === 'csv') yield* writeTableCsv(reports, precision);
  else if (format === 'ndjson')
    for (const report of reports) yield* writeReport(report, format, { precision });
  else {
    for (const [i, report] of reports.entries()) {
      yield i === 0 ? '[\n' : ',\n';
      yield* writeReport(report, format, { precision });
    }
    yield ']\n';
  }
}

/** The lines of `plainResult`, each after the name of its file. */
export function plainResults(reports: readonly Report[], precision: Precision): string {
  return reports
    .map((report) =>
      plainResult(report, precision)
        .replace(/^/gm, `${report.distorted.name}: `)
        .replace(/\n[^\n]*$/, '\n'),
    )
    .join('');
}
