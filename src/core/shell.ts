/**
 * @module core/shell
 * Quotes words for POSIX shells.
 */

export const STANDARD_INPUT = 'standard input';

/** A file name that a shell takes as it is and that no program takes for an option. */
export function shellWord(text: string): string {
  if (text === STANDARD_INPUT) return '-';
  return text.startsWith('-') ? inQuotes(`./${text}`) : quotedWord(text);
}

export function quotedWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : inQuotes(text);
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
