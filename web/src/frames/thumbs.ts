/**
 * @module web/frames/thumbs
 * Small pictures: the first frame of a file, and both frames of a pair with its loss map. Runs in the worker.
 */
import type { FramePair, FramePicture } from 'anyvmaf';
import { fittingFull, tint } from './colours.js';
import { type FrameFacts, type LossGrid, measureMap, opaque } from './draw.js';

/** A small picture: red, green, blue and 255 of each pixel. */
export interface Thumb {
  readonly width: number;
  readonly height: number;
  /** Width over height as shown; pixels need not be square. */
  readonly aspect: number;
  /** As of a frame's facts. */
  readonly toneMapped?: NonNullable<FrameFacts['toneMapped']>;
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/** Both frames of a pair, and where the distorted one lost quality. */
export interface ThumbPair {
  readonly index: number;
  readonly reference: Thumb;
  readonly distorted: Thumb;
  readonly map: Thumb;
}

/** Side of a map's square in samples. */
const BLOCK = 16;
/** Opacity of the map's colours, and brightness of the grey picture below; as in the viewer. */
const [COVER, DIM] = [0.85, 0.62];

/** Small pictures of a pair, and where it loses quality. @param side longest side in pixels */
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

/** A small picture. @param aspect width over height as shown */
export function thumb(picture: FramePicture, side: number, aspect: number): Thumb {
  const { toneMapped } = picture.color;
  return { ...opaque(picture.image({ maxSide: side })), aspect, ...(toneMapped && { toneMapped }) };
}

/** The loss in colours over the grey of a picture that is `fullWidth` wide before it was made small. */
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
