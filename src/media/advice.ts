/**
 * @module media/advice
 * The command that error messages suggest for turning a file into one that can be read.
 */
import { printable } from '../core/printable.js';
import { shellWord } from '../core/shell.js';

/**
 * An ffmpeg command line that writes `name` as Y4M, keeping its size, frames and bit depth.
 * @param filter options between input and output, such as `-pix_fmt yuv422p`
 */
export function convertCommand(name: string, filter = ''): string {
  const middle = filter === '' ? '' : ` ${filter}`;
  return `ffmpeg -i ${shellWord(printable(name))}${middle} -strict -1 OUTPUT.y4m`;
}
