/**
 * @module core/geometry
 * Sizes of the planes that are measured.
 */

/** Width and height in samples. */
export interface PlaneSize {
  readonly width: number;
  readonly height: number;
}

/** Shift from luma to chroma dimensions; 4:0:0 has no chroma. */
export const SUBSAMPLING = {
  '420': { h: 1, v: 1 },
  '422': { h: 1, v: 0 },
  '444': { h: 0, v: 0 },
  '400': undefined,
} as const;

/** Chroma subsampling as the field names it; `400` is luma only. */
export type ChromaFormat = keyof typeof SUBSAMPLING;

/** A picture's size and chroma format. */
export interface PictureFormat extends PlaneSize {
  readonly chroma: keyof typeof SUBSAMPLING;
}

/** Bytes of one sample: 1 at 8 bit, 2 above. */
export function sampleBytes(bitDepth: number): 1 | 2 {
  return bitDepth > 8 ? 2 : 1;
}

/** A chroma plane as scored, rounded down at odd luma sizes; 0x0 for 4:0:0. */
export function chromaSize({ width, height, chroma }: PictureFormat): PlaneSize {
  const shift = SUBSAMPLING[chroma];
  return shift ? { width: width >> shift.h, height: height >> shift.v } : { width: 0, height: 0 };
}
