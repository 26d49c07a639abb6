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

/** Milliseconds that it had a processor, and that it had none. */
interface Times {
  readonly worked: number;
  readonly waited: number;
}

const NONE: Times = { worked: 0, waited: 0 };

/** Works until the thread is ended. @param post gets the times so far */
export function witness(post: (times: Times) => void): never {
  let fastest = Number.POSITIVE_INFINITY;
  const started = performance.now();
  let [begun, told] = [started, started];
  // What no compiler leaves out.
  const sum = new Int32Array(1);
  for (let rounds = 1; ; rounds++) {
    for (let step = 0; step < ROUND; step++) Atomics.add(sum, 0, step);
    const ended = performance.now();
    fastest = Math.min(fastest, Math.max(ended - begun, 0.1));
    begun = ended;
    if (ended - told < BEAT / 2) continue;
    told = ended;
    const worked = rounds * fastest;
    post({ worked, waited: ended - started - worked });
  }
}

/** A worker that witnesses from the first question to `stop`. */
export class Witness {
  readonly #start: () => Worker;
  #worker: Worker | undefined;
  #times: Times = NONE;

  /** @param start a worker that {@link witness}es when it is told its {@link WitnessTask} */
  constructor(start: () => Worker) {
    this.#start = start;
  }

  /** The times since the first question; none while the worker does not run. */
  get times(): Times {
    if (!this.#worker) {
      this.#worker = this.#start();
      this.#worker.onmessage = ({ data }: MessageEvent<Times>) => {
        this.#times = data;
      };
      this.#worker.postMessage({ kind: 'begin', task: { kind: 'witness' } satisfies WitnessTask });
    }
    return this.#times;
  }

  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#times = NONE;
  }
}
