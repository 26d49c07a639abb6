/**
 * @module media/stream
 * Reads a byte stream in pieces of any size, independent of the producer's chunks.
 */
import { usageError } from '../core/errors.js';
import type { ByteStream } from './platform.js';
import { readFailure } from './readers.js';

const NOTHING = new Uint8Array(0);

/** The unread part of a stream: peeked bytes, then the rest of the current chunk, then the stream. */
export class ByteQueue {
  readonly #stream: ByteStream;
  #peeked: Uint8Array = NOTHING;
  #chunk: Uint8Array = NOTHING;
  #position = 0;

  constructor(stream: ByteStream) {
    this.#stream = stream;
  }

  /** Bytes read or skipped so far. */
  get position(): number {
    return this.#position;
  }

  /**
   * Returns the next `count` bytes (fewer at the end) without consuming them, valid until the next call. For small counts.
   */
  async peek(count: number): Promise<Uint8Array> {
    if (this.#peeked.length === 0 && this.#chunk.length >= count) return this.#chunk.subarray(0, count);
    while (this.#peeked.length < count) {
      if (this.#chunk.length === 0 && !(await this.#fetch())) break;
      const more = this.#chunk.subarray(0, count - this.#peeked.length);
      const joined = new Uint8Array(this.#peeked.length + more.length);
      joined.set(this.#peeked);
      joined.set(more, this.#peeked.length);
      this.#peeked = joined;
      this.#chunk = this.#chunk.subarray(more.length);
    }
    return this.#peeked.subarray(0, count);
  }

  /** Fills `into`; returns the bytes read, fewer than its length only at the end. */
  read(into: Uint8Array): Promise<number> {
    return this.#take(into.length, (bytes, at) => into.set(bytes, at));
  }

  /** Skips `count` bytes; returns the number skipped, fewer only at the end. */
  skip(count: number): Promise<number> {
    return this.#take(count, () => {});
  }

  /** All that was not read, as a stream. */
  rest(): ByteStream {
    return {
      next: async () => {
        const waiting = this.#peeked.length > 0 ? this.#peeked : this.#chunk;
        if (this.#peeked.length > 0) this.#peeked = NOTHING;
        else this.#chunk = NOTHING;
        return waiting.length > 0 ? waiting : this.#stream.next();
      },
      close: () => this.#stream.close(),
    };
  }

  async #take(count: number, give: (bytes: Uint8Array, at: number) => void): Promise<number> {
    let done = 0;
    while (done < count) {
      if (this.#peeked.length === 0 && this.#chunk.length === 0 && !(await this.#fetch())) break;
      const fromPeeked = this.#peeked.length > 0;
      const source = fromPeeked ? this.#peeked : this.#chunk;
      const bytes = source.subarray(0, count - done);
      give(bytes, done);
      done += bytes.length;
      if (fromPeeked) this.#peeked = source.subarray(bytes.length);
      else this.#chunk = source.subarray(bytes.length);
    }
    this.#position += done;
    return done;
  }

  async #fetch(): Promise<boolean> {
    this.#chunk = (await this.#stream.next()) ?? NOTHING;
    return this.#chunk.length > 0;
  }
}

/**
 * A web stream as a {@link ByteStream}.
 * @throws {AnyvmafError} `usage` if the stream is locked
 */
export function webByteStream(stream: ReadableStream<Uint8Array>, name: string): ByteStream {
  if (stream.locked) {
    throw usageError('the stream is locked to another reader; give each video a stream of its own.');
  }
  const reader = stream.getReader();
  return {
    async next() {
      for (;;) {
        let result: ReadableStreamReadResult<Uint8Array>;
        try {
          result = await reader.read();
        } catch (cause) {
          throw readFailure(name, cause);
        }
        if (result.done) return undefined;
        // Node streams may yield strings at run time.
        if (!(result.value instanceof Uint8Array)) {
          throw usageError(`the stream must yield Uint8Array chunks, not ${typeof result.value}.`);
        }
        if (result.value.length > 0) return result.value;
      }
    },
    close() {
      // Ignore errors of cancellation.
      reader.cancel().catch(() => {});
    },
  };
}
