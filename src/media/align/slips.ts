/**
 * @module media/align/slips
 * Detects slips: frames lost or duplicated in the middle of a video, which displace all later ones.
 *
 * One offset is current at any time. While it fits better than its neighbours, no other offset is tried. Otherwise
 * all offsets within reach are compared over the latest frames, and another one becomes current if it fits so much
 * better that neither compression nor lag explains it. Ambiguous content (still, fading or repetitive) fits any
 * offset and changes nothing.
 */
import type { Slip } from '../pairing/types.js';
import { blockChange, dot, SIGNATURE, SIGNATURE_BYTES, squaredDistance } from './thumbnail.js';

/** A distorted picture that repeats while the reference moves on. */
export interface Freeze {
  readonly frame: number;
  readonly frames: number;
}

export interface Displacement {
  readonly slips: readonly Slip[];
  readonly freezes: readonly Freeze[];
}

/** A slip before this pair is an offset from the start. */
export const BEGINNING = 4;
/** Largest total offset that can be found, in frames. */
const REACH = 125;
const BLOCK = 8;
/** Pairs to search before the first doubtful one, to locate the slip. */
const BEFORE = 16;
const LONGEST = 64;
const KEPT = 192;
/** Mean squared difference, in squared 8-bit levels, that rounding and sampling cause. */
const FLOOR = 0.3;
/** The neighbours' residuals must exceed the current offset's by this factor to confirm it. */
const CONFIRMED = 1.3;

/**
 * Factors by which the current offset's residual must exceed another's to count against it. Fast encoders show stale
 * parts, so a slightly late offset may fit better without being true; then its residual exceeds the usual one.
 */
const AGAINST = { ahead: 1.6, late: 4, lateAsUsual: 2, far: 2.5 } as const;
/** Within this factor of the usual residual, a picture has no stale parts. */
const AS_USUAL = 1.25;
/** Largest apparent lag of an encoder, in frames. */
const LAG = 4;
/** Largest log likelihood ratio of one pair, and the sum required for a slip. */
const MOST_OF_ONE = 3;
const ENOUGH = 10;
/** Least log likelihood ratio against every third offset. */
const DISTINCT = 3;
/** Largest unexplained share of the distorted variance. */
const EXPLAINED = 0.25;
/** Fewest repetitions of a freeze; coarse encodes of slow motion repeat fewer. */
const FROZEN = 3;
/** Largest mean squared change of a picture that repeats its predecessor, in squared 8-bit levels. */
const STILL = 0.25;
/** Least mean squared change of block averages of a picture that moves. Noise hardly changes averages. */
const MOVES = 0.5;
const BLOCKS = [SIGNATURE.width, 4, 3] as const;

