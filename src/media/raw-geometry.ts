/**
 * @module media/raw-geometry
 * Checks the declared geometry of raw video: if it is wrong, neighbouring rows and frames differ.
 */
import type { ChromaFormat } from '../core/frame.js';
import { sampleBytes, storedFrameBytes } from '../core/frame.js';
import type { ByteReader, RawVideoFormat } from './types.js';

interface WrongGeometry {
  /** Similarity of neighbouring rows and frames, about 0..1. */
  readonly likeness: number;
  readonly fits: RawVideoFormat;
}

/** Sampled frames, and groups of rows in each. */
const PLACES = 3;
const GROUPS = 8;
/** A candidate with a lower similarity of rows is rejected early. */
const HOPELESS = 0.4;
/** Samples on either side of an edge. Finer detail is noise; coarser detail is similar everywhere. */
const EDGE = 4;
const DOUBTFUL = 0.6;
/** Least similarity of another geometry, and its least lead over the declared one. */
const CONVINCING = 0.7;
const BETTER = 0.3;

/** Width offsets beyond the similarity within a row; they include a multiple of any pattern's period. */
const OTHER_LENGTHS = Array.from({ length: 48 }, (_, k) => 17 + k);

/** Least lead in similarity of the next row over the same one. */
const NEARER = 0.02;
/** If low and high bytes correlate more than this, each is a sample. */
const TWO_SAMPLES = 0.8;

/** Usual sizes of files, including sides swapped. */
const SIZES = (
  '128x96 160x90 160x120 176x144 192x108 320x180 320x240 352x240 352x288 416x240 426x240 480x270 ' +
  '480x360 512x384 576x324 640x360 640x480 704x480 704x576 720x480 720x576 768x432 768x576 800x600 ' +
  '832x480 848x480 852x480 854x480 960x540 1024x576 1024x768 1280x720 1440x1080 1600x900 1920x800 ' +
  '1920x1080 1920x1088 1920x1200 2048x858 2048x1080 2560x1440 2560x1600 3840x1600 3840x2160 4096x2160 ' +
  '7680x4320'
)
  .split(' ')
  .map((size) => size.split('x').map(Number) as [width: number, height: number]);

const CHROMAS: readonly ChromaFormat[] = ['420', '422', '444', '400'];
/** Likely errors of a width: strides, and rounding by encoders. */
const NEAR = [-16, -8, -6, -4, -2, -1, 1, 2, 4, 6, 8, 16];

/**
 * @returns a better geometry; `undefined` if the declared one fits or none is clearly better
 * @throws errors of `bytes.read`
 */
export async function findWrongGeometry(
  bytes: ByteReader,
  format: RawVideoFormat,
): Promise<WrongGeometry | undefined> {
  const examined = await examine(bytes, format);
  if (!examined) return undefined;
  const { likeness, rows, most } = examined;
  if (likeness >= DOUBTFUL) {
    // Limited-range black is 4096 at 16 bit.
    const low = format.bitDepth === 16 && most < 4096 && most > 255;
    return low ? { likeness, fits: { ...format, bitDepth: depthOf(most) } } : undefined;
  }
  // Similar rows confirm the width; height, chroma or depth may be wrong.
  const rightRows = rows >= DOUBTFUL;
  const others = candidates(format).filter(
    (other) =>
      !rightRows ||
      (other.width === format.width &&
        (other.height === format.height || isUsual(other)) &&
        other.bitDepth > 8 === format.bitDepth > 8),
  );
  const best = await bestOf(bytes, others);
  // 16-bit video is rare, and two 8-bit samples can look like one 16-bit sample.
  const least = best?.format.bitDepth === 16 ? 0.9 : CONVINCING;
  if (!best || best.likeness < least || best.likeness - likeness < BETTER) return undefined;
  // In alternating scenes, a geometry that takes two frames for one fits as well.
  if (rightRows && !(await goesOn(bytes, format, best.format))) return undefined;
  return (await repeatsItself(bytes, best.format)) ? undefined : { likeness, fits: best.format };
}

/** True if the picture continues where frames of `format` end inside frames of `longer`. */
async function goesOn(bytes: ByteReader, format: RawVideoFormat, longer: RawVideoFormat): Promise<boolean> {
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
      if ((await bytes.read(start + end - rowBytes, [both])) < both.length) continue;
      const rows = samples(both, format.bitDepth, seen);
      if (rows) across.add(edgesOf(rows.subarray(0, format.width)), edgesOf(rows.subarray(format.width)));
    }
  }
  return (across.value ?? 1) >= DOUBTFUL;
}

/** True if rows of other lengths are similar too, as in patterns, so that similarity proves nothing. */
async function repeatsItself(bytes: ByteReader, format: RawVideoFormat): Promise<boolean> {
  for (const more of OTHER_LENGTHS) {
    const examined = await examine(bytes, { ...format, width: format.width + more }, true);
    if ((examined?.rows ?? 0) >= DOUBTFUL) return true;
  }
  return false;
}

interface Rated {
  readonly format: RawVideoFormat;
  readonly likeness: number;
}

/** Preference among formats that fit the same bytes. */
function prior(format: RawVideoFormat): number {
  return (isUsual(format) ? 0.1 : 0) + (format.chroma === '420' ? 0.1 : 0);
}

function isUsual({ width, height }: RawVideoFormat): boolean {
  return SIZES.some(([across, down]) => across === width && down === height);
}

