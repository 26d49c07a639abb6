/**
 * @module web/schedule
 * Schedules the page's work: short pieces in tasks of their own, and updates during a run on a common beat. Painting costs
 * the browser more than the change itself, and during a run it competes with the workers for cores. So all views update
 * for the same paint, no more often than the eye needs.
 */

/** Milliseconds from beat to beat. */
export const BEAT = 500;

/** Milliseconds after which a run is long: one beat then adds little to the charts. */
const LONG = 15_000;

/** Milliseconds between updates of a run that has lasted for `elapsed`. */
export function newsAfter(elapsed: number): number {
  return elapsed < LONG ? BEAT : 2 * BEAT;
}

/** Milliseconds of work in one task; the browser handles input between tasks. */
const SLICE = 2;

const queue: (() => void)[] = [];
let due = false;

/** Queues a piece of work; short pieces share a task. */
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

/** Pieces of work that follow each other. */
export interface Sequence {
  /** Queues what is left at once. */
  finish(): void;
  /** Queues no more. */
  stop(): void;
}

/** Queues pieces of work one at a time, so many milliseconds apart. */
export function oneByOne(pieces: readonly (() => void)[], milliseconds: number): Sequence {
  const waiting = [...pieces];
  const next = () => {
    const piece = waiting.shift();
    if (!piece) return;
    inTurn(piece);
    timer = setTimeout(next, milliseconds);
  };
  let timer = setTimeout(next, milliseconds);
  const stop = () => {
    clearTimeout(timer);
    return waiting.splice(0);
  };
  return { finish: () => stop().forEach(inTurn), stop };
}

/**
 * A throttled version of `work`: runs in a task of its own, at most once in so many milliseconds.
 * @param onBeat whether to wait for the next beat; the first call after it did not waits for nothing
 */
export function spaced(
  work: () => void,
  milliseconds: number,
  onBeat: () => boolean = () => false,
): { (): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let beating = false;
  let last = Number.NEGATIVE_INFINITY;
  const call = () => {
    const beats = onBeat();
    const ended = beating && !beats;
    if (stopped || (timer !== undefined && !ended)) return;
    clearTimeout(timer);
    beating = beats;
    const now = performance.now();
    const soon = ended ? now : Math.max(now, last + milliseconds);
    const at = beating ? Math.ceil(soon / BEAT) * BEAT : soon;
    timer = setTimeout(() => {
      timer = undefined;
      // Count from the due time, so that a late call does not delay the next.
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
