/**
 * @module engine/quality-maps
 * Locates and draws where VMAF's features lose quality, and where Butteraugli sees differences.
 */
import { oneOf, requireObject, wrongType } from '../core/arguments.js';
import { MAP_KINDS, type MapKind } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import type { VideoFormat } from '../core/frame.js';
import type { ExtractorInstance } from '../metrics/metric.js';
import { parseFeature } from '../metrics/options.js';
import type { FramePair } from '../pictures/frame-pair.js';
import { addLegend, type CellGrid, drawHeatmap } from '../pictures/heatmap.js';
import { heatmapFull } from '../pictures/palette.js';
import type {
  AdmBandCells,
  AdmCells,
  ButteraugliMap,
  CellOptions,
  FrameCells,
  ScaleCells,
  VifCells,
} from '../pictures/quality-maps.js';
import { encodePng, type ImageOptions, type RgbImage, shrink } from '../pictures/rgb.js';
import { ButteraugliMapMaker, WasmMapMaker } from './backends/core/quality-maps.js';
import type { Platform } from './contract/platform.js';
import type { ExtractOptions, ScoreRequest } from './contract/types.js';
import { extractPairs } from './extract.js';

/** Options of making maps. */
export interface MapOptions {
  /** Side of a cell in pixels: 4, 8, 16, 32, 64, 128 or 256. Default 16. */
  readonly blockSize?: number;
  /**
   * `vif_enhn_gain_limit` and `adm_enhn_gain_limit`, 1..100: how much enhancement counts as quality. Default 100, as in
   * vmaf_v0.6.1; 1 as in vmaf_v0.6.1neg.
   */
  readonly enhnGainLimit?: number;
  /**
   * Also map Butteraugli: `true`, or the extractor with its options as in `features`, such as
   * `butteraugli=intensity_target=203`. Default false.
   */
  readonly butteraugli?: boolean | string;
}

/** Options of `qualityMaps`. */
export type QualityMapOptions = ExtractOptions & MapOptions;

/** VIF of one scale: `loss` sums up to 1 - integer_vif_scale0..3. */
export interface VifMap extends VifCells {
  readonly loss: Float64Array<ArrayBuffer>;
}

/** ADM of one scale: `loss` sums up to 1 - integer_adm_scale0..3. */
export interface AdmMap extends AdmCells {
  readonly loss: Float64Array<ArrayBuffer>;
}

/** Which loss to show: VIF, ADM, or `both` together. */
export type LossKind = 'both' | 'vif' | 'adm';

/** Loss by cells of one size, all scales together. */
export interface LossGrid extends CellGrid {
  /** Loss of each cell; they sum to `total`. Negative where the distorted frame has more. */
  readonly values: Float64Array<ArrayBuffer>;
  /** Weighted loss of the frame's features; 0 means no loss. */
  readonly total: number;
}

/** Options for drawing a map. */
export interface RenderOptions extends ImageOptions {
  /** Default `both`. `butteraugli` needs maps that were made with it. */
  readonly of?: MapKind;
  /** Only this scale, 0..3, of VIF or ADM. */
  readonly scale?: number;
  /**
   * Density of loss, or difference, drawn in the strongest colour, above 0. Default: the first of 0.02, 0.05, 0.1, 0.2,
   * 0.5, 1, 2 and 5 that at most 3 % of the picture exceeds.
   */
  readonly full?: number;
  /** Frame to draw on. Default `distorted`. */
  readonly picture?: 'reference' | 'distorted';
  /** Add a legend strip below. Default true. */
  readonly legend?: boolean;
}

