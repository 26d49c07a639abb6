/**
 * @module engine/sampling/interval
 * How far pooled values of drawn runs may lie from those of the whole video: a bootstrap over runs within each part of the
 * video, and Student's t for the few runs that there are.
 */
import { percentile } from '../../core/percentile.js';
import { mulberry } from './choose.js';

/** Where a pooled value of the whole video lies with {@link LEVEL} confidence. */
export interface SampledInterval {
  /** `mean`, `p1`, `p5`, `p10` or `p50`. */
  readonly statistic: string;
  readonly low: number;
  readonly high: number;
}

export const LEVEL = 0.95;

/** 97.5 % of the standard normal distribution lie below. */
const Z = 1.959964;

const DRAWS = 1000;
const PERCENTILES = [1, 5, 10, 50] as const;

/** Fewest degrees of freedom: with fewer the expansion below no longer holds. */
const FEWEST = 2.5;

/**
 * @param runs values of one metric in each run, all of one length; runs 2k and 2k + 1 are of one part of the video
 * @param share of the video that was drawn
 */
export function intervalsOf(runs: readonly Float64Array[], share: number, seed: number): SampledInterval[] {
  const means = runs.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
  const parts = runs.length / 2;
  const variances = Array.from(
    { length: parts },
    (_, part) => ((means[2 * part] ?? 0) - (means[2 * part + 1] ?? 0)) ** 2,
  );
  const t = student(freedom(variances));
  // Drawing both of two anew halves their variance; what was drawn of the video is certain.
  const scale = Math.sqrt(2 * Math.max(0, 1 - share));
  const counts = new Float64Array(runs.length);
  const sorted = sortedRuns(runs);
  const statistics = () => [
    counts.reduce((sum, count, i) => sum + count * (means[i] ?? 0), 0) / runs.length,
    ...weightedPercentiles(sorted, counts),
  ];
  counts.fill(1);
  const found = statistics();
  const squares = found.map(() => 0);
  const random = mulberry(seed);
  for (let draw = 0; draw < DRAWS; draw++) {
    counts.fill(0);
    for (let run = 0; run < runs.length; run++) {
      const other = 2 * (run >> 1) + (random() < 0.5 ? 0 : 1);
      counts[other] = (counts[other] ?? 0) + 1;
    }
    for (const [i, value] of statistics().entries()) {
      squares[i] = (squares[i] ?? 0) + (value - (found[i] ?? 0)) ** 2;
    }
  }
  return found.map((value, i) => {
    const half = t * scale * Math.sqrt((squares[i] ?? 0) / DRAWS);
    const statistic = i === 0 ? 'mean' : `p${PERCENTILES[i - 1]}`;
    return { statistic, low: value - half, high: value + half };
  });
}

/** Degrees of freedom of a sum of variances of pairs, fewer where some parts vary more than others (Satterthwaite). */
function freedom(variances: readonly number[]): number {
  const sum = variances.reduce((a, b) => a + b, 0);
  const squares = variances.reduce((a, b) => a + b * b, 0);
  if (squares === 0) return variances.length;
  return Math.max(FEWEST, Math.min(variances.length, (3 * sum * sum) / squares - 2));
}

/** The 97.5 % quantile of Student's t, by its expansion around the normal one. */
function student(freedom: number): number {
  const [z2, d] = [Z * Z, freedom];
  return (
    Z *
    (1 +
      (z2 + 1) / (4 * d) +
      (5 * z2 * z2 + 16 * z2 + 3) / (96 * d * d) +
      (3 * z2 ** 3 + 19 * z2 * z2 + 17 * z2 - 15) / (384 * d ** 3))
  );
}

/** All values ascending, each with its run. */
interface SortedRuns {
  readonly values: Float64Array;
  readonly runs: Uint32Array;
}

function sortedRuns(runs: readonly Float64Array[]): SortedRuns {
  const all = runs.flatMap((values, run) => Array.from(values, (value) => ({ value, run })));
  all.sort((a, b) => a.value - b.value);
  return {
    values: Float64Array.from(all, ({ value }) => value),
    runs: Uint32Array.from(all, ({ run }) => run),
  };
}

/** Percentiles of values, those of each run taken several times. */
function weightedPercentiles({ values, runs }: SortedRuns, counts: Float64Array): number[] {
  const taken = new Float64Array(values.length);
  let length = 0;
  for (let i = 0; i < values.length; i++) {
    for (let n = counts[runs[i] ?? 0] ?? 0; n > 0; n--) taken[length++] = values[i] ?? Number.NaN;
  }
  const drawn = taken.subarray(0, length);
  return PERCENTILES.map((percent) => percentile(drawn, percent));
}
