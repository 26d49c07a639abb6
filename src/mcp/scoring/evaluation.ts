/**
 * @module mcp/scoring/evaluation
 * What the two evaluation tools of the reference have in common while this package does not run ONNX models.
 */
import * as z from 'zod/v4';
import type { AnyvmafError } from '../../index.js';

/** How their descriptions begin. */
export const UNAVAILABLE = 'Not available in this build: every call is answered with an error.';

/** Which rows of which table. */
export const splitParameters = {
  features: z.string().min(1).describe('Path of a .parquet table of features.'),
  split: z.enum(['train', 'val', 'test', 'all']).default('test').describe('Rows to evaluate on.'),
  input_name: z.string().min(1).default('features').describe("Name of the graph's input tensor."),
};

/** The answer to every call. */
export async function unavailable(tool: string): Promise<AnyvmafError> {
  const { AnyvmafError } = await import('../../index.js');
  return new AnyvmafError(
    'usage',
    `${tool} is not available: this build does not run ONNX models, so nothing was evaluated; score videos with ` +
      'vmaf_score or vmaf_score_encoded.',
  );
}
