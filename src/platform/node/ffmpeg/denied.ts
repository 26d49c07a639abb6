/**
 * @module platform/node/ffmpeg/denied
 * Errors for inputs that ffmpeg was not allowed to open.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { shown } from '../../../core/printable.js';
import type { Denial } from '../../ffmpeg/access.js';
import type { FfmpegInput } from './input.js';

/**
 * Why an input was not opened. What names other files is final (`io`): no other decoder is to try it.
 */
export function denied({ name, remote }: FfmpegInput, denial: Denial): AnyvmafError {
  const what = shown(name);
  switch (denial.kind) {
    case 'playlist':
      return new AnyvmafError(
        'io',
        `${what} is not a video but makes ffmpeg open other files (${denial.format}), which is not allowed here; give the ` +
          'video itself, in one file.',
      );
    case 'protocol':
      return new AnyvmafError('io', `${what} makes ffmpeg open what it may not (${shown(denial.protocol)})`, {
        hints: [
          remote
            ? 'what is fetched may name URLs only'
            : { purpose: 'fix', option: 'allowUrl', value: true, aim: 'if it names URLs that you trust' },
        ],
      });
    case 'text':
      return new AnyvmafError('media', `${what} is a text file, not a video.`);
    case 'format':
      return new AnyvmafError(
        'media',
        `${what} is of a format that is not opened as video (${denial.format}); convert it to MP4 or Matroska first.`,
      );
  }
}
