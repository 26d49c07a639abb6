/**
 * @module engine/contract/options
 * Checks options and fills in defaults.
 */
import { isObject, oneOf, requireObject } from '../../core/arguments.js';
import {
  COLOR_MATRICES,
  COLOR_RANGES,
  COLOUR_AS,
  COMPATS,
  type ColourAs,
  DECODER_CHOICES,
  FILM_GRAIN,
  type FilmGrain,
  FRAME_RATE_POLICIES,
  PAIR_BY,
  SCALE_FILTERS,
  V1_SETTINGS,
} from '../../core/choices.js';
import { type InputRole, usageError } from '../../core/errors.js';
import { MOST_FRAMES, type VideoFormat } from '../../core/frame.js';
import { checkOrigin } from '../../core/origin.js';
import { aomCtc, nflxCtc, type Preset } from '../../core/presets.js';
import { quoted, showValue } from '../../core/printable.js';
import type { DecoderChoice, ScaleFilter } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { FILTER_OPTIONS, type FilterOptions } from '../../media/filter-types.js';
import { requireVideo } from '../../media/open.js';
import type { ColoursAsked } from '../../media/pair.js';
import type { FrameRange, FrameRatePolicy, PairBy, ScaleTo } from '../../media/pairing/types.js';
import { beyondLibvmaf, folderOption, isOfColour } from '../../metrics/options.js';
import type { TinyModelOptions } from '../../tiny/types.js';
import type { DeviceOptions } from '../backends/native/task.js';
import { BACKEND_CHOICES, type BackendChoice } from '../backends/native/types.js';
import { checkTiny } from './tiny-options.js';
import type { Keep, PairingOptions, ScoreOptions, ScoreRequest, ScorerOptions } from './types.js';

/** Options with all fixed defaults filled in. */
export interface CheckedOptions {
  /** `undefined`: the default model, if models predict. */
  readonly models: readonly string[] | undefined;
  readonly alsoModels: readonly string[];
  readonly features: readonly string[];
  readonly noPrediction: boolean;
  /** Whether metrics of colour are measured, and whether nothing else is. */
  readonly colours: ColoursAsked;
  readonly tiny: readonly TinyModelOptions[];
  readonly noReference: boolean;
  readonly compat: NonNullable<ScoreOptions['compat']>;
  readonly v1Settings: NonNullable<ScoreOptions['v1Settings']>;
  /** At least 1. */
  readonly subsample: number;
  /** `Infinity` for all. */
  readonly frameCount: number;
  readonly skipReference: number;
  readonly skipDistorted: number;
  /** `undefined`: to be chosen. */
  readonly threads: number | undefined;
  /** Most workers to choose; `Infinity` for the number of cores. */
  readonly maxThreads: number;
  /** `undefined`: to be chosen. */
  readonly chunkFrames: number | undefined;
  readonly implementation: NonNullable<ScoreOptions['implementation']>;
  readonly keep: Keep | undefined;
  readonly backend: BackendChoice;
  readonly native: CheckedNative;
  readonly pairing: CheckedPairing;
}

/** Options that determine models and features. */
export type ModelOptions = Pick<
  CheckedOptions,
  'models' | 'alsoModels' | 'features' | 'noPrediction' | 'noReference' | 'tiny' | 'v1Settings'
>;

/** Options of opening and pairing two videos. */
export type InputOptions = Pick<
  CheckedOptions,
  'pairing' | 'noReference' | 'skipReference' | 'skipDistorted' | 'frameCount' | 'colours'
>;

/** Options of this package's core. */
export type CoreOptions = Pick<
  CheckedOptions,
  'backend' | 'compat' | 'implementation' | 'keep' | 'subsample' | 'threads' | 'maxThreads' | 'chunkFrames'
>;

/** Options of choosing and running an installed program. */
export type ProgramOptions = Pick<
  CheckedOptions,
  | 'backend'
  | 'native'
  | 'models'
  | 'features'
  | 'noPrediction'
  | 'compat'
  | 'subsample'
  | 'threads'
  | 'maxThreads'
  | 'v1Settings'
>;

/** How to run an installed program. */
export interface CheckedNative {
  readonly vmafBin: string | undefined;
  readonly devices: DeviceOptions;
  /** Options that the caller set and that only this package's core supports. */
  readonly coreOnly: readonly string[];
}