async function bestOf(bytes: ByteReader, formats: readonly RawVideoFormat[]): Promise<Rated | undefined> {
  let best: Rated | undefined;
  for (const format of formats) {
    const frame = storedFrameBytes(format);
    if (bytes.size < frame || bytes.size % frame !== 0) continue;
    const examined = await examine(bytes, format, true);
    if (!examined) continue;
    const { likeness, most } = examined;
    const bitDepth = format.bitDepth === 16 ? depthOf(most) : format.bitDepth;
    const rank = likeness + prior(format);
    if (!best || rank > best.likeness + prior(best.format))
      best = { format: { ...format, bitDepth }, likeness };
  }
  return best;
}

function depthOf(most: number): number {
  return most < 1024 ? 10 : most < 4096 ? 12 : 16;
}

/** Other possible formats; 16 bit stands for all depths above 8. */
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

interface Examined {
  /** Similarity of neighbouring rows and of consecutive frames; 0 if the samples rule the format out. */
  readonly likeness: number;
  readonly rows: number;
  readonly most: number;
}

/**
 * @param candidate compares adjacent rows only, and stops early if the format does not fit
 * @returns `undefined` if the pictures have too little detail
 */
async function examine(bytes: ByteReader, format: RawVideoFormat, candidate = false) {
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
      if ((await bytes.read(at, [group])) < group.length) continue;
      const three = samples(group, bitDepth, seen);
      if (!three) return ruledOut(seen);
      const edges = (row: number) => edgesOf(three.subarray(row * width, (row + 1) * width));
      const [first, second] = [edges(0), edges(1)];
      below.add(first, second);
      const half = (width >> 1) - 2 * EDGE;
      const start = second.subarray(0, half);
      halfRows.same.add(first.subarray(0, half), start);
      halfRows.next.add(first.subarray(width >> 1, (width >> 1) + half), start);
      beyond.add(first, edges(2));
      if (frame + 1 >= frames || (await bytes.read(at + frameBytes, [after])) < rowBytes) continue;
      const later = samples(after, bitDepth, seen);
      if (!later) return ruledOut(seen);
      time.add(smooth(three.subarray(0, width)), smooth(later));
    }
    if (candidate && (below.value ?? 1) < HOPELESS) return ruledOut(seen);
    if (time.value !== undefined) times.push(time.value);
  }
  const { halves, most } = seen;
  // If low bytes correlate with high bytes, they are 8-bit samples.
  if (bitDepth > 8 && (halves.value ?? 0) > TWO_SAMPLES && halves.differ > 0.05) return ruledOut(seen);
  // At twice the true width, the second half of a row is adjacent to the first half of the next row.
  const next = halfRows.next.value ?? 0;
  if (next >= CONVINCING && next > (halfRows.same.value ?? 0) + NEARER) return ruledOut(seen);
  // Fields of interlaced video and patterns of single rows resemble the second row below.
  const rows = candidate ? below.value : larger(below.value, beyond.value);
  if (rows === undefined) return undefined;
  // Use the largest value over time: a sampled frame may precede a cut.
  return { likeness: times.length > 0 ? Math.min(rows, Math.max(...times)) : rows, rows, most };
}

function ruledOut({ most }: Seen): Examined {
  return { likeness: 0, rows: 0, most };
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

interface Seen {
  readonly halves: Correlation;
  most: number;
}

/** `undefined` if a sample exceeds its bit depth. */
function samples(bytes: Uint8Array, bitDepth: number, seen: Seen): Float64Array | undefined {
  if (bitDepth === 8) {
    // Remove the alternation from byte to byte, which is similar at every even distance but is no picture.
    const values = Float64Array.from(bytes);
    const means = [0, 1].map((phase) => {
      let sum = 0;
      for (let i = phase; i < values.length; i += 2) sum += values[i]!;
      return (2 * sum) / values.length;
    });
    for (let i = 0; i < values.length; i++) values[i]! -= means[i & 1]!;
    return values;
  }
  const count = bytes.length >> 1;
  const [low, high, values] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    low[i] = bytes[2 * i]!;
    high[i] = bytes[2 * i + 1]!;
    const value = low[i]! + 256 * high[i]!;
    if (value > seen.most) seen.most = value;
    values[i] = value;
  }
  if (seen.most >= 2 ** bitDepth) return undefined;
  seen.halves.add(low, high);
  return values;
}

/** Differences between the sums of adjacent runs of {@link EDGE} samples. */
function edgesOf(row: Float64Array): Float64Array {
  const edges = new Float64Array(Math.max(0, row.length - 2 * EDGE));
  let [left, right] = [0, 0];
  for (let i = 0; i < EDGE; i++) {
    left += row[i]!;
    right += row[EDGE + i]!;
  }
  for (let i = 0; i < edges.length; i++) {
    edges[i] = right - left;
    const middle = row[i + EDGE]!;
    left += middle - row[i]!;
    right += row[i + 2 * EDGE]! - middle;
  }
  return edges;
}

function smooth(row: Float64Array): Float64Array {
  const length = 2 * EDGE;
  return Float64Array.from({ length: Math.floor(row.length / length) }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < length; j++) sum += row[i * length + j]!;
    return sum / length;
  });
}

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
      const [x, y] = [a[i]!, b[i]!];
      this.#a += x;
      this.#b += y;
      this.#aa += x * x;
      this.#bb += y * y;
      this.#ab += x * y;
      if (x !== y) this.#unequal++;
    }
    this.#count += a.length;
  }

  /** `undefined` if either side is constant. */
  get value(): number | undefined {
    const n = this.#count;
    const [varA, varB] = [this.#aa - (this.#a * this.#a) / n, this.#bb - (this.#b * this.#b) / n];
    if (n === 0 || !(varA > n) || !(varB > n)) return undefined;
    return (this.#ab - (this.#a * this.#b) / n) / Math.sqrt(varA * varB);
  }

  get differ(): number {
    return this.#count === 0 ? 0 : this.#unequal / this.#count;
  }
}
