/**
 * @module media/errors
 * Errors about frames, typed so that a caller can tell a truncated video from other damage.
 */
import { AnyvmafError, type AnyvmafErrorOptions } from '../core/errors.js';
import { describeFormat, roundedDownChroma } from '../core/frame.js';
import type { OptionHint, Remedy } from '../core/hint.js';
import { shown } from '../core/printable.js';
import type { IncompleteFrame, VideoInfo } from './types.js';

/** Possible reasons why a file is not recognised. */
export const DECLARE_RAW: Remedy = { purpose: 'declare', option: 'raw' };

/** Lets what is named by URL be fetched. */
export const FETCH_URL = { purpose: 'fix', option: 'allowUrl', value: true } as const satisfies OptionHint;

/** A frame of an open video cannot be read. */
export class MediaError extends AnyvmafError {
  /** `incomplete`: the data end within the frame. `damaged`: no frame begins at its position. */
  readonly reason: 'incomplete' | 'damaged';
  /** 0-based number of the frame; all frames before it are whole. */
  readonly frame: number;

  constructor(
    reason: 'incomplete' | 'damaged',
    frame: number,
    message: string,
    options?: AnyvmafErrorOptions,
  ) {
    super('media', message, options);
    this.reason = reason;
    this.frame = frame;
  }
}

/** Bytes of a file, or text read as Latin-1 from them, quoted; all but printable ASCII becomes `\xNN`. */
export function quoted(found: string | Uint8Array): string {
  const text = typeof found === 'string' ? found : String.fromCharCode(...found.subarray(0, SHOWN));
  return `"${text.slice(0, SHOWN).replace(/[^\x20-\x7e]/g, hexEscape)}"${text.length > SHOWN ? ` (${text.length} characters)` : ''}`;
}

/** Most characters of a header in a message. */
const SHOWN = 80;

function hexEscape(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/**
 * The error for reading the incomplete last frame (cli-formats-metrics B.5).
 * @param hints fixes other than a correct format
 */
export function incompleteFrame(
  info: VideoInfo,
  at: IncompleteFrame,
  hints: readonly Remedy[] = [],
): MediaError {
  const { index, expectedBytes, foundBytes } = at;
  const bytes = `${expectedBytes} bytes expected, ${foundBytes} found`;
  const what = `frame ${index} of ${shown(info.name)} is incomplete: ${bytes}`;
  const refuse = (why: string, all = hints) =>
    new MediaError('incomplete', index, `${what}; ${why}`, { hints: all, file: info.name });
  if (info.container !== 'yuv') return refuse('the video is truncated');
  const size = index * expectedBytes + foundBytes;
  const roundedDown = roundedDownChroma(info, size);
  if (roundedDown !== undefined) return refuse(roundedDown);
  return refuse(
    `${size} bytes hold ${index} whole frame${index === 1 ? '' : 's'} of ${describeFormat(info)} (${expectedBytes} ` +
      'bytes each), so that the video is truncated or its format another',
    [{ purpose: 'check', option: 'raw' }, ...hints],
  );
}

/**
 * The error for bytes that are not a frame where one should begin.
 * @param position byte at which the frame should begin, from the start of the data
 * @param found the bytes at that position
 */
export function lostFraming(name: string, index: number, position: number, found: Uint8Array): MediaError {
  return new MediaError(
    'damaged',
    index,
    `frame ${index} of ${shown(name)} should begin with "FRAME" at byte ${position}, but ` +
      `${quoted(found.subarray(0, 5))} stands there; ` +
      'the file is damaged, or its header states a wrong size or chroma format.',
  );
}
