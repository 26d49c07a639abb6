/**
 * @module media/align/evidence
 * Compares how well two offsets explain the thumbnails of two videos, by pictures and by changes from frame to frame.
 *
 * Both use one gain and bias, the best fit over all pairs, so fades and flashes count, but a constant change of
 * brightness, contrast or range does not. Changes ignore everything static (bars, logos, a crop, a tone curve).
 *
 * Fast encoders keep stale parts of the picture, so the best offset may not be the true one. Let a steady motion of
 * b squared levels per frame be d frames late, where d varies over the picture. The residual around the best offset
 * is b (o² + var d), and the true offset is k = mean d away; the mean is at most sqrt 3 deviations for uniform and
 * exponential delays. So pictures rule out an offset only if it adds more than 3 times the residual that lag can
 * explain: per sample, at most its change within 2 k frames. Changes have no such bias, since a part that catches up
 * shows all missed changes at once.
 */
import type { BothOf } from '../../core/frame.js';
import {
  blockChange,
  dot,
  PAIR_BYTES,
  signThumb,
  squaredDistance,
  THUMBNAIL,
  tellsApart,
} from './thumbnail.js';

/** Weight of a difference between residuals, chosen on encodes: see docs/alignment.md. */
const WEIGHING = {
  pictures: { observations: 2, disregarded: 0.12 },
  changes: { observations: 2, disregarded: 0.12 },
} as const satisfies Record<PairKind, Weighing>;

/** For offsets with few common pairs. */
const WEIGHING_APART: Weighing = { observations: 2, disregarded: Math.log(4) };
/** Square of the largest mean delay, in units of the delays' deviation. */
const LAG_BOUND = 3;
const LAG_STEPS = 4;
/** Evenly spread frames in which to measure lag. */
const LAG_FRAMES = 32;
/** Evenly spread frames in which to compare the pictures of two offsets. */
const COMPARED_FRAMES = 100;
/** Midway between two frames, the earlier one is still shown; rates of rounded times are not exact. */
const MIDWAY = 0.51;

type PairKind = 'pictures' | 'changes';

/** Distorted frames [first, end). */
type Range = readonly [first: number, end: number];

interface Weighing {
  /** Independent observations per pair; samples are correlated in space and time. */
  readonly observations: number;
  /** Part of the log ratio of two residuals to ignore, since strongly compressed video repeats old pictures. */
  readonly disregarded: number;
}

/** In squared 8-bit levels; smaller residuals are rounding error. */
const FLOOR = 0.02 ** 2;
/** Blocks whose averages separate motion from noise. */
const BLOCKS = [THUMBNAIL.width, 8, 8] as const;
/** Two encodes of one picture differ by at most twice the coding error of each, or four times when squared. */
const BEYOND_CODING = 4;
/** Below this, offsets are compared over all their pairs. */
const COMMON_PAIRS = 4;

/** Sums over pairs of samples x (reference) and y (distorted). */
interface Sums {
  samples: number;
  x: number;
  y: number;
  xx: number;
  yy: number;
  xy: number;
}

interface Fit {
  readonly gain: number;
  /** Means of x and y; 0 for a line through the origin. */
  readonly mx: number;
  readonly my: number;
  readonly error: number;
  /** Mean squared deviation of y. */
  readonly variance: number;
}

/** Least-squares fit y = gain * x + bias with gain >= 0, since a picture does not match its negative. */
function bestLine({ samples, x, y, xx, yy, xy }: Sums, centred: boolean): Fit {
  if (samples === 0) return { gain: 0, mx: 0, my: 0, error: 0, variance: 0 };
  const [mx, my] = centred ? [x / samples, y / samples] : [0, 0];
  const vx = Math.max(0, xx / samples - mx * mx);
  const variance = Math.max(0, yy / samples - my * my);
  const gain = vx > 1e-9 ? Math.max(0, (xy / samples - mx * my) / vx) : 0;
  return { gain, mx, my, error: Math.max(0, variance - gain * gain * vx), variance };
}

function errorOn({ gain, mx, my }: Fit, { samples, x, y, xx, yy, xy }: Sums): number {
  const bias = my - gain * mx;
  const crossed = gain * (bias * x - xy) - bias * y;
  return samples > 0 ? (yy + gain * gain * xx + 2 * crossed) / samples + bias * bias : 0;
}

