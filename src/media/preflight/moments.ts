/**
 * @module media/preflight/moments
 * Which of the measured frames of both videos show the same moment.
 */
import { rateOf } from './text.js';
import type { SideFacts } from './types.js';

/** Whether the `k`-th measured frames are at most a frame apart: by time where both have times, else by number. */
export function showSameMoment(reference: SideFacts, distorted: SideFacts, k: number): boolean {
  const [ref, dis] = [reference.measured?.frames[k], distorted.measured?.frames[k]];
  if (ref === undefined || dis === undefined) return false;
  const [refRate, disRate] = [rateOf(reference), rateOf(distorted)];
  if (!reference.timestamps || !distorted.timestamps || !refRate || !disRate) return Math.abs(ref - dis) <= 1;
  return Math.abs(ref / refRate - dis / disRate) * Math.min(refRate, disRate) <= 1;
}
