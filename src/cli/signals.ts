/**
 * @module cli/signals
 * Turns SIGINT and SIGTERM into an AbortSignal; a run that does not end in time is killed. `process.exit` waits for
 * threads, and native ones, such as a runtime of models, cannot be stopped: then the process ends by the signal itself.
 */
import type { Worker } from 'node:worker_threads';
import { EXIT, Interrupted } from './exit.js';

/** Milliseconds that threads get to end. */
const GRACE = 400;

/** Threads of this process, including those of libraries. */
const threads = new Set<Worker>();

process.on('worker', (worker) => {
  threads.add(worker);
  worker.once('exit', () => threads.delete(worker));
});

/** Ends the process with a code; after an interruption, even if threads do not end. */
export async function endProcess(code: number): Promise<never> {
  const signal = code === EXIT.interrupted ? 'SIGINT' : code === EXIT.terminated ? 'SIGTERM' : undefined;
  if (signal !== undefined) {
    const late = new Promise<void>((resolve) => setTimeout(resolve, GRACE));
    await Promise.race([Promise.all([...threads].map((thread) => thread.terminate())), late]);
    endNow(signal, code);
  }
  return process.exit(code);
}

/** Ends the process at once: with the code if no thread runs, otherwise by the signal, which means the same. */
export function endNow(signal: NodeJS.Signals, code: number): void {
  if (threads.size === 0) process.exit(code);
  // Run the cleanup of exit listeners now.
  process.emit('exit', code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Milliseconds that a run gets to stop after a signal, before the process is ended. */
const PATIENCE = 1500;

export interface Interruption {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Restores the usual effect of both signals. */
  release(): void;
}

/**
 * Listens for SIGINT and SIGTERM: the first one aborts; a second one, or a timeout, ends the process. Signals reach a
 * thread only between two tasks: work that may block it for long belongs elsewhere, see parsing/parser.
 * @param patience milliseconds until the process is ended
 */
export function interruption(patience = PATIENCE): Interruption {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = (name: NodeJS.Signals) => {
    const reason = new Interrupted(name === 'SIGTERM' ? 'SIGTERM' : 'SIGINT');
    const end = () => endNow(name, reason.exitCode);
    if (controller.signal.aborted) return end();
    controller.abort(reason);
    timer = setTimeout(() => {
      // The command can no longer report it.
      process.stderr.write(`anyvmaf: ${reason.message}\n`);
      end();
    }, patience);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      clearTimeout(timer);
      process.off('SIGINT', stop).off('SIGTERM', stop);
    },
  };
}

export async function interruptible<T>(work: (stop: Interruption) => Promise<T>): Promise<T> {
  const stop = interruption();
  try {
    return await work(stop);
  } finally {
    stop.release();
  }
}
