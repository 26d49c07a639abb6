/**
 * @module web/frames/draw
 * Draws pairs of frames as bitmaps and computes quality maps. Runs in the worker.
 */
import { type FramePair, type FramePicture, mapQuality, type RgbImage } from 'anyvmaf';

/** Facts about a frame for display. */
export interface FrameFacts {
  /** Number in its own video. */
  readonly frame: number;
  /** Seconds from the video's first frame. */
  readonly time: number | null;
  readonly bitDepth: number;
  readonly matrix: string;
  readonly range: 'limited' | 'full';
  /** True if the matrix was guessed from the picture's size. */
  readonly guessed: boolean;
}

/** Both frames of a pair as pictures. The receiver closes the bitmaps. */
export interface ShownPair {
  readonly index: number;
  readonly width: number;
  readonly height: number;
  /** Width of a sample over its height. */
  readonly sampleAspect: number;
  readonly reference: ImageBitmap;
  readonly distorted: ImageBitmap;
  readonly facts: { readonly reference: FrameFacts; readonly distorted: FrameFacts };
}

/** Where frames differ, as a picture. */
export interface ShownDifference {
  readonly bitmap: ImageBitmap;
  /** Amplification of luma differences. */
  readonly gain: number;
}

/** Name of a grid: losses weighted as in VMAF, or of one scale of one feature. */
export type GridName = 'both' | 'vif' | 'adm' | `vif${0 | 1 | 2 | 3}` | `adm${0 | 1 | 2 | 3}`;

/** Loss by squares of the picture. */
export interface LossGrid {
  /** Squares in a row. */
  readonly width: number;
  readonly height: number;
  /** Side of a square in pixels. */
  readonly blockSize: number;
  /** Loss of the whole picture if all of it were like the square; 1 is total loss. */
  readonly density: Float32Array<ArrayBuffer>;
  /** The frame's own loss. */
  readonly total: number;
}

/** The quality map of one pair. */
export interface ShownMap {
  readonly index: number;
  readonly grids: Readonly<Record<GridName, LossGrid>>;
  /** The frame's features, by libvmaf's names. */
  readonly features: Readonly<Record<string, number>>;
}

/** Draws both frames. */
export async function drawPair(pair: FramePair): Promise<ShownPair> {
  const { width, height } = pair.reference.format;
  const [reference, distorted] = await Promise.all([
    bitmapOf(pair.reference.image()),
    bitmapOf(pair.distorted.image()),
  ]);
  const facts = { reference: factsOf(pair.reference), distorted: factsOf(pair.distorted) };
  const sampleAspect = (pair.reference.displayAspect * height) / width;
  return { index: pair.index, width, height, sampleAspect, reference, distorted, facts };
}

function factsOf({ frame, time, format, color }: FramePicture): FrameFacts {
  const { matrix, range, assumed } = color;
  return { frame, time, bitDepth: format.bitDepth, matrix, range, guessed: assumed.includes('matrix') };
}

/** Draws where luma differs. Without a gain, one is chosen. */
export async function drawDifference(pair: FramePair, gain: number | undefined): Promise<ShownDifference> {
  const map = pair.difference(gain === undefined ? {} : { gain });
  return { bitmap: await bitmapOf(map.image), gain: map.gain };
}

/** The picture, its samples unchanged. */
function bitmapOf({ width, height, data }: RgbImage): Promise<ImageBitmap> {
  const pixels = new Uint32Array(width * height);
  for (let i = 0, at = 0; i < pixels.length; i++, at += 3) {
    const [r, g, b] = [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0];
    pixels[i] = (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
  }
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), width, height);
  return createImageBitmap(image, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
}

const SCALES = [0, 1, 2, 3] as const;

/** Measures where the pair loses quality. */
export async function measureMap(pair: FramePair, blockSize: number): Promise<ShownMap> {
  const maps = await mapQuality(pair, { blockSize });
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
  // The loops above set a grid for each name.
  return { index: pair.index, grids: grids as ShownMap['grids'], features: maps.features };
}

interface Cells {
  readonly width: number;
  readonly height: number;
  readonly blockSize: number;
  readonly values: Float64Array;
}

/** Converts losses of squares to densities. */
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
