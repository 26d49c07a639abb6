/**
 * @module cli/queue/scoring-child
 * Scores for a queue worker, in a process without a connection to the queue, which ends with its worker.
 */
import { TimeLimitError } from '../../core/abort.js';
import { AnyvmafError, messageOf } from '../../core/errors.js';
import { isUrl } from '../../core/names.js';
import { quotientOf, USUAL_RATE } from '../../core/numbers.js';
import { NotAllowedError } from '../../files/allowed-paths.js';
import type { Shard } from '../../index.js';
import { MOST_PARTS, type PartLength, type QueueJob, type Stored } from '../../queue/job.js';
import { LostFile, ResultsFolder } from '../../queue/results-folder.js';
import type { ScoredPair } from '../../queue/run-task.js';
import type {
  FromScoring,
  ScoringResult,
  ScoringRules,
  ScoringWork,
  ToScoring,
} from '../../queue/scoring-process.js';
import { reportLine } from '../../report/batch.js';
import type { Report } from '../../report/schema.js';
import { parsePrecision } from '../../report/write.js';
import { endNow, messageInFlags } from '../exit.js';
import { gateOf } from '../gate.js';
import { type QueuedRun, queuedRun, submittedReport } from './queue-run.js';

/** So many parts that the first has no pairs; measuring it counts the pairs. */
const PROBE = { number: 1, count: 100_000 };
/** Containers with times scattered between the pictures: each part of a URL would transfer the whole file. */
const SCATTERED = /\.(?:mkv|webm|ts|m2ts|mts)$/i;
/** Containers of which a part can be read without the rest. */
const INDEXED = /^(?:y4m|yuv|mov|mp4)/;
let folder: Promise<ResultsFolder> | undefined;
let running: AbortController | undefined;

function send(message: FromScoring): void {
  // The worker may be gone; then this process ends soon.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

type Call = Pick<QueuedRun['options'], 'signal' | 'onProgress'>;
type Run = QueuedRun & { readonly results: ResultsFolder };

async function run(work: ScoringWork, rules: ScoringRules): Promise<void> {
  running = new AbortController();
  const call: Call = {
    signal: running.signal,
    onProgress: ({ framesDone }) => send({ kind: 'progress', frames: framesDone }),
  };
  try {
    send({ kind: 'done', result: await resultOf(work, rules, call) });
  } catch (error) {
    const known = error instanceof AnyvmafError ? error : undefined;
    const message = known ? messageInFlags(known) : messageOf(error);
    const final = error instanceof TimeLimitError || error instanceof NotAllowedError;
    send({ kind: 'failed', code: known?.code ?? 'internal', message, final });
  } finally {
    running = undefined;
  }
}

async function resultOf(work: ScoringWork, rules: ScoringRules, call: Call): Promise<ScoringResult> {
  folder ??= ResultsFolder.open(rules.results, rules.hosts).catch((error) => {
    // The next task tries again.
    folder = undefined;
    throw error;
  });
  const results = await folder;
  const found = await queuedRun(work.job, rules);
  const { threads } = found.options;
  const share =
    threads === undefined ? { maxThreads: rules.threads } : { threads: Math.min(threads, rules.threads) };
  const queued = { ...found, results, options: { ...found.options, ...share, ...call } };
  switch (work.kind) {
    case 'pair':
      return pair(work.job, queued);
    case 'part': {
      const { scoreShard, formatShard } = await import('../../index.js');
      const { number, count } = work;
      const text = await formatShard(await scoreShard(queued.request, { number, count }, queued.options));
      return results.keep(work.job.key, `part-${number}-${count}`, text);
    }
    case 'merge':
      return merge(work.job, queued, work.parts);
  }
}

async function pair(job: QueueJob, queued: Run): Promise<ScoringResult> {
  const { request, options, results } = queued;
  const { score } = await import('../../index.js');
  // Parts are too large for Redis.
  const count = results.path === undefined ? 1 : await partsOf(job.part, request, options);
  if (count > 1) return { count };
  return store(job, queued, await score(request, options));
}

/** Number of parts to split a pair into; 1 if it is short or cannot be split. */
async function partsOf(
  { unit, length }: PartLength,
  request: QueuedRun['request'],
  options: QueuedRun['options'],
): Promise<number> {
  const { reference = '', distorted } = request;
  const remote = [reference, distorted].filter(isUrl);
  if (remote.some((url) => SCATTERED.test(new URL(url).pathname))) return 1;
  const { scoreShard } = await import('../../index.js');
  let probe: Shard;
  try {
    probe = await scoreShard(request, PROBE, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    // Scoring in one piece reports the error, or works.
    if (error instanceof AnyvmafError) return 1;
    throw error;
  }
  if (isUrl(distorted) && !INDEXED.test(probe.distorted.container)) return 1;
  if (isUrl(reference) && !INDEXED.test(probe.reference.container)) return 1;
  const rate = quotientOf(probe.distorted.frameRate) ?? USUAL_RATE;
  const frames = unit === 'frames' ? length : Math.max(1, length * rate);
  return Math.min(MOST_PARTS, Math.ceil(probe.pairs.total / frames));
}

async function merge(
  job: QueueJob,
  queued: Run,
  parts: readonly (readonly [number: number, part: Stored])[],
): Promise<ScoringResult> {
  const { options, results } = queued;
  const { mergeShards, readShard } = await import('../../index.js');
  const shards: Shard[] = [];
  const lost: number[] = [];
  for (const [number, part] of parts) {
    options.signal?.throwIfAborted();
    try {
      shards.push(await readShard(await results.read(job.key, part), `part ${number}`));
    } catch (error) {
      if (!(error instanceof LostFile)) throw error;
      lost.push(number);
    }
  }
  if (lost.length > 0) return { lost };
  const { origin, signal } = options;
  const report = await mergeShards(shards, { origin, ...(signal && { signal }) });
  return store(job, queued, report);
}

async function store(job: QueueJob, { settings, results }: Run, scored: Report): Promise<ScoredPair> {
  const report = submittedReport(scored, settings);
  const { frames: path, id, line, args } = job;
  const text = reportLine({ id, line, args }, report, {
    precision: parsePrecision(job.precision),
    gate: gateOf(report, settings),
    frames: path,
  });
  let frames: Stored | undefined;
  if (path !== undefined) {
    const { formatFrames } = await import('../../index.js');
    const bytes = await formatFrames(report);
    frames = await results.keep(job.key, 'frames', Buffer.from(bytes).toString('base64'));
  }
  return { line: await results.keep(job.key, 'line', text), ...(frames && { frames }) };
}

// The terminal sends Ctrl-C to all processes; the worker decides.
process.on('SIGINT', () => {}).on('SIGTERM', () => {});
process.on('disconnect', () => endNow('SIGTERM', 0));
process.on('message', (message: ToScoring) => {
  if (message.kind === 'work') {
    run(message.work, message.rules).catch(() => process.exit(70));
    return;
  }
  // The running call ends its processes and files first.
  running?.abort(new AnyvmafError('aborted', 'stopped'));
  const end = () => (running ? setTimeout(end, 20) : endNow('SIGTERM', 0));
  end();
});
