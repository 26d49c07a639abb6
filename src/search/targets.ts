/**
 * @module search/targets
 * Targets, measured points, and estimates of whole-video statistics from samples.
 */
import { isObject, jsonOf } from '../core/arguments.js';
import { hexDigest } from '../core/bytes.js';
import { usageError } from '../core/errors.js';
import { mean } from '../core/numbers.js';
import { parseModelString } from '../models/grammar.js';
import {
  isAggregate,
  isWorseHigh,
  metricNamed,
  POOLED_STATISTICS,
  type PooledStatistic,
} from '../report/limits.js';
import { isSigned, pool } from '../report/pool.js';
import { plainName, valueOfWhole, type WholeValue, wholeValue } from '../report/quality-metrics.js';
import type { PooledMetric } from '../report/schema.js';
import { statisticOf } from '../report/verdict.js';

/** VMAF scores that matter: below 60 unwatchable, above 97 indistinguishable. */
export const WATCHED = { min: 60, max: 97 } as const;
const DEFAULT_MODEL = 'version=vmaf_v0.6.1';
/** Statistics over frames, as gates name them. `worst_second`: worst mean of any second of consecutive frames. */
export const STATISTICS = POOLED_STATISTICS;
export type Statistic = PooledStatistic;

type TargetBound =
  | { readonly atLeast: number; readonly atMost?: never }
  | { readonly atMost: number; readonly atLeast?: never };

/** True if the statistic depends on a single moment, which samples cannot estimate. */
export function isExtreme(statistic: Statistic): boolean {
  return statistic === 'min' || statistic === 'max' || statistic === 'worst_second';
}

/** Metric and statistic used as the quality of an encode. */
export interface QualityMeasure {
  /** Metric name in a report's frames. Default: the first model's score. */
  readonly metric?: string;
  /** Default `mean`. */
  readonly statistic?: Statistic;
}

/** A bound that an encode must reach. */
export type QualityTarget = TargetBound & QualityMeasure;

export interface CompleteMeasure {
  readonly metric: string;
  readonly statistic: Statistic;
}

/** A target with its defaults filled in. */
export type CompleteTarget = TargetBound & CompleteMeasure;

/** @throws {AnyvmafError} `usage` for a whole-video value that frames cannot give, and for a statistic that a metric lacks */
export function poolingOf({ metric, statistic }: CompleteMeasure): {
  readonly from: string;
  readonly by: Statistic | WholeValue;
} {
  const whole = wholeValue(metric);
  if (whole && statistic !== 'mean')
    throw usageError(
      `${metric} is one value for the whole video and has no ${statistic}; leave the statistic out, or use ${whole.from}.`,
    );
  if (!whole && isAggregate(metric))
    throw usageError(
      `${metric} is one value for the whole video, which samples cannot estimate; use a metric that each frame has.`,
    );
  if (statistic === 'harmonic_mean' && isSigned(metric))
    throw usageError(`${metric} has values below 0 and so no harmonic mean; use its mean.`);
  return whole ? { from: whole.from, by: whole } : { from: metric, by: statistic };
}

export function targetAt(measure: CompleteMeasure, quality: number): CompleteTarget {
  return isWorseHigh({}, measure.metric) ? { ...measure, atMost: quality } : { ...measure, atLeast: quality };
}

/** Fills in defaults: a mean of 95, the first model's score. @throws {AnyvmafError} `usage` as {@link poolingOf} */
export function completeTargets(
  targets: readonly QualityTarget[] | undefined,
  models: readonly string[] | undefined,
): readonly CompleteTarget[] {
  const name = scoreName(models);
  const sources = (models ?? [DEFAULT_MODEL]).map((text) => {
    const { name, source } = parseModelString(text);
    return { name, source: source.kind === 'version' ? source.version : source.path };
  });
  const given: readonly QualityTarget[] = targets?.length ? targets : [{ atLeast: 95 }];
  const complete = given.map(({ metric, statistic = 'mean', ...bound }) => ({
    metric: metric === undefined ? name : metricNamed(metric, sources),
    statistic,
    ...bound,
  }));
  for (const target of complete) poolingOf(target);
  return complete;
}

export function scoreName(models: readonly string[] | undefined): string {
  const [model = DEFAULT_MODEL] = models ?? [];
  return parseModelString(model).name;
}

/** Negative if the value misses the target. */
export function marginTo({ atLeast, atMost }: CompleteTarget, value: number): number {
  return atMost === undefined ? value - atLeast : atMost - value;
}

/** Lossless values of metrics whose distance from lossless grows by about the same factor per encoder step. */
const LOSSLESS: Readonly<Record<string, number>> = {
  ssimulacra2: 100,
  butteraugli: 0,
  butteraugli_3norm: 0,
  cvvdp: 10,
  cvvdp_q: 0,
};
/** VMAF points per factor of e in that distance, where VMAF falls as usual. */
const POINTS = 20;

