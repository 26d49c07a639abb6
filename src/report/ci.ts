/**
 * @module report/ci
 * Writes the verdicts of a gate or the jobs of a batch for CI: as JUnit XML, and as Markdown for the summary of a step.
 */
import { counted, printable } from '../core/printable.js';
import { type BatchRow, batchRow, batchTable } from './batch.js';
import { bitrateOf, bitrateText, fileSizeOf, keptOf, sizeText, terminalFacts, valueTextOf } from './facts.js';
import { isWorseHigh, scoreNames } from './limits.js';
import { pooledMetric } from './pool.js';
import { runValue, wholeOf } from './quality-metrics.js';
import type { FailedEncode, Report } from './schema.js';
import { type Cell, clock, type Table } from './sections.js';
import { causeText, flawOf, TRUST_WORDS } from './trust.js';
import { isPassed, type Judged, type Verdicts, type WorstMoment, worstMoments } from './verdict.js';
import { escapeXml } from './write.js';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Yields the file in pieces. An encode without checks gets one case, `scored`. */
export function* writeJunit(verdicts: Verdicts): Generator<string> {
  const suites = verdicts.map((encode) => ('checks' in encode ? judgedSuite(encode) : failedSuite(encode)));
  const sum = (key: 'tests' | 'failures' | 'errors') => suites.reduce((all, suite) => all + suite[key], 0);
  yield DECLARATION;
  yield `<testsuites name="anyvmaf" tests="${sum('tests')}" failures="${sum('failures')}" errors="${sum('errors')}">\n`;
  for (const { text } of suites) yield text;
  yield '</testsuites>\n';
}

/** @param lines results in the order of the table: text of JSON objects */
export function* writeBatchJunit(table: string, lines: readonly string[]): Generator<string> {
  const rows = lines.map(batchRow);
  const count = (state: BatchRow['state']) => rows.filter((row) => row.state === state).length;
  const counts = `tests="${rows.length}" failures="${count('below')}" errors="${count('failed')}"`;
  const seconds = rows.reduce((sum, row) => sum + row.seconds, 0).toFixed(3);
  yield `${DECLARATION}<testsuites name="anyvmaf" ${counts}>\n`;
  yield `  <testsuite ${attribute('name', table)} ${counts} time="${seconds}">\n`;
  for (const row of rows) yield jobCase(row);
  yield '  </testsuite>\n</testsuites>\n';
}

function jobCase({ line, reference, distorted, seconds, state, code, notes }: BatchRow): string {
  const name = attribute('name', `line ${line}: ${distorted}`);
  const open = `    <testcase ${attribute('classname', reference || distorted)} ${name} time="${seconds.toFixed(3)}"`;
  const message = attribute('message', notes.join(' '));
  switch (state) {
    case 'failed':
      return `${open}>\n      <error ${attribute('type', code)} ${message} />\n    </testcase>\n`;
    case 'below':
      return `${open}>\n      <failure type="gate" ${message} />\n    </testcase>\n`;
    case 'scored':
      return `${open} />\n`;
  }
}

function judgedSuite(judged: Judged) {
  const { report, checks } = judged;
  const name = report.distorted.name;
  const listed = checks.length > 0 ? checks : [{ name: 'scored', found: '', passed: true }];
  const failures = listed.filter(({ passed }) => !passed).length;
  const seconds = report.fps > 0 && Number.isFinite(report.fps) ? report.frameCount / report.fps : 0;
  const cases = listed.map((check) => {
    const open = `    <testcase ${attribute('classname', name)} ${attribute('name', check.name)}`;
    if (check.passed) return `${open} />\n`;
    const message = `${check.name}: ${check.found}`;
    return `${open}>\n      <failure type="gate" ${attribute('message', message)}>${escapeXml(detail(judged))}</failure>\n    </testcase>\n`;
  });
  const head = `  <testsuite ${attribute('name', name)} tests="${listed.length}" failures="${failures}" errors="0" time="${seconds.toFixed(3)}">\n`;
  const tail = `    <system-out>${escapeXml(detail(judged))}</system-out>\n  </testsuite>\n`;
  return { tests: listed.length, failures, errors: 0, text: head + cases.join('') + tail };
}

function failedSuite({ distorted, code, message }: FailedEncode) {
  const text =
    `  <testsuite ${attribute('name', distorted)} tests="1" failures="0" errors="1" time="0.000">\n` +
    `    <testcase ${attribute('classname', distorted)} name="scored">\n` +
    `      <error ${attribute('type', code)} ${attribute('message', message)} />\n    </testcase>\n  </testsuite>\n`;
  return { tests: 1, failures: 0, errors: 1, text };
}

