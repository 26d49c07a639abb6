/**
 * @module platform/node/evaluation-parser
 * Evaluates tiny models on tables of features in a parser process of Node.
 */

import { FOREIGN } from '../../core/origin.js';
import type { EvaluationCalls, EvaluationSettings } from '../../evaluate/evaluation.js';
import { serveEvaluation } from '../../evaluate/serve.js';
import type { Monitor, Served } from '../../parsing/serve.js';
import { nodeTiny } from './tiny/platform.js';

export function serveNodeEvaluation(settings: EvaluationSettings, monitor: Monitor): Served<EvaluationCalls> {
  const folder = () => new URL(settings.models ?? new URL('../../../model/', import.meta.url));
  return serveEvaluation(nodeTiny(folder, settings.origin ?? FOREIGN), monitor);
}
