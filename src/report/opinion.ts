/**
 * @module report/opinion
 * The word that a viewer would use for a score, where that can be said honestly.
 */
import { requireArray, requireObject } from '../core/arguments.js';
import { pooledMetric } from './pool.js';
import { type Report, type ReportModel, requireParts } from './types.js';

/** A score in a word. */
export interface Opinion {
  readonly word: 'bad' | 'poor' | 'fair' | 'good' | 'excellent';
  /** A sentence on what the word stands for. */
  readonly means: string;
}

/** The viewing condition of the votes that a model was trained on, and the pictures it covers. */
interface Condition {
  /** Longer edge of the picture in samples: from, below. */
  readonly edge: readonly [number, number];
  readonly view: string;
}

const HD: Condition = { edge: [1280, 3840], view: '1080p screen, three screen heights' };
const UHD: Condition = {
  edge: [3840, Number.POSITIVE_INFINITY],
  view: '2160p screen, one and a half screen heights',
};
const CONDITIONS = new Map([
  ['vmaf_v0.6.1', HD],
  ['vmaf_b_v0.6.3', HD],
  ['vmaf_4k_v0.6.1', UHD],
]);

/** Votes lie about 20 apart on the score's scale: 20 is bad, 100 excellent. */
const WORDS = ['bad', 'poor', 'fair', 'good', 'excellent'] as const;

/**
 * The vote nearest to a model's pooled mean. Only where the pictures as compared have the size of the model's screen, and nothing
 * (NEG, the phone transform, a feature overload) changes what the score measures.
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
  if (edge < condition.edge[0] || edge >= condition.edge[1]) return undefined;
  const word = WORDS[Math.min(4, Math.max(0, Math.round(score / 20) - 1))];
  return word && { word, means: `In words: an average viewer's vote, ${condition.view} away.` };
}
