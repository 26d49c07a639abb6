/**
 * @module platform/node/ffmpeg/frame-pipe
 * Cuts the bytes of a pipe into frames, some of them ahead of the reader, and stops the writer when those are enough.
 */
import type { Readable } from 'node:stream';
import type { Receiver } from './channel.js';

/**
 * Bytes of frames that are held, within {@link FEWEST} and {@link MOST} frames: one that arrives, the others ahead. Few,
 * since a decoder that runs ahead takes its time from the workers that measure the first frames.
 */
const HELD = 12 << 20;
const FEWEST = 3;
const MOST = 8;

/** Whole frames from raw video, which comes straight into their memory or piece by piece. */
export class FramePipe implements Receiver {
  readonly #frameBytes: number;
  readonly #onFrame: () => void;
  #stream: Readable | undefined;
  readonly #ready: Uint8Array[] = [];
  readonly #free: Uint8Array[] = [];
  /** Buffers that may still be made. */
  #unmade: number;
  /** What the next bytes belong to; when there is nothing to follow it, it stays empty. */
  #filling: Uint8Array;
  #filled = 0;
  #full = false;
  /** Pieces that came when it was full already: more than one, as Node resumes the pipes of a process that exits. */
  #rest: Uint8Array[] = [];

  /** @param onFrame is called after each frame that has arrived */
  constructor(frameBytes: number, onFrame: () => void) {
    this.#frameBytes = frameBytes;
    this.#onFrame = onFrame;
    this.#unmade = Math.min(MOST, Math.max(FEWEST, Math.floor(HELD / frameBytes)));
    this.#filling = this.#buffer();
  }

  /** Names the stream that feeds this pipe as its receiver. */
  receiveFrom(stream: Readable): void {
    this.#stream = stream;
    stream.on('error', () => {});
  }

  /** Takes the pieces that a stream brings. */
  readFrom(stream: Readable): void {
    this.receiveFrom(stream);
    stream.on('data', (piece: Buffer) => this.#take(piece));
  }

  /** The oldest frame that is there; it belongs to the caller until {@link release}. */
  shift(): Uint8Array | undefined {
    return this.#ready.shift();
  }

  /** Gives a frame's memory back. */
  release(frame: Uint8Array): void {
    this.#free.push(frame);
    if (!this.#full) return;
    this.#full = false;
    const pieces = this.#rest;
    this.#rest = [];
    for (const piece of pieces) this.#take(piece);
    if (!this.#full) this.#stream?.resume();
  }

  room(): Uint8Array {
    return this.#filling.subarray(this.#filled);
  }

  filled(bytes: number): boolean {
    this.#filled += bytes;
    if (this.#filled < this.#frameBytes) return true;
    this.#ready.push(this.#filling);
    this.#filling = this.#buffer();
    this.#filled = 0;
    this.#full = this.#free.length === 0 && this.#unmade === 0;
    this.#onFrame();
    return !this.#full;
  }

  #take(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#full) {
        this.#rest.push(piece.subarray(at));
        this.#stream?.pause();
        return;
      }
      const bytes = piece.subarray(at, at + this.#frameBytes - this.#filled);
      this.room().set(bytes);
      at += bytes.length;
      this.filled(bytes.length);
    }
  }

  #buffer(): Uint8Array {
    const free = this.#free.pop();
    if (free) return free;
    this.#unmade--;
    return new Uint8Array(this.#frameBytes);
  }
}