/** How to pair two videos. */
export interface CheckedPairing {
  readonly decoder: DecoderChoice;
  /** `undefined` if not set; then two videos that are not encoded must have one size. */
  readonly scale: ScaleFilter | 'none' | undefined;
  readonly scaleTo: ScaleTo | undefined;
  readonly frameRatePolicy: FrameRatePolicy | undefined;
  /** `undefined` for the reference, the default. */
  readonly pairBy: Exclude<PairBy, 'reference'> | undefined;
  readonly offset: number | 'auto';
  readonly window: number | undefined;
  readonly range: FrameRange | undefined;
  readonly grain: FilmGrain;
  readonly colourAs: ColourAs | undefined;
  readonly allowDamaged: boolean;
  /** Whether URLs may be fetched; a list: on which hosts, with checks. */
  readonly allowUrl: boolean | readonly string[];
  /** Of sequences of pictures, as a fraction. */
  readonly rate: string | undefined;
  /** Video tracks that are asked for. */
  readonly tracks: Readonly<Partial<Record<InputRole, TrackRequest>>>;
  readonly commonBitDepth: boolean;
  /** `undefined` if none is set. */
  readonly filters: CheckedFilters | undefined;
  readonly strict: boolean;
  readonly preflight: boolean;
}

/** Filters, of which those that need more are checked when inputs are opened. */
export interface CheckedFilters extends FilterOptions {
  /** Somebody else than the user asks. */
  readonly foreign: boolean;
}

/** More threads than this are a mistake. */
const MAX_THREADS = 1024;
/** No container has as many video tracks. */
const MOST_TRACKS = 999;
/** Seconds in a year: no limit is longer. */
const MOST_SECONDS = 366 * 86_400;

const FILTERS = [...SCALE_FILTERS, 'none'] as const;
/** Longest side of a picture, the core's limit. */
const MAX_SIDE = 16384;

const SHARED = [
  'models',
  'alsoModels',
  'features',
  'aomCtc',
  'nflxCtc',
  'noPrediction',
  'tiny',
  'compat',
  'subsample',
  'threads',
  'implementation',
  'onFrame',
  'keep',
] as const satisfies readonly (keyof ScoreOptions & keyof ScorerOptions)[];

const PAIRING = [
  'decoder',
  'scale',
  'scaleTo',
  'frameRatePolicy',
  'pairBy',
  'offset',
  'window',
  'range',
  'grain',
  'colourAs',
  'allowDamaged',
  'allowUrl',
  'rate',
  'trackReference',
  'trackDistorted',
  'origin',
  'commonBitDepth',
  'strict',
  'preflight',
  ...FILTER_OPTIONS,
] as const satisfies readonly (keyof PairingOptions)[];

/** Options of `score`. */
export const SCORE_OPTIONS: readonly (keyof ScoreOptions)[] = [
  ...SHARED,
  'v1Settings',
  'noReference',
  'samples',
  'frameCount',
  'skipReference',
  'skipDistorted',
  'chunkFrames',
  'maxThreads',
  'backend',
  'vmafBin',
  'cpumask',
  'gpumask',
  'syclDevice',
  'hipDevice',
  'metalDevice',
  'maxSeconds',
  'gate',
  'onProgress',
  'onStart',
  'signal',
  ...PAIRING,
];

/** Common options of `inspect` and `align`. */
export const LOOK_OPTIONS: readonly (keyof ScoreOptions)[] = [...PAIRING, 'models', 'features', 'signal'];

/** Options of `extractFrames`: all that affect pairing. */
export const EXTRACT_OPTIONS: readonly (keyof ScoreOptions)[] = [
  ...PAIRING,
  'skipReference',
  'skipDistorted',
  'frameCount',
  'signal',
];

/** Options of `createScorer`. */
export const SCORER_OPTIONS: readonly (keyof ScorerOptions)[] = [...SHARED, 'names'];

/**
 * @param known names of all options
 * @throws {AnyvmafError} `usage`, naming the option, its value and the allowed values
 */
