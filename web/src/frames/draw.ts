/**
 * @module web/frames/draw
 * Pictures that the worker draws: pairs of frames, their quality maps, small ones, and those of the HTML report, as
 * large as its size allows.
 */
import {
  type ColorMatrix,
  type FramePair,
  type FramePicture,
  type MapOptions,
  mapQuality,
  type RgbaImage,
  type RgbImage,
} from 'anyvmaf';
import {
  type ListedEncode,
  type MapsOfMetric,
  type PageLimits,
  type PagePictures,
  type PictureTry,
  pagePicturesOf,
} from 'anyvmaf/view';
import { messageOf } from '../engine/calls.js';
import { fittingFull, tint } from './colours.js';

export interface FrameFacts {
  readonly frame: number;
  /** Seconds from the video's first frame. */
  readonly time: number | null;
  readonly bitDepth: number;
  readonly matrix: string;
  readonly range: 'limited' | 'full';
  /** The matrix is guessed from the picture's size. */
  readonly guessed: boolean;
  /** Set for HDR, which is tone-mapped. */
  readonly toneMapped?: NonNullable<FramePicture['color']['toneMapped']>;
}

export type Drawable = ImageBitmap | VideoFrame;

/** The receiver closes the pictures. */
export interface ShownPair {
  readonly index: number;
  readonly width: number;
  readonly height: number;
  readonly sampleAspect: number;
  readonly reference: Drawable;
  readonly distorted: Drawable;
  /** Colours are the browser's conversion, used during playback because exact ones are too slow. */
  readonly rough?: boolean;
  readonly facts: { readonly reference: FrameFacts; readonly distorted: FrameFacts };
}

export interface ShownDifference {
  readonly bitmap: ImageBitmap;
  /** Amplification of luma differences. */
  readonly gain: number;
}

/** Losses weighted as in VMAF, of one feature, or of one scale of it. */
type LossName = 'both' | 'vif' | 'adm' | `vif${0 | 1 | 2 | 3}` | `adm${0 | 1 | 2 | 3}`;
export type GridName = LossName | 'butteraugli';

export interface LossGrid {
  /** Squares per row. */
  readonly width: number;
  readonly height: number;
  /** Side of a square in pixels. */
  readonly blockSize: number;
  /** Loss of the whole picture if all of it were like this square; for Butteraugli, the pixel's difference. */
  readonly density: Float32Array<ArrayBuffer>;
  /** Loss of the frame, or its largest difference. */
  readonly total: number;
}

export interface ShownMap {
  readonly index: number;
  /** The grid of Butteraugli takes longer and is made on request only. */
  readonly grids: Readonly<Record<LossName, LossGrid>> & { readonly butteraugli?: LossGrid };
  /** Features of the frame, by libvmaf's names. */
  readonly features: Readonly<Record<string, number>>;
}

/** @param rough use the browser's colours if it can make them */
export async function drawPair(pair: FramePair, rough: boolean): Promise<ShownPair> {
  const { width, height } = pair.reference.format;
  const both = [pair.reference, pair.distorted] as const;
  const [reference, distorted] = (rough && roughPictures(both)) || (await exactPictures(both));
  const facts = { reference: factsOf(pair.reference), distorted: factsOf(pair.distorted) };
  const sampleAspect = (pair.reference.displayAspect * height) / width;
  const isRough = !(reference instanceof ImageBitmap);
  return { index: pair.index, width, height, sampleAspect, reference, distorted, rough: isRough, facts };
}

type Both<T> = readonly [T, T];

function exactPictures([reference, distorted]: Both<FramePicture>): Promise<Both<ImageBitmap>> {
  return Promise.all([bitmapOf(reference.rgba()), bitmapOf(distorted.rgba())]);
}

function roughPictures([reference, distorted]: Both<FramePicture>): Both<VideoFrame> | undefined {
  const first = videoFrame(reference);
  const second = first && videoFrame(distorted);
  if (!second) first?.close();
  return second && [first, second];
}

const MATRICES: Readonly<Partial<Record<ColorMatrix, VideoMatrixCoefficients>>> = {
  bt601: 'smpte170m',
  bt709: 'bt709',
};

/** `undefined` for formats that browsers do not play, or convert in their own way. */
function videoFrame({ format, planes, color }: FramePicture): VideoFrame | undefined {
  const { width, height, bitDepth, chroma } = format;
  const matrix = MATRICES[color.matrix];
  const { y, cb, cr } = planes;
  if (typeof VideoFrame === 'undefined' || !matrix || !cb || !cr || bitDepth !== 8 || color.toneMapped)
    return undefined;
  // Browsers need the last chroma column and row, which planes of odd sizes lack.
  if (chroma === '400' || width % 2 === 1 || height % 2 === 1) return undefined;
  const data = new Uint8Array(y.length + cb.length + cr.length);
  data.set(y);
  data.set(cb, y.length);
  data.set(cr, y.length + cb.length);
  try {
    return new VideoFrame(data, {
      format: `I${chroma}`,
      codedWidth: width,
      codedHeight: height,
      timestamp: 0,
      // Like a canvas, so that only the matrix is converted, as in the exact picture.
      colorSpace: { matrix, fullRange: color.range === 'full', primaries: 'bt709', transfer: 'iec61966-2-1' },
    });
  } catch {
    // Browsers support different layouts.
    return undefined;
  }
}

