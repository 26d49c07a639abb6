/**
 * @module cli/batch/run
 * Runs the jobs of a batch that are not done: scores them, adds their lines, and shows how far it is.
 */
import { join, resolve } from 'node:path';
import { AnyvmafError } from '../../core/errors.js';
import { withoutAccess } from '../../core/printable.js';
import { makeFolders } from '../../files/folders.js';
import type { BatchProgress, BatchResult, Report } from '../../index.js';
import { type BatchJobFacts, failureLine, reportLine } from '../../report/batch.js';
import type { FailedEncode } from '../../report/types.js';
import { messageInFlags } from '../flags.js';
import { completeReport, gateOf, requestOf } from '../job.js';
import { openOutput } from '../output.js';
import { type ProgressBar, progressBar } from '../progress-bar.js';
import type { Terminal } from '../terminal.js';
import type { BatchSettings } from './batch-options.js';
import { jobId, onceOnly, type ResultLine, ResultsFile } from './results.js';
import type { Job, OpenJob } from './table.js';

/** What a batch is run with. */
interface BatchWork {
  readonly jobs: readonly Job[];
  readonly settings: BatchSettings;
  readonly terminal: Terminal;
  /** Files that must not be overwritten. */
  readonly inputs: readonly string[];
  readonly signal: AbortSignal;
}

/** Why a job has no report. */
type JobFailure = Pick<FailedEncode, 'code' | 'message'>;

/** Lines that repeat others, of which is said which ones. */
const MOST_REPEATS = 10;

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
    let repeats = 0;
    for (const job of jobs) {
      signal.throwIfAborted();
      const id = await jobId(job, signal);
      const earlier = ids.get(id);
      if (!earlier) ids.set(id, { job, id });
      else if (++repeats <= MOST_REPEATS)
        terminal.complain(`line ${job.line} repeats line ${earlier.job.line}, and is scored once`);
    }
    if (repeats > MOST_REPEATS)
      terminal.complain(`${repeats - MOST_REPEATS} more lines repeat others, and are scored once`);
    const open = [...ids.values()].filter(({ id }) => !this.#results.get(id));
    try {
      const fit: OpenJob[] = [];
      for (const one of open) {
        const error = await onceOnly(one.job);
        if (error) this.#say(one, await this.#addFailure(one, error), bar, error.message);
        else fit.push(one);
      }
      await this.#scoreOpen(fit, bar);
    } finally {
      bar?.clear();
    }
    const lines = [...ids.keys()].map((id) => this.#results.get(id)).filter((line) => line !== undefined);
    return { lines, before: ids.size - open.length };
  }

  async #scoreOpen(open: readonly OpenJob[], bar: ProgressBar | undefined): Promise<void> {
    const { settings, signal } = this.#work;
    if (open.length === 0) return;
    const before = this.#work.jobs.length - open.length;
    if (settings.queue !== undefined) {
      await this.#followOpen(settings.queue, open, bar);
      return;
    }
    const { together } = settings;
    const { scoreBatch } = await import('../../index.js');
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
      this.#say(done, added, bar, result.error ? messageInFlags(result.error) : 'failed');
    }
  }

  /** Lets workers of a queue score, and adds their lines. */
  async #followOpen(address: string, open: readonly OpenJob[], bar: ProgressBar | undefined): Promise<void> {
    const { settings, terminal, signal } = this.#work;
    const { followBatch } = await import('./queued.js');
    const show = bar && ((text: string) => bar.say(text));
    const complain = (text: string) => {
      bar?.clear();
      terminal.complain(text);
    };
    try {
      for await (const ended of followBatch(address, { open, settings, signal, show, complain })) {
        const { done, line, frames, failure } = ended;
        if (frames) await this.#saveFrames(done.id, frames);
        const added = failure ? await this.#addFailure(done, failure) : this.#results.add(line ?? '');
        this.#say(done, added, bar, failure?.message ?? '');
      }
    } finally {
      if (signal.aborted) {
        bar?.clear();
        terminal.complain('the jobs stay in the queue; start again to follow them');
      }
    }
  }

  /** Complains about a job that failed or is below its limit. */
  #say({ job }: OpenJob, added: ResultLine, bar: ProgressBar | undefined, failure: string): void {
    if (!added.failed && !added.below) return;
    bar?.clear();
    const said = added.failed ? `: ${failure}` : ' is below its limit or cannot be trusted';
    this.#work.terminal.complain(`line ${job.line}, ${withoutAccess(job.settings.distorted[0])}${said}`);
  }

  async #addFailure({ job, id }: OpenJob, { code, message }: JobFailure): Promise<ResultLine> {
    const { version } = await import('../../core/version.js');
    const facts: BatchJobFacts = { id, line: job.line, args: job.args };
    const reference = withoutAccess(job.settings.reference ?? '');
    const distorted = withoutAccess(job.settings.distorted[0]);
    return this.#results.add(failureLine(facts, { version, reference, distorted, code, message }));
  }

  async #add(open: OpenJob, { report, error }: BatchResult): Promise<ResultLine> {
    if (!report) {
      const failure = error ?? new AnyvmafError('internal', 'The job ended without a report.');
      return this.#addFailure(open, { code: failure.code, message: messageInFlags(failure) });
    }
    try {
      return await this.#addReport(open, report);
    } catch (thrown) {
      // A limit may name a metric that was not measured.
      if (!(thrown instanceof AnyvmafError) || thrown.code !== 'usage') throw thrown;
      return this.#addFailure(open, { code: thrown.code, message: messageInFlags(thrown) });
    }
  }

  async #addReport({ job, id }: OpenJob, report: Report): Promise<ResultLine> {
    const facts: BatchJobFacts = { id, line: job.line, args: job.args };
    const complete = completeReport(report, job.settings);
    const { precision } = this.#work.settings;
    const gate = gateOf(complete, job.settings);
    const frames = await this.#writeFrames(id, complete);
    return this.#results.add(reportLine(facts, complete, { precision, gate, frames }));
  }

  /** Before the line that names it, so that a kill between the two leaves a file that the next run replaces. */
  async #writeFrames(id: string, report: Report): Promise<string | undefined> {
    if (!this.#work.settings.frames) return undefined;
    const { formatFrames } = await import('../../index.js');
    return this.#saveFrames(id, await formatFrames(report));
  }

  async #saveFrames(id: string, bytes: Uint8Array): Promise<string> {
    const { settings, inputs } = this.#work;
    const folder = `${settings.output}.frames`;
    await makeFolders(resolve(folder)).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new AnyvmafError('io', `cannot make the folder "${folder}": ${why}`, { cause });
    });
    const path = join(folder, `${id}.parquet`);
    await (await openOutput(path, inputs)).write([bytes]);
    return path;
  }

  close(): Promise<void> {
    return this.#results.close();
  }
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
