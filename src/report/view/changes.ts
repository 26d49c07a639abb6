/**
 * @module report/view/changes
 * Encodes before and after: pooled values and frames of reports held against those of an earlier run.
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

/** Pooled values that are held against each other, where low values are the worse ones and where high ones are. */
const STATISTICS = {
  low: ['mean', 'p5', 'p1', 'min', 'worst_second'],
  high: ['mean', 'p95', 'p99', 'max', 'worst_second'],
} as const satisfies Readonly<Record<string, readonly PooledStatistic[]>>;

type ChangeStatistic = (typeof STATISTICS)['low' | 'high'][number];

/** What became of an encode. */
export interface Change {
  readonly before: Report;
  readonly values: readonly (DropResult & { readonly statistic: ChangeStatistic })[];
  /** Bits per second before and now. */
  readonly rates: readonly [before: number | undefined, now: number | undefined];
  /** The worst frame before and now. */
  readonly worst: readonly [before: number | undefined, now: number | undefined];
  /** By how much the value of each frame has become greater. */
  readonly frames: readonly FrameMetrics[];
  /** The frame that became worse by most; `undefined` if none did. */
  readonly fallen: { readonly frame: number; readonly difference: number } | undefined;
}

/**
 * Holds an encode against its report in a baseline, by a metric.
 * @param encodes of the run
 * @returns a sentence where both do not compare
 */
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

/** The difference of each frame that has a finite value in both. */
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
