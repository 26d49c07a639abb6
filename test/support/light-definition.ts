/**
 * @module test/support/light-definition
 * Linear light of pictures in double precision, as ITU-T H.273 and the standards that it names define it.
 */
import { chromaSize, type VideoFormat } from '../../src/core/frame.js';
import type { Picture } from './metric.js';
import type { ColourNumbers } from './perceptual.js';

/** Transfer curves as their standards have them, of values from 0, by their numbers in wasm/include/perceptual.h. */
export const CURVES: readonly ((x: number) => number)[] = [
  (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4),
  (x) => x ** 2.4,
  (x) => x ** 2.2,
  (x) => x ** 2.8,
  (x) => x,
  (x) => (x < 4.5 * 0.018053968510807 ? x / 4.5 : ((x + 0.09929682680944) / 1.09929682680944) ** (1 / 0.45)),
  (x) => {
    const power = Math.min(1, x) ** (32 / 2523);
    return (Math.max(0, power - 3424 / 4096) / (2413 / 128 - (2392 / 128) * power)) ** (16384 / 2610);
  },
  (x) => (x <= 0.5 ? x ** 2 / 3 : (Math.exp((x - 0.55991073) / 0.17883277) + 0.28466892) / 12),
];

/** Matrices, transfers and sitings by their numbers in wasm/include/perceptual.h. */
const [GBR, YCGCO, BT2020_CL, ICTCP] = [0, 6, 7, 8] as const;
const [LINEAR, CAMERA, PQ, HLG] = [4, 5, 6, 7] as const;
const [CENTRE, TOP_LEFT, NEAREST] = [1, 2, 2] as const;

/** Of red and blue. */
const LUMA_WEIGHTS: readonly (readonly [number, number])[] = [
  [0, 0],
  [0.2126, 0.0722],
  [0.299, 0.114],
  [0.2627, 0.0593],
  [0.212, 0.087],
  [0.3, 0.11],
];

type Colours = readonly [number, number, number];
type Matrix = readonly [Colours, Colours, Colours];

function apply(rows: Matrix, [a, b, c]: Colours): Colours {
  return rows.map(([x, y, z]) => x * a + y * b + z * c) as unknown as Colours;
}
const transposed = (m: Matrix) => [0, 1, 2].map((i) => m.map((row) => row[i])) as unknown as Matrix;
const product = (a: Matrix, b: Matrix) =>
  transposed(transposed(b).map((column) => apply(a, column)) as unknown as Matrix);

function inverse(m: Matrix): Matrix {
  const [[a, b, c], [d, e, f], [g, h, i]] = m;
  const whole = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  return [
    [(e * i - f * h) / whole, (c * h - b * i) / whole, (b * f - c * e) / whole],
    [(f * g - d * i) / whole, (a * i - c * g) / whole, (c * d - a * f) / whole],
    [(d * h - e * g) / whole, (b * g - a * h) / whole, (a * e - b * d) / whole],
  ];
}

/** BT.2100: BT.2020's primaries of cones, and signals of these of ICtCp, by PQ and by HLG. */
const OF_LMS = inverse([
  [1688 / 4096, 2146 / 4096, 262 / 4096],
  [683 / 4096, 2951 / 4096, 462 / 4096],
  [99 / 4096, 309 / 4096, 3688 / 4096],
]);
const OF_ICTCP: Readonly<Record<number, Matrix>> = {
  [PQ]: inverse([
    [0.5, 0.5, 0],
    [6610 / 4096, -13613 / 4096, 7003 / 4096],
    [17933 / 4096, -17390 / 4096, -543 / 4096],
  ]),
  [HLG]: inverse([
    [0.5, 0.5, 0],
    [3625 / 4096, -7465 / 4096, 3840 / 4096],
    [9500 / 4096, -9212 / 4096, -288 / 4096],
  ]),
};

