/**
 * @module core/limits
 * How long names and option strings from outside may be; checked before anything is done with them.
 */
import { usageError } from './errors.js';
import { grouped, quoted } from './printable.js';

/** Characters of the name of a feature, an extractor, an option, a model or a metric. */
const MAX_NAME = 256;

/** Characters of a feature string or a model string: names, values, and a path. */
export const MAX_STRING = 8192;

/**
 * Refuses a text that is longer than allowed.
 * @param what begins the message: `A feature name`
 * @throws {AnyvmafError} `usage`
 */
export function requireLength(what: string, text: string, most = MAX_NAME): void {
  if (text.length <= most) return;
  throw usageError(
    `${what} of ${grouped(text.length)} characters is too long; at most ${grouped(most)} are ` +
      `allowed: ${quoted(text, 60)}.`,
  );
}
