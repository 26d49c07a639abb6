/**
 * @module core/errors
 * The one error type that users meet: a full sentence that says what to do, and a stable code for programs.
 */
import { type Objection, objectionsText, type Remedy } from './hint.js';
import { sentence } from './printable.js';

/** Stable, documented reasons for an {@link AnyvmafError}. */
export type ErrorCode =
  /** An argument, option or option value that cannot be used. */
  | 'usage'
  /** A file that cannot be opened, read or written. */
  | 'io'
  /** A file that is not a video, or one that is damaged, truncated or unsupported. */
  | 'media'
  /** Two videos that cannot be compared as they are. */
  | 'mismatch'
  /** A model that does not exist or cannot be used. */
  | 'model'
  /** A feature extractor or one of its options that does not exist or cannot be used. */
  | 'feature'
  /** A backend that is missing, broken, or cannot do what was asked. */
  | 'backend'
  /** Files, memory, processes or the allowed time ran out: raise the limit, or run less at once. */
  | 'resource'
  /** The caller's signal asked to stop. */
  | 'aborted'
  /** A worker or the core failed; not the caller's fault. */
  | 'internal';

/** Which of the two videos. */
export type InputRole = 'reference' | 'distorted';

/** What an error carries besides its message. */
export interface AnyvmafErrorOptions extends ErrorOptions {
  /** What resolves it; appended to the message, which says only what is wrong. */
  readonly hints?: readonly Remedy[];
  readonly objections?: readonly Objection[];
  /** An option whose name is put before the message. */
  readonly about?: Objection['about'];
  readonly file?: string;
  readonly role?: InputRole;
}

/** Its message can be shown to users: one printable line of at most about 3,000 characters, whatever it quotes. */
export class AnyvmafError extends Error {
  override readonly name: string = 'AnyvmafError';
  readonly code: ErrorCode;

  /**
   * What was refused and what resolves it, for programs that name options in their own way; {@link message}
   * names them as the API does. Absent if there is no remedy in anyvmaf.
   */
  readonly objections?: readonly Objection[];

  /** Name of the video that it is about. */
  readonly file?: string;

  /** The input that it is about. */
  readonly role?: InputRole;

  constructor(code: ErrorCode, message: string, options: AnyvmafErrorOptions = {}) {
    const { hints, about, file, role } = options;
    const own = [{ message, about, hints: hints ?? [] }];
    const objections = hints?.length || about ? own : options.objections;
    super(
      sentence(hints || about ? objectionsText(own) : message),
      options.cause === undefined ? undefined : { cause: legible(options.cause) },
    );
    this.code = code;
    if (objections) this.objections = objections.map((one) => ({ ...one, message: sentence(one.message) }));
    if (file !== undefined) this.file = file;
    if (role) this.role = role;
  }
}

/** Codes of errors that a file can cause; others only pass through its reader. */
const OF_FILES: ReadonlySet<ErrorCode> = new Set(['io', 'media', 'usage']);

/** Adds the input's role to an error that a file can cause, unless it has one. */
export function aboutInput<E>(error: E, role: InputRole): E {
  if (error instanceof AnyvmafError && !error.role && OF_FILES.has(error.code))
    Object.assign(error, { role });
  return error;
}

/** Runs work on an input; its errors get the role. */
export async function ofInput<T>(role: InputRole, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw aboutInput(error, role);
  }
}

export function usageError(message: string, options?: AnyvmafErrorOptions): AnyvmafError {
  return new AnyvmafError('usage', message, options);
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error as data for other threads; `new AnyvmafError(code, message, data)` restores it. */
export interface ErrorData extends Pick<AnyvmafErrorOptions, 'objections' | 'file' | 'role'> {
  readonly code: ErrorCode;
  readonly message: string;
}

export function errorData({ code, message, objections, file, role }: AnyvmafError): ErrorData {
  return { code, message, objections, file, role };
}

/** Causes are printed below the error: one whose message is unprintable or too long is replaced by a clean copy. */
function legible(cause: unknown): unknown {
  if (typeof cause === 'string') return sentence(cause);
  if (!(cause instanceof Error) || cause instanceof AnyvmafError) return cause;
  const message = sentence(cause.message);
  if (message === cause.message.trim()) return cause;
  return Object.assign(new Error(message), { name: cause.name }, 'code' in cause && { code: cause.code });
}
