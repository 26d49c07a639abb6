/**
 * @module cli/gate
 * Judges scores for scripts and CI: limits, drops below a baseline, and the files with the verdicts.
 */
import { appendFile } from 'node:fs/promises';
import { AnyvmafError, usageError } from '../core/errors.js';
import { clause, printable, shown } from '../core/printable.js';
import { readText } from '../files/text-file.js';
import type { BatchGate } from '../report/batch.js';
import { isAggregate, metricIn, notMeasured, pooledText } from '../report/limits.js';
import { readBaseline } from '../report/read/index.js';
import type { FailedEncode, Report, ReportHead, ReportModel } from '../report/schema.js';
import { causeText, flawOf } from '../report/trust.js';
import {
  type Baseline,
  baselineOf,
  type Check,
  checkBaseline,
  doubtOf,
  dropCheck,
  holdAgainst,
  holdAgainstBaseline,
  type Judged,
  limitCheck,
} from '../report/verdict.js';
import { textNumber } from '../report/write.js';
import { EXIT } from './exit.js';
import { commandLine } from './options.js';
import { type OutputFile, openOutput } from './output.js';
import type { OutputSettings } from './output-options.js';
import type { ScoreSettings } from './score-options.js';

export type GateSettings = Pick<
  OutputSettings,
  | 'failUnder'
  | 'limits'
  | 'baseline'
  | 'drops'
  | 'acceptUntrusted'
  | 'junit'
  | 'summary'
  | 'githubSummary'
  | 'precision'
>;

interface Verdict {
  readonly checks: readonly Check[];
  /** Lines for standard error. */
  readonly complaints: readonly string[];
  readonly passed: boolean;
}

/**
 * Judges a report by its limits, and by drops below a baseline if there is one.
 * @param of suffix that names the encode, such as ` for a.mp4`; empty for a single one
 * @throws {AnyvmafError} `usage` for a metric that was not measured
 */
export function judgeReport(report: Report, settings: GateSettings, of = '', before?: NamedReport): Verdict {
  const { failUnder, limits = [], drops = [], acceptUntrusted, precision } = settings;
  const number = textNumber(precision);
  const judging = failUnder !== undefined || limits.length > 0 ? '--fail-under' : '--baseline';
  const against =
    failUnder !== undefined || limits.length > 0 || drops.length > 0
      ? objection(report, of, acceptUntrusted === true, judging)
      : undefined;
  const below = failUnder === undefined ? [] : modelsBelow(report, failUnder);
  const held = limits.flatMap((limit) => holdAgainst(report, limit));
  const scores = failUnder === undefined ? [] : holdAgainst(report, { relation: '>=', bound: failUnder });
  const doubtful = [...scores, ...held].flatMap((one) => {
    const doubt = doubtOf(report, one);
    return doubt === undefined ? [] : [{ ...one, doubt }];
  });
  const fallen = before
    ? drops.flatMap((drop) => holdAgainstBaseline(report, before.report, before.name, drop)).map(dropCheck)
    : [];
  const checks: Check[] = [
    ...(against
      ? [{ name: 'the score can be trusted', found: against.message, passed: !against.fails }]
      : []),
    ...scores.map(limitCheck),
    ...held.map(limitCheck),
    ...doubtful.map(({ name, relation, bound, doubt }) => ({
      name: `${name} ${relation} ${bound} in the whole video`,
      found: doubt
        ? `between ${number(doubt.low)} and ${number(doubt.high)}`
        : 'unknown: only samples were scored',
      passed: false,
    })),
    ...fallen,
  ];
  const complaints = [
    ...(against ? [against.message] : []),
    ...below.map(
      ({ model, mean }) =>
        `the mean of ${model.source}${of} is ${number(mean)}, below --fail-under ${failUnder}`,
    ),
    ...held
      .filter(({ passed }) => !passed)
      .map(({ name, value, relation, bound }) => {
        const side = relation === '>=' ? 'below' : 'above';
        const what = value === undefined ? 'has no value' : `is ${number(value)}`;
        return `${name}${of} ${what}, ${side} the limit: --fail-under '${name}${relation}${bound}'`;
      }),
    ...doubtful.map(({ name, relation, bound, doubt }) => {
      const where = doubt ? `, between ${number(doubt.low)} and ${number(doubt.high)}` : '';
      return (
        `${name}${of} is an estimate${where}: whether --fail-under '${name}${relation}${bound}' holds is ` +
        'undecided; take more samples, or score the whole video'
      );
    }),
    ...fallen.filter(({ passed }) => !passed).map(({ name, found }) => `${name}${of} failed: ${found}`),
  ];
  return { checks, complaints, passed: checks.every(({ passed }) => passed) };
}

/** A report of the baseline, and the name of its file. */
interface NamedReport {
  readonly report: Report;
  readonly name: string;
}

interface Scored {
  readonly reports: readonly Report[];
  readonly failures: readonly { readonly index: number; readonly failed: FailedEncode }[];
}

/** A gate whose files are open. */
export class Gate {
  readonly #settings: GateSettings;
  readonly #distorted: readonly string[];
  readonly #files: { readonly junit?: OutputFile; readonly summary?: OutputFile; readonly github?: string };
  readonly #baseline: Baseline | undefined;

