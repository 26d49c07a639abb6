/**
 * @module cli/score-many
 * The results of several encodes of one reference in one stream: a JSON array, a CSV table, or JSON lines.
 */
import type { Precision } from '../report/format.js';
import { failureEntries, ndjsonLines, pretty } from '../report/json.js';
import { writeTableCsv } from '../report/table.js';
import type { FailedEncode, Report } from '../report/types.js';
import { type ReportFormat, writeReport } from '../report/write.js';
import { plainResult } from './plain-result.js';

/** Formats that can hold several reports. */
export type SeveralFormat = Exclude<ReportFormat, 'xml' | 'sub'>;

/**
 * `json` is an array of whole reports, `csv` a table with a row per encode, `ndjson` the lines of one report after the
 * other, each after its header. An encode that could not be scored has a record with its error.
 */
export function* writeReports(
  results: readonly (Report | FailedEncode)[],
  format: SeveralFormat,
  precision: Precision,
): Generator<string, void, undefined> {
  if (format === 'csv') yield* writeTableCsv(results, precision);
  else if (format === 'ndjson') {
    const lines = ndjsonLines(precision);
    for (const result of results) {
      if ('frames' in result) yield* writeReport(result, format, { precision });
      else yield lines.failure(result);
    }
  } else {
    for (const [i, result] of results.entries()) {
      yield i === 0 ? '[\n' : ',\n';
      if ('frames' in result) yield* writeReport(result, format, { precision });
      else yield `${pretty({ map: failureEntries(result) })}\n`;
    }
    yield ']\n';
  }
}

/** The lines of `plainResult`, each after the name of its video. */
export function plainResults(reports: readonly Report[], precision: Precision): string {
  return reports
    .map((report) =>
      plainResult(report, precision)
        .replace(/^/gm, `${report.distorted.name}: `)
        .replace(/\n[^\n]*$/, '\n'),
    )
    .join('');
}