type Place = readonly [number, number];
const D65: Place = [0.3127, 0.329];
/** Chromaticities of red, green, blue and white, by H.273, table 2. */
const CHROMATICITIES: readonly (readonly Place[])[] = [
  [[0.64, 0.33], [0.3, 0.6], [0.15, 0.06], D65],
  [[0.708, 0.292], [0.17, 0.797], [0.131, 0.046], D65],
  [[0.68, 0.32], [0.265, 0.69], [0.15, 0.06], D65],
  [
    [0.68, 0.32],
    [0.265, 0.69],
    [0.15, 0.06],
    [0.314, 0.351],
  ],
  [
    [0.67, 0.33],
    [0.21, 0.71],
    [0.14, 0.08],
    [0.31, 0.316],
  ],
  [[0.64, 0.33], [0.29, 0.6], [0.15, 0.06], D65],
  [[0.63, 0.34], [0.31, 0.595], [0.155, 0.07], D65],
];
const BRADFORD: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];

const xyz = ([x, y]: Place): Colours => [x / y, 1, (1 - x - y) / y];
const scaled = (m: Matrix, by: Colours) =>
  m.map((row) => row.map((v, i) => v * (by[i] ?? 0))) as unknown as Matrix;

/** CIE XYZ of primaries, around D65. */
function xyzOf(primaries: number): Matrix {
  const [red, green, blue, white] = (CHROMATICITIES[primaries] ?? []).map(xyz);
  if (!red || !green || !blue || !white) throw new Error(`no primaries have the number ${primaries}`);
  const columns = transposed([red, green, blue]);
  const own = scaled(columns, apply(inverse(columns), white));
  const [from, to] = [apply(BRADFORD, white), apply(BRADFORD, xyz(D65))];
  const gains = to.map((v, i) => v / (from[i] ?? 0)) as unknown as Colours;
  return product(product(scaled(inverse(BRADFORD), gains), BRADFORD), own);
}

/** Keys's cubic with a = -1/2, a tent and a box, by the distance in samples. */
const FILTERS: readonly ((d: number) => number)[] = [
  (d) => (d < 1 ? 1.5 * d ** 3 - 2.5 * d ** 2 + 1 : d < 2 ? -0.5 * d ** 3 + 2.5 * d ** 2 - 4 * d + 2 : 0),
  (d) => Math.max(0, 1 - d),
  () => 0,
];

/** Samples of one axis and their weights for place x of luma. */
function tapsAt(x: number, n: number, halved: boolean, between: boolean, upsampling: number) {
  if (!halved) return [[x, 1]] as const;
  const covering = x >> 1;
  const mirror = (i: number) => (i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i);
  const inside = (i: number) => Math.max(0, Math.min(n - 1, mirror(i)));
  if (upsampling === NEAREST) return [[inside(covering), 1]] as const;
  const at = between ? x / 2 - 0.25 : x / 2;
  return [-2, -1, 0, 1, 2].map((k) => {
    const i = covering + k;
    return [inside(i), FILTERS[upsampling]?.(Math.abs(i - at)) ?? 0] as const;
  });
}

/** Light of a signal. */
const lightOf = (x: number, transfer: number): number =>
  transfer === LINEAR ? x : (CURVES[transfer]?.(Math.max(0, x)) ?? Number.NaN);

/** BT.2020's camera curve. */
const camera = (l: number) =>
  l > 0.018053968510807 ? 1.09929682680944 * l ** 0.45 - 0.09929682680944 : 4.5 * l;

/** H.273, equations for constant luminance: R' and B' by their differences to Y', and G' of the light that is left. */
function constantLuminance(y: number, cb: number, cr: number): Colours {
  const scale = (chroma: number, weight: number) =>
    2 * chroma * (chroma > 0 ? 1 - camera(weight) : camera(1 - weight));
  const [r, b] = [y + scale(cr, 0.2627), y + scale(cb, 0.0593)];
  const [ly, lr, lb] = [y, r, b].map((x) => lightOf(x, CAMERA)) as unknown as Colours;
  return [r, camera((ly - 0.2627 * lr - 0.0593 * lb) / 0.678), b];
}

