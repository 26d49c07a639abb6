/**
 * @module report/verdict
 * What a gate says of reports: each value that was held against a bound, in words.
 */
import type { DropResult } from './baseline.js';
import type { LimitResult } from './limits.js';
import type { FailedEncode, Report } from './types.js';
import { ranking, worstFrames } from './worst.js';

/** One thing that was checked. */
export interface Check {
  /** The bound, `vmaf.p5 >= 80`. */
  readonly name: string;
  /** What was found. */
  readonly found: string;
  readonly passed: boolean;
}

/** An encode and what was checked of it. */
export interface Judged {
  readonly report: Report;
  readonly checks: readonly Check[];
}

/** All encodes of a run, in the order of the command line. */
export type Verdicts = readonly (Judged | FailedEncode)[];

/** Whether an encode passed. */
export function isPassed(one: Judged | FailedEncode): boolean {
  return 'checks' in one && one.checks.every(({ passed }) => passed);
}

/** A value held against a limit. */
export function limitCheck({ name, relation, bound, value, passed }: LimitResult): Check {
  return { name: `${name} ${relation} ${bound}`, found: numberText(value), passed };
}

/** A value held against that of the baseline. */
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

/** At most six decimals, as libvmaf's reports have. */
function numberText(value: number | undefined): string {
  return value === undefined ? 'no value' : String(Number(value.toFixed(6)));
}

/** The worst frames of an encode with their times in the reference, in seconds where its rate is known. */
export function worstMoments(
  report: Report,
  count: number,
): readonly {
  readonly metric: string;
  readonly frame: number;
  readonly time?: number;
  readonly value: number;
}[] {
  const by = ranking(report);
  if (!by) return [];
  const { frameRate: rate, skipped } = report.reference;
  const known = rate !== undefined && rate.num > 0 && rate.den > 0;
  return worstFrames(report, by, count).map(({ frameNum, value }) => ({
    metric: by.metric,
    frame: frameNum,
    ...(known && { time: ((frameNum + skipped) * rate.den) / rate.num }),
    value,
  }));
}
