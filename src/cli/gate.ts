/**
 * @module cli/gate
 * Judges scores for scripts and CI: limits, drops below a baseline, and the files with the verdicts.
 */
import { appendFile } from 'node:fs/promises';
import { ioError, usageError } from '../core/errors.js';
import { fileWord, STANDARD_INPUT } from '../core/names.js';
import { clause, printable, shown } from '../core/printable.js';
import { readText } from '../files/text-file.js';
import type { BatchGate } from '../report/batch.js';
import { pooledText } from '../report/limits.js';
import { mapsOfMetric } from '../report/quality-metrics.js';
import { readBaseline } from '../report/read/index.js';
import type { FailedEncode, Report, ReportHead } from '../report/schema.js';
import { causeText, flawOf } from '../report/trust.js';
import {
  baselineOf,
  type Check,
  checkBaseline,
  type DropResult,
  doubtOf,
  dropCheck,
  holdAgainst,
  holdAgainstBaseline,
  isOfWindow,
  type Judged,
  type LimitResult,
  limitCheck,
  requireMeasured,
  type WorstMoment,
} from '../report/verdict.js';
import { textNumber } from '../report/write.js';
import { EXIT } from './exit.js';
import { commandLine } from './options.js';
import { openOutput } from './output.js';
import type { OutputSettings } from './output-options.js';
import type { Outcome } from './printed.js';
import type { ScoreSettings } from './score-options.js';
import { lookArguments } from './table-options.js';

type GateSettings = Omit<OutputSettings, 'quiet'>;

/**
 * Judges a report by its limits, and by drops below a baseline if there is one.
 * @param of suffix that names the encode, such as ` for a.mp4`; empty for a single one
 * @returns `complaints` are lines for standard error
 * @throws {AnyvmafError} `usage` for a metric that was not measured
 */
export function judgeReport(report: Report, settings: GateSettings, of = '', before?: NamedReport) {
  const { failUnder, limits = [], drops = [], acceptUntrusted, precision } = settings;
  const number = textNumber(precision);
  const limited = failUnder !== undefined || limits.length > 0;
  const option = limited ? '--fail-under' : '--baseline';
  const flaw =
    limited || drops.length > 0 ? objection(report, of, acceptUntrusted === true, option) : undefined;
  const held = limits.flatMap((limit) => holdAgainst(report, limit));
  const scores = failUnder === undefined ? [] : holdAgainst(report, { relation: '>=', bound: failUnder });
  const sourceOf = (metric: string) => report.models.find(({ name }) => name === metric)?.source ?? metric;
  const fallen = before
    ? drops.flatMap((drop) => holdAgainstBaseline(report, before.report, before.name, drop))
    : [];
  const trusted = flaw && { name: 'the score can be trusted', found: flaw.message, passed: !flaw.fails };
  const judged: readonly Judgement[] = [
    ...(trusted ? [{ check: trusted, complaint: trusted.found }] : []),
    ...scores.map((result) => ({
      check: limitCheck(result),
      complaint:
        !result.passed &&
        `the mean of ${sourceOf(result.metric)}${of} is ${number(result.value ?? Number.NaN)}, below --fail-under ${failUnder}`,
    })),
    ...held.map((result) => {
      const { name, value, relation, bound, passed } = result;
      const side = relation === '>=' ? 'below' : 'above';
      const state = value === undefined ? 'has no value' : `is ${number(value)}`;
      return {
        check: limitCheck(result),
        complaint:
          !passed && `${name}${of} ${state}, ${side} the limit: --fail-under '${name}${relation}${bound}'`,
      };
    }),
    ...undecided(report, [...scores, ...held], of, number),
    ...ofWindow([report], held, of, ({ name, relation, bound }) => [
      `${name} ${relation} ${bound}`,
      `--fail-under '${name}${relation}${bound}'`,
    ]),
    ...fallen.map(dropCheck).map((check) => ({
      check,
      complaint: !check.passed && `${check.name}${of} failed: ${check.found}`,
    })),
    ...ofWindow(before ? [report, before.report] : [], fallen, of, ({ name, most }) => [
      `${name} within ${most} of the baseline`,
      `--max-drop '${name}=${most}'`,
    ]),
  ];
  return {
    checks: judged.map(({ check }) => check),
    complaints: judged.flatMap(({ complaint }) => complaint || []),
    passed: judged.every(({ check }) => check.passed),
  };
}

