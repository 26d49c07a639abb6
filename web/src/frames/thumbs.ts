/**
 * @module web/frames/thumbs
 * Small pictures: a file's first frame, or both frames of a pair with the loss map. Runs in the worker.
 */
import type { FramePair, FramePicture } from 'anyvmaf';
import { fittingFull, tint } from './colours.js';
import { type FrameFacts, type LossGrid, measureMap, opaque } from './draw.js';

/** A small picture in opaque RGBA. */
export interface Thumb {
  readonly width: number;
  readonly height: number;
  /** Displayed width over height. */
  readonly aspect: number;
  readonly toneMapped?: NonNullable<FrameFacts['toneMapped']>;
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

export interface ThumbPair {
  readonly index: number;
  readonly reference: Thumb;
  readonly distorted: Thumb;
  readonly map: Thumb;
}

/** Side of a map's square in samples. */
const BLOCK = 16;
/** Opacity of the colours and brightness of the grey picture, as in the viewer. */
const [COVER, DIM] = [0.85, 0.62];

/** @param side longest side in pixels */
export async function thumbsOf(pair: FramePair, side: number): Promise<ThumbPair> {
  const { width } = pair.reference.format;
  const aspect = pair.reference.displayAspect;
  const { grids } = await measureMap(pair, BLOCK);
  return {
    index: pair.index,
    reference: thumb(pair.reference, side, aspect),
    distorted: thumb(pair.distorted, side, aspect),
    map: mapOver(thumb(pair.distorted, side, aspect), grids.both, width),
  };
}

/** @param aspect displayed width over height */
export function thumb(picture: FramePicture, side: number, aspect: number): Thumb {
  const { toneMapped } = picture.color;
  return { ...opaque(picture.image({ maxSide: side })), aspect, ...(toneMapped && { toneMapped }) };
}

/** Loss colours over the picture in grey. @param fullWidth of the original picture */
function mapOver(picture: Thumb, grid: LossGrid, fullWidth: number): Thumb {
  const { width, height, data } = picture;
  const full = fittingFull(grid);
  const squares = (at: number, most: number) =>
    Math.min(most - 1, Math.floor(((at + 0.5) * fullWidth) / width / grid.blockSize));
  for (let y = 0; y < height; y++) {
    const row = squares(y, grid.height) * grid.width;
    for (let x = 0; x < width; x++) {
      const at = 4 * (y * width + x);
      const [r = 0, g = 0, b = 0] = data.subarray(at, at + 3);
      const grey = DIM * (0.2126 * r + 0.7152 * g + 0.0722 * b);
      const [red, green, blue, cover] = tint((grid.density[row + squares(x, grid.width)] ?? 0) / full);
      const share = COVER * cover;
      data.set(
        [red, green, blue].map((colour) => grey + share * (colour - grey)),
        at,
      );
    }
  }
  return picture;
}
