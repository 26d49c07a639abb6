/**
 * @module platform/node/ffmpeg/frame-pipe
 * Cuts the bytes of a pipe into frames, some of them ahead of the reader, and stops the writer when those are enough.
 */
import type { Readable } from 'node:stream';

/** Bytes of frames that are read ahead, within {@link FEWEST} and {@link MOST} frames. */
const AHEAD = 48 << 20;
const FEWEST = 2;
const MOST = 8;

/** Whole frames from a stream of raw video. */
export class FramePipe {
  readonly #stream: Readable;
  readonly #frameBytes: number;
  readonly #onFrame: () => void;
  readonly #ready: Uint8Array[] = [];
  readonly #free: Uint8Array[] = [];
  #buffers: number;
  #filling: Uint8Array | undefined;
  #filled = 0;
  /** What came after the last buffer was full: more than one piece, as Node resumes the pipes of a process that exits. */
  #rest: Uint8Array[] = [];

  /** @param onFrame is called after each frame that has arrived */
  constructor(stream: Readable, frameBytes: number, onFrame: () => void) {
    this.#stream = stream;
    this.#frameBytes = frameBytes;
    this.#onFrame = onFrame;
    this.#buffers = Math.min(MOST, Math.max(FEWEST, Math.floor(AHEAD / frameBytes)));
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('error', () => {});
  }

  /** The oldest frame that is there; it belongs to the caller until {@link release}. */
  shift(): Uint8Array | undefined {
    return this.#ready.shift();
  }

  /** Gives a frame's memory back. */
  release(frame: Uint8Array): void {
    this.#free.push(frame);
    if (this.#rest.length === 0) return;
    const pieces = this.#rest;
    this.#rest = [];
    for (const piece of pieces) this.#take(piece);
    if (this.#rest.length === 0) this.#stream.resume();
  }

  #take(chunk: Uint8Array): void {
    let at = 0;
    if (this.#rest.length > 0) {
      this.#rest.push(chunk);
      return;
    }
    while (at < chunk.length) {
      const into = this.#buffer();
      if (!into) {
        this.#rest.push(chunk.subarray(at));
        this.#stream.pause();
        return;
      }
      const bytes = chunk.subarray(at, at + this.#frameBytes - this.#filled);
      into.set(bytes, this.#filled);
      at += bytes.length;
      this.#filled += bytes.length;
      if (this.#filled < this.#frameBytes) continue;
      this.#filling = undefined;
      this.#ready.push(into);
      this.#onFrame();
    }
  }

  #buffer(): Uint8Array | undefined {
    if (this.#filling) return this.#filling;
    let buffer = this.#free.pop();
    if (!buffer && this.#buffers > 0) {
      this.#buffers--;
      buffer = new Uint8Array(this.#frameBytes);
    }
    this.#filled = 0;
    this.#filling = buffer;
    return buffer;
  }
}