/** A map drawn over a frame. */
export interface HeatmapImage {
  readonly image: RgbImage;
  /** Density of loss, or difference, drawn in the strongest colour. */
  readonly full: number;
  /** Encodes the image as a PNG file. */
  png(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Weight of a loss of 1: vmaf_v0.6.1's factors that normalise features to the range of its training videos. */
const WEIGHTS = {
  adm: 2.8098077502505414,
  vif: [1.222763456258933, 1.5360318811084146, 1.7620864995501058, 2.08656468286432],
} as const;
const ALL_WEIGHTS = WEIGHTS.adm + WEIGHTS.vif.reduce((sum, weight) => sum + weight, 0);

/** Where one pair of frames loses quality. */
export class QualityMaps {
  /** The frames. */
  readonly pair: FramePair;
  /** Number of the pair: `frameNum` in a report. */
  readonly index: number;
  /** VIF of scales 0..3. */
  readonly vif: readonly VifMap[];
  /** ADM of scales 0..3. */
  readonly adm: readonly AdmMap[];
  /** Butteraugli, if requested. */
  readonly butteraugli: ButteraugliMap | undefined;
  /** Side of a cell of {@link lost} in pixels. */
  readonly blockSize: number;

  constructor(pair: FramePair, { vif, adm }: FrameCells, blockSize: number, butteraugli?: ButteraugliMap) {
    this.pair = pair;
    this.index = pair.index;
    this.vif = vif.map((cells) => ({ ...cells, loss: vifLoss(cells) }));
    this.adm = adm.map((cells) => ({ ...cells, loss: admLoss(cells) }));
    this.blockSize = blockSize;
    this.butteraugli = butteraugli;
  }

  /** The frame's features that the maps come from, by libvmaf's names. */
  get features(): Readonly<Record<string, number>> {
    const named = (
      name: string,
      maps: readonly (VifMap | AdmMap)[],
      quotient: (n: number, d: number) => number,
    ) => maps.map(({ scale, total }) => [`${name}${scale}`, quotient(total.num, total.den)] as const);
    const [num, den] = [sumOf(this.adm, 'num'), sumOf(this.adm, 'den')];
    return Object.fromEntries([
      ['integer_adm2', den === 0 ? 1 : num / den],
      ...named('integer_adm_scale', this.adm, (n, d) => n / d),
      ...named('integer_vif_scale', this.vif, (n, d) => Math.fround(n / d)),
      ...(this.butteraugli
        ? [
            ['butteraugli', this.butteraugli.maximum] as const,
            ['butteraugli_3norm', this.butteraugli.norm3] as const,
          ]
        : []),
    ]);
  }

  /**
   * Returns the loss of each cell in VMAF's features: adm2 and the four scales of VIF, weighted as vmaf_v0.6.1
   * normalises its features. The values of `both` are the sums of `vif` and `adm`.
   */
  lost(of: LossKind = 'both'): LossGrid {
    const { width, height } = this.pair.reference.format;
    const grid = emptyGrid(width, height, this.blockSize);
    if (of !== 'adm') {
      for (const map of this.vif)
        spread(map, (WEIGHTS.vif[map.scale] ?? Number.NaN) / ALL_WEIGHTS, grid, width, height);
    }
    if (of !== 'vif') {
      const den = sumOf(this.adm, 'den');
      for (const map of this.adm)
        spread(map, den === 0 ? 0 : (WEIGHTS.adm / ALL_WEIGHTS) * (map.total.den / den), grid, width, height);
    }
    return totalled(grid);
  }

  /**
   * Draws a map over one of the frames: dim grey without loss, then violet, red, orange and yellow. Colours show the
   * density of loss: a cell's loss divided by its share of the picture; the mean density is the frame's loss. For
   * Butteraugli, they show the difference of each pixel.
   * @throws {AnyvmafError} `usage` for invalid options
   */
  render(options: RenderOptions = {}): HeatmapImage {
    const { of = 'both', picture = 'distorted', legend = true, scale, maxSide } = checkRender(options);
    const { grid, title } = of === 'butteraugli' ? this.#differences() : this.#densities(of, scale);
    const full = options.full ?? heatmapFull(grid.values);
    const map = shrink(drawHeatmap(this.pair[picture], grid, full), maxSide === undefined ? {} : { maxSide });
    const image = legend ? addLegend(map, { title, full }) : map;
    return { image, full, png: () => encodePng(image) };
  }

  #densities(of: LossKind, scale: number | undefined) {
    const lost = scale === undefined ? this.lost(of) : this.#ofScale(of, scale);
    return { grid: densityOf(lost, this.pair.reference.format), title: titleOf(of, scale, lost.total) };
  }

  #differences() {
    if (!this.butteraugli) {
      throw usageError(
        'of is butteraugli, but these maps were made without it; pass butteraugli: true when you make them.',
      );
    }
    const { width, height, differences: values, maximum } = this.butteraugli;
    const title = `BUTTERAUGLI DIFFERENCE  MAX ${maximum.toFixed(2)}`;
    return { grid: { width, height, blockSize: 1, values }, title };
  }

  #ofScale(of: LossKind, scale: number): LossGrid {
    const { width, height } = this.pair.reference.format;
    const map = (of === 'vif' ? this.vif : this.adm)[scale];
    const grid = emptyGrid(width, height, map?.blockSize ?? this.blockSize);
    if (map) spread(map, 1, grid, width, height);
    return totalled(grid);
  }
}

