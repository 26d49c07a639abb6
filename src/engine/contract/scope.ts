/**
 * @module engine/contract/scope
 * Owns everything that a run starts, and closes it in reverse order however the run ends; and limits its time.
 */
import { onAbort, TimeLimitError, unlessAborted, withinSeconds } from '../../core/abort.js';
import type { ScoreOptions } from './types.js';

interface Closable {
  close(): unknown;
}

/** Use as `try { ... } finally { await scope.close(); }`. */
export class Scope {
  readonly #ending = new AbortController();
  readonly #owned: Closable[] = [];
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
  own<Resource extends Closable>(resource: Resource): Resource {
    if (this.#closed) resource.close();
    else this.#owned.push(resource);
    return resource;
  }

  /** @throws the first error of closing, after closing everything else */
  async close(): Promise<void> {
    this.#closed = true;
    this.#forget();
    this.#ending.abort();
    const failures: unknown[] = [];
    for (const resource of this.#owned.splice(0).reverse()) {
      try {
        await resource.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * Runs `work` in a scope, within {@link ScoreOptions.maxSeconds} if set; `work` gets the options without it. When the
 * promise settles, everything that the scope owns is closed.
 * @throws {TimeLimitError} at the limit; the signal's reason when aborted; otherwise what `work` throws
 */
export function inScope<Options extends Pick<ScoreOptions, 'maxSeconds' | 'signal'>, T>(
  options: Options,
  work: (options: Options, scope: Scope) => Promise<T>,
): Promise<T> {
  const { maxSeconds, signal } = options;
  const scoped = async (limited: Options) => {
    const scope = new Scope(limited.signal);
    try {
      return await unlessAborted(limited.signal, work(limited, scope));
    } finally {
      await scope.close();
    }
  };
  if (maxSeconds === undefined) return scoped(options);
  const late = new TimeLimitError(
    `is ${maxSeconds}, but scoring took longer and was stopped; allow more, or score less, such as a range.`,
    { about: 'maxSeconds' },
  );
  return withinSeconds(maxSeconds, late, signal, (limited) =>
    scoped({ ...options, maxSeconds: undefined, signal: limited }),
  );
}
