/**
 * @module engine/contract/scope
 * The scope of a run owns its resources, closes them in reverse order at any end, and limits the run's time. Also the context
 * in which videos are read, with the parts that runs of the same videos share.
 */
import { onAbort, serializeCalls, TimeLimitError, unlessAborted, withinSeconds } from '../../core/abort.js';
import type { KnownColour } from '../../core/colour.js';
import type { InputRole } from '../../core/errors.js';
import type { RecordedThumbs } from '../../media/align/thumbs.js';
import { isFrameSource } from '../../media/open.js';
import type { Side } from '../../media/pair.js';
import type { AlignResult } from '../../media/pairing/types.js';
import type { SideMeasurements } from '../../media/preflight/findings.js';
import { closeAll, withReads } from '../../media/sources.js';
import type { FrameSource, VideoInput } from '../../media/types.js';
import type { CheckedOptions, CheckedPairing } from './options.js';
import type { Platform } from './platform.js';
import type { ScoreOptions, ScoreRequest } from './types.js';

interface Closable {
  close(): unknown;
}

/** Use as `try { ... } catch (error) { throw await scope.fail(error); } finally { await scope.close(); }`. */
export class Scope {
  readonly #ending = new AbortController();
  readonly #owned: Closable[] = [];
  #closed = false;
  readonly #caller: AbortSignal | undefined;
  readonly #forget: () => void;

  /** @throws the reason of the caller's signal when it has aborted */
  constructor(caller?: AbortSignal) {
    caller?.throwIfAborted();
    this.#caller = caller;
    this.#forget = onAbort(caller, (reason) => this.#ending.abort(reason));
  }

  /** Aborts with the caller's signal and when the scope closes. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Closes a resource with the scope, or now if the scope is closed. */
  own<Resource extends Closable>(resource: Resource): Resource {
    if (this.#closed) resource.close();
    else this.#owned.push(resource);
    return resource;
  }

  /** Returns work that closes its own resources; the scope is closed only when it has ended. */
  join<T>(work: Promise<T>): Promise<T> {
    this.own({ close: () => work.catch(() => {}) });
    return work;
  }

  /** @throws the first error, after closing everything */
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

  /** Closes the scope after `error`, which errors of closing must not hide. @returns it; the signal's reason if aborted */
  async fail(error: unknown): Promise<unknown> {
    const reason = this.#caller?.aborted ? this.#caller.reason : error;
    await this.close().catch(() => {});
    return reason;
  }
}

/** Runs `work` in a scope. @throws the signal's reason if aborted; otherwise what `work` throws */
export async function withScope<T>(
  signal: AbortSignal | undefined,
  work: (scope: Scope) => Promise<T>,
): Promise<T> {
  const scope = new Scope(signal);
  try {
    return await work(scope);
  } catch (error) {
    throw await scope.fail(error);
  } finally {
    await scope.close();
  }
}

/**
 * Runs `work` in a scope, within {@link ScoreOptions.maxSeconds} if set; `work` gets the options without it. The scope is
 * closed when the promise settles.
 * @throws {TimeLimitError} at the limit; the signal's reason when aborted; otherwise what `work` throws
 */
export function inScope<Options extends Pick<ScoreOptions, 'maxSeconds' | 'signal'>, T>(
  options: Options,
  work: (options: Options, scope: Scope) => Promise<T>,
): Promise<T> {
  const { maxSeconds, signal } = options;
  const scoped = (limited: Options) =>
    withScope(limited.signal, (scope) => unlessAborted(limited.signal, work(limited, scope)));
  if (maxSeconds === undefined) return scoped(options);
  const late = new TimeLimitError(
    `is ${maxSeconds}, but scoring took longer and was stopped; allow more, or score less, such as a range.`,
    { about: 'maxSeconds' },
  );
  return withinSeconds(maxSeconds, late, signal, (limited) =>
    scoped({ ...options, maxSeconds: undefined, signal: limited }),
  );
}

export interface InputContext {
  readonly platform: Platform;
  readonly checked: CheckedOptions;
  readonly signal: AbortSignal;
  /** Absent if no other run reads the same videos. */
  readonly shared?: SharedInputs;
  /** Colour of both videos; overrides their files' declarations. */
  readonly colour?: KnownColour;
  /** Result of an earlier search of the same pair, to use instead of searching again. */
  readonly alignment?: AlignResult;
  /** Which of the requested pairs to read. Default: all. */
  readonly part?: { readonly start: number; readonly count: number };
}

/** Shared by runs of the same videos. The first run that needs a part passes a reader, which its own abort does not end. */
export class SharedInputs {
  readonly #roles: readonly InputRole[];
  readonly #signal: AbortSignal;
  readonly #sides = new Map<string, Promise<Side>>();
  readonly #thumbs = new Map<number, RecordedThumbs>();
  #measured: Promise<SideMeasurements> | undefined;

  /** @param roles of the videos that all runs read @param signal aborts pending reads */
  constructor(roles: readonly InputRole[], signal: AbortSignal) {
    this.#roles = roles;
    this.#signal = signal;
  }

  /** An identified encoded video; `undefined` if runs do not share it. */
  side(
    role: InputRole,
    { decoder, urls, rate, tracks, grain }: CheckedPairing,
    identify: (signal: AbortSignal) => Promise<Side>,
  ): Promise<Side> | undefined {
    if (!this.#roles.includes(role)) return undefined;
    return once(this.#sides, JSON.stringify([role, decoder, urls, rate, tracks[role], grain]), () =>
      identify(this.#signal),
    );
  }

  /** Thumbnails of the reference after its skipped frames; `undefined` if runs see different pictures. */
  thumbs(
    { pairing, skip }: CheckedOptions,
    record: (signal: AbortSignal) => RecordedThumbs,
  ): RecordedThumbs | undefined {
    return sameView(pairing) ? once(this.#thumbs, skip.reference, () => record(this.#signal)) : undefined;
  }

  /** Borders and sharpness of a few frames of the reference; `undefined` as {@link thumbs}. */
  measured(
    { pairing }: CheckedOptions,
    measure: (signal: AbortSignal) => Promise<SideMeasurements>,
  ): Promise<SideMeasurements> | undefined {
    if (!sameView(pairing)) return undefined;
    this.#measured ??= measure(this.#signal);
    return this.#measured;
  }
}

/** Whether runs see the same pictures of the reference: filters and tracks may differ between runs. */
function sameView({ filters, tracks }: CheckedPairing): boolean {
  return filters === undefined && tracks.reference === undefined;
}

function once<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

type Videos = Pick<ScoreRequest, 'reference' | 'distorted'>;

/** Own sources that occur more than once in the runs: these read them one at a time, and leave them open until `close`. */
export class SharedSources {
  readonly #shared = new Map<FrameSource, FrameSource>();

  constructor(runs: readonly Videos[]) {
    const seen = new Set<VideoInput>();
    for (const video of runs.flatMap(({ reference = '', distorted }) => [reference, distorted])) {
      if (isFrameSource(video) && seen.has(video) && !this.#shared.has(video))
        this.#shared.set(video, { ...withReads(video, serializeCalls()), close() {} });
      seen.add(video);
    }
  }

  within<Run extends Videos>(run: Run): Run {
    const { reference, distorted } = run;
    return {
      ...run,
      ...(reference !== undefined && { reference: this.of(reference) }),
      distorted: this.of(distorted),
    };
  }

  of(video: VideoInput): VideoInput {
    return (isFrameSource(video) && this.#shared.get(video)) || video;
  }

  async close(): Promise<void> {
    await closeAll(this.#shared.keys());
  }
}
