/**
 * @module platform/browser/evaluation-parser
 * What a parser worker of a browser does with tables of features and tiny models.
 */
import type { Served, Watched } from '../../parsing/serve.js';
import type { EvaluationCalls, EvaluationSettings } from '../../score/evaluation-calls.js';
import { serveEvaluation } from '../../score/evaluation-serve.js';
import { browserTiny } from './tiny/platform.js';

export function serveBrowserEvaluation(
  { models, base, onnxruntime }: EvaluationSettings,
  watched: Watched,
): Served<EvaluationCalls> {
  const tiny = browserTiny(
    () => models,
    () => onnxruntime,
    base === undefined ? undefined : () => base,
  );
  return serveEvaluation(tiny, watched);
}
