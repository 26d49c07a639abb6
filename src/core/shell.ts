/**
 * @module core/shell
 * Words of command lines that a POSIX shell takes as they are.
 */

/** What messages and reports call standard input. */
export const STANDARD_INPUT = 'standard input';

/** A file's name as a word that a shell takes as it is, and no program as an option. */
export function shellWord(text: string): string {
  if (text === STANDARD_INPUT) return '-';
  return text.startsWith('-') ? inQuotes(`./${text}`) : quotedWord(text);
}

/** An argument as a word that a shell takes as it is. */
export function quotedWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : inQuotes(text);
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
