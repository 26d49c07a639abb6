/**
 * @module engine/results/report-head
 * The report's inputs and request, and its warnings about different lengths.
 */
import { version } from '../../core/version.js';
import type { OpenPair } from '../../media/pairing/prepare.js';
import type { Report, ReportHead, ReportInput } from '../../report/types.js';
import type { CheckedOptions } from '../contract/options.js';
import { type Extent, explainLengths, type Pair, type PairLengths, reportInput } from '../pair/pair.js';

type Inputs = Pick<Report, 'reference' | 'distorted'>;

type HeadOptions = Pick<CheckedOptions, 'backend' | 'single' | 'subsample'>;

/** The report's inputs, as far as they are known before reading. */
export function inputsOf(known: Pair): Inputs {
  const skipped = known.plan?.first ?? known.skip;
  return {
    reference: reportInput(known.sides.reference, skipped.reference, known.colours?.reference),
    distorted: reportInput(known.sides.distorted, skipped.distorted, known.colours?.distorted),
  };
}

/** The report's description of the request. @param extent of the run, once it is over */
export function headOf(
  inputs: Inputs,
  { backend, single, subsample }: HeadOptions,
  extent?: Extent,
): Pick<
  ReportHead,
  'version' | 'reference' | 'distorted' | 'backend_requested' | 'noReference' | 'subsample'
> {
  const input = (role: 'reference' | 'distorted'): ReportInput => {
    const { frameCount, ...facts } = inputs[role];
    const counted = extent?.ended?.[role] ? facts.skipped + extent.pairs : null;
    return { ...facts, frameCount: frameCount ?? counted };
  };
  return {
    version,
    reference: input('reference'),
    distorted: input('distorted'),
    backend_requested: backend,
    ...(single && { noReference: true as const }),
    subsample,
  };
}

interface Said {
  readonly inputs: Inputs;
  readonly lengths: PairLengths;
  readonly extent: Extent;
  /** Whether frames are paired or converted instead of compared as stored. */
  readonly planned: boolean;
}

/** Reports different lengths once: of stored pairs as a warning with their number, else as a finding if any. */
export function sayLengths(
  { inputs, lengths, extent, planned }: Said,
  { pairing, single, frameCount }: Pick<CheckedOptions, 'pairing' | 'single' | 'frameCount'>,
  findings: Report['preflight'],
): { readonly findings: Report['preflight']; readonly warnings: readonly string[] } {
  // A finding of many lost frames already explains it.
  if (findings?.some(({ code }) => code === 'lost-frames')) return { findings, warnings: [] };
  const warnings = pairing.range || single ? [] : explainLengths(inputs, lengths, extent, frameCount);
  const twice = warnings.length > 0 && findings?.some(({ code }) => code === 'frame-count') === true;
  if (!twice) return { findings, warnings };
  if (planned) return { findings, warnings: [] };
  return { findings: findings.filter(({ code }) => code !== 'frame-count'), warnings };
}

/** Warnings of decoders, some of which arrive only at the end. */
export function decoderWarnings({ sides }: Pair, pair: OpenPair): string[] {
  return (['reference', 'distorted'] as const).flatMap((role) =>
    sides[role].kind === 'encoded' ? pair[role].info.warnings : [],
  );
}
