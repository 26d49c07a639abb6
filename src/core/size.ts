/**
 * @module core/size
 * Sizes of pictures as text.
 */
import { type Fraction, quotientOf } from './numbers.js';

/** Width and height of a picture, in samples of luma. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The size to which both videos are scaled. */
export type ScaleTo = 'ref' | 'dis' | PictureSize;

/** Pattern of what {@link parseSize} reads. */
export const SIZE_PATTERN = '[1-9]\\d{0,4}x[1-9]\\d{0,4}';
const SIZE = new RegExp(`^${SIZE_PATTERN}$`, 'i');

/** Two numbers of any size, separated by an x. */
export function parseSides(text: string): PictureSize | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** Reads `1920x1080`; `undefined` for other text, including sides of 0 or more than five digits. */
export function parseSize(text: string): PictureSize | undefined {
  return SIZE.test(text) ? parseSides(text.toLowerCase()) : undefined;
}

/** The size in a file's name: `clip_352x288_30.yuv`. */
export function sizeInName(name: string): PictureSize | undefined {
  const [text] = /(?<!\d)\d{2,5}x\d{2,5}(?!\d)/.exec(name) ?? [];
  return text === undefined ? undefined : parseSides(text);
}

/** A size as {@link parseSize} reads it; other values unchanged. */
export function formatSize<Value>(value: Value): Exclude<Value, PictureSize> | string {
  return isSize(value) ? `${value.width}x${value.height}` : (value as Exclude<Value, PictureSize>);
}

export function isSize(value: unknown): value is PictureSize {
  return typeof value === 'object' && value !== null && 'width' in value && 'height' in value;
}

interface Picture extends PictureSize {
  readonly sampleAspect?: Fraction;
}

/** Relative difference below which aspects are equal, since sizes are whole samples. */
export const SAME_ASPECT = 0.012;
/** Usual aspects, which sizes of small pictures only approximate. */
const SHAPES = [16 / 9, 4 / 3, 16 / 10, 3 / 2, 1];

export function displayAspect({ width, height, sampleAspect }: Picture): number {
  return (width * (quotientOf(sampleAspect) ?? 1)) / height;
}

/** The size with a short side of 1080 that shows a picture of this aspect in square samples. */
export function screenSize(aspect: number): PictureSize {
  const wide = Math.max(aspect, 1 / aspect);
  const usual = SHAPES.find((shape) => Math.abs(wide / shape - 1) <= SAME_ASPECT) ?? wide;
  const long = 2 * Math.round((1080 * usual) / 2);
  return aspect < 1 ? { width: 1080, height: long } : { width: long, height: 1080 };
}
