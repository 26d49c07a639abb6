/**
 * @module media/preflight/dolby-vision
 * Findings about Dolby Vision of profile 5, whose samples no player shows as they are.
 */
import { finding } from './text.js';
import type { Finding, SideFacts } from './types.js';

/** The profile without a base layer that other displays can show. */
const UNSHOWABLE = 5;

const SAMPLES =
  'its samples are IPT in PQ, which metadata reshapes for the display, and decoders hand them out as they are';

/** What is to be said where either video is of that profile; nothing else. */
export function* dolbyVisionFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference, distorted].map(isProfile5);
  if (!ref && !dis) return;
  const named = ({ dolbyVision }: SideFacts) => (dolbyVision === undefined ? null : `profile ${dolbyVision}`);
  const values = [named(reference), named(distorted)] as const;
  if (ref && dis) {
    yield finding(
      'hdr',
      'warning',
      `both videos are Dolby Vision profile 5: ${SAMPLES}, so that VMAF, trained on standard dynamic range, reads PQ intensity ` +
        'before it is reshaped; compare such scores only with each other.',
      values,
    );
    return;
  }
  const [who, other] = ref ? ['reference', 'distorted'] : ['distorted', 'reference'];
  yield finding(
    'dolby-vision',
    'warning',
    `${who} is Dolby Vision profile 5 but ${other} is not: ${SAMPLES}; equal sample values mean other light and colours, so the ` +
      'score of this pair means nothing, however high it is. Compare what both were encoded from, or two videos of profile 5.',
    values,
  );
}

/** Whether a video is Dolby Vision of profile 5. */
export function isProfile5({ dolbyVision }: SideFacts): boolean {
  return dolbyVision === UNSHOWABLE;
}
