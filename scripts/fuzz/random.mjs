/**
 * @module scripts/fuzz/random
 * Repeatable randomness: seed, target and number determine an input.
 */

/** A 32-bit hash of a text (FNV-1a). */
function hash(text) {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return state >>> 0;
}

/** Random numbers of one input (mulberry32). */
export class Random {
  #state;

  constructor(seed, target, index) {
    this.#state = hash(`${seed} ${target} ${index}`);
  }

  /** In [0, 1). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number from `low` to `high`, both included. */
  int(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** True in one of `n` cases. */
  oneIn(n) {
    return this.int(1, n) === 1;
  }

  pick(list) {
    return list[this.int(0, list.length - 1)];
  }

  bytes(length) {
    return Uint8Array.from({ length }, () => this.int(0, 255));
  }
}
