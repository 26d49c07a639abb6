/**
 * @module media/damage
 * The one sentence about a video that ends before it should, whichever decoder finds out.
 */
import { shown } from '../core/printable.js';
import type { TrackFacts } from './decoder.js';
import { MediaError } from './errors.js';

/** Where a video ends too early, and why. */
export interface EarlyEnd {
  /** Frames before it, all of them whole. */
  readonly frames: number;
  /** Presentation time of the last of them, in seconds. */
  readonly lastTime: number | undefined;
  /** The file ends; otherwise it goes on, and cannot be decoded. */
  readonly cutOff: boolean;
  /** What tells so, a clause. */
  readonly text: string;
}

type Named = Pick<TrackFacts, 'name' | 'codec'>;

/** The error where damage was not allowed. */
export function earlyEndError(facts: Named, end: EarlyEnd): MediaError {
  return new MediaError(end.cutOff ? 'incomplete' : 'damaged', end.frames, where(facts, end), {
    hints: [
      'get the file anew',
      { purpose: 'fix', option: 'allowDamaged', value: true, aim: 'to score what comes before' },
    ],
    file: facts.name,
  });
}

/** The warning where it was. */
export function earlyEndWarning(facts: Named, end: EarlyEnd): string {
  const { frames } = end;
  return `${where(facts, end)}; ${frames === 1 ? 'the frame before it is' : `the ${frames} frames before it are`} used.`;
}

/** The warning where packets are missing that the decoder makes up for, or does not notice. */
export function gapWarning(name: string): string {
  return (
    `Packets are missing in ${shown(name)}: their counter jumps, as where a recording was cut or its reception was ` +
    'disturbed. Frames next to the jump may be damaged, though the decoder does not complain of them; look at the worst ' +
    'frames, or get the file anew.'
  );
}

function where({ name, codec }: Named, { frames, lastTime, cutOff, text }: EarlyEnd): string {
  const what = cutOff ? 'is cut off' : 'is damaged';
  return `${shown(name)} ${what} at frame ${frames}${afterTime(lastTime)} (${codec}: ${shown(text)})`;
}

/** `, after 2.360 s`; nothing where the time is not known. */
export function afterTime(seconds: number | undefined): string {
  return seconds === undefined ? '' : `, after ${seconds.toFixed(3)} s`;
}
