/**
 * @module mcp/tools/inspect-pair
 * `inspect_pair`: checks a pair for problems; `find_alignment`: finds the frame offset between two videos.
 */
import * as z from 'zod/v4';
import type { SideFacts, Trust } from '../../index.js';
import { namedCause, TRUST_OUTLOOK, trustOf } from '../../report/trust.js';
import type { InputModel } from '../paths.js';
import { each, rows, textOrNull, value, whole, wholeOrNull } from '../schemas.js';
import {
  findingDocument,
  headKeys,
  headOf,
  nextForPair,
  nextWithFix,
  trustDocument,
} from '../scoring/answers.js';
import {
  type AnyPairInput,
  anyPair,
  anyRequest,
  model,
  optionalGeometry,
  type PairingInput,
  pairingParameters,
  tableOptions,
} from '../scoring/parameters.js';
import { defineTool, type ToolContext } from '../tool.js';
import { findingInParameters } from '../wording.js';

const { preflight: _preflight, strict: _strict, ...pairing } = pairingParameters;

const sideDocument = z.looseObject({
  name: z.string(),
  ...each(textOrNull, 'container', 'codec'),
  ...each(z.int(), 'width', 'height', 'bit_depth'),
  chroma: z.string(),
  frame_rate: textOrNull,
  frame_count: wholeOrNull,
  ...each(value, 'duration', 'bitrate'),
  size_bytes: wholeOrNull,
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
    window: whole(1, 1000).default(50).describe('Offsets to try: -window to window frames.'),
    decoder: pairingParameters.decoder,
  }),
  outputSchema: z.object({
    offset: z.int().describe('Distorted frame n matches reference frame n + offset.'),
    confidence: z.number().describe('0: a guess; 1: certain.'),
    ambiguous: z.boolean(),
    reason: z.enum(['clear', 'static', 'repetitive', 'edge', 'unrelated', 'short']),
    explanation: z.string(),
    candidates: rows({ offset: z.int(), similarity: z.number() }),
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
  async handler({ window, decoder, ...input }, { pool, signal, files: { origin } }) {
    const request = anyRequest(input);
    const options = { window, decoder, origin, signal };
    return { document: await pool.run(1, ({ api }) => api.align(request, options)) };
  },
});

async function inspectPair(
  input: AnyPairInput & PairingInput & { readonly model: InputModel },
  context: ToolContext,
) {
  const request = anyRequest(input);
  const { signal, files } = context;
  const options = { ...tableOptions(input), models: [input.model.text], origin: files.origin, signal };
  const { reference, distorted, findings, alignment } = await context.pool.run(1, ({ api }) =>
    api.inspect(request, options),
  );
  const named = findings.map((finding) => findingInParameters(finding));
  const trust = trustOf({ preflight: named });
  // vmaf_score takes raw video, but not what pairs it.
  const tools = request.raw ? (['vmaf_score', 'explain_score'] as const) : (['vmaf_score_encoded'] as const);
  const fixed = tools.map((tool) => nextWithFix(context, trust.fix, tool));
  const next = [...fixed, ...tools.map((tool) => nextForPair(context, tool))].find((call) => call);
  return {
    ...headOf({ trust, next }),
    summary: outlook(trust),
    comparable: trust.verdict !== 'untrusted',
    trust,
    findings: named,
    reference: side(reference),
    distorted: side(distorted),
    alignment: alignment ?? null,
  };
}

function outlook(trust: Trust): string {
  const { verdict, fix } = trust;
  if (verdict === 'fine') return `${TRUST_OUTLOOK.fine}.`;
  return `${TRUST_OUTLOOK[verdict]}: ${namedCause(trust)}${fix === undefined ? '' : ` Fix: ${fix}.`}`;
}

/** Leaves out the times of frames. */
function side(facts: SideFacts) {
  const { name, container = null, codec = null, width, height, bitDepth: bit_depth, chroma } = facts;
  const { frameRate: rate, frameCount: frame_count, duration = null, bitrate = null } = facts;
  return {
    ...{ name, container, codec, width, height, bit_depth, chroma },
    frame_rate: rate ? `${rate.num}/${rate.den}` : null,
    ...{ frame_count, duration, bitrate, size_bytes: facts.fileSize ?? null },
  };
}
