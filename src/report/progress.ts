/**
 * @module report/progress
 * One line that says how far a run is, for a terminal that redraws it.
 */
import { requireNumber, requireObject } from '../core/arguments.js';
import { counted } from '../core/printable.js';
import { formatFixed } from '../core/printf.js';
import { clock, paint } from './terminal.js';

/** What the line shows; `Progress` of a run is one. */
export interface ProgressView {
  /** Frame pairs measured so far. */
  readonly framesDone: number;
  /** Frame pairs in all, `null` while unknown. */
  readonly framesTotal: number | null;
  /** Frame pairs per second so far. */
  readonly fps: number;
  /** Estimated seconds left, `null` while unknown. */
  readonly secondsLeft: number | null;
}

export interface ProgressOptions {
  /** Columns of the terminal; the line never takes more. Default 80. */
  readonly width?: number;
  /** Default false. */
  readonly color?: boolean;
}

const MIN_BAR = 8;
const MAX_BAR = 40;

/**
 * `  42% ████████░░░░░░░░░░░  420/1000 frames   35.2 fps   0:16 left`, without a line end. The bar takes what width is
 * left; in a narrow terminal parts go, the least important first: bar, time, speed. With an unknown total there is
 * neither percentage nor bar.
 */
export function formatProgress(progress: ProgressView, options: ProgressOptions = {}): string {
  requireObject('progress', progress, 'what onProgress tells');
  requireObject('options', options);
  const { width = 80, color = false } = options;
  const { framesDone, framesTotal, fps, secondsLeft } = progress;
  requireNumber('framesDone', framesDone);
  if (framesTotal !== null) requireNumber('framesTotal', framesTotal, 'a number or null');
  const style = paint(color);
  const speed = Number.isFinite(fps) ? [`${formatFixed(fps, 1).padStart(6)} fps`] : [];
  if (framesTotal === null)
    return firstFitting([[counted(framesDone, 'frame'), ...speed], [counted(framesDone, 'frame')]], width);

  const share = framesTotal > 0 ? Math.min(1, framesDone / framesTotal) : 1;
  // Rounded down: 100 % is said only when all is done.
  const percent = `${String(Math.floor(share * 100)).padStart(3)}%`;
  const count = `${String(framesDone).padStart(String(framesTotal).length)}/${counted(framesTotal, 'frame')}`;
  const left =
    secondsLeft !== null && Number.isFinite(secondsLeft) ? [`${clock(secondsLeft).padStart(6)} left`] : [];
  const all = [count, ...speed, ...left];
  const bar = Math.min(MAX_BAR, width - percent.length - GAP.length - joined(all).length - GAP.length);
  if (bar >= MIN_BAR) {
    const full = Math.floor(share * bar);
    return joined([percent, style.good('█'.repeat(full)) + style.dim('░'.repeat(bar - full)), ...all]);
  }
  return firstFitting([[percent, ...all], [percent, count, ...speed], [percent, count], [percent]], width);
}

const GAP = '  ';

function joined(parts: readonly string[]): string {
  return parts.join(GAP);
}

/** The first choice that fits, or nothing. */
function firstFitting(choices: readonly (readonly string[])[], width: number): string {
  return choices.map(joined).find((line) => line.length <= width) ?? '';
}
