/**
 * @module parsing/serve
 * The worker's side: runs calls and sends heartbeats meanwhile.
 */
import { bytesReader } from '../media/readers.js';
import type { ByteReader } from '../media/types.js';
import { BEAT, errorOf, type FailureReason, type FromParser, refusalOf, type ToParser } from './protocol.js';

export interface Monitor {
  progress(): void;
  /** As `patience` of {@link FromParser}. */
  patience(silence: number, reason: FailureReason): void;
  /** The caller's input. Waiting for its bytes counts as progress. */
  input(size: number): ByteReader;
}

type Post = (message: FromParser, transfer?: ArrayBuffer[]) => void;

interface Wait {
  readonly since: number;
  resolve(bytes: ArrayBuffer): void;
  reject(error: unknown): void;
}

/** An answer that transfers its buffers instead of copying them. */
export class Handed<T> {
  constructor(
    readonly value: T,
    readonly transfer: ArrayBuffer[],
  ) {}
}

/** A worker's functions; {@link Handed} answers transfer buffers. */
export type Served<Calls> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (argument: infer A) => infer R
    ? (argument: A) => Promise<Awaited<R> | Handed<Awaited<R>>>
    : never;
};

class LentInput {
  readonly #post: Post;
  readonly #waits = new Map<number, Wait>();
  #reads = 0;

  constructor(post: Post) {
    this.#post = post;
  }

  reader(size: number): ByteReader {
    return {
      size,
      read: async (position, parts) => {
        const length = parts.reduce((sum, part) => sum + part.length, 0);
        const id = this.#reads++;
        const bytes = await new Promise<ArrayBuffer>((resolve, reject) => {
          this.#waits.set(id, { since: performance.now(), resolve, reject });
          this.#post({ kind: 'read', id, position, length });
        });
        return bytesReader(new Uint8Array(bytes)).read(0, parts);
      },
      close() {},
    };
  }

  take(message: ToParser & { kind: 'bytes' | 'unread' }): void {
    const wait = this.#waits.get(message.id);
    this.#waits.delete(message.id);
    if (message.kind === 'bytes') wait?.resolve(message.bytes);
    else wait?.reject(errorOf(message.refusal));
  }

  /** True if a read has been pending for a whole beat. */
  isWaiting(): boolean {
    const late = performance.now() - BEAT;
    return [...this.#waits.values()].some(({ since }) => since < late);
  }
}

async function callNamed(functions: object, name: string, argument: unknown): Promise<unknown> {
  const served: unknown = Reflect.get(functions, name);
  if (typeof served !== 'function') throw new Error(`there is no function ${name}`);
  return served(argument);
}

/** @param prepare loads what a task needs before any foreign byte is read @returns the handler of messages */
export function serveParser<Task>(
  post: Post,
  prepare: (task: Task, monitor: Monitor) => Promise<object>,
): (message: ToParser<Task>) => void {
  const input = new LentInput(post);
  let functions: Promise<object> | undefined;
  let running = 0;
  let progress = 0;
  let beat: ReturnType<typeof setInterval> | undefined;
  let lastBeat = 0;

  function sendBeat(): void {
    lastBeat = performance.now();
    post({ kind: 'alive', progress, waiting: input.isWaiting() });
  }

  const monitor: Monitor = {
    progress() {
      progress++;
      // Synchronous work may keep the timer from firing for seconds.
      if (running > 0 && performance.now() - lastBeat >= BEAT) sendBeat();
    },
    patience: (silence, reason) => post({ kind: 'patience', silence, reason }),
    input: (size) => input.reader(size),
  };

  async function runCall({ id, name, argument }: ToParser & { kind: 'call' }): Promise<void> {
    if (running++ === 0) {
      lastBeat = performance.now();
      beat = setInterval(sendBeat, BEAT);
    }
    try {
      const result = await callNamed((await functions) ?? {}, name, argument);
      if (result instanceof Handed) post({ kind: 'answer', id, value: result.value }, result.transfer);
      else post({ kind: 'answer', id, value: result });
    } catch (error) {
      post({ kind: 'refused', id, refusal: refusalOf(error) });
    } finally {
      if (--running === 0) clearInterval(beat);
    }
  }

  return (message) => {
    switch (message.kind) {
      case 'begin':
        functions = prepare(message.task, monitor);
        functions.then(
          () => post({ kind: 'ready' }),
          (error: unknown) => post({ kind: 'unusable', refusal: refusalOf(error) }),
        );
        return;
      case 'call':
        void runCall(message);
        return;
      default:
        input.take(message);
    }
  };
}