function totalled(grid: Omit<LossGrid, 'total'>): LossGrid {
  return { ...grid, total: grid.values.reduce((sum, value) => sum + value, 0) };
}

/** Yields maps in ascending order of pairs. @throws {AnyvmafError} as the public `qualityMaps` */
export async function* mapPairs(
  platform: Platform,
  request: ScoreRequest,
  frames: readonly number[],
  options: QualityMapOptions = {},
): AsyncGenerator<QualityMaps, void, undefined> {
  requireObject('options', options);
  const { blockSize, enhnGainLimit, butteraugli, ...pairing } = options;
  const checked = checkMaps({ blockSize, enhnGainLimit, butteraugli });
  const core = platform.loadCore();
  // Rejections surface where it is awaited.
  core.catch(() => {});
  let map: Awaited<ReturnType<typeof prepareMaps>> | undefined;
  for await (const pair of extractPairs(platform, request, frames, pairing)) {
    map ??= await prepareMaps(platform, pair, checked);
    yield map(pair);
  }
}

/** @throws {AnyvmafError} as the public `mapQuality` */
export async function mapPair(
  platform: Platform,
  pair: FramePair,
  options: MapOptions = {},
): Promise<QualityMaps> {
  requireObject('pair', pair, 'a pair from extractFrames');
  for (const role of ['reference', 'distorted'] as const) {
    requireObject(`pair.${role}`, pair[role], 'a picture');
    requireObject(`pair.${role}.format`, pair[role].format);
    requireObject(`pair.${role}.planes`, pair[role].planes);
  }
  requireObject('options', options);
  const map = await prepareMaps(platform, pair, checkMaps(options));
  return map(pair);
}

/** Returns a function that maps pairs of this format. @throws {AnyvmafError} as {@link mapPair} */
async function prepareMaps(
  platform: Platform,
  { reference: { format, colour: one }, distorted: { colour: other } }: FramePair,
  { cells, instance }: CheckedMaps,
): Promise<(pair: FramePair) => QualityMaps> {
  const maker = new WasmMapMaker(await platform.loadCore(), format, cells);
  const scored = { ...format, ...(one && other && { colours: { reference: one, distorted: other } }) };
  const butteraugli =
    instance && new ButteraugliMapMaker(await platform.loadCore('perceptual'), instance, scored);
  return (pair) => {
    const [reference, distorted] = [pair.reference.planes, pair.distorted.planes];
    const found = maker.measure(reference.y, distorted.y);
    return new QualityMaps(pair, found, cells.blockSize, butteraugli?.measure(reference, distorted));
  };
}

function vifLoss({ num, den, total }: VifCells): Float64Array<ArrayBuffer> {
  return den.map((whole, i) => (whole - (num[i] ?? Number.NaN)) / total.den);
}

/**
 * Divides the difference of two cube roots among cells: for D and N, the sums of all cells' cubes d and n,
 * D^(1/3) - N^(1/3) = (D - N) / (D^(2/3) + (D N)^(1/3) + N^(2/3)), and D - N is a sum over cells.
 */
function admLoss({ bands, total, width, height }: AdmCells): Float64Array<ArrayBuffer> {
  const loss = new Float64Array(width * height);
  for (const { num, den, denWeight } of bands) {
    const slope = slopeOf({ num, den, denWeight });
    for (let i = 0; i < loss.length; i++) {
      const difference = (den[i] ?? Number.NaN) * denWeight - (num[i] ?? Number.NaN);
      loss[i] = (loss[i] ?? Number.NaN) + (difference * slope) / total.den;
    }
  }
  return loss;
}

function slopeOf({ num, den, denWeight }: AdmBandCells): number {
  const sum = (cubes: Float64Array) => cubes.reduce((a, b) => a + b, 0);
  const [n, d] = [cubeRoot(sum(num)), cubeRoot(sum(den) * denWeight)];
  const slope = d * d + d * n + n * n;
  return slope === 0 ? 0 : 1 / slope;
}

/** The cube root of a non-negative number by Newton's method: `Math.cbrt` differs between engines in the last digit. */
function cubeRoot(cube: number): number {
  if (cube === 0) return 0;
  let root = 1;
  while (root * root * root < cube) root *= 2;
  while (root * root * root > cube) root /= 2;
  for (let step = 0; step < 8; step++) root = (2 * root + cube / (root * root)) / 3;
  return root;
}

