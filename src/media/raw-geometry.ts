/**
 * @module media/raw-geometry
 * Whether raw video has the geometry it is said to have, by its pictures: neighbouring rows and frames resemble each
 * other where width, height, depth and chroma are right, and show unrelated things where one of them is wrong.
 */

import type { ChromaFormat } from '../core/frame.js';
import { sampleBytes, storedFrameBytes } from '../core/frame.js';
import type { RawVideoFormat } from './types.js';

/** Bytes of a file; `read` fills as much of `into` as there is, and says how much. */
export interface RawBytes {
  readonly size: number;
  read(position: number, into: Uint8Array): Promise<number> | number;
}

/** What is wrong with a geometry. */
export interface WrongGeometry {
  /** How much alike neighbouring rows and frames are, about 0..1. */
  readonly likeness: number;
  /** The geometry that clearly fits instead. */
  readonly fits: RawVideoFormat;
}

/** Places in the video, and groups of rows in each, that are looked at. */
const PLACES = 3;
const GROUPS = 8;

/** Rows' likeness at the first place below which a candidate is not looked at any further. */
const HOPELESS = 0.4;

/** Samples on either side of an edge: finer detail is noise, coarser is alike everywhere. */
const EDGE = 4;

/** Likeness below which a geometry is doubted. */
const DOUBTFUL = 0.6;

/** Likeness that another one must have, and by how much it must be the better. */
const CONVINCING = 0.7;
const BETTER = 0.3;

/** Added to a width, longer than what rows are alike over by themselves: each is a multiple of some pattern's length. */
const OTHER_LENGTHS = Array.from({ length: 48 }, (_, k) => 17 + k);

/** By how much a row is more like the next than like the one after that. */
const NEARER = 0.02;

/** Likeness of low and high bytes from which both are samples. */
const TWO_SAMPLES = 0.8;

/** Sizes that files have, each also on its side. */
const SIZES: readonly (readonly [width: number, height: number])[] = [
  ...([
    [128, 96],
    [160, 90],
    [160, 120],
    [176, 144],
    [192, 108],
    [320, 180],
    [320, 240],
    [352, 240],
  ] as const),
  ...([
    [352, 288],
    [416, 240],
    [426, 240],
    [480, 270],
    [480, 360],
    [512, 384],
    [576, 324],
    [640, 360],
  ] as const),
  ...([
    [640, 480],
    [704, 480],
    [704, 576],
    [720, 480],
    [720, 576],
    [768, 432],
    [768, 576],
    [800, 600],
  ] as const),
  ...([
    [832, 480],
    [848, 480],
    [852, 480],
    [854, 480],
    [960, 540],
    [1024, 576],
    [1024, 768],
    [1280, 720],
  ] as const),
  ...([
    [1440, 1080],
    [1600, 900],
    [1920, 800],
    [1920, 1080],
    [1920, 1088],
    [1920, 1200],
    [2048, 858],
  ] as const),
  ...([
    [2048, 1080],
    [2560, 1440],
    [2560, 1600],
    [3840, 1600],
    [3840, 2160],
    [4096, 2160],
    [7680, 4320],
  ] as const),
];

const CHROMAS: readonly ChromaFormat[] = ['420', '422', '444', '400'];

/** Columns by which a width may be mistaken: strides, and what encoders round to. */
const NEAR = [-16, -8, -6, -4, -2, -1, 1, 2, 4, 6, 8, 16];

/**
 * @returns what is wrong, `undefined` where nothing can be told to be
 * @throws whatever reading throws
 */