function factsOf({ frame, time, format, color }: FramePicture): FrameFacts {
  const { matrix, range, assumed, toneMapped } = color;
  const guessed = assumed.includes('matrix');
  return {
    frame,
    time,
    bitDepth: format.bitDepth,
    matrix,
    range,
    guessed,
    ...(toneMapped && { toneMapped }),
  };
}

export async function drawDifference(pair: FramePair, gain: number | undefined): Promise<ShownDifference> {
  const map = pair.difference(gain === undefined ? {} : { gain });
  return { bitmap: await bitmapOf(opaque(map.image)), gain: map.gain };
}

function bitmapOf({ width, height, data }: RgbaImage): Promise<ImageBitmap> {
  // Leaves samples unchanged: canvases draw premultiplied pixels without conversion, and these are opaque.
  const options = { colorSpaceConversion: 'none', premultiplyAlpha: 'premultiply' } as const;
  return createImageBitmap(new ImageData(data, width, height), options);
}

function opaque({ width, height, data }: RgbImage): RgbaImage {
  const pixels = new Uint8ClampedArray(4 * width * height).fill(255);
  for (let from = 0, at = 0; from < data.length; from += 3, at += 4) {
    pixels[at] = data[from] ?? 0;
    pixels[at + 1] = data[from + 1] ?? 0;
    pixels[at + 2] = data[from + 2] ?? 0;
  }
  return { width, height, data: pixels };
}

const SCALES = [0, 1, 2, 3] as const;

export async function measureMap(pair: FramePair, options: MapOptions): Promise<ShownMap> {
  const maps = await mapQuality(pair, options);
  const { width, height } = pair.reference.format;
  const grids: Partial<Record<GridName, LossGrid>> = {};
  const add = (name: GridName, cells: Cells) => {
    grids[name] = gridOf(cells, width, height);
  };
  for (const of of ['both', 'vif', 'adm'] as const) add(of, maps.lost(of));
  for (const scale of SCALES) {
    const { vif, adm } = { vif: maps.vif[scale], adm: maps.adm[scale] };
    if (vif) add(`vif${scale}`, { ...vif, values: vif.loss });
    if (adm) add(`adm${scale}`, { ...adm, values: adm.loss });
  }
  if (maps.butteraugli) {
    const { differences: density, maximum: total } = maps.butteraugli;
    grids.butteraugli = { width, height, blockSize: 1, density, total };
  }
  // The loops above set every loss.
  return { index: pair.index, grids: grids as ShownMap['grids'], features: maps.features };
}

interface Cells {
  readonly width: number;
  readonly height: number;
  readonly blockSize: number;
  readonly values: Float64Array;
}

function gridOf(
  { width, height, blockSize, values }: Cells,
  pixelWidth: number,
  pixelHeight: number,
): LossGrid {
  const density = new Float32Array(values.length);
  let total = 0;
  values.forEach((value, i) => {
    total += value;
    const across = Math.min(blockSize, pixelWidth - (i % width) * blockSize);
    const down = Math.min(blockSize, pixelHeight - Math.floor(i / width) * blockSize);
    density[i] = (value * pixelWidth * pixelHeight) / Math.max(1, across * down);
  });
  return { width, height, blockSize, density, total };
}

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

/** Side of a map's square in samples, as on the command line. */
const BLOCK = 16;
/** Opacity of the colours and brightness of the grey picture, as in the viewer. */
const [COVER, DIM] = [0.85, 0.62];

/** @param side longest side in pixels */
export async function thumbsOf(pair: FramePair, side: number, ofMetric: MapsOfMetric): Promise<ThumbPair> {
  const { width } = pair.reference.format;
  const aspect = pair.reference.displayAspect;
  const { grids } = await measureMap(pair, { blockSize: BLOCK, ...ofMetric });
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

/** Smallest files first. */
const LOSSY = ['image/avif', 'image/webp', 'image/jpeg'] as const;

type Listed = ListedEncode & { readonly maps: MapsOfMetric };

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
    momentsOf: (encode) => momentsOf(pairsOf(encode), encode.maps, lossy, settings.signal),
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
  ofMetric: MapsOfMetric,
  lossy: string,
  signal: AbortSignal,
) {
  for await (const pair of pairs) {
    const draw = await drawerOf(pair, ofMetric);
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
async function drawerOf(pair: FramePair, ofMetric: MapsOfMetric) {
  const maps = await mapQuality(pair, { blockSize: BLOCK, ...ofMetric });
  const of = ofMetric.butteraugli ? 'butteraugli' : 'both';
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
