/**
 * @module engine/contract/scope
 * Owns everything that a run starts, and closes it in reverse order however the run ends; and limits its time.
 */
import { onAbort, TimeLimitError, withinSeconds } from '../../core/abort.js';
import type { ScoreOptions } from './types.js';

/** Use as `try { ... } finally { await scope.close(); }`. */
export class Scope {
  readonly #ending = new AbortController();
  readonly #closers: (() => unknown)[] = [];
  #closed = false;
  readonly #forget: () => void;

  /** @throws the reason of the caller's signal when it has aborted */
  constructor(caller: AbortSignal | undefined) {
    caller?.throwIfAborted();
    this.#forget = onAbort(caller, (reason) => this.#ending.abort(reason));
  }

  /** Aborts with the caller's signal, and when the scope closes. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Closes a resource with the scope, or at once if the scope is closed. */
  own(close: () => unknown): void {
    if (this.#closed) close();
    else this.#closers.push(close);
  }

  /** @throws the first error of closing, after closing everything else */
  async close(): Promise<void> {
    this.#closed = true;
    this.#forget();
    this.#ending.abort();
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * Does work within {@link ScoreOptions.maxSeconds}, if that is set; the work gets the options without it.
 * @throws {TimeLimitError} at the limit; otherwise what `work` throws
 */
export function withinLimit<Options extends Pick<ScoreOptions, 'maxSeconds' | 'signal'>, T>(
  options: Options,
  work: (options: Options) => Promise<T>,
): Promise<T> {
  const { maxSeconds, signal } = options;
  if (maxSeconds === undefined) return work(options);
  const late = new TimeLimitError(
    `is ${maxSeconds}, but scoring took longer and was stopped; allow more, or score less, such as a range.`,
    { about: 'maxSeconds' },
  );
  return withinSeconds(maxSeconds, late, signal, (limited) =>
    work({ ...options, maxSeconds: undefined, signal: limited }),
  );
}
