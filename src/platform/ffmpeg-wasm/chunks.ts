/**
 * @module platform/ffmpeg-wasm/chunks
 * Frames' bytes that come by messages, where threads share no memory.
 */
import type { ByteStream } from '../../media/platform.js';

/** Bytes of frames in order, and the times of the frames whose bytes have begun. */
export abstract class FrameReader implements ByteStream {
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #waiting: (() => void) | undefined;

  abstract next(): Promise<Uint8Array | undefined>;

  /** Times in seconds noted since the last call, in order. */
  abstract takeTimes(): number[];

  /** What is there may be read. */
  wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }

  /** Nothing more will come; what came can still be read. */
  end(): void {
    this.#ended = true;
    this.wake();
  }

  /** As {@link end}; reading on throws the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.wake();
  }

  close(): void {
    this.end();
  }

  /** Whether nothing more will come; throws the error of {@link fail}. */
  protected isOver(): boolean {
    if (this.#failure) throw this.#failure.error;
    return this.#ended;
  }

  /** Settles at the next {@link wake}. */
  protected waken(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}

/** A queue of messages. */
export class ChunkReader extends FrameReader {
  readonly #used: (bytes: number) => void;
  #chunks: Uint8Array[] = [];
  #times: number[] = [];

  /** @param used called with the number of bytes that were read */
  constructor(used: (bytes: number) => void) {
    super();
    this.#used = used;
  }

  give(bytes: Uint8Array, times: readonly number[]): void {
    this.#chunks.push(bytes);
    for (const time of times) this.#times.push(time);
    this.wake();
  }

  override async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#used(chunk.length);
        return chunk;
      }
      if (this.isOver()) return undefined;
      await this.waken();
    }
  }

  override takeTimes(): number[] {
    const taken = this.#times;
    this.#times = [];
    return taken;
  }

  override close(): void {
    this.#chunks = [];
    super.close();
  }
}
