/**
 * @module parsing/refusal
 * Errors on their way from one thread or process to another: known ones keep what programs look at, others are ours.
 */
import { AnyvmafError } from '../core/errors.js';
import { MediaError } from '../media/errors.js';
import type { Refusal } from './protocol.js';

/** An error as it can cross. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof MediaError) {
    const { code, message, reason, frame } = error;
    return { code, message, media: { reason, frame } };
  }
  if (error instanceof AnyvmafError) return { code: error.code, message: error.message };
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'internal', message: `A parser worker failed (${reason}).` };
}

/** The error that crossed. */
export function errorOf({ code, message, media }: Refusal): AnyvmafError {
  return media ? new MediaError(media.reason, media.frame, message) : new AnyvmafError(code, message);
}
