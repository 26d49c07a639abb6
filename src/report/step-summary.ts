/**
 * @module report/step-summary
 * The verdicts of a gate, or the jobs of a batch, as GitHub-flavoured Markdown, for the summary of a CI step.
 */
import { counted, printable } from '../core/printable.js';
import { type BatchRow, batchRow } from './batch.js';
import { bitrateOf, bitrateText, fileSizeOf, inputFacts, sizeText } from './facts.js';
import { isWorseHigh, scoreNames } from './limits.js';
import { pooledMetric } from './pool.js';
import { runValue, wholeOf } from './quality-metrics.js';
import { clock } from './terminal.js';
import { causeText, flawOf, TRUST_WORDS } from './trust.js';
import type { Report } from './types.js';
import { isPassed, type Judged, type Verdicts, worstMoments } from './verdict.js';

/** Worst frames listed of each encode. */
const WORST = 3;
/** Jobs listed; a summary has a limit of 1 MiB. */
const MOST_JOBS = 1000;

/** The command line that shows where a frame lost quality. */
export type LookCommand = (report: Report, frame: number) => string;

/** The text in pieces: a table of encodes with their worst frames, then what was checked, and what to know. */
export function* writeStepSummary(verdicts: Verdicts, look: LookCommand): Generator<string, void, undefined> {
  yield heading(verdicts.length, verdicts.filter((one) => !isPassed(one)).length, 'encode');
  const judged = verdicts.filter((one) => 'checks' in one);
  const [first] = judged;
  if (first) yield* encodesTable(first.report, verdicts);
  yield* checksTable(judged);
  yield* worstTable(judged, look);
  yield* notes(verdicts);
}

/**
 * The jobs of a batch, in pieces: a table, those that failed or are below their limit first.
 * @param lines of results: text of JSON objects
 */
export function* writeBatchSummary(lines: readonly string[]): Generator<string, void, undefined> {
  const rows = lines.map(batchRow);
  const passed = rows.filter(({ state }) => state === 'scored');
  const others = rows.filter(({ state }) => state !== 'scored');
  yield heading(rows.length, others.length, 'job');
  yield row(['', 'line', 'encode', 'reference', 'metric', 'mean', '1 %', 'notes']);
  yield row(['---', '---:', '---', '---', '---', '---:', '---:', '---']);
  for (const one of [...others, ...passed].slice(0, MOST_JOBS)) yield jobRow(one);
  if (rows.length > MOST_JOBS) yield `\n${rows.length - MOST_JOBS} more are not listed.\n`;
  yield '\n';
}

function jobRow({ line, distorted, reference, metric, mean, low, state, notes }: BatchRow): string {
  const mark = state === 'scored' ? '✅' : '❌';
  const values = [metric && code(metric), mean, low].map((text) => text || '–');
  return row([mark, `${line}`, code(distorted), code(reference), ...values, markdown(notes.join(' '))]);
}

function heading(all: number, failed: number, noun: string): string {
  const what = counted(all, noun);
  const [mark, text] = failed === 0 ? ['✅', `${what} passed`] : ['❌', `${failed} of ${what} failed`];
  return `## ${mark} anyvmaf: ${text}\n\n`;
}