export function checkOptions(
  options: ScoreOptions & Pick<ScorerOptions, 'names'>,
  known: readonly string[],
): CheckedOptions {
  requireObject('options', options);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue;
    throw usageError(`There is no option ${quoted(name)}; there are ${known.join(', ')}.`);
  }
  checkUsedAsGiven(options);
  const { threads, maxThreads, chunkFrames, models } = options;
  if (options.backend === 'hybrid' && threads === 0) {
    throw usageError(
      'threads is 0, but the backend hybrid shares the frames between a GPU and workers; let it have a worker at least, or ' +
        'use the backend webgpu.',
    );
  }
  const presets = presetsOf(options);
  const named = models === undefined ? undefined : texts('models', models);
  return {
    models: presets.length === 0 ? named : [...presets.flatMap((preset) => preset.models), ...(named ?? [])],
    alsoModels: texts('alsoModels', options.alsoModels ?? []),
    features: [...presets.flatMap((preset) => preset.features), ...texts('features', options.features ?? [])],
    noPrediction: ofType('noPrediction', options.noPrediction ?? false, 'boolean', 'true or false'),
    tiny: checkTiny(options.tiny),
    colours: coloursAsked(options),
    noReference: checkAlone(options),
    compat: oneOf('compat', options.compat ?? 'libvmaf-3.2', COMPATS),
    v1Settings: oneOf('v1Settings', options.v1Settings ?? 'encode', V1_SETTINGS),
    subsample: Math.max(1, count('subsample', options.subsample ?? 1)),
    frameCount: count('frameCount', options.frameCount ?? 0) || Number.POSITIVE_INFINITY,
    skipReference: count('skipReference', options.skipReference ?? 0),
    skipDistorted: count('skipDistorted', options.skipDistorted ?? 0),
    threads: threads === undefined ? undefined : count('threads', threads, 0, MAX_THREADS),
    maxThreads:
      maxThreads === undefined ? Number.POSITIVE_INFINITY : count('maxThreads', maxThreads, 1, MAX_THREADS),
    chunkFrames: chunkFrames === undefined ? undefined : count('chunkFrames', chunkFrames, 1),
    implementation: oneOf('implementation', options.implementation ?? 'simd128', ['simd128', 'portable']),
    keep: checkKeep(options.keep),
    backend: oneOf('backend', options.backend ?? 'wasm', BACKEND_CHOICES),
    native: checkNative(options),
    pairing: checkPairing(
      options,
      presets.some((preset) => preset.commonBitDepth),
    ),
  };
}

/** @throws {AnyvmafError} `usage` for callbacks, the signal, the time limit and names, which have no other checked form */
function checkUsedAsGiven(options: ScoreOptions & Pick<ScorerOptions, 'names'>): void {
  const { signal, maxSeconds = 1, names } = options;
  for (const name of ['onStart', 'onFrame', 'onProgress', 'gate'] as const) {
    if (options[name] !== undefined) ofType(name, options[name], 'function', 'a function');
  }
  if (signal !== undefined && !(isObject(signal) && 'throwIfAborted' in signal)) {
    throw usageError(`signal is ${showValue(signal)}, but it must be an AbortSignal.`);
  }
  if (!(typeof maxSeconds === 'number' && maxSeconds > 0 && maxSeconds <= MOST_SECONDS)) {
    throw usageError(
      `is ${showValue(maxSeconds)}, but it must be a number of seconds above 0 and up to ${MOST_SECONDS}.`,
      { about: 'maxSeconds' },
    );
  }
  if (names !== undefined) {
    requireObject('names', names);
    for (const [name, value] of Object.entries(names)) ofType(`names.${name}`, value, 'string', 'a string');
  }
}

/** Longest part to keep: a day. */
const MAX_SECONDS = 86_400;

/** @throws {AnyvmafError} `usage` for what is neither frames nor seconds */
function checkKeep(keep: Keep | undefined): Keep | undefined {
  if (keep === undefined) return undefined;
  requireObject('keep', keep);
  if ('frames' in keep && keep.frames !== undefined) {
    count('keep.frames', keep.frames, 1, 2 ** 31);
    return { frames: keep.frames };
  }
  const seconds: unknown = 'seconds' in keep ? keep.seconds : undefined;
  if (typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS) return { seconds };
  throw usageError(
    `keep is ${showValue(keep)}, but it must be { frames: N } from 1 on, or { seconds: N } up to ${MAX_SECONDS}.`,
  );
}

/**
 * Frames to keep; `undefined` for all.
 * @param rate frames per second, `undefined` while unknown
 * @throws {AnyvmafError} `usage` for seconds without a rate
 */
export function framesToKeep(keep: Keep | undefined, rate: number | undefined): number | undefined {
  if (keep === undefined) return undefined;
  if ('frames' in keep) return keep.frames;
  if (rate !== undefined && rate > 0) return Math.max(1, Math.ceil(keep.seconds * rate));
  throw usageError(
    `keep is ${keep.seconds} seconds, but the frame rate is not known; give { frames: N } instead.`,
  );
}

