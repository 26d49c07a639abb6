/**
 * @module cli/commands/batch
 * `anyvmaf batch TABLE -o RESULTS`: scores a table of pairs, and resumes an interrupted run.
 */
import { usageError } from '../../core/errors.js';
import { counted, quoted } from '../../core/printable.js';
import { besideList, readText } from '../../files/text-file.js';
import { openResults, scoreJobs } from '../batch/results.js';
import {
  type BatchSettings,
  encodeLines,
  type Job,
  jobsOf,
  LINE_OPTIONS,
  OWN_OPTIONS,
  tableLines,
} from '../batch/table.js';
import { command, type HelpText, openProgressBar } from '../command.js';
import { EXIT, interruptible } from '../exit.js';
import { appendSummary, stepSummaryFile } from '../gate.js';
import { commandLine, type Option } from '../options.js';
import { openOutput } from '../output.js';
import type { Terminal } from '../terminal.js';

const NAME = 'anyvmaf batch';

/** Scoring options for every job: collected here, parsed with each job. */
const OF_JOBS = LINE_OPTIONS.filter(({ name }) => !OWN_OPTIONS.some((own) => own.name === name)).map(
  (option): Option<BatchSettings> => ({
    ...option,
    read: ({ name, value }, { common = [] }) => ({
      common: [...common, option.argument === undefined ? { name } : { name, value }],
    }),
  }),
);

export const BATCH_OPTIONS: readonly Option<BatchSettings>[] = [...OWN_OPTIONS, ...OF_JOBS];

const page: HelpText = {
  usage: ['anyvmaf batch [options] TABLE -o RESULTS', 'anyvmaf batch [options] ENCODES... -r RULE'],
  about:
    'Scores many pairs. A table is CSV with the columns reference and distorted, or JSON lines with these keys; every other ' +
    'column is a scoring option, by its name. Pairs of one reference share its decoding. Each result is appended ' +
    'to the file as soon as it is there; run the command again to resume. A pair that fails becomes a line ' +
    'with its error.',
  sections: {
    Examples: [
      ['anyvmaf batch jobs.csv -o results.jsonl', 'score a table'],
      ['anyvmaf batch jobs.jsonl -o r.jsonl --frames', 'keep values per frame'],
      ["anyvmaf batch out/ -r 'in/{stem}.mov' -o r.jsonl", 'a folder of encodes'],
      ['anyvmaf batch jobs.csv -o r.jsonl --fail-under 93', 'gate all pairs'],
    ],
    'Exit codes': [
      [`${EXIT.ok}`, 'all jobs passed'],
      [`${EXIT.failed}`, 'a job failed'],
      [`${EXIT.below}`, 'none failed, but with --fail-under a score is below its limit or cannot be trusted'],
    ],
  },
};

export const batch = command(NAME, BATCH_OPTIONS, page, async ({ settings, positionals, args, terminal }) =>
  run(batchSettings(settings, positionals), args, terminal),
);

/** @throws {AnyvmafError} `usage` */
export function batchSettings(
  draft: Partial<BatchSettings>,
  [first, ...others]: readonly string[],
): BatchSettings {
  if (first === undefined)
    throw usageError(`no jobs given; try '${NAME} jobs.csv -o results.jsonl' or '${NAME} --help'`);
  if (draft.output === undefined || draft.output === '-')
    throw usageError('a batch needs a results file, also used to resume; name one: -o results.jsonl');
  const isTable = others.length === 0 && /\.(csv|jsonl|ndjson)$/i.test(first);
  if (isTable && (draft.reference !== undefined || draft.match))
    throw usageError(
      '--reference and --match are for encodes, but a table names its references; leave them out',
    );
  if (!isTable && draft.reference === undefined)
    throw usageError(
      `${first} is not a table (.csv, .jsonl), and encodes need a rule for their reference: --reference ` +
        "'masters/{stem}.mov'",
    );
  refuseSharedFiles(draft);
  refuseWithoutQueue(draft);
  return {
    common: [],
    frames: false,
    githubSummary: false,
    retryFailed: false,
    precision: 'legacy',
    quiet: false,
    ...draft,
    sources: [first, ...others],
    output: draft.output,
  };
}

