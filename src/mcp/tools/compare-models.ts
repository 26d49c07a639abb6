/**
 * @module mcp/tools/compare-models
 * `compare_models`: known by name to callers of the reference, refused until this package runs ONNX models.
 */
import * as z from 'zod/v4';
import { splitParameters, UNAVAILABLE, unavailable } from '../scoring/evaluation.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const compareModels = defineTool({
  name: 'compare_models',
  title: 'Rank ONNX models (not available)',
  description: `${UNAVAILABLE} It is there for the name: tiny ONNX models ranked by correlation. For VMAF models give several to models of vmaf_score_encoded.`,
  inputSchema: z.object({
    models: z.array(z.string().min(1)).min(1).describe('Paths of .onnx files.'),
    ...splitParameters,
  }),
  outputSchema: z.looseObject({}),
  annotations: READ_ONLY,
  async handler() {
    throw await unavailable('compare_models');
  },
});
