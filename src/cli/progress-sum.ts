/**
 * @module cli/progress-sum
 * The progress of several runs that go on at the same time, as one.
 */
import type { Progress } from '../engine/contract/types.js';

/**
 * Adds up what runs report.
 * @param count how many runs there are
 * @param show receives the sum whenever one of them has moved
 * @returns takes the progress of a run; `null` says that it is given up, and no longer counts
 */
export function progressSum(
  count: number,
  show: (progress: Progress) => void,
): (progress: Progress | null, index: number) => void {
  const runs = new Map<number, Progress>();
  let left = count;
  return (progress, index) => {
    if (progress) runs.set(index, progress);
    else {
      runs.delete(index);
      left--;
    }
    if (runs.size === 0) return;
    const all = [...runs.values()];
    const totals = all.map(({ framesTotal }) => framesTotal);
    const known = runs.size === left && !totals.includes(null);
    const seconds = all.map(({ secondsLeft }) => secondsLeft ?? Number.NaN);
    const longest = known ? Math.max(...seconds) : Number.NaN;
    show({
      framesDone: all.reduce((sum, { framesDone }) => sum + framesDone, 0),
      framesTotal: known ? totals.reduce((sum: number, total) => sum + (total ?? 0), 0) : null,
      fps: all.reduce((sum, { fps }) => sum + fps, 0),
      secondsLeft: Number.isNaN(longest) ? null : longest,
    });
  };
}
