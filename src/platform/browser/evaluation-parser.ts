/**
 * @module platform/browser/evaluation-parser
 * Evaluates tiny models on tables of features in a parser worker of a browser.
 */

import type { EvaluationCalls, EvaluationSettings } from '../../evaluate/evaluation.js';
import { serveEvaluation } from '../../evaluate/serve.js';
import type { Monitor, Served } from '../../parsing/serve.js';
import { browserTiny } from './tiny-platform.js';

export function serveBrowserEvaluation(
  { models, base, onnxruntime }: EvaluationSettings,
  monitor: Monitor,
): Served<EvaluationCalls> {
  const tiny = browserTiny(
    () => models,
    () => onnxruntime,
    base === undefined ? undefined : () => base,
  );
  return serveEvaluation(tiny, monitor);
}