export async function findWrongGeometry(
  bytes: RawBytes,
  format: RawVideoFormat,
): Promise<WrongGeometry | undefined> {
  const looked = await look(bytes, format);
  if (!looked) return undefined;
  const { likeness, rows, most } = looked;
  if (likeness >= DOUBTFUL) {
    // Black of limited range is 4096 at 16 bit.
    const low = format.bitDepth === 16 && most < 4096 && most > 255;
    return low ? { likeness, fits: { ...format, bitDepth: depthOf(most) } } : undefined;
  }
  // Rows that are alike have the right length: then only their number can be wrong, or what follows them.
  const rightRows = rows >= DOUBTFUL;
  const others = candidates(format).filter(
    (other) =>
      !rightRows ||
      (other.width === format.width &&
        (other.height === format.height || isUsual(other)) &&
        other.bitDepth > 8 === format.bitDepth > 8),
  );
  const best = await bestOf(bytes, others);
  if (!best || best.likeness < convincing(best.format) || best.likeness - likeness < BETTER) return undefined;
  // Scenes that alternate from frame to frame go together as well where each pair of frames is taken for one.
  if (rightRows && !(await goesOn(bytes, format, best.format))) return undefined;
  return (await repeatsItself(bytes, best.format)) ? undefined : { likeness, fits: best.format };
}

/** Whether the picture goes on where frames of the one format end within those of the other, if all of them do. */
async function goesOn(bytes: RawBytes, format: RawVideoFormat, longer: RawVideoFormat): Promise<boolean> {
  const [part, whole] = [storedFrameBytes(format), storedFrameBytes(longer)];
  if (whole === part || whole % part !== 0) return true;
  const rowBytes = format.width * sampleBytes(format.bitDepth);
  const both = new Uint8Array(2 * rowBytes);
  const across = new Correlation();
  const seen = { halves: new Correlation(), most: 0 };
  const frames = Math.floor(bytes.size / whole);
  for (let k = 0; k < Math.min(GROUPS, frames); k++) {
    const start = Math.floor((k * frames) / Math.min(GROUPS, frames)) * whole;
    for (let end = part; end < whole; end += part) {
      if ((await bytes.read(start + end - rowBytes, both)) < both.length) continue;
      const rows = samples(both, format.bitDepth, seen);
      if (rows) across.add(edgesOf(rows.subarray(0, format.width)), edgesOf(rows.subarray(format.width)));
    }
  }
  return (across.value ?? 1) >= DOUBTFUL;
}

/** Whether rows of other lengths go together as well, as in patterns: then nothing is told by that they do. */
async function repeatsItself(bytes: RawBytes, format: RawVideoFormat): Promise<boolean> {
  for (const more of OTHER_LENGTHS) {
    const looked = await look(bytes, { ...format, width: format.width + more }, true);
    if ((looked?.rows ?? 0) >= DOUBTFUL) return true;
  }
  return false;
}

/** 16 bits are rare, and two samples of 8 can look like one. */
function convincing({ bitDepth }: RawVideoFormat): number {
  return bitDepth === 16 ? 0.9 : CONVINCING;
}

interface Rated {
  readonly format: RawVideoFormat;
  readonly likeness: number;
}

/** What speaks for a format before it was looked at: the same pictures can be cut into rows of several formats. */
function prior(format: RawVideoFormat): number {
  return (isUsual(format) ? 0.1 : 0) + (format.chroma === '420' ? 0.1 : 0);
}

function isUsual({ width, height }: RawVideoFormat): boolean {
  return SIZES.some(([across, down]) => across === width && down === height);
}

async function bestOf(bytes: RawBytes, formats: readonly RawVideoFormat[]): Promise<Rated | undefined> {
  let best: Rated | undefined;
  for (const format of formats) {
    const frame = storedFrameBytes(format);
    if (bytes.size < frame || bytes.size % frame !== 0) continue;
    const looked = await look(bytes, format, true);
    if (!looked) continue;
    const { likeness, most } = looked;
    const bitDepth = format.bitDepth === 16 ? depthOf(most) : format.bitDepth;
    const rank = likeness + prior(format);
    if (!best || rank > best.likeness + prior(best.format))
      best = { format: { ...format, bitDepth }, likeness };
  }
  return best;
}

/** The usual depth that holds samples up to `most`. */
function depthOf(most: number): number {
  return most < 1024 ? 10 : most < 4096 ? 12 : 16;
}

