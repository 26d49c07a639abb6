/**
 * @module cli/progress-bar
 * Draws the progress of a run in the last line of a terminal.
 */
import { printable } from '../core/printable.js';
import type { Progress } from '../index.js';
import { cut, formatProgress } from '../report/terminal.js';
import type { Terminal } from './terminal.js';

export interface ProgressBar {
  show(progress: Progress): void;
  /** Shows words until there is progress to show. */
  say(words: string): void;
  clear(): void;
}

const ERASE_LINE = '\r\u001b[K';

/** Columns left free, so that the line never wraps, not even by the `^C` that a terminal echoes. */
const MARGIN = 3;

/** Reads the width at every redraw, since the window may be resized. */
export function progressBar(terminal: Terminal): ProgressBar {
  let shown = false;
  return {
    show: (progress) => {
      const line = formatProgress(progress, {
        width: terminal.errorColumns - MARGIN,
        color: terminal.errorColour,
      });
      terminal.draw(ERASE_LINE + line);
      shown = true;
    },
    say: (words) => {
      const room = Math.max(0, terminal.errorColumns - MARGIN);
      terminal.draw(ERASE_LINE + cut(printable(words), room, 'both'));
      shown = true;
    },
    clear: () => {
      if (shown) terminal.draw(ERASE_LINE);
      shown = false;
    },
  };
}

/**
 * Sums the progress of concurrent runs.
 * @param count number of runs
 * @param show receives the sum after each report
 * @returns takes the progress of a run; `null` removes a failed one from the sum
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
