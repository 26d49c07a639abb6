/**
 * @module report/step-summary
 * Writes the verdicts of a gate or the jobs of a batch as GitHub-flavoured Markdown, for the summary of a CI step.
 */
import { counted, printable } from '../core/printable.js';
import { batchRow, batchTable } from './batch.js';
import { bitrateOf, bitrateText, fileSizeOf, inputFacts, sizeText } from './facts.js';
import { isWorseHigh, scoreNames } from './limits.js';
import { pooledMetric } from './pool.js';
import { runValue, wholeOf } from './quality-metrics.js';
import type { Cell, Table } from './sections.js';
import { clock } from './terminal.js';
import { causeText, flawOf, TRUST_WORDS } from './trust.js';
import type { Report } from './types.js';
import { isPassed, type Judged, type Verdicts, worstMoments } from './verdict.js';

const WORST = 3;
/** Jobs listed at most; GitHub limits a summary to 1 MiB. */
const MOST_JOBS = 1000;

/** Returns the command line that shows where a frame lost quality. */
export type LookCommand = (report: Report, frame: number) => string;

export function* writeStepSummary(verdicts: Verdicts, look: LookCommand): Generator<string, void, undefined> {
  yield heading(verdicts.length, verdicts.filter((one) => !isPassed(one)).length, 'encode');
  const judged = verdicts.filter((one) => 'checks' in one);
  const [first] = judged;
  if (first) yield* encodesTable(first.report, verdicts);
  yield* tableText(checksTable(judged), 'Checks');
  yield* tableText(worstTable(judged, look), 'Worst frames');
  yield* notes(verdicts);
}

/** Yields a table of jobs, failed ones first. `lines` are results: text of JSON objects. */
export function* writeBatchSummary(lines: readonly string[]): Generator<string, void, undefined> {
  const rows = lines.map(batchRow);
  const passed = rows.filter(({ state }) => state === 'scored');
  const others = rows.filter(({ state }) => state !== 'scored');
  yield heading(rows.length, others.length, 'job');
  yield* tableText(batchTable([...others, ...passed].slice(0, MOST_JOBS)));
  if (rows.length > MOST_JOBS) yield `${rows.length - MOST_JOBS} more are not listed.\n\n`;
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
  const heads = metrics.flatMap((name) => [
    { code: name, text: ' mean' },
    ...(isHigh(name) ? ['99 %', 'highest'] : ['1 %', 'lowest']),
  ]);
  const rows = verdicts.map((one) => {
    if (!('checks' in one)) return [{ code: one.distorted }, ...heads.map(() => '–'), '–', '–', '–'];
    const { report } = one;
    const [worst] = worstMoments(report, 1);
    const values = metrics.flatMap((name) => {
      const pooled = pooledMetric(report, name);
      const percentiles = report.distribution[name]?.percentiles;
      const worst = isHigh(name) ? [percentiles?.p99, pooled?.max] : [percentiles?.p1, pooled?.min];
      return [runValue(report, name), ...worst].map(cell);
    });
    return [
      ...[{ code: report.distorted.name }, ...values, worst ? momentText(worst) : '–'],
      ...[bitrateText(bitrateOf(report)) ?? '–', sizeText(fileSizeOf(report)) ?? '–'],
    ];
  });
  yield* tableText({
    heads: ['encode', ...heads, 'worst frame', 'bit rate', 'size'],
    texts: [0, heads.length + 1],
    rows,
    tones: verdicts.map((one) => (isPassed(one) ? 'good' : 'warn')),
  });
}

/** Scores, or else the metric that ranks frames. */
function headMetrics(report: Report): readonly string[] {
  const scores = scoreNames(report);
  if (scores.length > 0) return scores;
  const [worst] = worstMoments(report, 1);
  return worst ? [...new Set([wholeOf(worst.metric, [report]), worst.metric])] : [];
}

function checksTable(judged: readonly Judged[]): Table {
  const all = judged.flatMap(({ report, checks }) => checks.map((check) => ({ report, ...check })));
  return {
    heads: ['encode', 'check', 'found'],
    texts: [0, 1, 2],
    rows: all.map(({ report, name, found }) => [{ code: report.distorted.name }, name, found]),
    tones: all.map(({ passed }) => (passed ? 'good' : 'warn')),
  };
}

function worstTable(judged: readonly Judged[], look: LookCommand): Table {
  return {
    heads: ['encode', 'frame', 'value', 'where quality is lost'],
    texts: [0, 1, 3],
    rows: judged.flatMap(({ report }) =>
      worstMoments(report, WORST).map((moment) => [
        ...[{ code: report.distorted.name }, momentText(moment)],
        ...[
          { code: moment.metric, text: ` ${moment.value.toFixed(2)}` },
          { code: look(report, moment.frame) },
        ],
      ]),
    ),
  };
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

// --- Markdown ---

/** A table with tones has a mark before each row. */
function* tableText({ heads, rows, texts = [], tones }: Table, title?: string): Generator<string> {
  if (rows.length === 0) return;
  if (title !== undefined) yield `### ${title}\n\n`;
  const marked = (mark: string, cells: readonly string[]) =>
    `| ${[...(tones ? [mark] : []), ...cells].join(' | ')} |\n`;
  yield marked('', heads.map(cellText));
  yield marked(
    '---',
    heads.map((_, i) => (texts.includes(i) ? '---' : '---:')),
  );
  for (const [i, row] of rows.entries()) yield marked(tones?.[i] === 'good' ? '✅' : '❌', row.map(cellText));
  yield '\n';
}

function cellText(content: Cell): string {
  if (typeof content !== 'string') return code(content.code) + markdown(content.text ?? '');
  return /^-[\d.]+$/.test(content) ? content : markdown(content);
}

/** As HTML code, so that Markdown in the text has no effect and a table keeps its columns. */
function code(text: string): string {
  return `<code>${markdown(text)}</code>`;
}

/** File names must not end a table or bring in markup, links or mentions. */
function markdown(text: string): string {
  return printable(text).replace(/[&<>"'`*[\]|\\~$@#!]|:(?=\/\/)|^[-+=>]/g, (c) => `&#${c.charCodeAt(0)};`);
}
