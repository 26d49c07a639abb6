/**
 * @module score/engine
 * Scores one pair of videos from the request to the report: opens, plans, measures, finishes, predicts, pools.
 */
import { openPair } from '../media/pair.js';
import type { FrameSource } from '../media/types.js';
import type { Platform } from '../platform/platform.js';
import { buildReport } from '../report/build.js';
import type { Report, ReportInput } from '../report/types.js';
import { version } from '../version.js';
import { chooseThreads } from './chunks.js';
import type { Crew } from './crew.js';
import { checkOptions, checkRequest, SCORE_OPTIONS } from './options.js';
import {
  type Extent,
  expectPairs,
  explainLengths,
  type OpenPair,
  refuseEmpty,
  refuseTruncated,
} from './pair.js';
import { loadRequested, planRun, reportModel } from './plan.js';
import { Meter } from './progress.js';
import { measureHere, measureOnWorkers, type Run } from './run.js';
import { Scoring } from './scoring.js';
import { unlessAborted } from './signal.js';
import type { ScoreOptions, ScoreRequest } from './types.js';

/**
 * Scores a pair. Nothing of the run is left when the promise settles: no thread, no open file, no timer.
 * @throws {AnyvmafError} as the public `score` says; the signal's reason when it asks to stop
 */
export async function scorePair(
  platform: Platform,
  request: ScoreRequest,
  options: ScoreOptions,
): Promise<Report> {
  checkRequest(request);
  const checked = checkOptions(options, SCORE_OPTIONS);
  const { skipReference, skipDistorted, subsample, implementation, compat } = checked;
  const { signal } = options;
  signal?.throwIfAborted();
  // Everything that waits for files, at once. What is wrong with the videos is told before what is wrong with models.
  const opening = openPair(request.reference, request.distorted, {
    raw: request.raw,
    platform: platform.files,
  });
  const loading = Promise.all([loadRequested(checked, platform.models), platform.loadCore()]);
  loading.catch(() => {});
  let opened: OpenPair | undefined;
  let crew: Crew | undefined;

  async function run(): Promise<Report> {
    const { reference, distorted, warnings } = await opening;
    const pair = { reference, distorted, skipReference, skipDistorted };
    opened = pair;
    const [requested, module] = await loading;
    const plan = planRun(requested, reference.info, compat);
    const { extraction } = plan.features;
    await refuseTruncated(pair, checked.frameCount);
    // Whoever gave up while files were waited for wants no workers; from here on they are known to the clean-up.
    signal?.throwIfAborted();
    const { expected, bound } = expectPairs(pair, checked.frameCount);
    const threads = checked.threads ?? chooseThreads(platform.parallelism, extraction, expected);

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
    return buildReport({
      version,
      fps: meter.fps,
      ...outcome,
      reference: reportInput(reference, skipReference, extent, extent.ended?.reference),
      distorted: reportInput(distorted, skipDistorted, extent, extent.ended?.distorted),
      models: plan.models.map(reportModel),
      compat,
      backend_requested: 'wasm',
      backend_used: 'wasm',
      implementation,
      threads: crew?.size ?? 0,
      subsample,
      frameCount: extent.pairs,
      warnings: [...warnings, ...plan.warnings, ...explainLengths(pair, extent, checked.frameCount)],
    });
  }

  try {
    return await unlessAborted(signal, run());
  } finally {
    await crew?.abandon();
    if (opened) await close(opened);
    // An input that still waits for its first byte is closed once it opens; a caller that gave up need not wait too.
    else opening.then(close).catch(() => {});
  }
}

async function close(pair: Pick<OpenPair, 'reference' | 'distorted'>): Promise<void> {
  await Promise.all([pair.reference.close(), pair.distorted.close()]);
}

function reportInput(source: FrameSource, skipped: number, extent: Extent, ended = false): ReportInput {
  const { name, container, width, height, bitDepth, chroma, frameCount, frameRate } = source.info;
  return {
    name,
    container,
    width,
    height,
    bitDepth,
    chroma,
    frameCount: frameCount ?? (ended ? skipped + extent.pairs : null),
    skipped,
    ...(frameRate && { frameRate }),
  };
}