/** @throws {AnyvmafError} `usage` for an unknown version */
function presetsOf(options: ScoreOptions): readonly Preset[] {
  const asked = [
    ['aomCtc', aomCtc],
    ['nflxCtc', nflxCtc],
  ] as const;
  return asked.flatMap(([name, preset]) => {
    const version = options[name];
    return version === undefined ? [] : [preset(ofType(name, version, 'string', 'a version such as v1.0'))];
  });
}

/** Whether metrics of colour are asked for, of options that are checked. */
function coloursAsked(options: ScoreOptions): CheckedOptions['colours'] {
  const { features = [], models, alsoModels = [], noPrediction, tiny = [], colourAs } = options;
  if (!features.some(isOfColour)) {
    if (colourAs === undefined) return 'no';
    throw usageError(
      `is ${showValue(colourAs)}, but features has no metric of colour; add ssimulacra2, for example.`,
      {
        about: 'colourAs',
      },
    );
  }
  if (colourAs === 'libjxl' && !readsStored(options)) {
    throw usageError(
      'is libjxl, for which ffmpeg converts stored pictures, but vfReference, vfDistorted, colorRange, matrix or pixelFormat ' +
        'changes them; leave out one.',
      { about: 'colourAs' },
    );
  }
  const predicts = !noPrediction && (models === undefined || models.length > 0);
  const others = predicts || alsoModels.length > 0 || tiny.length > 0 || presetsOf(options).length > 0;
  return others || !features.every(isOfColour) ? 'also' : 'only';
}

/**
 * Whether metrics of colour read samples as they are stored: not where the caller asks for others.
 * @param filters asked for
 */
export function readsStored(filters: FilterOptions = {}): boolean {
  const { vfReference, vfDistorted, colorRange, matrix, pixelFormat } = filters;
  return (vfReference ?? vfDistorted ?? colorRange ?? matrix ?? pixelFormat) === undefined;
}

/** @throws {AnyvmafError} `usage` for an option that needs a reference */
function checkAlone(options: ScoreOptions): boolean {
  if (!ofType('noReference', options.noReference ?? false, 'boolean', 'true or false')) return false;
  if (options.tiny === undefined || options.tiny.length === 0) {
    throw usageError(
      'noReference (no_reference) needs a tiny model that looks at the distorted video alone; there is no other way to ' +
        'score without a reference.',
    );
  }
  const { features = [], offset = 0, skipReference = 0 } = options;
  const needs: readonly [string, boolean][] = [
    ['features', features.length > 0],
    ['aomCtc', options.aomCtc !== undefined],
    ['nflxCtc', options.nflxCtc !== undefined],
    ['offset', offset !== 0],
    ['skipReference', skipReference !== 0],
    ['scaleTo', options.scaleTo !== undefined],
    ['frameRatePolicy', options.frameRatePolicy !== undefined],
    ['pairBy', options.pairBy === 'distorted'],
    ['cropReference', options.cropReference !== undefined],
    ['vfReference', options.vfReference !== undefined],
  ];
  const other = needs.find(([, given]) => given)?.[0];
  if (other === undefined) return true;
  throw usageError(`${other} and noReference exclude each other: there is no reference to compare with.`);
}

function checkNative(options: ScoreOptions): CheckedNative {
  const { backend, vmafBin } = options;
  if (vmafBin !== undefined) {
    ofType('vmafBin', vmafBin, 'string', 'the path of a program');
    if (vmafBin === '' || vmafBin.includes('\0')) {
      throw usageError(`vmafBin is ${showValue(vmafBin)}, but it must be the path of a program.`);
    }
    if (backend === undefined) {
      throw usageError(
        `vmafBin is ${showValue(vmafBin)}, but no native backend is asked for that would run it; add backend native-cpu, ` +
          'cuda, sycl, hip, metal or auto.',
      );
    }
  }
  const own = [
    ['syclDevice', 'sycl'],
    ['hipDevice', 'hip'],
    ['metalDevice', 'metal'],
  ] as const;
  for (const [name, of] of own) {
    if (options[name] === undefined || backend === of || backend === 'auto') continue;
    throw usageError(
      `${name} is ${showValue(options[name])}, but the backend is ${backend ?? 'wasm'}, not ${of}; leave one of them out.`,
    );
  }
  const names = ['cpumask', 'gpumask', 'syclDevice', 'hipDevice', 'metalDevice'] as const;
  const devices = names.map((name) => {
    const value = options[name];
    return [name, value === undefined ? undefined : count(name, value)] as const;
  });
  const folder = folderOption([...(options.features ?? []), ...(options.models ?? [])]);
  const coreOnly: string[] = (
    ['alsoModels', 'compat', 'implementation', 'chunkFrames', 'tiny', 'noReference'] as const
  ).filter((name) => options[name] !== undefined);
  if (folder !== undefined) coreOnly.push(folder);
  coreOnly.push(...new Set(beyondLibvmaf(options.features ?? [])));
  return { vmafBin, devices: Object.fromEntries(devices), coreOnly };
}

