/**
 * @module media/sources
 * Stored frames: by number from a file, a Blob or bytes; in order from a stream; and a blank placeholder.
 */
import { usageError } from '../core/errors.js';
import {
  chromaSize,
  type FramePlanes,
  lumaBytes,
  sampleBytes,
  storedChromaSize,
  type VideoFormat,
} from '../core/frame.js';
import { shown } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import { incompleteFrame, incompleteFrameWarning, lostFraming } from './errors.js';
import {
  badFrameHeader,
  FRAME_HEADER_MAX,
  lostChroma,
  lostChromaBytes,
  parseFrameHeader,
} from './formats.js';
import { type ByteQueue, latin1 } from './readers.js';
import type {
  ByteReader,
  ByteStream,
  FrameLayout,
  FrameSource,
  SourceDescriptor,
  VideoInfo,
} from './types.js';

/**
 * Maps stored frames to the caller's planes, without unused planes and the extra chroma samples of odd sizes. Allows one
 * read at a time, since scratch memory is shared.
 */
export class PlaneMap {
  readonly #lumaBytes: number;
  /** Rows of a chroma plane and bytes of a row: the caller's, and as stored. */
  readonly #used: ReturnType<typeof chromaRows>;
  readonly #stored: ReturnType<typeof chromaRows>;
  readonly #scratches: { cb?: Uint8Array; cr?: Uint8Array } = {};

  constructor(format: VideoFormat) {
    const { bitDepth } = format;
    this.#lumaBytes = lumaBytes(format);
    this.#used = chromaRows(chromaSize(format), bitDepth);
    this.#stored = chromaRows(storedChromaSize(format), bitDepth);
  }

