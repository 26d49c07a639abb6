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

/** Reads `1920x1080`; `undefined` for anything else, sides of 0 and of more than five digits included. */
export function parseSize(text: string): PictureSize | undefined {
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/i.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}
