/**
 * @module score/options
 * Checks what callers ask for and fills in the defaults.
 */
import { AnyvmafError } from '../errors.js';
import type { ScoreOptions } from './types.js';

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

/** @throws {AnyvmafError} `usage`, naming the option, its value and what it may be */
export function checkOptions(options: ScoreOptions): CheckedOptions {
  const { threads, chunkFrames } = options;
  return {
    models: options.models && texts('models', options.models),
    features: texts('features', options.features ?? []),
    noPrediction: options.noPrediction ?? false,
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
function show(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}