export interface Fitness {
  readonly pairs: number;
  /** Correlation of the pictures, 0..1. */
  readonly similarity: number;
  /** Correlation of the changes from frame to frame, 0..1. */
  readonly changes: number;
  /** Ratio of the standard deviations, distorted over reference. */
  readonly gain: number;
  /** Distorted mean minus gain times reference mean, in 8-bit levels. */
  readonly bias: number;
  /** Mean squared residual of the pictures, in squared 8-bit levels. */
  readonly error: number;
  /** For ranking offsets that have different pairs. */
  readonly rank: number;
}

interface Thumb {
  readonly samples: Float32Array;
  readonly sum: number;
  readonly squares: number;
}

function thumb(samples: Float32Array): Thumb {
  let sum = 0;
  for (const value of samples) sum += value;
  return { samples, sum, squares: dot(samples, samples) };
}

/** The thumbnails read so far, and the fitness of offsets over them. */
export class Evidence {
  readonly #reference: Thumb[] = [];
  readonly #distorted: Thumb[] = [];
  /** Per distorted frame: dot products with its partner at offset 0, the frame before that, the frame after, etc. */
  readonly #products: Float64Array[] = [];
  /** Squared distances of frame n from frames before it. */
  readonly #changes = { reference: [] as Float64Array[], distorted: [] as Float64Array[] };
  readonly #ratio: number;
  readonly #partners: ArrayLike<number> | undefined;

  /** @param partners reference frame of each distorted frame at offset 0, ascending; default: by the ratio */
  constructor(ratio: number, partners?: ArrayLike<number>) {
    this.#ratio = ratio;
    this.#partners = partners;
  }

  get oneByOne(): boolean {
    return this.#ratio === 1 && !this.#partners;
  }

