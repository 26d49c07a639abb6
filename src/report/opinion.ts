/**
 * @module report/opinion
 * Converts a score to the word of a viewer, with the picture size and screen that it is valid for.
 */
import { requireArray, requireObject } from '../core/arguments.js';
import { pooledMetric } from './pool.js';
import { type Report, type ReportModel, requireParts } from './types.js';

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
