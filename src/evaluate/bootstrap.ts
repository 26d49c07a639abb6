/**
 * @module evaluate/bootstrap
 * Percentile bootstrap confidence intervals. Resampling draws whole units (all frames of a clip or source), because
 * frames of one unit are not independent.
 *
 * Kendall's tau-b of a sample with weighted units follows from quadratic forms in the weights. Let s(i, j) be the
 * product of the signs of both differences, and u(i, j) 1 if the values of a side differ, else 0. Then
 * tau-b = S / sqrt(X Y), where S is half the sum of w_i w_j s(i, j) over all ordered pairs of rows, and X and Y are the
 * same sums with u of either side.
 */
import { mean, percentile } from '../core/numbers.js';
import { mulberry } from '../core/sampling.js';
import {
  balance,
  CountTree,
  concordanceOfRows,
  correlationOf,
  endOfGroup,
  type Ranking,
  type Sample,
  tauOf,
  type Units,
  untiedOfRows,
} from './correlation.js';

/** Lower and upper bound. */
export type Interval = readonly [number, number];

/** `null` for a figure without an interval: see {@link bootstrap}. */
export interface Intervals {
  readonly plcc: Interval | null;
  readonly srocc: Interval | null;
  readonly krocc: Interval | null;
  readonly rmse: Interval | null;
}

export interface BootstrapOptions {
  /** Number of draws, at least 1. */
  readonly resamples: number;
  /** 32 bits. The same seed gives the same intervals on every machine. */
  readonly seed: number;
  /** Confidence level, for example 0.95. */
  readonly level: number;
}

/** A variance below this fraction of the sum of squares is rounding error: the side is constant. */
const ROUNDING = 1e-12;
/** Scales on which to shift intervals. Their ends are infinite, so perfect figures stay perfect. */
const FISHER = { to: Math.atanh, from: Math.tanh } as const;
const LOGARITHM = { to: Math.log, from: Math.exp } as const;

/** Figures of one draw; NaN if undefined. */
export type DrawnFigures = Readonly<Record<keyof Intervals, number>>;

/**
 * Resamples the units with replacement and returns central percentiles of each figure. A unit that is drawn twice is
 * paired with itself, which shifts the figures of draws: their median is not the sample's figure, which may even be
 * beyond most draws. The percentiles are corrected by that difference, on scales on which figures spread evenly:
 * Fisher's z of correlations, the logarithm of RMSE. Draws with a constant side leave a figure undefined and are ignored
 * for it; if these are half of the draws or more, the figure has no interval.
 */
export function bootstrap(sample: Sample, units: Units, options: BootstrapOptions): Intervals {
  const { resamples, seed, level } = options;
  const figures = figuresOfDraws(sample, units);
  const sampled = figures(new Uint16Array(units.count).fill(1));
  const draw = drawer(units.count, seed);
  const drawn = Array.from({ length: resamples }, () => figures(draw()));
  const ends = (name: keyof DrawnFigures): Interval | null => {
    const values = Float64Array.from(drawn, (draw) => draw[name]);
    const defined = values.filter((value) => !Number.isNaN(value)).sort();
    if (defined.length * 2 <= resamples) return null;
    const tail = ((1 - level) / 2) * 100;
    const { to, from } = name === 'rmse' ? LOGARITHM : FISHER;
    const moved = to(sampled[name]) - to(percentile(defined, 50));
    const end = (q: number) => from(to(percentile(defined, q)) + (Number.isFinite(moved) ? moved : 0));
    return [end(tail), end(100 - tail)];
  };
  return { plcc: ends('plcc'), srocc: ends('srocc'), krocc: ends('krocc'), rmse: ends('rmse') };
}

/**
 * Returns a function from the draws of each unit to the figures of that draw. They equal those of the repeated rows up
 * to rounding, except Kendall's tau-b of many units, which {@link concordanceOf} approximates to first order.
 */
export function figuresOfDraws(sample: Sample, units: Units): (weights: Uint16Array) => DrawnFigures {
  const linear = linearFigures(sample, units);
  const srocc = rankFigure(sample, units);
  const tau = concordanceOf(sample, units);
  return (weights) => ({ ...linear(weights), srocc: srocc(weights), krocc: tau(weights) });
}

/** Each call returns how often each unit is drawn. */
function drawer(count: number, seed: number): () => Uint16Array {
  const weights = new Uint16Array(count);
  const random = mulberry(seed);
  return () => {
    weights.fill(0);
    for (let i = 0; i < count; i++) weights[Math.floor(random() * count)]!++;
    return weights;
  };
}

