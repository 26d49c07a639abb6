/**
 * @module mcp/checked-api
 * The public functions that open files, typed to take only checked paths and models, and an origin; and pictures of
 * frame pairs. Runs in the threads of mcp/call-threads.
 */
import type { BenchOptions, BenchResult } from '../bench/run.js';
import * as api from '../index.js';
import type { MapsOfMetric } from '../report/quality-metrics.js';
import type { CheckedModel, CheckedPath } from './paths.js';

/** A pair; without a reference for no-reference scores. */
export interface CheckedRequest {
  readonly reference?: CheckedPath;
  readonly distorted: CheckedPath;
  readonly raw?: api.RawVideoFormat;
}

/** Options whose file names are checked. */
export type CheckedOptions<Options> = Omit<Options, 'models' | 'tiny'> & {
  readonly models?: readonly CheckedModel[];
  readonly tiny?: readonly (api.TinyModelOptions & { readonly model: CheckedModel })[];
};

type Call = (...args: never[]) => unknown;
type FromCall<Options> = CheckedOptions<NonNullable<Options>> & { readonly origin: api.Origin };
type OnPair<F extends Call> = (request: CheckedRequest, options: FromCall<Parameters<F>[1]>) => ReturnType<F>;
type OnVideo<F extends Call> = (video: CheckedPath, options: FromCall<Parameters<F>[1]>) => ReturnType<F>;
type OnTable<F extends Call, Models> = (
  models: Models,
  table: CheckedPath,
  options: FromCall<Parameters<F>[2]>,
) => ReturnType<F>;

export const score: OnPair<typeof api.score> = api.score;
export const inspect: OnPair<typeof api.inspect> = api.inspect;
export const describeVideo: OnVideo<typeof api.describeVideo> = api.describeVideo;
export const align: OnPair<typeof api.align> = api.align;

export const scoreMany: (
  reference: CheckedPath,
  distorted: readonly CheckedPath[],
  options: FromCall<api.ScoreManyOptions>,
) => ReturnType<typeof api.scoreMany> = api.scoreMany;

/** @param options `onResult` receives each job's report as it ends, or its error */
export const scoreBatch = async (
  jobs: readonly CheckedRequest[],
  {
    onResult,
    ...options
  }: FromCall<api.BatchOptions> & {
    readonly onResult: (result: api.Report | api.AnyvmafError, index: number) => void;
  },
): Promise<void> => {
  for await (const { index, report, error } of api.scoreBatch(jobs, options))
    onResult(report ?? error ?? new api.AnyvmafError('internal', 'The pair has no result.'), index);
};

export const extractFrames: (
  request: CheckedRequest,
  frames: readonly number[],
  options: FromCall<api.ExtractOptions>,
) => ReturnType<typeof api.extractFrames> = api.extractFrames;

export const searchQuality: OnVideo<typeof api.searchQuality> = api.searchQuality;
export const buildLadder: OnVideo<typeof api.buildLadder> = api.buildLadder;
export const compareEncoders: OnVideo<typeof api.compareEncoders> = api.compareEncoders;
export const tuneShots: OnVideo<typeof api.tuneShots> = api.tuneShots;
export const openModel: (
  model: CheckedModel,
  options: FromCall<api.OpenModelOptions>,
) => ReturnType<typeof api.openModel> = api.openModel;

export const evaluateModel: OnTable<typeof api.evaluateModel, CheckedModel> = api.evaluateModel;
export const compareModels: OnTable<typeof api.compareModels, readonly CheckedModel[]> = api.compareModels;

/** Takes no paths: the benchmark makes its own videos. */
export const runBenchmark = async (options: BenchOptions): Promise<BenchResult> =>
  (await import('../bench/run.js')).runBenchmark(options);

const PICTURES = ['reference', 'distorted', 'difference', 'map'] as const;
export type PictureName = (typeof PICTURES)[number];

export interface PictureJob {
  readonly request: CheckedRequest;
  /** Numbers of frame pairs. */
  readonly frames: readonly number[];
  readonly options: Omit<api.ExtractOptions, 'signal'> & { readonly origin: api.Origin };
  readonly maps: MapsOfMetric;
  /** Longest side of the pictures in samples; absent for full size. */
  readonly maxSide?: number;
  /** Small copies, for a model or a page. */
  readonly previews: {
    readonly names: readonly PictureName[];
    /** In samples. */
    readonly maxSide: number;
    /** Most bytes of a copy: a PNG if it fits, else a JPEG that is reduced until it does. */
    readonly maxBytes: number;
  };
  /** Longest side of an RGB copy of the distorted picture, for a vision model; absent for none. */
  readonly plainSide?: number;
}

