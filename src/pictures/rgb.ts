/**
 * @module pictures/rgb
 * RGB pictures: converts planes of any depth and chroma format by their matrix and range, shrinks, and writes PNG. High
 * dynamic range is tone-mapped for standard screens: light up to 1000 cd/m² is brought below reference white (203 cd/m²,
 * ITU-R BT.2408) by the curve of ITU-R BT.2390-11, section 5.4.1, on the largest of red, green and blue to keep hues; then
 * BT.2020 becomes BT.709 and light becomes sRGB. Light above 1000 cd/m² is clipped.
 */
import { LUMA_WEIGHTS, type LumaMatrix, usualMatrix } from '../core/colour.js';
import { chromaSize, type FramePlanes, samplesOf, type VideoFormat } from '../core/frame.js';
import type { PictureSize } from '../core/size.js';
import type { TrackFacts } from '../media/decoder.js';

/**
 * Converts a frame. Interpolates chroma linearly from its position since MPEG-2: on the left of its two
 * columns, between its two rows. Keeps gamma and primaries, except for high dynamic range, which is
 * tone-mapped.
 * @param planes packed as in media/types; without chroma the picture is grey
 */
export function toRgb(planes: FramePlanes, format: VideoFormat, meaning: ColorMeaning): RgbImage {
  const { width, height } = format;
  return { width, height, data: new Uint8Array(convert(planes, format, meaning, 3).buffer) };
}

/** As {@link toRgb}, with a fourth byte of 255 per pixel, as canvases expect. */
export function toRgba(planes: FramePlanes, format: VideoFormat, meaning: ColorMeaning): RgbaImage {
  const { width, height } = format;
  return { width, height, data: convert(planes, format, meaning, 4) };
}

function convert(planes: FramePlanes, format: VideoFormat, meaning: ColorMeaning, channels: 3 | 4) {
  const { width, height, bitDepth } = format;
  const { lumaOffset, chromaOffset, y: gain, rv, gu, gv, bu } = rgbCoefficients(meaning, bitDepth);
  const map = meaning.toneMapped && toneMap(meaning.toneMapped);
  const luma = samplesOf(planes.y, bitDepth);
  const cb = new ChromaRows(planes.cb, format, chromaOffset);
  const cr = new ChromaRows(planes.cr, format, chromaOffset);
  const data = new Uint8ClampedArray(channels * width * height);
  if (channels === 4) data.fill(255);
  let at = 0;
  for (let row = 0, i = 0; row < height; row++) {
    const u = cb.row(row);
    const v = cr.row(row);
    for (let x = 0; x < width; x++, i++, at += channels) {
      const light = (luma[i]! - lumaOffset) * gain;
      const blue = u[x]!;
      const red = v[x]!;
      if (map) map(data, at, light + rv * red, light + gu * blue + gv * red, light + bu * blue);
      else {
        data[at] = light + rv * red;
        data[at + 1] = light + gu * blue + gv * red;
        data[at + 2] = light + bu * blue;
      }
    }
  }
  return data;
}

/** Rows of one chroma plane at luma's size, without the offset. */
class ChromaRows {
  readonly #samples: Uint8Array | Uint16Array | undefined;
  readonly #chroma: VideoFormat['chroma'];
  readonly #size: PictureSize;
  readonly #offset: number;
  /** One longer, for the last column of an odd width. */
  readonly #row: Float64Array;
  /** One longer, to repeat the last column. */
  readonly #mixed: Float64Array;

  constructor(plane: Uint8Array | undefined, format: VideoFormat, offset: number) {
    this.#samples = plane && plane.length > 0 ? samplesOf(plane, format.bitDepth) : undefined;
    this.#chroma = format.chroma;
    this.#size = chromaSize(format);
    this.#offset = offset;
    this.#row = new Float64Array(format.width + 1);
    this.#mixed = new Float64Array(this.#size.width + 1);
  }