/** Sums per unit: rows, predictions, targets, their squares and product, squared errors. */
const SUMS = 7;

/** PLCC and RMSE, computed from sums per unit. */
function linearFigures({ prediction, target }: Sample, units: Units) {
  const sums = new Float64Array(units.count * SUMS);
  // Centred on the means, so that sums of squares do not cancel.
  const xMean = mean(prediction);
  const yMean = mean(target);
  for (let i = 0; i < prediction.length; i++) {
    const x = prediction[i]! - xMean;
    const y = target[i]! - yMean;
    const error = prediction[i]! - target[i]!;
    const row = [1, x, y, x * x, y * y, x * y, error * error];
    for (let k = 0; k < SUMS; k++) sums[units.of[i]! * SUMS + k]! += row[k]!;
  }
  return (weights: Uint16Array) => {
    let [n, x, y, xx, yy, xy, errors] = [0, 0, 0, 0, 0, 0, 0];
    for (let unit = 0, at = 0; unit < weights.length; unit++, at += SUMS) {
      const weight = weights[unit]!;
      if (weight === 0) continue;
      n += weight * sums[at]!;
      x += weight * sums[at + 1]!;
      y += weight * sums[at + 2]!;
      xx += weight * sums[at + 3]!;
      yy += weight * sums[at + 4]!;
      xy += weight * sums[at + 5]!;
      errors += weight * sums[at + 6]!;
    }
    const xVariance = xx - (x * x) / n;
    const yVariance = yy - (y * y) / n;
    const constant = xVariance <= ROUNDING * xx || yVariance <= ROUNDING * yy;
    return {
      plcc: constant ? Number.NaN : correlationOf(xy - (x * y) / n, xVariance, yVariance),
      rmse: Math.sqrt(errors / n),
    };
  };
}

/** SROCC: one pass over the sorted sample gives the average ranks of a draw. */
function rankFigure({ predictionRanking, targetRanking }: Sample, units: Units) {
  const inOrder = (order: Uint32Array, of: Uint32Array) => Uint32Array.from(order, (row) => of[row]!);
  const x = { unit: inOrder(predictionRanking.order, units.of), starts: predictionRanking.starts };
  const y = { unit: inOrder(targetRanking.order, units.of), starts: targetRanking.starts };
  /** The group in x of each row, in order of y. */
  const xGroups = inOrder(targetRanking.order, predictionRanking.group);
  /** Centred rank of each group of x in the current draw. */
  const ranks = new Float64Array(predictionRanking.starts.length - 1);

  return (weights: Uint16Array): number => {
    let { unit, starts } = x;
    let total = 0;
    for (let t = 0; t < unit.length; t++) total += weights[unit[t]!]!;
    let [below, xx, yy, xy] = [0, 0, 0, 0];
    for (let g = 0, t = 0; g < ranks.length; g++) {
      const end = starts[g + 1]!;
      let equal = 0;
      for (; t < end; t++) equal += weights[unit[t]!]!;
      // The mean of ranks below+1 ... below+equal, minus the mean of all ranks.
      const rank = below + (equal - total) / 2;
      ranks[g] = rank;
      xx += equal * rank * rank;
      below += equal;
    }
    ({ unit, starts } = y);
    below = 0;
    for (let g = 0, t = 0; g + 1 < starts.length; g++) {
      const end = starts[g + 1]!;
      let equal = 0;
      let sum = 0;
      for (; t < end; t++) {
        const weight = weights[unit[t]!]!;
        equal += weight;
        sum += weight * ranks[xGroups[t]!]!;
      }
      const rank = below + (equal - total) / 2;
      yy += equal * rank * rank;
      xy += rank * sum;
      below += equal;
    }
    // Multiples of 1/2 are exact, so a constant side gives exactly 0.
    return xx === 0 || yy === 0 ? Number.NaN : correlationOf(xy, xx, yy);
  };
}

/** Most steps to fill the table of unit pairs: a fraction of a second. */
const TABLE_STEPS = 2e7;
/** Most units with which every draw sums over all pairs. */
const TABLE_UNITS = 200;

/** Maps the weight of each unit to tau-b; NaN if undefined. */
type Concordance = (weights: Uint16Array) => number;

/** Exact if a table of all pairs of units is affordable; else linearises the quadratic form at weights of 1. */
function concordanceOf(sample: Sample, units: Units): Concordance {
  const rows = sample.prediction.length;
  const affordable = units.count <= TABLE_UNITS && units.count * rows * Math.log2(rows + 1) <= TABLE_STEPS;
  return affordable ? exact(sample, units) : firstOrder(sample, units);
}

