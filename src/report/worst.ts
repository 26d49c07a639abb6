/**
 * @module report/worst
 * Finds the worst frames, kept apart so that one bad moment is listed once.
 */
import { requireNumber, requireObject, requireText } from '../core/arguments.js';
import { quotientOf } from '../core/rational.js';
import { reportedFeature } from '../metrics/extractors.js';
import { type FrameMetrics, type Report, requireParts } from './types.js';

/** One of the worst frames of a run. */
export interface WorstFrame {
  readonly frameNum: number;
  readonly value: number;
}

/** The metric by which frames are ranked. */
export interface Ranking {
  readonly metric: string;
  /** `low`: the smallest values are the worst. */
  readonly worse: 'low' | 'high';
}

/** Metrics that rank before all other features, best first. */
const PERCEPTUAL = [/^(?:ssimulacra2|butteraugli|cvvdp)(?:_|$)/, /^xpsnr_weighted(?:_|$)/];

/**
 * Returns the metric that ranks frames: the first model's score, else the first tiny model's, else the first
 * perceptual metric, else the first feature with a direction.
 * @param report may come from a file without models
 * @returns `undefined` if no metric has a direction
 * @throws {AnyvmafError} `usage` if it is not a report
 */
export function ranking(
  report: Pick<Report, 'metrics'> & Partial<Pick<Report, 'models' | 'tiny'>>,
): Ranking | undefined {
  requireParts('report', report, ['metrics']);
  const model = report.models?.find(({ name }) => report.metrics.includes(name));
  if (model) return { metric: model.name, worse: 'low' };
  const [tiny] = report.tiny ?? [];
  const [score] = tiny?.metrics ?? [];
  if (tiny && score !== undefined) return { metric: score, worse: tiny.better === 'lower' ? 'high' : 'low' };
  const first = PERCEPTUAL.flatMap((kind) => report.metrics.filter((name) => kind.test(name)));
  for (const metric of [...first, ...report.metrics]) {
    const worse = reportedFeature(metric)?.worse;
    if (worse) return { metric, worse };
  }
  return undefined;
}

/** Frames in a second, rounded; 10 if the frame rate is unknown. */
export function frameGap(report: Partial<Pick<Report, 'reference'>>): number {
  requireObject('report', report, 'a report');
  const { reference } = report;
  return Math.max(1, Math.round(quotientOf(reference?.frameRate) ?? 10));
}

/**
 * Returns the worst frames, worst first. Skips a frame nearer than `gap` to a worse one; of equal values takes
 * the earlier frame. Scans all frames once per frame found, instead of sorting a long report.
 * @param count at most this many
 * @param gap frames, 1 or more; default {@link frameGap}
 */
export function worstFrames(
  report: Pick<Report, 'frames'> & Partial<Pick<Report, 'reference'>>,
  by: Ranking,
  count = 5,
  gap = frameGap(report),
): WorstFrame[] {
  requireParts('report', report, ['frames']);
  requireObject('by', by, 'the result of ranking(): a metric, and low or high');
  requireText('by.metric', by.metric, 'the name of a metric');
  requireNumber('count', count);
  requireNumber('gap', gap);
  const { frames } = report;
  // Lower is worse; NaN means no value, and every comparison with it is false.
  const direction = by.worse === 'low' ? 1 : -1;
  const values = Float64Array.from(frames, ({ metrics }) => {
    const value = metrics[by.metric];
    return typeof value === 'number' ? direction * value : Number.NaN;
  });
  const taken: WorstFrame[] = [];
  while (taken.length < count) {
    let worst: FrameMetrics | undefined;
    let least = Number.NaN;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] ?? Number.NaN;
      const frame = frames[i];
      if (!frame || Number.isNaN(value) || value > least) continue;
      if (worst && value === least && frame.frameNum > worst.frameNum) continue;
      if (taken.some(({ frameNum }) => Math.abs(frameNum - frame.frameNum) < gap)) continue;
      [worst, least] = [frame, value];
    }
    if (!worst) break;
    taken.push({ frameNum: worst.frameNum, value: direction * least });
  }
  return taken;
}
