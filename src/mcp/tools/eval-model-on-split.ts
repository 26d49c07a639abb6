/**
 * @module mcp/tools/eval-model-on-split
 * `eval_model_on_split`: evaluates a tiny ONNX model on a table of features.
 */
import * as z from 'zod/v4';
import { tinyModel } from '../paths.js';
import {
  evaluateOptions,
  evaluationDocument,
  evaluationParameters,
  evaluationSchema,
  SPARE_OF_EVALUATION,
} from '../scoring/evaluation.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const evalModelOnSplit = defineTool({
  name: 'eval_model_on_split',
  title: 'Evaluate an ONNX model',
  description:
    'Measures how well a tiny ONNX model predicts opinion scores, the column mos of a Parquet table of features, on ' +
    'the rows of a split. Gives PLCC, SROCC, KROCC and RMSE with 95 % intervals, of rows, of clips and of each key. ' +
    "The model's sidecar is applied.",
  inputSchema: z.object({
    model: tinyModel('Path of an .onnx file, or id of a registered tiny model.'),
    ...evaluationParameters,
  }),
  outputSchema: evaluationSchema,
  annotations: READ_ONLY,
  async handler({ model, features, ...input }, context) {
    return context.pool.run('eval_model_on_split', 1, async () => {
      const { evaluateModel } = await import('../checked-api.js');
      const evaluation = await evaluateModel(model.text, features.path, evaluateOptions(input, context));
      return {
        document: evaluationDocument(evaluation, { model: model.named, features: features.named }),
        spare: SPARE_OF_EVALUATION,
      };
    });
  },
});
