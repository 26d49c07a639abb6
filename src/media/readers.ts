/**
 * @module media/readers
 * Byte access on every platform: random access to arrays and Blobs, block caches, and queues over streams.
 */
import { AnyvmafError, ioError, messageOf, usageError } from '../core/errors.js';
import { clause, shown } from '../core/printable.js';
import type { ByteReader, ByteStream } from './types.js';

/** Reads an array (shared memory too) without copying all of it. */
export function bytesReader(bytes: Uint8Array): ByteReader {
  return {
    size: bytes.length,
    read: (position, parts) => scatter(bytes, Math.min(position, bytes.length), parts),
    close() {},
  };
}

/** Reads only the requested slices. */
export function blobReader(blob: Blob, name: string): ByteReader {
  return {
    size: blob.size,
    async read(position, parts) {
      const wanted = parts.reduce((sum, part) => sum + part.length, 0);
      let slice: ArrayBuffer;
      try {
        slice = await blob.slice(position, position + wanted).arrayBuffer();
      } catch (cause) {
        throw readFailure(name, cause);
      }
      return scatter(new Uint8Array(slice), 0, parts);
    },
    close() {},
  };
}

/** Returns an `AnyvmafError` unchanged. */
function readFailure(name: string, cause: unknown): AnyvmafError {
  if (cause instanceof AnyvmafError) return cause;
  // Messages of browsers end with a full stop.
  const reason = clause(messageOf(cause));
  return ioError(`reading ${shown(name)} failed: ${shown(reason)}.`, { cause });
}

function scatter(bytes: Uint8Array, from: number, parts: readonly Uint8Array[]): number {
  let at = from;
  for (const part of parts) {
    const end = Math.min(at + part.length, bytes.length);
    part.set(bytes.subarray(at, end));
    at = end;
  }
  return at - from;
}

/** Bytes from a position; fewer than `count` only at the end. */
export async function readAt(
  reader: ByteReader,
  position: number,
  count: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(count);
  return bytes.subarray(0, await reader.read(position, [bytes]));
}

/** One character per byte. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PORTION)
    // Spread syntax would use an iterator, which is seven times slower.
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + PORTION));
  return text;
}

/** Most characters to make at once: each is an argument. */
const PORTION = 8192;

interface BlockOptions {
  readonly bytes: number;
  /** Blocks to cache, at least one. */
  readonly kept: number;
}

/** Caches the latest blocks, for many small reads of slow readers (such as in another process). */
export class BlockReader implements ByteReader {
  readonly size: number;
  readonly #reader: ByteReader;
  readonly #options: BlockOptions;
  readonly #onFetch: (block: number) => void;
  /** By number, latest last. */
  readonly #blocks = new Map<number, Promise<Uint8Array>>();

  /** @param onFetch called with the number of each block that is read */
  constructor(reader: ByteReader, options: BlockOptions, onFetch: (block: number) => void = () => {}) {
    this.size = reader.size;
    this.#reader = reader;
    this.#options = options;
    this.#onFetch = onFetch;
  }

  async read(position: number, parts: readonly Uint8Array[]): Promise<number> {
    const { bytes } = this.#options;
    let at = position;
    for (const part of parts) {
      for (let filled = 0; filled < part.length; ) {
        const number = Math.floor(at / bytes);
        const block = at < this.size ? await this.#block(number) : new Uint8Array();
        const from = block.subarray(at - number * bytes, at - number * bytes + part.length - filled);
        if (from.length === 0) return at - position;
        part.set(from, filled);
        filled += from.length;
        at += from.length;
      }
    }
    return at - position;
  }

  close(): void {
    this.#reader.close();
  }

  #block(number: number): Promise<Uint8Array> {
    const block = this.#blocks.get(number) ?? this.#fetch(number);
    this.#blocks.delete(number);
    this.#blocks.set(number, block);
    const [oldest = number] = this.#blocks.keys();
    if (this.#blocks.size > this.#options.kept) this.#blocks.delete(oldest);
    return block;
  }

  async #fetch(number: number): Promise<Uint8Array> {
    this.#onFetch(number);
    const { bytes } = this.#options;
    const block = new Uint8Array(Math.min(bytes, this.size - number * bytes));
    return block.subarray(0, await this.#reader.read(number * bytes, [block]));
  }
}

const NOTHING = new Uint8Array(0);

/** The unread part of a stream: the rest of the current chunk, then the stream. */
export class ByteQueue {
  readonly #stream: ByteStream;
  #chunk: Uint8Array = NOTHING;
  #position = 0;

  constructor(stream: ByteStream) {
    this.#stream = stream;
  }

  get position(): number {
    return this.#position;
  }

  /** The next `count` bytes (fewer at the end), not consumed, valid until the next call. Copies, so keep it small. */
  async peek(count: number): Promise<Uint8Array> {
    while (this.#chunk.length < count) {
      // The stream may reuse the memory of its last chunk.
      const held = this.#chunk.slice();
      if (!(await this.#fetch())) {
        this.#chunk = held;
        break;
      }
      const joined = new Uint8Array(held.length + this.#chunk.length);
      joined.set(held);
      joined.set(this.#chunk, held.length);
      this.#chunk = joined;
    }
    return this.#chunk.subarray(0, count);
  }

  /** Fills `into`; returns the bytes read, fewer than its length only at the end. */
  read(into: Uint8Array): Promise<number> {
    return this.#take(into.length, (bytes, at) => into.set(bytes, at));
  }

  /** Returns the number skipped, fewer than `count` only at the end. */
  skip(count: number): Promise<number> {
    return this.#take(count, () => {});
  }

  rest(): ByteStream {
    return {
      next: async () => {
        const waiting = this.#chunk;
        this.#chunk = NOTHING;
        return waiting.length > 0 ? waiting : this.#stream.next();
      },
      close: () => this.#stream.close(),
    };
  }

  async #take(count: number, give: (bytes: Uint8Array, at: number) => void): Promise<number> {
    let done = 0;
    while (done < count && (this.#chunk.length > 0 || (await this.#fetch()))) {
      const bytes = this.#chunk.subarray(0, count - done);
      give(bytes, done);
      done += bytes.length;
      this.#chunk = this.#chunk.subarray(bytes.length);
    }
    this.#position += done;
    return done;
  }

  async #fetch(): Promise<boolean> {
    this.#chunk = (await this.#stream.next()) ?? NOTHING;
    return this.#chunk.length > 0;
  }
}

/** @throws {AnyvmafError} `usage` if the stream is locked */
export function webByteStream(stream: ReadableStream<Uint8Array>, name: string): ByteStream {
  if (stream.locked)
    throw usageError('the stream is locked to another reader; pass a separate stream for each video.');
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
        // Node streams may yield strings.
        if (!(result.value instanceof Uint8Array))
          throw usageError(`the stream must yield Uint8Array chunks, not ${typeof result.value}.`);
        if (result.value.length > 0) return result.value;
      }
    },
    close() {
      reader.cancel().catch(() => {});
    },
  };
}
