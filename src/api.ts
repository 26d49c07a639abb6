/**
 * @module api
 * The public functions for a platform; `index` documents them. Separate functions rather than one object, so
 * that bundlers drop unused ones; each loads its code when called.
 */

import { AnyvmafError } from './core/errors.js';
import type { Platform } from './engine/contract/platform.js';
import * as registry from './models/registry.js';
import type {
  AlignOptions,
  AlignResult,
  BackendHealth,
  BackendList,
  BackendName,
  BatchJob,
  BatchOptions,
  BatchResult,
  Comparison,
  DatasetOptions,
  DatasetPair,
  DatasetSummary,
  DescribeTinyOptions,
  DescribeVideoOptions,
  DetectedShots,
  Diagnosis,
  EmbeddedServerOptions,
  EvaluateOptions,
  Evaluation,
  ExtractOptions,
  FeatureModel,
  FramePair,
  Inspection,
  InspectOptions,
  MapOptions,
  MergeOptions,
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
  ScoredFormat,
  ScoreManyOptions,
  ScoreOptions,
  ScoreRequest,
  ScoreRun,
  Scorer,
  ScorerOptions,
  ScoreShardOptions,
  SearchOptions,
  SearchResult,
  Shard,
  ShardChoice,
  ShotOptions,
  SideFacts,
  TableInput,
  TinyDeviceStatus,
  TinyModelDescription,
  TinyRegistryEntry,
  TuneShotsOptions,
  TuneShotsResult,
  VideoInput,
} from './public.js';
import type { SearchPlatform } from './search/session.js';
import type { CompareOptions, ComparisonResult, LadderOptions, LadderResult } from './search/types.js';

/** The platform, limited to what the origin of the options may open. */
function from(platform: Platform, options: { readonly origin?: Origin } | null): Platform {
  let origin: Origin | undefined;
  try {
    origin = options?.origin;
  } catch {
    // Options that cannot be read are refused where they are checked.
  }
  return origin === undefined ? platform : (platform.ofOrigin?.(origin) ?? platform);
}

export const score =
  (platform: Platform) =>
  async (request: ScoreRequest, options: ScoreOptions = {}): Promise<Report> => {
    const { scorePair } = await import('./engine/score.js');
    return scorePair(from(platform, options), request, options);
  };

export const prepareRun =
  (platform: Platform) =>
  async (request: ScoreRequest, options: ScoreOptions = {}): Promise<ScoreRun> => {
    const { prepareRun } = await import('./engine/score.js');
    return prepareRun(from(platform, options), request, options);
  };

export const scoreMany =
  (platform: Platform) =>
  async (
    reference: VideoInput,
    distorted: readonly VideoInput[],
    options: ScoreManyOptions = {},
  ): Promise<Report[]> => {
    const { scoreEach } = await import('./engine/score-many.js');
    return scoreEach(from(platform, options), reference, distorted, options);
  };

export const scoreBatch = (platform: Platform) =>
  async function* (
    jobs: readonly BatchJob[],
    options: BatchOptions = {},
  ): AsyncGenerator<BatchResult, void, undefined> {
    const { scoreJobs } = await import('./engine/score-many.js');
    yield* scoreJobs(from(platform, options), jobs, options);
  };

export const scoreShard =
  (platform: Platform) =>
  async (request: ScoreRequest, shard: ShardChoice, options: ScoreShardOptions = {}): Promise<Shard> => {
    const { measureShard } = await import('./engine/shards/score-shard.js');
    return measureShard(from(platform, options), request, shard, options);
  };

export const mergeShards =
  (platform: Platform) =>
  async (shards: readonly Shard[], options: MergeOptions = {}): Promise<Report> => {
    const { mergeRun } = await import('./engine/shards/merge.js');
    return mergeRun(from(platform, options), shards, options);
  };

/**
 * The record of a shard as the text of a file.
 * @throws {AnyvmafError} `usage` if it is not a record
 */
export async function formatShard(shard: Shard): Promise<string> {
  const file = await import('./engine/shards/shard-file.js');
  return file.formatShard(shard);
}

