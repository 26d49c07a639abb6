/**
 * @module media/evidence/framing
 * Decides from pixels whether one picture shows a part of the other: a crop of a larger picture, or a part scaled up
 * to full size, which sizes cannot tell.
 */
import {
  type BothOf,
  type ChromaFormat,
  SUBSAMPLING,
  samplesOf,
  type VideoFormat,
} from '../../core/frame.js';

/** Packed luma: one byte a sample at 8 bit, two (little endian) above. */
export interface Picture {
  readonly luma: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
}

/** Which video to crop, and to which area. */
export interface Framing {
  readonly whole: 'reference' | 'distorted';
  readonly area: { readonly width: number; readonly height: number; readonly x: number; readonly y: number };
  /** True if the area outside is padding: rows or columns that are black or repeat the edge. */
  readonly padding: boolean;
  /** True if the area was found on small pictures and may be off by a few samples. */
  readonly rough?: boolean;
}

type Shape = Pick<VideoFormat, 'width' | 'height' | 'chroma'>;

/** Largest error of a crop, relative to that of scaling. */
const CLEARLY = 0.5;
/** Least mean squared error of scaling, in 8-bit levels, to decide: coding changes means of rows by less. */
const VISIBLE = 0.05;
/** Largest difference between means of repeated rows, in 8-bit levels. */
const REPEATED = 0.75;
/** Highest mean of a black row, in 8-bit levels. */
const BLACK = 24;

/** Samples [from, to). */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Means in 8-bit levels of rows within some columns, or of columns within some rows. */
function profileOf(
  { luma, width, height, bitDepth }: Picture,
  axis: 'rows' | 'columns',
  { from, to }: Span = { from: 0, to: axis === 'rows' ? width : height },
): Float32Array {
  const sums = new Float64Array(axis === 'rows' ? height : width);
  const samples = samplesOf(luma, bitDepth);
  const [top, bottom, left, right] = axis === 'rows' ? [0, height, from, to] : [from, to, 0, width];
  for (let y = top; y < bottom; y++) {
    for (let x = left, at = y * width + left; x < right; x++, at++) {
      const line = axis === 'rows' ? y : x;
      sums[line] = (sums[line] ?? 0) + (samples[at] ?? 0);
    }
  }
  return Float32Array.from(sums, (sum) => sum / ((to - from) * 2 ** (bitDepth - 8)));
}

/** `undefined` if scaling fits as well or nothing is certain. */
export function framingOf(
  reference: Shape,
  distorted: Shape,
  pairs: readonly BothOf<Picture>[],
): Framing | undefined {
  const larger = reference.width * reference.height >= distorted.width * distorted.height;
  const whole = larger ? 'reference' : 'distorted';
  const [all, part] = larger ? [reference, distorted] : [distorted, reference];
  const pictures = pairs.map((pair) =>
    larger ? ([pair.reference, pair.distorted] as const) : ([pair.distorted, pair.reference] as const),
  );
  const steps = stepsOf(all.chroma);
  // Try the stored size, then the largest that fits.
  const factors = [...new Set([1, Math.min(all.width / part.width, all.height / part.height)])];
  for (const factor of factors) {
    const sized = (length: number, step: number) => Math.round((length * factor) / step) * step;
    const [width, height] = [sized(part.width, steps.x), sized(part.height, steps.y)];
    if (width > all.width || height > all.height) continue;
    if (factor === 1 && (width !== part.width || height !== part.height)) continue;
    if (width === all.width && height === all.height) continue;
    const lines = (axis: 'rows' | 'columns', within?: Span) =>
      pictures.map(([one, other]) => ({
        all: profileOf(one, axis),
        cut: profileOf(one, axis, within),
        part: profileOf(other, axis),
      }));
    // Compare columns within rows that both show, then rows within columns that both show.
    const guess = bestPlace(lines('rows'), height, steps.y).at;
    const across = placeOf(lines('columns', { from: guess, to: guess + height }), width, steps.x);
    const down =
      across && placeOf(lines('rows', { from: across.at, to: across.at + width }), height, steps.y);
    if (!across || !down) continue;
    const area = { width, height, x: across.at, y: down.at };
    return { whole, area, padding: across.padding && down.padding };
  }
  return undefined;
}