  /**
   * Buffers to fill in order from the frame's first sample to the last needed byte.
   * @throws {AnyvmafError} `usage` if the size of a plane contradicts the format
   */
  parts({ y, cb, cr, alpha }: FramePlanes): Uint8Array[] {
    check('luma', y, this.#lumaBytes);
    check('Cb', cb, this.#used.bytes);
    check('Cr', cr, this.#used.bytes);
    check('alpha', alpha, this.#lumaBytes);
    if (this.#used.bytes === 0 || (!cb && !cr)) return [y];
    const parts = [y, this.#buffer('cb', cb)];
    if (cr) parts.push(this.#buffer('cr', cr));
    // Alpha is read only together with all planes.
    if (alpha) parts.push(alpha);
    return parts;
  }

  /** Call once the parts are filled. */
  finish(into: FramePlanes): void {
    if (!this.#crops) return;
    const { rows, rowBytes } = this.#used;
    for (const name of ['cb', 'cr'] as const) {
      const [stored, plane] = [this.#scratches[name], into[name]];
      for (let row = 0; stored && plane && row < rows; row++) {
        const from = row * this.#stored.rowBytes;
        plane.set(stored.subarray(from, from + rowBytes), row * rowBytes);
      }
    }
  }

  get #crops(): boolean {
    return this.#used.bytes !== this.#stored.bytes;
  }

  /** Memory for a stored plane. */
  #buffer(name: 'cb' | 'cr', plane: Uint8Array | undefined): Uint8Array {
    if (plane && !this.#crops) return plane;
    this.#scratches[name] ??= new Uint8Array(this.#stored.bytes);
    return this.#scratches[name];
  }
}

function chromaRows({ width, height }: PictureSize, bitDepth: number) {
  const rowBytes = width * sampleBytes(bitDepth);
  return { rows: height, rowBytes, bytes: rowBytes * height };
}

function check(plane: string, into: Uint8Array | undefined, bytes: number): void {
  if (!into || into.length === bytes) return;
  throw usageError(`the ${plane} plane has ${into.length} bytes, but this format needs ${bytes}.`);
}

/** A seekable source, synchronous if the reader is. */
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
    const end = position + this.#header.length + lumaBytes(this.info);
    const last = this.#reader.read(end - 1, [new Uint8Array(1)]);
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

  /** True if the header just read is valid, or if frames have none. */
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
      throw incompleteFrame(this.info, { index, expectedBytes: frameBytes, foundBytes }, []);
    }
    if (!this.#isFramed()) throw lostFraming(this.info.name, index, this.#position(index), this.#header);
    this.#planes.finish(into);
    return true;
  }
}

/** A source over a queue at the first frame. */
export class SequentialSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable = false;
  readonly #stream: ByteStream;
  readonly #queue: ByteQueue;
  readonly #frameBytes: number;
  readonly #planes: PlaneMap;
  readonly #dropsPartial: boolean;
  #next = 0;
  #ended = false;
  damage: string | undefined;

  /**
   * @param frameBytes bytes of one frame's samples as stored
   * @param partialFrame `drop` ends the video before a frame that is incomplete
   */
  constructor(
    stream: ByteStream,
    queue: ByteQueue,
    info: VideoInfo,
    frameBytes: number,
    partialFrame?: 'refuse' | 'drop',
  ) {
    this.#dropsPartial = partialFrame === 'drop';
    this.info = info;
    this.#stream = stream;
    this.#queue = queue;
    this.#frameBytes = frameBytes;
    this.#planes = new PlaneMap(info);
  }

  async readFrame(index: number, into: FramePlanes): Promise<boolean> {
    if (index < this.#next)
      throw usageError(
        `frame ${index} of ${shown(this.info.name)} was requested after frame ${this.#next - 1}; ` +
          'a stream must be read in order.',
      );
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

  /** @throws {AnyvmafError} `media` if the second frame, or the end, comes {@link lostChromaBytes} too early */
  async #refuseLostChroma(): Promise<void> {
    const lost = lostChromaBytes(this.info);
    if (lost === 0) return;
    const frame = await this.#queue.peek(this.#frameBytes);
    const next = latin1(frame.subarray(this.#frameBytes - lost).subarray(0, 6));
    const isShort = frame.length === this.#frameBytes - lost || (next !== '' && 'FRAME\n'.startsWith(next));
    if (!isShort) return;
    this.#ended = true;
    throw lostChroma(this.info.name, this.info);
  }

  /** Reads the next frame's header, if frames have one; returns false at the end of the video. */
  async #frameHeader(): Promise<boolean> {
    if (this.info.container !== 'y4m') return (await this.#queue.peek(1)).length > 0;
    // Do not wait for bytes beyond this frame, which an interactive producer may not have sent.
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

  /** Throws if the video ends within its next frame, unless the source was closed. */
  #incomplete(foundBytes: number): false {
    if (this.#ended) return false;
    this.#ended = true;
    const at = { index: this.#next, expectedBytes: this.#frameBytes, foundBytes };
    if (!this.#dropsPartial) throw incompleteFrame(this.info, at);
    this.damage = incompleteFrameWarning(this.info, at);
    return false;
  }
}

/** A source whose reads go through `around`, with the number of the frame. */
export function withReads(
  source: FrameSource,
  around: (read: () => Promise<boolean> | boolean, index: number) => Promise<boolean> | boolean,
): FrameSource {
  const { info, seekable, descriptor } = source;
  return {
    info,
    seekable,
    ...(descriptor && { descriptor }),
    readFrame: (index, into) => around(() => source.readFrame(index, into), index),
    ...(source.checkFrame && {
      checkFrame: (index: number) => around(() => source.checkFrame?.(index) ?? true, index),
    }),
    close: () => source.close(),
  };
}

/** Closes all, even if closing one fails. @throws the first error */
export async function closeAll(sources: Iterable<Pick<FrameSource, 'close'>>): Promise<void> {
  const closing = await Promise.allSettled([...sources].map(async (source) => source.close()));
  for (const closed of closing) if (closed.status === 'rejected') throw closed.reason;
}

const NO_REFERENCE = '(no reference)';

/** Leaves planes unchanged. `frameCount` is the other video's, `null` if unknown. */
export function blankSource(format: VideoFormat, frameCount: number | null): FrameSource {
  const { width, height, bitDepth, chroma } = format;
  const frames = { name: NO_REFERENCE, container: 'frames', frameCount, warnings: [] } as const;
  const info = { ...frames, width, height, bitDepth, chroma };
  const readFrame = (index: number) => frameCount === null || index < frameCount;
  return { info, seekable: true, descriptor: { kind: 'blank', info }, readFrame, close: () => {} };
}
