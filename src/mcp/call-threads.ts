/**
 * @module mcp/call-threads
 * Worker threads that measure, which keeps the server's thread free for short calls. Each runs one call at a time and
 * ends when idle. A thread that crashes or does not stop fails only its own call.
 */
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { onAbort } from '../core/abort.js';
import { AnyvmafError, type ErrorData, errorData, internalError } from '../core/errors.js';
import { limitError } from '../core/system-limits.js';
import type * as checked from './checked-api.js';

const SCRIPT = new URL('./call-thread.js', import.meta.url);
/** Milliseconds until an idle thread ends. */
const IDLE_TIME = 30_000;
/** Milliseconds until a thread that does not stop is terminated; long, since that can crash a GPU driver. */
const STOP_TIME = 15_000;
/** Milliseconds for a thread to remove its files and exit. */
const END_TIME = 300;

const NAMES = [
  ...(['score', 'scoreMany', 'scoreBatch', 'inspect', 'align', 'runBenchmark', 'takePairs'] as const),
  ...(['searchQuality', 'buildLadder', 'compareEncoders', 'tuneShots'] as const),
] as const;

/** The callback that may abort the work: the thread blocks until it returns, which for others would cost time. */
export const AWAITED = 'onStage';

export type Measuring = Pick<typeof checked, (typeof NAMES)[number]>;

/** A value sent between threads; an error alone would lose its class. */
type Crossing = { readonly value: unknown } | { readonly error: ErrorData };

/** Callbacks and signals cannot cross: the thread reports calls of callbacks, and has its own signals. */
export interface ThreadCall {
  readonly kind: 'call';
  readonly name: (typeof NAMES)[number];
  /** The last one holds the options. */
  readonly args: readonly unknown[];
  readonly functions: readonly string[];
  readonly signals: readonly string[];
}

export type ToCallThread =
  | ThreadCall
  | { readonly kind: 'abort'; readonly signal: string }
  | { readonly kind: 'end' };

export type FromCallThread =
  | { readonly kind: 'told'; readonly name: string; readonly args: readonly Crossing[] }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: Crossing };

export function crossing(value: unknown): Crossing {
  const known = value instanceof AnyvmafError ? value : value instanceof Error && limitError(value);
  return known ? { error: errorData(known) } : { value };
}

function crossed(from: Crossing): unknown {
  return 'error' in from ? new AnyvmafError(from.error.code, from.error.message, from.error) : from.value;
}

export class CallThreads {
  readonly #all = new Set<CallThread>();
  #closed = false;

