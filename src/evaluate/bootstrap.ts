/**
 * @module evaluate/bootstrap
 * Percentile bootstrap intervals: what the figures would be had other clips been drawn. Units that belong together, the
 * frames of a clip or of a source, are drawn together.
 */
import { percentile } from '../core/percentile.js';
import { concordanceOf } from './concordance.js';
import { correlationOf, mean, type Sample, type Units } from './correlation.js';

/** Lower and upper end. */
export type Interval = readonly [number, number];

/** `null` where a figure has none: see {@link bootstrap}. */
export interface Intervals {
  readonly plcc: Interval | null;
  readonly srocc: Interval | null;
  readonly krocc: Interval | null;
  readonly rmse: Interval | null;
}

/** How to draw. */
export interface BootstrapOptions {
  /** How often, at least 1. */
  readonly resamples: number;
  /** 32 bits; the same seed gives the same intervals everywhere. */
  readonly seed: number;
  /** Part of the resamples inside an interval, 0.95. */
  readonly level: number;
}

/** Of a sum of squares: below this part it is what rounding left of nothing. */
const NOTHING = 1e-12;

/** Figures of one draw; NaN where one is not defined. */
export interface DrawnFigures {
  readonly plcc: number;
  readonly srocc: number;
  readonly krocc: number;
  readonly rmse: number;
}

/**
 * Draws as many units as there are, with replacement, again and again, and takes the ends of the middle of what each
 * figure was.
 *
 * A draw in which a figure is not defined, because one side is constant in it, does not count for it; a figure has no
 * interval when most draws are such.
 */
export function bootstrap(sample: Sample, units: Units, options: BootstrapOptions): Intervals {
  const { resamples, seed, level } = options;
  const figures = figuresOfDraws(sample, units);
  const draw = drawer(units.count, seed);
  const drawn = Array.from({ length: resamples }, () => figures(draw()));
  const ends = (name: keyof DrawnFigures): Interval | null => {
    const values = Float64Array.from(drawn, (one) => one[name]);
    const defined = values.filter((value) => !Number.isNaN(value)).sort();
    if (defined.length * 2 <= resamples) return null;
    const tail = ((1 - level) / 2) * 100;
    return [percentile(defined, tail), percentile(defined, 100 - tail)];
  };
  return { plcc: ends('plcc'), srocc: ends('srocc'), krocc: ends('krocc'), rmse: ends('rmse') };
}

/**
 * From how often each unit is drawn to the figures of the draw. All are those of the repeated rows, to rounding, but for
 * Kendall's tau-b of many units: there it is followed to first order, see `concordance`.
 */
export function figuresOfDraws(sample: Sample, units: Units): (weights: Uint16Array) => DrawnFigures {
  const linear = new LinearFigures(sample, units);
  const ranked = new RankFigure(sample, units);
  const tau = concordanceOf(sample, units);
  return (weights) => ({ ...linear.of(weights), srocc: ranked.of(weights), krocc: tau(weights) });
}

/** How often each unit is drawn, anew with every call, by Mulberry32 (Tommy Ettinger, public domain). */
function drawer(count: number, seed: number): () => Uint16Array {
  const weights = new Uint16Array(count);
  let state = seed >>> 0;
  return () => {
    weights.fill(0);
    for (let i = 0; i < count; i++) {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      const unit = Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * count);
      weights[unit] = (weights[unit] ?? 0) + 1;
    }
    return weights;
  };
}

/** Sums per unit: rows, predictions, targets, their squares and product, squared errors. */
const SUMS = 7;

/** PLCC and RMSE, which follow from sums over units. */
class LinearFigures {
  readonly #sums: Float64Array;

  constructor({ prediction, target }: Sample, units: Units) {
    const sums = new Float64Array(units.count * SUMS);
    // About their means, so that sums of squares do not cancel.
    const xMean = mean(prediction);
    const yMean = mean(target);
    for (let i = 0; i < prediction.length; i++) {
      const x = (prediction[i] ?? 0) - xMean;
      const y = (target[i] ?? 0) - yMean;
      const error = (prediction[i] ?? 0) - (target[i] ?? 0);
      const at = (units.of[i] ?? 0) * SUMS;
      sums[at] = (sums[at] ?? 0) + 1;
      sums[at + 1] = (sums[at + 1] ?? 0) + x;
      sums[at + 2] = (sums[at + 2] ?? 0) + y;
      sums[at + 3] = (sums[at + 3] ?? 0) + x * x;
      sums[at + 4] = (sums[at + 4] ?? 0) + y * y;
      sums[at + 5] = (sums[at + 5] ?? 0) + x * y;
      sums[at + 6] = (sums[at + 6] ?? 0) + error * error;
    }
    this.#sums = sums;
  }

