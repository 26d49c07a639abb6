/**
 * @module platform/mediabunny/samples
 * Decoded samples as planes: their layouts, and how they are turned upright. No value changes.
 */
import type { VideoSample } from 'mediabunny';
import type { FramePlanes, VideoFormat } from '../../core/frame.js';
import { chromaSize, sampleBytes, storedChromaSize } from '../../core/frame.js';

/** ffmpeg's names of WebCodecs' YUV layouts; RGB and unnamed layouts are not scored. */
const PIXEL_FORMATS: Readonly<Record<string, string>> = {
  NV12: 'nv12',
  ...Object.fromEntries(
    ['420', '422', '444'].flatMap((chroma) =>
      ['', 'P10', 'P12'].flatMap((depth) => {
        const ending = depth === '' ? 'p' : `p${depth.slice(1)}le`;
        return [
          [`I${chroma}${depth}`, `yuv${chroma}${ending}`],
          [`I${chroma}A${depth}`, `yuva${chroma}${ending}`],
        ];
      }),
    ),
  ),
};

/** ffmpeg's name of a sample's layout; `undefined` for RGB and unnamed layouts. */
export function samplePixelFormat(format: string | null): string | undefined {
  return format === null ? undefined : PIXEL_FORMATS[format];
}

/** Turns a picture upright: rotated clockwise, then flipped left to right. */
export interface Orientation {
  readonly rotation: 0 | 90 | 180 | 270;
  readonly flip: boolean;
}

export class SampleCopier {
  readonly #format: VideoFormat;
  readonly #orientation: Orientation;
  #buffer = new Uint8Array(0);

  /** @param format of the upright picture */
  constructor(format: VideoFormat, orientation: Orientation) {
    this.#format = format;
    this.#orientation = orientation;
  }

  /** Leaves the sample open. */
  async copy(sample: VideoSample, into: FramePlanes): Promise<void> {
    const bytes = sample.allocationSize();
    if (this.#buffer.length !== bytes) this.#buffer = new Uint8Array(bytes);
    const layout = await sample.copyTo(this.#buffer);
    const interleaved = sample.format === 'NV12';
    this.#plane(layout, 0, 1, 0, true, into.y);
    if (into.cb) this.#plane(layout, 1, interleaved ? 2 : 1, 0, false, into.cb);
    if (into.cr)
      this.#plane(layout, interleaved ? 1 : 2, interleaved ? 2 : 1, interleaved ? 1 : 0, false, into.cr);
  }

  /** @param step samples from one of this plane to the next; `first` is its first */
  #plane(
    layout: readonly PlaneLayout[],
    index: number,
    step: number,
    first: number,
    luma: boolean,
    into: Uint8Array,
  ): void {
    const format = this.#format;
    const { rotation, flip } = this.#orientation;
    const used = luma ? format : chromaSize(format);
    if (used.width === 0) return;
    const plane = layout[index];
    if (!plane) throw new Error(`a sample has no plane ${index}`);
    const { offset, stride } = plane;
    const size = sampleBytes(format.bitDepth);
    const source = this.#buffer;
    if (rotation === 0 && !flip && step === 1) {
      const row = used.width * size;
      if (stride === row) {
        into.set(source.subarray(offset, offset + row * used.height));
        return;
      }
      for (let y = 0; y < used.height; y++) {
        const from = offset + y * stride;
        into.set(source.subarray(from, from + row), y * row);
      }
      return;
    }
    const [bytes, target] = [viewOf(source), viewOf(into)];
    // The stored plane: its size is rounded up, that of the scored one down.
    const stored = luma ? format : storedChromaSize(format);
    const turned = rotation === 90 || rotation === 270;
    const width = turned ? stored.height : stored.width;
    const height = turned ? stored.width : stored.height;
    for (let y = 0; y < used.height; y++) {
      for (let x = 0; x < used.width; x++) {
        const u = flip ? stored.width - 1 - x : x;
        const [sx, sy] =
          rotation === 90
            ? [y, height - 1 - u]
            : rotation === 180
              ? [width - 1 - u, height - 1 - y]
              : rotation === 270
                ? [width - 1 - y, u]
                : [u, y];
        const from = offset + sy * stride + (sx * step + first) * size;
        const to = (y * used.width + x) * size;
        if (size === 1) target.setUint8(to, bytes.getUint8(from));
        else target.setUint16(to, bytes.getUint16(from));
      }
    }
  }
}

/** A view that throws for an index beyond the bytes. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