export function stepsOf(chroma: ChromaFormat): { readonly x: number; readonly y: number } {
  const { h, v } = SUBSAMPLING[chroma] ?? { h: 0, v: 0 };
  return { x: 1 << h, y: 1 << v };
}

/** Profiles of one moment: the whole picture, its compared part, and the smaller picture. */
interface Lines {
  readonly all: Float32Array;
  readonly cut: Float32Array;
  readonly part: Float32Array;
}

function bestPlace(lines: readonly Lines[], length: number, step: number) {
  const parts = lines.map(({ cut, part }) => ({ cut, part: resized(part, length) }));
  let best = { at: 0, error: Number.POSITIVE_INFINITY };
  for (let at = 0; at + length <= (lines[0]?.cut.length ?? 0); at += step) {
    const error = parts.reduce((sum, { cut, part }) => sum + difference(cut, at, part), 0) / parts.length;
    if (error < best.error) best = { at, error };
  }
  return best;
}

/** Where a part of `length` samples begins in the whole; `undefined` if scaling fits as well. */
function placeOf(lines: readonly Lines[], length: number, step: number) {
  const size = lines[0]?.all.length ?? 0;
  if (size === length) return { at: 0, padding: true };
  const scaled =
    lines.reduce(
      (sum, { all, part }) => sum + difference(resized(all, length), 0, resized(part, length)),
      0,
    ) / lines.length;
  const { at, error } = bestPlace(lines, length, step);
  if (!(scaled >= VISIBLE && error <= CLEARLY * scaled)) return undefined;
  const padding = lines.every(
    ({ cut }) => isPadding(cut, 0, at, at) && isPadding(cut, at + length, size, at + length - 1),
  );
  return { at, padding };
}

/** True if a run of a profile is black or repeats the value beside it. */
function isPadding(profile: Float32Array, from: number, to: number, beside: number): boolean {
  const run = profile.subarray(from, to);
  const edge = profile[beside] ?? 0;
  return run.every((mean) => mean <= BLACK) || run.every((mean) => Math.abs(mean - edge) <= REPEATED);
}

/** Variance of the difference between `part` and a profile from `at`. */
function difference(all: Float32Array, at: number, part: Float32Array): number {
  let [sum, squares] = [0, 0];
  for (let i = 0; i < part.length; i++) {
    const off = (all[at + i] ?? 0) - (part[i] ?? 0);
    sum += off;
    squares += off * off;
  }
  return squares / part.length - (sum / part.length) ** 2;
}

/** Resamples a profile: averages when shrinking, linear interpolation when enlarging. */
function resized(profile: Float32Array, length: number): Float32Array {
  const { length: size } = profile;
  if (size === length) return profile;
  const [step, covered] = [size / length, Math.max(1, Math.round(size / length))];
  return Float32Array.from({ length }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < covered; k++) {
      const at = Math.min(size - 1, Math.max(0, (i + (k + 0.5) / covered) * step - 0.5));
      const [low, share] = [Math.floor(at), at % 1];
      const [one, next] = [profile[low] ?? 0, profile[Math.min(size - 1, low + 1)] ?? 0];
      sum += one + share * (next - one);
    }
    return sum / covered;
  });
}

export const ZOOM_PICTURE = 64;
/** Boxes along each side of the pictures on which the search begins. */
const COARSE = 16;
/** Smallest part to search, as a share of a side. */
const SMALLEST = 0.72;
/** First and last step of the search, in boxes of {@link COARSE} and {@link ZOOM_PICTURE}. */
const STEP = 0.5;
const LAST_STEP = 1 / 32;
/** Above this correlation, pictures have the same details in the same places. */
const SAME_PLACES = 0.995;
/** Largest error relative to the whole picture's; encoded parts reach 0.14, other videos and zooms exceed 0.4. */
const CLEARLY_A_PART = 0.25;
/** Least correlation of the part with the other video. */
const ALIKE = 0.9;

