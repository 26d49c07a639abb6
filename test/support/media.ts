/**
 * @module test/support/media
 * Small videos made by hand for the tests of media: every sample is a known function of its place.
 */
import {
  chromaSize,
  type FramePlanes,
  lumaBytes,
  sampleBytes,
  type VideoFormat,
} from '../../src/core/frame.js';
import type { FilePlatform, FrameSource } from '../../src/media/types.js';

type AllPlanes = Required<Omit<FramePlanes, 'alpha'>>;

/** Buffers for all planes of a frame. */
export function planesFor(format: VideoFormat): FramePlanes {
  const { width, height } = chromaSize(format);
  const chroma = width * height * sampleBytes(format.bitDepth);
  const y = new Uint8Array(lumaBytes(format));
  return chroma === 0 ? { y } : { y, cb: new Uint8Array(chroma), cr: new Uint8Array(chroma) };
}

/** A platform without files. */
export const noFiles: FilePlatform = {
  async open(file) {
    throw new Error(`unexpected open of ${String(file)}`);
  },
  reopen(path) {
    throw new Error(`unexpected reopen of ${path}`);
  },
};

/** Latin-1 bytes of a text. */
export function ascii(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

/** Bytes one after another. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** A plane whose sample (x, y) is `(seed + 3x + 7y) mod 2^depth`, little endian above 8 bit. */
export function plane(width: number, height: number, bitDepth: number, seed: number): Uint8Array {
  const bytes = bitDepth > 8 ? 2 : 1;
  const out = new Uint8Array(width * height * bytes);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const value = (seed + 3 * x + 7 * y) % 2 ** bitDepth;
      const at = (y * width + x) * bytes;
      out[at] = value & 255;
      if (bytes === 2) out[at + 1] = value >> 8;
    }
  }
  return out;
}

/** Seed of plane `index` (0 luma, 1 Cb, 2 Cr) of frame `frame`. */
const seedOf = (frame: number, index: number): number => 1000 * frame + 60 * index + 11;

/** A frame as files store it; chroma is rounded up. */
export function storedFrame(format: VideoFormat, frame: number): Uint8Array {
  const { width: w, height: h, bitDepth: b } = format;
  const cw = format.chroma === '444' ? w : Math.ceil(w / 2);
  const ch = format.chroma === '420' ? Math.ceil(h / 2) : h;
  const luma = plane(w, h, b, seedOf(frame, 0));
  if (format.chroma === '400') return luma;
  return concat(luma, plane(cw, ch, b, seedOf(frame, 1)), plane(cw, ch, b, seedOf(frame, 2)));
}

/** The planes that reading a frame must give: chroma is rounded down. */
export function expectedPlanes(format: VideoFormat, frame: number): AllPlanes {
  const { width: w, height: h, bitDepth: b, chroma } = format;
  const cw = chroma === '400' ? 0 : chroma === '444' ? w : Math.floor(w / 2);
  const ch = chroma === '400' ? 0 : chroma === '420' ? Math.floor(h / 2) : h;
  return {
    y: plane(w, h, b, seedOf(frame, 0)),
    cb: plane(cw, ch, b, seedOf(frame, 1)),
    cr: plane(cw, ch, b, seedOf(frame, 2)),
  };
}

/** Raw video of `count` frames. */
export function rawVideo(format: VideoFormat, count: number): Uint8Array<ArrayBuffer> {
  return concat(...Array.from({ length: count }, (_, i) => storedFrame(format, i)));
}

/** Y4M of `count` frames; `frameHeader` gives each frame's header, newline included. */
export function y4mVideo(
  format: VideoFormat,
  tag: string,
  count: number,
  frameHeader: (frame: number) => string = () => 'FRAME\n',
): Uint8Array<ArrayBuffer> {
  const header = `YUV4MPEG2 W${format.width} H${format.height} F25:1 Ip A1:1 C${tag}\n`;
  const frames = Array.from({ length: count }, (_, i) =>
    concat(ascii(frameHeader(i)), storedFrame(format, i)),
  );
  return concat(ascii(header), ...frames);
}

/** Planes of the right sizes, filled with a value that no test video's rows begin with. */
export function blankPlanes(format: VideoFormat): AllPlanes {
  const { y, cb = new Uint8Array(0), cr = new Uint8Array(0) } = planesFor(format);
  return { y: y.fill(0xee), cb: cb.fill(0xee), cr: cr.fill(0xee) };
}

/** Frame `index` with all its planes, or `undefined` at the end. */
export async function readAll(source: FrameSource, index: number): Promise<AllPlanes | undefined> {
  const into = blankPlanes(source.info);
  return (await source.readFrame(index, into)) ? into : undefined;
}

/** A stream of `bytes` in pieces of the lengths that `next` returns. */
export function streamOf(bytes: Uint8Array, next: () => number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const end = at + Math.max(1, next());
      controller.enqueue(bytes.slice(at, end));
      at = end;
    },
  });
}
