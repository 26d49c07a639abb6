/**
 * @module mcp/tools/score-batch
 * `score_batch`: many pairs, one table. Ours.
 */
import * as z from 'zod/v4';
import { inputPaths } from '../paths.js';
import { targetDocument, trustDocument } from '../scoring/documents.js';
import { model, pairingParameters, precision, target } from '../scoring/parameters.js';
import { defineTool } from '../tool.js';
import { headKeys } from '../verdict.js';

const { scale, offset, decoder, filters } = pairingParameters;
const value = z.number().nullable();

export const scoreBatchTool = defineTool({
  name: 'score_batch',
  title: 'Score a table of pairs',
  description:
    'Scores many pairs, each with its own reference. Answers one row per pair, in their order, and ' +
    'the whole table as a resource in CSV. compare_encodes ranks encodes of one source.',
  inputSchema: z.object({
    references: inputPaths('One for each encode, in the same order, or one for all.', 64),
    distorted: inputPaths('The encodes.', 64),
    model,
    precision,
    target,
    scale,
    offset,
    decoder,
    filters,
  }),
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    pairs: z
      .array(
        z.object({
          reference: z.string().describe('As it was given.'),
          distorted: z.string(),
          mean: value.optional().describe('Of the model; absent with error.'),
          harmonic_mean: value.optional(),
          min: value.optional(),
          p1: value.optional().describe('One frame in a hundred scores below this.'),
          frames: z.int().optional(),
          trust: trustDocument.optional(),
          preflight: z.array(z.string()).optional().describe('Errors and warnings, as sentences.'),
          target: targetDocument.optional().describe('With target: the verdict on it.'),
          error: z.string().optional().describe('Why the pair has no score.'),
        }),
      )
      .describe('In the order in which they were given.'),
    failed: z.int().describe('Pairs without a score.'),
    table: z.string().describe('URI of the table in CSV, for resources/read.'),
  }),
  handler: async (input, context) => (await import('../scoring/batch.js')).scoreTable(input, context),
});
