/**
 * @module platform/ffmpeg-wasm/chunks
 * Frames' bytes that come by messages, where threads share no memory.
 */
import type { ByteStream } from '../../media/platform.js';

/** Bytes of frames in order, and the times of the frames whose bytes have begun. */
export interface FrameReader extends ByteStream {
  /** Times in seconds noted since the last call, in order. */
  takeTimes(): number[];
  /** What is there may be read. */
  wake(): void;
  /** Nothing more will come; what came can still be read. */
  end(): void;
  /** As {@link end}, and whoever reads on is told so. */
  fail(error: unknown): void;
}

/** A queue of messages. */
export class ChunkReader implements FrameReader {
  readonly #used: (bytes: number) => void;
  #chunks: Uint8Array[] = [];
  #times: number[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #waiting: (() => void) | undefined;

  /** @param used is told how many bytes have made room for others */
  constructor(used: (bytes: number) => void) {
    this.#used = used;
  }

  give(bytes: Uint8Array, times: readonly number[]): void {
    this.#chunks.push(bytes);
    for (const time of times) this.#times.push(time);
    this.wake();
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#used(chunk.length);
        return chunk;
      }
      if (this.#failure) throw this.#failure.error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  takeTimes(): number[] {
    const taken = this.#times;
    this.#times = [];
    return taken;
  }

  wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }

  end(): void {
    this.#ended = true;
    this.wake();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.wake();
  }

  close(): void {
    this.#chunks = [];
    this.end();
  }
}
