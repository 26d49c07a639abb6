/**
 * @module cli/printed
 * Prints results of scoring: a summary for people, plain lines for scripts, reports, frames while measured, warnings.
 */
import type { AnyvmafError } from '../core/errors.js';
import { counted, printable } from '../core/printable.js';
import { decideEncodes, type RawVideoFormat, ranking, type ScoreOptions } from '../index.js';
import { brief, encodesTable, unsaid, writeTableCsv } from '../report/brief.js';
import { baseName, keptOf } from '../report/facts.js';
import { pooledText } from '../report/limits.js';
import type { PagePictures } from '../report/picture-room.js';
import type { FailedEncode, FrameMetrics, Report, ReportHead } from '../report/schema.js';
import { wrap } from '../report/sections.js';
import { summarize } from '../report/summary.js';
import { remarks, remedyText, trustOf } from '../report/trust.js';
import {
  failureEntries,
  ndjsonLines,
  type Precision,
  pretty,
  type ReportFormat,
  textNumber,
  writeReport,
} from '../report/write.js';
import { commandLine } from './options.js';
import { isPrinted, type OutputSettings } from './output-options.js';
import type { Terminal } from './terminal.js';

export interface DeliverySettings extends OutputSettings {
  /** One video, or several encodes to compare. */
  readonly distorted: readonly string[];
}

export interface Outcome {
  readonly reports: readonly Report[];
  /** In order; empty unless there are several videos. */
  readonly failures: readonly Failure[];
  /** Number of alarms raised in a live run. */
  readonly alarms?: number;
  /** Options that the videos were scored with. */
  readonly options?: ScoreOptions;
  readonly raw?: RawVideoFormat;
}

export interface Failure {
  readonly index: number;
  readonly error: AnyvmafError;
  readonly failed: FailedEncode;
}

/** The report, or those of several encodes in command-line order. */
export function reportText(
  { reports, failures }: Outcome,
  { distorted, format, precision }: DeliverySettings,
): Iterable<string> {
  const [only] = reports;
  if (distorted.length === 1 && only) return writeReport(only, format ?? 'xml', { precision });
  const results: (Report | FailedEncode)[] = [...reports];
  for (const { index, failed } of failures) results.splice(index, 0, failed);
  return writeReports(results, format, precision);
}

/**
 * @param args command line shown on the page
 * @param pictures worst frames, and why some are missing
 */
