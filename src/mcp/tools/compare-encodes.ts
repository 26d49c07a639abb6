/**
 * @module mcp/tools/compare-encodes
 * `compare_encodes`: one reference, many encodes, one table. Ours.
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
import { defineTool, READ_ONLY } from '../tool.js';

const value = z.number().nullable();

export const compareEncodesTool = defineTool({
  name: 'compare_encodes',
  title: 'Compare encodes of one source',
  description:
    'Scores several encodes against one reference and answers one row per encode, best first: score, its worst 1 %, ' +
    'bit rate, size, and whether another encode is both smaller and better. Use it to ' +
    'choose between encoder settings or rungs of a ladder.',
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
    summary: z.string(),
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
  annotations: READ_ONLY,
  async handler(input, context) {
    const { compareEncodes } = await import('../scoring/comparison.js');
    return compareEncodes(input, context);
  },
});
