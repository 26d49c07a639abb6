/**
 * @module pictures/image
 * 8-bit RGB images: shrinking and writing as PNG.
 */

/** Rows of packed RGB, one byte per channel. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  /** 3 x width x height bytes. */
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Rows of packed red, green, blue and 255. */
export interface RgbaImage {
  readonly width: number;
  readonly height: number;
  /** 4 x width x height bytes. */
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/** Size limit of a picture. */
export interface ImageOptions {
  /** Longest side in samples, from 1; larger pictures are shrunk. Default: no limit. */
  readonly maxSide?: number;
}

export function shrink(image: RgbImage, { maxSide = Number.POSITIVE_INFINITY }: ImageOptions): RgbImage {
  const longest = Math.max(image.width, image.height);
  if (longest <= maxSide) return image;
  const width = Math.max(1, Math.round((image.width * maxSide) / longest));
  const height = Math.max(1, Math.round((image.height * maxSide) / longest));
  const columns = coverage(image.width, width);
  const rows = coverage(image.height, height);
  const data = new Uint8ClampedArray(3 * width * height);
  const sums = new Float64Array(3 * width);
  for (let y = 0; y < height; y++) {
    sums.fill(0);
    for (const { at, weight } of rows[y]!) addRow(image, at, weight, columns, sums);
    data.set(sums, 3 * width * y);
  }
  return { width, height, data: new Uint8Array(data.buffer) };
}

interface Share {
  readonly at: number;
  readonly weight: number;
}

/** The input samples that each output sample covers, with weights that sum to 1. */
function coverage(from: number, to: number): Share[][] {
  const scale = from / to;
  return Array.from({ length: to }, (_, i) => {
    const [start, end] = [i * scale, (i + 1) * scale];
    const shares: Share[] = [];
    for (let at = Math.floor(start); at < Math.min(from, end); at++) {
      const weight = (Math.min(at + 1, end) - Math.max(at, start)) / scale;
      if (weight > 0) shares.push({ at, weight });
    }
    return shares;
  });
}

function addRow(
  { width, data }: RgbImage,
  row: number,
  rowWeight: number,
  columns: readonly Share[][],
  sums: Float64Array,
): void {
  const start = 3 * width * row;
  columns.forEach((shares, x) => {
    for (const { at, weight } of shares) {
      const from = start + 3 * at;
      for (let c = 0; c < 3; c++) {
        sums[3 * x + c]! += rowWeight * weight * data[from + c]!;
      }
    }
  });
}

/** Compression effort: higher levels take several times as long for a few percent. */
const LEVEL = 3;

/** The bytes of a PNG file, 8 bits per channel. */
export async function encodePng({ width, height, data }: RgbImage): Promise<Uint8Array<ArrayBuffer>> {
  const { encode } = await import('fast-png');
  return new Uint8Array(encode({ width, height, data, channels: 3, depth: 8 }, { zlib: { level: LEVEL } }));
}