export interface Png {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Preview extends Png {
  readonly mimeType: 'image/png' | 'image/jpeg';
}

export type TakenPair = Awaited<ReturnType<typeof picturesOf>>;
export type TakenSide = Pick<api.FramePicture, 'frame' | 'time' | 'color'>;

/**
 * Takes pictures; `onPair` receives each pair as soon as it is ready, in ascending order.
 * @throws {AnyvmafError} those of the public `extractFrames`; the signal's reason
 */
export async function takePairs(
  job: PictureJob,
  { signal, onPair }: { readonly signal: AbortSignal; readonly onPair: (pair: TakenPair) => void },
): Promise<void> {
  const densities: Densities = new Map();
  for await (const pair of extractFrames(job.request, job.frames, { ...job.options, signal })) {
    onPair(await picturesOf(pair, job, densities, signal));
  }
}

const sideOf = ({ frame, time, color }: api.FramePicture): TakenSide => ({ frame, time, color });

async function picturesOf(
  pair: api.FramePair,
  { maps: ofMetric, maxSide, previews, plainSide }: PictureJob,
  densities: Densities,
  signal: AbortSignal,
) {
  const maps = await api.mapQuality(pair, ofMetric);
  const pictures = {} as Record<PictureName, Png>;
  for (const name of PICTURES) {
    // Let the thread receive an abort.
    await new Promise((next) => setImmediate(next));
    signal.throwIfAborted();
    pictures[name] = await png(maps, name, maxSide);
  }
  const small: Partial<Record<PictureName, Preview>> = {};
  for (const name of previews.names)
    small[name] = await fitting(maps, name, pictures[name], previews, densities);
  return {
    index: pair.index,
    /** Display aspect ratio. */
    aspect: pair.reference.displayAspect,
    reference: sideOf(pair.reference),
    distorted: sideOf(pair.distorted),
    facts: pair.facts(),
    /** Factor that multiplied the difference. */
    gain: pair.difference().gain,
    /** Full size unless the job limits it. */
    pictures,
    previews: small,
    plain: plainSide === undefined ? undefined : pair.distorted.image({ maxSide: plainSide }),
  };
}

async function png(maps: api.QualityMaps, name: PictureName, maxSide?: number): Promise<Png> {
  const { pair } = maps;
  const size = maxSide === undefined ? {} : { maxSide };
  if (name === 'map') {
    const drawn = mapOf(maps, size);
    return { width: drawn.image.width, height: drawn.image.height, bytes: await drawn.png() };
  }
  const { width, height } = imageOf(maps, name, size);
  const bytes = await (name === 'difference' ? pair.differencePng(size) : pair[name].png(size));
  return { width, height, bytes };
}

function mapOf(maps: api.QualityMaps, size: api.ImageOptions): api.HeatmapImage {
  return maps.render({ ...size, of: maps.butteraugli ? 'butteraugli' : 'both' });
}

function imageOf(maps: api.QualityMaps, name: PictureName, size: api.ImageOptions): api.RgbImage {
  if (name === 'map') return mapOf(maps, size).image;
  return name === 'difference' ? maps.pair.difference(size).image : maps.pair[name].image(size);
}

const ATTEMPTS = 8;
/** JPEG quality, high enough not to hide artefacts of the video. */
const QUALITY = 88;
/** Fraction of the largest side that should fit: a margin, as smaller pictures have more detail per sample. */
const AIM = 0.93;
const LEAST_SIDE = 16;

/** Bytes per sample of the last JPEG of each kind, to predict the next frame's. */
type Densities = Map<PictureName, number>;

/** A whole or reduced PNG if it fits, else a JPEG, which holds four times the samples of a noisy picture. */
async function fitting(
  maps: api.QualityMaps,
  name: PictureName,
  whole: Png,
  { maxSide, maxBytes }: PictureJob['previews'],
  densities: Densities,
): Promise<Preview> {
  const longest = Math.max(whole.width, whole.height);
  const copy = longest <= maxSide ? whole : await png(maps, name, maxSide);
  if (copy.bytes.length <= maxBytes) return { ...copy, mimeType: 'image/png' };
  const most = Math.min(longest, maxSide);
  const within = (side: number) => Math.min(most, Math.max(LEAST_SIDE, Math.floor(side)));
  const aimed = (density: number) =>
    AIM * longest * Math.sqrt(maxBytes / (density * whole.width * whole.height));
  const known = densities.get(name);
  let small = await jpeg(maps, name, known === undefined ? most : within(aimed(known)));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const side = Math.max(small.width, small.height);
    const density = small.bytes.length / (small.width * small.height);
    densities.set(name, density);
    const over = small.bytes.length > maxBytes;
    // Enlarge it once if the previous frame needed more than twice as many bytes.
    const spare = attempt === 0 && 2 * small.bytes.length < maxBytes;
    const next = within(over ? Math.min(0.95 * side, aimed(density)) : aimed(density));
    if (!(over || spare) || next === side) break;
    small = await jpeg(maps, name, next);
  }
  return small;
}

async function jpeg(maps: api.QualityMaps, name: PictureName, maxSide: number): Promise<Preview> {
  const { width, height, data } = imageOf(maps, name, { maxSide });
  const rgba = new Uint8Array(4 * width * height);
  for (let from = 0, to = 0; from < data.length; to++)
    rgba[to] = (to & 3) === 3 ? 255 : (data[from++] as number);
  const { encode } = await import('jpeg-js');
  const bytes = new Uint8Array(encode({ width, height, data: rgba }, QUALITY).data);
  return { width, height, bytes, mimeType: 'image/jpeg' };
}
