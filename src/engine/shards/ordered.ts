/**
 * @module engine/shards/ordered
 * Puts records and signatures of a shard, whose chunks arrive in any order, into one array.
 */
import { AnyvmafError } from '../../core/errors.js';
import { PAIR_BYTES } from '../../media/align/signature.js';
import type { SignatureSink } from '../inputs/continuity.js';

/** Records by the number of their first pair. */
export class OrderedRecords {
  readonly #chunks = new Map<number, { readonly count: number; readonly records: Float64Array }>();

  take(first: number, count: number, records: Float64Array): void {
    if (count > 0) this.#chunks.set(first, { count, records });
  }

  /**
   * The records of consecutive pairs.
   * @param fields doubles per pair
   */
  joined(first: number, pairs: number, fields: number): Float64Array<ArrayBuffer> {
    const all = new Float64Array(pairs * fields);
    for (let next = first; next < first + pairs; ) {
      const chunk = this.#chunks.get(next);
      if (!chunk) throw new AnyvmafError('internal', `The record of pair ${next} is missing.`);
      const count = Math.min(chunk.count, first + pairs - next);
      all.set(chunk.records.subarray(0, count * fields), (next - first) * fields);
      next += count;
    }
    return all;
  }
}

/** Signatures by the number of their first pair. */
export class OrderedSignatures implements SignatureSink {
  readonly #parts = new Map<number, Uint8Array>();
  first = 0;

  take(first: number, signatures: Uint8Array): void {
    this.#parts.set(first, signatures);
  }

  /** Those of consecutive pairs from the first on, up to where one is missing. */
  joined(): Uint8Array<ArrayBuffer> {
    const parts: Uint8Array[] = [];
    let pairs = 0;
    for (let part = this.#parts.get(this.first); part; part = this.#parts.get(this.first + pairs)) {
      parts.push(part);
      pairs += part.length / PAIR_BYTES;
    }
    const all = new Uint8Array(pairs * PAIR_BYTES);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
