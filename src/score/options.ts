/**
 * @module score/options
 * Checks what callers ask for and fills in the defaults.
 */
import { AnyvmafError } from '../errors.js';
import type { VideoFormat } from '../media/types.js';
import type { ScoreOptions, ScoreRequest, ScorerOptions } from './types.js';

/** Options of which every one that has a fixed default has a value. */
export interface CheckedOptions {
  /** `undefined`: the default model, if models are to predict. */
  readonly models: readonly string[] | undefined;
  readonly features: readonly string[];
  readonly noPrediction: boolean;
  readonly compat: NonNullable<ScoreOptions['compat']>;
  /** At least 1. */
  readonly subsample: number;
  /** `Infinity` for all. */
  readonly frameCount: number;
  readonly skipReference: number;
  readonly skipDistorted: number;
  /** `undefined`: to be chosen. */
  readonly threads: number | undefined;
  /** `undefined`: to be chosen. */
  readonly chunkFrames: number | undefined;
  readonly implementation: NonNullable<ScoreOptions['implementation']>;
}

/** More threads than this are a mistake. */
const MAX_THREADS = 1024;
const MAX_COUNT = 2 ** 32 - 1;

const SHARED = [
  'models',
  'features',
  'noPrediction',
  'compat',
  'subsample',
  'threads',
  'implementation',
  'onFrame',
] as const satisfies readonly (keyof ScoreOptions & keyof ScorerOptions)[];

/** What `score` may be told. */
export const SCORE_OPTIONS: readonly (keyof ScoreOptions)[] = [
  ...SHARED,
  'frameCount',
  'skipReference',
  'skipDistorted',
  'chunkFrames',
  'onProgress',
  'signal',
];

/** What `createScorer` may be told. */
export const SCORER_OPTIONS: readonly (keyof ScorerOptions)[] = [...SHARED, 'names'];

/**
 * @param known names of the options there are
 * @throws {AnyvmafError} `usage`, naming the option, its value and what it may be
 */
export function checkOptions(
  options: ScoreOptions & Pick<ScorerOptions, 'names'>,
  known: readonly string[],
): CheckedOptions {
  requireObject('options', options);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue;
    throw new AnyvmafError(
      'usage',
      `There is no option ${JSON.stringify(name)}; there are ${known.join(', ')}.`,
    );
  }
  const { threads, chunkFrames, models, signal, names } = options;
  for (const name of ['onFrame', 'onProgress'] as const) {
    if (options[name] !== undefined) ofType(name, options[name], 'function', 'a function');
  }
  if (signal !== undefined && !(isObject(signal) && 'throwIfAborted' in signal)) {
    throw new AnyvmafError('usage', `signal is ${show(signal)}, but it must be an AbortSignal.`);
  }
  if (names !== undefined) {
    requireObject('names', names);
    for (const [name, value] of Object.entries(names)) ofType(`names.${name}`, value, 'string', 'a string');
  }
  return {
    models: models === undefined ? undefined : texts('models', models),
    features: texts('features', options.features ?? []),
    noPrediction: ofType('noPrediction', options.noPrediction ?? false, 'boolean', 'true or false'),
    compat: oneOf('compat', options.compat ?? 'libvmaf-3.2', ['libvmaf-3.2', 'libvmaf-3.0']),
    subsample: Math.max(1, count('subsample', options.subsample ?? 1)),
    frameCount: count('frameCount', options.frameCount ?? 0) || Number.POSITIVE_INFINITY,
    skipReference: count('skipReference', options.skipReference ?? 0),
    skipDistorted: count('skipDistorted', options.skipDistorted ?? 0),
    threads: threads === undefined ? undefined : count('threads', threads, 0, MAX_THREADS),
    chunkFrames: chunkFrames === undefined ? undefined : count('chunkFrames', chunkFrames, 1),
    implementation: oneOf('implementation', options.implementation ?? 'simd128', ['simd128', 'portable']),
  };
}

/** @throws {AnyvmafError} `usage` when there is no request, or a part of it is missing */
export function checkRequest(request: ScoreRequest): void {
  if (!isObject(request)) {
    throw new AnyvmafError(
      'usage',
      `score needs a request, but it is ${show(request)}; give an object with reference and distorted.`,
    );
  }
  for (const side of ['reference', 'distorted'] as const) {
    if (request[side] !== undefined && request[side] !== null) continue;
    throw new AnyvmafError(
      'usage',
      `The request has no ${side}; give it two videos, reference and distorted.`,
    );
  }
  if (request.raw !== undefined) checkFormat('raw is the format of raw videos', request.raw);
}

/**
 * Only what JavaScript can get wrong: the values are the business of whoever uses them.
 * @param what a clause that says what the format is for
 * @throws {AnyvmafError} `usage`
 */
export function checkFormat(what: string, format: VideoFormat): void {
  const shape = 'give an object with width, height, bitDepth and chroma';
  if (!isObject(format)) throw new AnyvmafError('usage', `${what}, but it is ${show(format)}; ${shape}.`);
  if (typeof format.chroma !== 'string')
    throw new AnyvmafError(
      'usage',
      `${what}, but its chroma is ${show(format.chroma)}, not a string; ${shape}.`,
    );
}

/** Whether a value is an object with members: neither `null` nor an array. */
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function requireObject(name: string, value: unknown): void {
  if (isObject(value)) return;
  throw new AnyvmafError('usage', `${name} is ${show(value)}, but it must be an object.`);
}

function ofType<T>(name: string, value: T, type: 'boolean' | 'function' | 'string', expected: string): T {
  if (typeof value === type) return value;
  throw new AnyvmafError('usage', `${name} is ${show(value)}, but it must be ${expected}.`);
}

function count(name: string, value: number, min = 0, max = MAX_COUNT): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new AnyvmafError(
    'usage',
    `${name} is ${show(value)}, but it must be a whole number from ${min} to ${max}.`,
  );
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  throw new AnyvmafError('usage', `${name} is ${show(value)}, but it must be ${allowed.join(' or ')}.`);
}

function texts(name: string, value: readonly string[]): readonly string[] {
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
  throw new AnyvmafError('usage', `${name} is ${show(value)}, but it must be an array of strings.`);
}

/** A value as a message shows it, whatever it is. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
