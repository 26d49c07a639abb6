/**
 * @module engine/inputs/sides
 * Finds decoders for what is encoded, and the times of all frames.
 */
import { chooseDecoder, readTimes } from '../../media/decoders.js';
import type { OpenedInput } from '../../media/pair.js';
import type { Side, Sides } from '../../media/pairing/prepare.js';
import type { VideoInfo } from '../../media/types.js';
import type { CheckedPairing } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';

/**
 * Both sides, asked at the same time.
 * @throws {AnyvmafError} as {@link chooseDecoder}
 */
export async function knowSides(
  platform: Platform,
  inputs: readonly [OpenedInput, OpenedInput],
  pairing: CheckedPairing,
  signal: AbortSignal,
): Promise<Sides> {
  const know = (input: OpenedInput) => knowSide(platform, input, pairing, signal);
  const [reference, distorted] = await Promise.allSettled([know(inputs[0]), know(inputs[1])]);
  // When both fail, which was faster must not decide which is told.
  if (reference.status === 'rejected') throw reference.reason;
  if (distorted.status === 'rejected') throw distorted.reason;
  return { reference: reference.value, distorted: distorted.value };
}

/**
 * One side.
 * @throws {AnyvmafError} as {@link chooseDecoder}
 */
export async function knowSide(
  platform: Platform,
  input: OpenedInput,
  { decoder: choice, allowUrl }: CheckedPairing,
  signal: AbortSignal,
): Promise<Side> {
  if (!('kind' in input)) return { kind: 'frames', source: input, times: storedTimes(input.info) };
  const decoders = choice === 'none' ? [] : await platform.decoders({ allowUrl });
  const chosen = await chooseDecoder(input, { choice, decoders, signal });
  const { video, times } = await readTimes(chosen, signal);
  const setBacks = (await video.decoder.setBacks?.(video.input)) ?? [];
  return {
    kind: 'encoded',
    video,
    times: times && times.length > 0 ? times : null,
    ...(setBacks.length > 0 && { setBacks }),
  };
}

/** Frames at the rate that the header states; `null` where rate or number is not known. */
function storedTimes({ frameRate, frameCount }: VideoInfo): Float64Array | null {
  if (!frameRate || frameCount === null) return null;
  return Float64Array.from({ length: frameCount }, (_, n) => (n * frameRate.den) / frameRate.num);
}
