/**
 * @module report/verdict
 * Checks encodes: bounds on pooled values, drops below a baseline, and what changed since an earlier run.
 */
import { AnyvmafError, usageError } from '../core/errors.js';
import { percentile, USUAL_RATE } from '../core/numbers.js';
import { shown } from '../core/printable.js';
import {
  baseName,
  bitrateOf,
  frameTime,
  joined,
  keptOf,
  modelFlags,
  pairRate,
  pooledCount,
} from './facts.js';
import {
  isAggregate,
  isWorseHigh,
  type Limit,
  metricIn,
  notMeasured,
  type PooledName,
  type PooledStatistic,
  scoreNames,
} from './limits.js';
import { distribution, pool, pooledMetric, worstSecond } from './pool.js';
import { ranking, worstFrames } from './ranking.js';
import type { FailedEncode, FrameMetrics, Report, ReportHead, ReportInput, ReportModel } from './schema.js';

export interface PooledValue {
  /** `vmaf.p5`; for an aggregate, its name alone. */
  readonly name: string;
  readonly metric: string;
  /** `undefined` if a frame has no value. */
  readonly value: number | undefined;
}

export interface LimitResult extends PooledValue {
  readonly relation: '>=' | '<=';
  readonly bound: number;
  readonly passed: boolean;
}

/**
 * Pooled values that match a name: one per model if it names no metric.
 * @throws {AnyvmafError} `usage` if the report lacks the metric; lists the measured ones
 */
function pooledValues(report: Report, { metric, statistic = 'mean' }: PooledName): readonly PooledValue[] {
  const names = metric === undefined ? requireScores(report, statistic) : [measured(report, metric)];
  return names.map((name) => pooledValue(report, name, statistic));
}

/** @throws {AnyvmafError} `usage` if no model runs */
function requireScores(head: ReportHead, statistic: PooledStatistic): readonly string[] {
  const scores = scoreNames(head);
  if (scores.length > 0) return scores;
  throw usageError(
    `${statistic} needs a model or a metric, but no model ran; name a metric, such as psnr_y.${statistic}`,
  );
}

/** @throws {AnyvmafError} `usage` for a metric that is not measured */
function measured(head: ReportHead, metric: string): string {
  const found = metricIn(head, metric);
  if (found === undefined) throw notMeasured(metric, head);
  return found;
}

/**
 * Refuses, before the end, names that {@link holdAgainst} could not judge there.
 * @throws {AnyvmafError} `usage` for a metric that is not measured, or a statistic of one value for the whole run
 */
export function requireMeasured(head: ReportHead, names: readonly PooledName[]): void {
  for (const { metric, statistic = 'mean' } of names) {
    if (metric === undefined) requireScores(head, statistic);
    else if (!isAggregate(metric)) measured(head, metric);
    else if (statistic !== 'mean')
      throw usageError(
        `${metric} is one value for the whole run and has no ${statistic}; leave the statistic out`,
      );
  }
}

function pooledValue(report: Report, metric: string, statistic: PooledStatistic): PooledValue {
  // The value of the whole run is no minimum or percentile of frames.
  if (statistic === 'mean' && Object.hasOwn(report.aggregate_metrics, metric))
    return { name: metric, metric, value: finiteOf(report.aggregate_metrics[metric]) };
  const name = `${metric}.${statistic}`;
  const pooled = pooledMetric(report, metric);
  const spread = Object.hasOwn(report.distribution, metric) ? report.distribution[metric] : undefined;
  const stated: Partial<Record<PooledStatistic, number>> = {
    ...pooled,
    ...spread?.percentiles,
    ...(spread && { stddev: spread.stddev }),
    ...(statistic === 'worst_second' && { worst_second: worstSecondOf(report, metric) }),
  };
  const value = stated[statistic];
  // Identical frames are infinite, and an infinite mean of some would hide the others.
  const isMean = statistic === 'mean' || statistic === 'worst_second';
  const hides = isMean && pooled?.min !== Number.POSITIVE_INFINITY;
  const isIdentical = value === Number.POSITIVE_INFINITY && !hides;
  return { name, metric, value: isIdentical ? value : finiteOf(value) };
}

/** `undefined` if a frame has no value. */
function worstSecondOf(report: Report, metric: string): number | undefined {
  const { frames, subsample } = report;
  const values = frames.map(({ metrics }) => metrics[metric] ?? Number.NaN);
  if (values.some(Number.isNaN)) return undefined;
  // A second must lie within one run of scored frames.
  const begins = frames.flatMap(({ frameNum }, i) =>
    frameNum - (frames[i - 1]?.frameNum ?? Number.NEGATIVE_INFINITY) > subsample ? [i] : [],
  );
  const rate = pairRate(report) ?? USUAL_RATE;
  return worstSecond(values, rate / subsample, begins, isWorseHigh(report, metric));
}

