/**
 * @module platform/browser/witness
 * How much of a processor a busy thread gets, in browsers, which do not tell: a worker beside it does nothing but work, and
 * counts what it gets done. The fastest of its rounds are those in which nothing else ran.
 */
import { BEAT } from '../../parsing/protocol.js';

/** Steps of a round: about a millisecond. */
const ROUND = 200_000;

/** Has a worker witness instead of parse. */
export interface WitnessTask {
  readonly kind: 'witness';
}

/** Works until the thread is ended. @param post gets the milliseconds that it had a processor so far */
export function witness(post: (milliseconds: number) => void): never {
  let fastest = Number.POSITIVE_INFINITY;
  let begun = performance.now();
  let told = begun;
  // What no compiler leaves out.
  const sum = new Int32Array(1);
  for (let rounds = 1; ; rounds++) {
    for (let step = 0; step < ROUND; step++) Atomics.add(sum, 0, step);
    const ended = performance.now();
    fastest = Math.min(fastest, Math.max(ended - begun, 0.1));
    begun = ended;
    if (ended - told < BEAT / 2) continue;
    told = ended;
    post(rounds * fastest);
  }
}

/** A worker that witnesses from the first question to `stop`. */
export class Witness {
  readonly #start: () => Worker;
  #worker: Worker | undefined;
  #milliseconds: number | undefined = 0;

  /** @param start a worker that {@link witness}es when it is told its {@link WitnessTask} */
  constructor(start: () => Worker) {
    this.#start = start;
  }

  /** Milliseconds of processor time since the first question; `undefined` where the worker does not run. */
  read(): number | undefined {
    if (!this.#worker) {
      this.#milliseconds = 0;
      this.#worker = this.#start();
      this.#worker.onmessage = ({ data }: MessageEvent<number>) => {
        this.#milliseconds = data;
      };
      this.#worker.onerror = () => {
        this.#milliseconds = undefined;
      };
      this.#worker.postMessage({ kind: 'begin', task: { kind: 'witness' } satisfies WitnessTask });
    }
    return this.#milliseconds;
  }

  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