interface Judgement {
  readonly check: Check;
  /** A line for standard error. */
  readonly complaint: string | false;
}

/** Limits that the samples keep, but perhaps not the whole video. */
function undecided(
  report: Report,
  results: readonly LimitResult[],
  of: string,
  number: (value: number) => string,
): Judgement[] {
  return results.flatMap((result) => {
    const doubt = doubtOf(report, result);
    if (doubt === undefined) return [];
    const { name, relation, bound } = result;
    const range = doubt && `between ${number(doubt.low)} and ${number(doubt.high)}`;
    return {
      check: {
        name: `${name} ${relation} ${bound} in the whole video`,
        found: range ?? 'unknown: only samples were scored',
        passed: false,
      },
      complaint:
        `${name}${of} is an estimate${range ? `, ${range}` : ''}: whether --fail-under '${name}${relation}${bound}' holds is ` +
        'undecided; take more samples, or score the whole video',
    };
  });
}

/**
 * Rules that the last frames keep, but perhaps not all frames.
 * @param reports that the rules compare
 * @param wordsOf a rule in words, and as an option
 */
function ofWindow<Result extends LimitResult | DropResult>(
  reports: readonly Report[],
  results: readonly Result[],
  of: string,
  wordsOf: (result: Result) => readonly [rule: string, option: string],
): Judgement[] {
  return results.flatMap((result) => {
    const cut = result.passed ? reports.find((report) => isOfWindow(report, result)) : undefined;
    if (!cut) return [];
    const [rule, option] = wordsOf(result);
    return {
      check: {
        name: `${rule} in the whole video`,
        found: 'unknown: only the last frames were kept',
        passed: false,
      },
      complaint:
        `${result.name}${of} is that of the last ${cut.frames.length} frames: whether ${option} holds is undecided; ` +
        'leave out --window, or limit the mean, min or max',
    };
  });
}

/**
 * The message of a gate about a flawed score; `undefined` if it has no flaw.
 * @param of see {@link judgeReport}
 * @param accept judges untrusted scores like any other
 */
export function objection(
  report: Pick<Report, 'preflight' | 'warnings'>,
  of: string,
  accept: boolean,
  option = '--fail-under',
): { readonly message: string; readonly fails: boolean } | undefined {
  const flaw = flawOf(report);
  const { trust } = flaw;
  if (trust.verdict === 'fine') return undefined;
  const fails = trust.verdict === 'untrusted' && !accept;
  const message = fails
    ? `${option} fails because the score${of} cannot be trusted: ${clause(causeText(flaw))}; add ` +
      '--accept-untrusted to judge it anyway'
    : `${option} judges a score${of} that is ${trust.verdict}: ${causeText(flaw)}`;
  return { message: printable(message), fails };
}

/** `undefined` without limits. */
export function gateOf(report: Report, settings: ScoreSettings): BatchGate | undefined {
  const { failUnder, limits } = settings;
  if (failUnder === undefined && !limits) return undefined;
  const { passed, complaints } = judgeReport(report, settings);
  const texts = limits?.map((limit) => `${pooledText(limit)}${limit.relation}${limit.bound}`);
  return {
    ...(failUnder !== undefined && { failUnder }),
    ...(texts && { limits: texts }),
    passed,
    notes: complaints,
  };
}

/** A report of the baseline, and the name of its file. */
interface NamedReport {
  readonly report: Report;
  readonly name: string;
}

export type Gate = Awaited<ReturnType<typeof openGate>>;

/**
 * Reads the baseline and checks that the files are writable, before anything is scored.
 * @param inputs files that must not be overwritten
 * @throws {AnyvmafError} `io`, `usage`, `mismatch`
 */