/**
 * @param statistic a number is a percentile
 * @param second frames per second
 * @param parts where runs of consecutive frames begin, ascending from 0; a second lies within one
 */
export function statisticOf(
  values: ArrayLike<number>,
  statistic: PooledStatistic | number,
  second: number,
  parts: readonly number[] = [0],
  isWorseHigh = false,
): number {
  if (typeof statistic === 'number') return percentile(Float64Array.from(values).sort(), statistic);
  if (statistic === 'worst_second') return worstSecond(values, second, parts, isWorseHigh);
  if (statistic === 'mean' || statistic === 'harmonic_mean' || statistic === 'min' || statistic === 'max')
    return pool(values)?.[statistic] ?? Number.NaN;
  const spread = distribution(values);
  return (statistic === 'stddev' ? spread?.stddev : spread?.percentiles[statistic]) ?? Number.NaN;
}

/**
 * The interval of the whole video's value if the scored part passes but the whole may not.
 * @returns `undefined` if there is no doubt, `null` for a statistic without an interval
 */
export function doubtOf(
  { sampling }: Pick<Report, 'sampling'>,
  { name, metric, relation, bound, passed }: LimitResult,
): { readonly low: number; readonly high: number } | null | undefined {
  if (!sampling || !passed) return undefined;
  // The name of an aggregate has no statistic.
  const interval = sampling.intervals.find(({ metric, statistic }) =>
    [`${metric}.${statistic}`, ...(statistic === 'mean' ? [metric] : [])].includes(name),
  );
  if (!interval || interval.metric !== metric) return null;
  const { low, high } = interval;
  return (relation === '>=' ? low < bound : high > bound) ? { low, high } : undefined;
}

/** Statistics of all frames, even if the report holds only the last ones. */
const OF_ALL = /\.(?:mean|harmonic_mean|min|max)$/;

/** True if a value covers only the last frames, which a run with a window keeps. */
export function isOfWindow(report: Report, { name, metric }: PooledValue): boolean {
  return name !== metric && !OF_ALL.test(name) && keptOf(report, report.frames.length) !== undefined;
}

