/**
 * @module media/pixel-format
 * ffmpeg's pixel format names, and which of them are planar luma and chroma as the scorer needs.
 */
import type { ChromaFormat } from '../core/frame.js';

/** Sample format of a picture without its size. */
export interface SampleFormat {
  /** Bits per sample, 8..16. */
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
}

/** Formats that store the same luma and chroma samples in another order. */
const REARRANGED: Readonly<Record<string, SampleFormat>> = {
  nv12: { bitDepth: 8, chroma: '420' },
  nv21: { bitDepth: 8, chroma: '420' },
  nv24: { bitDepth: 8, chroma: '444' },
  nv42: { bitDepth: 8, chroma: '444' },
  yuyv422: { bitDepth: 8, chroma: '422' },
  yvyu422: { bitDepth: 8, chroma: '422' },
  uyvy422: { bitDepth: 8, chroma: '422' },
  ya8: { bitDepth: 8, chroma: '400' },
};

const FAMILIES: readonly (readonly [pattern: RegExp, chroma?: ChromaFormat])[] = [
  /** Planar, alpha in a separate plane: `yuv420p`, `yuvj444p`, `yuva422p10le`. */
  [/^yuv[aj]?(420|422|444)p(9|1[0246])?(?:le|be)?$/],
  [/^gray(9|1[0246])?(?:le|be)?$/, '400'],
  [/^ya(16)(?:le|be)$/, '400'],
  /** Semi-planar, values in the high bits: `p010le`. */
  [/^p0(1[0246])(?:le|be)$/, '420'],
  [/^p2(1[0246])(?:le|be)$/, '422'],
  [/^p4(1[0246])(?:le|be)$/, '444'],
];

/**
 * Parses ffmpeg's name of a pixel format (`yuv420p10le`, `nv12`, `gray`).
 * @returns `undefined` for formats whose samples are not luma and chroma in 4:2:0, 4:2:2, 4:4:4 or 4:0:0, such as
 * RGB, a palette, 4:1:1 or floating point
 */
export function pixelFormat(name: string): SampleFormat | undefined {
  if (Object.hasOwn(REARRANGED, name)) return REARRANGED[name];
  for (const [pattern, fixed] of FAMILIES) {
    const match = pattern.exec(name);
    if (!match) continue;
    const [, first = '', second] = match;
    if (fixed) return { bitDepth: Number(first || 8), chroma: fixed };
    if (first === '420' || first === '422' || first === '444') {
      return { bitDepth: Number(second ?? 8), chroma: first };
    }
  }
  return undefined;
}

/** ffmpeg's name of the planar little-endian pixel format: `yuv422p10le`, `gray`. */
export function pixelFormatName({ bitDepth, chroma }: SampleFormat): string {
  const base = chroma === '400' ? 'gray' : `yuv${chroma}p`;
  return bitDepth === 8 ? base : `${base}${bitDepth}le`;
}