function refuseSharedFiles({ output, html, junit, summary }: Partial<BatchSettings>): void {
  const names = [output, html, junit, summary].filter((name) => name !== undefined);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw usageError(`two outputs of the batch are both ${quoted(twice)}; give each its own file`);
}

/** @throws {AnyvmafError} `usage` for queue options without `--queue`, or `--together` with it */
function refuseWithoutQueue(draft: Partial<BatchSettings>): void {
  const { queue, results, partLength, priority, attempts, together } = draft;
  if (queue !== undefined && together !== undefined)
    throw usageError('--together does not apply to --queue, whose workers score the pairs; leave it out');
  if (queue !== undefined) return;
  const named = Object.entries({
    '--results': results,
    '--part-length': partLength,
    '--priority': priority,
    '--attempts': attempts,
  });
  const alone = named.find(([, value]) => value !== undefined)?.[0];
  if (alone !== undefined) throw usageError(`${alone} requires --queue; add it, or leave out ${alone}`);
}

async function run(settings: BatchSettings, args: readonly string[], terminal: Terminal): Promise<number> {
  const jobs = await readJobs(settings);
  const videos = jobs.flatMap((job) => [job.settings.reference ?? '', ...job.settings.distorted]);
  const inputs = [...new Set([...settings.sources, ...videos])];
  const summarize = await openSummaries(settings, inputs, args);
  return interruptible(async (stop) => {
    const results = await openResults(settings.output, inputs, settings.retryFailed);
    const bar = openProgressBar(terminal, settings.quiet);
    try {
      const work = { jobs, settings, terminal, inputs, signal: stop.signal, results, bar };
      const { lines, before } = await scoreJobs(work);
      await summarize(
        lines.map(({ text }) => text),
        stop.signal,
      );
      stop.release();
      const failed = lines.filter((line) => line.failed).length;
      const below = lines.filter((line) => line.below).length;
      if (!settings.quiet) {
        const earlier = before > 0 ? `, ${before} from earlier runs` : '';
        const untrusted = lines.filter((line) => line.untrusted && !line.below).length;
        const wrong = untrusted > 0 ? `, ${untrusted} scored but untrusted` : '';
        const low = below > 0 ? `, ${below} below the limit or untrusted` : '';
        const count = counted(lines.length, 'job');
        await terminal.print(`${settings.output}: ${count}${earlier}; ${failed} failed${low}${wrong}\n`);
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
  const lines = tableLines(await readText(table), table);
  return jobsOf(lines, common, table, besideList(table));
}

/**
 * Opens the summary files before anything is scored.
 * @param args command line shown on the page
 * @returns writes them; takes the lines of results in table order
 * @throws {AnyvmafError} `io`, `usage`
 */
async function openSummaries(
  { html, junit, summary, githubSummary, sources }: BatchSettings,
  inputs: readonly string[],
  args: readonly string[],
): Promise<(lines: readonly string[], signal: AbortSignal) => Promise<void>> {
  const open = async (path: string | undefined) =>
    path === undefined ? undefined : openOutput(path, inputs);
  const [htmlPage, cases, markdown] = [await open(html), await open(junit), await open(summary)];
  const github = githubSummary ? await stepSummaryFile() : undefined;
  return async (lines, signal) => {
    if (htmlPage) {
      const { batchPage } = await import('../../report/html/markup.js');
      await htmlPage.write([batchPage(lines, commandLine('anyvmaf', ['batch', ...args]))], signal);
    }
    if (cases) {
      const { writeBatchJunit } = await import('../../report/ci.js');
      await cases.write(writeBatchJunit(sources.join(' '), lines), signal);
    }
    if (!markdown && github === undefined) return;
    const { writeBatchSummary } = await import('../../report/ci.js');
    const pieces = [...writeBatchSummary(lines)];
    await markdown?.write(pieces, signal);
    if (github !== undefined) await appendSummary(github, pieces.join(''));
  };
}
