/**
 * @module index
 * The public API of anyvmaf in Node. `index.browser` has the same names for browsers.
 */

import type { Platform } from './engine/contract/platform.js';
import { scorePair } from './engine/score.js';
import { describeModel as describe, listModels as list } from './models/registry.js';
import { configureNode, nodePlatform, nodePlatformOf } from './platform/node/platform.js';
import type {
  AlignOptions,
  AlignResult,
  Assets,
  BackendHealth,
  BackendList,
  BackendName,
  Comparison,
  DatasetOptions,
  DatasetPair,
  DatasetSummary,
  DescribeTinyOptions,
  Diagnosis,
  EvaluateOptions,
  Evaluation,
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
  OpenModelOptions,
  Origin,
  ProbeOptions,
  PulledModel,
  PullOptions,
  QualityMapOptions,
  QualityMaps,
  Report,
  ScoreManyOptions,
  ScoreOptions,
  ScoreRequest,
  Scorer,
  ScorerOptions,
  TableInput,
  TinyDeviceStatus,
  TinyModelDescription,
  TinyRegistryEntry,
  VideoFormat,
  VideoInput,
} from './public.js';

export * from './public.js';

/** The world as far as names of the options' origin may be opened. */
function platformOf(options: { readonly origin?: Origin } | null): Platform {
  let origin: Origin | undefined;
  try {
    origin = options?.origin;
  } catch {
    // Options that cannot be read are refused by whoever checks them.
  }
  return origin === undefined ? nodePlatform : nodePlatformOf(origin);
}

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
  return scorePair(platformOf(options), request, options);
}

/**
 * Scores several distorted videos against one reference, which is decoded only once.
 * @param distorted at least one; all are scored at the same time
 * @param options as for {@link score}; callbacks learn the index of the video they are about
 * @returns reports in the order of `distorted`, without those of which `onFailure` was told
 * @throws {AnyvmafError} as {@link score}, for the first that fails; the others are stopped then, unless there is an
 * `onFailure`
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
  const { scoreEach } = await import('./engine/score-many.js');
  return scoreEach(platformOf(options), reference, distorted, options);
}

/**
 * Looks at a pair without scoring it: what both videos declare, what their first seconds show, and what of it would make
 * their score wrong.
 * @throws {AnyvmafError} where a video cannot be read, or cannot be brought together with the other as asked
 */
export async function inspect(request: ScoreRequest, options: InspectOptions = {}): Promise<Inspection> {
  const { inspectPair } = await import('./engine/inspect.js');
  return inspectPair(platformOf(options), request, options);
}

/**
 * Finds the offset at which two videos show the same pictures: distorted frame n shows what reference frame n + offset
 * shows. Nothing is shifted; pass the offset to {@link score}.
 * @throws {AnyvmafError} where a video cannot be read, or only once
 */
export async function align(request: ScoreRequest, options: AlignOptions = {}): Promise<AlignResult> {
  const { alignPair } = await import('./engine/inspect.js');
  return alignPair(platformOf(options), request, options);
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
  const { extractPairs } = await import('./engine/extract.js');
  yield* extractPairs(platformOf(options), request, frames, options);
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
  const { mapPairs } = await import('./engine/quality-maps.js');
  yield* mapPairs(platformOf(options), request, frames, options);
}

/**
 * The same for a pair of frames that {@link extractFrames} gave.
 * @throws {AnyvmafError} `usage` for a block size or gain limit that there is not
 */
export async function mapQuality(pair: FramePair, options: MapOptions = {}): Promise<QualityMaps> {
  const { mapPair } = await import('./engine/quality-maps.js');
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
  const { openScorer } = await import('./engine/scorer.js');
  return openScorer(nodePlatform, format, options);
}

/** The models that can be named: those that ship with the package, and those that {@link pullModel} fetches. */
export function listModels(): Promise<readonly ModelSummary[]> {
  return list(nodePlatform.models);
}

/**
 * All about one model.
 * @throws {AnyvmafError} `model` when there is none of that name, or it has to be pulled first
 */
export function describeModel(name: string): Promise<ModelDescription> {
  return describe(name, nodePlatform.models);
}

/**
 * Fetches models that do not ship with the package (`vmaf_v1.0.16_3d0h` and its kin), checks them, and keeps them in the
 * user's cache (`ANYVMAF_CACHE`, else the system's place for caches), so that `version=NAME` then works offline. What is there already is not fetched again.
 * @param name version of a model, or `all` for every one that has to be pulled
 * @returns what is there now; empty for a model that ships with the package
 * @throws {AnyvmafError} `io` when it cannot be fetched or kept, `model` when there is none of that name or the file is not
 * the one whose sum the package knows, `usage` for an address that is none; the signal's reason when aborted
 * @example
 * ```ts
 * await pullModel('vmaf_v1.0.16_3d0h');
 * const report = await score(request, { models: ['version=vmaf_v1.0.16_3d0h'] });
 * ```
 */
