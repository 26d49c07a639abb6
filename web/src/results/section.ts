/**
 * @module web/results/section
 * Parts of the results: elements that follow the encodes until closed.
 */
import { inTurn, spaced } from '../schedule.js';

export interface Section {
  readonly element: HTMLElement;
  update(): void;
  /** Called even while hidden; absent: always true. */
  hasContent?(): boolean;
  /** Shows everything, for printing. Absent: as `update`. */
  complete?(): void;
  close(): void;
}

export interface Follower {
  update(): void;
  /** Shows everything at once, wherever it is. */
  complete(): void;
  close(): void;
}

/**
 * Keeps a section up to date; while frames arrive, only near the screen, as drawing shares the cores with scoring.
 * @param milliseconds least time between updates
 */
export function following(section: Section, milliseconds: number, growing: () => boolean): Follower {
  let seen = false;
  let stale = false;
  let closed = false;
  const show = () => {
    if (closed) return;
    // A hidden section never comes into view; draw one that appears once, so that it has its headings.
    const content = section.hasContent?.();
    const appears = content === true && section.element.hidden;
    if (content !== undefined) section.element.hidden = !content;
    stale = growing() && !seen && !appears;
    if (!stale) section.update();
  };
  const update = spaced(show, milliseconds, growing);
  const sight = new IntersectionObserver(
    (entries) => {
      seen = entries.at(-1)?.isIntersecting ?? true;
      if (seen && stale) inTurn(show);
    },
    { rootMargin: '25%' },
  );
  sight.observe(section.element);
  inTurn(show);
  return {
    update,
    complete() {
      stale = false;
      section.update();
      section.complete?.();
    },
    close() {
      closed = true;
      update.stop();
      sight.disconnect();
      section.close();
    },
  };
}
