/**
 * @module report/view/changes
 * Compares encodes with those of an earlier run: pooled values and frames of their reports.
 */
import { AnyvmafError } from '../../core/errors.js';
import { bitrateOf } from '../facts.js';
import { isWorseHigh, type PooledStatistic } from '../limits.js';
import type { FrameMetrics, Report } from '../types.js';
import {
  type Baseline,
  baselineOf,
  checkBaseline,
  type DropResult,
  holdAgainstBaseline,
} from '../verdict.js';
import { worstFrames } from '../worst.js';

/** Pooled values to compare, by whether low or high values are worse. */
const STATISTICS = {
  low: ['mean', 'p5', 'p1', 'min', 'worst_second'],
  high: ['mean', 'p95', 'p99', 'max', 'worst_second'],
} as const satisfies Readonly<Record<string, readonly PooledStatistic[]>>;

type ChangeStatistic = (typeof STATISTICS)['low' | 'high'][number];

export interface Change {
  readonly before: Report;
  readonly values: readonly (DropResult & { readonly statistic: ChangeStatistic })[];
  /** Bits per second before and now. */
  readonly rates: readonly [before: number | undefined, now: number | undefined];
  readonly worst: readonly [before: number | undefined, now: number | undefined];
  /** Change of each frame's value: now minus before. */
  readonly frames: readonly FrameMetrics[];
  /** The frame that got worse by most; `undefined` if none did. */
  readonly fallen: { readonly frame: number; readonly difference: number } | undefined;
}

/** @returns a sentence if the encode and its report in the baseline are not comparable */
export function changeOf(
  baseline: Baseline,
  report: Report,
  metric: string,
  encodes: number,
): Change | string {
  try {
    const before = baselineOf(baseline, report.distorted.name, encodes);
    checkBaseline(report, before, baseline.name, [{ metric, most: 0 }]);
    const worse = isWorseHigh(report, metric) ? 'high' : 'low';
    const values = STATISTICS[worse].flatMap((statistic) =>
      holdAgainstBaseline(report, before, baseline.name, { metric, statistic, most: 0 }).map((value) => ({
        ...value,
        statistic,
      })),
    );
    const worst = [before, report].map((one) => worstFrames(one, { metric, worse }, 1)[0]?.frameNum);
    const frames = differences(report, before, metric);
    return {
      before,
      values,
      rates: [bitrateOf(before), bitrateOf(report)],
      worst: [worst[0], worst[1]],
      frames,
      fallen: mostFallen(frames, metric, worse),
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

function mostFallen(
  frames: readonly FrameMetrics[],
  metric: string,
  worse: 'low' | 'high',
): Change['fallen'] {
  const sign = worse === 'high' ? -1 : 1;
  let found: Change['fallen'];
  for (const { frameNum, metrics } of frames) {
    const difference = metrics[metric] ?? 0;
    if (difference * sign < (found ? found.difference * sign : 0)) found = { frame: frameNum, difference };
  }
  return found;
}
