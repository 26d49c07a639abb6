/**
 * @module core/abort
 * Two ways to react to an AbortSignal: call a function when it aborts, or stop waiting for a promise.
 */

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