function exact({ predictionRanking, targetRanking }: Sample, units: Units): Concordance {
  const concordant = concordanceTable(predictionRanking, targetRanking, units);
  const untiedX = untiedTable(predictionRanking, units);
  const untiedY = untiedTable(targetRanking, units);
  const { count } = units;
  return (weights) => {
    let [s, x, y] = [0, 0, 0];
    for (let a = 0; a < count; a++) {
      const weight = weights[a]!;
      if (weight === 0) continue;
      for (let b = 0, at = a * count; b < count; b++, at++) {
        const both = weight * weights[b]!;
        s += both * concordant[at]!;
        x += both * untiedX[at]!;
        y += both * untiedY[at]!;
      }
    }
    return tauOf(s, x, y);
  };
}

/** First-order approximation f(w) = f(1) + gradient (w - 1), from sums per unit. */
function firstOrder({ predictionRanking, targetRanking }: Sample, units: Units): Concordance {
  const perUnit = (rows: Float64Array): Float64Array => {
    const sums = new Float64Array(units.count);
    for (let i = 0; i < rows.length; i++) {
      const unit = units.of[i]!;
      sums[unit]! += rows[i]!;
    }
    return sums;
  };
  const s = perUnit(concordanceOfRows(predictionRanking, targetRanking));
  const x = perUnit(untiedOfRows(predictionRanking));
  const y = perUnit(untiedOfRows(targetRanking));
  const form = (weights: Uint16Array, sums: Float64Array): number => {
    let total = 0;
    for (let unit = 0; unit < sums.length; unit++) total += (2 * weights[unit]! - 1) * sums[unit]!;
    return total;
  };
  return (weights) => tauOf(form(weights, s), form(weights, x), form(weights, y));
}

/** Sums of s over the row pairs of two units, in both orders; row-major. */
function concordanceTable(x: Ranking, y: Ranking, { count, of }: Units): Float64Array {
  const byX = x.order;
  // Sums signs of y over pairs whose first row is above in x. The other half is this table transposed.
  const above = new Float64Array(count * count);
  const place = new Uint32Array(byX.length);
  for (let b = 0; b < count; b++) {
    const size = placesAmong(b, y, of, place);
    const tree = new CountTree(size);
    let start = 0;
    while (start < byX.length) {
      const end = endOfGroup(x, byX, start);
      for (let t = start; t < end; t++) {
        const row = byX[t]!;
        const at = of[row]! * count + b;
        above[at]! += balance(tree, place[row]!);
      }
      for (let t = start; t < end; t++) {
        const row = byX[t]!;
        if (of[row] === b) tree.add(place[row]! >> 1);
      }
      start = end;
    }
  }
  const transposed = (at: number) => above[(at % count) * count + Math.floor(at / count)]!;
  return Float64Array.from(above, (value, at) => value + transposed(at));
}

/**
 * Ranks each row's y among the distinct values of y in one unit: 2k if equal to value k, 2k - 1 if between values k - 1
 * and k.
 * @param place receives the ranks
 * @returns the number of distinct values in the unit
 */
function placesAmong(unit: number, y: Ranking, of: Uint32Array, place: Uint32Array): number {
  const { order, starts } = y;
  let known = 0;
  for (let g = 0; g + 1 < starts.length; g++) {
    const start = starts[g]!;
    const end = starts[g + 1]!;
    let isMember = false;
    for (let t = start; t < end; t++) if (of[order[t]!] === unit) isMember = true;
    const value = isMember ? 2 * known : 2 * known - 1;
    for (let t = start; t < end; t++) place[order[t]!] = value;
    if (isMember) known++;
  }
  return known;
}

/** The number of differing row pairs of two units; row-major. */
function untiedTable({ order, starts }: Ranking, { count, of }: Units): Float64Array {
  const table = new Float64Array(count * count);
  const sizes = new Float64Array(count);
  for (const unit of of) sizes[unit]!++;
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < count; b++) table[a * count + b] = sizes[a]! * sizes[b]!;
  }
  for (let g = 0; g + 1 < starts.length; g++) {
    const members = new Map<number, number>();
    for (let t = starts[g]!; t < starts[g + 1]!; t++) {
      const unit = of[order[t]!]!;
      members.set(unit, (members.get(unit) ?? 0) + 1);
    }
    for (const [a, rowsOfA] of members) {
      for (const [b, rowsOfB] of members) {
        const at = a * count + b;
        table[at]! -= rowsOfA * rowsOfB;
      }
    }
  }
  return table;
}
