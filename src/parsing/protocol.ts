/**
 * @module parsing/protocol
 * Messages between a parser worker and its caller, the same for processes of Node and workers of browsers. Errors
 * keep their code, hints and place.
 */
import { AnyvmafError, type ErrorCode, type ErrorData, errorData } from '../core/errors.js';
import { MediaError } from '../media/errors.js';

export interface Refusal extends ErrorData {
  /** Additional fields of a `MediaError`. */
  readonly media?: { readonly reason: 'incomplete' | 'damaged'; readonly frame: number };
}

/** Code and beginning of the sentence (`a.mkv cannot be read`) for a worker that has to be ended. */
export interface FailureReason {
  readonly code: ErrorCode;
  readonly subject: string;
}

export type ToParser<Task = unknown> =
  /** The first message: load what the structured-cloneable task needs. */
  | { readonly kind: 'begin'; readonly task: Task }
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly argument: unknown }
  /** Answers to `read`: bytes, fewer at the end of the input, or why there are none. */
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: ArrayBuffer }
  | { readonly kind: 'unread'; readonly id: number; readonly refusal: Refusal };

export type FromParser =
  /** Requests a part of the input. */
  | { readonly kind: 'read'; readonly id: number; readonly position: number; readonly length: number }
  /** Loading is complete; no foreign byte was read before. */
  | { readonly kind: 'ready' }
  /** Loading failed: calls are refused with this. */
  | { readonly kind: 'unusable'; readonly refusal: Refusal }
  /**
   * From now on, it may be silent for this many milliseconds; a longer silence fails with `reason`. `Infinity` around
   * work whose time does not depend on the input.
   */
  | { readonly kind: 'patience'; readonly silence: number; readonly reason: FailureReason }
  /**
   * Its event loop runs, or it made progress. `progress` grows with what it has read or made; `waiting` while it
   * waits for bytes.
   */
  | { readonly kind: 'alive'; readonly progress: number; readonly waiting: boolean }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly refusal: Refusal };

/** A parser worker as its owner holds it: a thread or process made by the platform, which does not keep Node alive. */
export interface ParserWorker {
  /** Limit on JavaScript objects in megabytes; absent where that cannot be limited. */
  readonly memory?: number;
  /** True if it uses more memory than any input needs; absent where that is unknown. */
  isTooLarge?(): boolean;
  post(message: ToParser, transfer?: ArrayBuffer[]): void;
  /** Sets the one receiver of messages and of the worker's death. */
  listen(onMessage: (message: FromParser) => void, onDeath: (how: WorkerDeath) => void): void;
  /** Ends it at once. */
  terminate(): void;
}

export interface WorkerDeath {
  readonly outOfMemory: boolean;
  readonly how: string;
}

/** Milliseconds between signs of life, and between checks for them. */
export const BEAT = 100;

export function refusalOf(error: unknown): Refusal {
  if (error instanceof MediaError) {
    const { reason, frame } = error;
    return { ...errorData(error), media: { reason, frame } };
  }
  if (error instanceof AnyvmafError) return errorData(error);
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'internal', message: `A parser worker failed (${reason}).` };
}

export function errorOf({ media, ...data }: Refusal): AnyvmafError {
  const { code, message } = data;
  return media
    ? new MediaError(media.reason, media.frame, message, data)
    : new AnyvmafError(code, message, data);
}