function* encodesTable(first: Report, verdicts: Verdicts): Generator<string> {
  const { reference } = first;
  const isHigh = (metric: string) => isWorseHigh(first, metric);
  yield `Reference ${code(reference.name)}: ${markdown(inputFacts(reference).join(', '))}\n\n`;
  const metrics = [...new Set(verdicts.flatMap((one) => ('checks' in one ? headMetrics(one.report) : [])))];
  yield row([
    '',
    'encode',
    ...metrics.flatMap((name) => [
      `${code(name)} mean`,
      ...(isHigh(name) ? ['99 %', 'highest'] : ['1 %', 'lowest']),
    ]),
    'worst frame',
    'bit rate',
    'size',
  ]);
  yield row(['---', '---', ...metrics.flatMap(() => ['---:', '---:', '---:']), '---', '---:', '---:']);
  for (const one of verdicts) {
    const mark = isPassed(one) ? '✅' : '❌';
    if (!('checks' in one)) {
      yield row([mark, code(one.distorted), ...metrics.flatMap(() => ['–', '–', '–']), '–', '–', '–']);
      continue;
    }
    const { report } = one;
    const [worst] = worstMoments(report, 1);
    yield row([
      mark,
      code(report.distorted.name),
      ...metrics.flatMap((name) => {
        const pooled = pooledMetric(report, name);
        const percentiles = report.distribution[name]?.percentiles;
        const worst = isHigh(name) ? [percentiles?.p99, pooled?.max] : [percentiles?.p1, pooled?.min];
        return [runValue(report, name), ...worst].map(cell);
      }),
      worst ? momentText(worst) : '–',
      bitrateText(bitrateOf(report)) ?? '–',
      sizeText(fileSizeOf(report)) ?? '–',
    ]);
  }
  yield '\n';
}

/** Scores, else the metric that ranks frames. */
function headMetrics(report: Report): readonly string[] {
  const scores = scoreNames(report);
  if (scores.length > 0) return scores;
  const [worst] = worstMoments(report, 1);
  return worst ? [...new Set([wholeOf(worst.metric, [report]), worst.metric])] : [];
}

function* checksTable(judged: readonly Judged[]): Generator<string> {
  if (judged.every(({ checks }) => checks.length === 0)) return;
  yield '### Checks\n\n';
  yield row(['', 'encode', 'check', 'found']);
  yield row(['---', '---', '---', '---']);
  for (const { report, checks } of judged) {
    for (const { name, found, passed } of checks)
      yield row([passed ? '✅' : '❌', code(report.distorted.name), markdown(name), markdown(found)]);
  }
  yield '\n';
}

function* worstTable(judged: readonly Judged[], look: LookCommand): Generator<string> {
  const rows = judged.flatMap(({ report }) =>
    worstMoments(report, WORST).map((moment) => [
      code(report.distorted.name),
      momentText(moment),
      `${code(moment.metric)} ${moment.value.toFixed(2)}`,
      code(look(report, moment.frame)),
    ]),
  );
  if (rows.length === 0) return;
  yield '### Worst frames\n\n';
  yield row(['encode', 'frame', 'value', 'where quality is lost']);
  yield row(['---', '---', '---:', '---']);
  for (const cells of rows) yield row(cells);
  yield '\n';
}

function* notes(verdicts: Verdicts): Generator<string> {
  const lines = verdicts.flatMap((one) => {
    if (!('checks' in one)) return [`${code(one.distorted)} could not be scored: ${markdown(one.message)}`];
    const flaw = flawOf(one.report);
    const { trust } = flaw;
    if (trust.verdict === 'fine') return [];
    return [
      `${code(one.report.distorted.name)}: ${TRUST_WORDS[trust.verdict]}: ${markdown(causeText(flaw))}`,
    ];
  });
  for (const line of lines) yield `- ${line}\n`;
  if (lines.length > 0) yield '\n';
}

function momentText({ frame, time }: { readonly frame: number; readonly time?: number }): string {
  return `frame ${frame}${time === undefined ? '' : ` at ${clock(time, 2)}`}`;
}

function cell(value: number | null | undefined): string {
  return typeof value === 'number' && Number.isFinite(value) ? value.toFixed(2) : '–';
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** Text from outside as HTML code, in which Markdown has no meaning and a table keeps its columns. */
function code(text: string): string {
  return `<code>${markdown(text)}</code>`;
}

/** Names of files must neither end a table nor bring markup, links or mentions along. */
function markdown(text: string): string {
  return printable(text).replace(/[&<>"'`*[\]|\\~$@#!]|:(?=\/\/)|^[-+=>]/g, (c) => `&#${c.charCodeAt(0)};`);
}
