/**
 * @module media/random
 * Frames at will from a file, a Blob or bytes: each read goes straight into the caller's planes.
 */
import { incompleteFrame, lostFraming } from './errors.js';
import { PlaneMap } from './planes.js';
import type { ByteReader } from './platform.js';
import type { FrameLayout, FramePlanes, FrameSource, SourceDescriptor, VideoInfo } from './types.js';
import { parseFrameHeader } from './y4m.js';

/** A seekable source over a {@link ByteReader}; synchronous where the reader is. */
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
    if (index >= (this.info.frameCount ?? 0)) {
      const { incompleteFrame: partial } = this.info;
      if (partial && index === partial.index) throw incompleteFrame(this.info, partial);
      return false;
    }
    if (this.#header.length > 0) parts.unshift(this.#header);
    const got = this.#reader.read(this.#position(index), parts);
    if (typeof got === 'number') return this.#finish(index, into, parts, got);
    return got.then((bytes) => this.#finish(index, into, parts, bytes));
  }

  close(): void {
    this.#reader.close();
  }

  /** Of the frame's header, or its first sample where it has none or the headers' lengths differ. */
  #position(index: number): number {
    const { start, frameHeader, frameBytes, offsets } = this.#layout;
    return offsets?.[index] ?? start + index * (frameHeader + frameBytes);
  }

  #finish(index: number, into: FramePlanes, parts: readonly Uint8Array[], got: number): boolean {
    const wanted = parts.reduce((sum, part) => sum + part.length, 0);
    if (got < wanted) {
      // The file shrank since it was opened.
      const { frameHeader, frameBytes } = this.#layout;
      const foundBytes = Math.max(0, got - frameHeader);
      throw incompleteFrame(this.info, { index, expectedBytes: frameBytes, foundBytes });
    }
    if (this.#header.length > 0 && parseFrameHeader(this.#header) !== this.#header.length) {
      throw lostFraming(this.info.name, index, this.#position(index), this.#header);
    }
    this.#planes.finish(into);
    return true;
  }
}
