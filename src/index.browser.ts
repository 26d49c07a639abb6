/**
 * @module index.browser
 * The public API of anyvmaf in browsers, in pages and in workers; documented in `index`, which has the same names.
 */
import { describeModel as describe, listModels as list } from './models/registry.js';
import { browserPlatform, configureBrowser } from './platform/browser/platform.js';
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

/** Scores a distorted video against its reference. */
export async function score(request: ScoreRequest, options: ScoreOptions = {}): Promise<Report> {
  const { scorePair } = await import('./engine/score.js');
  return scorePair(browserPlatform, request, options);
}

/** Scores several distorted videos against one reference, which is decoded only once. */
export async function scoreMany(
  reference: VideoInput,
  distorted: readonly VideoInput[],
  options: ScoreManyOptions = {},
): Promise<Report[]> {
  const { scoreEach } = await import('./engine/score-many.js');
  return scoreEach(browserPlatform, reference, distorted, options);
}

/** Looks at a pair without scoring it. */
export async function inspect(request: ScoreRequest, options: InspectOptions = {}): Promise<Inspection> {
  const { inspectPair } = await import('./engine/inspect.js');
  return inspectPair(browserPlatform, request, options);
}

/** Finds the offset at which two videos show the same pictures. */
export async function align(request: ScoreRequest, options: AlignOptions = {}): Promise<AlignResult> {
  const { alignPair } = await import('./engine/inspect.js');
  return alignPair(browserPlatform, request, options);
}

/** Gets single pairs of frames as they are scored. */
export async function* extractFrames(
  request: ScoreRequest,
  frames: readonly number[],
  options: ExtractOptions = {},
): AsyncGenerator<FramePair, void, undefined> {
  const { extractPairs } = await import('./engine/extract.js');
  yield* extractPairs(browserPlatform, request, frames, options);
}

/** Shows where in single frames quality is lost; it works in the calling thread, best in a worker. */
export async function* qualityMaps(
  request: ScoreRequest,
  frames: readonly number[],
  options: QualityMapOptions = {},
): AsyncGenerator<QualityMaps, void, undefined> {
  const { mapPairs } = await import('./engine/quality-maps.js');
  yield* mapPairs(browserPlatform, request, frames, options);
}

/** The same for a pair of frames that {@link extractFrames} gave. */
export async function mapQuality(pair: FramePair, options: MapOptions = {}): Promise<QualityMaps> {
  const { mapPair } = await import('./engine/quality-maps.js');
  return mapPair(browserPlatform, pair, options);
}

/** Opens a scorer for frames that the caller brings. */
export async function createScorer(format: VideoFormat, options: ScorerOptions = {}): Promise<Scorer> {
  const { openScorer } = await import('./engine/scorer.js');
  return openScorer(browserPlatform, format, options);
}

/** The models that can be named. */
export function listModels(): Promise<readonly ModelSummary[]> {
  return list(browserPlatform.models);
}

/** All about one model. */
export function describeModel(name: string): Promise<ModelDescription> {
  return describe(name, browserPlatform.models);
}

/** Fetches models that do not ship with the package and keeps them in the browser's storage. */
export async function pullModel(name: string, options: PullOptions = {}): Promise<readonly PulledModel[]> {
  const { pullModels } = await import('./models/pull.js');
  return pullModels(name, browserPlatform.models, options);
}

/** Opens a model to predict from feature values alone. */
export async function openModel(model = 'version=vmaf_v0.6.1'): Promise<FeatureModel> {
  const { openModel: open } = await import('./models/single.js');
  return open(model, browserPlatform.models);
}

/** Measures what a tiny ONNX model is worth on a table of features. */
export async function evaluateModel(
  model: string,
  features: TableInput,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const evaluation = await import('./evaluate/evaluation.js');
  return evaluation.evaluateModelOn(browserPlatform, model, features, options);
}

/** Evaluates several tiny models on the same rows and ranks them. */
export async function compareModels(
  models: readonly string[],
  features: TableInput,
  options: EvaluateOptions = {},
): Promise<Comparison> {
  const evaluation = await import('./evaluate/evaluation.js');
  return evaluation.compareModelsOn(browserPlatform, models, features, options);
}

/** Makes a table of features, a Parquet file in pieces. */
export async function* writeFeatures(
  pairs: readonly DatasetPair[],
  options: DatasetOptions = {},
): AsyncGenerator<Uint8Array, DatasetSummary, undefined> {
  const { makeDataset } = await import('./engine/dataset.js');
  return yield* makeDataset(browserPlatform, pairs, options);
}

/** The tiny ONNX models that ship with the package. */
export async function listTinyModels(): Promise<readonly TinyRegistryEntry[]> {
  const [tiny, { listTinyModels: list }] = await Promise.all([
    browserPlatform.tiny(),
    import('./tiny/describe.js'),
  ]);
  return list(tiny);
}

/** All about one tiny model: it is read and checked, not run. */
export async function describeTinyModel(
  model: string,
  options: DescribeTinyOptions = {},
): Promise<TinyModelDescription> {
  const [tiny, { describeTinyModel: describe }] = await Promise.all([
    browserPlatform.tiny(),
    import('./tiny/describe.js'),
  ]);
  return describe(model, tiny, options);
}

/** What can run tiny models here. Whether a driver works shows when a session starts. */
export async function listTinyDevices(): Promise<readonly TinyDeviceStatus[]> {
  const [tiny, { listTinyDevices: list }] = await Promise.all([
    browserPlatform.tiny(),
    import('./tiny/describe.js'),
  ]);
  return list(tiny);
}

/** The backends there are: in browsers this package's own core. */
export async function listBackends(options: NativeOptions = {}): Promise<BackendList> {
  const backends = await import('./engine/backends.js');
  return backends.listBackends(browserPlatform, options);
}

/** Whether a backend works, by scoring one small grey frame against itself. */
export async function probeBackend(backend: BackendName, options: ProbeOptions = {}): Promise<BackendHealth> {
  const backends = await import('./engine/backends.js');
  return backends.probeBackend(browserPlatform, backend, options);
}

/** The installed program that native backends would run: none in browsers. */
export async function describeNative(options: NativeOptions = {}): Promise<NativeDescription> {
  const backends = await import('./engine/backends.js');
  return backends.describeNative(browserPlatform, options);
}

/** Says what is installed here and whether it works: the own core, decoders and native backends. */
export async function diagnose(options: ProbeOptions = {}): Promise<Diagnosis> {
  const diagnosis = await import('./engine/diagnosis.js');
  return diagnosis.diagnose(browserPlatform, options);
}

/** Says where the package's own files are, for programs whose bundler moved them. */
export function configure(assets: Assets): void {
  configureBrowser(assets);
}
