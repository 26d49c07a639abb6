/**
 * @module engine/score
 * Scores one pair of videos from the request to the report: opens, checks, plans, measures, and puts the report together.
 */

import { unlessAborted } from '../core/abort.js';
import { version } from '../core/version.js';
import { checkMeasurable } from '../media/pair.js';
import type { OpenDecoder } from '../media/pairing/prepare.js';
import { buildReport } from '../report/build.js';
import type { Report } from '../report/types.js';
import type { Measured } from './backends/measurement.js';
import { prepareBackend } from './backends/open.js';
import { type CheckedOptions, checkOptions, checkRequest, SCORE_OPTIONS } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import type { ScoreOptions, ScoreRequest } from './contract/types.js';
import { formatOf, type KnownInputs, type ReadyInputs, reportInput } from './inputs/known.js';
import { identifyInputs, RunInputs } from './inputs/open.js';
import {
  describePair,
  type Extent,
  expectPairs,
  explainLengths,
  refuseEmpty,
  refuseTruncated,
} from './inputs/pair.js';
import { PairChecks } from './inputs/pair-checks.js';
import type { SharedInspection } from './inputs/shared-inspection.js';
import type { Steering } from './live/steering.js';
import { Meter } from './results/progress.js';
import { Scope } from './scope.js';

/** Overrides for a run that shares its reference with others. */
export interface RunVariant {
  /** Opens decoders instead of media/decoders. */
  readonly openDecoder?: OpenDecoder;
  /** Inspects the reference once for all runs. */
  readonly inspection?: SharedInspection;
  /** Steers the run. */
  readonly steering?: Steering;
}

/**
 * Scores a pair. When the promise settles, all threads, processes, open files and timers of the run are gone.
 * @throws {AnyvmafError} as the public `score`; the signal's reason when aborted
 */
export async function scorePair(
  platform: Platform,
  request: ScoreRequest,
  options: ScoreOptions,
  variant: RunVariant = {},
): Promise<Report> {
  const checked = checkOptions(options, SCORE_OPTIONS);
  checkRequest(request, checked.noReference);
  const scope = new Scope(options.signal);
  try {
    return await unlessAborted(options.signal, run({ platform, request, options, checked, variant }, scope));
  } finally {
    await scope.close();
  }
}

/** A call of {@link scorePair}. */
interface Call {
  readonly platform: Platform;
  readonly request: ScoreRequest;
  readonly options: ScoreOptions;
  readonly checked: CheckedOptions;
  readonly variant: RunVariant;
}

async function run({ platform, request, options, checked, variant }: Call, scope: Scope): Promise<Report> {
  const { openDecoder, inspection, steering } = variant;
  // Load inputs and models concurrently; report errors of inputs before those of models.
  const inputs = new RunInputs(identifyInputs(platform, request, checked, scope.signal, inspection));
  scope.own(() => inputs.close());
  const format = async () => formatOf(await inputs.known);
  const openBackend = prepareBackend(platform, checked, { options, format, signal: scope.signal, steering });
  const checks = new PairChecks(platform, checked, inspection, scope.signal);
  scope.own(() => checks.close());

  const known = await inputs.known;
  // Stored pairs were checked when they were opened.
  if (known.plan) checkMeasurable(known.plan.format);
  const backend = await openBackend(known);
  await checks.refuse(known, backend.requested);
  // If aborted while opening inputs, do not start decoders or workers.
  scope.signal.throwIfAborted();
  const ready = await inputs.open(known, checked, openDecoder);
  const planned = backend.plan(ready);
  scope.own(() => planned.close());
  await refuseTruncated(ready, ready.limit);
  scope.signal.throwIfAborted();

  const { expected, bound } = expectPairs(ready, ready.limit);
  const aside = planned.isAside(expected);
  const inThread = !aside || describePair(ready) === undefined;
  // A run in this thread is so short that an inspection would take longer.
  const inspectStored = options.preflight === true && aside;
  const reading = { expected, inThread, inspectStored };
  const pair = await checks.observe(known, backend.requested, ready, reading);
  const meter = new Meter(options.onProgress, expected);
  const head = (extent?: Extent) => headOf(known, pair, checked, extent);
  const measured = await planned.measure({
    pair,
    expected,
    bound,
    meter,
    continuity: inThread ? undefined : checks.continuity,
    onStart: (start) => options.onStart?.({ ...head(), ...start }),
  });
  refuseEmpty(pair, measured.extent);
  meter.finish();
  const findings = await checks.findings(measured.extent.pairs, measured.backend_used);
  const said = sayLengths(known, pair, checked, measured, findings);
  return buildReport({
    ...head(measured.extent),
    fps: meter.fps,
    ...measured,
    pairing: checked.noReference ? undefined : pair.describe?.(measured.extent.pairs),
    preflight: said.findings,
    frameCount: measured.extent.pairs,
    warnings: [...known.warnings, ...decoderWarnings(known, pair), ...measured.warnings, ...said.warnings],
  });
}

/** The report's description of the request. @param extent of the run, once it is over */
function headOf(
  known: KnownInputs,
  pair: ReadyInputs,
  { backend, noReference, subsample }: Pick<CheckedOptions, 'backend' | 'noReference' | 'subsample'>,
  extent?: Extent,
) {
  const skipped = known.plan?.first ?? { reference: pair.skipReference, distorted: pair.skipDistorted };
  const input = (role: 'reference' | 'distorted') => {
    const counted = extent?.ended?.[role] ? skipped[role] + extent.pairs : null;
    return reportInput(known.sides[role], skipped[role], counted);
  };
  return {
    version,
    reference: input('reference'),
    distorted: input('distorted'),
    backend_requested: backend,
    ...(noReference && { noReference: true as const }),
    subsample,
  };
}

/**
 * Reports different lengths once: for stored pairs as a warning, which knows how many pairs there were, for others as a
 * finding where there is one.
 */
function sayLengths(
  known: KnownInputs,
  pair: ReadyInputs,
  { pairing, noReference, frameCount }: Pick<CheckedOptions, 'pairing' | 'noReference' | 'frameCount'>,
  { extent }: Measured,
  findings: Report['preflight'],
): { readonly findings: Report['preflight']; readonly warnings: readonly string[] } {
  const warnings = pairing.range || noReference ? [] : explainLengths(pair, extent, frameCount);
  const twice = warnings.length > 0 && findings?.some(({ code }) => code === 'frame-count') === true;
  if (!twice) return { findings, warnings };
  if (known.plan) return { findings, warnings: [] };
  return { findings: findings.filter(({ code }) => code !== 'frame-count'), warnings };
}

/** Warnings of decoders, some of which arrive only at the end. */
function decoderWarnings({ sides }: KnownInputs, pair: ReadyInputs): string[] {
  return (['reference', 'distorted'] as const).flatMap((role) =>
    sides[role].kind === 'encoded' ? pair[role].info.warnings : [],
  );
}
