/**
 * @module engine/workers/run
 * Measures all pairs of a run, on workers or in the calling thread, with the same records.
 */
import { unlessAborted } from '../../core/abort.js';
import { backendError } from '../../core/errors.js';
import type { PairSources } from '../../media/pairing/prepare.js';
import { withReads } from '../../media/sources.js';
import type { FrameSource } from '../../media/types.js';
import type { GpuUse } from '../backends/composite.js';
import type { ExtractionPlan } from '../backends/measurer.js';
import type { Chunk, Platform, WorkerSetup } from '../contract/platform.js';
import type { Steering } from '../live/steering.js';
import { describePair, type ExpectedPairs, type Extent, readPair } from '../pair/pair.js';
import { chooseThreads, cutChunks, mayWait, usefulThreads } from '../plan/plan.js';
import { BackendProbe, dispatch, Feeder, feederChunk, type RecordSink } from './dispatch.js';
import { type Measuring, openMeasuring } from './measure.js';
import { WorkerPool } from './worker-pool.js';

export interface Run extends ExpectedPairs {
  readonly platform: Platform;
  readonly setup: WorkerSetup;
  readonly pair: PairSources;
  /** First pair to measure; metrics may look back further. */
  readonly first: number;
  readonly chunkFrames: number | undefined;
  readonly sink: RecordSink;
  readonly signal: AbortSignal | undefined;
  /** Called before pairs are read; see `ScoreOptions`. */
  readonly gate: (() => Promise<void> | undefined) | undefined;
  readonly steered?: Pick<Steering, 'gate' | 'stopped' | 'stopping'>;
}

/** The pair, whose reads in this thread end with a stop, even if a video never delivers its next frame. */
function stoppable({ pair, steered }: Run): PairSources {
  if (!steered) return pair;
  const { stopping } = steered;
  const wrap = (source: FrameSource) =>
    withReads(source, (read) => {
      const found = read();
      if (!(found instanceof Promise)) return found;
      return unlessAborted(stopping, found).catch((error) => {
        if (stopping.aborted) return false;
        throw error;
      });
    });
  const reference = wrap(pair.reference);
  // Readers compare identities to detect one source that serves as both.
  const distorted = pair.distorted === pair.reference ? reference : wrap(pair.distorted);
  return { ...pair, reference, distorted };
}

/** Waits for the caller's gate, then for the end of a pause. */
function hold({ gate, steered }: Run): Promise<void> | undefined {
  const wait = gate?.();
  return wait ? wait.then(() => steered?.gate()) : steered?.gate();
}

/** Pairs per chunk in the calling thread; those of a chunk are scored together. */
const LOCAL_CHUNK = 16;
/** Milliseconds after which the calling thread yields. */
const LOCAL_SLICE = 15;

/** Resources of a run, to close on abort and to report. */
export interface Started {
  pool?: WorkerPool;
  /** In the calling thread. */
  here?: Measuring | null;
  /** Decides between GPU and core if a GPU is only `tried`. */
  probe?: BackendProbe;
}

/** Opens what measures in the calling thread. */
export async function openHere(platform: Platform, setup: WorkerSetup): Promise<Measuring | null> {
  return openMeasuring(setup, {
    runtimes: async () => (await platform.tiny()).runtimes,
    openGpu: async () => {
      if (platform.gpu) return platform.gpu.open();
      throw backendError('A GPU cannot be used here', { hints: ['use the backend cpu'] });
    },
    heatmaps: platform.heatmaps,
  });
}

/** Measures in the calling thread, yielding between frames. */
export async function measureHere(run: Run, use: GpuUse | undefined, started: Started): Promise<Extent> {
  const { platform, setup, sink, signal, steered } = run;
  const pair = stoppable(run);
  const here = await openHere(platform, { ...setup, ...(use && { gpu: use }) });
  if (!here) throw new Error('a GPU was only tried');
  started.here = here;
  try {
    let rested = performance.now();
    const measured = () => {
      sink.measured(1);
      signal?.throwIfAborted();
      const wait = hold(run);
      return wait || performance.now() - rested >= LOCAL_SLICE ? rest(wait) : undefined;
    };
    const rest = async (wait: Promise<void> | undefined) => {
      await wait;
      await platform.breathe();
      signal?.throwIfAborted();
      rested = performance.now();
    };
    let pairs = run.first;
    await hold(run);
    // A stream may wait for its next frame: score each at once. A GPU measures several.
    const alone = !use && !(pair.reference.seekable && pair.distorted.seekable);
    for (const chunk of cutChunks(run.bound, 1, run.chunkFrames ?? (alone ? 1 : LOCAL_CHUNK), run.first)) {
      const { count, records, ended } = await here.chunks.measure(pair, chunk, measured);
      sink.add(chunk.first, count, records);
      pairs += count;
      if (steered?.stopped) break;
      if (ended) return { pairs, ended };
    }
    return { pairs, ended: null };
  } finally {
    await here.close();
  }
}

