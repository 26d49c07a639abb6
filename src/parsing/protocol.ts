/**
 * @module parsing/protocol
 * What a worker that parses foreign bytes and the thread that asked for it say to each other, the same over processes of
 * Node and module workers of browsers, and errors as they cross: known ones keep their code, hints and place.
 */
import { AnyvmafError, type ErrorCode, type ErrorData, errorData } from '../core/errors.js';
import { MediaError } from '../media/errors.js';

/** An error as it crosses to another thread. */
export interface Refusal extends ErrorData {
  /** What a `MediaError` says beside it. */
  readonly media?: { readonly reason: 'incomplete' | 'damaged'; readonly frame: number };
}

/** What is said when a thread has to be ended: the code, and the beginning of the sentence (`a.mkv cannot be read`). */
export interface FailureReason {
  readonly code: ErrorCode;
  readonly subject: string;
}

/** Messages to a parser thread. */
export type ToParser<Task = unknown> =
  /** The first message: load what the task needs, which is structured-cloneable. */
  | { readonly kind: 'begin'; readonly task: Task }
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly argument: unknown }
  /** Bytes that were asked for by `read`, fewer where the input ends; or why there are none. */
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: ArrayBuffer }
  | { readonly kind: 'unread'; readonly id: number; readonly refusal: Refusal };

/** Messages from a parser thread. */
export type FromParser =
  /** Please read this part of the input. */
  | { readonly kind: 'read'; readonly id: number; readonly position: number; readonly length: number }
  /** It has loaded what it needs. No foreign byte was read before. */
  | { readonly kind: 'ready' }
  /** It cannot load what it needs: calls are refused with this. */
  | { readonly kind: 'unusable'; readonly refusal: Refusal }
  /**
   * From now on it may be silent for so many milliseconds; when it is silent for longer, `reason` says what of. `Infinity`
   * around work that takes its time whatever the input is.
   */
  | { readonly kind: 'patience'; readonly silence: number; readonly reason: FailureReason }
  /** Its event loop turns, or it has got further. `progress` grows with what it has read or made; `waiting` while it waits for bytes. */
  | { readonly kind: 'alive'; readonly progress: number; readonly waiting: boolean }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly refusal: Refusal };

/**
 * A parser worker as its owner holds it: a thread or a process; platforms make them. By itself it does not keep a process
 * alive.
 */
export interface ParserWorker {
  /** Megabytes of JavaScript objects that it may have; absent where that cannot be limited. */
  readonly memory?: number;
  /** Whether it has more in memory than anything needs; absent where that is unknown. */
  isTooLarge?(): boolean;
  post(message: ToParser, transfer?: ArrayBuffer[]): void;
  /** Names the one receiver of messages, and of the news that the thread died: why. */
  listen(onMessage: (message: FromParser) => void, onDeath: (how: WorkerDeath) => void): void;
  /** Ends it whatever it is doing. */
  terminate(): void;
}

/** Why a thread is no more. */
export interface WorkerDeath {
  readonly outOfMemory: boolean;
  /** A sentence. */
  readonly how: string;
}

/** Milliseconds between two signs of life, and between two checks for them. */
export const BEAT = 100;

/** An error as it can cross. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof MediaError) {
    const { reason, frame } = error;
    return { ...errorData(error), media: { reason, frame } };
  }
  if (error instanceof AnyvmafError) return errorData(error);
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'internal', message: `A parser worker failed (${reason}).` };
}

/** The error that crossed. */
export function errorOf({ media, ...data }: Refusal): AnyvmafError {
  const { code, message } = data;
  return media
    ? new MediaError(media.reason, media.frame, message, data)
    : new AnyvmafError(code, message, data);
}
