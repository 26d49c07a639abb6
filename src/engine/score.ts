/**
 * @module engine/score
 * Scores one pair of videos from the request to the report: opens, plans, measures, finishes, predicts, pools.
 */

import { unlessAborted } from '../core/abort.js';
import { version } from '../core/version.js';
import { checkMeasurable } from '../media/pair.js';
import type { OpenDecoder } from '../media/pairing/prepare.js';
import { buildReport } from '../report/build.js';
import type { Report } from '../report/types.js';
import { openCore } from './backends/core/run.js';
import type { OpenBackend, PlannedMeasurement } from './backends/measurement.js';
import { checkOptions, checkRequest, SCORE_OPTIONS } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import type { ScoreOptions, ScoreRequest } from './contract/types.js';
import {
  closeKnown,
  formatOf,
  type KnownInputs,
  knowInputs,
  type ReadyInputs,
  readyInputs,
  reportInput,
} from './inputs/inputs.js';
import {
  describePair,
  type Extent,
  expectPairs,
  explainLengths,
  refuseEmpty,
  refuseTruncated,
} from './inputs/pair.js';
import type { Preflight } from './inputs/preflight.js';
import type { ReferenceLooks } from './inputs/shared-inspection.js';
import { loadRequested } from './plan/plan.js';
import { Meter } from './results/progress.js';

/** What a run does otherwise when it is one of several. */
export interface RunVariant {
  /** Opens decoders instead of media/decoders. */
  readonly open?: OpenDecoder;
  /** Looks at the reference, for all of them. */
  readonly looks?: ReferenceLooks;
}

/**
 * Scores a pair. Nothing of the run is left when the promise settles: no thread, no process, no open file, no timer.
 * @throws {AnyvmafError} as the public `score` says; the signal's reason when it asks to stop
 */
