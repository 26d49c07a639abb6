/**
 * @module web/frames/worst
 * Worst moments to jump to; the same as in reports.
 */
import { type FrameMetrics, frameGap, type Ranking, type Report, ranking, worstFrames } from 'anyvmaf';

/** Most moments. */
const MOST = 20;

/** The ranking metric of frames; during a run the first model's score. */
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
 * The moment before or after the current one, ordered from worst to best; the worst if none is current.
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
