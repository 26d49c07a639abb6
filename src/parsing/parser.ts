/**
 * @module parsing/parser
 * The caller's side of a parser worker. Ends the worker if it is silent or stalled for longer than its input can explain,
 * uses too much memory, or is aborted.
 */
import { onAbort } from '../core/abort.js';
import { AnyvmafError } from '../core/errors.js';
import type { ByteReader } from '../media/types.js';
import type { FailureReason, FromParser, ParserWorker, WorkerDeath } from './protocol.js';
import { BEAT, errorOf, refusalOf } from './protocol.js';

/** Heartbeats without progress that end a worker: a decoder may need seconds for its first frame. */
const STALL = 100;

/** Checks without progress that end a worker with few heartbeats; other programs may starve it. */
const LONGEST_STALL = 4 * STALL;

/** Milliseconds that an ended worker may keep loading before it is terminated. */
const LOADING = 2000;

export type Argument<Calls, Name extends keyof Calls> = Calls[Name] extends (argument: infer A) => unknown
  ? A
  : never;
export type Answer<Calls, Name extends keyof Calls> = Calls[Name] extends (argument: never) => infer R
  ? Awaited<R>
  : never;

interface Pending {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** Calls the functions of a worker, described by `Calls`. */
export class Parser<Calls> {
  readonly #worker: ParserWorker;
  readonly #pending = new Map<number, Pending>();
  #input: ByteReader | undefined;
  #next = 0;
  #ready = false;
  #failure: unknown;
  #ended = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Set if the worker was ended while it loads. */
  #loading: ReturnType<typeof setTimeout> | undefined;
  #silence = Number.POSITIVE_INFINITY;
  #reason: FailureReason = { code: 'internal', subject: 'A parser thread failed' };
  #progress = 0;
  /** Checks since the last heartbeat and the last progress; not milliseconds, since this thread may be late itself. */
  #silent = 0;
  #stalled = 0;
  /** Heartbeats since the last progress; a starved worker sends few. */
  #idle = 0;

  /** @param task structured-cloneable */
  constructor(worker: ParserWorker, task: unknown) {
    this.#worker = worker;
    worker.listen(
      (message) => this.#take(message),
      (death) => this.#end(this.#died(death)),
    );
    worker.post({ kind: 'begin', task });
  }

  /** The worker opens no files: it reads through this reader, which the caller keeps. */
  lend(input: ByteReader | undefined): void {
    this.#input = input;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** @param signal ends the worker @throws as the function; the worker's failure reason; the signal's reason */
  async call<Name extends keyof Calls & string>(
    name: Name,
    argument: Argument<Calls, Name>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Answer<Calls, Name>> {
    signal?.throwIfAborted();
    if (this.#ended) throw this.#failure;
    const id = this.#next++;
    const forget = onAbort(signal, (reason) => this.#end(reason));
    try {
      return await new Promise<Answer<Calls, Name>>((resolve, reject) => {
        this.#pending.set(id, { resolve: (value) => resolve(value as Answer<Calls, Name>), reject });
        this.#startTimer();
        this.#worker.post({ kind: 'call', id, name, argument });
      });
    } finally {
      forget();
    }
  }

  /** Ends the worker; pending calls fail with `reason`. */
  close(reason: unknown = new AnyvmafError('aborted', 'The parser was closed.')): void {
    this.#end(reason);
  }

  #take(message: FromParser): void {
    const loaded = message.kind === 'ready' || message.kind === 'unusable';
    if (loaded) this.#ready = true;
    if (this.#ended) {
      if (!loaded) return;
      clearTimeout(this.#loading);
      this.#worker.terminate();
      return;
    }
    this.#silent = 0;
    switch (message.kind) {
      case 'ready':
        return;
      case 'unusable':
        this.#end(errorOf(message.refusal));
        return;
      case 'read':
        void this.#read(message);
        return;
      case 'patience':
        this.#silence = message.silence;
        this.#reason = message.reason;
        this.#moveOn();
        return;
      case 'alive':
        this.#idle++;
        if (message.waiting || message.progress !== this.#progress) this.#moveOn();
        this.#progress = message.progress;
        return;
      case 'answer':
        this.#settle(message.id, (pending) => pending.resolve(message.value));
        return;
      case 'refused':
        this.#settle(message.id, (pending) => pending.reject(errorOf(message.refusal)));
        return;
    }
  }

  #settle(id: number, how: (pending: Pending) => void): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    this.#moveOn();
    if (this.#pending.size === 0) this.#rest();
    if (pending) how(pending);
  }

  async #read({ id, position, length }: FromParser & { kind: 'read' }): Promise<void> {
    try {
      if (!this.#input) throw new Error('the parser has no input');
      const bytes = new Uint8Array(Math.max(0, Math.min(length, this.#input.size - position)));
      const got = await this.#input.read(position, [bytes]);
      const { buffer } = got === bytes.length ? bytes : bytes.slice(0, got);
      if (!this.#ended) this.#worker.post({ kind: 'bytes', id, bytes: buffer }, [buffer]);
    } catch (error) {
      if (!this.#ended) this.#worker.post({ kind: 'unread', id, refusal: refusalOf(error) });
    }
  }

  #moveOn(): void {
    this.#stalled = 0;
    this.#idle = 0;
  }

  #startTimer(): void {
    this.#timer ??= setInterval(() => this.#checkLife(), BEAT);
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#silent = 0;
    this.#moveOn();
  }

  #checkLife(): void {
    if (!this.#ready) return;
    if (this.#silence !== Number.POSITIVE_INFINITY) {
      this.#silent++;
      this.#stalled++;
    }
    const silent = this.#silent * BEAT;
    if (silent > this.#silence) this.#end(this.#stuck(silent));
    else if (this.#idle > STALL || this.#stalled > LONGEST_STALL)
      this.#end(this.#stuck(Math.max(this.#idle, this.#stalled) * BEAT));
    else if (this.#worker.isTooLarge?.()) this.#end(this.#tooLarge());
  }

  #stuck(milliseconds: number): AnyvmafError {
    const { code, subject } = this.#reason;
    return new AnyvmafError(
      code,
      `${subject}: aborted after ${(milliseconds / 1000).toFixed(1)} s without progress; the file is damaged, or crafted to ` +
        'stall its reader.',
    );
  }

  #died({ outOfMemory, how }: WorkerDeath): AnyvmafError {
    const { code, subject } = this.#reason;
    return outOfMemory ? this.#tooLarge() : new AnyvmafError(code, `${subject}: ${how}`);
  }

  #tooLarge(): AnyvmafError {
    const { code, subject } = this.#reason;
    return new AnyvmafError(
      code,
      `${subject}: aborted because reading it takes more memory than any file of its size needs; the file is damaged, or ` +
        'crafted to exhaust memory.',
    );
  }

  #end(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = reason;
    this.#rest();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(reason);
    if (this.#ready) {
      this.#worker.terminate();
      return;
    }
    // Terminating a loading worker would leak descriptors.
    const timer = setTimeout(() => this.#worker.terminate(), LOADING);
    this.#loading = timer;
    // Do not keep Node running.
    if (typeof timer === 'object' && 'unref' in timer) timer.unref();
  }
}
