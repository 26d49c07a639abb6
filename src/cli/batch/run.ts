/**
 * @module cli/batch/run
 * Runs the jobs of a batch that are not done: scores them, adds their lines, and shows how far it is.
 */
import { join, resolve } from 'node:path';
import { AnyvmafError } from '../../core/errors.js';
import { makeFolders } from '../../files/folders.js';
import type { BatchJob, BatchProgress, BatchResult, Report } from '../../index.js';
import { type BatchGate, type BatchJobFacts, failureLine, reportLine } from '../../report/batch-line.js';
import type { BatchSettings } from '../commands/batch-options.js';
import type { ScoreSettings } from '../commands/score-options.js';
import { findingsInFlags, messageInFlags } from '../flags.js';
import { openOutput } from '../output.js';
import { modelsBelow, objection } from '../plain-result.js';
import { type ProgressBar, progressBar } from '../progress-bar.js';
import type { Terminal } from '../terminal.js';
import { jobId } from './identity.js';
import { type ResultLine, ResultsFile } from './results.js';
import type { Job } from './table.js';

/** What a batch is run with. */
interface BatchWork {
  readonly jobs: readonly Job[];
  readonly settings: BatchSettings;
  readonly terminal: Terminal;
  /** Files that must not be overwritten. */
  readonly inputs: readonly string[];
  readonly signal: AbortSignal;
}

/** A job to score. */
interface OpenJob {
  readonly job: Job;
  readonly id: string;
}

/** A batch with its open file of results. */
export class BatchRun {
  readonly #work: BatchWork;
  readonly #results: ResultsFile;

  private constructor(work: BatchWork, results: ResultsFile) {
    this.#work = work;
    this.#results = results;
  }

  /** @throws {AnyvmafError} as {@link ResultsFile.open} */
  static async open(work: BatchWork): Promise<BatchRun> {
    const { output, retryFailed } = work.settings;
    return new BatchRun(work, await ResultsFile.open(output, work.inputs, retryFailed));
  }

  /**
   * Scores what is not done.
   * @returns the line of each job in the order of the table, and how many were there before
   * @throws {AnyvmafError} `io` if results cannot be written; the signal's reason
   */
  async score(): Promise<{ readonly lines: readonly ResultLine[]; readonly before: number }> {
    const { jobs, settings, terminal, signal } = this.#work;
    const bar = terminal.canDraw && !settings.quiet ? progressBar(terminal) : undefined;
    bar?.say(`looking at the files of ${jobs.length} jobs`);
    const ids = new Map<string, OpenJob>();
    for (const job of jobs) {
      signal.throwIfAborted();
      const id = await jobId(job);
      const earlier = ids.get(id);
      if (earlier) terminal.complain(`line ${job.line} repeats line ${earlier.job.line}, and is scored once`);
      else ids.set(id, { job, id });
    }
    const open = [...ids.values()].filter(({ id }) => !this.#results.get(id));
    try {
      await this.#scoreOpen(open, bar);
    } finally {
      bar?.clear();
    }
    const lines = [...ids.keys()].map((id) => this.#results.get(id)).filter((line) => line !== undefined);
    return { lines, before: ids.size - open.length };
  }

  async #scoreOpen(open: readonly OpenJob[], bar: ProgressBar | undefined): Promise<void> {
    const { settings, terminal, signal } = this.#work;
    if (open.length === 0) return;
    const { scoreBatch } = await import('../../index.js');
    const before = this.#work.jobs.length - open.length;
    const { together } = settings;
    const running = scoreBatch(
      open.map(({ job }) => requestOf(job.settings)),
      {
        signal,
        ...(together !== undefined && { together }),
        ...(bar && { onProgress: (progress) => bar.say(progressText(progress, before)) }),
      },
    );
    for await (const result of running) {
      const done = open[result.index];
      if (!done) continue;
      const added = await this.#add(done, result);
      if (!added.failed && !added.below) continue;
      bar?.clear();
      const said = added.failed
        ? `: ${result.error ? messageInFlags(result.error) : 'failed'}`
        : ' is below its limit or cannot be trusted';
      terminal.complain(`line ${done.job.line}, ${done.job.settings.distorted[0]}${said}`);
    }
  }

  async #add({ job, id }: OpenJob, { report, error }: BatchResult): Promise<ResultLine> {
    const facts: BatchJobFacts = { id, line: job.line, args: job.args };
    const { reference = '', distorted, ignored } = job.settings;
    if (!report) {
      const { version } = await import('../../core/version.js');
      const failure = error ?? new AnyvmafError('internal', 'The job ended without a report.');
      const { code } = failure;
      const message = messageInFlags(failure);
      return this.#results.add(
        failureLine(facts, { version, reference, distorted: distorted[0], code, message }),
      );
    }
    const { preflight } = report;
    const complete: Report = {
      ...report,
      warnings: [...report.warnings, ...ignored],
      ...(preflight && { preflight: findingsInFlags(preflight) }),
    };
    const { precision } = this.#work.settings;
    const frames = await this.#writeFrames(id, complete);
    const gate = gateOf(complete, job.settings);
    return this.#results.add(reportLine(facts, complete, { precision, gate, frames }));
  }

  /** Before the line that names it, so that a kill between the two leaves a file that the next run replaces. */
  async #writeFrames(id: string, report: Report): Promise<string | undefined> {
    const { settings, inputs } = this.#work;
    if (!settings.frames) return undefined;
    const folder = `${settings.output}.frames`;
    await makeFolders(resolve(folder)).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new AnyvmafError('io', `cannot make the folder "${folder}": ${why}`, { cause });
    });
    const path = join(folder, `${id}.parquet`);
    const { formatFrames } = await import('../../index.js');
    await (await openOutput(path, inputs)).write([await formatFrames(report)]);
    return path;
  }

  close(): void {
    this.#results.close();
  }
}

function requestOf({ reference, distorted, raw, options }: ScoreSettings): BatchJob {
  const {
    gate: _,
    onProgress: __,
    onStart: ___,
    onFrame: ____,
    signal: _____,
    origin: ______,
    ...own
  } = options;
  return {
    ...(reference !== undefined && { reference }),
    distorted: distorted[0],
    ...(raw && { raw }),
    options: own,
  };
}

function gateOf(report: Report, { failUnder, acceptUntrusted }: ScoreSettings): BatchGate | undefined {
  if (failUnder === undefined) return undefined;
  const against = objection(report, '', acceptUntrusted === true);
  const low = modelsBelow(report, failUnder);
  const notes = [
    ...(against ? [against.message] : []),
    ...low.map(
      ({ model, mean }) => `the mean of ${model.source} is ${mean}, below --fail-under ${failUnder}`,
    ),
  ];
  return { failUnder, passed: low.length === 0 && !against?.fails, notes };
}

function progressText(
  { jobsDone, jobsFailed, jobsTotal, fraction, secondsLeft }: BatchProgress,
  before: number,
): string {
  const failed = jobsFailed > 0 ? `, ${jobsFailed} failed` : '';
  const left = secondsLeft === null ? '' : `, ${durationText(secondsLeft)} left`;
  return `${before + jobsDone} of ${before + jobsTotal} jobs${failed}, ${Math.floor(100 * fraction)} %${left}`;
}

/** `45 s`, `3 min`, `2 h 5 min`. */
function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