  of(weights: Uint16Array): { readonly plcc: number; readonly rmse: number } {
    const sums = this.#sums;
    let n = 0;
    let x = 0;
    let y = 0;
    let xx = 0;
    let yy = 0;
    let xy = 0;
    let errors = 0;
    for (let unit = 0, at = 0; unit < weights.length; unit++, at += SUMS) {
      const weight = weights[unit] ?? 0;
      if (weight === 0) continue;
      n += weight * (sums[at] ?? 0);
      x += weight * (sums[at + 1] ?? 0);
      y += weight * (sums[at + 2] ?? 0);
      xx += weight * (sums[at + 3] ?? 0);
      yy += weight * (sums[at + 4] ?? 0);
      xy += weight * (sums[at + 5] ?? 0);
      errors += weight * (sums[at + 6] ?? 0);
    }
    const xVariance = xx - (x * x) / n;
    const yVariance = yy - (y * y) / n;
    const constant = xVariance <= NOTHING * xx || yVariance <= NOTHING * yy;
    return {
      plcc: constant ? Number.NaN : correlationOf(xy - (x * y) / n, xVariance, yVariance),
      rmse: Math.sqrt(errors / n),
    };
  }
}

/** SROCC: average ranks of a draw follow from the orders of the whole sample, in one pass over each. */
class RankFigure {
  readonly #x: { readonly unit: Uint32Array; readonly starts: Uint32Array };
  readonly #y: { readonly unit: Uint32Array; readonly starts: Uint32Array };
  /** Groups of x of the rows in order of y. */
  readonly #xGroups: Uint32Array;
  /** Centred rank of each group of x, of the draw at hand. */
  readonly #ranks: Float64Array;

  constructor({ predictionRanking, targetRanking }: Sample, units: Units) {
    const inOrder = (order: Uint32Array, of: Uint32Array) => Uint32Array.from(order, (row) => of[row] ?? 0);
    this.#x = {
      unit: inOrder(predictionRanking.order, units.of),
      starts: predictionRanking.starts,
    };
    this.#y = { unit: inOrder(targetRanking.order, units.of), starts: targetRanking.starts };
    this.#xGroups = inOrder(targetRanking.order, predictionRanking.group);
    this.#ranks = new Float64Array(predictionRanking.starts.length - 1);
  }

  of(weights: Uint16Array): number {
    const ranks = this.#ranks;
    let { unit, starts } = this.#x;
    let total = 0;
    for (let t = 0; t < unit.length; t++) total += weights[unit[t] ?? 0] ?? 0;
    let below = 0;
    let xx = 0;
    for (let g = 0, t = 0; g < ranks.length; g++) {
      const end = starts[g + 1] ?? 0;
      let equal = 0;
      for (; t < end; t++) equal += weights[unit[t] ?? 0] ?? 0;
      // The mean of the places below+1 ... below+equal, less that of all places.
      const rank = below + (equal - total) / 2;
      ranks[g] = rank;
      xx += equal * rank * rank;
      below += equal;
    }
    ({ unit, starts } = this.#y);
    below = 0;
    let yy = 0;
    let xy = 0;
    for (let g = 0, t = 0; g + 1 < starts.length; g++) {
      const end = starts[g + 1] ?? 0;
      let equal = 0;
      let sum = 0;
      for (; t < end; t++) {
        const weight = weights[unit[t] ?? 0] ?? 0;
        equal += weight;
        sum += weight * (ranks[this.#xGroups[t] ?? 0] ?? 0);
      }
      const rank = below + (equal - total) / 2;
      yy += equal * rank * rank;
      xy += rank * sum;
      below += equal;
    }
    // Halves of whole numbers: nothing is lost, and a constant side gives 0 exactly.
    return xx === 0 || yy === 0 ? Number.NaN : correlationOf(xy, xx, yy);
  }
}
