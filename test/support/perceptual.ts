/**
 * @module test/support/perceptual
 * Runs functions of perceptual.wasm, in either implementation, on pictures made in a test or read from PNG files; linear light
 * from the module, and in double precision as ITU-T H.273 and the standards it names define it.
 */
import { readFileSync } from 'node:fs';
import { decode } from 'fast-png';
import { chromaSize, type VideoFormat } from '../../src/core/frame.js';
import { type CallArgument, Core, type CorePicture, type Implementation } from '../../src/core/module.js';
import { doubles } from '../../src/metrics/metric.js';
import { type Picture, putPicture } from './metric.js';

export const perceptual = new WebAssembly.Module(
  readFileSync(new URL('../../wasm/perceptual.wasm', import.meta.url)),
);

/** A colour in the numbers of wasm/include/perceptual.h: matrix, full range, transfer, siting, upsampling, primaries. */
export type ColourNumbers = readonly [number, number, number, number, number, number];

/** Full-range RGB with sRGB's curve. */
export const SRGB: ColourNumbers = [0, 1, 0, 0, 0, 0];

/** Each list starts with the pair to measure, followed by the pairs before it. */
export interface PictureLists {
  readonly reference: readonly Picture[];
  readonly distorted: readonly Picture[];
}

/** A metric of perceptual.wasm that keeps its context from pair to pair. */
export class PerceptualContext {
  readonly #core: Core;
  readonly #format: VideoFormat;
  readonly #context;
  #serial = 0;

  constructor(implementation: Implementation, format: VideoFormat, core = new Core(perceptual)) {
    this.#core = core;
    this.#format = format;
    this.#context = this.#core.open(format, implementation);
  }

  #put(planes: Picture): CorePicture {
    return putPicture(this.#core, this.#format, planes, ++this.#serial);
  }

