/**
 * @module mcp/pictures/take
 * Extracts frames of videos in a worker thread, one after another.
 */
import { Worker } from 'node:worker_threads';
import { onAbort } from '../../core/abort.js';
import { AnyvmafError } from '../../core/errors.js';
import type { FromPictureThread, PictureJob, TakenPair, ToPictureThread } from './protocol.js';

/** The thread's script in the built package. */
const SCRIPT = new URL('./picture-worker.js', import.meta.url);

/** Milliseconds that the thread gets to stop decoding before it is terminated. */
const GRACE = 150;

/**
 * Extracts frames; `onPair` gets each as soon as it is ready, in ascending order.
 * @param script another place of the thread's script
 * @throws {AnyvmafError} as the public `extractFrames`; the signal's reason when it aborts, once the thread is gone
 */
export async function takePairs(
  job: PictureJob,
  signal: AbortSignal,
  onPair: (pair: TakenPair) => Promise<void> | void,
  script: URL = SCRIPT,
): Promise<void> {
  signal.throwIfAborted();
  // Do not inherit flags of the process, such as --import of a test runner.
  const worker = new Worker(script, { name: 'anyvmaf-pictures', execArgv: [] });
  const post = (message: ToPictureThread): void => worker.postMessage(message);
  let timer: NodeJS.Timeout | undefined;
  let forget = () => {};
  const stop = () => {
    post({ kind: 'stop' });
    timer = setTimeout(() => void worker.terminate(), GRACE);
  };
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  try {
    await new Promise<void>((resolve, reject) => {
      let last: Promise<void> = Promise.resolve();
      let ended = false;
      worker.on('message', (message: FromPictureThread) => {
        switch (message.kind) {
          case 'loaded':
            return post({ kind: 'job', job });
          case 'taken':
            last = last.then(() => onPair(message.pair));
            last.catch(reject);
            return;
          case 'done':
            ended = true;
            return last.then(resolve, reject);
          case 'failed':
            ended = true;
            return reject(new AnyvmafError(message.code, message.message, message));
        }
      });
      worker.once('error', (error) => reject(new AnyvmafError('internal', died(error.message))));
      worker.once('exit', (code) => {
        // The last message and the exit may arrive together.
        if (!ended) reject(new AnyvmafError('internal', died(`it ended with code ${code}`)));
      });
      // The signal may have aborted while the thread started.
      forget = onAbort(signal, stop);
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    forget();
    if (!signal.aborted) timer ??= setTimeout(() => void worker.terminate(), GRACE);
    await gone;
    clearTimeout(timer);
  }
}

function died(how: string): string {
  return `The thread that takes pictures stopped: ${how}; call again.`;
}