  private constructor(
    settings: GateSettings,
    distorted: readonly string[],
    files: { readonly junit?: OutputFile; readonly summary?: OutputFile; readonly github?: string },
    baseline: Baseline | undefined,
  ) {
    this.#settings = settings;
    this.#distorted = distorted;
    this.#files = files;
    this.#baseline = baseline;
  }

  /**
   * Reads the baseline and checks that the files are writable, before anything is scored.
   * @param inputs files that must not be overwritten
   * @throws {AnyvmafError} `io`, `usage`, `mismatch`
   */
  static async open(
    settings: GateSettings,
    distorted: readonly string[],
    inputs: readonly string[],
  ): Promise<Gate> {
    const baseline =
      settings.baseline === undefined
        ? undefined
        : readBaseline(await readText(settings.baseline), settings.baseline);
    if (baseline) for (const name of distorted) baselineOf(baseline, name, distorted.length);
    const kept = [...inputs, ...(settings.baseline === undefined ? [] : [settings.baseline])];
    const { junit, summary, githubSummary } = settings;
    const github = githubSummary ? await stepSummaryFile() : undefined;
    return new Gate(
      settings,
      distorted,
      {
        ...(junit !== undefined && { junit: await openOutput(junit, kept) }),
        ...(summary !== undefined && { summary: await openOutput(summary, kept) }),
        ...(github !== undefined && { github }),
      },
      baseline,
    );
  }

  /**
   * Refuses, at the first frame, what could not be judged at the end.
   * @throws {AnyvmafError} `usage` for a metric that is not measured, `mismatch` for a baseline of something else
   */
  start(head: ReportHead, index = 0): void {
    const { limits = [], drops = [] } = this.#settings;
    for (const { metric } of [...limits, ...drops])
      if (metric !== undefined && metricIn(head, metric) === undefined && !isAggregate(metric))
        throw notMeasured(metric, head);
    const before = this.#before(this.#distorted[index] ?? head.distorted.name);
    if (before) checkBaseline(head, before.report, before.name, drops);
  }

  /** Judges all reports and writes the files. @throws {AnyvmafError} `io`, `usage`, `mismatch` */
  async judge(
    { reports, failures }: Scored,
    signal?: AbortSignal,
  ): Promise<{
    readonly complaints: readonly string[];
    readonly code: number;
  }> {
    const several = this.#distorted.length > 1;
    const judged = reports.map((report) => {
      const { name } = report.distorted;
      const before = this.#before(name);
      if (before) checkBaseline(report, before.report, before.name, this.#settings.drops ?? []);
      return { report, ...judgeReport(report, this.#settings, several ? ` for ${name}` : '', before) };
    });
    const verdicts: (Judged | FailedEncode)[] = [...judged];
    for (const { index, failed } of failures) verdicts.splice(index, 0, failed);
    const { junit, summary, github } = this.#files;
    if (junit) await junit.write((await import('../report/ci.js')).writeJunit(verdicts), signal);
    if (summary || github !== undefined) {
      const { writeStepSummary } = await import('../report/ci.js');
      const text = [...writeStepSummary(verdicts, lookCommand)].join('');
      if (summary) await summary.write([text], signal);
      if (github !== undefined) await appendSummary(github, text);
    }
    return {
      complaints: judged.flatMap(({ complaints }) => complaints),
      code: judged.every(({ passed }) => passed) ? EXIT.ok : EXIT.below,
    };
  }

  #before(distorted: string): NamedReport | undefined {
    const baseline = this.#baseline;
    if (!baseline) return undefined;
    return { report: baselineOf(baseline, distorted, this.#distorted.length), name: baseline.name };
  }
}

function lookCommand({ reference, distorted }: Report, frame: number): string {
  return commandLine('anyvmaf', ['heatmap', reference.name, distorted.name, '--frame', String(frame)]);
}

/** The summary file of a GitHub step. @throws {AnyvmafError} `usage` if there is none; `io` if it is not writable */
export async function stepSummaryFile(): Promise<string> {
  const path = process.env.GITHUB_STEP_SUMMARY;
  if (path === undefined || path === '') {
    throw usageError(
      '--github-summary appends to the file that GITHUB_STEP_SUMMARY names, which is not set; outside GitHub ' +
        'Actions use --summary FILE',
    );
  }
  await appendSummary(path, '');
  return path;
}

/** Appends: earlier commands of the step may have written there too. */
export async function appendSummary(path: string, text: string): Promise<void> {
  await appendFile(path, text).catch((cause: Error) => {
    throw new AnyvmafError(
      'io',
      `cannot append to "${shown(path)}", which GITHUB_STEP_SUMMARY names: ${cause.message}`,
      {
        cause,
      },
    );
  });
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

/** Models whose mean is below `limit` or missing; tiny models only if there are no others. */
export function modelsBelow(
  report: Report,
  limit: number,
): readonly { model: Pick<ReportModel, 'source'>; mean: number }[] {
  const tiny = (report.tiny ?? []).flatMap(({ metrics }) => metrics.map((name) => ({ name, source: name })));
  return (report.models.length > 0 ? report.models : tiny)
    .map((model) => ({ model, mean: report.pooled_metrics[model.name]?.mean ?? Number.NaN }))
    .filter(({ mean }) => !(mean >= limit));
}

/**
 * The message of a gate about a flawed score; `undefined` if it has no flaw.
 * @param of suffix that names the encode; empty for a single one
 * @param accept judges untrusted scores like any other
 * @param option that judges
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