/** Formats that a file may be of instead; 16 bits stand for all depths above 8. */
function candidates(declared: RawVideoFormat): RawVideoFormat[] {
  const { width, height, bitDepth, chroma } = declared;
  const sizes = new Map(
    [
      [width, height] as const,
      [height, width] as const,
      ...NEAR.map((more) => [width + more, height] as const),
      ...SIZES,
      ...SIZES.map(([across, down]) => [down, across] as const),
    ].map((size) => [size.join('x'), size]),
  );
  const formats: RawVideoFormat[] = [];
  for (const depth of [8, 16]) {
    for (const subsampling of new Set([chroma, ...CHROMAS])) {
      for (const [across, down] of sizes.values()) {
        const same = across === width && down === height && subsampling === chroma && depth === bitDepth;
        if (across > 2 * EDGE && down > 3 && !same) {
          formats.push({ width: across, height: down, bitDepth: depth, chroma: subsampling });
        }
      }
    }
  }
  return formats;
}

/** What a format makes of a file. */
interface Looked {
  /** Of rows to those below them and of frames to those after them; 0 where samples cannot be so. */
  readonly likeness: number;
  /** The same of rows alone. */
  readonly rows: number;
  /** The largest sample. */
  readonly most: number;
}

/**
 * @param candidate only rows right below count, and what is hopeless is not looked at to the end
 * @returns `undefined` without detail to go by
 */
async function look(bytes: RawBytes, format: RawVideoFormat, candidate = false): Promise<Looked | undefined> {
  const { width, height, bitDepth } = format;
  const frameBytes = storedFrameBytes(format);
  const frames = Math.floor(bytes.size / frameBytes);
  if (frames === 0 || width <= 2 * EDGE || height < 4) return undefined;
  const rowBytes = width * sampleBytes(bitDepth);
  const [below, beyond] = [new Correlation(), new Correlation()];
  const halfRows = { same: new Correlation(), next: new Correlation() };
  const seen = { halves: new Correlation(), most: 0 };
  const times: number[] = [];
  const places = new Set(Array.from({ length: PLACES }, (_, k) => Math.floor(((k + 0.5) * frames) / PLACES)));
  const group = new Uint8Array(3 * rowBytes);
  const after = new Uint8Array(rowBytes);
  for (const frame of places) {
    const time = new Correlation();
    for (let k = 0; k < GROUPS; k++) {
      const y = Math.floor(((k + 0.5) * (height - 2)) / GROUPS);
      const at = frame * frameBytes + y * rowBytes;
      if ((await bytes.read(at, group)) < group.length) continue;
      const three = samples(group, bitDepth, seen);
      if (!three) return { likeness: 0, rows: 0, most: seen.most };
      const edges = (row: number) => edgesOf(three.subarray(row * width, (row + 1) * width));
      const [first, second] = [edges(0), edges(1)];
      below.add(first, second);
      const half = (width >> 1) - 2 * EDGE;
      const start = second.subarray(0, half);
      halfRows.same.add(first.subarray(0, half), start);
      halfRows.next.add(first.subarray(width >> 1, (width >> 1) + half), start);
      beyond.add(first, edges(2));
      if (frame + 1 >= frames || (await bytes.read(at + frameBytes, after)) < rowBytes) continue;
      const later = samples(after, bitDepth, seen);
      if (!later) return { likeness: 0, rows: 0, most: seen.most };
      time.add(smooth(three.subarray(0, width)), smooth(later));
    }
    if (candidate && (below.value ?? 1) < HOPELESS) return { likeness: 0, rows: 0, most: seen.most };
    const value = time.value;
    if (value !== undefined) times.push(value);
  }
  const { halves, most } = seen;
  // Low bytes that go with the high ones are samples of their own.
  if (bitDepth > 8 && (halves.value ?? 0) > TWO_SAMPLES && halves.differ > 0.05)
    return { likeness: 0, rows: 0, most };
  // Two rows of the picture in one of the format: its second half is next to the first half of the row below.
  const next = halfRows.next.value ?? 0;
  if (next >= CONVINCING && next > (halfRows.same.value ?? 0) + NEARER) return { likeness: 0, rows: 0, most };
  // Fields of interlaced video, and patterns of single rows, are like the row after the next.
  const rows = candidate ? below.value : larger(below.value, beyond.value);
  if (rows === undefined) return undefined;
  // A cut at one of the places says nothing.
  return { likeness: times.length > 0 ? Math.min(rows, Math.max(...times)) : rows, rows, most };
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** What samples show besides pictures: how low bytes go with high ones, and the largest value. */
interface Seen {
  readonly halves: Correlation;
  most: number;
}

/** Samples as numbers; `undefined` where one is more than its depth holds. */
function samples(bytes: Uint8Array, bitDepth: number, seen: Seen): Float64Array | undefined {
  if (bitDepth === 8) {
    // What alternates from byte to byte is no picture, though it looks alike at every even distance.
    const values = Float64Array.from(bytes);
    const means = [0, 1].map((phase) => {
      let sum = 0;
      for (let i = phase; i < values.length; i += 2) sum += values[i] ?? 0;
      return (2 * sum) / values.length;
    });
    for (let i = 0; i < values.length; i++) values[i] = (values[i] ?? 0) - (means[i & 1] ?? 0);
    return values;
  }
  const count = bytes.length >> 1;
  const [low, high, values] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    low[i] = bytes[2 * i] ?? 0;
    high[i] = bytes[2 * i + 1] ?? 0;
    const value = (low[i] ?? 0) + 256 * (high[i] ?? 0);
    if (value > seen.most) seen.most = value;
    values[i] = value;
  }
  if (seen.most >= 2 ** bitDepth) return undefined;
  seen.halves.add(low, high);
  return values;
}

