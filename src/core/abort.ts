/**
 * @module core/abort
 * Reacts to an AbortSignal: calls a function when it aborts, stops waiting for a promise, or adds a limit of time.
 */
import { AnyvmafError, type AnyvmafErrorOptions } from './errors.js';

/**
 * Calls `stop` with the signal's reason once it aborts; at once if it has aborted already.
 * @returns removes the listener
 */
export function onAbort(signal: AbortSignal | undefined, stop: (reason: unknown) => void): () => void {
  if (!signal) return () => {};
  const listener = () => stop(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Resolves as `work` does, unless `signal` aborts first: then rejects with its reason, and the result of `work` is dropped. */
export function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject);
    work.then(resolve, reject).finally(forget);
  });
}

/** Work took longer than it may. */
export class TimeLimitError extends AnyvmafError {
  constructor(message: string, options?: AnyvmafErrorOptions) {
    super('resource', message, options);
  }
}

/** Milliseconds that work gets to stop after its limit, before it is no longer waited for. */
const GRACE = 1500;

/**
 * Does work that may take so long. At the limit its signal aborts; work that does not stop then is no longer waited for.
 * @param seconds above 0
 * @throws {TimeLimitError} `late` at the limit; otherwise what `work` throws, such as the reason of `signal`
 */
export async function withinSeconds<T>(
  seconds: number,
  late: TimeLimitError,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const forget = onAbort(signal, (reason) => own.abort(reason));
  let isLate = false;
  const timers: ReturnType<typeof setTimeout>[] = [];
  const limit = new Promise<never>((_, reject) => {
    const stop = () => {
      isLate = true;
      own.abort(late);
      timers.push(setTimeout(reject, GRACE, late));
    };
    // Longer than timers can wait is no limit.
    if (seconds * 1000 < 2 ** 31) timers.push(setTimeout(stop, seconds * 1000));
  });
  try {
    return await Promise.race([work(own.signal), limit]);
  } catch (error) {
    throw isLate ? late : error;
  } finally {
    forget();
    for (const timer of timers) clearTimeout(timer);
  }
}
