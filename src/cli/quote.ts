/**
 * @module cli/quote
 * Writes a command line so that a POSIX shell reads it back as it was.
 */
import { quotedWord } from '../core/shell.js';

/** The arguments as one line. */
export function commandLine(program: string, args: readonly string[]): string {
  return [program, ...args.map(quotedWord)].join(' ');
}
