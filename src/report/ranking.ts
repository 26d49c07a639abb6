/**
 * @module report/ranking
 * The metric that ranks frames, the worst frames (kept apart, so that one bad moment is listed once), and the viewer's
 * word for a score.
 */
import { requireArray, requireNumber, requireObject, requireText } from '../core/arguments.js';
import { reportedFeature } from '../metrics/extractors.js';
import { pairRate, type Sides } from './facts.js';
import { pooledMetric } from './pool.js';
import { type FrameMetrics, type Report, type ReportModel, requireParts } from './schema.js';

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
  const perceptual = PERCEPTUAL.flatMap((kind) => report.metrics.filter((name) => kind.test(name)));
  for (const metric of [...perceptual, ...report.metrics]) {
    const worse = reportedFeature(metric)?.worse;
    if (worse) return { metric, worse };
  }
  return undefined;
}

/** Scored frames in a second, rounded; 10 if the frame rate is unknown. */
export function frameGap(report: Sides): number {
  requireObject('report', report, 'a report');
  return Math.max(1, Math.round(pairRate(report) ?? 10));
}

/**
 * Returns the worst frames, worst first. Skips a frame nearer than `gap` to a worse one; of equal values takes
 * the earlier frame. Scans all frames once per frame found, instead of sorting a long report.
 * @param count at most this many
 * @param gap frames, 1 or more; default {@link frameGap}
 */
export function worstFrames(
  report: Pick<Report, 'frames'> & Sides,
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

/** A score as a viewer's word. */
export interface Opinion {
  readonly word: 'bad' | 'poor' | 'fair' | 'good' | 'excellent';
  /** A sentence that explains the word. */
  readonly means: string;
}

/** Viewing condition of a model's training votes: longer edges of pictures in pixels, and the screen. */
type Condition = readonly [from: number, below: number, view: string];

const HD: Condition = [1280, 3840, '1080p screen, three screen heights'];
const UHD: Condition = [3840, Number.POSITIVE_INFINITY, '2160p screen, one and a half screen heights'];
const CONDITIONS = new Map([
  ['vmaf_v0.6.1', HD],
  ['vmaf_b_v0.6.3', HD],
  ['vmaf_4k_v0.6.1', UHD],
]);

/** Votes lie about 20 apart on the score's scale: 20 is bad, 100 excellent. */
const WORDS = ['bad', 'poor', 'fair', 'good', 'excellent'] as const;

/**
 * Returns the vote nearest to a model's pooled mean; `undefined` if something (NEG, the phone transform, a
 * feature overload) changes what the score measures. `means` notes a picture size without votes: the model
 * works on pixels, so the word then holds for pixels as small as in the votes.
 */
export function viewerOpinion(
  report: Pick<Report, 'pooled_metrics' | 'reference'> & Partial<Pick<Report, 'pairing'>>,
  model: ReportModel,
): Opinion | undefined {
  requireParts('report', report, ['pooled_metrics', 'reference']);
  requireObject('model', model, 'a model of the report');
  requireArray('model.features', model.features, 'the names of features');
  requireObject('model.options', model.options);
  const score = pooledMetric(report, model.name)?.mean ?? Number.NaN;
  const condition = CONDITIONS.get(model.source);
  if (!condition || model.options.enableTransform || !Number.isFinite(score)) return undefined;
  // An overload shows in the name: integer_vif_scale0_egl_1.
  if (!model.features.every((name) => /^integer_(adm2|motion2|vif_scale[0-3])$/.test(name))) return undefined;
  const { width, height } = report.pairing ?? report.reference;
  const edge = Math.max(width, height);
  const [from, below, view] = condition;
  const shown = edge < from || edge >= below ? ' if shown pixel for pixel' : '';
  const word = WORDS[Math.min(4, Math.max(0, Math.round(score / 20) - 1))];
  return word && { word, means: `Average viewer's rating${shown} on a ${view} away.` };
}
