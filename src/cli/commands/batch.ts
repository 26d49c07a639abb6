/**
 * @module cli/commands/batch
 * `anyvmaf batch TABLE -o RESULTS`: scores a table of pairs, and resumes an interrupted run.
 */
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { AnyvmafError } from '../../core/errors.js';
import { counted, withoutAccess } from '../../core/printable.js';
import { hasScheme } from '../../core/url.js';
import { makeFolders } from '../../files/folders.js';
import { readText } from '../../files/text-file.js';
import type { BatchProgress, BatchResult, Report } from '../../index.js';
import { failureLine, reportLine } from '../../report/batch.js';
import type { FailedEncode } from '../../report/types.js';
import { BATCH_OPTIONS, type BatchSettings, batchSettings } from '../batch/batch-options.js';
import { jobId, onceOnly, type ResultLine, ResultsFile } from '../batch/results.js';
import { encodeLines, type Job, jobsOf, type OpenJob, tableLines } from '../batch/table.js';
import { type Command, type HelpPage, openProgressBar } from '../command.js';
import { EXIT } from '../exit.js';
import { messageInFlags } from '../flags.js';
import { completeReport, gateOf, requestOf } from '../job.js';
import { commandLine } from '../options.js';
import { openOutput } from '../output.js';
import type { ProgressBar } from '../progress-bar.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';

const page: HelpPage = {
  usage: ['anyvmaf batch [options] TABLE -o RESULTS', 'anyvmaf batch [options] ENCODES... -r RULE'],
  about:
    'Scores many pairs. A table is CSV with the columns reference and distorted, or JSON lines with these keys; every other ' +
    'column is a scoring option, by its name. Pairs of one reference share its decoding. Each result is appended ' +
    'to the file as soon as it is there; run the command again to resume. A pair that fails becomes a line ' +
    'with its error.',
  options: BATCH_OPTIONS,
  sections: [
    {
      title: 'Examples',
      rows: [
        ['anyvmaf batch jobs.csv -o results.jsonl', 'score a table'],
        ['anyvmaf batch jobs.jsonl -o r.jsonl --frames', 'keep values per frame'],
        ["anyvmaf batch out/ -r 'in/{stem}.mov' -o r.jsonl", 'a folder of encodes'],
        ['anyvmaf batch jobs.csv -o r.jsonl --fail-under 93', 'gate all pairs'],
      ],
    },
    {
      title: 'Exit codes',
      rows: [
        [`${EXIT.ok}`, 'all jobs passed'],
        [`${EXIT.failed}`, 'a job failed'],
        [`${EXIT.below}`, 'none failed, but a score is below its limit or cannot be trusted'],
      ],
    },
  ],
};

export const batch: Command = {
  page,
  run: async (args, terminal) => {
    const settings = batchSettings(args);
    return settings === 'help' ? page : runBatch(settings, args, terminal);
  },
};

async function runBatch(
  settings: BatchSettings,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const jobs = await readJobs(settings);
  const inputs = [
    ...settings.sources,
    ...jobs.flatMap((job) => [job.settings.reference ?? '', ...job.settings.distorted]),
  ];
  const summarize = await openSummaries(settings, inputs, args);
  return interruptible(async (stop) => {
    const kept = [...new Set(inputs)];
    const results = await ResultsFile.open(settings.output, kept, settings.retryFailed);
    const bar = await openProgressBar(terminal, settings.quiet);
    try {
      const work = { jobs, settings, terminal, inputs: kept, signal: stop.signal, results, bar };
      const { lines, before } = await new BatchRun(work).score();
      await summarize(
        lines.map(({ text }) => text),
        stop.signal,
      );
      stop.release();
      const failed = lines.filter((line) => line.failed).length;
      const below = lines.filter((line) => line.below).length;
      if (!settings.quiet) {
        const known = before > 0 ? `, ${before} from earlier runs` : '';
        const wrong = lines.filter((line) => line.untrusted && !line.below).length;
        const doubt = wrong > 0 ? `, ${wrong} scored but untrusted` : '';
        const low = below > 0 ? `, ${below} below the limit or untrusted` : '';
        await terminal.print(
          `${settings.output}: ${counted(lines.length, 'job')}${known}; ${failed} failed${low}${doubt}\n`,
        );
      }
      return failed > 0 ? EXIT.failed : below > 0 ? EXIT.below : EXIT.ok;
    } finally {
      await results.close();
    }
  });
}

/** @throws {AnyvmafError} `usage` for an invalid line; `io` for an unreadable table */
async function readJobs({ sources, common, reference, match }: BatchSettings): Promise<readonly Job[]> {
  const [table] = sources;
  if (reference !== undefined) {
    const lines = await encodeLines(sources, { reference, match });
    return jobsOf(lines, common, 'the list of encodes', (path) => path);
  }
  const text = await readText(table);
  const folder = dirname(table);
  const isElsewhere = (path: string) => isAbsolute(path) || hasScheme(path);
  return jobsOf(tableLines(text, table), common, table, (path) =>
    isElsewhere(path) ? path : join(folder, path),
  );
}

/** @param lines of results, in table order */
type WriteSummaries = (lines: readonly string[], signal: AbortSignal) => Promise<void>;

/**
 * Opens the summary files before anything is scored.
 * @param args of the batch, for the page
 * @throws {AnyvmafError} `io`, `usage`
 */
