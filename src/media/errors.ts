/**
 * @module media/errors
 * Errors about frames, typed so that a caller can tell a truncated video from other damage.
 */
import { AnyvmafError, type AnyvmafErrorOptions } from '../core/errors.js';
import { describeFormat, roundedDownChroma } from '../core/frame.js';
import type { OptionHint, Remedy } from '../core/hint.js';
import { printable, shown } from '../core/printable.js';
import { shellWord } from '../core/shell.js';
import type { TrackFacts } from './decoder.js';
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

/** Where and why a video ends too early. */
export interface EarlyEnd {
  /** Number of frames before the damage, all complete. */
  readonly frames: number;
  /** Presentation time of the last complete frame, in seconds. */
  readonly lastTime: number | undefined;
  /** True if the file ends there; false if it continues but cannot be decoded. */
  readonly cutOff: boolean;
  /** The evidence, a clause. */
  readonly text: string;
}

type Named = Pick<TrackFacts, 'name' | 'codec'>;

/** The error if damage is not allowed. */
export function earlyEndError(facts: Named, end: EarlyEnd): MediaError {
  return new MediaError(end.cutOff ? 'incomplete' : 'damaged', end.frames, where(facts, end), {
    hints: [
      'get the file again',
      { purpose: 'fix', option: 'allowDamaged', value: true, aim: 'to score what comes before' },
    ],
    file: facts.name,
  });
}

/** The warning if damage is allowed. */
export function earlyEndWarning(facts: Named, end: EarlyEnd): string {
  const { frames } = end;
  return `${where(facts, end)}; ${frames === 1 ? 'the frame before it is' : `the ${frames} frames before it are`} used.`;
}

/** The warning about missing packets that the decoder conceals or does not notice. */
export function gapWarning(name: string): string {
  return (
    `Packets are missing in ${shown(name)}: their counter jumps, as where a recording was cut or its reception was ` +
    'disturbed. Frames next to the jump may be damaged, though the decoder does not complain of them; look at the worst ' +
    'frames, or get the file again.'
  );
}

function where({ name, codec }: Named, { frames, lastTime, cutOff, text }: EarlyEnd): string {
  const what = cutOff ? 'is cut off' : 'is damaged';
  return `${shown(name)} ${what} at frame ${frames}${afterTime(lastTime)} (${codec}: ${shown(text)})`;
}

/** `, after 2.360 s`; empty if the time is unknown. */
export function afterTime(seconds: number | undefined): string {
  return seconds === undefined ? '' : `, after ${seconds.toFixed(3)} s`;
}
