/**
 * @module mcp/tools/inspect-pair
 * `inspect_pair`: checks a pair for problems; `find_alignment`: finds the frame offset of two videos. Ours.
 */
import * as z from 'zod/v4';
import { findingDocument, trustDocument } from '../scoring/documents.js';
import { anyPair, model, optionalGeometry, pairingParameters } from '../scoring/parameters.js';
import { defineTool } from '../tool.js';
import { headKeys } from '../verdict.js';

const { preflight: _preflight, strict: _strict, ...pairing } = pairingParameters;

const sideDocument = z.looseObject({
  name: z.string(),
  container: z.string().nullable(),
  codec: z.string().nullable(),
  width: z.int(),
  height: z.int(),
  bit_depth: z.int(),
  chroma: z.string(),
  frame_rate: z.string().nullable(),
  frame_count: z.int().nullable(),
  duration: z.number().nullable(),
  bitrate: z.number().nullable(),
  size_bytes: z.int().nullable(),
});

export const inspectPairTool = defineTool({
  name: 'inspect_pair',
  title: 'Inspect a pair before scoring',
  description:
    'Checks two videos without scoring them: declared properties, and problems that would make a score wrong (size, frame ' +
    'rate, offset, range, borders, swapped files, ...), with fixes. Use it before a long score, or if a score looks wrong.',
  inputSchema: z.object({ ...anyPair, ...optionalGeometry, model, ...pairing }),
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    comparable: z.boolean().describe('False when trust is untrusted.'),
    trust: trustDocument,
    findings: z.array(findingDocument),
    reference: sideDocument,
    distorted: sideDocument,
    alignment: z
      .looseObject({ offset: z.int(), confidence: z.number(), reason: z.string(), explanation: z.string() })
      .nullable(),
  }),
  async handler(input, context) {
    const { inspectPair } = await import('../scoring/inspection.js');
    return { document: await inspectPair({ ...input, preflight: true, strict: false }, context) };
  },
});

export const findAlignmentTool = defineTool({
  name: 'find_alignment',
  title: 'Find the offset between two videos',
  description:
    'Finds the offset in frames between two videos, with a confidence and its reason. Shifts nothing: pass the offset to ' +
    'vmaf_score_encoded.',
  inputSchema: z.object({
    ...anyPair,
    ...optionalGeometry,
    window: z.int().min(1).max(1000).default(50).describe('Offsets to try: -window to window frames.'),
    decoder: pairingParameters.decoder,
  }),
  outputSchema: z.object({
    offset: z.int().describe('Distorted frame n matches reference frame n + offset.'),
    confidence: z.number().describe('0: a guess; 1: certain.'),
    ambiguous: z.boolean(),
    reason: z.enum(['clear', 'static', 'repetitive', 'edge', 'unrelated', 'short']),
    explanation: z.string(),
    candidates: z.array(z.object({ offset: z.int(), similarity: z.number() })),
    similarity: z.number().describe('Correlation of the pictures at the offset, -1 to 1.'),
    compared: z.int().describe('Frame pairs compared.'),
    match: z
      .object({ reference: z.int(), distorted: z.int() })
      .optional()
      .describe('The earliest matching frames, if frame rates differ.'),
    slip: z
      .object({ frame: z.int(), by: z.int(), ahead: z.int() })
      .optional()
      .describe('First frames lost (by > 0) or repeated (by < 0), after which the offset differs.'),
    levels: z
      .object({ gain: z.number(), bias: z.number() })
      .describe('Distorted luma is about gain * reference + bias, in 8-bit levels.'),
    repeated: z
      .object({ reference: z.int(), distorted: z.int() })
      .describe('Frames that repeat the previous one while the other video changes.'),
  }),
  handler: async (input, context) => ({
    document: await (await import('../scoring/inspection.js')).findAlignment(input, context),
  }),
});
