/**
 * @module core/sampling
 * Scores random runs of a video, two in each of several equal parts, and estimates the values of the whole.
 */
import { wrongType } from './arguments.js';
import { percentile } from './numbers.js';

/** Runs to score. */
export interface SampleSizes {
  /** Number of runs, an even number of 4 or more. */
  readonly runs: number;
  /** Seconds of each, excluding what is decoded before it. */
  readonly seconds: number;
  /** 32 bits; the same seed gives the same runs. Default 1. */
  readonly seed?: number;
}

/** `auto`: 24 runs of two seconds; a video that is not much longer is scored completely. */
export type Samples = SampleSizes | 'auto';

const AUTO: SampleSizes = { runs: 24, seconds: 2 };
const MAX_RUNS = 1000;
const MAX_SECONDS = 3600;
const MAX_SEED = 2 ** 32 - 1;
/** Least room of a part, in runs per drawn run, so that two drawn ones are rarely adjacent. */
const ROOM = 4;

export interface Drawn {
  /** First pairs of the runs, ascending. Runs 2k and 2k + 1 lie in one part. */
  readonly starts: readonly number[];
  /** Pairs per run. */
  readonly length: number;
  /** Drawn fraction of the video. */
  readonly share: number;
}

/** @throws {AnyvmafError} `usage` */
export function checkSamples(samples: Samples): Required<SampleSizes> {
  if (samples === 'auto') return { seed: 1, ...AUTO };
  const { runs, seconds, seed = 1 } = Object(samples) as Partial<SampleSizes>;
  const even = Number.isInteger(runs) && Number(runs) % 2 === 0 && Number(runs) >= 4;
  if (even && Number(runs) <= MAX_RUNS && Number(seconds) > 0 && Number(seconds) <= MAX_SECONDS) {
    if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED)
      throw wrongType('samples.seed', seed, `a whole number from 0 to ${MAX_SEED}`);
    return { runs: Number(runs), seconds: Number(seconds), seed };
  }
  throw wrongType(
    'samples',
    samples,
    `auto or { runs, seconds }: an even number of runs from 4 to ${MAX_RUNS}, each of up to ${MAX_SECONDS} seconds`,
  );
}

/**
 * Draws runs; every pair of the video has about the same chance.
 * @param total pairs of the video
 * @param length pairs of a run
 * @returns `undefined` if the runs would be more than a quarter of the video
 */
export function drawRuns(
  total: number,
  length: number,
  { runs, seed }: Required<SampleSizes>,
): Drawn | undefined {
  const parts = runs / 2;
  const places = Math.floor(total / (length * parts));
  if (places < 2 * ROOM) return undefined;
  const pitch = total / (parts * places);
  const random = mulberry(seed);
  const starts: number[] = [];
  for (let part = 0; part < parts; part++) {
    const first = Math.floor(random() * places);
    const other = Math.floor(random() * (places - 1));
    const both = [first, other >= first ? other + 1 : other].sort((a, b) => a - b);
    for (const place of both)
      starts.push(Math.floor((part * places + place) * pitch + random() * (pitch - length)));
  }
  return { starts, length, share: runs / (parts * places) };
}

/** Uniform numbers in 0..1, equal on every machine (Mulberry32 by Tommy Ettinger, public domain). */
export function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Contains a pooled value of the whole video with {@link LEVEL} confidence. */
export interface SampledInterval {
  /** `mean`, `p1`, `p5`, `p10` or `p50`. */
  readonly statistic: string;
  readonly low: number;
  readonly high: number;
}

export const LEVEL = 0.95;
/** 97.5 % quantile of the standard normal distribution. */
const Z = 1.959964;
const DRAWS = 1000;
const PERCENTILES = [1, 5, 10, 50] as const;
/** Fewest degrees of freedom for which the expansion in `student` holds. */
const FEWEST = 2.5;

/**
 * @param runs values of one metric, equally long; runs 2k and 2k + 1 come from one part of the video
 * @param share drawn fraction of the video
 */
export function intervalsOf(runs: readonly Float64Array[], share: number, seed: number): SampledInterval[] {
  const means = runs.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
  const parts = runs.length / 2;
  const variances = Array.from(
    { length: parts },
    (_, part) => ((means[2 * part] ?? 0) - (means[2 * part + 1] ?? 0)) ** 2,
  );
  const t = student(freedom(variances));
  // Resampling the two runs of a part halves their variance; the drawn part of the video has none.
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

/** Degrees of freedom of a sum of variances of pairs; fewer if parts vary unequally (Satterthwaite). */
function freedom(variances: readonly number[]): number {
  const sum = variances.reduce((a, b) => a + b, 0);
  const squares = variances.reduce((a, b) => a + b * b, 0);
  if (squares === 0) return variances.length;
  return Math.max(FEWEST, Math.min(variances.length, (3 * sum * sum) / squares - 2));
}

/** 97.5 % quantile of Student's t, expanded around the normal one. */
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

/** Percentiles of all values, each run counted `counts` times. */
function weightedPercentiles({ values, runs }: SortedRuns, counts: Float64Array): number[] {
  const taken = new Float64Array(values.length);
  let length = 0;
  for (let i = 0; i < values.length; i++) {
    for (let n = counts[runs[i] ?? 0] ?? 0; n > 0; n--) taken[length++] = values[i] ?? Number.NaN;
  }
  const drawn = taken.subarray(0, length);
  return PERCENTILES.map((percent) => percentile(drawn, percent));
}
