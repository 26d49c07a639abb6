/**
 * @module mcp/tools/find-alignment
 * `find_alignment`: the offset at which two videos show the same pictures. Ours.
 */
import * as z from 'zod/v4';
import { anyPair, optionalGeometry, pairingParameters } from '../scoring/parameters.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const findAlignmentTool = defineTool({
  name: 'find_alignment',
  title: 'Find the offset between two videos',
  description:
    'Finds by how many frames two videos are shifted against each other, with a confidence and the reason for it. ' +
    'Pass the offset to vmaf_score_encoded; nothing is shifted here.',
  inputSchema: z.object({
    ...anyPair,
    ...optionalGeometry,
    window: z.int().min(1).max(1000).default(50).describe('Offsets tried are -window to window frames.'),
    decoder: pairingParameters.decoder,
  }),
  outputSchema: z.object({
    offset: z.int().describe('Distorted frame n shows what reference frame n + offset shows.'),
    confidence: z.number().describe('0 a guess, 1 certain.'),
    ambiguous: z.boolean(),
    reason: z.enum(['clear', 'static', 'repetitive', 'edge', 'unrelated', 'short']),
    explanation: z.string(),
    candidates: z.array(z.object({ offset: z.int(), similarity: z.number() })),
    similarity: z.number().describe('Correlation of the pictures at the offset, -1 to 1.'),
    compared: z.int().describe('Pairs of frames compared.'),
    levels: z
      .object({ gain: z.number(), bias: z.number() })
      .describe('Distorted luma is about gain times reference plus bias, in 8-bit levels.'),
    repeated: z
      .object({ reference: z.int(), distorted: z.int() })
      .describe('Frames that repeat the one before while the other video moves on.'),
  }),
  annotations: READ_ONLY,
  async handler(input, context) {
    const { findAlignment } = await import('../scoring/inspection.js');
    return { document: await findAlignment(input, context) };
  },
});
