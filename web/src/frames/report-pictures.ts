/**
 * @module web/frames/report-pictures
 * Pictures for the HTML report, as large as its size allows. Runs in the worker.
 */

import { type FramePair, mapQuality, type RgbImage } from 'anyvmaf';
import {
  type ListedEncode,
  type PageLimits,
  type PagePictures,
  type PictureTry,
  pagePicturesOf,
} from 'anyvmaf/view';
import { messageOf } from '../engine/calls.js';
import { opaque } from './draw.js';

/** Side of a map's square in pixels, as on the command line. */
const BLOCK = 16;

/** Smallest files first. */
const LOSSY = ['image/avif', 'image/webp', 'image/jpeg'] as const;

type Listed = ListedEncode & { readonly butteraugli: boolean };

/** @throws the signal's reason */
export async function reportPictures<E extends Listed>(
  encodes: readonly E[],
  pairsOf: (encode: E) => AsyncIterable<FramePair>,
  {
    limits,
    ...settings
  }: {
    readonly limits: PageLimits;
    /** Tells users how to allow more. */
    readonly remedy: string;
    readonly signal: AbortSignal;
    readonly onMoment: (done: number, of: number) => void;
  },
): Promise<PagePictures> {
  const lossy = await lossyType();
  return pagePicturesOf(encodes, limits, {
    ...settings,
    momentsOf: (encode) => momentsOf(pairsOf(encode), encode.butteraugli, lossy, settings.signal),
    reasonOf: messageOf,
  });
}

/** Canvases write PNG if they do not support a format. */
async function lossyType(): Promise<string> {
  const canvas = canvasOf({ width: 1, height: 1, data: new Uint8Array(3) });
  for (const type of LOSSY) if ((await canvas.convertToBlob({ type })).type === type) return type;
  return 'image/png';
}

async function* momentsOf(
  pairs: AsyncIterable<FramePair>,
  butteraugli: boolean,
  lossy: string,
  signal: AbortSignal,
) {
  for await (const pair of pairs) {
    const draw = await drawerOf(pair, butteraugli);
    const { width, height } = pair.reference.format;
    yield {
      frame: pair.index,
      aspect: pair.reference.displayAspect,
      async write({ side, quality, fits }: PictureTry) {
        signal.throwIfAborted();
        const { reference, distorted, map } = draw(side);
        if (quality === 1 && !fits(reference.width * reference.height)) return undefined;
        // That would only repeat the PNG.
        if (quality < 1 && lossy === 'image/png' && side >= Math.max(width, height)) return undefined;
        const encoding = { type: quality === 1 ? 'image/png' : lossy, quality };
        return {
          reference: await encoded(reference, encoding),
          distorted: await encoded(distorted, encoding),
          map: await encoded(map, encoding),
        };
      },
    };
  }
}

/** Draws each size once. */
async function drawerOf(pair: FramePair, butteraugli: boolean) {
  const maps = await mapQuality(pair, { blockSize: BLOCK, butteraugli });
  const of = butteraugli ? 'butteraugli' : 'both';
  const draw = (maxSide: number) => ({
    reference: canvasOf(pair.reference.image({ maxSide })),
    distorted: canvasOf(pair.distorted.image({ maxSide })),
    map: canvasOf(maps.render({ of, legend: false, maxSide }).image),
  });
  const drawn = new Map<number, ReturnType<typeof draw>>();
  return (maxSide: number) => {
    const known = drawn.get(maxSide) ?? draw(maxSide);
    drawn.set(maxSide, known);
    return known;
  };
}

function canvasOf(image: RgbImage): OffscreenCanvas {
  const { width, height, data } = opaque(image);
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')?.putImageData(new ImageData(data, width, height), 0, 0);
  return canvas;
}

async function encoded(canvas: OffscreenCanvas, encoding: ImageEncodeOptions): Promise<Uint8Array> {
  return new Uint8Array(await (await canvas.convertToBlob(encoding)).arrayBuffer());
}