function checkPairing(options: ScoreOptions, anyDepth: boolean): CheckedPairing {
  const { scale, scaleTo, frameRatePolicy, offset = 0, window, range } = options;
  const pairBy = oneOf('pairBy', options.pairBy ?? 'reference', PAIR_BY);
  if (offset !== 'auto' && !(Number.isInteger(offset) && Math.abs(offset) <= MOST_FRAMES)) {
    throw usageError(`offset is ${showValue(offset)}, but it must be a whole number of frames or auto.`);
  }
  if (window !== undefined && !(Number.isInteger(window) && window >= 1 && window <= 1000)) {
    throw usageError(`window is ${showValue(window)}, but it must be from 1 to 1000 frames.`);
  }
  if (window !== undefined && offset !== 'auto') {
    throw usageError(
      `window is ${showValue(window)}, but the offset is not searched; leave it out, or let the offset be auto.`,
    );
  }
  if (pairBy === 'distorted' && frameRatePolicy === 'strict') {
    throw usageError(
      "is distorted, which pairs frames of different rates, but frameRatePolicy 'strict' refuses these; leave out one.",
      { about: 'pairBy' },
    );
  }
  checkOrigin(options.origin);
  return {
    decoder: oneOf('decoder', options.decoder ?? 'auto', DECODER_CHOICES),
    scale: scale && oneOf('scale', scale, FILTERS),
    scaleTo: scaleTo && checkSize(scaleTo),
    frameRatePolicy: frameRatePolicy && oneOf('frameRatePolicy', frameRatePolicy, FRAME_RATE_POLICIES),
    pairBy: pairBy === 'distorted' ? pairBy : undefined,
    offset,
    window,
    range: range && checkRange(range),
    grain: oneOf('grain', options.grain ?? 'on', FILM_GRAIN),
    colourAs: options.colourAs && oneOf('colourAs', options.colourAs, COLOUR_AS),
    allowDamaged: ofType('allowDamaged', options.allowDamaged ?? false, 'boolean', 'true or false'),
    allowUrl: checkAllowUrl(options.allowUrl ?? false),
    rate: checkRate(options.rate),
    tracks: checkTracks(options),
    commonBitDepth: ofType('commonBitDepth', options.commonBitDepth ?? anyDepth, 'boolean', 'true or false'),
    filters: checkFilters(options),
    strict: ofType('strict', options.strict ?? false, 'boolean', 'true or false'),
    preflight: ofType('preflight', options.preflight ?? true, 'boolean', 'true or false'),
  };
}

/** @throws {AnyvmafError} `usage` */
function checkRate(rate: number | string | undefined): string | undefined {
  if (rate === undefined) return undefined;
  const [, num = '', den = '1'] = /^(\d{1,7}(?:\.\d{1,6})?)(?:\/([1-9]\d{0,6}))?$/.exec(String(rate)) ?? [];
  const value = Number(num) / Number(den);
  if (num !== '' && value > 0 && value <= 1000 && !(num.includes('.') && den !== '1')) return String(rate);
  throw usageError(
    `rate is ${showValue(rate)}, but it must be pictures per second: a number up to 1000, or a fraction such as 24000/1001.`,
  );
}

/** @throws {AnyvmafError} `usage` */
function checkTracks(options: PairingOptions): CheckedPairing['tracks'] {
  const asked = (option: TrackRequest['option']) => {
    const index = options[option];
    return index === undefined ? undefined : { index: count(option, index, 0, MOST_TRACKS), option };
  };
  const [reference, distorted] = [asked('trackReference'), asked('trackDistorted')];
  return { ...(reference && { reference }), ...(distorted && { distorted }) };
}

