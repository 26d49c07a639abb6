/**
 * @module engine/inputs/no-reference
 * Pairs a distorted video with blank frames that no metric reads, for models without a reference.
 */
import { blankSource } from '../../media/blank.js';
import { openInput } from '../../media/open.js';
import { checkMeasurable, closeInput } from '../../media/pair.js';
import { factsOf, planPairing, type Side } from '../../media/pairing/prepare.js';
import type { InputOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import type { ScoreRequest } from '../contract/types.js';
import type { KnownInputs } from '../pair/known.js';
import { identifyVideo, limitedPicture, setBackWarnings } from './pairing.js';

/**
 * Identifies the distorted video.
 * @param signal aborts probing decoders; its reason is thrown
 * @throws {AnyvmafError} as the public `score`
 */
export async function identifyDistorted(
  platform: Platform,
  { distorted: video, raw }: ScoreRequest,
  checked: InputOptions,
  signal: AbortSignal,
): Promise<KnownInputs> {
  const { pairing, skip, frameCount } = checked;
  const input = await openInput(video, {
    raw,
    platform: platform.files,
    decoding: { urls: pairing.urls },
    signal,
  });
  try {
    const identified = await identifyVideo(platform, input, pairing, signal, 'distorted');
    const found = await limitedPicture('distorted', identified, signal);
    const distorted = pairing.filters
      ? await (await import('./filters.js')).filterAlone(platform, found, pairing, signal)
      : found;
    const { range } = pairing;
    const facts = factsOf(distorted);
    const { width, height, bitDepth, chroma } = facts;
    checkMeasurable({ width, height, bitDepth, chroma });
    const frames = distorted.times?.length ?? facts.frameCount;
    const reference: Side = {
      kind: 'frames',
      source: blankSource({ width, height, bitDepth, chroma }, frames),
      times: distorted.times,
    };
    const sides = { reference, distorted };
    const warnings =
      distorted.kind === 'frames'
        ? distorted.source.info.warnings
        : await setBackWarnings({ 'the video': distorted });
    if (distorted.kind === 'frames' && range === undefined && !pairing.filters) return { sides, warnings };
    const plan = planPairing(sides, {
      ...{ asked: pairing, offset: 0, frameCount, damage: pairing.damage, signal },
      skip: { reference: skip.distorted, distorted: skip.distorted },
    });
    return { sides, warnings, plan };
  } catch (error) {
    await closeInput(input);
    throw error;
  }
}
