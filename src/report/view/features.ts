/**
 * @module report/view/features
 * The features that scores are made of, in words.
 */
import { labelOf } from './numbers.js';

/** What inner features measure; the first that fits counts. */
const MEANINGS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/motion/, 'motion: how much the original changes from frame to frame'],
  [/aim/, 'added impairment: detail that the original does not have'],
  [/vif_scale0/, 'finest detail that is left'],
  [/vif_scale1/, 'fine detail that is left'],
  [/vif_scale[23]/, 'coarse detail that is left'],
  [/vif/, 'detail that is left, at all scales'],
  [/adm_scale0/, 'contrast of the finest edges and texture'],
  [/adm_scale[123]/, 'contrast of coarser edges and texture'],
  [/adm/, 'contrast of edges and texture that is left'],
  [/speed_chroma/, 'detail of colours'],
  [/speed_temporal/, 'detail of changes over time'],
];

/** What an inner feature measures; `undefined` for metrics that people know by a name. */
export function featureMeaning(metric: string): string | undefined {
  return labelOf(metric) === metric ? MEANINGS.find(([pattern]) => pattern.test(metric))?.[1] : undefined;
}