/**
 * Reads the record of a shard.
 * @param name of the file, for messages
 * @throws {AnyvmafError} `io` if it is not the record of a shard, or is damaged
 */
export async function readShard(text: string, name?: string): Promise<Shard> {
  const file = await import('./engine/shards/shard-file.js');
  return file.readShard(text, name);
}

export const inspect =
  (platform: Platform) =>
  async (request: ScoreRequest, options: InspectOptions = {}): Promise<Inspection> => {
    const { inspectPair } = await import('./engine/inspect.js');
    return inspectPair(from(platform, options), request, options);
  };

export const describeVideo =
  (platform: Platform) =>
  async (
    video: Extract<VideoInput, string | URL | Blob>,
    options: DescribeVideoOptions = {},
  ): Promise<SideFacts> => {
    const { describeVideo } = await import('./engine/inspect.js');
    return describeVideo(from(platform, options), video, options);
  };

export const align =
  (platform: Platform) =>
  async (request: ScoreRequest, options: AlignOptions = {}): Promise<AlignResult> => {
    const { alignPair } = await import('./engine/inspect.js');
    return alignPair(from(platform, options), request, options);
  };

export const extractFrames = (platform: Platform) =>
  async function* (
    request: ScoreRequest,
    frames: readonly number[] | AsyncIterable<number>,
    options: ExtractOptions = {},
  ): AsyncGenerator<FramePair, void, undefined> {
    const { extractPairs } = await import('./engine/extract.js');
    yield* extractPairs(from(platform, options), request, frames, options);
  };

export const qualityMaps = (platform: Platform) =>
  async function* (
    request: ScoreRequest,
    frames: readonly number[],
    options: QualityMapOptions = {},
  ): AsyncGenerator<QualityMaps, void, undefined> {
    const { mapPairs } = await import('./engine/quality-maps.js');
    yield* mapPairs(from(platform, options), request, frames, options);
  };

export const mapQuality =
  (platform: Platform) =>
  async (pair: FramePair, options: MapOptions = {}): Promise<QualityMaps> => {
    const { mapPair } = await import('./engine/quality-maps.js');
    return mapPair(platform, pair, options);
  };

export const searchQuality =
  (platform: SearchPlatform) =>
  async (source: VideoInput, options: SearchOptions): Promise<SearchResult> => {
    const { searchQuality } = await import('./search/search.js');
    return searchQuality(platform, source, options);
  };

export const detectShots =
  (platform: SearchPlatform) =>
  async (source: VideoInput, options: ShotOptions = {}): Promise<DetectedShots> => {
    const { detectShots } = await import('./search/cuts.js');
    return detectShots(platform, source, options);
  };

export const tuneShots =
  (platform: SearchPlatform) =>
  async (source: VideoInput, options: TuneShotsOptions): Promise<TuneShotsResult> => {
    const { tuneShots } = await import('./search/shots.js');
    return tuneShots(platform, source, options);
  };

export const buildLadder =
  (platform: SearchPlatform) =>
  async (source: VideoInput, options: LadderOptions): Promise<LadderResult> => {
    const { buildLadder } = await import('./search/curves.js');
    return buildLadder(platform, source, options);
  };

export const compareEncoders =
  (platform: SearchPlatform) =>
  async (source: VideoInput, options: CompareOptions): Promise<ComparisonResult> => {
    const { compareEncoders } = await import('./search/curves.js');
    return compareEncoders(platform, source, options);
  };

export const forgetSearches =
  (platform: SearchPlatform) =>
  async (folder?: string): Promise<number> => {
    const { forgetSearches } = await import('./search/search.js');
    return forgetSearches(platform, folder);
  };

export const createScorer =
  (platform: Platform) =>
  async (format: ScoredFormat, options: ScorerOptions = {}): Promise<Scorer> => {
    const { openScorer } = await import('./engine/scorer.js');
    return openScorer(platform, format, options);
  };

