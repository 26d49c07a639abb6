/**
 * @module web/results/section
 * What every part of the result is: an element that follows the encodes until it is closed.
 */
import { inTurn, spaced } from '../schedule.js';

export interface Section {
  readonly element: HTMLElement;
  /** Shows what there is now. */
  update(): void;
  /** Whether there is anything to show, asked where it would not be seen; absent: always. */
  hasContent?(): boolean;
  /** Shows what there is now to those who see all of the page at once: on paper. Absent: as `update`. */
  complete?(): void;
  /** Stops watching. */
  close(): void;
}

/** A section that follows. */
export interface Follower {
  /** There may be more to show. */
  update(): void;
  /** Shows all there is, at once and wherever it is. */
  complete(): void;
  close(): void;
}

/**
 * Has a section follow frames that come. While they do, only what is on the screen or near it is drawn, the rest once
 * it gets there: drawing shares the cores with the scorers. While none come, all are.
 * @param milliseconds between two updates, at least
 * @param growing whether frames still come
 */
export function following(section: Section, milliseconds: number, growing: () => boolean): Follower {
  let seen = false;
  let stale = false;
  let closed = false;
  const show = () => {
    if (closed) return;
    // What is hidden is nowhere, and cannot come into sight; what takes its place is drawn once, to have its names.
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
