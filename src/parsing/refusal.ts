/**
 * @module parsing/refusal
 * Errors between threads and processes: known ones keep their code, hints and place; others become `internal`.
 */
import { AnyvmafError, errorData } from '../core/errors.js';
import { MediaError } from '../media/errors.js';
import type { Refusal } from './protocol.js';

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