export async function htmlText(
  { reports, failures }: Outcome,
  args: readonly string[],
  { pictures, lacking }: Partial<PagePictures> = {},
): Promise<Iterable<string>> {
  const { writeHtml } = await import('../report/html/document.js');
  return writeHtml(reports, {
    command: commandLine('anyvmaf', args),
    written: `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    failed: failures.map(({ failed }) => failed),
    pictures,
    picturesLacking: lacking,
  });
}

/**
 * Prints the report on standard output, or a summary for people, or plain lines for scripts.
 * @param done the report is printed already
 */
export async function printResult(
  outcome: Outcome,
  settings: DeliverySettings,
  terminal: Terminal,
  done: boolean,
): Promise<void> {
  const { distorted, output, html, precision, quiet, featuresTable = false } = settings;
  const { reports, failures } = outcome;
  const [first] = reports;
  const { columns: width, colour: color, interactive } = terminal;
  const style = { width, color, precision };
  const printed = isPrinted(settings);
  const isTable = distorted.length > 1;
  const free = html !== '-' && !printed;
  const summary = free && !quiet && (interactive || featuresTable);
  // The summary shows or counts the warnings; do not repeat them on the same terminal.
  if (!summary || !terminal.canDraw) complainOf(reports, terminal);
  if (printed && !done) {
    for (const piece of reportText(outcome, settings)) await terminal.print(piece);
  } else if (free && isTable && !quiet && (summary || output === undefined)) {
    const failed = failures.map((failure) => failure.failed.distorted);
    const notes = featuresTable && interactive ? 'all' : interactive ? 'causes' : 'none';
    await terminal.print(encodesTable(reports, { ...style, notes, failed }));
    if (interactive && reports.length > 1) await terminal.print(await decisionText(reports, settings, width));
  } else if (summary && first && !featuresTable) {
    await terminal.print(brief(first, style));
  } else if (first && free && output === undefined) {
    await terminal.print(isTable ? plainResults(reports, precision) : plainResult(first, precision));
  }
  if (!summary) return;
  if (featuresTable)
    for (const [i, report] of reports.entries())
      await terminal.print(`${i > 0 || isTable ? '\n' : ''}${summarize(report, style)}`);
  const files = [output, html].filter((name) => name !== undefined);
  const where = files.length > 0 ? `The report is in ${files.join(' and ')}` : '';
  const last = [where, featuresTable ? '' : restText(reports)].filter((part) => part !== '').join('; ');
  if (last !== '') await terminal.print(`${featuresTable || isTable ? '\n' : ''}${last}\n`);
}

/** Recommends an encode within the bounds of the gate; empty if no report has a score to rank by. */
async function decisionText(
  reports: readonly Report[],
  { failUnder, limits = [] }: DeliverySettings,
  width: number,
): Promise<string> {
  if (!reports.some((report) => ranking(report))) return '';
  const bounds = limits.map((limit) => `${pooledText(limit)}${limit.relation}${limit.bound}`);
  const targets = [...(failUnder === undefined ? [] : [String(failUnder)]), ...bounds];
  const { explanation } = await decideEncodes(reports, { targets });
  return `\n${wrap(printable(explanation), width).join('\n')}\n`;
}

/** Says how to see the remaining warnings and measurements. */
function restText(reports: readonly Report[]): string {
  const count = unsaid(reports);
  const marked = reports.some((report) => trustOf(report).verdict !== 'fine');
  const others = count > 0 ? `${counted(count, marked ? 'further note' : 'note')} and ` : '';
  return `--features-table prints ${others}all measurements`;
}

/** Prints errors and warnings; findings of severity `info` stay in the report. */
export function complainOf(reports: readonly Report[], terminal: Terminal): void {
  for (const { severity, grave, message, finding, of } of remarks(reports)) {
    if (severity === 'info') continue;
    const names = of.map((i) => baseName(reports[i]?.distorted.name ?? '')).join(', ');
    const prefix = of.length < reports.length ? `${names}: ` : '';
    const remedy = remedyText(finding);
    const label = grave ? 'untrusted score' : severity;
    terminal.complain(`${label}: ${prefix}${message}${remedy === '' ? '' : ` (${remedy})`}`);
  }
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
    terminal.complain(`${named ? '' : `${names.join(', ')}: `}${message}`);
  }
  if (failed.length < of) {
    const names = failed.map(({ distorted }) => baseName(distorted)).join(', ');
    terminal.complain(`${failed.length} of ${of} encodes could not be scored: ${names}`);
  }
}

/**
 * Lines `vmaf_v0.6.1: 82.564227`: the model's source and its mean score. A bootstrap collection adds a line
 * `NAME: BAGGING, ci.p95: [LOW, HIGH], stddev: STDDEV` of means; a tiny model adds `NAME: MEAN`. A run without models
 * gives the mean of every metric, and all aggregate metrics.
 */
export function plainResult(report: Report, precision: Precision): string {
  const number = textNumber(precision);
  const mean = (metric: string) => number(report.pooled_metrics[metric]?.mean ?? Number.NaN);
  if (report.models.length === 0) {
    const aggregates = Object.entries(report.aggregate_metrics);
    return [
      ...report.metrics.map((metric) => `${metric}: ${mean(metric)}\n`),
      ...aggregates.map(([name, value]) => `${name}: ${number(value)}\n`),
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

/** The lines of `plainResult`, each after the name of its video. */
export function plainResults(reports: readonly Report[], precision: Precision): string {
  const named = reports.map((report) =>
    plainResult(report, precision).replace(/^(?=.)/gm, () => `${report.distorted.name}: `),
  );
  return named.join('');
}

/**
 * `csv` is a table with a row per encode, `ndjson` the lines of one report after the other, each after its header; other
 * formats hold one report, and several become a JSON array. An encode that could not be scored has a record with its
 * error.
 */
export function* writeReports(
  results: readonly (Report | FailedEncode)[],
  format: ReportFormat | undefined,
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
      if ('frames' in result) yield* writeReport(result, 'json', { precision });
      else yield `${pretty({ map: failureEntries(result) })}\n`;
    }
    yield ']\n';
  }
}

export type LiveLines = ReturnType<typeof printLive>;

/**
 * Prints one report after the other as JSON lines, while they are measured; lines of later ones wait.
 * @param broken called if printing fails
 */
export function printLive(
  count: number,
  precision: Precision,
  print: (text: string) => Promise<void>,
  broken: (reason: unknown) => void,
) {
  const lines = ndjsonLines(precision);
  /** By report: its metrics once it has started, lines that wait for earlier reports, and whether it has ended. */
  const metrics: (readonly string[])[] = [];
  const waiting = Array<string>(count).fill('');
  const ended = Array<boolean>(count).fill(false);
  let turn = 0;
  let written: Promise<void> = Promise.resolve();
  const add = (index: number, line: string, last = false) => {
    waiting[index] += line;
    if (last) ended[index] = true;
    for (; turn < count; turn++) {
      const text = waiting[turn] ?? '';
      waiting[turn] = '';
      if (text !== '') written = written.then(() => print(text));
      written.catch(broken);
      if (!ended[turn]) return;
    }
  };
  const start = (head: ReportHead, index = 0) => {
    metrics[index] = head.metrics;
    add(index, lines.header(head));
  };
  return {
    start,
    frame: (frame: FrameMetrics, index = 0) => {
      const stated = metrics[index] ?? [];
      // The score of a model that replaced another is not in the header.
      const further = Object.keys(frame.metrics).filter((name) => !stated.includes(name));
      add(index, lines.frame(frame, [...stated, ...further]));
    },
    end: (report: Report, index = 0) => {
      // A report without any scored frame has not started.
      if (!metrics[index]) start(report, index);
      add(index, lines.summary(report, keptOf(report, report.frames.length) === undefined), true);
    },
    fail: (failed: FailedEncode, index: number) => add(index, lines.failure(failed), true),
    written: () => written,
  };
}
