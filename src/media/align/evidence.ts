/**
 * @module media/align/evidence
 * How much better one offset explains the thumbnails of two videos than another.
 *
 * Residuals of three things are compared, each after the one gain and bias that fit best over all pairs, so that fades
 * and flashes count but a constant change of brightness, contrast or range does not:
 * the pictures; their changes from frame to frame, where what never moves (bars, logos, a crop, a tone curve) drops
 * out; and each frame's mean, which survives compression that smears all detail.
 */

/** What a difference between two residuals is worth. Chosen on encodes, see docs/alignment.md. */
const WEIGHING = {
  pictures: { observations: 2, disregarded: 0.12 },
  changes: { observations: 2, disregarded: 0.12 },
  means: { observations: 1, disregarded: 0.2 },
} as const satisfies Record<PairKind, Weighing>;

interface Weighing {
  /** Independent observations that a pair counts as: its samples vary together, in space and in time. */
  readonly observations: number;
  /**
   * Part of the logarithm of two residuals that says nothing: strong compression repeats old pictures and so makes an
   * encode resemble frames that have passed.
   */
  readonly disregarded: number;
}

/** Variance in squared 8-bit levels below which residuals are rounding. */
const FLOOR = 0.02 ** 2;

/** Frames by which an encoder or a tone curve seems to shift a fade: nearer offsets are not told apart by means. */
const MEANS_LAG = 2;

/** Samples across the blocks in which motion is told from noise. */
const BLOCK = 8;

/** Pairs that two offsets must have in common to be compared over these. */
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

/** A straight line through samples. */
interface Fit {
  readonly gain: number;
  /** Means of x and y; 0 where the line goes through the origin. */
  readonly mx: number;
  readonly my: number;
  /** Mean squared residual. */
  readonly error: number;
  /** Mean squared deviation of y without any x. */
  readonly variance: number;
}

/** y = gain * x + bias by least squares; a picture and its negative do not match, so the gain is never below 0. */
function bestLine({ samples, x, y, xx, yy, xy }: Sums, centred: boolean): Fit {
  if (samples === 0) return { gain: 0, mx: 0, my: 0, error: 0, variance: 0 };
  const [mx, my] = centred ? [x / samples, y / samples] : [0, 0];
  const vx = Math.max(0, xx / samples - mx * mx);
  const variance = Math.max(0, yy / samples - my * my);
  const gain = vx > 1e-9 ? Math.max(0, (xy / samples - mx * my) / vx) : 0;
  return { gain, mx, my, error: Math.max(0, variance - gain * gain * vx), variance };
}

/** How well an offset fits. */
export interface Fitness {
  /** Pairs it is based on. */
  readonly pairs: number;
  /** Correlation of the pictures, 0..1. */
  readonly similarity: number;
  /** Correlation of the changes from frame to frame, 0..1. */
  readonly changes: number;
  /** Ratio of the standard deviations, distorted over reference. */
  readonly gain: number;
  /** What is left of the distorted mean after the gain, in 8-bit levels. */
  readonly bias: number;
  /** Goodness by which offsets with different pairs may be ranked roughly. */
  readonly rank: number;
}

/** A thumbnail with its sums. */
interface Thumb {
  readonly samples: Float32Array;
  readonly sum: number;
  readonly squares: number;
}

function dot(a: Float32Array, b: Float32Array): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  const n = a.length;
  let k = 0;
  for (; k + 3 < n; k += 4) {
    s0 += (a[k] ?? 0) * (b[k] ?? 0);
    s1 += (a[k + 1] ?? 0) * (b[k + 1] ?? 0);
    s2 += (a[k + 2] ?? 0) * (b[k + 2] ?? 0);
    s3 += (a[k + 3] ?? 0) * (b[k + 3] ?? 0);
  }
  for (; k < n; k++) s0 += (a[k] ?? 0) * (b[k] ?? 0);
  return s0 + s1 + s2 + s3;
}

function thumb(samples: Float32Array): Thumb {
  let sum = 0;
  for (const value of samples) sum += value;
  return { samples, sum, squares: dot(samples, samples) };
}

/** The thumbnails read so far and everything that can be said about an offset from them. */
export class Evidence {
  readonly #reference: Thumb[] = [];
  readonly #distorted: Thumb[] = [];
  /** Products of distorted frame i with reference frames, by the reference frame's number; filled when needed. */
  readonly #products: Map<number, number>[] = [];
  readonly #ratio: number;

  readonly #width: number;

  /**
   * @param ratio reference frames per distorted frame
   * @param width of the thumbnails
   */
  constructor(ratio: number, width: number) {
    this.#ratio = ratio;
    this.#width = width;
  }

