/**
 * @module media/sequential
 * Frames in order from a pipe or stream; never reads beyond the requested frame.
 */
import { usageError } from '../core/errors.js';
import type { FramePlanes } from '../core/frame.js';
import { shown } from '../core/printable.js';
import { incompleteFrame } from './errors.js';
import { PlaneMap } from './planes.js';
import type { ByteStream } from './platform.js';
import type { ByteQueue } from './stream.js';
import type { FrameSource, VideoInfo } from './types.js';
import { badFrameHeader, FRAME_HEADER_MAX, lostChroma, lostChromaBytes, parseFrameHeader } from './y4m.js';

/** A source over a {@link ByteQueue} positioned at the first frame. */
export class SequentialSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable = false;
  readonly #stream: ByteStream;
  readonly #queue: ByteQueue;
  readonly #frameBytes: number;
  readonly #planes: PlaneMap;
  /** Number of the next frame. */
  #next = 0;
  #ended = false;

  /** @param frameBytes bytes of one frame's samples as stored */
  constructor(stream: ByteStream, queue: ByteQueue, info: VideoInfo, frameBytes: number) {
    this.info = info;
    this.#stream = stream;
    this.#queue = queue;
    this.#frameBytes = frameBytes;
    this.#planes = new PlaneMap(info);
  }

  async readFrame(index: number, into: FramePlanes): Promise<boolean> {
    if (index < this.#next) {
      throw usageError(
        `frame ${index} of ${shown(this.info.name)} was asked for after frame ${this.#next - 1}; ` +
          'a stream is read in order.',
      );
    }
    const parts = this.#planes.parts(into);
    while (this.#next < index) if (!(await this.#frame([]))) return false;
    if (!(await this.#frame(parts))) return false;
    this.#planes.finish(into);
    return true;
  }

  close(): void {
    this.#ended = true;
    this.#stream.close();
  }

  /** Reads the next frame into `parts` and skips the rest of it. */
  async #frame(parts: readonly Uint8Array[]): Promise<boolean> {
    if (this.#ended) return false;
    if (!(await this.#frameHeader())) {
      this.#ended = true;
      return false;
    }
    if (this.#next === 0 && this.info.container === 'y4m') await this.#refuseLostChroma();
    let found = 0;
    for (const part of parts) found += await this.#queue.read(part);
    found += await this.#queue.skip(this.#frameBytes - found);
    if (found < this.#frameBytes) return this.#incomplete(found);
    this.#next++;
    return true;
  }

  /** @throws {AnyvmafError} `media` if the second frame, or the end, comes too early by a byte in each row of chroma */
  async #refuseLostChroma(): Promise<void> {
    const lost = lostChromaBytes(this.info);
    if (lost === 0) return;
    const frame = await this.#queue.peek(this.#frameBytes);
    const next = String.fromCharCode(...frame.subarray(this.#frameBytes - lost).subarray(0, 6));
    const isShort = frame.length === this.#frameBytes - lost || (next !== '' && 'FRAME\n'.startsWith(next));
    if (!isShort) return;
    this.#ended = true;
    throw lostChroma(this.info.name, this.info);
  }

  /** Reads the next frame's header, if frames have one; returns false at the end of the video. */
  async #frameHeader(): Promise<boolean> {
    if (this.info.container !== 'y4m') return (await this.#queue.peek(1)).length > 0;
    // Do not wait for bytes beyond this frame: an interactive producer may not have sent them.
    const within = Math.min(6 + this.#frameBytes, FRAME_HEADER_MAX);
    let start = await this.#queue.peek(within);
    let header = parseFrameHeader(start);
    if (header === 'incomplete' && start.length === within) {
      start = await this.#queue.peek(FRAME_HEADER_MAX);
      header = parseFrameHeader(start);
    }
    switch (header) {
      case 'end':
        return false;
      case 'incomplete':
        return this.#incomplete(0);
      case 'lost':
      case 'overlong':
        this.#ended = true;
        throw badFrameHeader(header, this.info.name, this.#next, this.#queue.position, start);
      default:
        await this.#queue.skip(header);
        return true;
    }
  }

  /** Reports a video that ends within its next frame, unless the source was closed. */
  #incomplete(foundBytes: number): false {
    if (this.#ended) return false;
    this.#ended = true;
    throw incompleteFrame(this.info, { index: this.#next, expectedBytes: this.#frameBytes, foundBytes });
  }
}
