/**
 * @module cli/printed
 * What scoring prints: plain lines for scripts, several reports in one stream, frames as they are measured, and warnings.
 */

import { writeTableCsv } from '../report/brief.js';
import { baseName } from '../report/facts.js';
import type { FailedEncode, FrameMetrics, Report, ReportHead } from '../report/schema.js';
import { type Remark, remarks, remedyText } from '../report/trust.js';
import {
  failureEntries,
  type NdjsonLines,
  ndjsonLines,
  type Precision,
  pretty,
  type ReportFormat,
  textNumber,
  writeReport,
} from '../report/write.js';
import type { Terminal } from './terminal.js';

/**
 * Lines `vmaf_v0.6.1: 82.564227`: the model's source and its mean score. A bootstrap collection adds a line
 * `NAME: BAGGING, ci.p95: [LOW, HIGH], stddev: STDDEV` of means; a tiny model adds `NAME: MEAN`. A run without models
 * gives the mean of every metric, and all aggregate metrics.
 */
export function plainResult(report: Report, precision: Precision): string {
  const number = textNumber(precision);
  const mean = (metric: string) => number(report.pooled_metrics[metric]?.mean ?? Number.NaN);
  if (report.models.length === 0) {
    const whole = Object.entries(report.aggregate_metrics);
    return [
      ...report.metrics.map((metric) => `${metric}: ${mean(metric)}\n`),
      ...whole.map(([name, value]) => `${name}: ${number(value)}\n`),
    ].join('');
  }
  const tiny = (report.tiny ?? []).flatMap(({ metrics }) => metrics);
  return report.models
    .map(({ name, source, collection }) => {
      const line = `${source}: ${mean(name)}\n`;
      if (!collection) return line;
      const interval = `[${mean(collection.ciLow)}, ${mean(collection.ciHigh)}]`;
      return `${line}${source}: ${mean(collection.bagging)}, ci.p95: ${interval}, stddev: ${mean(collection.stddev)}\n`;
    })
    .concat(tiny.map((metric) => `${metric}: ${mean(metric)}\n`))
    .join('');
}

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

/** Prints one report after the other; lines of later ones wait. */
export class LiveLines {
  readonly #lines: NdjsonLines;
  readonly #print: (text: string) => Promise<void>;
  readonly #broken: (reason: unknown) => void;
  /** Per report: its metrics once it has started, the waiting lines, and whether it has ended. */
  readonly #reports: { metrics?: readonly string[]; waiting: string[]; complete: boolean }[];
  #turn = 0;
  #written: Promise<void> = Promise.resolve();

  /** @param broken called if printing fails */
  constructor(
    count: number,
    precision: Precision,
    print: (text: string) => Promise<void>,
    broken: (reason: unknown) => void,
  ) {
    this.#lines = ndjsonLines(precision);
    this.#print = print;
    this.#broken = broken;
    this.#reports = Array.from({ length: count }, () => ({ waiting: [], complete: false }));
  }

  readonly start = (head: ReportHead, index = 0): void => {
    const report = this.#reports[index];
    if (report) report.metrics = head.metrics;
    this.#add(index, this.#lines.header(head));
  };

  readonly frame = (frame: FrameMetrics, index = 0): void => {
    this.#add(index, this.#lines.frame(frame, this.#reports[index]?.metrics ?? []));
  };

  readonly end = (report: Report, index = 0): void => {
    const state = this.#reports[index];
    if (!state) return;
    // A report without any scored frame has not started.
    if (!state.metrics) this.start(report, index);
    state.complete = true;
    this.#add(index, this.#lines.summary(report));
  };

  readonly fail = (failed: FailedEncode, index: number): void => {
    const state = this.#reports[index];
    if (!state) return;
    state.complete = true;
    this.#add(index, this.#lines.failure(failed));
  };

  written(): Promise<void> {
    return this.#written;
  }

  #add(index: number, line: string): void {
    this.#reports[index]?.waiting.push(line);
    for (; ; this.#turn++) {
      const report = this.#reports[this.#turn];
      if (!report) return;
      const text = report.waiting.splice(0).join('');
      if (text !== '') this.#written = this.#written.then(() => this.#print(text));
      this.#written.catch(this.#broken);
      if (!report.complete) return;
    }
  }
}

/** Prints errors and warnings; findings of severity `info` stay in the report. */
export function complainOf(reports: readonly Report[], terminal: Terminal): void {
  for (const remark of remarks(reports)) {
    const { severity, message, finding, of } = remark;
    if (severity === 'info') continue;
    const about =
      of.length < reports.length
        ? `${of.map((i) => baseName(reports[i]?.distorted.name ?? '')).join(', ')}: `
        : '';
    const remedy = remedyText(finding);
    terminal.complain(`${labelOf(remark)}: ${about}${message}${remedy === '' ? '' : ` (${remedy})`}`);
  }
}

function labelOf({ severity, grave }: Remark): string {
  return grave ? 'untrusted score' : severity;
}

/**
 * Prints one line per reason.
 * @param of number of encodes; a reason that all share is about the reference or the options
 */
export function complainOfFailures(failed: readonly FailedEncode[], of: number, terminal: Terminal): void {
  const reasons = new Map<string, string[]>();
  for (const { distorted, message } of failed)
    reasons.set(message, [...(reasons.get(message) ?? []), baseName(distorted)]);
  for (const [message, names] of reasons) {
    const named = names.length === of || names.every((name) => message.includes(name));
    const line = `${named ? '' : `${names.join(', ')}: `}${message}`;
    terminal.complain(line);
  }
  if (failed.length < of) {
    const names = failed.map(({ distorted }) => baseName(distorted)).join(', ');
    terminal.complain(`${failed.length} of ${of} encodes could not be scored: ${names}`);
  }
}
