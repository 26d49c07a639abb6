/**
 * @module report/verdict
 * Checks encodes for a gate: bounds on values, and drops below a baseline.
 */

import { AnyvmafError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { baseName, frameTime, joined, modelFlags } from './facts.js';
import { type LimitResult, type PooledValue, pooledValues } from './held.js';
import { isWorseHigh, metricIn, type PooledName, scoreNames } from './limits.js';
import type { FailedEncode, Report, ReportHead, ReportModel } from './types.js';
import { ranking, worstFrames } from './worst.js';

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

export function isPassed(one: Judged | FailedEncode): boolean {
  return 'checks' in one && one.checks.every(({ passed }) => passed);
}

export function limitCheck({ name, relation, bound, value, passed }: LimitResult): Check {
  return { name: `${name} ${relation} ${bound}`, found: numberText(value), passed };
}

export function dropCheck({ name, most, before, value, drop, passed }: DropResult): Check {
  const by =
    Math.abs(drop) < 5e-7
      ? 'as before'
      : drop > 0
        ? `worse by ${numberText(drop)}`
        : `better by ${numberText(-drop)}`;
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

/** The worst frames with their times in the reference, in seconds if its frame rate is known. */
export function worstMoments(
  report: Report,
  count: number,
): readonly { metric: string; frame: number; time: number | undefined; value: number }[] {
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
  const same =
    exact.length > 0 ? exact : reports.filter((one) => baseName(one.distorted.name) === baseName(distorted));
  const [found, more] = same;
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
  const metrics = new Set(
    drops.flatMap(({ metric }) =>
      metric === undefined ? scoreNames(head) : [metricIn(head, metric) ?? metric],
    ),
  );
  for (const metric of metrics) {
    const [now, then] = [head, before].map(({ models }) => models.find((model) => model.name === metric));
    if (now && then && modelText(now) !== modelText(then)) {
      throw refuse(`its ${shown(metric)} uses ${modelText(then)}, this run uses ${modelText(now)}`);
    }
    const [tinyNow, tinyThen] = [head, before].map(({ tiny = [] }) =>
      tiny.find((model) => model.metrics.includes(metric)),
    );
    if (tinyNow && tinyThen && tinyNow.manifest_sha256 !== tinyThen.manifest_sha256) {
      throw refuse(
        `its ${shown(metric)} is from another version of the tiny model ${shown(tinyThen.source)}`,
      );
    }
    if (metricIn(before, metric) === undefined) {
      throw refuse(`it has no ${shown(metric)}, only ${shown(before.metrics.join(', '), 600)}`);
    }
  }
  const facts = [
    ['compat', before.compat, head.compat],
    ['subsample', before.subsample, head.subsample],
    ['reference size', sizeOf(before), sizeOf(head)],
  ] as const;
  for (const [what, then, now] of facts)
    if (then !== now) throw refuse(`its ${what} is ${then}, this run has ${now}`);
}

/** @throws {AnyvmafError} `mismatch` for different frames; `usage` for a metric that was not measured */
export function holdAgainstBaseline(
  report: Report,
  before: Report,
  name: string,
  drop: Drop,
): readonly DropResult[] {
  if (report.frameCount !== before.frameCount) {
    throw incomparable(name, `it has ${before.frameCount} frame pairs, this run has ${report.frameCount}`);
  }
  const [here, there] = [report, before].map(firstFrame);
  if (here !== there) {
    throw incomparable(name, `it starts at reference frame ${there}, this run at frame ${here}`);
  }
  return pooledValues(report, drop).map((now) => {
    const [then] = pooledValues(before, { ...drop, metric: now.metric });
    const [value, earlier] = [now.value, then?.value];
    if (earlier === undefined) {
      throw new AnyvmafError('mismatch', `the baseline ${shown(name)} has no value for ${shown(now.name)}`);
    }
    const worse = value === undefined ? Number.POSITIVE_INFINITY : earlier - value;
    const fallen = value !== undefined && isWorseHigh(report, now.metric) ? -worse : worse;
    return { ...now, before: earlier, most: drop.most, drop: fallen, passed: fallen <= drop.most + ROUNDING };
  });
}

function incomparable(name: string, why: string): AnyvmafError {
  return new AnyvmafError('mismatch', `the baseline ${shown(name)} cannot be compared: ${why}`);
}

/** Reference frame of the first pair. */
function firstFrame({ reference: { skipped }, frames: [first] }: Report): number {
  return skipped + (first?.frameNum ?? 0);
}

function sizeOf({ reference: { width, height } }: Pick<Report, 'reference'>): string {
  return `${width}x${height}`;
}

function modelText({ source, settings, options, collection }: ReportModel): string {
  const members = collection && `${collection.members} members`;
  return joined([shown(source), ...modelFlags(options), members, settings], ' with ');
}
