/**
 * @module index
 * The public API of anyvmaf in Node. `index.browser` has the same names for browsers.
 */
import { describeModel as describe, listModels as list } from './model/registry.js';
import { configureNode, nodePlatform } from './platform/node/platform.js';
import type {
  AlignOptions,
  AlignResult,
  Assets,
  Inspection,
  InspectOptions,
  ModelDescription,
  ModelSummary,
  Report,
  ScoreManyOptions,
  ScoreOptions,
  ScoreRequest,
  Scorer,
  ScorerOptions,
  VideoFormat,
  VideoInput,
} from './public.js';
import { scorePair } from './score/engine.js';

export * from './public.js';

/**
 * Scores a distorted video against its reference.
 *
 * Numbers equal libvmaf 3.2.0's to the last bit of every feature, whatever the number of threads.
 * @param request two videos: paths, URLs, blobs, bytes, streams or frames of your own
 * @param options models, features and how to run; every member has a default
 * @returns frames, pooled values and all that is known of the run
 * @throws {AnyvmafError} one sentence for the user, and a `code` for programs; the signal's reason when aborted
 * @example
 * ```ts
 * const report = await score({ reference: 'reference.y4m', distorted: 'distorted.y4m' });
 * console.log(report.pooled_metrics.vmaf?.mean);
 * ```
 */
export function score(request: ScoreRequest, options: ScoreOptions = {}): Promise<Report> {
  return scorePair(nodePlatform, request, options);
}

/**
 * Scores several distorted videos against one reference, which is decoded only once.
 * @param distorted at least one; all are scored at the same time
 * @param options as for {@link score}; callbacks learn the index of the video they are about
 * @returns reports in the order of `distorted`
 * @throws {AnyvmafError} as {@link score}, for the first that fails; the others are stopped then
 * @example
 * ```ts
 * const reports = await scoreMany('master.mov', ['a.mp4', 'b.mp4']);
 * ```
 */
export async function scoreMany(
  reference: VideoInput,
  distorted: readonly VideoInput[],
  options: ScoreManyOptions = {},
): Promise<Report[]> {
  const { scoreEach } = await import('./score/many.js');
  return scoreEach(nodePlatform, reference, distorted, options);
}

/**
 * Looks at a pair without scoring it: what both videos declare, what their first seconds show, and what of it would make
 * their score wrong.
 * @throws {AnyvmafError} where a video cannot be read, or cannot be brought together with the other as asked
 */
export async function inspect(request: ScoreRequest, options: InspectOptions = {}): Promise<Inspection> {
  const { inspectPair } = await import('./score/look.js');
  return inspectPair(nodePlatform, request, options);
}

/**
 * Finds the offset at which two videos show the same pictures: distorted frame n shows what reference frame n + offset
 * shows. Nothing is shifted; pass the offset to {@link score}.
 * @throws {AnyvmafError} where a video cannot be read, or only once
 */
export async function align(request: ScoreRequest, options: AlignOptions = {}): Promise<AlignResult> {
  const { alignPair } = await import('./score/look.js');
  return alignPair(nodePlatform, request, options);
}

/**
 * Opens a scorer for frames that you bring yourself, pair by pair.
 * @param format of every frame, reference and distorted
 * @throws {AnyvmafError} `usage`, `model` or `feature` when something asked for cannot be had
 * @example
 * ```ts
 * await using scorer = await createScorer({ width: 64, height: 64, bitDepth: 8, chroma: '420' });
 * for (const frame of await scorer.push(referencePlanes, distortedPlanes)) console.log(frame.metrics.vmaf);
 * const report = await scorer.finish();
 * ```
 */
export async function createScorer(format: VideoFormat, options: ScorerOptions = {}): Promise<Scorer> {
  const { openScorer } = await import('./score/scorer.js');
  return openScorer(nodePlatform, format, options);
}

/** The models that ship with the package. */
export function listModels(): Promise<readonly ModelSummary[]> {
  return list(nodePlatform.models);
}

/**
 * All about one model that ships with the package.
 * @throws {AnyvmafError} `model` when there is none of that name
 */
export function describeModel(name: string): Promise<ModelDescription> {
  return describe(name, nodePlatform.models);
}

/**
 * Says where the package's own files are, for programs whose bundler moved them. Call it before anything else.
 * What is not named stays where the package has it.
 */
export function configure(assets: Assets): void {
  configureNode(assets);
}
