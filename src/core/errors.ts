/**
 * @module core/errors
 * The one error type that users meet: a full sentence that says what is wrong, its value, what was expected and what
 * to do, with a stable code for programs.
 */
import { type Objection, objectionsText, type Remedy } from './hint.js';
import { sentence } from './printable.js';

/** Stable, documented reasons for an {@link AnyvmafError}. */
export type ErrorCode =
  /** An argument, option or option value that cannot be used. */
  | 'usage'
  /** A file that cannot be opened, read or written. */
  | 'io'
  /** A video that is not one, is damaged, truncated or of an unsupported kind. */
  | 'media'
  /** Two videos that cannot be compared as they are. */
  | 'mismatch'
  /** A model that does not exist or cannot be used. */
  | 'model'
  /** A feature extractor or one of its options that does not exist or cannot be used. */
  | 'feature'
  /** A backend that is not here, does not work, or cannot do what was asked. */
  | 'backend'
  /** The system gives no more files, memory or processes: a limit to raise, or less to ask for at once. */
  | 'resource'
  /** The caller's signal asked to stop. */
  | 'aborted'
  /** A worker or the core failed; not the caller's fault. */
  | 'internal';

/** Which of the two videos. */
export type InputRole = 'reference' | 'distorted';

/** What an error may carry besides its message. */
export interface AnyvmafErrorOptions extends ErrorOptions {
  /** What resolves it; the message says only what is wrong, and the remedies are added to it. */
  readonly hints?: readonly Remedy[];
  readonly objections?: readonly Objection[];
  /** An option that the message is about, which goes on after its name. */
  readonly about?: Objection['about'];
  readonly file?: string;
  readonly role?: InputRole;
}

/**
 * An error whose message is meant for the user as it stands: one printable line of at most about 3,000 characters,
 * whatever it repeats of a file.
 */
export class AnyvmafError extends Error {
  override readonly name: string = 'AnyvmafError';
  readonly code: ErrorCode;

  /**
   * What was refused and what resolves it, for programs that have other words for options than {@link message}, which
   * says it as programs write it; absent where nothing that anyvmaf has resolves it.
   */
  readonly objections?: readonly Objection[];

  /** Name of the video that it is about, where it is about one. */
  readonly file?: string;

  /** Which input it is about, where it is about one of the two. */
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

/** Codes of errors that a file may cause; errors of other codes only pass through its reader. */
const OF_FILES: ReadonlySet<ErrorCode> = new Set(['io', 'media', 'usage']);

/** The error, with the input that it is about if it is about a file and does not say so yet. */
export function aboutInput<E>(error: E, role: InputRole): E {
  if (error instanceof AnyvmafError && !error.role && OF_FILES.has(error.code))
    Object.assign(error, { role });
  return error;
}

/** Does work on an input; an error says which input it is about. */
export async function ofInput<T>(role: InputRole, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw aboutInput(error, role);
  }
}

/** The error about an argument or option that cannot be used. */
export function usageError(message: string, options?: AnyvmafErrorOptions): AnyvmafError {
  return new AnyvmafError('usage', message, options);
}

/** What of an error crosses to other threads, where `new AnyvmafError(code, message, data)` makes it again. */
export interface ErrorData extends Pick<AnyvmafErrorOptions, 'objections' | 'file' | 'role'> {
  readonly code: ErrorCode;
  readonly message: string;
}

/** An error as it can cross to another thread. */
export function errorData({ code, message, objections, file, role }: AnyvmafError): ErrorData {
  return { code, message, objections, file, role };
}

/** A cause is printed below the error: one whose message is not fit for that is replaced by a copy that is. */
function legible(cause: unknown): unknown {
  if (typeof cause === 'string') return sentence(cause);
  if (!(cause instanceof Error) || cause instanceof AnyvmafError) return cause;
  const message = sentence(cause.message);
  if (message === cause.message.trim()) return cause;
  return Object.assign(new Error(message), { name: cause.name }, 'code' in cause && { code: cause.code });
}
