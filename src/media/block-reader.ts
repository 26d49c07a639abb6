/**
 * @module media/block-reader
 * Random access in whole blocks, of which the latest are kept: for bytes that take long to ask for, as where each read crosses
 * processes, and callers that ask for few at a time.
 */
import type { ByteReader } from './platform.js';

/** How much is read at once, and how much of it is kept. */
export interface BlockOptions {
  /** Bytes of a block. */
  readonly bytes: number;
  /** Blocks that are kept, at least one. */
  readonly kept: number;
}

export class BlockReader implements ByteReader {
  readonly size: number;
  readonly #reader: ByteReader;
  readonly #options: BlockOptions;
  readonly #onFetch: (block: number) => void;
  /** By number, the latest last. */
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