async function openSummaries(
  { html, junit, summary, githubSummary, sources }: BatchSettings,
  inputs: readonly string[],
  args: readonly string[],
): Promise<WriteSummaries> {
  const open = async (path: string | undefined) =>
    path === undefined ? undefined : openOutput(path, inputs);
  const [htmlPage, cases, markdown] = [await open(html), await open(junit), await open(summary)];
  const gate = githubSummary ? await import('../gate.js') : undefined;
  const github = await gate?.stepSummaryFile();
  return async (lines, signal) => {
    if (htmlPage) {
      const { batchPage } = await import('../../report/html/plain-page.js');
      await htmlPage.write([batchPage(lines, commandLine('anyvmaf', ['batch', ...args]))], signal);
    }
    if (cases) {
      const { writeBatchJunit } = await import('../../report/junit.js');
      await cases.write(writeBatchJunit(sources.join(' '), lines), signal);
    }
    if (!markdown && !gate) return;
    const { writeBatchSummary } = await import('../../report/step-summary.js');
    const pieces = [...writeBatchSummary(lines)];
    await markdown?.write(pieces, signal);
    if (github !== undefined) await gate?.appendSummary(github, pieces.join(''));
  };
}

interface BatchWork {
  readonly jobs: readonly Job[];
  readonly settings: BatchSettings;
  readonly terminal: Terminal;
  /** Files that must not be overwritten. */
  readonly inputs: readonly string[];
  readonly signal: AbortSignal;
  readonly results: ResultsFile;
  readonly bar: ProgressBar | undefined;
}

type JobFailure = Pick<FailedEncode, 'code' | 'message'>;

/** Repeated lines that are named; further ones are only counted. */
const MOST_REPEATS = 10;

class BatchRun {
  readonly #work: BatchWork;
  readonly #results: ResultsFile;
  readonly #bar: ProgressBar | undefined;

  constructor(work: BatchWork) {
    this.#work = work;
    this.#results = work.results;
    this.#bar = work.bar;
  }

  /**
   * Scores the jobs that have no result yet.
   * @returns the line of each distinct job in table order, and how many were there before
   * @throws {AnyvmafError} `io` if results cannot be written; the signal's reason
   */
  async score(): Promise<{ readonly lines: readonly ResultLine[]; readonly before: number }> {
    const { jobs, terminal, signal } = this.#work;
    this.#bar?.say(`checking the files of ${jobs.length} jobs`);
    const ids = new Map<string, OpenJob>();
    let repeats = 0;
    for (const job of jobs) {
      signal.throwIfAborted();
      const id = await jobId(job, signal);
      const earlier = ids.get(id);
      if (!earlier) ids.set(id, { job, id });
      else if (++repeats <= MOST_REPEATS)
        terminal.complain(`line ${job.line} repeats line ${earlier.job.line}; it is scored once`);
    }
    if (repeats > MOST_REPEATS)
      terminal.complain(`${repeats - MOST_REPEATS} more lines repeat earlier ones; each job is scored once`);
    const open = [...ids.values()].filter(({ id }) => !this.#results.get(id));
    try {
      const fit: OpenJob[] = [];
      for (const one of open) {
        const error = await onceOnly(one.job);
        if (error) this.#say(one, await this.#addFailure(one, error), error.message);
        else fit.push(one);
      }
      await this.#scoreOpen(fit);
    } finally {
      this.#bar?.clear();
    }
    const lines = [...ids.keys()].map((id) => this.#results.get(id)).filter((line) => line !== undefined);
    return { lines, before: ids.size - open.length };
  }

  async #scoreOpen(open: readonly OpenJob[]): Promise<void> {
    const { settings, signal } = this.#work;
    const bar = this.#bar;
    if (open.length === 0) return;
    const before = this.#work.jobs.length - open.length;
    if (settings.queue !== undefined) {
      await this.#followOpen(settings.queue, open);
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
      this.#say(done, added, result.error ? messageInFlags(result.error) : 'failed');
    }
  }

  /** Follows the jobs that queue workers score, and adds their lines. */
  async #followOpen(address: string, open: readonly OpenJob[]): Promise<void> {
    const { settings, terminal, signal } = this.#work;
    const bar = this.#bar;
    const { followBatch } = await import('../batch/queued.js');
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
        this.#say(done, added, failure?.message ?? '');
      }
    } finally {
      if (signal.aborted) {
        bar?.clear();
        terminal.complain('the jobs stay in the queue; run the command again to follow them');
      }
    }
  }

  #say({ job }: OpenJob, added: ResultLine, failure: string): void {
    if (!added.failed && !added.below) return;
    this.#bar?.clear();
    const said = added.failed ? `: ${failure}` : ' is below its limit or cannot be trusted';
    this.#work.terminal.complain(`line ${job.line}, ${withoutAccess(job.settings.distorted[0])}${said}`);
  }

  async #addFailure({ job, id }: OpenJob, { code, message }: JobFailure): Promise<ResultLine> {
    const { version } = await import('../../core/version.js');
    const facts = { id, line: job.line, args: job.args };
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
    const facts = { id, line: job.line, args: job.args };
    const complete = completeReport(report, job.settings.ignored);
    const { precision } = this.#work.settings;
    const gate = gateOf(complete, job.settings);
    const frames = await this.#writeFrames(id, complete);
    return this.#results.add(reportLine(facts, complete, { precision, gate, frames }));
  }

  /** Must precede the line that names the file: if killed in between, the next run replaces the file. */
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