function finiteOf(value: number | null | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A value that could not be pooled does not pass. Throws as {@link pooledValues}. */
export function holdAgainst(report: Report, limit: Limit): readonly LimitResult[] {
  const { relation, bound } = limit;
  return pooledValues(report, limit).map((pooled) => {
    const { value } = pooled;
    const passed = value !== undefined && (relation === '>=' ? value >= bound : value <= bound);
    return { ...pooled, relation, bound, passed };
  });
}

export interface Check {
  /** The bound, `vmaf.p5 >= 80`. */
  readonly name: string;
  readonly found: string;
  readonly passed: boolean;
}

export interface Judged {
  readonly report: Report;
  readonly checks: readonly Check[];
}

/** In the order of the command line. */
export type Verdicts = readonly (Judged | FailedEncode)[];

export function isPassed(verdict: Verdicts[number]): boolean {
  return 'checks' in verdict && verdict.checks.every(({ passed }) => passed);
}

export function limitCheck({ name, relation, bound, value, passed }: LimitResult): Check {
  return { name: `${name} ${relation} ${bound}`, found: numberText(value), passed };
}

export function dropCheck({ name, most, before, value, drop, passed }: DropResult): Check {
  const direction = drop > 0 ? 'worse' : 'better';
  const by = Math.abs(drop) < 5e-7 ? 'as before' : `${direction} by ${numberText(Math.abs(drop))}`;
  return {
    name: `${name} within ${most} of the baseline`,
    found: value === undefined ? 'no value' : `${numberText(value)}, was ${numberText(before)}: ${by}`,
    passed,
  };
}

/** At most six decimals, as in libvmaf's reports. */
function numberText(value: number | undefined): string {
  return value === undefined ? 'no value' : String(Number(value.toFixed(6)));
}

export interface WorstMoment {
  readonly metric: string;
  readonly frame: number;
  /** In the reference, in seconds if its frame rate is known. */
  readonly time: number | undefined;
  readonly value: number;
}

export function worstMoments(report: Report, count: number): readonly WorstMoment[] {
  const by = ranking(report);
  if (!by) return [];
  return worstFrames(report, by, count).map(({ frameNum, value }) => ({
    metric: by.metric,
    frame: frameNum,
    time: frameTime(report, frameNum),
    value,
  }));
}

/** How far a pooled value may get worse. */
export interface Drop extends PooledName {
  /** 0 or more, in the unit of the metric. */
  readonly most: number;
}

export interface DropResult extends PooledValue {
  readonly before: number;
  readonly most: number;
  /** How much worse it is; negative if better. */
  readonly drop: number;
  readonly passed: boolean;
}

/** Reports of an earlier run, one per encode. */
export interface Baseline {
  /** Name in messages. */
  readonly name: string;
  readonly reports: readonly Report[];
}

/** Files have six decimals, so a value may differ from itself by half of the last one. */
const ROUNDING = 5e-7;

/**
 * The report to compare an encode with: the only one, or the one of the same name.
 * @throws {AnyvmafError} `mismatch` unless there is exactly one
 */
export function baselineOf({ name, reports }: Baseline, distorted: string, encodes: number): Report {
  const [only] = reports;
  if (only && reports.length === 1 && encodes <= 1) return only;
  const exact = reports.filter((report) => report.distorted.name === distorted);
  const isNamesake = (report: Report) => baseName(report.distorted.name) === baseName(distorted);
  const [found, more] = exact.length > 0 ? exact : reports.filter(isNamesake);
  if (found && !more) return found;
  const names = reports.map((report) => report.distorted.name).join(', ');
  throw new AnyvmafError(
    'mismatch',
    `the baseline ${shown(name)} has ${more ? 'more than one report' : 'no report'} of ${shown(distorted)}; it has reports of ${shown(names)}`,
  );
}

/** @throws {AnyvmafError} `mismatch` for other models, arithmetic, subsampling or size, or a missing metric */
export function checkBaseline(
  head: Pick<ReportHead, 'models' | 'metrics' | 'compat' | 'subsample' | 'tiny' | 'reference'>,
  before: Report,
  name: string,
  drops: readonly Drop[],
): void {
  const refuse = (why: string) => incomparable(name, why);
  const metricsOf = ({ metric }: Drop) =>
    metric === undefined ? scoreNames(head) : [metricIn(head, metric) ?? metric];
  for (const metric of new Set(drops.flatMap(metricsOf))) {
    const [now, then] = [head, before].map(({ models }) => models.find((model) => model.name === metric));
    if (now && then && modelText(now) !== modelText(then))
      throw refuse(`its ${shown(metric)} uses ${modelText(then)}, this run uses ${modelText(now)}`);
    const [tinyNow, tinyThen] = [head, before].map(({ tiny = [] }) =>
      tiny.find((model) => model.metrics.includes(metric)),
    );
    if (tinyNow && tinyThen && tinyNow.manifest_sha256 !== tinyThen.manifest_sha256)
      throw refuse(
        `its ${shown(metric)} is from another version of the tiny model ${shown(tinyThen.source)}`,
      );
    if (metricIn(before, metric) === undefined)
      throw refuse(`it has no ${shown(metric)}, only ${shown(before.metrics.join(', '), 600)}`);
  }
  const facts = [
    ['compat', before.compat, head.compat],
    ['subsample', before.subsample, head.subsample],
    ['reference size', sizeOf(before.reference), sizeOf(head.reference)],
  ] as const;
  for (const [what, then, now] of facts)
    if (then !== now) throw refuse(`its ${what} is ${then}, this run has ${now}`);
}

/** @throws {AnyvmafError} `mismatch` for different frames or sizes; `usage` for a metric that was not measured */
export function holdAgainstBaseline(report: Report, before: Report, name: string, drop: Drop): DropResult[] {
  if (report.frameCount !== before.frameCount)
    throw incomparable(name, `it has ${before.frameCount} frame pairs, this run has ${report.frameCount}`);
  const [first, earliest] = [report, before].map(firstFrame);
  if (first !== earliest)
    throw incomparable(name, `it starts at reference frame ${earliest}, this run at frame ${first}`);
  if (report.sampling?.starts.join() !== before.sampling?.starts.join())
    throw incomparable(name, 'other samples of the video were scored');
  // Known only now: a video may be scaled or cropped.
  const [size, earlierSize] = [report, before].map(({ pairing, reference }) => sizeOf(pairing ?? reference));
  if (size !== earlierSize) throw incomparable(name, `it was scored at ${earlierSize}, this run at ${size}`);
  return pooledValues(report, drop).map((now) => {
    const [then] = pooledValues(before, { ...drop, metric: now.metric });
    const [value, earlier] = [now.value, then?.value];
    if (earlier === undefined)
      throw new AnyvmafError('mismatch', `the baseline ${shown(name)} has no value for ${shown(now.name)}`);
    const change = value === undefined ? Number.POSITIVE_INFINITY : earlier - value;
    const worse = value === earlier ? 0 : change;
    // More spread is worse, whichever values are.
    const isRise = drop.statistic === 'stddev' || isWorseHigh(report, now.metric);
    const fallen = value !== undefined && isRise ? -worse : worse;
    return { ...now, before: earlier, most: drop.most, drop: fallen, passed: fallen <= drop.most + ROUNDING };
  });
}

function incomparable(name: string, why: string): AnyvmafError {
  return new AnyvmafError('mismatch', `the baseline ${shown(name)} cannot be compared: ${why}`);
}

/** Reference frame of the first scored pair, also if a window kept only the last ones. */
function firstFrame(report: Report): number {
  const { reference, frames, subsample, sampling } = report;
  const [first] = frames;
  if (!first) return reference.skipped;
  const dropped = sampling ? 0 : pooledCount(report, frames.length) - frames.length;
  return reference.skipped + first.frameNum - dropped * subsample;
}

function sizeOf({ width, height }: Pick<ReportInput, 'width' | 'height'>): string {
  return `${width}x${height}`;
}

function modelText({ source, settings, options, collection }: ReportModel): string {
  const members = collection && `${collection.members} members`;
  return joined([shown(source), ...modelFlags(options), members, settings], ' with ');
}

/** Pooled values to compare, by whether low or high values are worse. */
const STATISTICS = {
  low: ['mean', 'p5', 'p1', 'min', 'worst_second'],
  high: ['mean', 'p95', 'p99', 'max', 'worst_second'],
} as const satisfies Readonly<Record<string, readonly PooledStatistic[]>>;

export interface Change {
  readonly values: readonly (DropResult & {
    readonly statistic: (typeof STATISTICS)['low' | 'high'][number];
  })[];
  /** Bits per second before and now. */
  readonly rates: readonly [before: number | undefined, now: number | undefined];
  readonly worst: readonly [before: number | undefined, now: number | undefined];
  /** Change of each frame's value: now minus before. */
  readonly frames: readonly FrameMetrics[];
  /** The frame that got worse by most; `undefined` if none did. */
  readonly fallen: { readonly frame: number; readonly difference: number } | undefined;
}

/**
 * @param count number of encodes
 * @returns a sentence if the encode and its report in the baseline are not comparable
 */
export function changeOf(baseline: Baseline, report: Report, metric: string, count: number): Change | string {
  try {
    const before = baselineOf(baseline, report.distorted.name, count);
    checkBaseline(report, before, baseline.name, [{ metric, most: 0 }]);
    const worse = isWorseHigh(report, metric) ? 'high' : 'low';
    const values = STATISTICS[worse].flatMap((statistic) =>
      holdAgainstBaseline(report, before, baseline.name, { metric, statistic, most: 0 }).map((value) => ({
        ...value,
        statistic,
      })),
    );
    const worst = (of: Report) => worstFrames(of, { metric, worse }, 1)[0]?.frameNum;
    const frames = differences(report, before, metric);
    return {
      values,
      rates: [bitrateOf(before), bitrateOf(report)],
      worst: [worst(before), worst(report)],
      frames,
      fallen: worstDrop(frames, metric, worse),
    };
  } catch (error) {
    if (error instanceof AnyvmafError) return error.message;
    throw error;
  }
}

function differences({ frames }: Report, before: Report, metric: string): FrameMetrics[] {
  const then = new Map(before.frames.map((frame) => [frame.frameNum, frame.metrics[metric]]));
  return frames.flatMap(({ frameNum, metrics }) => {
    const by = (metrics[metric] ?? Number.NaN) - (then.get(frameNum) ?? Number.NaN);
    return Number.isFinite(by) ? [{ frameNum, metrics: { [metric]: by } }] : [];
  });
}

function worstDrop(frames: readonly FrameMetrics[], metric: string, worse: 'low' | 'high'): Change['fallen'] {
  const sign = worse === 'high' ? -1 : 1;
  let found: Change['fallen'];
  for (const { frameNum, metrics } of frames) {
    const difference = metrics[metric] ?? 0;
    if (difference * sign < (found ? found.difference * sign : 0)) found = { frame: frameNum, difference };
  }
  return found;
}
