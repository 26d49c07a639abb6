/**
 * @module media/align/slips
 * Watches whether two videos that begin together stay together: frames lost or doubled in the middle of one displace all
 * that follow, which a check of the first seconds cannot see.
 *
 * At every moment one offset is in force. As long as the pictures fit better at it than at its neighbours, nothing else
 * is tried. Where they do not, all offsets within reach are compared over the latest frames, and another takes over
 * once it fits so much better that neither compression nor lag explains it. Doubt is no finding: what stands still, fades
 * or repeats itself fits anywhere, and changes nothing.
 */
import { SIGNATURE, SIGNATURE_BYTES } from './signature.js';

/** All frames from one on show an earlier or later moment than those before. */
export interface Slip {
  /** The first pair that is displaced, counted from 0. */
  readonly frame: number;
  /**
   * Frames by which the distorted video runs ahead of the reference more than before, so many having been lost from it;
   * negative where it runs behind.
   */
  readonly by: number;
  /** The same in all since the start, from this frame on. */
  readonly ahead: number;
}

/** Frames of the distorted video that show one picture while the reference moves on. */
export interface Freeze {
  /** The first pair whose picture repeats the one before. */
  readonly frame: number;
  /** Pairs that repeat it. */
  readonly frames: number;
}

/** What was found. */
export interface Displacement {
  readonly slips: readonly Slip[];
  readonly freezes: readonly Freeze[];
}

/** Offsets from the one in use that are looked at: slips by more frames in all are not found. */
const REACH = 125;

/** Pairs that are judged together. */
const BLOCK = 8;

/** Pairs before the first doubtful one that a search looks at too, to find where the slip is. */
const BEFORE = 16;

/** Pairs that a search looks at, at most. */
const LONGEST = 64;

/** Pairs that are kept to find the first displaced one. */
const KEPT = 192;

/** Mean squared difference, in squared 8-bit levels, that rounding and sampling make. */
const FLOOR = 0.3;

/** A neighbour must leave so much more than the offset in force, or the latter is not confirmed. */
const CONFIRMED = 1.3;

/**
 * Times that the residual at the offset in force exceeds another's before that is evidence against it. Encoders in a hurry
 * show parts of the past, so that an offset a little behind fits better without being true; but parts of two pictures do
 * not leave as little as a whole one did before.
 */
const AGAINST = { ahead: 1.6, late: 4, lateAsUsual: 2, far: 2.5 } as const;

/** Times the usual residual up to which a picture is a whole one. */
const AS_USUAL = 1.25;

/** Frames behind that an encoder's lag may seem to be. */
const LAG = 4;

/** The most that one pair may say, as a logarithm of likelihoods, and what all must say together. */
const MOST_OF_ONE = 3;
const ENOUGH = 10;

/** What must be said against every third offset, for the number of frames to be certain. */
const DISTINCT = 3;

/** Part of the distorted picture's variance that may be left at an offset that explains it. */
const EXPLAINED = 0.25;

/** Repetitions from which a picture stands still; fewer are what coarse encodes of slow motion do. */
const FROZEN = 3;

/** Mean squared change, in squared 8-bit levels, up to which a picture repeats the one before. */
const STILL = 0.25;

/** The same of averages over blocks, which noise does not reach, from which the reference has moved on. */
const MOVES = 0.5;

/** Samples across and down such a block. */
const ACROSS = 4;
const DOWN = 3;

interface Signed {
  /** Differences from the mean. */
  readonly samples: Float32Array;
  variance: number;
}

/** The latest frames of one video. */
class Ring {
  readonly #frames: Signed[] = [];
  readonly #size: number;
  #count = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(signatures: Uint8Array, at: number): void {
    const index = this.#count++ % this.#size;
    const slot = this.#frames[index] ?? { samples: new Float32Array(SIGNATURE_BYTES), variance: 0 };
    this.#frames[index] = slot;
    const { samples } = slot;
    let sum = 0;
    for (let k = 0; k < SIGNATURE_BYTES; k++) sum += signatures[at + k] ?? 0;
    const mean = sum / SIGNATURE_BYTES;
    let squares = 0;
    for (let k = 0; k < SIGNATURE_BYTES; k++) {
      const value = (signatures[at + k] ?? 0) - mean;
      samples[k] = value;
      squares += value * value;
    }
    slot.variance = squares / SIGNATURE_BYTES;
  }

  get(frame: number): Signed | undefined {
    if (frame < 0 || frame >= this.#count || frame < this.#count - this.#size) return undefined;
    return this.#frames[frame % this.#size];
  }
}

/** Mean squared residual of a distorted picture on the line through the reference's that fits best. */
function residual(x: Signed, y: Signed): number {
  const product = dot(x.samples, y.samples) / SIGNATURE_BYTES;
  if (product <= 0 || x.variance <= 0) return y.variance;
  return Math.max(0, y.variance - (product * product) / x.variance);
}

