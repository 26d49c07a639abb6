/**
 * @module media/evidence/framing
 * Decides from pixels whether the smaller of two pictures is a crop of the larger one, or all of it at another size.
 */
import { type ChromaFormat, SUBSAMPLING, samplesOf, type VideoFormat } from '../../core/frame.js';

/** Packed luma: one byte a sample at 8 bit, two (little endian) above. */
export interface Picture {
  readonly luma: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
}

interface PicturePair {
  readonly reference: Picture;
  readonly distorted: Picture;
}

/** Which video to crop, and to which area. */
export interface Framing {
  readonly whole: 'reference' | 'distorted';
  readonly area: { readonly width: number; readonly height: number; readonly x: number; readonly y: number };
  /** True if the area outside is padding: rows or columns that repeat the edge or are black. */
  readonly padding: boolean;
  /** True if the area was found on small pictures, and may be off by a few samples. */
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

/** The part of one picture that the other shows; `undefined` if scaling fits as well or nothing is certain. */
export function framingOf(
  reference: Shape,
  distorted: Shape,
  pairs: readonly PicturePair[],
): Framing | undefined {
  const larger = reference.width * reference.height >= distorted.width * distorted.height;
  const whole = larger ? 'reference' : 'distorted';
  const [all, part] = larger ? [reference, distorted] : [distorted, reference];
  const pictures = pairs.map((pair) =>
    larger ? ([pair.reference, pair.distorted] as const) : ([pair.distorted, pair.reference] as const),
  );
  const steps = stepsOf(all.chroma);
  // At the stored size first, then as large as fits.
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
    // Compare columns within the rows that both show, then rows within the columns.
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

interface Place {
  readonly at: number;
  readonly padding: boolean;
}

/** Profiles of one moment: of the whole picture, of its compared part, and of the smaller picture. */
interface Lines {
  readonly all: Float32Array;
  readonly cut: Float32Array;
  readonly part: Float32Array;
}

function bestPlace(
  lines: readonly Lines[],
  length: number,
  step: number,
): { readonly at: number; readonly error: number } {
  const parts = lines.map(({ cut, part }) => ({ cut, part: resized(part, length) }));
  let best = { at: 0, error: Number.POSITIVE_INFINITY };
  for (let at = 0; at + length <= (lines[0]?.cut.length ?? 0); at += step) {
    const error = parts.reduce((sum, { cut, part }) => sum + difference(cut, at, part), 0) / parts.length;
    if (error < best.error) best = { at, error };
  }
  return best;
}

/** Where a part of `length` samples of the whole begins; `undefined` if scaling fits as well. */
function placeOf(lines: readonly Lines[], length: number, step: number): Place | undefined {
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

/** Mean squared difference from position `at` of a profile, without the mean. */
function difference(all: Float32Array, at: number, part: Float32Array): number {
  let [sum, squares] = [0, 0];
  for (let i = 0; i < part.length; i++) {
    const off = (all[at + i] ?? 0) - (part[i] ?? 0);
    sum += off;
    squares += off * off;
  }
  return squares / part.length - (sum / part.length) ** 2;
}

/** Resamples a profile: averages over what each sample covers, linear between samples. */
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
