/**
 * @module core/abort
 * Helpers for promises and AbortSignal: call a function on abort, stop waiting for a promise, serialize calls, share work, add a
 * time limit.
 */
import { AnyvmafError, type AnyvmafErrorOptions } from './errors.js';

/** Calls `stop` with the reason on abort, at once if already aborted; returns a function that removes the listener. */
export function onAbort(signal: AbortSignal | undefined, stop: (reason: unknown) => void): () => void {
  if (!signal) return () => {};
  const listener = () => stop(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Settles as `work` does; if `signal` aborts first, rejects with its reason and drops the result of `work`. */
export function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject);
    work.then(resolve, reject).finally(forget);
  });
}

/** @returns a function that starts each call when all earlier ones have ended, failed or not */
export function serializeCalls(): <T>(call: () => T | Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (call) => {
    const result = last.then(call);
    last = result.catch(() => {});
    return result;
  };
}

interface SharedWork<T> {
  readonly work: Promise<T>;
  readonly stop: AbortController;
  waiting: number;
}

/** Results of work, or work in progress, by key. */
export type SharedWorks<T> = Map<string, SharedWork<T>>;

/**
 * Waits for work that all callers with one key share. When all of them have aborted, it is aborted and forgotten.
 * @param keeps whether later callers get the same error instead of starting the work again
 * @throws as `begin`; the signal's reason, at once if other callers wait, else after the work has ended
 */
export async function shareWork<T>(
  known: SharedWorks<T>,
  key: string,
  signal: AbortSignal | undefined,
  begin: (signal: AbortSignal) => Promise<T>,
  keeps: (error: unknown) => boolean = () => false,
): Promise<T> {
  const stop = new AbortController();
  const shared = known.get(key) ?? { work: begin(stop.signal), stop, waiting: 0 };
  const forget = () => {
    if (known.get(key) === shared) known.delete(key);
  };
  if (!known.has(key)) shared.work.catch((error) => keeps(error) || forget());
  known.set(key, shared);
  shared.waiting++;
  try {
    return await unlessAborted(signal, shared.work);
  } finally {
    shared.waiting--;
    if (signal?.aborted && shared.waiting === 0) {
      forget();
      shared.stop.abort(signal.reason);
      await shared.work.catch(() => {});
    }
  }
}

export class TimeLimitError extends AnyvmafError {
  constructor(message: string, options?: AnyvmafErrorOptions) {
    super('resource', message, options);
  }
}

/** Milliseconds between the abort at the limit and abandoning the work. */
const GRACE = 1500;

/**
 * Runs work with a time limit. Its signal aborts at the limit; 1.5 s later the work is abandoned.
 * @param seconds above 0
 * @throws {AnyvmafError} `late` at the limit; otherwise errors of `work`, such as the reason of `signal`
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
    // Timers cannot wait longer than 2^31 ms; then there is no limit.
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