export async function pullModel(name: string, options: PullOptions = {}): Promise<readonly PulledModel[]> {
  const { pullModels } = await import('./models/pull.js');
  return pullModels(name, nodePlatform.models, options);
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
export async function openModel(
  model = 'version=vmaf_v0.6.1',
  options: OpenModelOptions = {},
): Promise<FeatureModel> {
  const { openModel: open } = await import('./models/single.js');
  return open(model, platformOf(options).models);
}

/**
 * Measures what a tiny ONNX model is worth: it predicts the rows of a table of features, and its predictions are compared
 * with the table's opinion scores (column `mos`). By default those rows are the `test` split, by the SHA-256 of their key.
 * @param model id of a registered model, or path of an ONNX file
 * @param features a Parquet file, as {@link writeFeatures} writes it
 * @returns correlations and error with 95 % intervals, of rows, of clips and of each key
 * @throws {AnyvmafError} `model` when the model cannot be loaded or takes no features, `usage` when the table lacks what is
 * needed or the split has fewer than two rows, `io` when a file cannot be read, `backend` for a device that is not there
 * @example
 * ```ts
 * const { plcc, intervals } = await evaluateModel('model.onnx', 'features.parquet', { split: 'test' });
 * ```
 */
export async function evaluateModel(
  model: string,
  features: TableInput,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const evaluation = await import('./evaluate/evaluation.js');
  return evaluation.evaluateModelOn(platformOf(options), model, features, options);
}

/**
 * Evaluates several tiny models on the same rows and ranks them by PLCC. One that fails is listed with its reason and
 * does not stop the others.
 * @throws {AnyvmafError} `usage` and `io` for what no model could be evaluated on
 */
export async function compareModels(
  models: readonly string[],
  features: TableInput,
  options: EvaluateOptions = {},
): Promise<Comparison> {
  const evaluation = await import('./evaluate/evaluation.js');
  return evaluation.compareModelsOn(platformOf(options), models, features, options);
}

/**
 * Makes a table of features for training and evaluating models: a Parquet file with a row for every frame of every pair.
 * @param pairs scored one after the other
 * @returns the file in pieces, to be written one after the other; when it ends, what was written
 * @throws {AnyvmafError} as {@link score}, and `usage` for pairs that do not go together
 * @example
 * ```ts
 * const pairs = [{ reference: 'source.y4m', distorted: 'encode.mp4', key: 'source', mos: 3.8 }];
 * await writeFile('features.parquet', writeFeatures(pairs, { teacher: 'version=vmaf_v0.6.1' }));
 * ```
 */
export async function* writeFeatures(
  pairs: readonly DatasetPair[],
  options: DatasetOptions = {},
): AsyncGenerator<Uint8Array, DatasetSummary, undefined> {
  const { makeDataset } = await import('./engine/dataset.js');
  return yield* makeDataset(nodePlatform, pairs, options);
}

/** The tiny ONNX models that ship with the package. */
export async function listTinyModels(): Promise<readonly TinyRegistryEntry[]> {
  const [tiny, { listTinyModels: list }] = await Promise.all([
    nodePlatform.tiny(),
    import('./tiny/describe.js'),
  ]);
  return list(tiny);
}

/**
 * All about one tiny model: it is read and checked, not run.
 * @param model an id of the registry, the path of an ONNX file, or the name of one of `options.files`
 * @throws {AnyvmafError} `model` when there is none, or it breaks the contract; `io` when it cannot be read
 */
export async function describeTinyModel(
  model: string,
  options: DescribeTinyOptions = {},
): Promise<TinyModelDescription> {
  const [tiny, { describeTinyModel: describe }] = await Promise.all([
    nodePlatform.tiny(),
    import('./tiny/describe.js'),
  ]);
  return describe(model, tiny, options);
}

/** What can run tiny models here. Whether a driver works shows when a session starts. */
export async function listTinyDevices(): Promise<readonly TinyDeviceStatus[]> {
  const [tiny, { listTinyDevices: list }] = await Promise.all([
    nodePlatform.tiny(),
    import('./tiny/describe.js'),
  ]);
  return list(tiny);
}

/**
 * The backends that can be asked for here: this package's own core, and what an installed `vmaf` was built with. It says
 * nothing about drivers; {@link probeBackend} does.
 */
export async function listBackends(options: NativeOptions = {}): Promise<BackendList> {
  const backends = await import('./engine/backends.js');
  return backends.listBackends(nodePlatform, options);
}

/**
 * Whether a backend works, by scoring one small grey frame against itself. Whatever is wrong with it is the answer, not
 * an error.
 * @throws {AnyvmafError} `usage` when there is no backend of that name
 */
export async function probeBackend(backend: BackendName, options: ProbeOptions = {}): Promise<BackendHealth> {
  const backends = await import('./engine/backends.js');
  return backends.probeBackend(nodePlatform, backend, options);
}

/** The installed program that native backends would run: where it is, its version and what it was built with. */
export async function describeNative(options: NativeOptions = {}): Promise<NativeDescription> {
  const backends = await import('./engine/backends.js');
  return backends.describeNative(nodePlatform, options);
}

/** Says what is installed here and whether it works: the own core, decoders and native backends. */
export async function diagnose(options: ProbeOptions = {}): Promise<Diagnosis> {
  const diagnosis = await import('./engine/diagnosis.js');
  return diagnosis.diagnose(nodePlatform, options);
}

/**
 * Says where the package's own files are, for programs whose bundler moved them. Call it before anything else.
 * What is not named stays where the package has it.
 */
export function configure(assets: Assets): void {
  configureNode(assets);
}