interface Zoom {
  readonly whole: 'reference' | 'distorted';
  /** Edges as shares of the picture's sides. */
  readonly part: Readonly<Record<'left' | 'top' | 'right' | 'bottom', number>>;
  /** Correlation of the part with the other video. */
  readonly similarity: number;
}

type Pictures = readonly Float32Array[];

/** Along one side, in boxes. */
type Edges = readonly [from: number, to: number];

/**
 * The part of one video that the other shows; `undefined` if the whole fits as well or no part fits.
 * @param pairs moments as {@link ZOOM_PICTURE} x {@link ZOOM_PICTURE} averages, whatever the aspect ratio
 */
export function zoomOf(pairs: readonly BothOf<Float32Array>[]): Zoom | undefined {
  const [reference, distorted] = [pairs.map((pair) => pair.reference), pairs.map((pair) => pair.distorted)];
  const same = fitOfRows(reference, distorted, ZOOM_PICTURE, [0, ZOOM_PICTURE]);
  if (pairs.length === 0 || correlation(same) > SAME_PLACES) return undefined;
  const found = [
    { whole: 'reference' as const, ...bestPart(reference, distorted) },
    { whole: 'distorted' as const, ...bestPart(distorted, reference) },
  ].map((fit) => ({ ...fit, ratio: relative(fit) / relative(same), similarity: correlation(fit) }));
  const [best] = found.sort((a, b) => a.ratio - b.ratio);
  if (!best || !(best.ratio <= CLEARLY_A_PART && best.similarity >= ALIKE)) return undefined;
  const [[left, right], [top, bottom]] = [best.across, best.down];
  const share = (edge: number) => edge / ZOOM_PICTURE;
  const part = { left: share(left), top: share(top), right: share(right), bottom: share(bottom) };
  return { whole: best.whole, part, similarity: best.similarity };
}

function bestPart(whole: Pictures, part: Pictures) {
  const factor = ZOOM_PICTURE / COARSE;
  const spans: Edges[] = [];
  for (let size = COARSE; size >= COARSE * SMALLEST; size -= STEP)
    for (let from = 0; from + size <= COARSE; from += STEP) spans.push([from, from + size]);
  const [small, smallPart] = [whole.map(coarse), part.map(coarse)];
  const all: Edges = [0, COARSE];
  let [first, least] = [[all, all] as readonly [x: Edges, y: Edges], Number.POSITIVE_INFINITY];
  for (const across of spans) {
    const columns = small.map((picture) => stretched(picture, COARSE, across));
    for (const down of spans) {
      const error = relative(fitOfRows(columns, smallPart, COARSE, down));
      if (error < least) [first, least] = [[across, down], error];
    }
  }
  const finer = ([from, to]: Edges): Edges => [from * factor, to * factor];
  let [across, down] = first.map(finer) as [Edges, Edges];
  let columns = whole.map((picture) => stretched(picture, ZOOM_PICTURE, across));
  let best = fitOfRows(columns, part, ZOOM_PICTURE, down);
  for (let step = factor * STEP; step >= LAST_STEP; step /= 2) {
    for (let moved = true; moved; ) {
      moved = false;
      for (const [x, y] of movesOf(step)) {
        const [acrossNow, downNow] = [shifted(across, x), shifted(down, y)];
        if (!acrossNow || !downNow) continue;
        const columnsNow =
          acrossNow === across
            ? columns
            : whole.map((picture) => stretched(picture, ZOOM_PICTURE, acrossNow));
        const now = fitOfRows(columnsNow, part, ZOOM_PICTURE, downNow);
        if (relative(now) >= relative(best)) continue;
        [across, down, columns, best, moved] = [acrossNow, downNow, columnsNow, now, true];
      }
    }
  }
  return { across, down, ...best };
}