/** Margin in a VMAF-like unit, in which curves of all metrics fall about equally steeply. */
export function heightTo(target: CompleteTarget, value: number): number {
  const { metric, statistic, atLeast, atMost } = target;
  const alias = plainName(metric);
  const best = Object.hasOwn(LOSSLESS, alias) ? LOSSLESS[alias] : undefined;
  const [bound, isLowBest] = atMost === undefined ? [atLeast, false] : [atMost, true];
  if (best === undefined || statistic === 'stddev' || isLowBest !== (best === 0))
    return marginTo(target, value);
  // Nothing is better than lossless, and the distance of such a target would count as room.
  if (isLowBest ? bound < best : bound > best) return marginTo(target, value);
  const from = (score: number) => Math.max(1e-6, Math.abs(best - score));
  return POINTS * Math.log(from(bound) / from(value));
}

/** Least distance from the end of a scale at which the scale bends curves; nearer, it cuts them off. */
const LEAST_ROOM = 0.3;

/** Largest possible margin above all targets if all their scales end at 100, as VMAF's does. */
export function ceilingOf(targets: readonly CompleteTarget[]): number | undefined {
  const bounds = targets.map(({ metric, atLeast }) => (metric.startsWith('vmaf') ? atLeast : undefined));
  const room = bounds.every((bound) => bound !== undefined) ? 100 - Math.max(...bounds) : 0;
  return room > LEAST_ROOM ? room : undefined;
}

/** A prediction, with intervals that contain the final encode's value with 95 % and 99 % confidence. */
export interface Estimate {
  readonly value: number;
  readonly interval95: readonly [low: number, high: number];
  readonly interval99: readonly [low: number, high: number];
}

/** Student's t for two-sided 95 % and 99 %, by degrees of freedom from 1. */
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
const T99 = [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169];

/** Frame values of each sample. */
export type SampleValues = readonly (readonly number[])[];

/** Fractions of the spread (within samples, and overall) by which coding differs in the whole, with more context. */
const CONTEXT = 0.1;
const CONTEXT_OF_ALL = 0.055;
/** Neighbouring pairs within shots that are needed to estimate how much samples differ. */
const ENOUGH_PAIRS = 12;

interface SampledWhole {
  /** Frames of the whole video; the sampled ones leave nothing to estimate. */
  readonly frames?: number;
  /** Shot of each sample, if every shot has its share of samples. */
  readonly shots?: readonly number[];
  /** High values are the worse ones. */
  readonly isWorseHigh?: boolean;
}

/**
 * @param samples a single one is the whole video, with nothing to estimate
 * @param second frames per second
 */
export function estimate(
  samples: SampleValues,
  statistic: Statistic | WholeValue,
  second: number,
  { frames = Number.POSITIVE_INFINITY, shots, isWorseHigh }: SampledWhole = {},
): Estimate {
  const value = ofSamples(samples, statistic, second, isWorseHigh);
  const count = samples.length;
  if (count < 2) return { value, interval95: [value, value], interval99: [value, value] };
  // Jackknife pseudo-values work for any statistic.
  const parts = samples.map((_, out) => {
    const others = samples.filter((_, i) => i !== out);
    return count * value - (count - 1) * ofSamples(others, statistic, second, isWorseHigh);
  });
  const chance = chanceOf(parts, shots);
  const scored = samples.reduce((sum, { length }) => sum + length, 0);
  const left = Math.max(0, 1 - scored / frames);
  const error = Math.sqrt((chance.variance / count) * left + contextOf(inUnitOf(statistic, samples)));
  const freedom = Math.max(1, Math.round((2 * chance.pairs) / 3));
  const around = (t: number): readonly [number, number] => [value - t * error, value + t * error];
  return {
    value,
    interval95: around(T95[freedom - 1] ?? 1.96 + 2.5 / freedom),
    interval99: around(T99[freedom - 1] ?? 2.576 + 5.5 / freedom),
  };
}

/** Random variance, from neighbouring parts, since distant ones differ in content; only within shots if these suffice. */
function chanceOf(parts: readonly number[], shots: readonly number[] | undefined) {
  const steps = parts.slice(1).map((part, i) => (part - (parts[i] as number)) ** 2);
  const inShots = shots ? steps.filter((_, i) => shots[i] === shots[i + 1]) : [];
  const used = inShots.length >= ENOUGH_PAIRS ? inShots : steps;
  return { variance: used.reduce((sum, step) => sum + step, 0) / (2 * used.length), pairs: used.length };
}

