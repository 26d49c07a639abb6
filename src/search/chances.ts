/**
 * @module search/chances
 * What a few measured points say of a whole curve: a Gaussian process whose mean is a falling line, and from it how
 * likely each value holds the target. The curves of encoders are rough, so that the roughness is inferred as well.
 */

/** A measured point of a curve. */
export interface CurveSample {
  /** Place on the grid. */
  readonly at: number;
  /** Height above the target. */
  readonly height: number;
}

/** What is expected of a curve before anything is measured; heights are in one unit, places in steps. */
export interface CurvePrior {
  /** Where it is expected to cross the target. */
  readonly crossing: number;
  /** How much a step is expected to cost. */
  readonly slope: number;
}

/** Standard deviations of the prior: of the crossing in steps of average slope, and of the slope relative to it. */
const CROSSING_SPREAD = 18;
const SLOPE_SPREAD = 0.65;
/** Bends: by how many units a curve leaves its line, and over how many units of fall it does so. */
const BEND = 2;
const BEND_LENGTH = 12;
/** How far values leave the smooth curve, in units, and how likely each is beforehand. */
const ROUGHNESS = [
  { noise: 0.06, weight: 0.45 },
  { noise: 0.22, weight: 0.4 },
  { noise: 0.8, weight: 0.15 },
] as const;
/** By what share of its height a point may be off: what is far from the target says little of the curve near it. */
const FAR_OFF = 0.1;
/** Points far from the target say nothing more about it. */
const MOST_POINTS = 12;

/**
 * How likely each of a grid's places holds the target.
 * @param points at least one, each place once
 * @param count places of the grid
 * @param from the first place that is asked for; those before it are left at 1
 * @returns probabilities from 0 to 1 by place; of measured ones what was measured
 */
export function chances(
  points: readonly CurveSample[],
  count: number,
  prior: CurvePrior,
  from = 0,
): Float64Array {
  const near = points.toSorted((a, b) => Math.abs(a.height) - Math.abs(b.height)).slice(0, MOST_POINTS);
  const kernel = kernelOf(prior);
  const meanAt = (at: number) => (prior.crossing - at) * prior.slope;
  const fits = ROUGHNESS.map(({ noise, weight }) => ({
    noise,
    ...explain(near, kernel, meanAt, noise, weight),
  }));
  const most = Math.max(...fits.map(({ evidence }) => evidence));
  const weights = fits.map(({ evidence }) => Math.exp(evidence - most));
  const all = weights.reduce((sum, one) => sum + one, 0);
  const out = new Float64Array(count).fill(1);
  for (let at = from; at < count; at++) {
    let chance = 0;
    for (const [i, { noise, predict }] of fits.entries()) {
      const { mean, variance } = predict(at);
      chance += ((weights[i] as number) / all) * normal(mean / Math.sqrt(variance + noise ** 2));
    }
    out[at] = chance;
  }
  for (const { at, height } of points) out[at] = height >= 0 ? 1 : 0;
  return out;
}

type Kernel = (a: number, b: number) => number;

function kernelOf({ crossing, slope }: CurvePrior): Kernel {
  const offset = (CROSSING_SPREAD * slope) ** 2;
  const tilt = (SLOPE_SPREAD * slope) ** 2;
  const length = BEND_LENGTH / slope;
  return (a, b) =>
    offset + tilt * (a - crossing) * (b - crossing) + BEND ** 2 * Math.exp(-0.5 * ((a - b) / length) ** 2);
}

/** A process that goes through points, and how well it explains them. */
function explain(
  points: readonly CurveSample[],
  kernel: Kernel,
  meanAt: (at: number) => number,
  noise: number,
  weight: number,
) {
  const factor = cholesky(
    points.map(({ at, height }, i) =>
      points.map((other, j) => kernel(at, other.at) + (i === j ? noise ** 2 + (height * FAR_OFF) ** 2 : 0)),
    ),
  );
  const rest = forward(
    factor,
    points.map(({ at, height }) => height - meanAt(at)),
  );
  const square = rest.reduce((sum, one) => sum + one * one, 0);
  const size = factor.reduce((sum, row, i) => sum + Math.log(row[i] as number), 0);
  const link = new Float64Array(points.length);
  const predict = (at: number) => {
    let [mean, variance] = [meanAt(at), kernel(at, at)];
    for (let i = 0; i < link.length; i++) {
      const row = factor[i] as number[];
      let sum = kernel(at, (points[i] as CurveSample).at);
      for (let k = 0; k < i; k++) sum -= (row[k] as number) * (link[k] as number);
      const one = sum / (row[i] as number);
      link[i] = one;
      mean += one * (rest[i] as number);
      variance -= one * one;
    }
    return { mean, variance: Math.max(0, variance) };
  };
  return { evidence: Math.log(weight) - square / 2 - size, predict };
}

/** Lower triangle of a symmetric positive matrix. */
function cholesky(matrix: readonly (readonly number[])[]): number[][] {
  const out: number[][] = [];
  matrix.forEach((row, i) => {
    const line: number[] = [];
    for (let j = 0; j <= i; j++) {
      const other = j === i ? line : (out[j] as number[]);
      let sum = row[j] as number;
      for (let k = 0; k < j; k++) sum -= (line[k] as number) * (other[k] as number);
      line.push(j === i ? Math.sqrt(Math.max(1e-9, sum)) : sum / (other[j] as number));
    }
    out.push(line);
  });
  return out;
}

/** Solves a lower triangle for a right side. */
function forward(factor: readonly (readonly number[])[], right: readonly number[]): number[] {
  const out: number[] = [];
  factor.forEach((row, i) => {
    let sum = right[i] as number;
    for (let k = 0; k < i; k++) sum -= (row[k] as number) * (out[k] as number);
    out.push(sum / (row[i] as number));
  });
  return out;
}

/** Share of a standard normal distribution below a value, to 1e-7 (Abramowitz and Stegun 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    0.3989422804014327 *
    Math.exp((-z * z) / 2) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? 1 - tail : tail;
}
