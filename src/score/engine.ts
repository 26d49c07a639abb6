/**
 * @module score/engine
 * Scores one pair of videos from the request to the report: opens, plans, measures, finishes, predicts, pools.
 */
import type { OpenDecoder } from '../media/pairing/prepare.js';
import type { Platform } from '../platform/platform.js';
import { buildReport } from '../report/build.js';
import type { Report } from '../report/types.js';
import { version } from '../version.js';
import { chooseThreads } from './chunks.js';
import type { Crew } from './crew.js';
import {
  closeKnown,
  type KnownInputs,
  knowInputs,
  type ReadyInputs,
  readyInputs,
  reportInput,
} from './inputs.js';
import { checkOptions, checkRequest, SCORE_OPTIONS } from './options.js';
import { expectPairs, explainLengths, refuseEmpty, refuseTruncated } from './pair.js';
import { loadRequested, planRun, type Requested, reportModel } from './plan.js';
import type { Preflight } from './preflight.js';
import { Meter } from './progress.js';
import { measureHere, measureOnWorkers, type Run } from './run.js';
import { Scoring } from './scoring.js';
import { unlessAborted } from './signal.js';
import type { ScoreOptions, ScoreRequest } from './types.js';

/** What a run does otherwise when it is one of several. */
export interface RunVariant {
  /** Opens decoders instead of media/decoders. */
  readonly open?: OpenDecoder;
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
  checkRequest(request);
  const checked = checkOptions(options, SCORE_OPTIONS);
  const { subsample, implementation, compat } = checked;
  const { signal } = options;
  signal?.throwIfAborted();
  // Everything the run started ends with it, whoever ends it.
  const ending = new AbortController();
  const pass = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', pass);
  // Everything that waits for files, at once. What is wrong with the videos is told before what is wrong with models.
  const knowing = knowInputs(platform, request, checked, ending.signal);
  const size = async () => {
    const { plan, sides } = await knowing;
    return (
      plan?.format ??
      (sides.reference.kind === 'frames' ? sides.reference.source.info : { width: 0, height: 0 })
    );
  };
  const loading = Promise.all([loadRequested(checked, platform.models, size), platform.loadCore()]);
  loading.catch(() => {});
  let known: KnownInputs | undefined;
  let readying: Promise<ReadyInputs> | undefined;
  let crew: Crew | undefined;
  let checking: Promise<Preflight> | undefined;

  async function check(inputs: KnownInputs, requested: Requested, look: boolean): Promise<Preflight> {
    const { startPreflight } = await import('./preflight.js');
    return startPreflight(platform, inputs, requested, checked, {
      look,
      refuse: true,
      signal: ending.signal,
    });
  }

  async function run(): Promise<Report> {
    known = await knowing;
    const [requested, module] = await loading;
    const { preflight: wanted, strict } = checked.pairing;
    // A pair that is compared as stored was checked already. On request it is looked at beside the scoring, which need
    // not wait; by default it is not, for that takes time and memory of which such a run has none to spare.
    const aside = known.plan === undefined && !strict;
    if (wanted && !aside) {
      checking = check(known, requested, true);
      await checking;
    }
    // Whoever gave up while files were waited for wants no decoders and no workers.
    ending.signal.throwIfAborted();
    readying = readyInputs(known, checked, variant.open);
    const pair = await readying;
    const plan = planRun(requested, pair.reference.info, compat);
    const { extraction } = plan.features;
    await refuseTruncated(pair, pair.limit);
    ending.signal.throwIfAborted();
    const { expected, bound } = expectPairs(pair, pair.limit);
    const threads = checked.threads ?? chooseThreads(platform.parallelism, extraction, expected);

    // What is over in a moment is not worth a search of its first seconds.
    if (aside && options.preflight === true) checking = check(known, requested, threads > 0);

    // Finished frames and scores follow as records come in.
    const scoring = new Scoring(plan, subsample, options.onFrame);
    const meter = new Meter(options.onProgress, expected);
    const task: Run = {
      platform,
      setup: { module, plan: extraction, implementation, subsample },
      pair,
      expected,
      bound,
      chunkFrames: checked.chunkFrames,
      sink: {
        add: (first, count, records) => scoring.add(first, count, records),
        measured: () => meter.count(),
      },
      signal,
    };
    const extent =
      threads === 0
        ? await measureHere(task)
        : await measureOnWorkers(task, threads, (hired) => {
            crew = hired;
          });
    refuseEmpty(pair, extent);
    const outcome = scoring.finish();
    meter.finish();
    const findings = await (await checking)?.findings();
    const counted = (ended: boolean | undefined, skipped: number) => (ended ? skipped + extent.pairs : null);
    const { reference, distorted } = known.sides;
    const skipped = known.plan?.first ?? { reference: pair.skipReference, distorted: pair.skipDistorted };
    return buildReport({
      version,
      fps: meter.fps,
      ...outcome,
      reference: reportInput(
        reference,
        skipped.reference,
        counted(extent.ended?.reference, skipped.reference),
      ),
      distorted: reportInput(
        distorted,
        skipped.distorted,
        counted(extent.ended?.distorted, skipped.distorted),
      ),
      pairing: pair.describe?.(extent.pairs),
      preflight: findings,
      models: plan.models.map((model) => reportModel(model, plan.chosen)),
      compat,
      backend_requested: 'wasm',
      backend_used: 'wasm',
      implementation,
      threads: crew?.size ?? 0,
      subsample,
      frameCount: extent.pairs,
      warnings: [
        ...known.warnings,
        ...decoderWarnings(known, pair),
        ...plan.warnings,
        ...(checked.pairing.range ? [] : explainLengths(pair, extent, checked.frameCount)),
      ],
    });
  }

  try {
    return await unlessAborted(signal, run());
  } finally {
    signal?.removeEventListener('abort', pass);
    ending.abort();
    await crew?.abandon();
    await checking?.then((preflight) => preflight.close()).catch(() => {});
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
