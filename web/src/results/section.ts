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
