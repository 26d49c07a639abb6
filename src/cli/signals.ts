/**
 * @module cli/signals
 * Turns Ctrl-C and a request to terminate into an AbortSignal, so that a run ends cleanly; one that does not end in time is killed.
 */
import { Interrupted } from './exit.js';
import { endNow } from './process-end.js';

/** Milliseconds that a run gets to stop after a signal, before the process is ended. */
const PATIENCE = 1500;

/** A run that the user can interrupt. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Ends the run for another reason. */
  abort(reason: unknown): void;
  /** Gives both signals their usual effect back. */
  release(): void;
}

/**
 * Listens for SIGINT and SIGTERM; the first one aborts, a second one ends the process at once, as does time. Signals
 * reach a thread only between two tasks: work that may keep it busy for long belongs elsewhere, see parsing/parser.
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
    timer = setTimeout(end, patience);
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

/** Does work that the user can interrupt. */
export async function interruptible<T>(work: (stop: Interruption) => Promise<T>): Promise<T> {
  const stop = interruption();
  try {
    return await work(stop);
  } finally {
    stop.release();
  }
}