/** R'G'B' of luma and chroma, by H.273's equations; of ICtCp the signals of cones. */
function signalsOf([matrix, , transfer]: ColourNumbers, y: number, cb: number, cr: number): Colours {
  if (matrix === YCGCO) return [y - cb + cr, y + cb, y - cb - cr];
  if (matrix === BT2020_CL) return constantLuminance(y, cb, cr);
  if (matrix === ICTCP) return apply(OF_ICTCP[transfer] as Matrix, [y, cb, cr]);
  const [kr, kb] = LUMA_WEIGHTS[matrix] ?? [0, 0];
  const [r, b] = [y + 2 * (1 - kr) * cr, y + 2 * (1 - kb) * cb];
  return [r, (y - kr * r - kb * b) / (1 - kr - kb), b];
}

/** How light of a colour appears on BT.709's primaries, HLG on a display of 1,000 cd/m2. */
function display([, , transfer, , , primaries]: ColourNumbers): (light: Colours) => Colours {
  const own = xyzOf(primaries);
  const by = product(inverse(xyzOf(0)), own);
  return (light) => {
    const gain = transfer === HLG ? Math.max(0, apply(own, light)[1]) ** 0.2 : 1;
    return apply(by, light).map((v) => v * gain) as unknown as Colours;
  };
}

/** Light in double precision, pixel by pixel. @param shown by the primaries of BT.709, HLG by a display */
export function definition(
  video: VideoFormat,
  [y, cb, cr]: Picture,
  numbers: ColourNumbers,
  shown = false,
): number[][] {
  const { width, height, bitDepth } = video;
  const [matrix, full, transfer, siting, upsampling] = numbers;
  const { width: cw, height: ch } = chromaSize(video);
  const [unit, top] = [2 ** (bitDepth - 8), 2 ** bitDepth - 1];
  const level = (v = 0) => (full ? v / top : (v - 16 * unit) / (219 * unit));
  const chromaAt = (plane: Picture[number], px: number, py: number) => {
    let sum = 0;
    for (const [j, wy] of tapsAt(py, ch, ch < height, siting !== TOP_LEFT, upsampling))
      for (const [i, wx] of tapsAt(px, cw, cw < width, siting === CENTRE, upsampling))
        sum += wy * wx * (plane[j * cw + i] ?? Number.NaN);
    return (sum - 128 * unit) / (full ? top : (matrix === YCGCO ? 219 : 224) * unit);
  };
  const signals = (i: number): Colours => {
    const luma = level(y?.[i]);
    if (!cb || !cr || cw === 0 || ch === 0) return [luma, luma, luma];
    if (matrix === GBR) return [level(cr[i]), luma, level(cb[i])];
    const [u = 0, v = 0] = [cb, cr].map((plane) => chromaAt(plane, i % width, Math.floor(i / width)));
    return signalsOf(numbers, luma, u, v);
  };
  const show = shown ? display(numbers) : (light: Colours) => light;
  const pixels = Array.from({ length: width * height }, (_, i) => {
    const cones = signals(i).map((x) => lightOf(x, transfer)) as unknown as Colours;
    return show(matrix === ICTCP ? apply(OF_LMS, cones) : cones);
  });
  return [0, 1, 2].map((p) => pixels.map((pixel) => pixel[p] ?? Number.NaN));
}

/** The largest difference, relative above white. */
export function difference(
  light: readonly ArrayLike<number>[],
  expected: readonly (readonly number[])[],
): number {
  return expected.reduce(
    (all, plane, p) =>
      plane.reduce((most, value, i) => {
        const off = Math.abs((light[p]?.[i] ?? Number.NaN) - value);
        return Math.max(most, off / Math.max(1, Math.abs(value)));
      }, all),
    0,
  );
}