  /**
   * Functions that run in a thread; arguments and results are copied.
   * @throws those of the function; {@link AnyvmafError} `internal` if the thread crashes, `resource` if it runs out
   * of memory or cannot start; the reason of the option `signal`
   */
  readonly measuring = Object.fromEntries(
    NAMES.map((name) => [name, (...args: readonly unknown[]) => this.#run(name, args)]),
  ) as unknown as Measuring;

  get size(): number {
    return this.#all.size;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((thread) => thread.end()));
  }

  async #run(name: ThreadCall['name'], args: readonly unknown[]): Promise<unknown> {
    // The first one, so that surplus threads stay idle and end.
    const thread = [...this.#all].find(({ isIdle }) => isIdle) ?? this.#start();
    try {
      return await thread.run(name, args);
    } finally {
      if (this.#closed) await thread.end();
    }
  }

  #start(): CallThread {
    const thread: CallThread = new CallThread(() => this.#all.delete(thread));
    this.#all.add(thread);
    return thread;
  }
}

type Callback = (...args: unknown[]) => void;

interface Running {
  readonly functions: ReadonlyMap<string, Callback>;
  settle(result: unknown): void;
  fail(error: unknown): void;
}

class CallThread {
  readonly #worker: Worker;
  /** Number of awaited callbacks that have returned. */
  readonly #returned = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #gone: Promise<void>;
  #running: Running | undefined;
  #timer: NodeJS.Timeout | undefined;
  #usable = true;

  /** @param onGone called when the thread takes no more work; may be called twice */
  constructor(onGone: () => void) {
    try {
      // Do not inherit flags of the process, such as --import of a test runner.
      this.#worker = new Worker(SCRIPT, {
        ...{ name: 'anyvmaf-call', execArgv: [], env: SHARE_ENV, workerData: this.#returned },
        // Frames lie outside the heap; the default of 48 MB for young objects would only delay collection.
        resourceLimits: { maxYoungGenerationSizeMb: 4 },
      });
    } catch (error) {
      throw limitError(error, 'a thread cannot be started') ?? error;
    }
    const ended = (how: string): void => {
      this.#usable = false;
      onGone();
      const died = 'The thread of this call stopped';
      this.#running?.fail(limitError(how, died) ?? internalError(`${died}: ${how}; call again.`));
    };
    this.#worker.on('message', (message: FromCallThread) => this.#hear(message));
    this.#worker.on('error', (error) => ended(error.message));
    this.#gone = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        clearTimeout(this.#timer);
        ended(`it ended with code ${code}`);
        resolve();
      });
    });
    this.#rest();
  }

  get isIdle(): boolean {
    return this.#usable && !this.#running;
  }

  async run(name: ThreadCall['name'], args: readonly unknown[]): Promise<unknown> {
    const data: Record<string, unknown> = { ...Object(args.at(-1)) };
    const functions = new Map<string, Callback>();
    const signals = new Map<string, AbortSignal>();
    for (const [key, option] of Object.entries(data)) {
      if (typeof option === 'function') functions.set(key, option as Callback);
      else if (option instanceof AbortSignal) signals.set(key, option);
      else continue;
      delete data[key];
    }
    const signal = signals.get('signal');
    signal?.throwIfAborted();
    clearTimeout(this.#timer);
    this.#worker.ref();
    const result = new Promise((settle, fail) => {
      this.#running = { functions, settle, fail };
    });
    const forget: (() => void)[] = [];
    try {
      const named = { functions: [...functions.keys()], signals: [...signals.keys()] };
      this.#post({ kind: 'call', name, args: [...args.slice(0, -1), data], ...named });
      for (const [key, each] of signals) forget.push(onAbort(each, () => this.#abort(key)));
      return await result;
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      for (const each of forget) each();
      this.#running = undefined;
      // Otherwise the timer ends a stuck thread.
      if (this.#usable) {
        clearTimeout(this.#timer);
        this.#rest();
      }
    }
  }

  /** Waits for the next call without keeping the process alive, then ends. */
  #rest(): void {
    this.#worker.unref();
    this.#timer = setTimeout(() => void this.end(), IDLE_TIME).unref();
  }

  async end(): Promise<void> {
    this.#usable = false;
    clearTimeout(this.#timer);
    this.#post({ kind: 'end' });
    this.#timer = setTimeout(() => void this.#worker.terminate(), END_TIME);
    await this.#gone;
  }

  #abort(signal: string): void {
    this.#post({ kind: 'abort', signal });
    // Other signals let the work finish.
    if (signal === 'signal') this.#timer = setTimeout(() => void this.end(), STOP_TIME);
  }

  #post(message: ToCallThread): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromCallThread): void {
    if (message.kind === 'done') this.#running?.settle(message.result);
    else if (message.kind === 'failed') this.#running?.fail(crossed(message.error));
    else this.#tell(message);
  }

  #tell(message: FromCallThread & { readonly kind: 'told' }): void {
    try {
      this.#running?.functions.get(message.name)?.(...message.args.map(crossed));
    } catch (error) {
      this.#running?.fail(error);
      void this.end();
    }
    if (message.name !== AWAITED) return;
    Atomics.add(this.#returned, 0, 1);
    Atomics.notify(this.#returned, 0);
  }
}
