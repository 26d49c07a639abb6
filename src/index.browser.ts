/**
 * @module index.browser
 * The public API of anyvmaf in browsers, in pages and in workers; documented in `index`, which has the same names.
 */
import { describeModel as describe, listModels as list } from './model/registry.js';
import { browserPlatform, configureBrowser } from './platform/browser/platform.js';
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

export * from './public.js';

/** Scores a distorted video against its reference. */
export async function score(request: ScoreRequest, options: ScoreOptions = {}): Promise<Report> {
  const { scorePair } = await import('./score/engine.js');
  return scorePair(browserPlatform, request, options);
}

/** Scores several distorted videos against one reference, which is decoded only once. */
export async function scoreMany(
  reference: VideoInput,
  distorted: readonly VideoInput[],
  options: ScoreManyOptions = {},
): Promise<Report[]> {
  const { scoreEach } = await import('./score/many.js');
  return scoreEach(browserPlatform, reference, distorted, options);
}

/** Looks at a pair without scoring it. */
export async function inspect(request: ScoreRequest, options: InspectOptions = {}): Promise<Inspection> {
  const { inspectPair } = await import('./score/look.js');
  return inspectPair(browserPlatform, request, options);
}

/** Finds the offset at which two videos show the same pictures. */
export async function align(request: ScoreRequest, options: AlignOptions = {}): Promise<AlignResult> {
  const { alignPair } = await import('./score/look.js');
  return alignPair(browserPlatform, request, options);
}

/** Gets single pairs of frames as they are scored. */
export async function* extractFrames(
  request: ScoreRequest,
  frames: readonly number[],
  options: ExtractOptions = {},
): AsyncGenerator<FramePair, void, undefined> {
  const { extractPairs } = await import('./score/extract.js');
  yield* extractPairs(browserPlatform, request, frames, options);
}

/** Shows where in single frames quality is lost; it works in the calling thread, best in a worker. */
export async function* qualityMaps(
  request: ScoreRequest,
  frames: readonly number[],
  options: QualityMapOptions = {},
): AsyncGenerator<QualityMaps, void, undefined> {
  const { mapPairs } = await import('./score/quality-maps.js');
  yield* mapPairs(browserPlatform, request, frames, options);
}

/** The same for a pair of frames that {@link extractFrames} gave. */
export async function mapQuality(pair: FramePair, options: MapOptions = {}): Promise<QualityMaps> {
  const { mapPair } = await import('./score/quality-maps.js');
  return mapPair(browserPlatform, pair, options);
}

/** Opens a scorer for frames that the caller brings. */
export async function createScorer(format: VideoFormat, options: ScorerOptions = {}): Promise<Scorer> {
  const { openScorer } = await import('./score/scorer.js');
  return openScorer(browserPlatform, format, options);
}

/** The models that ship with the package. */
export function listModels(): Promise<readonly ModelSummary[]> {
  return list(browserPlatform.models);
}

/** All about one model that ships with the package. */
export function describeModel(name: string): Promise<ModelDescription> {
  return describe(name, browserPlatform.models);
}

/** Opens a model to predict from feature values alone. */
export async function openModel(model = 'version=vmaf_v0.6.1'): Promise<FeatureModel> {
  const { openModel: open } = await import('./model/single.js');
  return open(model, browserPlatform.models);
}

/** The backends there are: in browsers this package's own core. */
export async function listBackends(options: NativeOptions = {}): Promise<BackendList> {
  const backends = await import('./score/backends.js');
  return backends.listBackends(browserPlatform, options);
}

/** Whether a backend works, by scoring one small grey frame against itself. */
export async function probeBackend(backend: BackendName, options: ProbeOptions = {}): Promise<BackendHealth> {
  const backends = await import('./score/backends.js');
  return backends.probeBackend(browserPlatform, backend, options);
}

/** The installed program that native backends would run: none in browsers. */
export async function describeNative(options: NativeOptions = {}): Promise<NativeDescription> {
  const backends = await import('./score/backends.js');
  return backends.describeNative(browserPlatform, options);
}

/** Says what is installed here and whether it works: the own core, decoders and native backends. */
export async function diagnose(options: ProbeOptions = {}): Promise<Diagnosis> {
  const diagnosis = await import('./score/diagnosis.js');
  return diagnosis.diagnose(browserPlatform, options);
}

/** Says where the package's own files are, for programs whose bundler moved them. */
export function configure(assets: Assets): void {
  configureBrowser(assets);
}
