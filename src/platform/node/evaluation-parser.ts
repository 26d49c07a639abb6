/**
 * @module platform/node/evaluation-parser
 * What a parser process of Node does with tables of features and tiny models.
 */
import type { Served, Watched } from '../../parsing/serve.js';
import type { EvaluationCalls, EvaluationSettings } from '../../score/evaluation-calls.js';
import { serveEvaluation } from '../../score/evaluation-serve.js';
import { nodeTiny } from './tiny/platform.js';

export function serveNodeEvaluation(settings: EvaluationSettings, watched: Watched): Served<EvaluationCalls> {
  const models = new URL(settings.models);
  return serveEvaluation(
    nodeTiny(() => models),
    watched,
  );
}
