/**
 * @module search/options
 * Checks what a search is told, before anything is read.
 */
import {
  requireArray,
  requireNumber,
  requireObject,
  requireText,
  requireTexts,
  wrongType,
} from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { checkOrigin } from '../core/origin.js';
import { quoted } from '../core/printable.js';
import { STATISTICS } from './targets.js';
import type { SearchOptions } from './types.js';

/** Every option there is, and how its type is checked where it is given. */
const CHECKS: { readonly [Key in keyof Required<SearchOptions>]: (name: string, value: unknown) => void } = {
  encoder: requireText,
  encoderOptions: checkTexts,
  targets: checkTargets,
  atMost: finite,
  maxSize: positive,
  parameter: requireText,
  range: checkRange,
  all: checkFlag,
  full: checkFlag,
  pixelFormat: requireText,
  verify: checkFlag,
  output: requireText,
  cache: (name, value) => {
    if (value !== false) requireText(name, value, 'a folder, or false');
  },
  scratchBytes: positive,
  origin: (_, value) => checkOrigin(value as SearchOptions['origin']),
  onPoint: checkFunction,
  onStage: checkFunction,
  models: requireTexts,
  features: requireTexts,
  threads: finite,
  signal: (name, value) => {
    requireObject(name, value, 'an AbortSignal');
    if (!('throwIfAborted' in (value as object))) throw wrongType(name, value, 'an AbortSignal');
  },
};

/** @throws {AnyvmafError} `usage`, naming the option, its value and what it may be */
export function checkSearchOptions(options: SearchOptions): void {
  requireObject('options', options);
  requireText('encoder', options.encoder, "the name of one of ffmpeg's encoders, such as libx264");
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof typeof CHECKS] : undefined;
    if (!check) {
      throw usageError(`There is no option ${quoted(name)}; there are ${Object.keys(CHECKS).join(', ')}.`);
    }
    check(name, value);
  }
}

function finite(name: string, value: unknown): void {
  requireNumber(name, value);
  if (!Number.isFinite(value)) throw wrongType(name, value, 'a finite number');
}

function positive(name: string, value: unknown): void {
  finite(name, value);
  if (!((value as number) > 0)) throw wrongType(name, value, 'a number above 0');
}

function checkFlag(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw wrongType(name, value, 'true or false');
}

function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw wrongType(name, value, 'a function');
}

function checkTexts(name: string, value: unknown): void {
  requireObject(name, value, 'an object of texts');
  for (const [key, text] of Object.entries(value as object)) requireText(`${name}.${key}`, text);
}

function checkTargets(name: string, value: unknown): void {
  requireArray(name, value, 'an array of targets');
  for (const target of value) {
    requireObject('a target', target, 'an object such as { atLeast: 95 }');
    const { metric, statistic, atLeast } = target as Record<string, unknown>;
    finite('atLeast', atLeast);
    if (metric !== undefined) requireText('metric', metric);
    if (statistic !== undefined && !STATISTICS.some((one) => one === statistic))
      throw wrongType('statistic', statistic, `one of ${STATISTICS.join(', ')}`);
  }
}

function checkRange(name: string, value: unknown): void {
  requireObject(name, value, 'an object such as { min: 18, max: 40 }');
  const { min, max, step } = value as Record<string, unknown>;
  finite(`${name}.min`, min);
  finite(`${name}.max`, max);
  if (step !== undefined) positive(`${name}.step`, step);
}
