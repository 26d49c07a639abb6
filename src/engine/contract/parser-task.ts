/**
 * @module engine/contract/parser-task
 * Tasks of parser threads.
 */
import type { EvaluationSettings } from '../../evaluate/calls.js';

export type ParserTask =
  /** Video through mediabunny; browsers pass the library's URL if its name does not resolve. */
  | { readonly kind: 'video'; readonly library?: string }
  | { readonly kind: 'evaluation'; readonly settings: EvaluationSettings };