export async function scorePair(
  platform: Platform,
  request: ScoreRequest,
  options: ScoreOptions,
  variant: RunVariant = {},
): Promise<Report> {
  const checked = checkOptions(options, SCORE_OPTIONS);
  checkRequest(request, checked.noReference);
  const { backend } = checked;
  const { signal } = options;
  signal?.throwIfAborted();
  // Everything the run started ends with it, whoever ends it.
  const ending = new AbortController();
  const pass = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', pass);
  // Everything that waits for files, at once. What is wrong with the videos is told before what is wrong with models.
  const knowing = knowInputs(platform, request, checked, ending.signal, variant.looks);
  const size = async () => formatOf(await knowing);
  const load = () => Promise.all([loadRequested(checked, platform, size), platform.loadCore()]);
  const loading = backend === 'wasm' || backend === 'cpu' ? load() : undefined;
  loading?.catch(() => {});
  const choosing = loading ? undefined : chooseNative();
  choosing?.catch(() => {});
  const watching = checked.pairing.preflight && !checked.noReference ? openContinuity() : undefined;
  watching?.catch(() => {});
  let known: KnownInputs | undefined;
  let readying: Promise<ReadyInputs> | undefined;
  let planned: PlannedMeasurement | undefined;
  let preflight: Preflight | undefined;

  async function chooseNative() {
    const { chooseBackend } = await import('./backends/choice.js');
    return chooseBackend(platform, checked, ending.signal);
  }

  async function openContinuity() {
    const { Continuity } = await import('./inputs/continuity.js');
    return (inputs: KnownInputs) => new Continuity(inputs, checked.subsample);
  }

  async function open(inputs: KnownInputs): Promise<OpenBackend> {
    const { native, notes } = (await choosing) ?? { notes: [] };
    if (!native) return openCore(platform, checked, await (loading ?? load()), options, notes);
    const { nativeProblem, openNative } = await import('./backends/native/run.js');
    const problem = backend === 'auto' ? nativeProblem(native, formatOf(inputs)) : undefined;
    if (problem !== undefined) {
      const why = `The backend ${native.backend} was not used: ${problem}.`;
      return openCore(platform, checked, await load(), options, [...notes, why]);
    }
    const stored = inputs.plan === undefined;
    return openNative(platform, native, checked, {
      stored,
      notes,
      onFrame: options.onFrame,
      size,
      signal: ending.signal,
    });
  }

  async function check(inputs: KnownInputs, { requested }: OpenBackend): Promise<Preflight> {
    const { Preflight } = await import('./inputs/preflight.js');
    preflight = new Preflight(platform, inputs, requested, checked, variant.looks);
    return preflight;
  }

  /** The pair to read, so that its pictures are looked at: as they come by, or else beside the scoring. */
  function watched(pair: ReadyInputs, expected: number | null, passing: boolean): ReadyInputs {
    const { strict } = checked.pairing;
    // Under --strict they were looked at before.
    if (!preflight || strict) return pair;
    // Frames that workers or programs read by themselves are not seen here.
    const watching = passing ? preflight.watch(pair, expected) : undefined;
    if (!watching) preflight.look(ending.signal);
    return watching ?? pair;
  }

  async function run(): Promise<Report> {
    known = await knowing;
    // Stored pairs were checked when they were opened.
    if (known.plan) checkMeasurable(known.plan.format);
    const opened = await open(known);
    const { strict } = checked.pairing;
    // There is nothing to compare the video with.
    const wanted = checked.pairing.preflight && !checked.noReference;
    const stored = known.plan === undefined;
    if (wanted && (strict || !stored || (known.ofBytes ?? []).length > 0)) {
      const looking = await check(known, opened);
      looking.refuseErrors();
      if (strict) {
        looking.look(ending.signal);
        await looking.refuseWarnings();
      }
    }
    // Whoever gave up while files were waited for wants no decoders and no workers.
    ending.signal.throwIfAborted();
    readying = readyInputs(known, checked, variant.open);
    const ready = await readying;
    planned = opened.plan(ready);
    await refuseTruncated(ready, ready.limit);
    ending.signal.throwIfAborted();
    const { expected, bound } = expectPairs(ready, ready.limit);
    const aside = planned.isAside(expected);
    const inThread = !aside || describePair(ready) === undefined;
    const looked = watched(ready, expected, inThread);
    const continuity = (await watching)?.(known);
    const pair = inThread && continuity ? continuity.follow(looked) : looked;
    // A pair that is compared as stored was checked already. What both declare is compared while workers start; its
    // pictures are looked at only on request, for that takes time and memory of which such a run has none to spare.
    const later =
      wanted && stored && !strict
        ? check(known, opened).then((looking) => {
            // What is over in a moment is not worth a search of its first seconds.
            if (options.preflight === true && aside) looking.look(ending.signal);
          })
        : undefined;
    later?.catch(() => {});

    const inputs = known;
    const skipped = inputs.plan?.first ?? { reference: pair.skipReference, distorted: pair.skipDistorted };
    const head = (extent?: Extent) => {
      const input = (role: 'reference' | 'distorted') =>
        reportInput(
          inputs.sides[role],
          skipped[role],
          extent?.ended?.[role] ? skipped[role] + extent.pairs : null,
        );
      return {
        version,
        reference: input('reference'),
        distorted: input('distorted'),
        backend_requested: backend,
        ...(checked.noReference && { noReference: true as const }),
        subsample: checked.subsample,
      };
    };
    const meter = new Meter(options.onProgress, expected);
    const { extent, warnings, ...measured } = await planned.measure({
      pair,
      expected,
      bound,
      meter,
      continuity: inThread || !continuity?.takes ? undefined : continuity,
      onStart: (known) => options.onStart?.({ ...head(), ...known }),
    });
    refuseEmpty(pair, extent);
    meter.finish();
    await later;
    const lengths =
      checked.pairing.range || checked.noReference ? [] : explainLengths(pair, extent, checked.frameCount);
    const seen = (await preflight?.inspection())?.findings;
    const found = seen && (continuity?.findings(extent.pairs, seen, measured.backend_used) ?? seen);
    if (strict) preflight?.refuse(found ?? []);
    // Said once: of stored pairs by the warning, which knows how many pairs there were, of others by the finding.
    const twice = lengths.length > 0 && found?.some(({ code }) => code === 'frame-count') === true;
    const findings = twice && stored ? found?.filter(({ code }) => code !== 'frame-count') : found;
    return buildReport({
      ...head(extent),
      fps: meter.fps,
      ...measured,
      pairing: checked.noReference ? undefined : pair.describe?.(extent.pairs),
      preflight: findings,
      frameCount: extent.pairs,
      warnings: [
        ...known.warnings,
        ...decoderWarnings(known, pair),
        ...warnings,
        ...(twice && !stored ? [] : lengths),
      ],
    });
  }

  try {
    return await unlessAborted(signal, run());
  } finally {
    signal?.removeEventListener('abort', pass);
    ending.abort();
    await planned?.close();
    await preflight?.close();
    // What is still opening is closed once it is open, also when the caller does not wait for it any longer.
    if (readying) await close(readying);
    else if (known) await closeKnown(known);
    // An input that still waits for its first byte is closed once it opens; a caller that gave up need not wait too.
    else knowing.then(closeKnown).catch(() => {});
  }
}

/** What decoders had to say, which some do only at the end. */
function decoderWarnings({ sides }: KnownInputs, pair: ReadyInputs): string[] {
  const of = (role: 'reference' | 'distorted') =>
    sides[role].kind === 'encoded' ? pair[role].info.warnings : [];
  return [...of('reference'), ...of('distorted')];
}

async function close(readying: Promise<ReadyInputs>): Promise<void> {
  const pair = await readying.catch(() => undefined);
  if (pair) await Promise.all([pair.reference.close(), pair.distorted.close()]);
}
