/**
 * @module web/engine/calls
 * Calls functions in a worker: one argument, one result, events in between, and an abort signal.
 */
import type { Objection } from 'anyvmaf';
import { onAbort } from 'anyvmaf/abort';
import { FileNumbers, KnownFiles } from './files.js';

/** The context of a call in the worker. */
export interface CallContext<Event> {
  /** Aborts when the caller's signal does. */
  readonly signal: AbortSignal;
  /** Sends an event to the caller before the result. */
  emit(event: Event, transfer?: Transferable[]): void;
}

/** A function that a worker serves. */
export type Served = (argument: never, context: CallContext<never>) => Promise<unknown>;

type Argument<F extends Served> = Parameters<F>[0];
type Result<F extends Served> = Awaited<ReturnType<F>>;
type EventOf<F extends Served> = Parameters<F>[1] extends CallContext<infer Event> ? Event : never;

/** A result whose buffers are transferred instead of copied. */
export class Handover<T> {
  constructor(
    readonly value: T,
    readonly transfer: Transferable[],
  ) {}
}

type Unwrapped<T> = T extends Handover<infer Value> ? Value : T;

/** An error as plain data: `code` is an AnyvmafError's, or `died` of a worker, or absent. */
export interface Failure {
  readonly message: string;
  readonly code?: string;
  /** What is wrong, and what resolves it. */
  readonly objections?: readonly Objection[];
  /** Name of the video that the error is about. */
  readonly file?: string;
  /** Which of the two videos it is about. */
  readonly role?: 'reference' | 'distorted';
  readonly name: string;
}

type ToWorker =
  | {
      readonly call: number;
      readonly name: string;
      readonly argument: unknown;
      /** Numbers of the files in the argument. */
      readonly files: readonly number[];
    }
  | { readonly stop: number };
type FromWorker =
  | { readonly call: number; readonly event: unknown }
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly failure: Failure };

/** The part of a worker's global scope that serving needs. */
interface Scope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: Transferable[]): void;
}

/** Serves functions to the thread that started this worker. */
export function serve(functions: Readonly<Record<string, Served>>, scope: Scope): void {
  const running = new Map<number, AbortController>();
  const known = new KnownFiles();
  scope.onmessage = async ({ data }) => {
    if ('stop' in data) {
      running.get(data.stop)?.abort(new DOMException('The call was cancelled.', 'AbortError'));
      return;
    }
    const { call, name, argument, files } = data;
    known.restore(argument, files);
    const stop = new AbortController();
    running.set(call, stop);
    try {
      // The types of `Remote` check the argument on the caller's side.
      const result = await functions[name]?.(argument as never, {
        signal: stop.signal,
        emit: (event, transfer = []) => scope.postMessage({ call, event }, transfer),
      });
      if (result instanceof Handover) scope.postMessage({ call, result: result.value }, result.transfer);
      else scope.postMessage({ call, result }, []);
    } catch (error) {
      scope.postMessage({ call, failure: failureOf(error) }, []);
    } finally {
      running.delete(call);
    }
  };
}

/** What browsers say of memory that they cannot allocate, in errors that have no code of ours. */
const OUT_OF_MEMORY = /out of memory|allocation failed|(cannot|could not) allocate/i;

/** An error as plain data; `resource` also for the browser's own errors for lack of memory. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, code: own, objections, file, role }: Failure = error;
  const foreign = typeof own !== 'string' || own === 'internal';
  const code = foreign && OUT_OF_MEMORY.test(message) ? 'resource' : own;
  return { name, message, objections, file, role, ...(typeof code === 'string' && { code }) };
}

/** The error of a failed call to a worker. */
export class EngineError extends Error {
  readonly code: string | undefined;
  readonly objections: readonly Objection[] | undefined;
  readonly file: string | undefined;
  readonly role: Failure['role'];

  constructor({ message, name, code, objections, file, role }: Failure) {
    super(message);
    this.name = name;
    this.code = code;
    this.objections = objections;
    this.file = file;
    this.role = role;
  }
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onEvent: ((event: unknown) => void) | undefined;
  readonly forget: () => void;
}

/** Options of a call. */
export interface CallOptions<Event> {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: Event) => void;
  /** Milliseconds that an aborted call has to end by itself: what it had done by then counts. Default: it ends at once. */
  readonly grace?: number;
}

/** A worker that serves the functions of T. The first call starts it, and so does the next one after it died. */
export class Remote<T extends { readonly [K in keyof T]: Served }> {
  readonly #start: () => Worker;
  readonly #died: string;
  readonly #unloaded: string;
  #worker: Worker | undefined;
  #pending = new Map<number, Pending>();
  #next = 0;
  readonly #files = new FileNumbers();

  /**
   * @param died message of calls that the worker's death ended
   * @param unloaded message of calls to a worker that could not be loaded without a network
   */
  constructor(start: () => Worker, died: string, unloaded = died) {
    this.#start = start;
    this.#died = died;
    this.#unloaded = unloaded;
  }

  call<K extends keyof T & string>(
    name: K,
    argument: Argument<T[K]>,
    { signal, onEvent, grace }: CallOptions<EventOf<T[K]>> = {},
  ): Promise<Unwrapped<Result<T[K]>>> {
    return new Promise<unknown>((resolve, reject) => {
      signal?.throwIfAborted();
      const call = this.#next++;
      const forget = onAbort(signal, (reason) => {
        this.#post({ stop: call });
        const end = () => this.#settle(call)?.reject(reason);
        if (grace) setTimeout(end, grace);
        else end();
      });
      // Events of a call are what its function emits.
      this.#pending.set(call, { resolve, reject, onEvent: onEvent as Pending['onEvent'], forget });
      this.#post({ call, name, argument, files: this.#files.of(argument) });
    }) as Promise<Unwrapped<Result<T[K]>>>;
  }

  /** Ends the worker; rejects pending calls. */
  close(): void {
    this.#die(this.#died);
  }

  #post(message: ToWorker): void {
    this.#worker ??= this.#listen(this.#start());
    this.#worker.postMessage(message);
  }

  #listen(worker: Worker): Worker {
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if ('event' in data) this.#pending.get(data.call)?.onEvent?.(data.event);
      else if ('failure' in data) this.#settle(data.call)?.reject(new EngineError(data.failure));
      else this.#settle(data.call)?.resolve(data.result);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      // A worker that could not be loaded has no message.
      if (!event.message && !navigator.onLine) {
        this.#die(this.#unloaded, 'offline');
        return;
      }
      this.#die(
        event.message ? `${this.#died} (${event.message})` : this.#died,
        OUT_OF_MEMORY.test(event.message) ? 'resource' : 'died',
      );
    };
    worker.onmessageerror = () => this.#die(this.#died);
    return worker;
  }

  #settle(call: number): Pending | undefined {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    pending?.forget();
    return pending;
  }

  #die(message: string, code: 'died' | 'resource' | 'offline' = 'died'): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const call of [...this.#pending.keys()])
      this.#settle(call)?.reject(new EngineError({ name: 'Error', code, message }));
  }
}
