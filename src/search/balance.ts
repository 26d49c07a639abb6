/**
 * @module search/balance
 * Places one sample in each part of a video so that all samples together are like the whole: in how much moves, in
 * detail, and in how many frames follow cuts. Half the error of random places, for metrics that depend on these.
 */
import type { Activity } from './activity.js';
import type { FrameRun } from './host.js';

/** Golden ratio: successive multiples of it, modulo 1, spread evenly whatever their number. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** How much a place that is farther from its turn in the order of motion counts against it. */
const SPREAD = 0.3;
/** Frames after a cut until a picture is as good as the rest of its shot, about, and how much they count. */
const SETTLING = 8;
const CUT_WEIGHT = 2;

/** A quality of frames that samples shall have as often as the whole: the sum of it before each frame, and in all. */
type Trait = Float64Array;

/** Chooses places one after the other, and remembers by how much all so far differ from their parts. */
export class Balance {
  readonly #traits: readonly Trait[];
  readonly #surplus: number[];
  #turn = 0.5;

  /** @param sizes bytes of the frames, for a source of which nothing else is known */
  constructor(activity: Activity | undefined, sizes: Float64Array) {
    this.#traits = activity
      ? [sums(activity.motion), sums(activity.texture), sums(settling(activity.cuts, sizes.length))]
      : [sums(Array.from(sizes, Math.log1p))];
    this.#surplus = this.#traits.map(() => 0);
  }

  /** The first frame of the next sample. @param part at least as long as the sample */
  place({ first, count }: FrameRun, length: number): number {
    const expected = this.#traits.map((trait) => (length * sumOf(trait, first, count)) / count);
    const over = (start: number) =>
      this.#traits.map(
        (trait, i) => (this.#surplus[i] as number) + sumOf(trait, start, length) - (expected[i] as number),
      );
    const leading = this.#traits[0] as Trait;
    const order = tiles(first, count, length).sort(
      (a, b) => sumOf(leading, a, length) - sumOf(leading, b, length) || a - b,
    );
    const cost = (start: number, i: number) => {
      const distance = (i + 0.5) / order.length - this.#turn;
      const square = over(start).reduce((sum, one) => sum + one * one, 0);
      return square / length ** 2 + SPREAD * distance * distance;
    };
    const costs = order.map(cost);
    const best = order[costs.indexOf(Math.min(...costs))] as number;
    over(best).forEach((one, i) => {
      this.#surplus[i] = one;
    });
    this.#turn = (this.#turn + GOLDEN) % 1;
    return best;
  }
}

/** Places side by side from end to end, so that the frames at both ends are taken as often as others. */
function tiles(first: number, count: number, length: number): number[] {
  const places = Math.max(1, Math.round(count / length));
  if (places === 1) return [first + Math.floor((count - length) / 2)];
  return Array.from({ length: places }, (_, i) => first + Math.round((i * (count - length)) / (places - 1)));
}

/** How much a frame still suffers from the cut before it. */
function settling(cuts: readonly number[], frames: number): number[] {
  const out: number[] = [];
  [0, ...cuts].forEach((cut, i) => {
    for (let at = cut; at < (cuts[i] ?? frames); at++) out.push(CUT_WEIGHT * Math.exp((cut - at) / SETTLING));
  });
  return out;
}

function sums(values: ArrayLike<number>): Trait {
  const out = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) out[i + 1] = (out[i] as number) + (values[i] as number);
  return out;
}

function sumOf(trait: Trait, first: number, count: number): number {
  return (trait[first + count] as number) - (trait[first] as number);
}
