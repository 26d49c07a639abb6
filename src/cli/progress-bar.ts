/**
 * @module cli/progress-bar
 * Draws the progress of a run in the last line of a terminal, and takes it away again.
 */
import { printable } from '../core/printable.js';
import type { Progress } from '../engine/contract/types.js';
import { formatProgress } from '../report/progress.js';
import { cut } from '../report/terminal.js';
import type { Terminal } from './terminal.js';

/** A line on standard error that shows how far a run is. */
export interface ProgressBar {
  show(progress: Progress): void;
  /** Shows a few words until there is progress to show. */
  say(words: string): void;
  /** Removes the line. */
  clear(): void;
}

const ERASE_LINE = '\r\u001b[K';

/** Columns left free at the end of the line: no wrapping, not even by the `^C` that a terminal echoes. */
const MARGIN = 3;

/** A bar for this terminal. Every redraw asks for the width anew: the window may have become narrower. */
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
