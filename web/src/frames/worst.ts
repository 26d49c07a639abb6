/**
 * @module web/frames/worst
 * The moments to jump to: the same that the list of worst moments and the reports name.
 */
import { type FrameMetrics, frameGap, type Ranking, type Report, ranking, worstFrames } from 'anyvmaf';

/** Moments that are offered. */
const MOST = 20;

/** What the frames are ranked by: the first model's score, as far as is known while scores come. */
export function rankingOf(frames: readonly FrameMetrics[], report: Report | undefined): Ranking | undefined {
  if (report) return ranking(report);
  const metrics = Object.keys(frames[0]?.metrics ?? {});
  const score = metrics.find((name) => name.startsWith('vmaf'));
  return score === undefined ? ranking({ models: [], metrics }) : { metric: score, worse: 'low' };
}

/** Numbers of the worst frames, the worst first, one of each moment. */
export function worstMoments(
  frames: readonly FrameMetrics[],
  by: Ranking | undefined,
  report: Report | undefined,
): number[] {
  if (!by) return [];
  return worstFrames({ frames }, by, MOST, frameGap(report ?? {})).map(({ frameNum }) => frameNum);
}

/**
 * The moment after or before the one on show, in the order from worst to best; the worst where none is on show.
 * @param direction 1 for the next worst, -1 for the one before
 */
export function besideMoment(
  moments: readonly number[],
  frame: number,
  direction: 1 | -1,
): number | undefined {
  const at = moments.indexOf(frame);
  if (at < 0) return moments[0];
  return moments[Math.max(0, Math.min(moments.length - 1, at + direction))];
}
