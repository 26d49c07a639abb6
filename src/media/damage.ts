/**
 * @module media/damage
 * Errors and warnings about videos that end too early, the same for all decoders.
 */
import { shown } from '../core/printable.js';
import type { TrackFacts } from './decoder.js';
import { MediaError } from './errors.js';

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
