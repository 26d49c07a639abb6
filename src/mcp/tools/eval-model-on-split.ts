/**
 * @module mcp/tools/eval-model-on-split
 * `eval_model_on_split`: known by name to callers of the reference, refused until this package runs ONNX models.
 */
import * as z from 'zod/v4';
import { splitParameters, UNAVAILABLE, unavailable } from '../scoring/evaluation.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const evalModelOnSplit = defineTool({
  name: 'eval_model_on_split',
  title: 'Evaluate an ONNX model (not available)',
  description: `${UNAVAILABLE} It is there for the name: correlations of a tiny ONNX model with subjective scores.`,
  inputSchema: z.object({
    model: z.string().min(1).describe('Path of an .onnx file.'),
    ...splitParameters,
  }),
  outputSchema: z.looseObject({}),
  annotations: READ_ONLY,
  async handler() {
    throw await unavailable('eval_model_on_split');
  },
});
