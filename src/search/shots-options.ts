/**
 * @module search/shots-options
 * Checks what a division into shots and their tuning are told, before anything is read.
 */
import { requireNumber, requireObject, wrongType } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { checkOrigin } from '../core/origin.js';
import { quoted } from '../core/printable.js';
import { checkSearchOptions } from './options.js';
import type { ShotLimits, ShotOptions, TuneShotsOptions } from './shots-types.js';
import type { SearchOptions } from './types.js';

type Check = (name: string, value: unknown) => void;

const LIMITS: { readonly [Key in keyof Required<ShotLimits>]: Check } = {
  threshold: (name, value) => {
    requireNumber(name, value);
    if (!((value as number) > 0 && (value as number) <= 1))
      throw wrongType(name, value, 'a number above 0, up to 1');
  },
  minSeconds: seconds,
  maxSeconds: seconds,
};

const FINDING: { readonly [Key in keyof Required<ShotOptions>]: Check } = {
  ...LIMITS,
  origin: (_, value) => checkOrigin(value as ShotOptions['origin']),
  onProgress: checkFunction,
  signal: (name, value) => {
    requireObject(name, value, 'an AbortSignal');
    if (!('throwIfAborted' in (value as object))) throw wrongType(name, value, 'an AbortSignal');
  },
};

/** Options of a search that tuning takes too. */
const SEARCHING = [
  ...['encoder', 'encoderOptions', 'parameter', 'range', 'targets', 'pixelFormat', 'cache', 'scratchBytes'],
  ...['output', 'keepMissed', 'models', 'features', 'threads', 'origin', 'signal', 'onStage'],
] as const;

/** @throws {AnyvmafError} `usage`, naming the option, its value and what it may be */
export function checkShotOptions(options: ShotOptions): void {
  requireObject('options', options);
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(FINDING, name)) throw unknown(name, Object.keys(FINDING));
    if (value !== undefined) FINDING[name as keyof ShotOptions](name, value);
  }
  checkOrder(options);
}

/** @throws {AnyvmafError} as {@link checkShotOptions} */
export function checkTuneOptions(options: TuneShotsOptions): void {
  requireObject('options', options);
  const { threshold, minSeconds, maxSeconds, goal, onShot, ...rest } = options;
  for (const name of Object.keys(rest)) {
    if (!SEARCHING.some((one) => one === name))
      throw unknown(name, [...SEARCHING, ...Object.keys(LIMITS), 'goal', 'onShot']);
  }
  for (const [name, value] of Object.entries({ threshold, minSeconds, maxSeconds })) {
    if (value !== undefined) LIMITS[name as keyof ShotLimits](name, value);
  }
  if (goal !== undefined && goal !== 'each' && goal !== 'whole')
    throw wrongType('goal', goal, 'each or whole');
  if (onShot !== undefined) checkFunction('onShot', onShot);
  checkOrder(options);
  checkSearchOptions(rest as SearchOptions);
}

function checkOrder({ minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY }: ShotLimits): void {
  if (maxSeconds >= 2 * minSeconds) return;
  throw usageError(
    `maxSeconds is ${maxSeconds} and minSeconds ${minSeconds}, but the longest shot must be at least twice the shortest: a ` +
      'longer one is taken in parts.',
  );
}

function unknown(name: string, known: readonly string[]): Error {
  return usageError(`There is no option ${quoted(name)}; there are ${known.join(', ')}.`);
}

function seconds(name: string, value: unknown): void {
  requireNumber(name, value);
  if (!((value as number) > 0 && Number.isFinite(value)))
    throw wrongType(name, value, 'a number of seconds above 0');
}

function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw wrongType(name, value, 'a function');
}
