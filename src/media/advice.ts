/**
 * @module media/advice
 * Commands that error messages suggest for turning a file into one that can be read.
 */
import { printable } from '../core/printable.js';

/** What messages and reports call standard input. */
export const STANDARD_INPUT = 'standard input';

/**
 * An ffmpeg command line that writes `name` as Y4M, keeping its size, frames and bit depth.
 * @param filter options between input and output, such as `-pix_fmt yuv422p`
 */
export function convertCommand(name: string, filter = ''): string {
  const middle = filter === '' ? '' : ` ${filter}`;
  return `ffmpeg -i ${shellWord(printable(name))}${middle} -strict -1 OUTPUT.y4m`;
}

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
