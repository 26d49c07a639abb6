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
    'Scores several encodes against one reference and decides which to ship: Pareto front of size and quality, ties ' +
    'within measurement error, and score, bit rate, size and worst moments of each encode, best first. Pass target if ' +
    'there is one.',
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
      ship: z.string().nullable().describe('The encode to ship; null if no score can be trusted.'),
      reason: z
        .enum([
          'smallest-that-reaches',
          'none-reaches',
          'best-and-smallest',
          'smallest-as-good',
          'best',
          'none-trusted',
        ])
        .describe(
          'smallest-as-good: the smallest of those that the measurement, or a viewer, cannot tell from the best.',
        ),
      pareto_front: z.array(z.int()).describe('Ranks of encodes that no other dominates, smallest first.'),
      ties: z
        .array(z.array(z.int()))
        .describe(
          'Ranks of encodes within measurement error of each other: the 95 % interval of the difference contains 0.',
        ),
      smaller: z
        .object({ rank: z.int(), saves_percent: z.number(), loses_points: z.number() })
        .nullable()
        .describe('The next smaller encode on the front.'),
    }),
    model: z.string(),
    metric: z.string().describe('Key of the score in reports.'),
    encodes: z
      .array(
        z.object({
          distorted: z.string().describe('As given.'),
          rank: z.int(),
          mean: value,
          harmonic_mean: value,
          min: value,
          p1: value.describe('1 % of the frames score below this.'),
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
            'On the Pareto front: points gained per doubling of the size, from the next smaller encode.',
          ),
          worst_moments: z
            .array(z.object({ frame: z.int(), seconds: z.number().optional(), value: z.number() }))
            .describe('Worst first, at least a second apart.'),
          trust: trustDocument,
          preflight: z.array(z.string()).describe('Errors and warnings, as sentences.'),
          mismatched_model_warning: z.string().optional(),
          target: targetDocument.optional().describe('With target: the verdict on it.'),
        }),
      )
      .describe('Best first, by mean; untrusted ones last.'),
    errors: z
      .array(z.object({ distorted: z.string(), error: z.string() }))
      .describe('Encodes that could not be scored, in input order.'),
    page: resourceDocument.optional().describe('The result as an HTML page with charts, for people.'),
  }),
  handler: async (input, context) =>
    (await import('../scoring/comparison.js')).compareEncodes(input, context),
});

const { scale, offset, decoder, filters } = pairingParameters;

export const scoreBatchTool = defineTool({
  name: 'score_batch',
  title: 'Score a table of pairs',
  description:
    'Scores many pairs, each with its own reference. Returns one row per pair, in input order, and the whole table as a ' +
    'CSV resource. For encodes of one source, use compare_encodes, which ranks them.',
  inputSchema: z.object({
    references: inputPaths('One per encode, in the same order, or one for all.', 64),
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
          reference: z.string().describe('As given.'),
          distorted: z.string(),
          mean: value.optional().describe('Mean score of the model; absent with error.'),
          harmonic_mean: value.optional(),
          min: value.optional(),
          p1: value.optional().describe('1 % of the frames score below this.'),
          frames: z.int().optional(),
          trust: trustDocument.optional(),
          preflight: z.array(z.string()).optional().describe('Errors and warnings, as sentences.'),
          target: targetDocument.optional().describe('With target: the verdict on it.'),
          error: z.string().optional().describe('Why the pair has no score.'),
        }),
      )
      .describe('In input order.'),
    failed: z.int().describe('Pairs without a score.'),
    table: z.string().describe('URI of the CSV table, for resources/read.'),
  }),
  handler: async (input, context) => (await import('../scoring/batch.js')).scoreTable(input, context),
});
