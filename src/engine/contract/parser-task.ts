/**
 * @module engine/contract/parser-task
 * What parser threads are started for.
 */
import type { EvaluationSettings } from '../../evaluate/calls.js';

export type ParserTask =
  /** Video through mediabunny; browsers say where the library is, where it is not found by its name. */
  | { readonly kind: 'video'; readonly library?: string }
  | { readonly kind: 'evaluation'; readonly settings: EvaluationSettings };
