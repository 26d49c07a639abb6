/**
 * @module mcp/live/rounds
 * How often the thread looks for what clients say. Waking costs more than an answer, beside a measurement that has filled the
 * processor's caches, so a thread that is asked often rests between two rounds, and then answers all who asked meanwhile.
 */

/** Milliseconds of a rest, which an answer waits at most. */
const REST = 25;
/** So many rounds within so many milliseconds are often. */
const [MANY, SPAN] = [6, 150];

/** The rounds of one thread. */
export class Rounds {
  readonly #cell = new Int32Array(new SharedArrayBuffer(4));
  /** When the latest rounds with questions were, the oldest first. */
  readonly #latest: number[] = [];
  #ending: NodeJS.Immediate | undefined;

  /** Notes a question. The round ends when all that has arrived is taken. */
  asked(): void {
    this.#ending ??= setImmediate(() => this.#end());
  }

  #end(): void {
    this.#ending = undefined;
    const now = performance.now();
    const latest = this.#latest;
    latest.push(now);
    if (latest.length <= MANY) return;
    const first = latest.shift() ?? now;
    // Blocks the thread, as nothing else keeps the system from waking it at each question.
    if (now - first < SPAN) Atomics.wait(this.#cell, 0, 0, REST);
  }
}