  /** Frames of each that were added. */
  get frames(): { readonly reference: number; readonly distorted: number } {
    return { reference: this.#reference.length, distorted: this.#distorted.length };
  }

  /** Adds the next frame of a video. */
  add(side: 'reference' | 'distorted', samples: Float32Array): void {
    if (side === 'reference') {
      this.#reference.push(thumb(samples));
    } else {
      this.#distorted.push(thumb(samples));
      this.#products.push(new Map());
    }
  }

  /** Distorted frames [first, end) whose partner at this offset was read. */
  range(offset: number): readonly [first: number, end: number] {
    const { reference, distorted } = this.frames;
    let first = Math.max(0, Math.floor(-offset / this.#ratio) - 1);
    while (first < distorted && this.partner(first, offset) < 0) first++;
    let end = distorted;
    while (end > first && this.partner(end - 1, offset) >= reference) end--;
    return [first, end];
  }

  /** The reference frame that goes with a distorted one. */
  partner(distorted: number, offset: number): number {
    return Math.round(distorted * this.#ratio) + offset;
  }

  /** How well an offset fits over all its pairs. */
  fitness(offset: number): Fitness {
    const [first, end] = this.range(offset);
    const { pictures, changes } = this.#sums(offset, first, end);
    const still = bestLine(pictures, true);
    const moving = bestLine(changes, false);
    const relative = ({ error, variance }: Fit) => (error + FLOOR) / (variance + FLOOR);
    const similarity = correlation(still);
    // The slope of least squares is low by the correlation; the ratio of the deviations is not.
    const gain = similarity > 0 ? still.gain / similarity : 0;
    return {
      pairs: end - first,
      similarity,
      changes: correlation(moving),
      gain,
      bias: still.my - gain * still.mx,
      rank: -Math.log(relative(still)) - Math.log(relative(moving)),
    };
  }

  /**
   * By how much the pairs that both offsets have speak for `offset` against `other`: a logarithm of likelihoods,
   * 0 where they do not tell.
   */
  favours(offset: number, other: number): number {
    const [a, b] = [this.range(offset), this.range(other)];
    const first = Math.max(a[0], b[0]);
    const end = Math.min(a[1], b[1]);
    const pairs = end - first;
    if (pairs < COMMON_PAIRS) {
      const [mine, theirs] = [this.fitness(offset), this.fitness(other)];
      return worth(WEIGHING.pictures, Math.min(mine.pairs, theirs.pairs), mine.rank - theirs.rank);
    }
    const mine = this.#sums(offset, first, end);
    const theirs = this.#sums(other, first, end);
    const independent = Math.min(independentMeans(mine), independentMeans(theirs));
    const gain = (kind: PairKind) => {
      const centred = kind !== 'changes';
      const ratio =
        (bestLine(theirs[kind], centred).error + FLOOR) / (bestLine(mine[kind], centred).error + FLOOR);
      return worth(WEIGHING[kind], kind === 'means' ? independent : pairs, Math.log(ratio));
    };
    const means = Math.abs(offset - other) > MEANS_LAG ? gain('means') : 0;
    return gain('pictures') + gain('changes') + means;
  }

  /**
   * Frames that repeat the one before them while their partner differs from its own predecessor.
   * @param still mean squared change of samples, in squared levels, up to which a frame is a repetition
   * @param moves the same of averages over blocks of samples, which noise does not reach, from which the partner has
   * moved on
   */
  repeated(offset: number, still: number, moves: number): { reference: number; distorted: number } {
    const [first, end] = this.range(offset);
    const counts = { reference: 0, distorted: 0 };
    for (let i = first + 1; i < end; i++) {
      const [now, before] = [this.partner(i, offset), this.partner(i - 1, offset)];
      const [x, x0] = [this.#reference[now], this.#reference[before]];
      const [y, y0] = [this.#distorted[i], this.#distorted[i - 1]];
      if (now === before || !x || !x0 || !y || !y0) continue;
      if (meanSquare(y0, y) <= still && this.#blockChange(x0, x) >= moves) counts.distorted++;
      if (meanSquare(x0, x) <= still && this.#blockChange(y0, y) >= moves) counts.reference++;
    }
    return counts;
  }

  /** Mean squared change of block averages. */
  #blockChange(a: Thumb, b: Thumb): number {
    const across = Math.ceil(this.#width / BLOCK);
    const height = a.samples.length / this.#width;
    const sums = new Float64Array(across * Math.ceil(height / BLOCK));
    for (let k = 0; k < a.samples.length; k++) {
      const x = k % this.#width;
      const y = (k - x) / this.#width;
      const block = Math.floor(y / BLOCK) * across + Math.floor(x / BLOCK);
      sums[block] = (sums[block] ?? 0) + (b.samples[k] ?? 0) - (a.samples[k] ?? 0);
    }
    return sums.reduce((total, sum) => total + (sum / BLOCK ** 2) ** 2, 0) / sums.length;
  }

  /** Sums over the pairs of distorted frames [first, end): of the pictures, and of their changes within the range. */
  #sums(offset: number, first: number, end: number): PairSums {
    const pictures = emptySums();
    const changes = emptySums();
    const means = emptySums();
    const series: [number, number][] = [];
    let before: { i: number; j: number; x: Thumb; y: Thumb; xy: number } | undefined;
    for (let i = first; i < end; i++) {
      const j = this.partner(i, offset);
      const [x, y] = [this.#reference[j], this.#distorted[i]];
      if (!x || !y) continue;
      const xy = this.#product(i, j, x, y);
      const size = x.samples.length;
      accumulate(pictures, size, x.sum, y.sum, x.squares, y.squares, xy);
      const [mx, my] = [x.sum / size, y.sum / size];
      accumulate(means, 1, mx, my, mx * mx, my * my, mx * my);
      series.push([mx, my]);
      if (before) {
        const xx = this.#change('reference', before.j, j);
        const yy = this.#change('distorted', before.i, i);
        const crossed = this.#product(i, before.j, before.x, y) + this.#product(before.i, j, x, before.y);
        accumulate(
          changes,
          size,
          x.sum - before.x.sum,
          y.sum - before.y.sum,
          xx,
          yy,
          xy + before.xy - crossed,
        );
      }
      before = { i, j, x, y, xy };
    }
    return { pictures, changes, means, series };
  }

  #product(i: number, j: number, x: Thumb, y: Thumb): number {
    const row = this.#products[i];
    const known = row?.get(j);
    if (known !== undefined) return known;
    const value = dot(x.samples, y.samples);
    row?.set(j, value);
    return value;
  }

  readonly #changes = { reference: new Map<number, number>(), distorted: new Map<number, number>() };

  /** Squared change between two frames of one video, `b` being `a`'s successor among the pairs. */
  #change(side: 'reference' | 'distorted', a: number, b: number): number {
    const key = a * 65536 + b;
    const known = this.#changes[side].get(key);
    if (known !== undefined) return known;
    const frames = side === 'reference' ? this.#reference : this.#distorted;
    const [x, y] = [frames[a], frames[b]];
    const value = x && y ? squaredDistance(x, y) : 0;
    this.#changes[side].set(key, value);
    return value;
  }
}

/** What the pairs of an offset sum up to. */
interface PairSums {
  readonly pictures: Sums;
  readonly changes: Sums;
  readonly means: Sums;
  /** Each pair's means, reference and distorted. */
  readonly series: readonly (readonly [x: number, y: number])[];
}

type PairKind = 'pictures' | 'changes' | 'means';

/**
 * Independent observations among the means of all pairs: in a slow fade one error lasts many frames, and says no more
 * than once what it says.
 */
function independentMeans({ means, series }: PairSums): number {
  const { gain, mx, my } = bestLine(means, true);
  let [before, squares, products] = [0, 0, 0];
  for (const [x, y] of series) {
    const residual = y - my - gain * (x - mx);
    squares += residual * residual;
    products += residual * before;
    before = residual;
  }
  const correlated = squares > 0 ? Math.max(0, products / squares) : 0;
  return (series.length * (1 - correlated)) / (1 + correlated);
}

/** Logarithm of the likelihoods of two offsets whose residuals differ by a factor of e^difference. */
function worth({ observations, disregarded }: Weighing, pairs: number, difference: number): number {
  const noticed = Math.sign(difference) * Math.max(0, Math.abs(difference) - disregarded);
  return 0.5 * observations * pairs * noticed;
}

function accumulate(
  sums: Sums,
  samples: number,
  x: number,
  y: number,
  xx: number,
  yy: number,
  xy: number,
): void {
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

function squaredDistance(a: Thumb, b: Thumb): number {
  let sum = 0;
  for (let k = 0; k < a.samples.length; k++) {
    const difference = (a.samples[k] ?? 0) - (b.samples[k] ?? 0);
    sum += difference * difference;
  }
  return sum;
}

function meanSquare(a: Thumb, b: Thumb): number {
  return squaredDistance(a, b) / a.samples.length;
}
