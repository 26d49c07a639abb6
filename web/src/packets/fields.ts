/**
 * @module web/packets/fields
 * Reads header fields bit by bit; past the end throws {@link Ended}, so loops over untrusted counts end.
 */

/** A header that is truncated or has an impossible value. */
export class Ended extends Error {}

/** `undefined` if the fields are damaged. */
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
  #at = 0;
  #byte = 0;
  /** Unread bits of the byte. */
  #left = 0;
  /** Zero bytes in a row before the next byte. */
  #zeros = 0;

  /** @param isEscaped skip the emulation prevention bytes of NAL units (3 after two zeros) */
  constructor(bytes: Uint8Array, isEscaped = false) {
    this.#bytes = bytes;
    this.#isEscaped = isEscaped;
  }

  bit(): boolean {
    return this.bits(1) === 1;
  }

  /** At most 32 bits. */
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

  /** Exp-Golomb, ue(v). */
  code(): number {
    let zeros = 0;
    while (!this.bit()) if (++zeros > 32) throw new Ended();
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  codes(count: number): void {
    for (let left = count; left > 0; left--) this.code();
  }

  /** Signed Exp-Golomb, se(v). */
  signed(): number {
    const code = this.code();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }

  /** @throws {Ended} if it is greater */
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