function detail({ report }: Judged): string {
  const lines = worstMoments(report, 3).map((moment) =>
    printable(`worst ${moment.metric}: ${moment.value.toFixed(4)} in ${momentText(moment)}`),
  );
  return lines.join('\n');
}

function attribute(name: string, value: string): string {
  return `${name}="${escapeXml(printable(value))}"`;
}

const WORST = 3;
/** Jobs listed at most; GitHub limits a summary to 1 MiB. */
const MOST_JOBS = 1000;

/** Returns the command line that shows where a frame lost quality; `undefined` without a reference. */
export type LookCommand = (report: Report, moment: WorstMoment) => string | undefined;

export function* writeStepSummary(verdicts: Verdicts, look: LookCommand): Generator<string, void, undefined> {
  yield heading(verdicts.length, verdicts.filter((encode) => !isPassed(encode)).length, 'encode');
  const judged = verdicts.filter((encode) => 'checks' in encode);
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
  const count = counted(all, noun);
  const [mark, text] = failed === 0 ? ['✅', `${count} passed`] : ['❌', `${failed} of ${count} failed`];
  return `## ${mark} anyvmaf: ${text}\n\n`;
}

function* encodesTable(first: Report, verdicts: Verdicts): Generator<string> {
  const { reference } = first;
  const isHigh = (metric: string) => isWorseHigh(first, metric);
  yield `Reference ${code(reference.name)}: ${markdown(terminalFacts(reference).join(', '))}\n\n`;
  const metrics = [
    ...new Set(verdicts.flatMap((encode) => ('checks' in encode ? headMetrics(encode.report) : []))),
  ];
  const heads = metrics.flatMap((name) => [
    { code: name, text: ' mean' },
    ...(isHigh(name) ? ['99 %', 'highest'] : ['1 %', 'lowest']),
  ]);
  const rows = verdicts.map((encode) => {
    if (!('checks' in encode)) return [{ code: encode.distorted }, ...heads.map(() => '–'), '–', '–', '–'];
    const { report } = encode;
    const [worst] = worstMoments(report, 1);
    const values = metrics.flatMap((name) => {
      const pooled = pooledMetric(report, name);
      const percentiles = report.distribution[name]?.percentiles;
      const worst = isHigh(name) ? [percentiles?.p99, pooled?.max] : [percentiles?.p1, pooled?.min];
      return [runValue(report, name), ...worst].map((value) => valueTextOf(report, name, value));
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
    tones: verdicts.map((encode) => (isPassed(encode) ? 'good' : 'warn')),
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
      worstMoments(report, WORST).map((moment) => {
        const line = look(report, moment);
        return [
          { code: report.distorted.name },
          momentText(moment),
          { code: moment.metric, text: ` ${valueTextOf(report, moment.metric, moment.value)}` },
          line === undefined ? '–' : { code: line },
        ];
      }),
    ),
  };
}

function* notes(verdicts: Verdicts): Generator<string> {
  const lines = verdicts.flatMap((encode) => {
    if (!('checks' in encode))
      return [`${code(encode.distorted)} could not be scored: ${markdown(encode.message)}`];
    const { report } = encode;
    const flaw = flawOf(report);
    const { verdict } = flaw.trust;
    const name = code(report.distorted.name);
    const kept = keptOf(report, report.frames.length);
    const of =
      kept && `${name}: percentiles and worst frames are those of the last ${counted(kept, 'frame')}`;
    const doubt = verdict !== 'fine' && `${name}: ${TRUST_WORDS[verdict]}: ${markdown(causeText(flaw))}`;
    return [of, doubt].flatMap((line) => line || []);
  });
  for (const line of lines) yield `- ${line}\n`;
  if (lines.length > 0) yield '\n';
}

function momentText({ frame, time }: { readonly frame: number; readonly time?: number }): string {
  return `frame ${frame}${time === undefined ? '' : ` at ${clock(time, 2)}`}`;
}

/** Markdown; a table with tones has a mark before each row. */
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

/** Escapes markup, links and mentions, and what would end a table. */
function markdown(text: string): string {
  return printable(text).replace(
    /[&<>"'`*[\]|\\~$@#!]|:(?=\/\/)|(?<=www)\.|(?<![a-z\d])_|_(?![a-z\d])|^[-+=>]/gi,
    (c) => `&#${c.charCodeAt(0)};`,
  );
}
