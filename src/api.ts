/**
 * @module api
 * The public functions for a platform, documented in `index`. Separate functions rather than one object, so that
 * bundlers drop unused ones; each loads its code when called.
 */
import { AnyvmafError } from './core/errors.js';
import type { Platform } from './engine/contract/platform.js';
import * as registry from './models/registry.js';
import type {
  DescribeTinyOptions,
  EmbeddedServerOptions,
  InspectOptions,
  OpenModelOptions,
  Origin,
  PullOptions,
  Report,
  ScoreOptions,
  ScoreRequest,
  ScoreRun,
  Scorer,
  Shard,
} from './public.js';
import type { SearchPlatform } from './search/session.js';

type Load<Host, Args extends readonly unknown[], Returned> = () => Promise<
  (platform: Host, ...args: Args) => Returned
>;

/** Binds a function to a platform; a call loads its code. */
function loaded<Host, Args extends readonly unknown[], Result>(
  platform: Host,
  load: Load<Host, Args, Promise<Result> | Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const own = copyOf(args);
    return (await load())(platform, ...own);
  };
}

/** Copies plain objects and lists, which callers may change while code loads; sources, files and signals stay as they are. */
function copyOf<Value>(value: Value): Value {
  try {
    return copied(value, COPIED_DEPTH) as Value;
  } catch {
    // Unreadable arguments are refused where they are checked.
    return value;
  }
}

/** Lists in the options of the jobs of a batch: arguments, jobs, a job, its options, a list. */
const COPIED_DEPTH = 5;

function copied(value: unknown, depth: number): unknown {
  if (depth === 0 || typeof value !== 'object' || value === null || 'readFrame' in value) return value;
  if (Array.isArray(value)) return value.map((item) => copied(item, depth - 1));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member, depth - 1)]));
}

/**
 * Like {@link loaded}, but limits the platform to files that the options' origin may open.
 * @param at index of the options among the arguments
 */
function bound<Args extends readonly unknown[], Result>(
  platform: Platform,
  load: Load<Platform, Args, Promise<Result> | Result>,
  at = 1,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const own = copyOf(args);
    const host = await from(platform, own[at]);
    return (await load())(host, ...own);
  };
}

/** {@link bound} for generators. */
function yielding<Args extends readonly unknown[], Item, Result>(
  platform: Platform,
  load: Load<Platform, Args, AsyncGenerator<Item, Result, undefined>>,
  at = 1,
): (...args: Args) => AsyncGenerator<Item, Result, undefined> {
  async function* run(args: Args) {
    return yield* (await load())(await from(platform, args[at]), ...args);
  }
  return (...args) => run(copyOf(args));
}

/** @throws {AnyvmafError} `usage` if the origin is invalid */
async function from(platform: Platform, options: unknown): Promise<Platform> {
  let origin: Origin | undefined;
  try {
    origin = Object(options).origin;
  } catch {
    // Unreadable options are refused where they are checked.
  }
  if (origin === undefined) return platform;
  const { checkOrigin } = await import('./core/origin.js');
  checkOrigin(origin);
  return platform.ofOrigin?.(origin) ?? platform;
}

const loadScore = () => import('./engine/score.js');
const loadMany = () => import('./engine/score-many.js');
const loadShardFile = () => import('./engine/shards/shard-file.js');
const loadInspect = () => import('./engine/inspect.js');
const loadMaps = () => import('./engine/quality-maps.js');
const loadSearch = () => import('./search/search.js');
const loadCurves = () => import('./search/curves.js');
const loadEvaluation = () => import('./evaluate/evaluation.js');
const loadTiny = () => import('./tiny/describe.js');
const loadBackends = () => import('./engine/backends.js');

export const score = (platform: Platform) =>
  bound(platform, async () => {
    const { scorePair } = await loadScore();
    return (host, request: ScoreRequest, options?: ScoreOptions) => scorePair(host, request, options);
  });
export const prepareRun = (platform: Platform) => bound(platform, async () => (await loadScore()).prepareRun);
export const scoreMany = (platform: Platform) => bound(platform, async () => (await loadMany()).scoreEach, 2);
export const scoreBatch = (platform: Platform) =>
  yielding(platform, async () => (await loadMany()).scoreJobs);
export const createScorer = (platform: Platform) =>
  loaded(platform, async () => (await import('./engine/scorer.js')).openScorer);

export const scoreShard = (platform: Platform) =>
  bound(platform, async () => (await import('./engine/shards/score-shard.js')).measureShard, 2);
export const mergeShards = (platform: Platform) =>
  bound(platform, async () => (await import('./engine/shards/merge.js')).mergeRun);

