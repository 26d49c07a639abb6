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
  BackendHealth,
  BackendList,
  BackendName,
  Diagnosis,
  ExtractOptions,
  FeatureModel,
  FramePair,
  Inspection,
  InspectOptions,
  MapOptions,
  ModelDescription,
  ModelSummary,
  NativeDescription,
  NativeOptions,
  ProbeOptions,
  QualityMapOptions,
  QualityMaps,
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
 * Gets single pairs of frames as they are scored: paired, scaled, in one format. Each has its pictures, a map of what
 * differs, and facts measured of it. One pair is in memory at a time.
 * @param frames numbers of pairs, as `frameNum` in a report of the same request and options; they come in ascending
 * order, each once
 * @param options what decides which frames go together, the same as when scoring; give the report's
 * `pairing.frames.offset` in place of `auto`
 * @throws {AnyvmafError} `usage` for a number beyond the last pair and for a video that can be read only once, and as
 * {@link score} for videos that cannot be read or brought together
 * @example
 * ```ts
 * for await (const pair of extractFrames({ reference: 'a.mp4', distorted: 'b.mp4' }, [12, 250])) {
 *   await writeFile(`worst_${pair.index}.png`, await pair.distorted.png());
 *   console.log(pair.facts().blockiness.level);
 * }
 * ```
 */
export async function* extractFrames(
  request: ScoreRequest,
  frames: readonly number[],
  options: ExtractOptions = {},
): AsyncGenerator<FramePair, void, undefined> {
  const { extractPairs } = await import('./score/extract.js');
  yield* extractPairs(nodePlatform, request, frames, options);
}

/**
 * Shows where in single frames quality is lost: what each place takes away from VIF and ADM, the features of VMAF, scale
 * by scale and all together, as numbers and as a picture. The work is done in the calling thread.
 * @param frames numbers of pairs, as `frameNum` in a report of the same request and options; they come in ascending
 * order, each once
 * @param options what decides which frames go together, as for {@link extractFrames}, and how to cut the picture
 * @throws {AnyvmafError} as {@link extractFrames}, and `usage` for a block size or gain limit that there is not
 * @example
 * ```ts
 * for await (const maps of qualityMaps({ reference: 'a.mp4', distorted: 'b.mp4' }, [12, 250])) {
 *   await writeFile(`lost_${maps.index}.png`, await maps.render().png());
 * }
 * ```
 */
export async function* qualityMaps(
  request: ScoreRequest,
  frames: readonly number[],
  options: QualityMapOptions = {},
): AsyncGenerator<QualityMaps, void, undefined> {
  const { mapPairs } = await import('./score/quality-maps.js');
  yield* mapPairs(nodePlatform, request, frames, options);
}

/**
 * The same for a pair of frames that {@link extractFrames} gave.
 * @throws {AnyvmafError} `usage` for a block size or gain limit that there is not
 */
export async function mapQuality(pair: FramePair, options: MapOptions = {}): Promise<QualityMaps> {
  const { mapPair } = await import('./score/quality-maps.js');
  return mapPair(nodePlatform, pair, options);
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
 * Opens a model to predict from feature values alone: of a stored report, or of a frame as it might have been.
 * @param model a model string in libvmaf's grammar
 * @throws {AnyvmafError} `usage`, `model`, `feature` or `io` when it cannot be had
 * @example
 * ```ts
 * const model = await openModel('version=vmaf_v0.6.1');
 * for (const { frameNum, metrics } of report.frames) console.log(frameNum, model.predict(metrics));
 * ```
 */
export async function openModel(model = 'version=vmaf_v0.6.1'): Promise<FeatureModel> {
  const { openModel: open } = await import('./model/single.js');
  return open(model, nodePlatform.models);
}

/**
 * The backends that can be asked for here: this package's own core, and what an installed `vmaf` was built with. It says
 * nothing about drivers; {@link probeBackend} does.
 */
export async function listBackends(options: NativeOptions = {}): Promise<BackendList> {
  const backends = await import('./score/backends.js');
  return backends.listBackends(nodePlatform, options);
}

/**
 * Whether a backend works, by scoring one small grey frame against itself. Whatever is wrong with it is the answer, not
 * an error.
 * @throws {AnyvmafError} `usage` when there is no backend of that name
 */
export async function probeBackend(backend: BackendName, options: ProbeOptions = {}): Promise<BackendHealth> {
  const backends = await import('./score/backends.js');
  return backends.probeBackend(nodePlatform, backend, options);
}

/** The installed program that native backends would run: where it is, its version and what it was built with. */
export async function describeNative(options: NativeOptions = {}): Promise<NativeDescription> {
  const backends = await import('./score/backends.js');
  return backends.describeNative(nodePlatform, options);
}

/** Says what is installed here and whether it works: the own core, decoders and native backends. */
export async function diagnose(options: ProbeOptions = {}): Promise<Diagnosis> {
  const diagnosis = await import('./score/diagnosis.js');
  return diagnosis.diagnose(nodePlatform, options);
}

/**
 * Says where the package's own files are, for programs whose bundler moved them. Call it before anything else.
 * What is not named stays where the package has it.
 */
export function configure(assets: Assets): void {
  configureNode(assets);
}
