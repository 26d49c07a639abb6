/**
 * @module core/size
 * Sizes of pictures as people write them.
 */

/** Width and height of a picture, in samples of luma. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The size to which both videos are scaled. */
export type ScaleTo = 'ref' | 'dis' | PictureSize;

/** What {@link parseSize} reads, as a pattern. */
export const SIZE_PATTERN = '[1-9]\\d{0,4}x[1-9]\\d{0,4}';

const SIZE = new RegExp(`^${SIZE_PATTERN}$`, 'i');

/** Two numbers with an x between them, whatever they are. */
export function parseSides(text: string): PictureSize | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** Reads `1920x1080`; `undefined` for anything else, sides of 0 and of more than five digits included. */
export function parseSize(text: string): PictureSize | undefined {
  return SIZE.test(text) ? parseSides(text.toLowerCase()) : undefined;
}

/** The size that a file's name states: `clip_352x288_30.yuv`. */
export function sizeInName(name: string): PictureSize | undefined {
  const [text] = /(?<!\d)\d{2,5}x\d{2,5}(?!\d)/.exec(name) ?? [];
  return text === undefined ? undefined : parseSides(text);
}

/** A size as {@link parseSize} reads it; other values as they are. */
export function formatSize<Value>(value: Value): Exclude<Value, PictureSize> | string {
  return isSize(value) ? `${value.width}x${value.height}` : (value as Exclude<Value, PictureSize>);
}

/** Whether a value is a size. */
export function isSize(value: unknown): value is PictureSize {
  return typeof value === 'object' && value !== null && 'width' in value && 'height' in value;
}