/** Differences from one stretch of {@link EDGE} samples to the next. */
function edgesOf(row: Float64Array): Float64Array {
  const edges = new Float64Array(Math.max(0, row.length - 2 * EDGE));
  let [left, right] = [0, 0];
  for (let i = 0; i < EDGE; i++) {
    left += row[i] ?? 0;
    right += row[EDGE + i] ?? 0;
  }
  for (let i = 0; i < edges.length; i++) {
    edges[i] = right - left;
    const middle = row[i + EDGE] ?? 0;
    left += middle - (row[i] ?? 0);
    right += (row[i + 2 * EDGE] ?? 0) - middle;
  }
  return edges;
}

/** Means of stretches of twice {@link EDGE} samples. */
function smooth(row: Float64Array): Float64Array {
  const length = 2 * EDGE;
  return Float64Array.from({ length: Math.floor(row.length / length) }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < length; j++) sum += row[i * length + j] ?? 0;
    return sum / length;
  });
}

/** Pearson's correlation of pairs as they come. */
class Correlation {
  #count = 0;
  #unequal = 0;
  #a = 0;
  #b = 0;
  #aa = 0;
  #bb = 0;
  #ab = 0;

  add(a: Float64Array, b: Float64Array): void {
    for (let i = 0; i < a.length; i++) {
      const [x, y] = [a[i] ?? 0, b[i] ?? 0];
      this.#a += x;
      this.#b += y;
      this.#aa += x * x;
      this.#bb += y * y;
      this.#ab += x * y;
      if (x !== y) this.#unequal++;
    }
    this.#count += a.length;
  }

  /** `undefined` where nothing varies. */
  get value(): number | undefined {
    const n = this.#count;
    const [varA, varB] = [this.#aa - (this.#a * this.#a) / n, this.#bb - (this.#b * this.#b) / n];
    if (n === 0 || !(varA > n) || !(varB > n)) return undefined;
    return (this.#ab - (this.#a * this.#b) / n) / Math.sqrt(varA * varB);
  }

  /** Part of the pairs whose values differ. */
  get differ(): number {
    return this.#count === 0 ? 0 : this.#unequal / this.#count;
  }
}
