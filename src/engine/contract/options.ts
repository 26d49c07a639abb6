/**
 * @module engine/contract/options
 * Checks options and fills in defaults.
 */
import { isObject, isReadable, requireObject, wrongType } from '../../core/arguments.js';
import type { BackendChoice } from '../../core/choices.js';
import { TINY_DEVICE_CHOICES, TINY_PRECISIONS, TINY_RESIZES } from '../../core/choices.js';
import { type InputRole, usageError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import { checkByTable, checkMembers } from '../../core/option-checks.js';
import type { FilterOptions, OptionsOf, OptionTaker, OptionWith } from '../../core/options.js';
import { changed, optionsOf, pickOptions } from '../../core/options.js';
import { checkOrigin } from '../../core/origin.js';
import { aomCtc, nflxCtc, type Preset } from '../../core/presets.js';
import { showValue } from '../../core/printable.js';
import { among, fitting, flag, list, type Shape, whole } from '../../core/shapes.js';
import type { TrackRequest } from '../../media/decoder.js';
import { requireVideo } from '../../media/open.js';
import type { ColoursAsked } from '../../media/pair.js';
import { beyondLibvmaf, folderOption, isOfColour } from '../../metrics/options.js';
import type { TinyModelOptions } from '../../tiny/types.js';
import { type DeviceOptions, isOwnBackend } from '../backends/native/types.js';
import type { Keep, PairingOptions, ScoreOptions, ScoreRequest, ScorerOptions } from './types.js';

export interface CheckedOptions
  extends Pick<Completed, 'compat' | 'v1Settings' | 'threads' | 'chunkFrames' | 'implementation'> {
  /** `undefined`: the default model, if `predicts`. */
  readonly models: readonly string[] | undefined;
  readonly alsoModels: readonly string[];
  readonly features: readonly string[];
  /** False: measures the models' features without predicting. */
  readonly predicts: boolean;
  /** Whether colour metrics are requested, also or only. */
  readonly colours: ColoursAsked;
  readonly tiny: readonly TinyModelOptions[];
  /** Scores the distorted video without a reference. */
  readonly single: boolean;
  /** At least 1. */
  readonly subsample: number;
  /** `Infinity` for all. */
  readonly frameCount: number;
  /** Leading frames to discard. */
  readonly skip: Readonly<Record<InputRole, number>>;
  /** Upper limit of chosen workers; `Infinity`: the number of cores. */
  readonly maxThreads: number;
  readonly keep: Keep | undefined;
  readonly backend: BackendChoice;
  readonly native: CheckedNative;
  readonly pairing: CheckedPairing;
}

export interface CheckedNative {
  readonly vmafBin: string | undefined;
  readonly devices: DeviceOptions;
  /** Options set by the caller that only this package's core supports. */
  readonly coreOnly: readonly string[];
}

/** Options of pairing with the table's defaults, except those redefined below. */
export interface CheckedPairing extends Omit<Complete<OptionsOf<'pair'>>, 'rate'> {
  /** Whether to score a damaged video up to its damage, or refuse it. */
  readonly damage: 'accept' | 'refuse';
  /** Frame rate of picture sequences, as a fraction. */
  readonly rate: string | undefined;
  /** Whether URLs may be fetched; a list allows only these hosts, with checks. */
  readonly urls: boolean | readonly string[];
  readonly tracks: Readonly<Partial<Record<InputRole, TrackRequest>>>;
  /** `undefined` if none is set. */
  readonly filters: CheckedFilters | undefined;
}

/** Filters; some of their checks need open inputs. */
export interface CheckedFilters extends FilterOptions {
  /** Whether someone other than the user requests them. */
  readonly foreign: boolean;
}

/** Options with the table's defaults. */
type Complete<Options> = Options & Required<Pick<Options, keyof Options & OptionWith<{ default: unknown }>>>;
type Completed = Complete<ScoreOptions>;

/** @throws {AnyvmafError} `usage`, naming the option, its value and the allowed values */
export function checkOptions(
  options: ScoreOptions & Pick<ScorerOptions, 'names'>,
  taker: OptionTaker,
): CheckedOptions {
  requireObject('options', options);
  const all = checkByTable<Completed>(options, taker);
  if (all.backend === 'hybrid' && all.threads === 0) {
    throw usageError(
      'threads is 0, but the backend hybrid shares the frames between a GPU and workers; set threads to at least 1, or use ' +
        'the backend webgpu.',
    );
  }
  const presets = presetsOf(all);
  const { models, features = [], compat, v1Settings, threads, chunkFrames, implementation } = all;
  return {
    ...{ compat, v1Settings, threads, chunkFrames, implementation },
    models:
      presets.length === 0 ? models : [...presets.flatMap((preset) => preset.models), ...(models ?? [])],
    alsoModels: all.alsoModels ?? [],
    features: [...presets.flatMap((preset) => preset.features), ...features],
    predicts: !all.noPrediction,
    tiny: checkTiny(all.tiny),
    colours: requestedColours(all, taker),
    single: checkSingle(all),
    subsample: Math.max(1, all.subsample),
    frameCount: all.frameCount || Number.POSITIVE_INFINITY,
    skip: { reference: all.skipReference, distorted: all.skipDistorted },
    maxThreads: all.maxThreads ?? Number.POSITIVE_INFINITY,
    keep: checkKeep(all.keep),
    backend: all.backend ?? 'wasm',
    native: checkNative(options),
    pairing: checkPairing(all, all.commonBitDepth ?? presets.some((preset) => preset.commonBitDepth)),
  };
}

/** Most seconds to keep: a day. */
const MAX_SECONDS = 86_400;

function checkKeep(keep: Keep | undefined): Keep | undefined {
  if (keep === undefined) return undefined;
  requireObject('keep', keep);
  if ('frames' in keep && keep.frames !== undefined) {
    return { frames: whole(1, 2 ** 31)('keep.frames', keep.frames) };
  }
  const seconds: unknown = 'seconds' in keep ? keep.seconds : undefined;
  if (typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS) return { seconds };
  throw wrongType('keep', keep, `{ frames: N } from 1 on, or { seconds: N } up to ${MAX_SECONDS}`);
}

/** Frames to keep; `undefined` for all. @throws {AnyvmafError} `usage` for seconds without a known frame rate */
export function framesToKeep(keep: Keep | undefined, rate: number | undefined): number | undefined {
  if (keep === undefined) return undefined;
  if ('frames' in keep) return keep.frames;
  if (rate !== undefined && rate > 0) return Math.max(1, Math.ceil(keep.seconds * rate));
  throw usageError(
    `keep is ${keep.seconds} seconds, but the frame rate is not known; give { frames: N } instead.`,
  );
}

function presetsOf(options: ScoreOptions): readonly Preset[] {
  const { aomCtc: aom, nflxCtc: nflx } = options;
  return [...(aom === undefined ? [] : [aomCtc(aom)]), ...(nflx === undefined ? [] : [nflxCtc(nflx)])];
}

function requestedColours(options: ScoreOptions, taker: OptionTaker): CheckedOptions['colours'] {
  const { features = [], models, alsoModels = [], noPrediction, tiny = [], colourAs } = options;
  if (!features.some(isOfColour)) {
    // Calls that take no features show what a run has scored.
    if (colourAs === undefined || !optionsOf(taker).includes('features')) return 'no';
    throw usageError(
      `is ${showValue(colourAs)}, but features has no colour metric; add one, such as ssimulacra2.`,
      { about: 'colourAs' },
    );
  }
  if (colourAs === 'libjxl' && !readsStored(options)) {
    throw usageError(
      'is libjxl, which needs pictures as stored, but vfReference, vfDistorted, colorRange, matrix or pixelFormat changes ' +
        'them; leave one of them out.',
      { about: 'colourAs' },
    );
  }
  const predicts = !noPrediction && (models === undefined || models.length > 0);
  const others = predicts || alsoModels.length > 0 || tiny.length > 0 || presetsOf(options).length > 0;
  return others || !features.every(isOfColour) ? 'also' : 'only';
}

/** Whether colour metrics read samples as stored: no requested filter changes them. */
export function readsStored(filters: FilterOptions = {}): boolean {
  const { vfReference, vfDistorted, colorRange, matrix, pixelFormat } = filters;
  return (vfReference ?? vfDistorted ?? colorRange ?? matrix ?? pixelFormat) === undefined;
}

export function scoresAlone({ noReference }: ScoreOptions): boolean {
  return noReference === true;
}

/** @throws {AnyvmafError} `usage` for an option that needs a reference */
function checkSingle(options: Completed): boolean {
  if (!scoresAlone(options)) return false;
  if (options.tiny === undefined || options.tiny.length === 0) {
    throw usageError(
      'noReference (no_reference) needs a no-reference tiny model, because no other model scores without a reference; ' +
        'add one.',
    );
  }
  const [other] = changed(options, ({ reference }) => reference);
  if (other === undefined) return true;
  throw usageError(`${other} and noReference exclude each other: there is no reference to compare with.`);
}

/** For what callers ask for: passes and samples of a run are checked together. @throws {AnyvmafError} `usage` */
export function refuseUnchecked({ pairing: { strict, preflight } }: CheckedOptions): void {
  if (!strict || preflight) return;
  throw usageError('is true, but preflight is false, so nothing is checked; leave one of them out.', {
    about: 'strict',
  });
}

function checkNative(options: ScoreOptions): CheckedNative {
  const { backend = 'wasm', vmafBin } = options;
  if (vmafBin !== undefined && isOwnBackend(backend)) {
    throw usageError(
      `is ${showValue(vmafBin)}, but no native backend is requested that would run it; choose native-cpu, cuda, sycl, ` +
        'hip, metal or auto.',
      { about: 'vmafBin' },
    );
  }
  const own = [
    ['syclDevice', 'sycl'],
    ['hipDevice', 'hip'],
    ['metalDevice', 'metal'],
  ] as const;
  for (const [name, of] of own) {
    if (options[name] === undefined || backend === of || backend === 'auto') continue;
    throw usageError(
      `is ${showValue(options[name])}, but the backend is ${backend}, not ${of}; leave one of them out.`,
      { about: name },
    );
  }
  const { cpumask, gpumask, syclDevice, hipDevice, metalDevice } = options;
  const folder = folderOption([...(options.features ?? []), ...(options.models ?? [])]);
  const owned = Object.entries(pickOptions(options, ({ core }) => core));
  const coreOnly = owned.flatMap(([name, value]) => (value === false ? [] : [name]));
  if (folder !== undefined) coreOnly.push(folder);
  coreOnly.push(...new Set(beyondLibvmaf(options.features ?? [])));
  return { vmafBin, devices: { cpumask, gpumask, syclDevice, hipDevice, metalDevice }, coreOnly };
}

function checkPairing(options: Completed, commonBitDepth: boolean): CheckedPairing {
  const { window, offset, rate } = options;
  if (window !== undefined && offset !== 'auto') {
    throw usageError(
      `window is ${showValue(window)}, but it requires offset auto; leave it out, or set offset to auto.`,
    );
  }
  if (options.pairBy === 'distorted' && options.frameRatePolicy === 'strict') {
    throw usageError(
      "is distorted, which pairs frames of different rates, but frameRatePolicy 'strict' refuses these; leave one of them out.",
      { about: 'pairBy' },
    );
  }
  checkOrigin(options.origin);
  return {
    ...(pickOptions(options, ({ by }) => by.includes('pair')) as Complete<PairingOptions>),
    ...{ commonBitDepth, rate: rate === undefined ? undefined : String(rate) },
    damage: options.allowDamaged ? 'accept' : 'refuse',
    urls: options.allowUrl,
    tracks: tracksOf(options),
    filters: filtersOf(options),
  };
}

function tracksOf(options: PairingOptions): CheckedPairing['tracks'] {
  const requestOf = (option: TrackRequest['option']) => {
    const index = options[option];
    return index === undefined ? undefined : { index, option };
  };
  const [reference, distorted] = [requestOf('trackReference'), requestOf('trackDistorted')];
  return { ...(reference && { reference }), ...(distorted && { distorted }) };
}

function filtersOf(options: PairingOptions): CheckedFilters | undefined {
  const { deinterlace, ...filters } = pickOptions(options, ({ filter }) => filter);
  const all = { ...filters, ...(deinterlace && { deinterlace }) };
  return Object.keys(all).length === 0 ? undefined : { ...all, foreign: options.origin?.by === 'foreign' };
}

export type PairRequest = ScoreRequest & Required<Pick<ScoreRequest, 'reference'>>;

/** @throws {AnyvmafError} `usage` if the request or a part of it is missing */
export function checkRequest(request: ScoreRequest, single = false): asserts request is PairRequest {
  if (isObject(request)) requireObject('request', request);
  else {
    throw usageError(
      `score needs a request, but it is ${showValue(request)}; give an object with reference and distorted.`,
    );
  }
  for (const side of ['reference', 'distorted'] as const) {
    const video = request[side];
    if (video !== undefined && video !== null) requireVideo(side, video);
    else if (side === 'distorted' || !single)
      throw usageError(`The request has no ${side}; give it two videos, reference and distorted.`);
  }
  if (request.raw !== undefined) checkFormat('raw is the format of raw videos', request.raw);
}

/** Checks types only. @param what a clause on the purpose of the format @throws {AnyvmafError} `usage` */
export function checkFormat(what: string, format: VideoFormat): void {
  const shape = 'give an object with width, height, bitDepth and chroma';
  if (!isObject(format)) throw usageError(`${what}, but it is ${showValue(format)}; ${shape}.`);
  requireObject('the format', format);
  if (typeof format.chroma !== 'string')
    throw usageError(`${what}, but its chroma is ${showValue(format.chroma)}, not a string; ${shape}.`);
}

const MAX_TINY_MODELS = 16;

const isText = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0');

const TINY_CHECKS: Readonly<Record<keyof TinyModelOptions, Shape<unknown>>> = {
  model: fitting('the id or the path of a tiny model', isText),
  files: fitting('an object of files (Blobs) by their names, with the model among them', isFiles),
  name: fitting(
    'a name of letters, digits, dots, dashes and underscores',
    (value) => isText(value) && /^[A-Za-z_][\w.-]{0,127}$/.test(String(value)),
  ),
  device: among(TINY_DEVICE_CHOICES),
  threads: whole(0, 1024),
  fp16: flag,
  precision: among(TINY_PRECISIONS),
  verify: flag,
  codec: fitting('the name of an encoder', isText),
  preset: fitting("the name of an encoder's preset", isText),
  crf: whole(0, 63),
  resize: among(TINY_RESIZES),
};

const tinyModels = list(
  (path, value) => {
    if (!isReadable(value)) throw wrongType(path, value, 'an object with a model');
    checkMembers(value, TINY_CHECKS, path);
    TINY_CHECKS.model(`${path}.model`, value.model);
  },
  `an array of at most ${MAX_TINY_MODELS} tiny models`,
  0,
  MAX_TINY_MODELS,
);

/** @throws {AnyvmafError} `usage`, naming the option, its value and the allowed values */
function checkTiny(models: readonly TinyModelOptions[] = []): readonly TinyModelOptions[] {
  tinyModels('tiny', models);
  return models;
}

function isFiles(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((file) => file instanceof Blob);
}
