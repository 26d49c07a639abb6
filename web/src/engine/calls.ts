/**
 * @module web/engine/calls
 * Calls functions in a worker: one argument, one result, events in between, an abort signal. Files keep their identity.
 */
import type { Objection } from 'anyvmaf';
import { onAbort } from 'anyvmaf/core/abort';

export interface CallContext<Event> {
  readonly signal: AbortSignal;
  emit(event: Event, transfer?: Transferable[]): void;
}

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

/** `code` is an AnyvmafError's, `died` or `offline`, or absent. */
export interface Failure {
  readonly message: string;
  readonly code?: string;
  readonly objections?: readonly Objection[];
  readonly file?: string;
  readonly role?: 'reference' | 'distorted';
  readonly name: string;
}

type ToWorker =
  | {
      readonly call: number;
      readonly name: string;
      readonly argument: unknown;
      /** Numbers of the files in the argument, see {@link FileNumbers}. */
      readonly files: readonly number[];
    }
  | { readonly stop: number };
type FromWorker =
  | { readonly call: number; readonly event: unknown }
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly failure: Failure };

interface Scope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: Transferable[]): void;
}

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

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Messages of browsers' errors, which lack a code of ours. */
const OUT_OF_MEMORY = /out of memory|allocation failed|(cannot|could not) allocate/i;

/** An error as plain data; the browser's out-of-memory errors get `resource`. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: messageOf(error) };
  const { name, message, code: own, objections, file, role }: Failure = error;
  const foreign = typeof own !== 'string' || own === 'internal';
  const code = foreign && OUT_OF_MEMORY.test(message) ? 'resource' : own;
  return { name, message, objections, file, role, ...(typeof code === 'string' && { code }) };
}

export class EngineError extends Error {
  declare readonly code: Failure['code'];
  declare readonly objections: Failure['objections'];
  declare readonly file: Failure['file'];
  declare readonly role: Failure['role'];

  constructor({ message, ...facts }: Failure) {
    super(message);
    Object.assign(this, facts);
  }
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onEvent: ((event: unknown) => void) | undefined;
  readonly forget: () => void;
}

export interface CallOptions<Event> {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: Event) => void;
  /** Milliseconds for an aborted call to end with a result. Default: it rejects at once. */
  readonly grace?: number;
}

/** A worker that serves the functions of T. The next call starts it, also after it died. */
export class Remote<T extends { readonly [K in keyof T]: Served }> {
  readonly #start: () => Worker;
  readonly #died: string;
  readonly #unloaded: string;
  #worker: Worker | undefined;
  #pending = new Map<number, Pending>();
  #next = 0;
  readonly #files = new FileNumbers();

  /** @param died message if the worker ended @param unloaded message if it could not be loaded offline */
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
      this.#pending.set(call, { resolve, reject, onEvent: onEvent as Pending['onEvent'], forget });
      this.#post({ call, name, argument, files: this.#files.of(argument) });
    }) as Promise<Unwrapped<Result<T[K]>>>;
  }

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
      // No message: the worker could not be loaded.
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

// --- files ---
//
// Messages copy Files, but caches in the library are keyed by the object; so the worker uses the first copy
// for all later ones.

/** Depth of files in an argument: `{ source: { reference } }`. */
const DEPTH = 2;
const REMEMBERED = 256;

interface Place {
  readonly file: File;
  replace(file: File): void;
}

/** Yields files in a fixed order, so that both sides count alike. */
function* placesOf(value: unknown, depth = DEPTH): Generator<Place> {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  // A list has either files, or up to thousands of items without files.
  if (Array.isArray(value) && !(value[0] instanceof File)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (inner instanceof File) yield { file: inner, replace: (file) => Reflect.set(value, key, file) };
    else if (depth > 1) yield* placesOf(inner, depth - 1);
  }
}

/** The page's side: gives files numbers. */
export class FileNumbers {
  readonly #numbers = new WeakMap<File, number>();
  #next = 0;

  of(argument: unknown): number[] {
    return [...placesOf(argument)].map(({ file }) => {
      const number = this.#numbers.get(file) ?? this.#next++;
      this.#numbers.set(file, number);
      return number;
    });
  }
}

/** The worker's side: knows files by number. */
export class KnownFiles {
  readonly #files = new Map<number, File>();

  /** Replaces each copy by the known file. @param numbers from {@link FileNumbers.of} */
  restore(argument: unknown, numbers: readonly number[]): void {
    [...placesOf(argument)].forEach(({ file, replace }, i) => {
      const number = numbers[i];
      if (number === undefined) return;
      const known = this.#files.get(number) ?? file;
      this.#files.delete(number);
      this.#files.set(number, known);
      replace(known);
    });
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= REMEMBERED) break;
      this.#files.delete(oldest);
    }
  }
}
