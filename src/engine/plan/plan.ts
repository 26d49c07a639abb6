/**
 * @module engine/plan/plan
 * Plans a run: models, features, extractors, the backend's measurements, chunks and the number of workers. Resolves `auto` in
 * model strings to the model for HD or 4K screens, by the scored size. Tells VMAF v1 models the format of upscaled encodes:
 * CAMBI measures banding in the encode's samples.
 */
import type { Compat } from '../../core/choices.js';
import type { ScoredFormat } from '../../core/colour.js';
import { featureError, modelError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import type { CoreModules } from '../../core/module.js';
import { quoted } from '../../core/printable.js';
import type { PictureSize } from '../../core/size.js';
import { factsOf } from '../../media/pair.js';
import { cambiProblem } from '../../metrics/cambi.js';
import { type ExtractorInstance, parseFeature } from '../../metrics/options.js';
import { parseModelString } from '../../models/grammar.js';
import { DEFAULT_MODEL, loadModels } from '../../models/load.js';
import { Predictor } from '../../models/predict.js';
import type { LoadedModel } from '../../models/types.js';
import type { ReportModel } from '../../report/schema.js';
import { type FeaturePlan, planFeatures } from '../backends/features.js';
import type { ExtractionPlan } from '../backends/measurer.js';
import type { TinyPlan, TinyRequest } from '../backends/tiny.js';
import type { CheckedOptions } from '../contract/options.js';
import type { Chunk, Platform } from '../contract/platform.js';
import { formatOf, type Pair } from '../pair/pair.js';

/** Models and extractors of a run, before any video is known. */
export interface Requested {
  /** Models that predict. */
  readonly models: readonly LoadedModel[];
  /** Reasons of the models that `auto` chose, by score name. */
  readonly chosen: ReadonlyMap<string, string>;
  /** Extractors in libvmaf's order of registration: those of the models, then those requested by name. */
  readonly extractors: readonly ExtractorInstance[];
  readonly tiny?: TinyRequest;
}

/** The part for preflight; installed programs name no extractors. */
export type RequestedModels = Pick<Requested, 'models'> & Partial<Pick<Requested, 'extractors'>>;

export interface RunPlan {
  readonly features: FeaturePlan;
  readonly models: readonly LoadedModel[];
  readonly chosen: Requested['chosen'];
  readonly predictor: Predictor;
  readonly tiny?: TinyPlan;
  /** Names of all metrics in libvmaf's order: features, scores, then scores of tiny models on features. */
  readonly metrics: readonly string[];
  /** Full sentences. */
  readonly warnings: readonly string[];
}

const NOTHING = 'No model or feature was requested, so pairs were only counted; name one.';

/**
 * @param size returns the scored size; called only if a model depends on it
 * @throws {AnyvmafError} `model`, `feature` or `io` for a model or feature that cannot be loaded
 */
export async function loadRequested(
  options: CheckedOptions,
  platform: Pick<Platform, 'models' | 'tiny'>,
  size: () => Promise<ScoredSize> | ScoredSize,
): Promise<Requested> {
  const { predicts } = options;
  const named = options.features.map((text) => parseFeature(text));
  const texts = options.single ? [] : (options.models ?? (predicts ? [DEFAULT_MODEL] : []));
  const load = (some: readonly string[]) => loadModels(some, platform.models);
  // Separately, because several may share a score name.
  const also = await Promise.all(
    options.alsoModels.map((text) => loadSettled([text], { ...options, v1Settings: 'plain' }, size, load)),
  );
  const { models, chosen } = await loadSettled(texts, options, size, load);
  const tiny =
    options.tiny.length > 0
      ? await (await import('../backends/tiny.js')).attachTiny(options.tiny, platform.tiny, options.single)
      : undefined;
  const needed = [...models, ...also.flatMap((each) => each.models)].flatMap((model) => model.extractors);
  const extractors = [...needed, ...named, ...(tiny?.extractors ?? [])];
  return { chosen, models: predicts ? models : [], extractors, ...(tiny && { tiny }) };
}

/** Resolves `auto`, tells VMAF v1 models of upscaling, and loads them. @param load `undefined`: unknown models */
export async function loadSettled<Loaded extends readonly LoadedModel[] | undefined>(
  texts: readonly string[],
  { v1Settings }: Pick<CheckedOptions, 'v1Settings'>,
  size: () => Promise<ScoredSize> | ScoredSize,
  load: (texts: readonly string[]) => Promise<Loaded>,
): Promise<{
  readonly texts: readonly string[];
  readonly models: Loaded;
  readonly chosen: Requested['chosen'];
}> {
  const choice = texts.some(isOpen) ? chooseModel(await size()) : undefined;
  const settled = choice ? texts.map((text) => settle(text, choice)) : texts;
  const plain = await load(settled);
  const scored = v1Settings !== 'plain' && plain?.some(isOpenToEncode) ? await size() : undefined;
  const told = settled.map((text, i) => {
    const model = plain?.[i];
    return scored?.encode && model && isOpenToEncode(model)
      ? withEncode(text, model, scored.encode, scored)
      : text;
  });
  const models = scored?.encode ? await load(told) : plain;
  const named = choice ? told.filter((_, i) => isOpen(texts[i] ?? '')).map(parseModelString) : [];
  return { texts: told, models, chosen: new Map(named.map(({ name }) => [name, choice?.reason ?? ''])) };
}

/** @throws {AnyvmafError} `feature` for an unsupported format, `feature` or `model` if two metrics have one name */
export function planRun(requested: Requested, format: ScoredFormat, compat: Compat): RunPlan {
  const tiny = requested.tiny?.plan(format);
  const pictures = tiny && { names: tiny.pictureMetrics, chroma: tiny.chroma };
  const features = planFeatures(requested.extractors, format, compat, pictures);
  const predictor = new Predictor(requested.models, features.names);
  const metrics = [...features.names, ...predictor.names, ...(tiny?.featureMetrics ?? [])];
  const twice = metrics.find((name, i) => metrics.indexOf(name) !== i);
  if (twice !== undefined) {
    const own = features.extractors.filter((bound) =>
      bound.features.some(({ alias, plainName }) => plainName && alias === twice),
    );
    if (own.length > 1)
      throw featureError(
        `${own.map(({ instance }) => instance.key).join(' and ')} would both report ${quoted(twice)}, whose name never shows options; ` +
          'request it with one of them only.',
      );
    throw modelError(
      `Two metrics would be called ${quoted(twice)}; give the model another name with name=, or a tiny model another name.`,
    );
  }
  const warnings = metrics.length > 0 ? features.warnings : [...features.warnings, NOTHING];
  const { models, chosen } = requested;
  return { features, models, chosen, predictor, ...(tiny && { tiny }), metrics, warnings };
}

export function reportModel(model: LoadedModel, chosen?: RunPlan['chosen']): ReportModel {
  const reason = chosen?.get(model.name);
  const { name, source, disableClip, enableTransform, collectionKeys } = model;
  const inputs = model.members.flatMap((member) => member.inputs.map((input) => input.logName));
  const clip = model.members[0]?.definition.clip;
  const settings = encodeSettings(model);
  return {
    name,
    source,
    ...(reason !== undefined && { chosen: reason }),
    ...(settings !== undefined && { settings }),
    features: [...new Set(inputs)],
    options: { disableClip, enableTransform },
    ...(clip && (clip[0] !== 0 || clip[1] !== 100) && { scoreRange: clip }),
    ...(collectionKeys && {
      collection: {
        members: collectionKeys.members.length,
        bagging: collectionKeys.bagging,
        stddev: collectionKeys.stddev,
        ciLow: collectionKeys.ciLow,
        ciHigh: collectionKeys.ciHigh,
      },
    }),
  };
}

export function reportModels({ models, chosen }: Pick<RunPlan, 'models' | 'chosen'>): ReportModel[] {
  return models.map((model) => reportModel(model, chosen));
}

/** @throws {AnyvmafError} as `loading`; `io` or `internal` if a module cannot be loaded */
export async function loadModules(
  platform: Pick<Platform, 'loadCore'>,
  loading: Promise<Requested>,
): Promise<readonly [Requested, CoreModules]> {
  const [requested, core] = await Promise.all([loading, platform.loadCore()]);
  const colour = requested.extractors.some(({ spec }) => spec.module === 'perceptual');
  return [requested, { core, ...(colour && { perceptual: await platform.loadCore('perceptual') }) }];
}

export type EncodedPictures = Pick<VideoFormat, 'width' | 'height' | 'bitDepth'>;

/** The scored size, and the format of the encode if it is scaled up. */
export interface ScoredSize extends PictureSize {
  readonly encode?: EncodedPictures;
}

export function scoredSize(known: Pair): VideoFormat & ScoredSize {
  return { ...formatOf(known), encode: scaledEncode(known) };
}

/** The encode's format before upscaling; `undefined` without upscaling, or if ffmpeg reshapes pictures. */
function scaledEncode({ plan, sides: { distorted } }: Pair): EncodedPictures | undefined {
  if (!plan || distorted.reshaped) return undefined;
  const { width, height, bitDepth } = factsOf(distorted);
  const { format } = plan;
  const isScaledUp =
    width <= format.width && height <= format.height && (width < format.width || height < format.height);
  return isScaledUp ? { width, height, bitDepth: distorted.storedDepth ?? bitDepth } : undefined;
}

/** CAMBI's options about the encode, with the fields of their values. */
const OPTIONS = { enc_width: 'width', enc_height: 'height', enc_bitdepth: 'bitDepth' } as const;
const NAMES = Object.keys(OPTIONS) as readonly (keyof typeof OPTIONS)[];

/** Whether a model uses CAMBI and sets none of its options about the encode. */
function isOpenToEncode({ extractors }: LoadedModel): boolean {
  const cambi = cambiOf(extractors);
  return cambi !== undefined && !NAMES.some((name) => cambi.given.has(name));
}

/** Adds the encode to CAMBI's options in a model string, unless CAMBI could not measure with them. */
function withEncode(
  text: string,
  { extractors }: LoadedModel,
  encode: EncodedPictures,
  own: PictureSize,
): string {
  const cambi = cambiOf(extractors);
  const values = NAMES.map((name) => [name, encode[OPTIONS[name]]] as const);
  const fits = values.every(([name, value]) => {
    const { min = 0, max = 0 } = cambi?.spec.options.find((option) => option.name === name) ?? {};
    return value >= min && value <= max;
  });
  const told = cambi && { ...cambi, options: { ...cambi.options, ...Object.fromEntries(values) } };
  if (!fits || !told || cambiProblem(told, own) !== undefined) return text;
  return [text, ...values.map(([name, value]) => `cambi.${name}=${value}`)].join(':');
}

/** The encode options of a model's CAMBI as a full sentence; `undefined` if there are none. */
function encodeSettings({ extractors }: LoadedModel): string | undefined {
  const cambi = cambiOf(extractors);
  const told = NAMES.filter((name) => cambi?.given.has(name));
  if (told.length === 0) return undefined;
  return `CAMBI was given the encode's format: ${told.map((name) => `${name}=${cambi?.options[name]}`).join(', ')}.`;
}

function cambiOf(extractors: readonly ExtractorInstance[]): ExtractorInstance | undefined {
  return extractors.find(({ spec }) => spec.name === 'cambi');
}

export interface ModelChoice {
  readonly version: string;
  /** A full sentence. */
  readonly reason: string;
}

/** Largest long and short side of pictures nearer to 1920x1080 than to 3840x2160. */
const HD_LIMIT = { long: 2560, short: 1440 };

/** Whether a model string is `auto`, alone or followed by flags and overloads. */
export function isOpen(text: string): boolean {
  return text === 'auto' || text.startsWith('auto:');
}

/** Resolves `auto` in a model string. */
export function settle(text: string, { version }: ModelChoice): string {
  return isOpen(text) ? `version=${version}${text.slice('auto'.length)}` : text;
}

/** Chooses the model trained for screens of about this size. */
export function chooseModel({ width, height }: PictureSize): ModelChoice {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  const size = `${width}x${height}`;
  if (long > HD_LIMIT.long || short > HD_LIMIT.short) {
    return {
      version: 'vmaf_4k_v0.6.1',
      reason: `${size} is nearer to 4K than to HD: vmaf_4k_v0.6.1, for a 4K screen at 1.5 screen heights.`,
    };
  }
  return {
    version: 'vmaf_v0.6.1',
    reason: `${size} is at most ${HD_LIMIT.long}x${HD_LIMIT.short}: vmaf_v0.6.1, for an HD screen at 3 screen heights.`,
  };
}

/** Longest default chunk. */
const LONGEST = 16;
/** Chunk size while the number of frames is unknown. */
const WITHOUT_TOTAL = 8;

/**
 * Yields chunks in order, endlessly while the total is unknown. Sizes shrink towards the end, so that several workers finish
 * at about the same time.
 * @param total the pair after the last, `null` while unknown
 */
export function* cutChunks(
  total: number | null,
  workers: number,
  fixed?: number,
  from = 0,
): Generator<Chunk, void> {
  for (let first = from; total === null || first < total; ) {
    const left = total === null ? Number.POSITIVE_INFINITY : total - first;
    const fair =
      total === null
        ? WITHOUT_TOTAL
        : Math.min(LONGEST, workers === 1 ? left : Math.ceil(left / (2 * workers)));
    const count = Math.min(left, fixed ?? fair);
    yield { first, count };
    first += count;
  }
}

/** Whether a busy worker may queue this chunk: enough chunks must follow to even out its delay. */
export function mayWait({ first, count }: Chunk, total: number | null, workers: number): boolean {
  return workers === 1 || (total !== null && total - first - count >= workers * count);
}

/** Limits workers to those that get a chunk. @param longest pairs per chunk, if independent of the workers */
export function usefulThreads(threads: number, total: number | null, longest = 1): number {
  return total === null ? threads : Math.min(threads, Math.max(1, Math.ceil(total / longest)));
}

/** Milliseconds of work that justify starting a worker. */
const WORTH_A_WORKER = 60;
/** Assumed pairs of a run of unknown length. */
const LIKELY_TOTAL = 500;

/**
 * Default number of workers: 0 if the run would end before they start, else limited by cores and work.
 * @param expected total pairs, `null` while unknown: assumes 500, so that small frames get few workers
 */
export function chooseThreads(cores: number, plan: ExtractionPlan, expected: number | null): number {
  const milliseconds = coreTime(plan, expected);
  if (milliseconds < 2 * WORTH_A_WORKER) return 0;
  return Math.min(cores, expected ?? LIKELY_TOTAL, Math.floor(milliseconds / WORTH_A_WORKER));
}

/** Estimated milliseconds of one thread with the core. @param expected as in {@link chooseThreads} */
export function coreTime({ calls, format }: ExtractionPlan, expected: number | null): number {
  const perSample = calls.reduce((sum, { cost }) => sum + cost, 0);
  return (format.width * format.height * (expected ?? LIKELY_TOTAL) * perSample) / 1e6;
}