/** Types and words only. */
function checkFilters(options: PairingOptions): CheckedFilters | undefined {
  const given = FILTER_OPTIONS.filter((name) => options[name] !== undefined && options[name] !== false);
  if (given.length === 0) return undefined;
  const { crop, colorRange, matrix, deinterlace, origin } = options;
  if (crop !== undefined && crop !== 'auto') {
    throw usageError(
      `crop is ${showValue(crop)}, but it must be auto; cropReference and cropDistorted take a part of the picture.`,
    );
  }
  if (colorRange !== undefined) oneOf('colorRange', colorRange, COLOR_RANGES);
  if (matrix !== undefined) oneOf('matrix', matrix, COLOR_MATRICES);
  ofType('deinterlace', deinterlace ?? false, 'boolean', 'true or false');
  for (const name of ['cropReference', 'cropDistorted', 'vfReference', 'vfDistorted', 'pixelFormat'] as const)
    ofType(name, options[name] ?? '', 'string', 'a string');
  const filters = Object.fromEntries(given.map((name) => [name, options[name]]));
  return { ...filters, foreign: origin?.by === 'foreign' };
}

/** A request with both videos. */
export type PairRequest = ScoreRequest & Required<Pick<ScoreRequest, 'reference'>>;

/** @throws {AnyvmafError} `usage` if the request or a part of it is missing */
export function checkRequest(request: ScoreRequest, noReference = false): asserts request is PairRequest {
  if (isObject(request)) requireObject('request', request);
  else {
    throw usageError(
      `score needs a request, but it is ${showValue(request)}; give an object with reference and distorted.`,
    );
  }
  for (const side of ['reference', 'distorted'] as const) {
    const video = request[side];
    if (video !== undefined && video !== null) {
      requireVideo(side, video);
      continue;
    }
    if (side === 'reference' && noReference) continue;
    throw usageError(`The request has no ${side}; give it two videos, reference and distorted.`);
  }
  if (request.raw !== undefined) checkFormat('raw is the format of raw videos', request.raw);
}

/**
 * Checks types only; the users of the values check these.
 * @param what a clause that states what the format is for
 * @throws {AnyvmafError} `usage`
 */
export function checkFormat(what: string, format: VideoFormat): void {
  const shape = 'give an object with width, height, bitDepth and chroma';
  if (!isObject(format)) throw usageError(`${what}, but it is ${showValue(format)}; ${shape}.`);
  requireObject('the format', format);
  if (typeof format.chroma !== 'string')
    throw usageError(`${what}, but its chroma is ${showValue(format.chroma)}, not a string; ${shape}.`);
}

function ofType<T>(name: string, value: T, type: 'boolean' | 'function' | 'string', expected: string): T {
  if (typeof value === type) return value;
  throw usageError(`${name} is ${showValue(value)}, but it must be ${expected}.`);
}

function checkAllowUrl(value: boolean | readonly string[]): boolean | readonly string[] {
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value) && value.every((host) => typeof host === 'string')) return value;
  throw usageError(`allowUrl is ${showValue(value)}, but it must be true, false or a list of hosts.`);
}

function checkSize(size: ScaleTo): ScaleTo {
  if (size === 'ref' || size === 'dis') return size;
  if (typeof size !== 'object' || size === null) {
    throw usageError(`scaleTo is ${showValue(size)}, but it must be ref, dis or a width and height.`);
  }
  return {
    width: count('scaleTo.width', size.width, 1, MAX_SIDE),
    height: count('scaleTo.height', size.height, 1, MAX_SIDE),
  };
}

function checkRange(range: FrameRange): FrameRange {
  const { unit, start, end } = range;
  oneOf('range.unit', unit, ['frames', 'seconds']);
  if (unit === 'frames') {
    count('range.start', start);
    if (end !== undefined) count('range.end', end);
  } else if (!(start >= 0 && start < MOST_FRAMES) || (end !== undefined && !(end >= 0))) {
    throw usageError(`range is ${start} to ${end} seconds, but it must lie from 0 on.`);
  }
  if (end !== undefined && end <= start) {
    throw usageError(`range is ${start} to ${end} ${unit}, but its end must come after its start.`);
  }
  return range;
}

function count(name: string, value: number, min = 0, max = MOST_FRAMES): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw usageError(`${name} is ${showValue(value)}, but it must be a whole number from ${min} to ${max}.`);
}

function texts(name: string, value: readonly string[]): readonly string[] {
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
  throw usageError(`${name} is ${showValue(value)}, but it must be an array of strings.`);
}