/** Frame values in the unit of the estimate. */
export function inUnitOf(statistic: Statistic | WholeValue, samples: SampleValues): SampleValues {
  if (typeof statistic === 'string') return samples;
  return samples.map((values) => values.map((value) => statistic.of(statistic.term(value))));
}

function contextOf(samples: SampleValues): number {
  const within = mean(samples.map(varianceOf));
  return CONTEXT ** 2 * within + CONTEXT_OF_ALL ** 2 * varianceOf(samples.flat());
}

function varianceOf(values: readonly number[]): number {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
}

function ofSamples(
  samples: SampleValues,
  statistic: Statistic | WholeValue,
  second: number,
  isWorseHigh = false,
): number {
  const starts: number[] = [];
  const joined: number[] = [];
  for (const values of samples) {
    starts.push(joined.length);
    for (const value of values) joined.push(value);
  }
  if (typeof statistic !== 'string') return valueOfWhole(statistic, joined);
  return statisticOf(joined, statistic, second, starts, isWorseHigh);
}

/** Fewest parts of a video for a confidence interval. */
export const FEWEST_PARTS = 4;

/** Frames per part of a video: a second; less in a short one, more in a long one. At least 1. */
export function partLength(frames: number, second: number, mostParts: number): number {
  const least = Math.max(second, Math.ceil(frames / mostParts));
  return Math.max(1, Math.min(least, Math.floor(frames / FEWEST_PARTS)));
}

/** @throws {AnyvmafError} `usage` where frames that equal the source make the value infinite */
export function qualityIn(measure: CompleteMeasure, metrics: Measured['metrics'], second: number): number {
  const { from, by } = poolingOf(measure);
  const samples = metrics[from] ?? [];
  const value = ofSamples(samples, by, second, isWorseHigh({}, measure.metric));
  if (Number.isFinite(value) || !samples.flat().some((one) => Number.isFinite(one))) return value;
  throw usageError(
    `the ${measure.statistic} of ${measure.metric} is not finite, because some frames of the encode equal the source, as black ` +
      'ones do; use p5 or min instead.',
  );
}

/** Margin to the hardest target; negative if one is missed. */
export function marginOf(
  targets: readonly CompleteTarget[],
  metrics: Measured['metrics'],
  second: number,
  to: typeof marginTo = marginTo,
): number {
  return Math.min(...targets.map((target) => to(target, qualityIn(target, metrics, second))));
}

export interface Measured {
  readonly value: number;
  /** Bytes of the scored frames. */
  readonly bytes: number;
  /** Values of the scored frames of each sample, by metric. */
  readonly metrics: Readonly<Record<string, SampleValues>>;
  /** Bytes of each scored frame of each sample. Like `seconds`, absent in points of earlier versions. */
  readonly sizes?: SampleValues;
  /** Wall-clock seconds of the encode. */
  readonly seconds?: number;
}

export type KnownPoint = Measured & { readonly cached: boolean };

export async function keyOf(parts: readonly unknown[]): Promise<string> {
  return (await hexDigest(JSON.stringify(parts))).slice(0, 32);
}

export function pooledOf(metrics: Measured['metrics']): Record<string, PooledMetric> {
  return Object.fromEntries(
    Object.entries(metrics).flatMap(([name, samples]) => {
      const pooled = pool(samples.flat(), name);
      return pooled ? [[name, pooled]] : [];
    }),
  );
}

/**
 * Parses the JSON of a point; `undefined` for other lines, such as one truncated by a kill.
 * @param frames of each sample
 */
export function parsePoint(line: string, frames: readonly number[]): Measured | undefined {
  const data = jsonOf(line);
  if (!isObject(data) || !isObject(data.metrics)) return undefined;
  const { value, bytes, metrics, sizes, seconds } = data;
  if (typeof value !== 'number' || typeof bytes !== 'number') return undefined;
  const isOfFrames = (samples: unknown): samples is SampleValues =>
    Array.isArray(samples) &&
    samples.length === frames.length &&
    samples.every((values, i) => isNumbers(values) && values.length === frames[i]);
  if (!Object.values(metrics).every(isOfFrames)) return undefined;
  const point = {
    ...{ value, bytes, metrics: metrics as Measured['metrics'] },
    ...(isOfFrames(sizes) && { sizes }),
  };
  return typeof seconds === 'number' && seconds > 0 ? { ...point, seconds } : point;
}

/** True for an array of finite numbers. */
export function isNumbers(data: unknown): data is readonly number[] {
  return Array.isArray(data) && data.every((value) => typeof value === 'number' && Number.isFinite(value));
}

export interface PointStore {
  /** Lines of JSON, as added. */
  read(key: string): Promise<readonly string[]>;
  add(key: string, line: string): Promise<void>;
  /** Removes everything. @returns the number of searches that had points */
  clear(): Promise<number>;
}
