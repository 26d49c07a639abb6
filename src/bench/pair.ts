/**
 * @module bench/pair
 * Has a thread make a pair of videos: programs that are timed read files, and the caller's thread stays free.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { onAbort } from '../core/abort.js';
import { AnyvmafError } from '../core/errors.js';
import type { VideoFormat } from '../index.js';
import type { BenchShape } from './types.js';

/** What the thread is to make. */
export interface MakerJob {
  readonly format: VideoFormat;
  readonly frames: number;
  readonly seed: number;
  readonly paths: PairPaths;
}

/** Two Y4M files. */
export interface PairPaths {
  readonly reference: string;
  readonly distorted: string;
}

/** The content is the same on every machine. */
const SEED = 7;

/**
 * Makes both videos of a shape in `folder`.
 * @param onFrame called with the number of pairs that are there
 * @throws {AnyvmafError} `io` when they cannot be written; the signal's reason
 */
export async function makePair(
  { name, width, height, frames }: BenchShape,
  folder: string,
  { signal, onFrame }: { readonly signal?: AbortSignal; readonly onFrame?: (made: number) => void },
): Promise<PairPaths> {
  signal?.throwIfAborted();
  const paths = {
    reference: join(folder, `${name}-reference.y4m`),
    distorted: join(folder, `${name}-distorted.y4m`),
  };
  const format: VideoFormat = { width, height, bitDepth: 8, chroma: '420' };
  const job: MakerJob = { format, frames, seed: SEED, paths };
  // Flags of the process, such as --import of a test runner, are not meant for it.
  const worker = new Worker(new URL('./pair-maker.js', import.meta.url), { workerData: job, execArgv: [] });
  const forget = onAbort(signal, () => void worker.terminate());
  try {
    let failure: Error | undefined;
    await new Promise<void>((resolve) => {
      worker.on('message', (made: number) => onFrame?.(made));
      worker.on('error', (error) => {
        failure = error;
      });
      worker.on('exit', () => resolve());
    });
    signal?.throwIfAborted();
    if (failure) {
      throw new AnyvmafError(
        'io',
        `The videos of the benchmark cannot be made in ${folder}: ${failure.message}.`,
        {
          cause: failure,
        },
      );
    }
    return paths;
  } finally {
    forget();
  }
}
