/**
 * @module web/schedule
 * Schedules the page's work: short tasks, and updates on a common beat during a run. Painting costs more than
 * the changes themselves and competes with workers for cores, so all views update for the same paint.
 */

/** Milliseconds. */
export const BEAT = 500;

/** Milliseconds of a run after which one beat adds little to the charts. */
const LONG = 15_000;

/** Milliseconds to the next update, by the milliseconds since the start of the run. */
export function newsAfter(elapsed: number): number {
  return elapsed < LONG ? BEAT : 2 * BEAT;
}

/** Milliseconds of work per task; the browser handles input between tasks. */
const SLICE = 2;

const queue: (() => void)[] = [];
let due = false;

/** Queues work; short pieces share a task. */
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

export interface Sequence {
  /** Queues the rest at once. */
  finish(): void;
  stop(): void;
}

/** Queues pieces of work `milliseconds` apart. */
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
 * Throttles `work`: runs it in a task of its own, at most once in so many milliseconds.
 * @param onBeat whether to wait for the next beat; the first call after that ends runs at once
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
      // Count from the due time, so that late calls do not delay the next.
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
