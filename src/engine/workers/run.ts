/**
 * @module engine/workers/run
 * Measures all pairs of a run, on workers or in the calling thread. Records are the same either way.
 */

import { wasmMeasurers } from '../backends/core/extractor.js';
import type { Platform } from '../contract/platform.js';
import { describePair, type Extent, type OpenPair, readPair } from '../inputs/pair.js';
import { cutChunks, mayWait, usefulThreads } from '../plan/chunks.js';
import type { HeatmapWriter } from '../results/heatmaps.js';
import type { PictureScorers, TinySessionFacts } from '../results/tiny.js';
import { dispatch, type RecordSink } from './dispatch.js';
import { Feeder, feederChunk } from './feeder.js';
import { ChunkMeasurer } from './measure.js';
import type { Chunk, WorkerSetup } from './protocol.js';
import { WorkerPool } from './worker-pool.js';

/** What to measure and where to put it. */
export interface Run {
  readonly platform: Platform;
  readonly setup: WorkerSetup;
  readonly pair: OpenPair;
  /** Pairs there are at most, as far as is known. */
  readonly expected: number | null;
  /** Pairs after which to stop, `null` for the end of the videos. */
  readonly bound: number | null;
  readonly chunkFrames: number | undefined;
  readonly sink: RecordSink;
  readonly signal: AbortSignal | undefined;
  /** Asked before pairs are read; see `ScoreOptions`. */
  readonly gate: (() => Promise<void> | undefined) | undefined;
}

/** Pairs measured at a time in the calling thread; only the size of an array depends on it. */
const LOCAL_CHUNK = 16;
/** Milliseconds of measuring in the calling thread before it yields. */
const LOCAL_SLICE = 15;

/**
 * Measures in the calling thread, which yields between frames.
 * @param opened receives the facts of picture models' sessions, before the first frame and after the last
 */
export async function measureHere(
  run: Run,
  opened: (sessions: readonly TinySessionFacts[]) => void = () => {},
): Promise<Extent> {
  const { platform, setup, pair, sink, signal, gate } = run;
  const { module, implementation, plan, subsample } = setup;
  const measurer = wasmMeasurers(module, implementation).open(plan);
  let pictures: PictureScorers | undefined;
  let heatmaps: HeatmapWriter | undefined;
  try {
    heatmaps = setup.heatmaps && (await platform.heatmaps?.())?.open(setup.heatmaps);
    if (setup.pictures) {
      const { PictureScorers } = await import('../results/tiny.js');
      const runtimes = async () => (await platform.tiny()).runtimes;
      pictures = await PictureScorers.open(setup.pictures, runtimes, plan.format);
      opened(pictures.facts);
    }
    const chunks = new ChunkMeasurer(measurer, plan, pair, { subsample, pictures, heatmaps });
    let rested = performance.now();
    const measured = () => {
      sink.measured(1);
      signal?.throwIfAborted();
      const wait = gate?.();
      return wait || performance.now() - rested >= LOCAL_SLICE ? rest(wait) : undefined;
    };
    const rest = async (wait: Promise<void> | undefined) => {
      await wait;
      await platform.breathe();
      signal?.throwIfAborted();
      rested = performance.now();
    };
    let pairs = 0;
    await gate?.();
    for (const chunk of cutChunks(run.bound, 1, run.chunkFrames ?? LOCAL_CHUNK)) {
      const { count, records, ended } = await chunks.measure(chunk, measured);
      sink.add(chunk.first, count, records);
      pairs += count;
      if (ended) return { pairs, ended };
    }
    return { pairs, ended: null };
  } finally {
    if (pictures?.counts) opened(pictures.facts);
    measurer.close();
    heatmaps?.close();
    await pictures?.close();
  }
}

/**
 * Measures on workers, which read for themselves where they can.
 * @param threads asked for; no more are started than get a chunk
 * @param onPool receives the workers before they start, to terminate them when the run is aborted
 */
export async function measureOnWorkers(
  run: Run,
  threads: number,
  onPool: (pool: WorkerPool) => void,
): Promise<Extent> {
  const { platform, setup, pair, expected, bound, chunkFrames, sink, gate } = run;
  const descriptor = describePair(pair);
  const workers = usefulThreads(threads, expected, descriptor ? chunkFrames : feederChunk(chunkFrames));
  const pool = new WorkerPool();
  onPool(pool);
  pool.start(() => platform.startWorker(), workers, descriptor ? { ...setup, pair: descriptor } : setup);
  // What may be held up hands out no more than is measured.
  const dispatching = gate ? { gate } : { ahead: (chunk: Chunk) => mayWait(chunk, bound, workers) };
  const extent = await pool.unlessFailed(
    descriptor ? dispatch(pool, cutChunks(bound, workers, chunkFrames), sink, dispatching) : feed(pool, run),
  );
  await pool.stop();
  return extent;
}

/** Reads in the calling thread and hands the frames out. */
async function feed(pool: WorkerPool, { setup, pair, bound, chunkFrames, sink, gate }: Run): Promise<Extent> {
  const feeder = new Feeder(pool, setup.plan, sink, chunkFrames);
  let ended: Extent['ended'] = null;
  for (let index = 0; bound === null || index < bound; index++) {
    await gate?.();
    const { reference, distorted } = await feeder.room();
    ended = await readPair(pair, index, reference, distorted);
    if (ended) break;
    feeder.submit();
  }
  return { pairs: await feeder.finish(), ended };
}
