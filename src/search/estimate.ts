/**
 * @module search/estimate
 * What samples say of the whole: a prediction and intervals around it, from how much the samples differ.
 */

import { statisticOf } from '../report/limits.js';
import { valueOfWhole, type WholeValue } from '../report/whole-value.js';
import { type CompleteMeasure, type CompleteTarget, marginTo, poolingOf, type Statistic } from './targets.js';

/** A prediction. Intervals are those within which the final encode's value lies with 95 % and 99 %. */
export interface Estimate {
  readonly value: number;
  readonly interval95: readonly [low: number, high: number];
  readonly interval99: readonly [low: number, high: number];
}

/** Student's t for two-sided 95 % and 99 %, by degrees of freedom from 1. */
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
const T99 = [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169];

/** Values of each sample's frames. */
export type SampleValues = readonly (readonly number[])[];

/**
 * By which part of their spread frames may be coded otherwise in samples than in the whole video: of the spread within a
 * sample, and of all, since an encoder makes more of what it has seen for long.
 */
const CONTEXT = 0.1;
const CONTEXT_OF_ALL = 0.055;

/** Pairs of neighbouring samples of one shot that tell how much samples differ. */
const ENOUGH_PAIRS = 12;

/** What samples are of. */
export interface SampledWhole {
  /** Of the whole video: what is sampled of it leaves nothing to estimate. */
  readonly frames?: number;
  /** Of which shot each sample is, where every shot has its share of samples. */
  readonly shots?: readonly number[];
}

/**
 * Predicts a statistic of the whole video.
 * @param samples values of each; one alone is the whole video, which leaves nothing to estimate
 * @param statistic or how a value of the whole follows from frames
 * @param second frames of a second
 */
export function estimate(
  samples: SampleValues,
  statistic: Statistic | WholeValue,
  second: number,
  { frames = Number.POSITIVE_INFINITY, shots }: SampledWhole = {},
): Estimate {
  const value = ofSamples(samples, statistic, second);
  const count = samples.length;
  if (count < 2) return { value, interval95: [value, value], interval99: [value, value] };
  // Leaving each sample out in turn tells what each contributes, whichever statistic it is.
  const parts = samples.map((_, out) => {
    const others = samples.filter((_, i) => i !== out);
    return count * value - (count - 1) * ofSamples(others, statistic, second);
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

/**
 * By how much parts differ by chance: as neighbours do, since distant ones differ by what the video shows too. Where shots
 * have their share of samples, only neighbours of one shot tell.
 */
function chanceOf(
  parts: readonly number[],
  shots: readonly number[] | undefined,
): { readonly variance: number; readonly pairs: number } {
  const steps = parts.slice(1).map((part, i) => (part - (parts[i] as number)) ** 2);
  const inShots = shots ? steps.filter((_, i) => shots[i] === shots[i + 1]) : [];
  const used = inShots.length >= ENOUGH_PAIRS ? inShots : steps;
  return { variance: used.reduce((sum, one) => sum + one, 0) / (2 * used.length), pairs: used.length };
}

/** Values of frames in the unit of what is estimated. */
export function inUnitOf(statistic: Statistic | WholeValue, samples: SampleValues): SampleValues {
  if (typeof statistic === 'string') return samples;
  return samples.map((values) => values.map((value) => statistic.of(statistic.term(value))));
}

/** Variance of what the surroundings of samples change. */
function contextOf(samples: SampleValues): number {
  const within = meanOf(samples.map(varianceOf));
  return CONTEXT ** 2 * within + CONTEXT_OF_ALL ** 2 * varianceOf(samples.flat());
}

function varianceOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return meanOf(values.map((one) => (one - mean) ** 2));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

/** @param statistic or how a value of the whole follows from frames */
function ofSamples(samples: SampleValues, statistic: Statistic | WholeValue, second: number): number {
  const starts: number[] = [];
  const joined: number[] = [];
  for (const values of samples) {
    starts.push(joined.length);
    for (const value of values) joined.push(value);
  }
  if (typeof statistic !== 'string') return valueOfWhole(statistic, joined);
  return statisticOf(joined, statistic, second, starts);
}

/** The quality of an encode. @param values those of a metric that frames have */
export function qualityIn(
  measure: CompleteMeasure,
  values: (metric: string) => SampleValues,
  second: number,
): number {
  const { from, by } = poolingOf(measure);
  return ofSamples(values(from), by, second);
}

/**
 * How far the worst of several targets is from being reached: negative where one is missed.
 * @param to how far a value is from one target
 */
export function marginOf(
  targets: readonly CompleteTarget[],
  values: (metric: string) => SampleValues,
  second: number,
  to: typeof marginTo = marginTo,
): number {
  return Math.min(...targets.map((target) => to(target, qualityIn(target, values, second))));
}
