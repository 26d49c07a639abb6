/**
 * @module web/turns
 * When the page does its work: piece by piece, each in a task of its own, and what follows a run on a common beat. Each
 * picture that the browser makes of the page costs it more than what changed in it, and while a run has the cores every
 * part of that waits for one; so all that grows is drawn for the same picture, and not more often than eyes need.
 */

/** Milliseconds from beat to beat. */
export const BEAT = 500;

/** Milliseconds after which a run is a long one, in which a beat adds little to what is there. */
const LONG = 15_000;

/** Milliseconds from one news of a run to the next, when it has gone on for so many. */
export function newsAfter(elapsed: number): number {
  return elapsed < LONG ? BEAT : 2 * BEAT;
}

/** Milliseconds of work in one task; input comes between tasks. */
const SLICE = 2;

const queue: (() => void)[] = [];
let due = false;

/** Runs pieces of work soon, one after the other: as many in one task as are done quickly. */
export function inTurn(work: () => void): void {
  queue.push(work);
  if (!due) setTimeout(next);
  due = true;
}

function next(): void {
  const end = performance.now() + SLICE;
  try {
    do queue.shift()?.();
    while (queue.length > 0 && performance.now() < end);
  } finally {
    due = queue.length > 0;
    if (due) setTimeout(next);
  }
}

/**
 * A function that calls the given one soon, in a task of its own, and not again within so many milliseconds however
 * often it is called meanwhile.
 * @param onBeat whether the call is to wait for the next beat
 */
export function spaced(
  work: () => void,
  milliseconds: number,
  onBeat: () => boolean = () => false,
): { (): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let last = Number.NEGATIVE_INFINITY;
  const call = () => {
    if (timer !== undefined || stopped) return;
    const now = performance.now();
    const soon = Math.max(now, last + milliseconds);
    const at = onBeat() ? Math.ceil(soon / BEAT) * BEAT : soon;
    timer = setTimeout(() => {
      timer = undefined;
      // When it was due: a late call does not put off the next beyond its beat.
      last = at;
      inTurn(() => stopped || work());
    }, at - now);
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return Object.assign(call, { stop });
}