function dot(a: Float32Array, b: Float32Array): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  for (let k = 0; k < SIGNATURE_BYTES; k += 4) {
    s0 += (a[k] ?? 0) * (b[k] ?? 0);
    s1 += (a[k + 1] ?? 0) * (b[k + 1] ?? 0);
    s2 += (a[k + 2] ?? 0) * (b[k + 2] ?? 0);
    s3 += (a[k + 3] ?? 0) * (b[k + 3] ?? 0);
  }
  return s0 + s1 + s2 + s3;
}

/** What one pair may say. */
function limited(said: number): number {
  return Math.max(-MOST_OF_ONE, Math.min(MOST_OF_ONE, said));
}

/** Mean squared change from one picture to another. */
function change(a: Signed, b: Signed): number {
  let sum = 0;
  for (let k = 0; k < SIGNATURE_BYTES; k++) {
    const difference = (b.samples[k] ?? 0) - (a.samples[k] ?? 0);
    sum += difference * difference;
  }
  return sum / SIGNATURE_BYTES;
}

/** The same of averages over blocks. */
function blockChange(a: Signed, b: Signed): number {
  const across = SIGNATURE.width / ACROSS;
  const sums = new Float64Array(across * (SIGNATURE.height / DOWN));
  for (let y = 0, k = 0; y < SIGNATURE.height; y++) {
    for (let x = 0; x < SIGNATURE.width; x++, k++) {
      const block = Math.floor(y / DOWN) * across + Math.floor(x / ACROSS);
      sums[block] = (sums[block] ?? 0) + (b.samples[k] ?? 0) - (a.samples[k] ?? 0);
    }
  }
  return sums.reduce((total, sum) => total + (sum / (ACROSS * DOWN)) ** 2, 0) / sums.length;
}

/** Takes the signatures of all pairs in order. Its memory does not depend on their number. */
export class SlipWatch {
  readonly #reference = new Ring(2 * REACH + KEPT + 2 * BLOCK);
  readonly #distorted = new Ring(REACH + KEPT + 2 * BLOCK);
  readonly #slips: Slip[] = [];
  readonly #freezes: Freeze[] = [];
  #count = 0;
  /** The next pair to judge. */
  #next = 0;
  /** The offset in force. */
  #ahead = 0;
  /** First pair since which the offset in force has not been confirmed. */
  #doubtful: number | undefined;
  /** Pairs in doubt at which to search next. */
  #patience = BLOCK;
  /** Residual of pairs whose offset was confirmed. */
  #usual: number | undefined;
  /** Pairs up to the latest judged that repeat their picture. */
  #still = 0;