/**
 * Formats the record of a shard as the text of a file.
 * @throws {AnyvmafError} `usage` if it is not a record
 */
export async function formatShard(shard: Shard): Promise<string> {
  return (await loadShardFile()).formatShard(shard);
}

/**
 * Reads the record of a shard.
 * @param name of the file, for messages
 * @throws {AnyvmafError} `io` if it is not the record of a shard, or is damaged
 */
export async function readShard(text: string, name?: string): Promise<Shard> {
  return (await loadShardFile()).readShard(text, name);
}

export const inspect = (platform: Platform) =>
  bound(platform, async () => {
    const { inspectPair } = await loadInspect();
    return (host, request: ScoreRequest, options?: InspectOptions) => inspectPair(host, request, options);
  });
export const describeVideo = (platform: Platform) =>
  bound(platform, async () => (await loadInspect()).describeVideo);
export const align = (platform: Platform) => bound(platform, async () => (await loadInspect()).alignPair);
export const extractFrames = (platform: Platform) =>
  yielding(platform, async () => (await import('./engine/extract.js')).extractPairs, 2);
export const qualityMaps = (platform: Platform) =>
  yielding(platform, async () => (await loadMaps()).mapPairs, 2);
export const mapQuality = (platform: Platform) => loaded(platform, async () => (await loadMaps()).mapPair);

export const searchQuality = (platform: SearchPlatform) =>
  loaded(platform, async () => (await loadSearch()).searchQuality);
export const forgetSearches = (platform: SearchPlatform) =>
  loaded(platform, async () => (await loadSearch()).forgetSearches);
export const detectShots = (platform: SearchPlatform) =>
  loaded(platform, async () => (await import('./search/cuts.js')).detectShots);
export const tuneShots = (platform: SearchPlatform) =>
  loaded(platform, async () => (await import('./search/shots.js')).tuneShots);
export const buildLadder = (platform: SearchPlatform) =>
  loaded(platform, async () => (await loadCurves()).buildLadder);
export const compareEncoders = (platform: SearchPlatform) =>
  loaded(platform, async () => (await loadCurves()).compareEncoders);

/** Refuses a live server where there are no sockets. @throws {AnyvmafError} `backend` */
export async function refuseEmbeddedServer(
  measurement: Scorer | ScoreRun,
  _options: EmbeddedServerOptions = {},
): Promise<never> {
  const { requireSteerable } = await import('./engine/live/steerable.js');
  requireSteerable(measurement);
  throw new AnyvmafError('backend', 'The live server needs Node; browsers have no sockets to listen on.');
}

export const listModels = (platform: Platform) => () => registry.listModels(platform.models);
export const describeModel = (platform: Platform) => (name: string) =>
  registry.describeModel(name, platform.models);
export const pullModel = (platform: Platform) => async (name: string, options?: PullOptions) =>
  (await import('./models/pull.js')).pullModels(name, platform.models, options);
export const openModel = (platform: Platform) =>
  bound(platform, async () => {
    const { openModel } = await import('./models/load.js');
    return ({ models }: Platform, ...[model]: [model?: string, options?: OpenModelOptions]) =>
      openModel(models, model);
  });

export const evaluateModel = (platform: Platform) =>
  bound(platform, async () => (await loadEvaluation()).evaluateModelOn, 2);
export const compareModels = (platform: Platform) =>
  bound(platform, async () => (await loadEvaluation()).compareModelsOn, 2);
export const writeFeatures = (platform: Platform) =>
  yielding(platform, async () => (await import('./engine/dataset.js')).makeDataset);
export const formatFrames = () => async (report: Report) =>
  (await import('./evaluate/table/write.js')).framesParquet(report);

export const listTinyModels = (platform: Platform) => async () =>
  (await loadTiny()).listTinyModels(await platform.tiny());
export const describeTinyModel =
  (platform: Platform) => async (model: string, options?: DescribeTinyOptions) =>
    (await loadTiny()).describeTinyModel(model, await platform.tiny(), options);
export const listTinyDevices = (platform: Platform) => async () =>
  (await loadTiny()).listTinyDevices(await platform.tiny());

export const listBackends = (platform: Platform) =>
  loaded(platform, async () => (await loadBackends()).listBackends);
export const probeBackend = (platform: Platform) =>
  loaded(platform, async () => (await loadBackends()).probeBackend);
export const describeNative = (platform: Platform) =>
  loaded(platform, async () => (await loadBackends()).describeNative);
export const diagnose = (platform: Platform) => loaded(platform, async () => (await loadBackends()).diagnose);
