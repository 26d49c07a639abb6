/**
 * @module media/random
 * Random access to frames of a file, a Blob or bytes; reads directly into the caller's planes.
 */

import type { FramePlanes } from '../core/frame.js';
import { lumaBytes } from '../core/frame.js';
import { incompleteFrame, lostFraming } from './errors.js';
import { PlaneMap } from './planes.js';
import type { ByteReader } from './platform.js';
import type { FrameLayout, FrameSource, SourceDescriptor, VideoInfo } from './types.js';
import { parseFrameHeader } from './y4m.js';

/** A seekable source over a {@link ByteReader}; synchronous if the reader is. */
export class RandomAccessSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable = true;
  readonly descriptor?: SourceDescriptor;
  readonly #reader: ByteReader;
  readonly #layout: FrameLayout;
  readonly #planes: PlaneMap;
  readonly #header: Uint8Array;

  constructor(reader: ByteReader, info: VideoInfo, layout: FrameLayout, descriptor?: SourceDescriptor) {
    this.info = info;
    if (descriptor) this.descriptor = descriptor;
    this.#reader = reader;
    this.#layout = layout;
    this.#planes = new PlaneMap(info);
    this.#header = new Uint8Array(layout.frameHeader);
  }

  readFrame(index: number, into: FramePlanes): boolean | Promise<boolean> {
    const parts = this.#planes.parts(into);
    if (!this.#holds(index)) return false;
    if (this.#header.length > 0) parts.unshift(this.#header);
    const got = this.#reader.read(this.#position(index), parts);
    if (typeof got === 'number') return this.#finish(index, into, parts, got);
    return got.then((bytes) => this.#finish(index, into, parts, bytes));
  }

  checkFrame(index: number): boolean | Promise<boolean> {
    if (!this.#holds(index)) return false;
    const position = this.#position(index);
    const header = this.#reader.read(position, [this.#header]);
    const last = this.#reader.read(position + this.#header.length + lumaBytes(this.info) - 1, [
      new Uint8Array(1),
    ]);
    const whole = (headerBytes: number, lastBytes: number): boolean | Promise<boolean> => {
      if (lastBytes === 1 && headerBytes === this.#header.length && this.#isFramed()) return true;
      // Reading reports the error.
      return this.readFrame(index, { y: new Uint8Array(lumaBytes(this.info)) });
    };
    if (typeof header === 'number' && typeof last === 'number') return whole(header, last);
    return Promise.all([header, last]).then(([headerBytes, lastBytes]) => whole(headerBytes, lastBytes));
  }

  close(): void {
    this.#reader.close();
  }

  /**
   * True if the frame exists and is complete.
   * @throws {MediaError} if the video ends within the frame
   */
  #holds(index: number): boolean {
    if (index < (this.info.frameCount ?? 0)) return true;
    const { incompleteFrame: partial } = this.info;
    if (partial && index === partial.index) throw incompleteFrame(this.info, partial);
    return false;
  }

  /** True if the header just read is valid, or frames have none. */
  #isFramed(): boolean {
    return this.#header.length === 0 || parseFrameHeader(this.#header) === this.#header.length;
  }

  /** Position of the frame's header, or of its first sample if headers are absent or vary in length. */
  #position(index: number): number {
    const { start, frameHeader, frameBytes, offsets } = this.#layout;
    return offsets?.[index] ?? start + index * (frameHeader + frameBytes);
  }

  #finish(index: number, into: FramePlanes, parts: readonly Uint8Array[], got: number): boolean {
    const wanted = parts.reduce((sum, part) => sum + part.length, 0);
    if (got < wanted) {
      // The file shrank after opening.
      const { frameHeader, frameBytes } = this.#layout;
      const foundBytes = Math.max(0, got - frameHeader);
      throw incompleteFrame(this.info, { index, expectedBytes: frameBytes, foundBytes });
    }
    if (!this.#isFramed()) {
      throw lostFraming(this.info.name, index, this.#position(index), this.#header);
    }
    this.#planes.finish(into);
    return true;
  }
}