/** Replaces the live server where there are no sockets. @throws {AnyvmafError} `backend` */
export async function refuseEmbeddedServer(
  measurement: Scorer | ScoreRun,
  _options: EmbeddedServerOptions = {},
): Promise<never> {
  const { requireSteerable } = await import('./engine/live/steerable.js');
  requireSteerable(measurement);
  throw new AnyvmafError('backend', 'The live server needs Node; browsers have no sockets to listen on.');
}

export const listModels = (platform: Platform) => (): Promise<readonly ModelSummary[]> =>
  registry.listModels(platform.models);

export const describeModel =
  (platform: Platform) =>
  (name: string): Promise<ModelDescription> =>
    registry.describeModel(name, platform.models);

export const pullModel =
  (platform: Platform) =>
  async (name: string, options: PullOptions = {}): Promise<readonly PulledModel[]> => {
    const { pullModels } = await import('./models/pull.js');
    return pullModels(name, platform.models, options);
  };

export const openModel =
  (platform: Platform) =>
  async (model = 'version=vmaf_v0.6.1', options: OpenModelOptions = {}): Promise<FeatureModel> => {
    const { openModel } = await import('./models/load.js');
    return openModel(model, from(platform, options).models);
  };

export const evaluateModel =
  (platform: Platform) =>
  async (model: string, features: TableInput, options: EvaluateOptions = {}): Promise<Evaluation> => {
    const { evaluateModelOn } = await import('./evaluate/evaluation.js');
    return evaluateModelOn(from(platform, options), model, features, options);
  };

export const compareModels =
  (platform: Platform) =>
  async (
    models: readonly string[],
    features: TableInput,
    options: EvaluateOptions = {},
  ): Promise<Comparison> => {
    const { compareModelsOn } = await import('./evaluate/evaluation.js');
    return compareModelsOn(from(platform, options), models, features, options);
  };

export const writeFeatures = (platform: Platform) =>
  async function* (
    pairs: readonly DatasetPair[],
    options: DatasetOptions = {},
  ): AsyncGenerator<Uint8Array, DatasetSummary, undefined> {
    const { makeDataset } = await import('./engine/dataset.js');
    return yield* makeDataset(platform, pairs, options);
  };

export const formatFrames =
  () =>
  async (report: Report): Promise<Uint8Array> => {
    const { framesParquet } = await import('./evaluate/table/write.js');
    return framesParquet(report);
  };

export const listTinyModels = (platform: Platform) => async (): Promise<readonly TinyRegistryEntry[]> => {
  const { listTinyModels } = await import('./tiny/describe.js');
  return listTinyModels(await platform.tiny());
};

export const describeTinyModel =
  (platform: Platform) =>
  async (model: string, options: DescribeTinyOptions = {}): Promise<TinyModelDescription> => {
    const { describeTinyModel } = await import('./tiny/describe.js');
    return describeTinyModel(model, await platform.tiny(), options);
  };

export const listTinyDevices = (platform: Platform) => async (): Promise<readonly TinyDeviceStatus[]> => {
  const { listTinyDevices } = await import('./tiny/describe.js');
  return listTinyDevices(await platform.tiny());
};

export const listBackends =
  (platform: Platform) =>
  async (options: NativeOptions = {}): Promise<BackendList> => {
    const { listBackends } = await import('./engine/backends.js');
    return listBackends(platform, options);
  };

export const probeBackend =
  (platform: Platform) =>
  async (backend: BackendName, options: ProbeOptions = {}): Promise<BackendHealth> => {
    const { probeBackend } = await import('./engine/backends.js');
    return probeBackend(platform, backend, options);
  };

export const describeNative =
  (platform: Platform) =>
  async (options: NativeOptions = {}): Promise<NativeDescription> => {
    const { describeNative } = await import('./engine/backends.js');
    return describeNative(platform, options);
  };

export const diagnose =
  (platform: Platform) =>
  async (options: ProbeOptions = {}): Promise<Diagnosis> => {
    const { diagnose } = await import('./engine/backends.js');
    return diagnose(platform, options);
  };