export async function openGate(
  settings: GateSettings,
  distorted: readonly string[],
  inputs: readonly string[],
) {
  const { baseline: path, limits = [], drops = [], junit, summary, githubSummary } = settings;
  const baseline = path === undefined ? undefined : readBaseline(await readText(path), path);
  const beforeOf = (name: string): NamedReport | undefined =>
    baseline && { report: baselineOf(baseline, name, distorted.length), name: baseline.name };
  for (const name of distorted) beforeOf(name);
  const github = githubSummary ? await stepSummaryFile() : undefined;
  const junitFile = junit === undefined ? undefined : await openOutput(junit, inputs);
  const summaryFile = summary === undefined ? undefined : await openOutput(summary, inputs);
  return {
    /**
     * Refuses, at the first frame, what could not be judged at the end.
     * @throws {AnyvmafError} `usage` for a metric that is not measured, `mismatch` for a baseline of something else
     */
    start(head: ReportHead, index = 0): void {
      requireMeasured(head, [...limits, ...drops]);
      const before = beforeOf(distorted[index] ?? head.distorted.name);
      if (before) checkBaseline(head, before.report, before.name, drops);
    },

    /** Judges all reports and writes the files. @throws {AnyvmafError} `io`, `usage`, `mismatch` */
    async judge(
      { reports, failures, ...request }: Omit<Outcome, 'alarms'>,
      signal?: AbortSignal,
    ): Promise<{ readonly complaints: readonly string[]; readonly code: number }> {
      const judged = reports.map((report) => {
        const { name } = report.distorted;
        const before = beforeOf(name);
        if (before) checkBaseline(report, before.report, before.name, drops);
        const of = distorted.length > 1 ? ` for ${name}` : '';
        return { report, ...judgeReport(report, settings, of, before) };
      });
      const verdicts: (Judged | FailedEncode)[] = [...judged];
      for (const { index, failed } of failures) verdicts.splice(index, 0, failed);
      if (junitFile) await junitFile.write((await import('../report/ci.js')).writeJunit(verdicts), signal);
      if (summaryFile || github !== undefined) {
        const { writeStepSummary } = await import('../report/ci.js');
        const look = (report: Report, moment: WorstMoment) => lookCommand(report, moment, request);
        const text = [...writeStepSummary(verdicts, look)].join('');
        await summaryFile?.write([text], signal);
        if (github !== undefined) await appendSummary(github, text);
      }
      return {
        complaints: judged.flatMap(({ complaints }) => complaints),
        code: judged.every(({ passed }) => passed) ? EXIT.ok : EXIT.below,
      };
    },
  };
}

/** Draws the pictures that were scored, by the metric that ranks them; `undefined` if they cannot be read again. */
function lookCommand(
  report: Report,
  { metric, frame }: WorstMoment,
  { options = {}, raw }: Pick<Outcome, 'options' | 'raw'>,
) {
  const { reference, distorted, pairing } = report;
  const names = [reference.name, distorted.name];
  if (options.noReference || names.includes(STANDARD_INPUT)) return undefined;
  const { window: _, ...paired } = options;
  // An offset that was searched: another search could find another.
  const offset = paired.offset === 'auto' ? (pairing?.frames.offset ?? 0) : paired.offset;
  const isRaw = reference.container === 'yuv' || distorted.container === 'yuv';
  const { width, height, chroma, bitDepth } = raw ?? reference;
  const { butteraugli, enhnGainLimit } = mapsOfMetric(report, metric);
  return commandLine('anyvmaf', [
    ...['heatmap', ...names.map(fileWord)],
    ...(isRaw ? ['-w', width, '-h', height, '-p', chroma, '-b', bitDepth].map(String) : []),
    ...lookArguments({ ...paired, ...(offset !== undefined && { offset }) }),
    ...(butteraugli ? ['--scale-of=butteraugli'] : enhnGainLimit === 1 ? ['--neg'] : []),
    ...['--frame', String(frame)],
  ]);
}

/** @throws {AnyvmafError} `usage` outside a GitHub step; `io` if the file is not writable */
export async function stepSummaryFile(): Promise<string> {
  const path = process.env.GITHUB_STEP_SUMMARY;
  if (path === undefined || path === '')
    throw usageError(
      '--github-summary appends to the file that GITHUB_STEP_SUMMARY names, which is not set; outside GitHub ' +
        'Actions use --summary FILE',
    );
  await appendSummary(path, '');
  return path;
}

/** Appends: earlier commands of the step may have written there too. */
export async function appendSummary(path: string, text: string): Promise<void> {
  await appendFile(path, text).catch((cause: Error) => {
    const file = `"${shown(path)}", which GITHUB_STEP_SUMMARY names`;
    throw ioError(`cannot append to ${file}: ${cause.message}`, { cause });
  });
}
