/**
 * @module media/advice
 * The command that error messages suggest for turning a file into one that can be read.
 */
import { printable } from '../core/printable.js';
import { shellWord } from '../core/shell.js';

/** What helps where nothing here decodes a video. A transcode would have another score than the encode. */
export const CONVERT_WITHOUT_LOSS = 'convert it without loss first: ffmpeg -i VIDEO -strict -1 OUTPUT.y4m';

/**
 * An ffmpeg command line that writes `name` as Y4M, keeping its size, frames and bit depth.
 * @param filter options between input and output, such as `-pix_fmt yuv422p`
 */
export function convertCommand(name: string, filter = ''): string {
  const middle = filter === '' ? '' : ` ${filter}`;
  return `ffmpeg -i ${shellWord(printable(name))}${middle} -strict -1 OUTPUT.y4m`;
}