  /** @param signatures the reference's of the next pair from `at` on, then the distorted frame's */
  add(signatures: Uint8Array, at = 0): void {
    this.#reference.add(signatures, at);
    this.#distorted.add(signatures, at + SIGNATURE_BYTES);
    this.#count++;
    if (this.#count >= this.#next + BLOCK + REACH) this.#judge(this.#next + BLOCK);
  }

  /** What was found in all pairs. */
  finish(): Displacement {
    while (this.#next < this.#count) this.#judge(Math.min(this.#count, this.#next + BLOCK));
    this.#thaw(this.#count);
    return { slips: this.#slips, freezes: this.#freezes };
  }

  #residual(frame: number, ahead: number): number | undefined {
    const x = this.#reference.get(frame + ahead);
    const y = this.#distorted.get(frame);
    return x && y && residual(x, y);
  }

  /** Judges pairs up to `end`. */
  #judge(end: number): void {
    const first = this.#next;
    this.#next = end;
    for (let frame = first; frame < end; frame++) {
      if (this.#repeats(frame)) this.#still++;
      else this.#thaw(frame);
    }
    const state = this.#block(first, end);
    if (state === 'confirmed') {
      this.#doubtful = undefined;
      this.#patience = BLOCK;
      return;
    }
    if (state === 'quiet') return;
    this.#doubtful ??= first;
    const doubted = end - this.#doubtful;
    if (doubted < this.#patience) return;
    if (this.#search(Math.max(0, this.#doubtful - BEFORE, end - LONGEST), end)) {
      this.#doubtful = undefined;
      this.#patience = BLOCK;
    } else {
      this.#patience = doubted + Math.max(BLOCK, Math.min(LONGEST, doubted / 2));
    }
  }

  /** Whether a distorted frame repeats the one before while the reference moves on. */
  #repeats(frame: number): boolean {
    const [y0, y] = [this.#distorted.get(frame - 1), this.#distorted.get(frame)];
    if (!y0 || !y || change(y0, y) > STILL) return false;
    const [x0, x] = [this.#reference.get(frame - 1 + this.#ahead), this.#reference.get(frame + this.#ahead)];
    return x0 !== undefined && x !== undefined && blockChange(x0, x) >= MOVES;
  }

  /** Ends a run of repetitions before a frame. */
  #thaw(frame: number): void {
    if (this.#still >= FROZEN) this.#freezes.push({ frame: frame - this.#still, frames: this.#still });
    this.#still = 0;
  }

  /** Whether the offset in force explains a block better than its neighbours, as well as ever, or neither. */
  #block(first: number, end: number): 'confirmed' | 'quiet' | 'doubtful' {
    const sums = [-2, -1, 1, 2].map(() => ({ here: 0, there: 0 }));
    let own = 0;
    for (let frame = first; frame < end; frame++) {
      const here = this.#residual(frame, this.#ahead) ?? 0;
      own += here;
      for (const [i, step] of [-2, -1, 1, 2].entries()) {
        const there = this.#residual(frame, this.#ahead + step);
        const sum = sums[i];
        if (there === undefined || !sum) continue;
        sum.here += here + FLOOR;
        sum.there += there + FLOOR;
      }
    }
    const mean = own / (end - first);
    if (sums.every(({ here, there }) => there >= CONFIRMED * here && there > 0)) {
      this.#usual = this.#usual === undefined ? mean : 0.75 * this.#usual + 0.25 * mean;
      return 'confirmed';
    }
    const better = sums.some(({ here, there }) => there < here / 1.15);
    const usual = mean <= Math.max(1, 2 * (this.#usual ?? 0));
    return usual && !better ? 'quiet' : 'doubtful';
  }

  /** Looks for an offset that explains the latest of some pairs much better than the one in force. */
  #search(first: number, end: number): boolean {
    const now = this.#ahead;
    const here = new Float64Array(end - first);
    for (let frame = first; frame < end; frame++) here[frame - first] = this.#residual(frame, now) ?? 0;
    let best: { ahead: number; from: number; worth: number } | undefined;
    for (let ahead = -REACH; ahead <= REACH; ahead++) {
      if (ahead === now) continue;
      const found = this.#worth(ahead, here, first, end);
      if (found && found.worth > (best?.worth ?? ENOUGH)) best = { ahead, ...found };
    }
    if (!best || !this.#explains(best.ahead, here, first, best.from, end)) return false;
    if (!this.#isDistinct(best.ahead, best.from, end)) return false;
    const earliest = Math.max(this.#slips.at(-1)?.frame ?? 0, end - KEPT);
    const frame = this.#begin(best.ahead, earliest, end);
    this.#slips.push({ frame, by: best.ahead - now, ahead: best.ahead });
    this.#ahead = best.ahead;
    return true;
  }

  /** The pair from which on an offset explains the pictures better than the one in force. */
  #begin(ahead: number, first: number, end: number): number {
    let [sum, most, from] = [0, 0, end - 1];
    for (let frame = end - 1; frame >= first; frame--) {
      const [here, there] = [this.#residual(frame, this.#ahead), this.#residual(frame, ahead)];
      if (here === undefined || there === undefined) break;
      sum += limited(Math.log((here + FLOOR) / (there + FLOOR)));
      if (sum > most) [most, from] = [sum, frame];
    }
    return from;
  }

  /** What the latest pairs say for an offset against that in force, and since which pair they say it. */
  #worth(
    ahead: number,
    here: Float64Array,
    first: number,
    end: number,
  ): { from: number; worth: number } | undefined {
    const step = ahead - this.#ahead;
    const near = Math.abs(step) <= LAG;
    const usual = AS_USUAL * ((this.#usual ?? 0) + FLOOR);
    const against = (there: number) => {
      if (!near) return AGAINST.far;
      if (step > 0) return AGAINST.ahead;
      return this.#usual !== undefined && there + FLOOR <= usual ? AGAINST.lateAsUsual : AGAINST.late;
    };
    let [sum, worth, from] = [0, 0, end];
    for (let frame = end - 1; frame >= first; frame--) {
      const there = this.#residual(frame, ahead);
      if (there === undefined) {
        if (frame === end - 1) return undefined;
        break;
      }
      const said = Math.log(((here[frame - first] ?? 0) + FLOOR) / (there + FLOOR));
      sum += limited(said - Math.log(against(there)));
      if (sum > worth) [worth, from] = [sum, frame];
    }
    return { from, worth };
  }

  /** Whether an offset leaves little of the pictures unexplained. */
  #explains(ahead: number, here: Float64Array, first: number, from: number, end: number): boolean {
    let [left, before, variance] = [0, 0, 0];
    for (let frame = from; frame < end; frame++) {
      left += this.#residual(frame, ahead) ?? 0;
      before += here[frame - first] ?? 0;
      variance += this.#distorted.get(frame)?.variance ?? 0;
    }
    const pairs = end - from;
    return before - left >= 2 * pairs && left <= EXPLAINED * variance;
  }

  /** Whether no third offset explains the pairs about as well. */
  #isDistinct(ahead: number, from: number, end: number): boolean {
    for (let other = -REACH; other <= REACH; other++) {
      if (other === ahead) continue;
      let [sum, pairs] = [0, 0];
      for (let frame = from; frame < end; frame++) {
        const [mine, theirs] = [this.#residual(frame, ahead), this.#residual(frame, other)];
        if (mine === undefined || theirs === undefined) continue;
        const said = Math.log((theirs + FLOOR) / (mine + FLOOR));
        sum += limited(said);
        pairs++;
      }
      if (pairs > 0 && sum < DISTINCT) return false;
    }
    return true;
  }
}
