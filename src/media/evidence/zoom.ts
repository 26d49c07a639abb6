/**
 * @module media/evidence/zoom
 * Decides from small pictures whether one video shows a part of the other, scaled up to full size. Sizes cannot tell.
 */

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

/** Largest error relative to the whole picture's. Encoded parts reach 0.14; other videos and zooms exceed 0.4. */
const CLEARLY = 0.25;

/** Least correlation of the part with the other video. */
const ALIKE = 0.9;

/** Edges as shares of the picture's sides. */
interface Part {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Zoom {
  readonly whole: 'reference' | 'distorted';
  readonly part: Part;
  /** Correlation of the part with the other video. */
  readonly similarity: number;
}

/** One moment in both videos, as {@link ZOOM_PICTURE} x {@link ZOOM_PICTURE} averages, whatever the aspect ratio. */
export interface SmallPair {
  readonly reference: Float32Array;
  readonly distorted: Float32Array;
}

type Pictures = readonly Float32Array[];

/** Edges along one side, in boxes. */
type Span = readonly [from: number, to: number];

/** The part that one video shows of the other; `undefined` if all of it fits as well or no part fits. */
export function zoomOf(pairs: readonly SmallPair[]): Zoom | undefined {
  const [reference, distorted] = [pairs.map((pair) => pair.reference), pairs.map((pair) => pair.distorted)];
  const same = fitOfRows(reference, distorted, ZOOM_PICTURE, [0, ZOOM_PICTURE]);
  if (pairs.length === 0 || correlation(same) > SAME_PLACES) return undefined;
  const found = [
    { whole: 'reference' as const, ...bestPart(reference, distorted) },
    { whole: 'distorted' as const, ...bestPart(distorted, reference) },
  ].map((one) => ({ ...one, ratio: relative(one) / relative(same), similarity: correlation(one) }));
  const [best] = found.sort((a, b) => a.ratio - b.ratio);
  if (!best || !(best.ratio <= CLEARLY && best.similarity >= ALIKE)) return undefined;
  const [[left, right], [top, bottom]] = [best.across, best.down];
  const share = (edge: number) => edge / ZOOM_PICTURE;
  const part = { left: share(left), top: share(top), right: share(right), bottom: share(bottom) };
  return { whole: best.whole, part, similarity: best.similarity };
}

function bestPart(whole: Pictures, part: Pictures) {
  const factor = ZOOM_PICTURE / COARSE;
  const spans: Span[] = [];
  for (let size = COARSE; size >= COARSE * SMALLEST; size -= STEP)
    for (let from = 0; from + size <= COARSE; from += STEP) spans.push([from, from + size]);
  const [small, smallPart] = [whole.map(coarse), part.map(coarse)];
  const all: Span = [0, COARSE];
  let [first, least] = [[all, all] as readonly [x: Span, y: Span], Number.POSITIVE_INFINITY];
  for (const across of spans) {
    const columns = small.map((picture) => stretched(picture, COARSE, across));
    for (const down of spans) {
      const error = relative(fitOfRows(columns, smallPart, COARSE, down));
      if (error < least) [first, least] = [[across, down], error];
    }
  }
  const finer = ([from, to]: Span): Span => [from * factor, to * factor];
  let [across, down] = first.map(finer) as [Span, Span];
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
function movesOf(step: number): readonly (readonly [x: Span, y: Span])[] {
  const moves = [
    [1, 0],
    [0, 1],
    [1, 1],
  ].flatMap(([from = 0, to = 0]) => [step, -step].map((by): Span => [by * from, by * to]));
  const none: Span = [0, 0];
  return [...moves.map((move) => [move, none] as const), ...moves.map((move) => [none, move] as const)];
}

function shifted(span: Span, [by, until]: Span): Span | undefined {
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

/** The two samples around a position in a span of `size` that is stretched to full length. */
function neighbours(sample: number, size: number, [from, to]: Span) {
  const at = Math.min(size - 1, Math.max(0, from + ((sample + 0.5) * (to - from)) / size - 0.5));
  const before = Math.floor(at);
  return { before, after: Math.min(size - 1, before + 1), share: at - before };
}

/** Stretches a span of a square picture's columns to its full width, linear between samples. */
function stretched(picture: Float32Array, size: number, span: Span): Float32Array {
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

/** Mean squared residual of the best line from one video's samples to the other's, and the variance of the latter. */
interface Fit {
  readonly left: number;
  readonly variance: number;
}

/** Fits a span of the rows like {@link stretched} columns, but without copies, since a search fits thousands. */
function fitOfRows(ones: Pictures, others: Pictures, size: number, span: Span): Fit {
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

function correlation(found: Fit): number {
  return Math.sqrt(1 - relative(found));
}