/** Moves of one edge, or of two opposite ones, along either side. */
function movesOf(step: number): readonly (readonly [x: Edges, y: Edges])[] {
  const moves = [
    [1, 0],
    [0, 1],
    [1, 1],
  ].flatMap(([from = 0, to = 0]) => [step, -step].map((by): Edges => [by * from, by * to]));
  const none: Edges = [0, 0];
  return [...moves.map((move) => [move, none] as const), ...moves.map((move) => [none, move] as const)];
}

function shifted(span: Edges, [by, until]: Edges): Edges | undefined {
  if (by === 0 && until === 0) return span;
  const [from, to] = span;
  const [start, end] = [from + by, to + until];
  const fits = start >= 0 && end <= ZOOM_PICTURE && end - start >= SMALLEST * ZOOM_PICTURE;
  return fits ? [start, end] : undefined;
}

function coarse(picture: Float32Array): Float32Array {
  const factor = ZOOM_PICTURE / COARSE;
  const sums = new Float32Array(COARSE * COARSE);
  for (let at = 0; at < picture.length; at++) {
    const row = Math.floor(at / ZOOM_PICTURE / factor);
    const box = row * COARSE + Math.floor((at % ZOOM_PICTURE) / factor);
    sums[box] = (sums[box] as number) + (picture[at] as number) / factor ** 2;
  }
  return sums;
}

/** The samples around a position in a span of `size` that is stretched to full length. */
function neighbours(sample: number, size: number, [from, to]: Edges) {
  const at = Math.min(size - 1, Math.max(0, from + ((sample + 0.5) * (to - from)) / size - 0.5));
  const before = Math.floor(at);
  return { before, after: Math.min(size - 1, before + 1), share: at - before };
}

/** Stretches a span of a square picture's columns to its full width, linear between samples. */
function stretched(picture: Float32Array, size: number, span: Edges): Float32Array {
  const result = new Float32Array(size * size);
  for (let column = 0; column < size; column++) {
    const { before, after, share } = neighbours(column, size, span);
    for (let row = 0; row < result.length; row += size) {
      const value = picture[row + before] as number;
      result[row + column] = value + share * ((picture[row + after] as number) - value);
    }
  }
  return result;
}

/** Mean squared residual of the best line from one video's samples to the other's, whose variance is `variance`. */
interface Fit {
  readonly left: number;
  readonly variance: number;
}

/** Fits a span of rows, stretched like {@link stretched} columns but without copies: a search fits thousands. */
function fitOfRows(ones: Pictures, others: Pictures, size: number, span: Edges): Fit {
  let [x, y, xx, yy, xy] = [0, 0, 0, 0, 0];
  for (let row = 0; row < size; row++) {
    const { before, after, share } = neighbours(row, size, span);
    for (let k = 0; k < ones.length; k++) {
      const one = ones[k] as Float32Array;
      const other = others[k] as Float32Array;
      for (let column = 0; column < size; column++) {
        const value = one[before * size + column] as number;
        const a = Math.fround(value + share * ((one[after * size + column] as number) - value));
        const b = other[row * size + column] as number;
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
      }
    }
  }
  const samples = ones.length * size * size;
  const [own, variance] = [xx / samples - (x / samples) ** 2, yy / samples - (y / samples) ** 2];
  // A picture does not match its negative.
  const both = Math.max(0, xy / samples - (x * y) / samples ** 2);
  return { left: own > 0 ? variance - both ** 2 / own : variance, variance };
}

/** Share of the variance that remains; 1 for pictures without contrast. */
function relative({ left, variance }: Fit): number {
  return variance > 0 ? Math.max(0, left) / variance : 1;
}

function correlation(fit: Fit): number {
  return Math.sqrt(1 - relative(fit));
}