/** Pairs per chunk beside a GPU, which must not wait for a worker's long chunk at the end. */
const BESIDE_A_GPU = 4;
/** Most workers with GPUs; each has its own device and frames. */
const MOST_GPU_WORKERS = 4;

/** `threads`: workers with the core; if a GPU is `required`, workers for calls that it does not support. */
interface WorkerChoice {
  readonly threads: number;
  /** Absent: all workers have the core. */
  readonly gpu?: GpuUse;
}

/** Measures on workers, which read themselves if they can; starts only those that get a chunk. */
export async function measureOnWorkers(run: Run, choice: WorkerChoice, started: Started): Promise<Extent> {
  const { pair, first, bound, chunkFrames, sink, gate, steered } = run;
  const descriptor = describePair(pair);
  const pool = new WorkerPool();
  started.pool = pool;
  const described = { ...run, setup: { ...run.setup, pair: descriptor } };
  await startWorkers(pool, described, choice, started);
  const workers = pool.size;
  // With a gate, queue no chunks ahead.
  const dispatching = {
    first,
    total: bound,
    gate: () => hold(run),
    ...(!gate && { ahead: (chunk: Chunk) => mayWait(chunk, bound, workers) }),
    stopped: () => steered?.stopped === true,
  };
  const usual = choice.gpu === 'shared' ? BESIDE_A_GPU : undefined;
  const chunks = cutChunks(bound, workers, chunkFrames ?? usual, first);
  const extent = await pool.unlessFailed(
    descriptor ? dispatch(pool, chunks, sink, dispatching) : feed(pool, run),
  );
  await pool.stop();
  return extent;
}

/** Starts the workers of a run, and waits for a requested GPU. */
async function startWorkers(pool: WorkerPool, run: Run, { threads, gpu }: WorkerChoice, started: Started) {
  const { platform, setup, chunkFrames } = run;
  const expected = run.expected === null ? null : run.expected - run.first;
  const longest = setup.pair ? chunkFrames : feederChunk(chunkFrames);
  const start = (size: number, use?: GpuUse) =>
    pool.start(() => platform.startWorker(), size, use ? { ...setup, gpu: use } : setup);
  if (gpu) start(1, gpu);
  if (gpu !== 'required') start(usefulThreads(threads, expected, longest));
  if (gpu === 'tried') started.probe = new BackendProbe(pool);
  if (gpu === undefined || gpu === 'tried') return;
  await pool.until(() => ![...pool.gpus.values()].includes(null));
  if (gpu !== 'required') return;
  const busy = chooseThreads(threads, leftToCore(pool, setup.plan), expected);
  const most = Math.min(threads, MOST_GPU_WORKERS, busy);
  start(usefulThreads(most, expected, longest) - 1, gpu);
}

/** The part of a plan that the pool's GPU does not support. */
function leftToCore(pool: WorkerPool, plan: ExtractionPlan): ExtractionPlan {
  const [state] = pool.gpus.values();
  return { ...plan, calls: plan.calls.filter((_, number) => !state?.calls.includes(number)) };
}

/** Reads in the calling thread and sends frames to workers. */
async function feed(pool: WorkerPool, run: Run): Promise<Extent> {
  const { setup, first, bound, chunkFrames, sink, steered } = run;
  const pair = stoppable(run);
  const feeder = new Feeder(pool, setup.plan, sink, { chunkFrames, first });
  let ended: Extent['ended'] = null;
  for (let index = feeder.begins; index < first && !ended; index++) {
    const { reference, distorted } = feeder.leadIn(index);
    ended = await readPair(pair, index, reference, distorted);
    if (!ended) feeder.keep();
  }
  for (let index = first; !ended && (bound === null || index < bound); index++) {
    await hold(run);
    if (steered?.stopped) break;
    const room = await feeder.room();
    ended = await readPair(pair, index, room.reference, room.distorted);
    if (ended) break;
    feeder.submit();
  }
  return { pairs: await feeder.finish(), ended: steered?.stopped ? null : ended };
}