function sumOf(maps: readonly AdmCells[], part: 'num' | 'den'): number {
  return maps.reduce((sum, { total }) => sum + total[part], 0);
}

function emptyGrid(pixelWidth: number, pixelHeight: number, blockSize: number) {
  const [width, height] = [Math.ceil(pixelWidth / blockSize), Math.ceil(pixelHeight / blockSize)];
  return { width, height, blockSize, values: new Float64Array(width * height) };
}

/** Pixels covered by a row or column of cells. */
function extent(index: number, blockSize: number, pixels: number): number {
  return Math.min(blockSize, pixels - index * blockSize);
}

/** Adds a scale's losses to a grid. Divides larger cells among the grid's cells by area. */
function spread(
  map: ScaleCells & { readonly loss: Float64Array },
  weight: number,
  grid: CellGrid,
  pixelWidth: number,
  pixelHeight: number,
): void {
  // Sizes are halved downwards: the last pixels can belong to the cell before.
  const inMap = (index: number, size: number) =>
    Math.min(size - 1, Math.floor((index * grid.blockSize) / map.blockSize));
  const shares = (cells: number, size: number, pixels: number) => {
    const covered = new Float64Array(size);
    const extents = Array.from({ length: cells }, (_, i) => extent(i, grid.blockSize, pixels));
    extents.forEach((length, i) => {
      const at = inMap(i, size);
      covered[at] = (covered[at] ?? Number.NaN) + length;
    });
    return extents.map((length, i) => ({
      at: inMap(i, size),
      share: length / (covered[inMap(i, size)] ?? Number.NaN),
    }));
  };
  const columns = shares(grid.width, map.width, pixelWidth);
  const rows = shares(grid.height, map.height, pixelHeight);
  rows.forEach((row, y) => {
    columns.forEach((column, x) => {
      const i = y * grid.width + x;
      const loss = map.loss[row.at * map.width + column.at] ?? Number.NaN;
      grid.values[i] = (grid.values[i] ?? Number.NaN) + weight * row.share * column.share * loss;
    });
  });
}

/** The loss of the whole picture if all of it were like the cell, for each cell. */
function densityOf(grid: CellGrid, { width, height }: VideoFormat): CellGrid {
  const values = grid.values.map((value, i) => {
    const [x, y] = [i % grid.width, Math.floor(i / grid.width)];
    const area = extent(x, grid.blockSize, width) * extent(y, grid.blockSize, height);
    return (value * width * height) / area;
  });
  return { ...grid, values };
}

function titleOf(of: LossKind, scale: number | undefined, total: number): string {
  const name = of === 'both' ? 'VIF AND ADM' : of.toUpperCase();
  const only = scale === undefined ? '' : ` SCALE ${scale}`;
  return `${name}${only} LOSS DENSITY  MEAN ${Math.max(0, total).toFixed(3)}`;
}

interface CheckedMaps {
  readonly cells: CellOptions;
  /** The extractor butteraugli, if requested. */
  readonly instance: ExtractorInstance | undefined;
}

function checkMaps({ blockSize = 16, enhnGainLimit = 100, butteraugli = false }: MapOptions): CheckedMaps {
  if (![4, 8, 16, 32, 64, 128, 256].includes(blockSize))
    throw wrongType('blockSize', blockSize, '4, 8, 16, 32, 64, 128 or 256 pixels');
  if (!(enhnGainLimit >= 1 && enhnGainLimit <= 100))
    throw wrongType('enhnGainLimit', enhnGainLimit, 'from 1 to 100');
  const text = butteraugli === true ? 'butteraugli' : butteraugli;
  const instance = typeof text === 'string' ? parseFeature(text) : undefined;
  if ((text !== false && !instance) || (instance && instance.spec.name !== 'butteraugli')) {
    const expected =
      'true, false, or the extractor with its options, such as butteraugli=intensity_target=203';
    throw wrongType('butteraugli', butteraugli, expected);
  }
  return { cells: { blockSize, enhnGainLimit }, instance };
}

function checkRender(options: RenderOptions): RenderOptions {
  const { of = 'both', scale, full } = options;
  oneOf('of', of, MAP_KINDS);
  if (scale !== undefined && !((of === 'vif' || of === 'adm') && [0, 1, 2, 3].includes(scale)))
    throw wrongType('scale', scale, '0, 1, 2 or 3, and goes with of vif or adm');
  if (full !== undefined && !(full > 0 && full < Number.POSITIVE_INFINITY))
    throw wrongType('full', full, 'a loss above 0');
  return options;
}
