/**
 * @module web/results/section
 * What every part of the result is: an element that follows the encodes until it is closed.
 */

export interface Section {
  readonly element: HTMLElement;
  /** Shows what there is now. */
  update(): void;
  /** Stops watching. */
  close(): void;
}

/**
 * Has a section follow frames that come. While they do, only what is on the screen or near it is drawn, the rest once
 * it gets there: drawing shares the cores with the scorers. Once no more come, all are.
 * @param milliseconds between two updates, at least
 * @param growing whether frames still come
 */
export function following(
  section: Section,
  milliseconds: number,
  growing: () => boolean,
): { update(): void; close(): void } {
  let seen = true;
  let stale = false;
  const update = spaced(() => {
    // What is hidden is nowhere, and may have something to show now.
    stale = growing() && !seen && !section.element.hidden;
    if (!stale) section.update();
  }, milliseconds);
  const sight = new IntersectionObserver(
    (entries) => {
      seen = entries.at(-1)?.isIntersecting ?? true;
      if (seen && stale) update();
    },
    { rootMargin: '25%' },
  );
  sight.observe(section.element);
  return {
    update,
    close() {
      update.stop();
      sight.disconnect();
      section.close();
    },
  };
}

const queue: (() => void)[] = [];

/** Runs pieces of work one after the other, each in a task of its own, so that input comes between them. */
export function inTurn(work: () => void): void {
  queue.push(work);
  if (queue.length === 1) setTimeout(next);
}

function next(): void {
  try {
    queue[0]?.();
  } finally {
    queue.shift();
    if (queue.length > 0) setTimeout(next);
  }
}

/**
 * A function that calls the given one soon, in a task of its own, and not again within so many milliseconds however
 * often it is called meanwhile.
 */
export function spaced(work: () => void, milliseconds: number): { (): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = Number.NEGATIVE_INFINITY;
  const call = () => {
    if (timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        last = performance.now();
        work();
      },
      Math.max(0, last + milliseconds - performance.now()),
    );
  };
  return Object.assign(call, { stop: () => clearTimeout(timer) });
}
