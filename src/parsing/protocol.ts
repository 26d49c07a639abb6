/**
 * @module parsing/protocol
 * Messages between a parser worker and its caller, for Node processes and browser workers. Errors keep their code, hints
 * and place.
 */
import { AnyvmafError, type ErrorCode, type ErrorData, errorData } from '../core/errors.js';
import { MediaError } from '../media/errors.js';

export interface Refusal extends ErrorData {
  readonly media?: { readonly reason: 'incomplete' | 'damaged'; readonly frame: number };
}

/** Error code and start of the sentence (`a.mkv cannot be read`) if a worker has to be ended. */
export interface FailureReason {
  readonly code: ErrorCode;
  readonly subject: string;
}

export type ToParser<Task = unknown> =
  /** First message: load what the structured-cloneable task needs. */
  | { readonly kind: 'begin'; readonly task: Task }
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly argument: unknown }
  /** Answers to `read`: bytes, fewer at the end of the input, or an error. */
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: ArrayBuffer }
  | { readonly kind: 'unread'; readonly id: number; readonly refusal: Refusal };

export type FromParser =
  | { readonly kind: 'read'; readonly id: number; readonly position: number; readonly length: number }
  /** Loading is complete; no foreign byte has been read yet. */
  | { readonly kind: 'ready' }
  /** Loading failed: calls fail with this. */
  | { readonly kind: 'unusable'; readonly refusal: Refusal }
  /** A longer silence in milliseconds now fails with `reason`. `Infinity`: the work does not depend on the input. */
  | { readonly kind: 'patience'; readonly silence: number; readonly reason: FailureReason }
  /** Heartbeat, or progress. `progress` grows with each read or result; `waiting` while it waits for bytes. */
  | { readonly kind: 'alive'; readonly progress: number; readonly waiting: boolean }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly refusal: Refusal };

/** A thread or process made by the platform, which does not keep Node alive. */
export interface ParserWorker {
  /** Limit on JavaScript objects in megabytes; absent where there is none. */
  readonly memory?: number;
  /** True if it uses more memory than any input needs; absent where that is unknown. */
  isTooLarge?(): boolean;
  post(message: ToParser, transfer?: ArrayBuffer[]): void;
  /** Sets the only receiver of messages and of the worker's death. */
  listen(onMessage: (message: FromParser) => void, onDeath: (how: WorkerDeath) => void): void;
  terminate(): void;
}

export interface WorkerDeath {
  readonly outOfMemory: boolean;
  readonly how: string;
}

/** Milliseconds between heartbeats, and between checks for them. */
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