  get frames(): BothOf<number> {
    return { reference: this.#reference.length, distorted: this.#distorted.length };
  }

  add(side: 'reference' | 'distorted', samples: Float32Array): void {
    this.#lags.clear();
    (side === 'reference' ? this.#reference : this.#distorted).push(thumb(samples));
  }

  /** Distorted frames whose partner at this offset is available. */
  range(offset: number): Range {
    const first = this.#firstFrom(-offset);
    return [first, Math.max(first, this.#firstFrom(this.frames.reference - offset))];
  }

  /** The first distorted frame whose partner at offset 0 is at or after `reference`, else the number of frames. */
  #firstFrom(reference: number): number {
    let [low, high] = [0, this.#distorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.partner(middle, 0) >= reference) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  partner(distorted: number, offset: number): number {
    return (this.#partners?.[distorted] ?? Math.ceil(distorted * this.#ratio - MIDWAY)) + offset;
  }

  fitness(offset: number): Fitness {
    const [first, end] = this.range(offset);
    const { pictures, changes } = this.#sums(offset, first, end);
    const still = bestLine(pictures, true);
    const moving = bestLine(changes, false);
    const relative = ({ error, variance }: Fit) => (error + FLOOR) / (variance + FLOOR);
    const similarity = correlation(still);
    // The least-squares slope is biased by the correlation; the ratio of deviations is not.
    const gain = similarity > 0 ? still.gain / similarity : 0;
    return {
      pairs: end - first,
      similarity,
      changes: correlation(moving),
      gain,
      bias: still.my - gain * still.mx,
      error: still.error,
      rank: -Math.log(relative(still)) - Math.log(relative(moving)),
    };
  }

  /** Log likelihood ratio of `offset` against `other` over their common pairs (in `within`); 0 if undecided. */
  favours(offset: number, other: number, within?: Range): number {
    const { pictures, changes } = this.kinds(offset, other, within);
    return pictures + changes;
  }

  kinds(offset: number, other: number, within?: Range): Readonly<Record<PairKind, number>> {
    const [a, b] = [this.range(offset), this.range(other)];
    const first = Math.max(a[0], b[0], within?.[0] ?? 0);
    const end = Math.min(a[1], b[1], within?.[1] ?? Number.POSITIVE_INFINITY);
    const pairs = end - first;
    if (pairs < COMMON_PAIRS && within) return { pictures: 0, changes: 0 };
    if (pairs < COMMON_PAIRS) {
      const [mine, theirs] = [this.fitness(offset), this.fitness(other)];
      const all = worth(WEIGHING_APART, Math.min(mine.pairs, theirs.pairs), mine.rank - theirs.rank);
      return { pictures: all, changes: 0 };
    }
    const mine = this.#sums(offset, first, end);
    const theirs = this.#sums(other, first, end);
    const gain = (kind: PairKind) => {
      const centred = kind === 'pictures';
      const ratio =
        (bestLine(theirs[kind], centred).error + FLOOR) / (bestLine(mine[kind], centred).error + FLOOR);
      return worth(WEIGHING[kind], pairs, Math.log(ratio));
    };
    const pictures = gain('pictures');
    const [better, worse] = pictures > 0 ? [offset, other] : [other, offset];
    const [best, rest] = pictures > 0 ? [mine.pictures, theirs.pictures] : [theirs.pictures, mine.pictures];
    const clear = pictures !== 0 && !this.#mayLag(better, worse, best, rest, [first, end]);
    return { pictures: clear ? pictures : 0, changes: gain('changes') };
  }

  /** True if lag alone may make `better` fit, though `worse` is the true offset; `best` and `rest` are their sums. */
  #mayLag(better: number, worse: number, best: Sums, rest: Sums, range: Range): boolean {
    const line = bestLine(best, true);
    // Keep the better offset's line, so that a change of contrast (a fade) does not count as time.
    const added = errorOn(line, rest) - line.error;
    if (added > LAG_BOUND * (line.error + FLOOR)) return false;
    const key = `${better} ${worse} ${range}`;
    const lag = this.#lags.get(key) ?? this.#lagIn(better, 2 * Math.abs(worse - better), line, range);
    this.#lags.set(key, lag);
    return added <= LAG_BOUND * (lag + FLOOR);
  }

  readonly #lags = new Map<string, number>();

  /** The part of the mean squared residual that delays of up to `most` frames can explain, in squared levels. */
  #lagIn(offset: number, most: number, { gain, mx, my }: Fit, [first, end]: Range): number {
    const delays = new Set<number>();
    for (let step = 1; step <= LAG_STEPS; step++) delays.add(Math.ceil((step * most) / LAG_STEPS));
    const bias = my - gain * mx;
    const stride = Math.ceil((end - first) / LAG_FRAMES);
    const reach = new Float32Array(this.#reference[0]?.samples.length ?? 0);
    let sum = 0;
    let samples = 0;
    for (let i = first; i < end; i += stride) {
      const j = this.partner(i, offset);
      const [x, y] = [this.#reference[j]!.samples, this.#distorted[i]!.samples];
      reach.fill(0);
      for (const delay of delays)
        for (const other of [this.#reference[j - delay], this.#reference[j + delay]])
          if (other) widen(reach, x, other.samples);
      for (let k = 0; k < x.length; k++) {
        const residual = Math.abs(y[k]! - gain * x[k]! - bias);
        sum += Math.min(residual, gain * reach[k]!) ** 2;
      }
      samples += x.length;
    }
    return samples > 0 ? sum / samples : 0;
  }

  /** True if the reference shows different pictures at the two offsets. */
  tellsApart(offset: number, other: number): boolean {
    const [a, b] = [this.range(offset), this.range(other)];
    const [first, end] = [Math.max(a[0], b[0]), Math.min(a[1], b[1])];
    const pairs: [Float32Array, Float32Array][] = [];
    const stride = Math.max(1, Math.ceil((end - first) / COMPARED_FRAMES));
    for (let i = first; i < end; i += stride) {
      const [x, y] = [offset, other].map((at) => this.#reference[this.partner(i, at)]?.samples);
      if (x && y) pairs.push([x, y]);
    }
    // No common pairs: the offsets compare different frames.
    return pairs.length === 0 || tellsApart(pairs);
  }

  /** Signatures of the pairs at an offset, if frames pair one to one: reference, then distorted. */
  *signatures(offset: number): Generator<Uint8Array, void> {
    const [first, end] = this.range(offset);
    for (let i = first; i < end; i++) {
      const [x, y] = [this.#reference[this.partner(i, offset)], this.#distorted[i]];
      if (!x || !y) return;
      const pair = new Uint8Array(PAIR_BYTES);
      signThumb(x.samples, pair);
      signThumb(y.samples, pair.subarray(PAIR_BYTES / 2));
      yield pair;
    }
  }

  /**
   * Counts frames that repeat their predecessor while their partner moves on.
   * @param still largest mean squared change of a repeated frame, in squared levels
   * @param moves smallest mean squared change of a moving partner's block averages
   */
  repeated(offset: number, still: number, moves: number): { reference: number; distorted: number } {
    const [first, end] = this.range(offset);
    const counts = { reference: 0, distorted: 0 };
    const flicker = Math.max(moves, BEYOND_CODING * this.#codingError(offset));
    for (let i = first + 1; i < end; i++) {
      const [now, before] = [this.partner(i, offset), this.partner(i - 1, offset)];
      const [x, x0] = [this.#reference[now], this.#reference[before]];
      const [y, y0] = [this.#distorted[i], this.#distorted[i - 1]];
      if (now === before || !x || !x0 || !y || !y0) continue;
      if (meanSquare(y0, y) <= still && blocksMoved(x0, x) >= moves) counts.distorted++;
      if (meanSquare(x0, x) <= still && blocksMoved(y0, y) > flicker) counts.reference++;
    }
    return counts;
  }

  #codingError(offset: number): number {
    const [first, end] = this.range(offset);
    const errors: number[] = [];
    for (let i = first; i < end; i++) {
      const [x, y] = [this.#reference[this.partner(i, offset)], this.#distorted[i]];
      if (x && y) errors.push(blocksMoved(x, y));
    }
    return errors.sort((a, b) => a - b)[errors.length >> 1] ?? 0;
  }

  /** Sums over the pairs of distorted frames [first, end), which all have partners. */
  #sums(offset: number, first: number, end: number): Readonly<Record<PairKind, Sums>> {
    const [pictures, changes] = [emptySums(), emptySums()];
    let [before, last] = [0, 0];
    for (let i = first; i < end; i++) {
      const j = this.partner(i, offset);
      const [x, y] = [this.#reference[j]!, this.#distorted[i]!];
      const xy = this.#product(i, j);
      add(pictures, x.samples.length, x.sum, y.sum, x.squares, y.squares, xy);
      if (i > first) {
        const [x0, y0] = [this.#reference[before]!, this.#distorted[i - 1]!];
        const xx = this.#change(this.#changes.reference, this.#reference, j, before);
        const yy = this.#change(this.#changes.distorted, this.#distorted, i, i - 1);
        const crossed = this.#product(i, before) + this.#product(i - 1, j);
        add(changes, x.samples.length, x.sum - x0.sum, y.sum - y0.sum, xx, yy, xy + last - crossed);
      }
      [before, last] = [j, xy];
    }
    return { pictures, changes };
  }

  #product(i: number, j: number): number {
    const apart = j - this.partner(i, 0);
    const at = apart < 0 ? -2 * apart - 1 : 2 * apart;
    const row = rowWith(this.#products, i, at);
    if (Number.isNaN(row[at]!)) row[at] = dot(this.#reference[j]!.samples, this.#distorted[i]!.samples);
    return row[at]!;
  }

  /** Squared distance of a frame from an earlier one of the same video. */
  #change(known: Float64Array[], frames: readonly Thumb[], frame: number, before: number): number {
    const at = frame - before;
    const row = rowWith(known, frame, at);
    if (Number.isNaN(row[at]!)) row[at] = squaredDistance(frames[before]!.samples, frames[frame]!.samples);
    return row[at]!;
  }
}

/** Raises `reach` to the change from `x` to `other` where that is larger. */
function widen(reach: Float32Array, x: Float32Array, other: Float32Array): void {
  for (let k = 0; k < x.length; k++) {
    const change = Math.abs(other[k]! - x[k]!);
    if (change > reach[k]!) reach[k] = change;
  }
}

/** A row of a lazily computed table (NaN: not computed yet), grown to hold column `at`. */
function rowWith(rows: Float64Array[], row: number, at: number): Float64Array {
  const known = rows[row];
  if (known && at < known.length) return known;
  const larger = new Float64Array(Math.max(at + 1, 2 * (known?.length ?? 1))).fill(Number.NaN);
  if (known) larger.set(known);
  rows[row] = larger;
  return larger;
}

/** Log likelihood ratio of two offsets whose residuals differ by a factor of e^difference. */
function worth({ observations, disregarded }: Weighing, pairs: number, difference: number): number {
  const noticed = Math.sign(difference) * Math.max(0, Math.abs(difference) - disregarded);
  return 0.5 * observations * pairs * noticed;
}

function add(sums: Sums, samples: number, x: number, y: number, xx: number, yy: number, xy: number): void {
  sums.samples += samples;
  sums.x += x;
  sums.y += y;
  sums.xx += xx;
  sums.yy += yy;
  sums.xy += xy;
}

function emptySums(): Sums {
  return { samples: 0, x: 0, y: 0, xx: 0, yy: 0, xy: 0 };
}

function correlation({ error, variance }: Fit): number {
  return variance > FLOOR ? Math.sqrt(Math.max(0, 1 - error / variance)) : 0;
}

function blocksMoved(a: Thumb, b: Thumb): number {
  return blockChange(a.samples, b.samples, BLOCKS);
}

function meanSquare(a: Thumb, b: Thumb): number {
  return squaredDistance(a.samples, b.samples) / a.samples.length;
}
