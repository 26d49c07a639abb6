/**
 * @module mcp/scoring/inspection
 * Inspects and aligns a pair without scoring it, for tools.
 */
import { type SideFacts, type Trust, trustOf } from '../../index.js';
import { namedCause, TRUST_OUTLOOK } from '../../report/trust.js';
import type { ToolContext } from '../context.js';
import type { InputModel } from '../paths.js';
import { headOf, nextForPair, nextWithFix } from '../verdict.js';
import { findingInParameters } from '../wording.js';
import { tableOptions } from './options.js';
import type { PairingInput } from './parameters.js';
import { type AnyPairInput, anyRequest } from './run.js';

export async function inspectPair(
  input: AnyPairInput & PairingInput & { readonly model: InputModel },
  context: ToolContext,
) {
  const request = anyRequest(input);
  const { signal, files } = context;
  const { origin } = files;
  const { reference, distorted, findings, alignment } = await context.pool.run(1, ({ api }) =>
    api.inspect(request, { ...tableOptions(input), models: [input.model.text], origin, signal }),
  );
  const named = findings.map((finding) => findingInParameters(finding));
  const trust = trustOf({ preflight: named });
  const tool = request.raw ? 'vmaf_score' : 'vmaf_score_encoded';
  return {
    ...headOf({ trust, next: nextWithFix(context, trust.fix, tool) ?? nextForPair(context, tool) }),
    summary: outlook(trust),
    comparable: trust.verdict !== 'untrusted',
    trust,
    findings: named,
    reference: side(reference),
    distorted: side(distorted),
    alignment: alignment ?? null,
  };
}

export async function findAlignment(
  input: AnyPairInput & { readonly window: number; readonly decoder: PairingInput['decoder'] },
  context: ToolContext,
) {
  const request = anyRequest(input);
  const { window, decoder } = input;
  const { signal, files } = context;
  const { origin } = files;
  return context.pool.run(1, ({ api }) => api.align(request, { window, decoder, origin, signal }));
}

function outlook(trust: Trust): string {
  const { verdict, fix } = trust;
  if (verdict === 'fine') return `${TRUST_OUTLOOK.fine}.`;
  return `${TRUST_OUTLOOK[verdict]}: ${namedCause(trust)}${fix === undefined ? '' : ` Fix: ${fix}.`}`;
}

/** Leaves out the times of frames. */
function side(facts: SideFacts) {
  const { frameRate: rate } = facts;
  return {
    name: facts.name,
    container: facts.container ?? null,
    codec: facts.codec ?? null,
    width: facts.width,
    height: facts.height,
    bit_depth: facts.bitDepth,
    chroma: facts.chroma,
    frame_rate: rate ? `${rate.num}/${rate.den}` : null,
    frame_count: facts.frameCount,
    duration: facts.duration ?? null,
    bitrate: facts.bitrate ?? null,
    size_bytes: facts.fileSize ?? null,
  };
}
