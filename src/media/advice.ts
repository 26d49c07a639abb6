/**
 * @module media/advice
 * Commands that error messages suggest for turning a file into one that can be read.
 */
import { printable } from '../printable.js';

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

function shellWord(text: string): string {
  if (text === STANDARD_INPUT) return '-';
  if (/^[\w./:@%+,=][\w./:@%+,=-]*$/.test(text)) return text;
  const path = text.startsWith('-') ? `./${text}` : text;
  return `'${path.replaceAll("'", "'\\''")}'`;
}
