/**
 * @module mcp/scoring/encoding-parameters
 * Parameters of the tools that encode a source.
 */
import * as z from 'zod/v4';

/** Options beside the parameter that is searched. */
export const encoderOptions = z
  .record(z.string().max(64), z.string().max(400))
  .default({})
  .describe('Options of the encoder by name, such as {"preset": "slow"}.');

/** What a call may take. */
export const callLimits = {
  max_seconds: z.int().min(1).max(7200).default(900).describe('The call ends when it takes longer.'),
  max_temp_gb: z
    .number()
    .min(0.1)
    .max(100)
    .default(4)
    .describe('The call fails when temporary files take more.'),
};

/** What a call may take, and how much of the source it encodes. */
export const encodingLimits = {
  full: z.boolean().default(false).describe('Encode the whole source for every point, not samples.'),
  ...callLimits,
};
