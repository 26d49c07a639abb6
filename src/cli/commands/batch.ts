/**
 * @module cli/commands/batch
 * `anyvmaf batch TABLE -o RESULTS`: scores a table of pairs, and goes on where an earlier run ended.
 */
import { dirname, isAbsolute, join } from 'node:path';
import { counted } from '../../core/printable.js';
import { BATCH_OPTIONS, type BatchSettings, batchSettings } from '../batch/batch-options.js';
import { BatchRun } from '../batch/run.js';
import { encodeLines, type Job, jobsOf, tableLines } from '../batch/table.js';
import type { Command, HelpPage } from '../command.js';
import { tableText } from '../csv.js';
import { EXIT } from '../exit.js';
import { commandLine } from '../options.js';
import { openOutput } from '../output.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';

const page: HelpPage = {
  usage: ['anyvmaf batch [options] TABLE -o RESULTS', 'anyvmaf batch [options] ENCODES... -r RULE'],
  about:
    'Scores many pairs. A table is CSV with the columns reference and distorted, or JSON lines with these keys; every other ' +
    'column is an option of scoring, by its name. Pairs of one reference share its decoding. Each result is added to the ' +
    'file as it ends; started again, a batch goes on with what is not in it. A pair that fails is a line with its error.',
  options: BATCH_OPTIONS,
  sections: [
    {
      title: 'Examples',
      rows: [
        ['anyvmaf batch jobs.csv -o results.jsonl', 'score a table'],
        ['anyvmaf batch jobs.jsonl -o r.jsonl --frames', 'and keep every frame'],
        ["anyvmaf batch out/ -r 'in/{stem}.mov' -o r.jsonl", 'a folder of encodes'],
        ['anyvmaf batch jobs.csv -o r.jsonl --fail-under 93', 'a gate for all pairs'],
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

/** Scoring of tables. */
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
    const run = await BatchRun.open({
      jobs,
      settings,
      terminal,
      inputs: [...new Set(inputs)],
      signal: stop.signal,
    });
    try {
      const { lines, before } = await run.score();
      await summarize(
        lines.map(({ text }) => text),
        stop.signal,
      );
      stop.release();
      const failed = lines.filter((line) => line.failed).length;
      const below = lines.filter((line) => line.below).length;
      if (!settings.quiet) {
        const known = before > 0 ? `, ${before} of them before` : '';
        const wrong = lines.filter((line) => line.untrusted && !line.below).length;
        const doubt = wrong > 0 ? `, ${wrong} scored but not to be trusted` : '';
        const low = below > 0 ? `, ${below} below the limit or not to be trusted` : '';
        await terminal.print(
          `${settings.output}: ${counted(lines.length, 'job')}${known}; ${failed} failed${low}${doubt}\n`,
        );
      }
      return failed > 0 ? EXIT.failed : below > 0 ? EXIT.below : EXIT.ok;
    } finally {
      await run.close();
    }
  });
}

/** @throws {AnyvmafError} `usage` for a line that cannot be understood; `io` for a table that cannot be read */
async function readJobs({ sources, common, reference, match }: BatchSettings): Promise<readonly Job[]> {
  const [table] = sources;
  if (reference !== undefined) {
    const lines = await encodeLines(sources, { reference, match });
    return jobsOf(lines, common, 'the list of encodes', (path) => path);
  }
  const text = await tableText(table, 'table');
  const folder = dirname(table);
  const isElsewhere = (path: string) => isAbsolute(path) || /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
  return jobsOf(tableLines(text, table), common, table, (path) =>
    isElsewhere(path) ? path : join(folder, path),
  );
}

/** Writes a page, JUnit XML and Markdown about all jobs, as asked for. @param lines of results, in the order of the table */
type WriteSummaries = (lines: readonly string[], signal: AbortSignal) => Promise<void>;

/**
 * Opens the files about all jobs, before anything is scored.
 * @param args of the batch, which the page repeats
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
