/**
 * @module mcp/tools/compare-encodes
 * `compare_encodes`: one reference, many encodes, one table; `score_batch`: many pairs, one table. Ours.
 */
import * as z from 'zod/v4';
import { inputPaths } from '../paths.js';
import { resourceDocument, targetDocument, trustDocument } from '../scoring/documents.js';
import {
  anyPair,
  model,
  optionalGeometry,
  pairingParameters,
  precision,
  subsample,
  target,
} from '../scoring/parameters.js';
import { defineTool } from '../tool.js';
import { headKeys } from '../verdict.js';

const value = z.number().nullable();

export const compareEncodesTool = defineTool({
  name: 'compare_encodes',
  title: 'Compare encodes of one source',
  description:
    'Scores several encodes against one reference and decides which to ship: the Pareto front of size and quality, ' +
    'ties within the error of the measurement, and for each encode, best first, score, bit rate, size and where it ' +
    'breaks. Give a target if there is one.',
  inputSchema: z.object({
    reference: anyPair.reference,
    distorted: inputPaths('The encodes.', 32),
    ...optionalGeometry,
    model,
    subsample,
    precision,
    target,
    ...pairingParameters,
  }),
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    decision: z.object({
      ship: z.string().nullable().describe('The encode to ship; null where no score can be trusted.'),
      reason: z
        .enum([
          'smallest-that-reaches',
          'none-reaches',
          'best-and-smallest',
          'smallest-as-good',
          'best',
          'none-trusted',
        ])
        .describe('smallest-as-good: neither measurement nor viewer can tell it from the best.'),
      pareto_front: z.array(z.int()).describe('Ranks, the smallest first: no other is as small and better.'),
      ties: z
        .array(z.array(z.int()))
        .describe(
          'Ranks whose difference is within the error of the measurement: its 95 % interval contains 0.',
        ),
      smaller: z
        .object({ rank: z.int(), saves_percent: z.number(), loses_points: z.number() })
        .nullable()
        .describe('The next smaller one on the front.'),
    }),
    model: z.string(),
    metric: z.string().describe('Key of the score in reports.'),
    encodes: z
      .array(
        z.object({
          distorted: z.string().describe('As it was given.'),
          rank: z.int(),
          mean: value,
          harmonic_mean: value,
          min: value,
          p1: value.describe('One frame in a hundred scores below this.'),
          p5: value,
          bitrate: z.number().nullable().describe('Bits per second of the video.'),
          size_bytes: z.int().nullable(),
          dominated_by: z
            .string()
            .nullable()
            .describe('An encode that is no larger and scores no lower, and is better in one of the two.'),
          width: z.int(),
          height: z.int(),
          frames: z.int(),
          codec: z.string().nullable(),
          worst_frame: z.int().nullable(),
          bits_per_pixel: value,
          points_per_doubling: value.describe(
            'On the Pareto front: points gained per doubling of the bytes, from the next smaller one.',
          ),
          worst_moments: z
            .array(z.object({ frame: z.int(), seconds: z.number().optional(), value: z.number() }))
            .describe('Where it breaks, the worst first, at least a second apart.'),
          trust: trustDocument,
          preflight: z.array(z.string()).describe('Errors and warnings, as sentences.'),
          mismatched_model_warning: z.string().optional(),
          target: targetDocument.optional().describe('With target: the verdict on it.'),
        }),
      )
      .describe('Best first, by mean; those whose score cannot be trusted last.'),
    errors: z
      .array(z.object({ distorted: z.string(), error: z.string() }))
      .describe('Encodes that could not be scored, in the order in which they were named.'),
    page: resourceDocument.optional().describe('All of it as an HTML page with charts, for people.'),
  }),
  handler: async (input, context) =>
    (await import('../scoring/comparison.js')).compareEncodes(input, context),
});

const { scale, offset, decoder, filters } = pairingParameters;

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
