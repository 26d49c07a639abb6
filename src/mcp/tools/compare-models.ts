/**
 * @module mcp/tools/compare-models
 * `compare_models`: tiny ONNX models ranked on the same rows of a table of features.
 */
import * as z from 'zod/v4';
import type { FailedEvaluation } from '../../index.js';
import { type InputModel, tinyModels } from '../paths.js';
import {
  evaluateOptions,
  evaluationDocument,
  evaluationParameters,
  evaluationSchema,
  SPARE_OF_EVALUATION,
} from '../scoring/evaluation.js';
import { defineTool, READ_ONLY } from '../tool.js';
import { sentenceOf } from '../wording.js';

export const compareModels = defineTool({
  name: 'compare_models',
  title: 'Rank ONNX models',
  description:
    'Ranks tiny ONNX models by how well they predict opinion scores on the same rows of a Parquet table of features: by ' +
    'descending PLCC, each with the figures of eval_model_on_split.',
  inputSchema: z.object({
    models: tinyModels('Paths of .onnx files, or ids of registered tiny models.', 100),
    ...evaluationParameters,
  }),
  outputSchema: z.looseObject({
    ranked: z.array(evaluationSchema).describe('By descending PLCC; where it is not defined, last.'),
    errors: z
      .array(z.object({ model: z.string(), error: z.string() }))
      .describe('Models that could not be evaluated, in the order in which they were named.'),
  }),
  annotations: READ_ONLY,
  async handler({ models, features, ...input }, context) {
    const errors: (FailedEvaluation & { readonly place: number })[] = [];
    const found: (InputModel & { readonly place: number })[] = [];
    for (const [place, item] of models.entries()) {
      if ('text' in item) found.push({ ...item, place });
      else errors.push({ model: item.named, error: sentenceOf(item.refusal), place });
    }
    return context.pool.run('compare_models', 1, async () => {
      const api = await import('../checked-api.js');
      const options = evaluateOptions(input, context);
      const texts = [...new Set(found.map(({ text }) => text))];
      const { ranked, errors: failed } =
        texts.length > 0
          ? await api.compareModels(texts, features.path, options)
          : { ranked: [], errors: [] };
      for (const { model, error } of failed) {
        for (const { named, place } of found.filter(({ text }) => text === model))
          errors.push({ model: named, error, place });
      }
      const nameOf = (model: string) => found.find(({ text }) => text === model)?.named ?? model;
      return {
        document: {
          ranked: ranked.map((one) =>
            evaluationDocument(one, { model: nameOf(one.model), features: features.named }),
          ),
          errors: errors.sort((a, b) => a.place - b.place).map(({ model, error }) => ({ model, error })),
        },
        spare: SPARE_OF_EVALUATION.map((key) => `ranked.[].${key}`),
      };
    });
  },
});
