/**
 * @module cli/signals
 * Turns Ctrl-C and a request to terminate into an AbortSignal, so that a run ends cleanly.
 */
import { Interrupted } from './exit.js';

/** A run that the user can interrupt. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Ends the run for another reason. */
  abort(reason: unknown): void;
  /** Gives both signals their usual effect back. */
  release(): void;
}

/** Listens for SIGINT and SIGTERM; the first one aborts, a second one ends the process at once. */
export function interruption(): Interruption {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    const reason = new Interrupted(name === 'SIGTERM' ? 'SIGTERM' : 'SIGINT');
    if (controller.signal.aborted) process.exit(reason.exitCode);
    controller.abort(reason);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
    },
  };
}
