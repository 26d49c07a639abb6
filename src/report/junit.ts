/**
 * @module report/junit
 * Writes the verdicts of a gate or a batch as JUnit XML: per encode a suite with a case per check, or per job a case.
 */
import { printable } from '../core/printable.js';
import { type BatchRow, batchRow } from './batch.js';
import { clock } from './terminal.js';
import type { FailedEncode } from './types.js';
import { type Judged, type Verdicts, worstMoments } from './verdict.js';
import { escapeXml } from './xml.js';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Yields the file in pieces. An encode without checks gets one case, `scored`. */
export function* writeJunit(verdicts: Verdicts): Generator<string, void, undefined> {
  const suites = verdicts.map(suiteOf);
  const sum = (key: 'tests' | 'failures' | 'errors') =>
    suites.reduce((total, suite) => total + suite[key], 0);
  yield DECLARATION;
  yield `<testsuites name="anyvmaf" tests="${sum('tests')}" failures="${sum('failures')}" errors="${sum('errors')}">\n`;
  for (const { text } of suites) yield text;
  yield '</testsuites>\n';
}

/** @param lines results in the order of the table: text of JSON objects */
export function* writeBatchJunit(
  table: string,
  lines: readonly string[],
): Generator<string, void, undefined> {
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

interface Suite {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly text: string;
}

function suiteOf(one: Judged | FailedEncode): Suite {
  return 'checks' in one ? judgedSuite(one) : failedSuite(one);
}

function judgedSuite(one: Judged): Suite {
  const { report, checks } = one;
  const name = report.distorted.name;
  const listed = checks.length > 0 ? checks : [{ name: 'scored', found: '', passed: true }];
  const failures = listed.filter(({ passed }) => !passed).length;
  const seconds = report.fps > 0 && Number.isFinite(report.fps) ? report.frameCount / report.fps : 0;
  const cases = listed.map((check) => {
    const open = `    <testcase ${attribute('classname', name)} ${attribute('name', check.name)}`;
    if (check.passed) return `${open} />\n`;
    const message = `${check.name}: ${check.found}`;
    return `${open}>\n      <failure type="gate" ${attribute('message', message)}>${escapeXml(detail(one))}</failure>\n    </testcase>\n`;
  });
  const head = `  <testsuite ${attribute('name', name)} tests="${listed.length}" failures="${failures}" errors="0" time="${seconds.toFixed(3)}">\n`;
  const tail = `    <system-out>${escapeXml(detail(one))}</system-out>\n  </testsuite>\n`;
  return { tests: listed.length, failures, errors: 0, text: head + cases.join('') + tail };
}

function failedSuite({ distorted, code, message }: FailedEncode): Suite {
  const text =
    `  <testsuite ${attribute('name', distorted)} tests="1" failures="0" errors="1" time="0.000">\n` +
    `    <testcase ${attribute('classname', distorted)} name="scored">\n` +
    `      <error ${attribute('type', code)} ${attribute('message', message)} />\n    </testcase>\n  </testsuite>\n`;
  return { tests: 1, failures: 0, errors: 1, text };
}

/** The worst moments, one per line. */
function detail({ report }: Judged): string {
  return worstMoments(report, 3)
    .map(({ metric, frame, time, value }) => {
      const at = time === undefined ? '' : ` at ${clock(time, 2)}`;
      return printable(`worst ${metric}: ${value.toFixed(4)} in frame ${frame}${at}`);
    })
    .join('\n');
}

function attribute(name: string, value: string): string {
  return `${name}="${escapeXml(printable(value))}"`;
}
