/**
 * @module web/packets/fields
 * Reads the fields of a header bit by bit. Foreign bytes may promise more than there is: reading past the end throws
 * {@link Ended}, so that every loop over fields ends with the bytes.
 */

/** A header that ends before its fields do, or has a value that no header may have. */
export class Ended extends Error {}

/** What some fields say; `undefined` where they are damaged. */
export function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Ended) return undefined;
    throw error;
  }
}

export class Fields {
  readonly #bytes: Uint8Array;
  readonly #isEscaped: boolean;
  /** The next byte. */
  #at = 0;
  #byte = 0;
  /** Bits of the byte that are not read yet. */
  #left = 0;
  /** Zero bytes in a row before the next one. */
  #zeros = 0;

  /** @param isEscaped whether a byte 3 after two zeros only keeps start codes out, as in NAL units */
  constructor(bytes: Uint8Array, isEscaped = false) {
    this.#bytes = bytes;
    this.#isEscaped = isEscaped;
  }

  bit(): boolean {
    return this.bits(1) === 1;
  }

  /** An unsigned number of up to 32 bits. */
  bits(count: number): number {
    if (!(count <= 32)) throw new Ended();
    let value = 0;
    for (let left = count; left > 0; left--) {
      if (this.#left === 0) this.#advance();
      value = 2 * value + ((this.#byte >> --this.#left) & 1);
    }
    return value;
  }

  skip(count: number): void {
    for (let left = count; left > 0; left--) this.bits(1);
  }

  /** An Exp-Golomb code, ue(v). */
  code(): number {
    let zeros = 0;
    while (!this.bit()) if (++zeros > 32) throw new Ended();
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  codes(count: number): void {
    for (let left = count; left > 0; left--) this.code();
  }

  /** A signed Exp-Golomb code, se(v). */
  signed(): number {
    const code = this.code();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }

  /** A code that may be no greater. */
  atMost(most: number): number {
    const code = this.code();
    if (code > most) throw new Ended();
    return code;
  }

  #advance(): void {
    if (this.#isEscaped && this.#zeros >= 2 && this.#bytes[this.#at] === 3) {
      this.#at++;
      this.#zeros = 0;
    }
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Ended();
    this.#zeros = byte === 0 ? this.#zeros + 1 : 0;
    this.#byte = byte;
    this.#left = 8;
  }
}