  /**
   * The values of `anyvmaf_<name>` for a pair.
   * @param args its arguments, `history` with the pairs before it
   * @param heat address of its map, if `args` has one
   */
  run(
    name: string,
    pictures: PictureLists,
    options: readonly number[],
    fields: number,
    args: readonly CallArgument[] = ['frames', 'parameters'],
    heat?: number,
  ): number[] {
    const held = {
      reference: pictures.reference.map((one) => this.#put(one)),
      distorted: pictures.distorted.map((one) => this.#put(one)),
    };
    this.#context.setFrames(held);
    const call = {
      ...{ metric: name, run: name, fields, back: 0, pictures: 'pair', chroma: true },
      ...{ everyFrame: false, cost: 1 },
      args,
      parameters: doubles(options),
    } as const;
    const values = this.#context.run(call, heat);
    if (!values) throw new Error(`perceptual.wasm has no ${name} for these pictures and options`);
    const copy = [...values];
    for (const { planes } of [...held.reference, ...held.distorted])
      for (const { address } of planes) this.#core.free(address);
    return copy;
  }

  close(): void {
    this.#context.close();
  }
}

/** The values of `anyvmaf_<name>` for one pair. */
export function runPerceptual(
  implementation: Implementation,
  format: VideoFormat,
  [reference, distorted]: readonly [Picture, Picture],
  name: string,
  options: readonly number[],
  fields: number,
  args?: readonly CallArgument[],
): number[] {
  const context = new PerceptualContext(implementation, format);
  const values = context.run(name, { reference: [reference], distorted: [distorted] }, options, fields, args);
  context.close();
  return values;
}

/** The planes G, B and R of a PNG file, without its alpha. */
export function readPng(path: string): { readonly format: VideoFormat; readonly planes: Picture } {
  const { width, height, channels, data, depth } = decode(readFileSync(path));
  const make = (n: number) => (depth > 8 ? new Uint16Array(n) : new Uint8Array(n));
  const planes = [1, 2, 0].map((c) => {
    const at = channels < 3 ? 0 : c;
    return make(width * height).map((_, i) => data[i * channels + at] ?? 0);
  });
  return { format: { width, height, bitDepth: depth, chroma: '444' }, planes };
}

/** Planes R, G and B, row after row. */
export type Light = readonly [Float32Array, Float32Array, Float32Array];

export interface Coloured {
  readonly picture: Picture;
  readonly colour: ColourNumbers;
}

/** Converts pairs with one context; an absent serial is a new one. */
export class LinearLight {
  readonly #core = new Core(perceptual);
  readonly #format: VideoFormat;
  readonly #context: number;
  #serial = 1000;

  constructor(implementation: Implementation, format: VideoFormat) {
    const { width, height, bitDepth } = format;
    this.#format = format;
    const open = this.#core.call('anyvmaf_open');
    this.#context = open(width, height, bitDepth, implementation === 'simd128' ? 1 : 0);
  }

  /**
   * Linear light of the reference and of the distorted picture, or the status of a failure.
   * @param shown on the primaries of BT.709, HLG on a display
   */
  pair(sides: readonly [Coloured, Coloured], serials?: readonly [number, number], shown = false) {
    const core = this.#core;
    const { width, height } = this.#format;
    const [frames, options, out] = [core.alloc(208), core.alloc(104), core.alloc(24 * width * height)];
    const held = sides.map(({ picture }, i) =>
      putPicture(core, this.#format, picture, serials?.[i] ?? ++this.#serial),
    );
    const words = new Uint32Array(core.memory.buffer, frames, 52);
    held.forEach(({ serial, planes }, side) => {
      words.set(
        [serial, ...planes.flatMap(({ address, width, height }) => [address, width, height])],
        13 * side,
      );
    });
    const numbers = [...sides.flatMap(({ colour }) => colour), shown ? 1 : 0];
    new Float64Array(core.memory.buffer, options, 13).set(numbers);
    const status = core.call('anyvmaf_linear')(this.#context, frames, options, out);
    const n = width * height;
    const plane = (i: number) => new Float32Array(core.memory.buffer, out + 4 * n * i, n).slice();
    const light = [0, 3].map((i): Light => [plane(i), plane(i + 1), plane(i + 2)]);
    const planes = held.flatMap((one) => one.planes.map(({ address }) => address));
    for (const address of [frames, options, out, ...planes]) core.free(address);
    return status === 0 ? light : status;
  }

  close(): void {
    this.#core.call('anyvmaf_close')(this.#context);
  }
}

/** Linear light of one picture. @param shown on the primaries of BT.709, HLG on a display */
export function linearLight(
  implementation: Implementation,
  format: VideoFormat,
  side: Coloured,
  shown = false,
): Light {
  const context = new LinearLight(implementation, format);
  const light = context.pair([side, side], undefined, shown);
  context.close();
  if (typeof light === 'number' || !light[0]) throw new Error(`anyvmaf_linear returned ${light}`);
  return light[0];
}

/** Transfer curves of their standards, for values from 0, by their numbers in wasm/include/perceptual.h. */
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

/** Weights of red and blue. */
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

/** BT.2100: BT.2020 from cone signals, and cone signals from ICtCp for PQ and for HLG. */
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
const DCI_WHITE: Place = [0.314, 0.351];
const C: Place = [0.31, 0.316];
/** Chromaticities of red, green, blue and white, by H.273, table 2. */
const CHROMATICITIES: readonly (readonly Place[])[] = [
  [[0.64, 0.33], [0.3, 0.6], [0.15, 0.06], D65],
  [[0.708, 0.292], [0.17, 0.797], [0.131, 0.046], D65],
  [[0.68, 0.32], [0.265, 0.69], [0.15, 0.06], D65],
  [[0.68, 0.32], [0.265, 0.69], [0.15, 0.06], DCI_WHITE],
  [[0.67, 0.33], [0.21, 0.71], [0.14, 0.08], C],
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

/** CIE XYZ of primaries, adapted to D65. */
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

/** Chroma samples of one axis and their weights at luma position x. */
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

const lightOf = (x: number, transfer: number): number =>
  transfer === LINEAR ? x : (CURVES[transfer]?.(Math.max(0, x)) ?? Number.NaN);

/** BT.2020's camera curve. */
const camera = (l: number) =>
  l > 0.018053968510807 ? 1.09929682680944 * l ** 0.45 - 0.09929682680944 : 4.5 * l;

/** H.273 for constant luminance: R' and B' from their differences to Y', and G' from the rest of the light. */
function constantLuminance(y: number, cb: number, cr: number): Colours {
  const scale = (chroma: number, weight: number) =>
    2 * chroma * (chroma > 0 ? 1 - camera(weight) : camera(1 - weight));
  const [r, b] = [y + scale(cr, 0.2627), y + scale(cb, 0.0593)];
  const [ly, lr, lb] = [y, r, b].map((x) => lightOf(x, CAMERA)) as unknown as Colours;
  return [r, camera((ly - 0.2627 * lr - 0.0593 * lb) / 0.678), b];
}

/** R'G'B' from luma and chroma, by H.273's equations; cone signals from ICtCp. */
function signalsOf([matrix, , transfer]: ColourNumbers, y: number, cb: number, cr: number): Colours {
  if (matrix === YCGCO) return [y - cb + cr, y + cb, y - cb - cr];
  if (matrix === BT2020_CL) return constantLuminance(y, cb, cr);
  if (matrix === ICTCP) return apply(OF_ICTCP[transfer] as Matrix, [y, cb, cr]);
  const [kr, kb] = LUMA_WEIGHTS[matrix] ?? [0, 0];
  const [r, b] = [y + 2 * (1 - kr) * cr, y + 2 * (1 - kb) * cb];
  return [r, (y - kr * r - kb * b) / (1 - kr - kb), b];
}

/** Maps light to BT.709's primaries, HLG to a display of 1,000 cd/m2. */
function display([, , transfer, , , primaries]: ColourNumbers): (light: Colours) => Colours {
  const own = xyzOf(primaries);
  const by = product(inverse(xyzOf(0)), own);
  return (light) => {
    const gain = transfer === HLG ? Math.max(0, apply(own, light)[1]) ** 0.2 : 1;
    return apply(by, light).map((v) => v * gain) as unknown as Colours;
  };
}

/** Linear light in double precision. @param shown on the primaries of BT.709, HLG on a display */
export function definition(video: VideoFormat, [y, cb, cr]: Picture, numbers: ColourNumbers, shown = false) {
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
export function difference(light: readonly ArrayLike<number>[], expected: readonly (readonly number[])[]) {
  return expected.reduce(
    (all, plane, p) =>
      plane.reduce((most, value, i) => {
        const off = Math.abs((light[p]?.[i] ?? Number.NaN) - value);
        return Math.max(most, off / Math.max(1, Math.abs(value)));
      }, all),
    0,
  );
}
