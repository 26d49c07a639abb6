/**
 * @module media/errors
 * Errors about frames, typed so that a caller can tell a truncated video from other damage.
 */
import { AnyvmafError, type AnyvmafErrorOptions, type OptionHint, type Remedy } from '../core/errors.js';
import { describeFormat, roundedDownChroma } from '../core/frame.js';
import { shellWord } from '../core/names.js';
import { printable, shown } from '../core/printable.js';
import type { TrackFacts } from './decoder.js';
import type { IncompleteFrame, VideoInfo } from './types.js';

export const DECLARE_RAW: Remedy = { purpose: 'declare', option: 'raw' };
export const FETCH_URL = { purpose: 'fix', option: 'allowUrl', value: true } as const satisfies OptionHint;

/** A frame of an open video cannot be read. */
export class MediaError extends AnyvmafError {
  /** `incomplete`: the data end within the frame. `damaged`: no frame begins at its position. */
  readonly reason: 'incomplete' | 'damaged';
  /** 0-based; all frames before it are complete. */
  readonly frame: number;

  constructor(reason: MediaError['reason'], frame: number, message: string, options?: AnyvmafErrorOptions) {
    super('media', message, options);
    this.reason = reason;
    this.frame = frame;
  }
}

/** Quotes bytes of a file, or Latin-1 text from them; all but printable ASCII becomes `\xNN`. */
export function quoted(found: string | Uint8Array): string {
  const text = typeof found === 'string' ? found : String.fromCharCode(...found.subarray(0, SHOWN));
  const escaped = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  const more = text.length > SHOWN ? ` (${text.length} characters)` : '';
  return `"${text.slice(0, SHOWN).replace(/[^\x20-\x7e]/g, escaped)}"${more}`;
}

const SHOWN = 80;

const WHOLE_FRAMES: Remedy = {
  purpose: 'fix',
  option: 'allowDamaged',
  value: true,
  aim: 'to score the whole frames',
};

/** @param hints fixes other than a correct format */
export function incompleteFrame(
  info: VideoInfo,
  at: IncompleteFrame,
  hints: readonly Remedy[] = [WHOLE_FRAMES],
): MediaError {
  const { index, expectedBytes, foundBytes } = at;
  const bytes = `${expectedBytes} bytes expected, ${foundBytes} found`;
  const problem = `frame ${index} of ${shown(info.name)} is incomplete: ${bytes}`;
  const refuse = (why: string, all = hints) =>
    new MediaError('incomplete', index, `${problem}; ${why}`, { hints: all, file: info.name });
  if (info.container !== 'yuv') return refuse('the video is truncated');
  const size = index * expectedBytes + foundBytes;
  const roundedDown = roundedDownChroma(info, size);
  if (roundedDown !== undefined) return refuse(roundedDown, []);
  return refuse(
    `${size} bytes hold ${index} whole frame${index === 1 ? '' : 's'} of ${describeFormat(info)} (${expectedBytes} ` +
      'bytes each), so the video is truncated or the declared format is wrong',
    [{ purpose: 'check', option: 'raw' }, ...hints],
  );
}

/** Reported if damage is accepted. */
export function incompleteFrameWarning({ name }: VideoInfo, at: IncompleteFrame): string {
  const { index, expectedBytes, foundBytes } = at;
  return (
    `${shown(name)} ends within frame ${index} (${foundBytes} of ${expectedBytes} bytes found); the frames before it ` +
    'are used.'
  );
}

/** @param found the bytes at `position`, in bytes from the start of the data, where the frame should begin */
export function lostFraming(name: string, index: number, position: number, found: Uint8Array): MediaError {
  return new MediaError(
    'damaged',
    index,
    `frame ${index} of ${shown(name)} should start with "FRAME" at byte ${position}, found ` +
      `${quoted(found.subarray(0, 5))} instead; ` +
      'the file is damaged, or its header states a wrong size or chroma format.',
  );
}

/** For platforms that cannot decode a video; a lossy transcode would change the score. */
export const CONVERT_WITHOUT_LOSS = 'convert it losslessly first: ffmpeg -i VIDEO -strict -1 OUTPUT.y4m';

/** Keeps size, frames and bit depth; `filter` holds options before the output, such as `-pix_fmt yuv422p`. */
export function convertCommand(name: string, filter = ''): string {
  const middle = filter === '' ? '' : ` ${filter}`;
  return `ffmpeg -i ${shellWord(printable(name))}${middle} -strict -1 OUTPUT.y4m`;
}

export interface EarlyEnd {
  /** Frames before the damage, all complete. */
  readonly frames: number;
  /** Presentation time of the last complete frame, in seconds. */
  readonly lastTime: number | undefined;
  /** True if the file ends there; false if it continues but cannot be decoded. */
  readonly cutOff: boolean;
  /** The evidence, as a clause. */
  readonly text: string;
}

type Named = Pick<TrackFacts, 'name' | 'codec'>;

/** Thrown unless damage is accepted. */
export function earlyEndError(facts: Named, end: EarlyEnd): MediaError {
  return new MediaError(end.cutOff ? 'incomplete' : 'damaged', end.frames, where(facts, end), {
    hints: [
      'download or copy the file again',
      { purpose: 'fix', option: 'allowDamaged', value: true, aim: 'to score the frames before it' },
    ],
    file: facts.name,
  });
}

/** Reported if damage is accepted. */
export function earlyEndWarning(facts: Named, end: EarlyEnd): string {
  const { frames } = end;
  return `${where(facts, end)}; ${frames === 1 ? 'the frame before it is' : `the ${frames} frames before it are`} used.`;
}

/** Packets are missing that the decoder conceals or does not notice. */
export function gapWarning(name: string): string {
  return (
    `Packets are missing in ${shown(name)}: their counter jumps, as after a cut or disturbed reception. Frames near the ` +
    'jump may be damaged even if the decoder reports no error; check the worst frames, or get an intact copy of the file.'
  );
}

function where({ name, codec }: Named, { frames, lastTime, cutOff, text }: EarlyEnd): string {
  const state = cutOff ? 'is cut off' : 'is damaged';
  return `${shown(name)} ${state} at frame ${frames}${afterTime(lastTime)} (${codec}: ${shown(text)})`;
}

/** For example `, after 2.360 s`; empty if the time is unknown. */
export function afterTime(seconds: number | undefined): string {
  return seconds === undefined ? '' : `, after ${seconds.toFixed(3)} s`;
}