  /** The next call overwrites the result. */
  row(y: number): Float64Array {
    const samples = this.#samples;
    if (!samples) return this.#row;
    const { width, height } = this.#size;
    const [mixed, row, offset] = [this.#mixed, this.#row, this.#offset];
    const halved = this.#chroma === '420';
    // Odd luma sizes lack the last chroma row and column; repeat the one before.
    const near = Math.min(halved ? y >> 1 : y, height - 1);
    const far = halved ? Math.max(0, Math.min(near + (y & 1 ? 1 : -1), height - 1)) : near;
    for (let x = 0, a = near * width, b = far * width; x < width; x++, a++, b++)
      mixed[x] = 0.75 * samples[a]! + 0.25 * samples[b]! - offset;
    if (this.#chroma === '444') return mixed;
    mixed[width] = mixed[width - 1]!;
    for (let x = 0, at = 0; x < width; x++, at += 2) {
      row[at] = mixed[x]!;
      row[at + 1] = (mixed[x]! + mixed[x + 1]!) / 2;
    }
    row[2 * width] = mixed[width]!;
    return row;
  }
}

export type { LumaMatrix as ColorMatrix };

/** How to convert samples to RGB. */
export interface ColorMeaning {
  readonly matrix: LumaMatrix;
  readonly range: 'limited' | 'full';
  /** Properties that the video does not declare by a known name; assumed as players do. */
  readonly assumed: readonly ('matrix' | 'range')[];
  /** Set for high dynamic range, which is tone-mapped for standard screens. */
  readonly toneMapped?: HdrTransfer;
}

/** ffmpeg's names. Constant-luminance BT.2020 uses the weights of the non-constant one, which is close. */
const NAMED: Readonly<Record<string, LumaMatrix>> = {
  bt709: 'bt709',
  bt470bg: 'bt601',
  smpte170m: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
  smpte240m: 'smpte240m',
  fcc: 'fcc',
};

const HDR: Readonly<Record<string, HdrTransfer>> = { smpte2084: 'pq', 'arib-std-b67': 'hlg' };

/** @param facts the video's declared properties and stored size */
export function colorMeaning(
  facts: Pick<TrackFacts, 'width' | 'height'> &
    Partial<Pick<TrackFacts, 'matrix' | 'colorRange' | 'transfer'>>,
): ColorMeaning {
  const matrix = NAMED[facts.matrix ?? ''];
  const toneMapped = HDR[facts.transfer ?? ''];
  return {
    matrix: matrix ?? usualMatrix(facts),
    range: facts.colorRange ?? 'limited',
    assumed: [...(matrix ? [] : (['matrix'] as const)), ...(facts.colorRange ? [] : (['range'] as const))],
    ...(toneMapped && { toneMapped }),
  };
}

/**
 * Coefficients for RGB of 0..255 from samples of `bitDepth` bits (ITU-T H.273, equations 20 to 31 solved for RGB):
 * R = y Y' + rv Cr', G = y Y' + gu Cb' + gv Cr', B = y Y' + bu Cb', where Y', Cb' and Cr' are luma and chroma minus
 * their offsets.
 */
export function rgbCoefficients({ matrix, range }: ColorMeaning, bitDepth: number) {
  const { kr, kb } = LUMA_WEIGHTS[matrix];
  const kg = 1 - kr - kb;
  const unit = 2 ** (bitDepth - 8);
  const full = 255 / (2 ** bitDepth - 1);
  const [luma, chroma] = range === 'full' ? [full, full] : [255 / (219 * unit), 255 / (224 * unit)];
  return {
    lumaOffset: range === 'full' ? 0 : 16 * unit,
    chromaOffset: 128 * unit,
    y: luma,
    rv: 2 * (1 - kr) * chroma,
    gu: (-2 * kb * (1 - kb) * chroma) / kg,
    gv: (-2 * kr * (1 - kr) * chroma) / kg,
    bu: 2 * (1 - kb) * chroma,
  };
}

type HdrTransfer = 'pq' | 'hlg';

/** Brightest light of the source, and the light that becomes white, in cd/m². */
const [PEAK, WHITE] = [1000, 203];
/** Last entry of a table; with this many, a step of light is less than one of the picture even in the dark. */
const LAST = 65_535;

/** Constants of SMPTE ST 2084. */
const [M1, M2] = [2610 / 16384, (2523 / 4096) * 128];
const [C1, C2, C3] = [3424 / 4096, (2413 / 4096) * 32, (2392 / 4096) * 32];
/** Constants of ARIB STD-B67. */
const [A, B, C] = [0.17883277, 0.28466892, 0.55991073];

/** Light of a PQ signal in cd/m². */
function pqLight(signal: number): number {
  const power = signal ** (1 / M2);
  return 10_000 * (Math.max(0, power - C1) / (C2 - C3 * power)) ** (1 / M1);
}

function pqSignal(light: number): number {
  const power = (light / 10_000) ** M1;
  return ((C1 + C2 * power) / (1 + C3 * power)) ** M2;
}

/** Scene light of an HLG signal, 0..1. */
function hlgScene(signal: number): number {
  return signal <= 0.5 ? (signal * signal) / 3 : (Math.exp((signal - C) / A) + B) / 12;
}

/** PQ signals of the curve: its top, and relative to it white and the knee. */
const TOP = pqSignal(PEAK);
const LEVEL = pqSignal(WHITE) / TOP;
const KNEE = 1.5 * LEVEL - 0.5;

/** Light on a standard screen for light of the source, both in cd/m². */
function mapped(light: number): number {
  const signal = Math.min(1, pqSignal(light) / TOP);
  if (signal < KNEE) return light;
  const t = (signal - KNEE) / (1 - KNEE);
  const [t2, t3] = [t * t, t * t * t];
  const bent = (2 * t3 - 3 * t2 + 1) * KNEE + (t3 - 2 * t2 + t) * (1 - KNEE) + (-2 * t3 + 3 * t2) * LEVEL;
  return pqLight(bent * TOP);
}

/** sRGB of light, both 0..1. */
function srgb(light: number): number {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
}

/** Tabulates a function over 0..1. */
function table(of: (at: number) => number): Float32Array {
  return Float32Array.from({ length: LAST + 1 }, (_, i) => of(i / LAST));
}

/** Nearest entry of a table over 0..1, clamped to its ends. */
function look(values: Float32Array, at: number): number {
  const entry = (at * LAST + 0.5) | 0;
  return values[Math.max(0, Math.min(LAST, entry))]!;
}

/** Writes a pixel of red, green and blue signals (0..255) as sRGB. */
type ToneMap = (into: Uint8ClampedArray, at: number, red: number, green: number, blue: number) => void;

const known = new Map<HdrTransfer, ToneMap>();

/** Makes the tables of each transfer function once. */
function toneMap(transfer: HdrTransfer): ToneMap {
  const map = known.get(transfer) ?? makeToneMap(transfer);
  known.set(transfer, map);
  return map;
}

function makeToneMap(transfer: HdrTransfer): ToneMap {
  const light = table(transfer === 'pq' ? (at) => Math.min(1, pqLight(at) / PEAK) : hlgScene);
  const gain = table((at) => (at === 0 ? 1 : mapped(PEAK * at) / (PEAK * at)) * (PEAK / WHITE));
  const coded = table((at) => 255 * srgb(at));
  // HLG is scene light; a screen of 1000 cd/m² applies gamma 1.2 of its luminance (ITU-R BT.2100).
  const screen = table((at) => at ** 0.2);
  return (into, at, red, green, blue) => {
    let r = look(light, red / 255);
    let g = look(light, green / 255);
    let b = look(light, blue / 255);
    if (transfer === 'hlg') {
      const factor = look(screen, 0.2627 * r + 0.678 * g + 0.0593 * b);
      r *= factor;
      g *= factor;
      b *= factor;
    }
    const scale = look(gain, Math.max(r, g, b));
    // BT.2020 to BT.709, the inverse of ITU-R BT.2087.
    into[at] = look(coded, scale * (1.6605 * r - 0.5876 * g - 0.0728 * b));
    into[at + 1] = look(coded, scale * (-0.1246 * r + 1.1329 * g - 0.0083 * b));
    into[at + 2] = look(coded, scale * (-0.0182 * r - 0.1006 * g + 1.1187 * b));
  };
}

/** Rows of packed RGB, one byte per channel. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  /** 3 x width x height bytes. */
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Rows of packed red, green, blue and 255. */
export interface RgbaImage {
  readonly width: number;
  readonly height: number;
  /** 4 x width x height bytes. */
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/** Size limit of a picture. */
export interface ImageOptions {
  /** Longest side in samples, from 1; larger pictures are shrunk. Default: no limit. */
  readonly maxSide?: number;
}

export function shrink(image: RgbImage, { maxSide = Number.POSITIVE_INFINITY }: ImageOptions): RgbImage {
  const longest = Math.max(image.width, image.height);
  if (longest <= maxSide) return image;
  const width = Math.max(1, Math.round((image.width * maxSide) / longest));
  const height = Math.max(1, Math.round((image.height * maxSide) / longest));
  const columns = coverage(image.width, width);
  const rows = coverage(image.height, height);
  const data = new Uint8ClampedArray(3 * width * height);
  const sums = new Float64Array(3 * width);
  for (let y = 0; y < height; y++) {
    sums.fill(0);
    for (const { at, weight } of rows[y]!) addRow(image, at, weight, columns, sums);
    data.set(sums, 3 * width * y);
  }
  return { width, height, data: new Uint8Array(data.buffer) };
}

interface Share {
  readonly at: number;
  readonly weight: number;
}

/** The input samples that each output sample covers, with weights that sum to 1. */
function coverage(from: number, to: number): Share[][] {
  const scale = from / to;
  return Array.from({ length: to }, (_, i) => {
    const [start, end] = [i * scale, (i + 1) * scale];
    const shares: Share[] = [];
    for (let at = Math.floor(start); at < Math.min(from, end); at++) {
      const weight = (Math.min(at + 1, end) - Math.max(at, start)) / scale;
      if (weight > 0) shares.push({ at, weight });
    }
    return shares;
  });
}

function addRow(
  { width, data }: RgbImage,
  row: number,
  rowWeight: number,
  columns: readonly Share[][],
  sums: Float64Array,
): void {
  const start = 3 * width * row;
  columns.forEach((shares, x) => {
    for (const { at, weight } of shares) {
      const from = start + 3 * at;
      for (let c = 0; c < 3; c++) sums[3 * x + c]! += rowWeight * weight * data[from + c]!;
    }
  });
}

/** Compression effort: higher levels take several times as long for a few percent. */
const EFFORT = 3;

export async function encodePng({ width, height, data }: RgbImage): Promise<Uint8Array<ArrayBuffer>> {
  const { encode } = await import('fast-png');
  return new Uint8Array(encode({ width, height, data, channels: 3, depth: 8 }, { zlib: { level: EFFORT } }));
}
