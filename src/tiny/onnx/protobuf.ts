/**
 * @module tiny/onnx/protobuf
 * Strict reader of Protocol Buffers' wire format: checks every length, copies nothing, limits the number of fields.
 */

/** Invalid encoding; the message is the end of a sentence. */
export class WireError extends Error {}

/** Most fields in all messages of a file; far more than any model within the size limit has. */
const MAX_FIELDS = 2_000_000;

/** Most bytes of a 64-bit varint. */
const MAX_VARINT = 10;

/** State shared by all messages of a file. */
class Budget {
  fields = 0;
  /** Refuses invalid UTF-8, which two readers could decode to different names. */
  readonly text = new TextDecoder('utf-8', { fatal: true });
}

/** Reads one message: `next` steps to a field; another method reads its value, or the following `next` skips it. */
export class WireReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #budget: Budget;
  readonly #end: number;
  #at: number;
  field = 0;
  #wire = 0;
  #taken = true;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length, budget = new Budget()) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
    this.#end = end;
    this.#budget = budget;
  }

  /** False at the end of the message. @throws {WireError} for an invalid field */
  next(): boolean {
    if (!this.#taken) this.#skip();
    if (this.#at === this.#end) return false;
    const at = this.#at;
    const key = this.#varint();
    this.field = Math.floor(key / 8);
    this.#wire = key % 8;
    this.#taken = false;
    if (key < 8 || key >= 2 ** 32 || ![0, 1, 2, 5].includes(this.#wire))
      throw new WireError(`the field at byte ${at} is invalid`);
    if (++this.#budget.fields > MAX_FIELDS) throw new WireError(`it has more than ${MAX_FIELDS} fields`);
    return true;
  }

  /** A varint as a signed 64-bit number, rounded beyond 2^53. */
  int(): number {
    this.#take(0);
    return this.#varint();
  }

  /** The bytes of a length-delimited field; a view. */
  bytes(): Uint8Array {
    const { start, end } = this.#range();
    return this.#bytes.subarray(start, end);
  }

  text(): string {
    const at = this.#at;
    try {
      return this.#budget.text.decode(this.bytes());
    } catch (error) {
      if (error instanceof WireError) throw error;
      throw new WireError(`the text at byte ${at} is not UTF-8`);
    }
  }

  message(): WireReader {
    const { start, end } = this.#range();
    return new WireReader(this.#bytes, start, end, this.#budget);
  }

  /** Appends a repeated field, packed or single. @param limit most numbers to keep; drops the rest */
  ints(into: number[], limit: number): void {
    if (this.#wire === 0) {
      const value = this.int();
      if (into.length < limit) into.push(value);
      return;
    }
    const packed = this.message();
    while (packed.#at < packed.#end && into.length < limit) into.push(packed.#varint());
  }

  /** As {@link ints}, of single precision. */
  floats(into: number[], limit: number): void {
    if (this.#wire === 5) {
      this.#take(5);
      if (this.#end - this.#at < 4) throw new WireError(`it ends within a number at byte ${this.#at}`);
      if (into.length < limit) into.push(this.#view.getFloat32(this.#at, true));
      this.#at += 4;
      return;
    }
    const { start, end } = this.#range();
    if ((end - start) % 4 !== 0) throw new WireError(`the numbers at byte ${start} are not of 4 bytes each`);
    for (let at = start; at < end && into.length < limit; at += 4) into.push(this.#view.getFloat32(at, true));
  }

  #take(wire: number): void {
    if (this.#wire !== wire)
      throw new WireError(`field ${this.field} before byte ${this.#at} has the wrong encoding`);
    this.#taken = true;
  }

  #range(): { start: number; end: number } {
    this.#take(2);
    const length = this.#varint();
    const start = this.#at;
    if (length < 0 || length > this.#end - start) {
      throw new WireError(
        `the length before byte ${start} is ${length < 0 ? 'negative' : length}, but ${this.#end - start} bytes are left`,
      );
    }
    this.#at = start + length;
    return { start, end: this.#at };
  }

  #skip(): void {
    if (this.#wire === 0) this.#varint();
    else if (this.#wire === 2) this.#range();
    else {
      const size = this.#wire === 1 ? 8 : 4;
      if (this.#end - this.#at < size) throw new WireError(`it ends within a number at byte ${this.#at}`);
      this.#at += size;
    }
    this.#taken = true;
  }

  #varint(): number {
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT; i++) {
      if (this.#at >= this.#end) throw new WireError(`it ends within a number at byte ${this.#at}`);
      const byte = this.#view.getUint8(this.#at++);
      const bits = byte & 0x7f;
      // Bits 0..27 go to the low half, 28..31 are shared, the rest to the high half.
      if (i < 4) low |= bits << (7 * i);
      else if (i === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (7 * i - 32);
      if (byte < 0x80) return (high | 0) * 2 ** 32 + (low >>> 0);
    }
    throw new WireError(`the number before byte ${this.#at} has more than ${MAX_VARINT} bytes`);
  }
}