interface Signed {
  /** Differences from the mean. */
  readonly samples: Float32Array;
  variance: number;
}

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
    for (let k = 0; k < SIGNATURE_BYTES; k++) sum += signatures[at + k]!;
    const mean = sum / SIGNATURE_BYTES;
    let squares = 0;
    for (let k = 0; k < SIGNATURE_BYTES; k++) {
      const value = signatures[at + k]! - mean;
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

/** Mean squared residual of a distorted picture after the best gain and bias of the reference. */
function residual(x: Signed, y: Signed): number {
  const product = dot(x.samples, y.samples) / SIGNATURE_BYTES;
  if (product <= 0 || x.variance <= 0) return y.variance;
  return Math.max(0, y.variance - (product * product) / x.variance);
}

function limited(ratio: number): number {
  return Math.max(-MOST_OF_ONE, Math.min(MOST_OF_ONE, ratio));
}

/** Finds slips and freezes from the signatures of all pairs, in constant memory. */
export class SlipDetector {
  readonly #reference = new Ring(2 * REACH + KEPT + 2 * BLOCK);
  readonly #distorted = new Ring(REACH + KEPT + 2 * BLOCK);
  readonly #slips: Slip[] = [];
  readonly #freezes: Freeze[] = [];
  #count = 0;
  #next = 0;
  #ahead = 0;
  /** First pair after the last block that confirmed the offset. */
  #doubtful: number | undefined;
  /** Doubtful pairs before the next search. */
  #patience = BLOCK;
  /** Usual mean residual at a confirmed offset. */
  #usual: number | undefined;
  #still = 0;

  /** @param signatures next pair's signatures from `at`: reference, then distorted */
  add(signatures: Uint8Array, at = 0): void {
    this.#reference.add(signatures, at);
    this.#distorted.add(signatures, at + SIGNATURE_BYTES);
    this.#count++;
    if (this.#count >= this.#next + BLOCK + REACH) this.#judge(this.#next + BLOCK);
  }

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

  /** True if a distorted frame repeats its predecessor while the reference moves on. */
  #repeats(frame: number): boolean {
    const [y0, y] = [this.#distorted.get(frame - 1), this.#distorted.get(frame)];
    if (!y0 || !y || squaredDistance(y0.samples, y.samples) / SIGNATURE_BYTES > STILL) return false;
    const [x0, x] = [this.#reference.get(frame - 1 + this.#ahead), this.#reference.get(frame + this.#ahead)];
    return x0 !== undefined && x !== undefined && blockChange(x0.samples, x.samples, BLOCKS) >= MOVES;
  }

  #thaw(frame: number): void {
    if (this.#still >= FROZEN) this.#freezes.push({ frame: frame - this.#still, frames: this.#still });
    this.#still = 0;
  }

  /** `confirmed`: the current offset fits better than its neighbours; `quiet`: as usual; else `doubtful`. */
  #block(first: number, end: number): 'confirmed' | 'quiet' | 'doubtful' {
    const sums = [-2, -1, 1, 2].map(() => ({ current: 0, shifted: 0 }));
    let own = 0;
    for (let frame = first; frame < end; frame++) {
      const current = this.#residual(frame, this.#ahead) ?? 0;
      own += current;
      for (const [i, step] of [-2, -1, 1, 2].entries()) {
        const shifted = this.#residual(frame, this.#ahead + step);
        const sum = sums[i];
        if (shifted === undefined || !sum) continue;
        sum.current += current + FLOOR;
        sum.shifted += shifted + FLOOR;
      }
    }
    const mean = own / (end - first);
    if (sums.every(({ current, shifted }) => shifted >= CONFIRMED * current && shifted > 0)) {
      this.#usual = this.#usual === undefined ? mean : 0.75 * this.#usual + 0.25 * mean;
      return 'confirmed';
    }
    const better = sums.some(({ current, shifted }) => shifted < current / 1.15);
    const usual = mean <= Math.max(1, 2 * (this.#usual ?? 0));
    return usual && !better ? 'quiet' : 'doubtful';
  }

  /** Switches to the offset that explains the latest pairs much better; returns false if there is none. */
  #search(first: number, end: number): boolean {
    const now = this.#ahead;
    const current = new Float64Array(end - first);
    for (let frame = first; frame < end; frame++) current[frame - first] = this.#residual(frame, now) ?? 0;
    let best: { ahead: number; from: number; worth: number } | undefined;
    for (let ahead = -REACH; ahead <= REACH; ahead++) {
      if (ahead === now) continue;
      const found = this.#worth(ahead, current, first, end);
      if (found && found.worth > (best?.worth ?? ENOUGH)) best = { ahead, ...found };
    }
    if (!best || !this.#explains(best.ahead, current, first, best.from, end)) return false;
    if (!this.#isDistinct(best.ahead, best.from, end)) return false;
    const earliest = Math.max(this.#slips.at(-1)?.frame ?? 0, end - KEPT);
    const frame = this.#begin(best.ahead, earliest, end);
    this.#slips.push({ frame, by: best.ahead - now, ahead: best.ahead });
    this.#ahead = best.ahead;
    return true;
  }

  /** First pair that `ahead` explains better than the current offset does. */
  #begin(ahead: number, first: number, end: number): number {
    let [sum, most, from] = [0, 0, end - 1];
    for (let frame = end - 1; frame >= first; frame--) {
      const [current, shifted] = [this.#residual(frame, this.#ahead), this.#residual(frame, ahead)];
      if (current === undefined || shifted === undefined) break;
      sum += limited(Math.log((current + FLOOR) / (shifted + FLOOR)));
      if (sum > most) [most, from] = [sum, frame];
    }
    return from;
  }

  /** Largest log likelihood ratio against the current offset over the latest pairs, and the pair it starts from. */
  #worth(ahead: number, current: Float64Array, first: number, end: number) {
    const step = ahead - this.#ahead;
    const near = Math.abs(step) <= LAG;
    const usual = AS_USUAL * ((this.#usual ?? 0) + FLOOR);
    const against = (shifted: number) => {
      if (!near) return AGAINST.far;
      if (step > 0) return AGAINST.ahead;
      return this.#usual !== undefined && shifted + FLOOR <= usual ? AGAINST.lateAsUsual : AGAINST.late;
    };
    let [sum, worth, from] = [0, 0, end];
    for (let frame = end - 1; frame >= first; frame--) {
      const shifted = this.#residual(frame, ahead);
      if (shifted === undefined) {
        if (frame === end - 1) return undefined;
        break;
      }
      const ratio = Math.log((current[frame - first]! + FLOOR) / (shifted + FLOOR));
      sum += limited(ratio - Math.log(against(shifted)));
      if (sum > worth) [worth, from] = [sum, frame];
    }
    return { from, worth };
  }

  #explains(ahead: number, current: Float64Array, first: number, from: number, end: number): boolean {
    let [left, before, variance] = [0, 0, 0];
    for (let frame = from; frame < end; frame++) {
      left += this.#residual(frame, ahead) ?? 0;
      before += current[frame - first]!;
      variance += this.#distorted.get(frame)?.variance ?? 0;
    }
    const pairs = end - from;
    return before - left >= 2 * pairs && left <= EXPLAINED * variance;
  }

  #isDistinct(ahead: number, from: number, end: number): boolean {
    for (let other = -REACH; other <= REACH; other++) {
      if (other === ahead) continue;
      let [sum, pairs] = [0, 0];
      for (let frame = from; frame < end; frame++) {
        const [mine, theirs] = [this.#residual(frame, ahead), this.#residual(frame, other)];
        if (mine === undefined || theirs === undefined) continue;
        sum += limited(Math.log((theirs + FLOOR) / (mine + FLOOR)));
        pairs++;
      }
      if (pairs > 0 && sum < DISTINCT) return false;
    }
    return true;
  }
}
