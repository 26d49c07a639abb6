/**
 * @module scripts/fuzz/random
 * Repeatable randomness: seed, target and number determine an input.
 */
import { randomOf } from '../lib/project.mjs';

/** A 32-bit hash of a text (FNV-1a). */
function hash(text) {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return state >>> 0;
}

/** Random numbers of one input. */
export class Random {
  constructor(seed, target, index) {
    this.next = randomOf(hash(`${seed} ${target} ${index}`));
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
