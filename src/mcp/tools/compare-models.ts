/**
 * @module mcp/tools/compare-models
 * `compare_models`: tiny ONNX models ranked on the same rows of a table of features.
 */
import * as z from 'zod/v4';
import type { FailedEvaluation } from '../../index.js';
import { sentenceOf } from '../results.js';
import {
  evaluateOptions,
  evaluationParameters,
  evaluationSchema,
  resolveModel,
  tellEvaluation,
} from '../scoring/evaluation.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const compareModels = defineTool({
  name: 'compare_models',
  title: 'Rank ONNX models',
  description:
    'Ranks tiny ONNX models by how well they predict opinion scores on the same rows of a Parquet table of features: by ' +
    'descending PLCC, each with the figures of eval_model_on_split. Models that fail are listed with their reason and do ' +
    'not stop the others. For VMAF models on videos give several to models of vmaf_score_encoded.',
  inputSchema: z.object({
    models: z
      .array(z.string().min(1))
      .min(1)
      .max(100)
      .describe('Paths of .onnx files, or ids of registered tiny models.'),
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
    const { files, pool } = context;
    const table = await files.resolveInput(features);
    const errors: (FailedEvaluation & { readonly place: number })[] = [];
    const found: { readonly model: string; readonly source: string; readonly place: number }[] = [];
    for (const [place, model] of models.entries()) {
      try {
        found.push({ model, source: await resolveModel(model, context), place });
      } catch (error) {
        errors.push({ model, error: sentenceOf(error), place });
      }
    }
    return pool.run('compare_models', 1, async () => {
      const api = await import('../../index.js');
      const options = evaluateOptions({ features, ...input }, context);
      const sources = [...new Set(found.map(({ source }) => source))];
      const { ranked, errors: failed } =
        sources.length > 0 ? await api.compareModels(sources, table, options) : { ranked: [], errors: [] };
      for (const { model: source, error } of failed) {
        for (const { model, place } of found.filter((one) => one.source === source))
          errors.push({ model, error, place });
      }
      const named = (source: string) => found.find((one) => one.source === source)?.model ?? source;
      return {
        document: {
          ranked: ranked.map((one) => tellEvaluation(one, { model: named(one.model), features })),
          errors: errors.sort((a, b) => a.place - b.place).map(({ model, error }) => ({ model, error })),
        },
      };
    });
  },
});
