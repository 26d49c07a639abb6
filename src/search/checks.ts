/**
 * @module search/checks
 * Checks what comes from outside: options of searches, ladders, comparisons and shots, and the JSON of results.
 */
import {
  isObject,
  jsonOf,
  oneOf,
  requireArray,
  requireNumber,
  requireObject,
  requireText,
  requireTexts,
  wrongType,
} from '../core/arguments.js';
import { type AnyvmafError, usageError } from '../core/errors.js';
import { CHECKS } from '../core/option-checks.js';
import { checkOrigin } from '../core/origin.js';
import { quoted, shown } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import { STATISTICS, type Statistic } from './targets.js';
import type {
  ComparedEncoder,
  CompareOptions,
  CurveOptions,
  CurveResult,
  EncoderChoice,
  EncodingOptions,
  LadderOptions,
  SearchOptions,
  ShotLimits,
  ShotOptions,
  Spacing,
  TuneShotsOptions,
} from './types.js';

const SPACINGS = ['rate', 'quality'] as const satisfies readonly Spacing[];

type Check = (name: string, value: unknown) => void;
type Checks<Options> = { readonly [Key in keyof Required<Options>]: Check };

const ENCODING: Checks<EncodingOptions> = {
  full: CHECKS.flag,
  pixelFormat: requireText,
  cache: (name, value) => {
    if (value !== false) requireText(name, value, 'a folder, or false');
  },
  scratchBytes: positive,
  origin: (_, value) => checkOrigin(value as EncodingOptions['origin']),
  onStage: CHECKS.function,
  models: requireTexts,
  features: requireTexts,
  threads: finite,
  signal: CHECKS.signal,
};

const CHOICE: Checks<EncoderChoice> = {
  encoder: (name, value) => requireText(name, value, "the name of one of ffmpeg's encoders, such as libx264"),
  encoderOptions: checkTexts,
  parameter: requireText,
  range: checkRange,
};

const SEARCH: Checks<SearchOptions> = {
  ...ENCODING,
  ...CHOICE,
  targets: checkTargets,
  atMost: finite,
  maxSize: positive,
  all: CHECKS.flag,
  verify: CHECKS.flag,
  output: requireText,
  keepMissed: CHECKS.flag,
  finish: CHECKS.signal,
  onPoint: CHECKS.function,
};

const CURVES: Checks<CurveOptions> = {
  ...ENCODING,
  metric: requireText,
  statistic: checkStatistic,
  targets: (name, value) => {
    requireArray(name, value, 'an array of qualities');
    for (const target of value) finite(name, target);
  },
};

const LADDER: Checks<LadderOptions> = {
  ...CURVES,
  ...CHOICE,
  sizes: checkSizes,
  rungs: (name, value) => {
    finite(name, value);
    if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > MOST_RUNGS)
      throw wrongType(name, value, `a whole number from 1 to ${MOST_RUNGS}`);
  },
  spacing: (name, value) => oneOf(name, value as Spacing, SPACINGS),
  between: checkBetween,
  onPoint: CHECKS.function,
};

const COMPARISON: Checks<CompareOptions> = {
  ...CURVES,
  encoders: checkEncoders,
  between: checkBetween,
  onPoint: CHECKS.function,
};
const COMPARED: Checks<ComparedEncoder> = { ...CHOICE, name: requireText };

const LIMITS: Checks<ShotLimits> = {
  threshold: (name, value) => {
    requireNumber(name, value);
    if (!((value as number) > 0 && (value as number) <= 1))
      throw wrongType(name, value, 'a number above 0, up to 1');
  },
  minSeconds: seconds,
  maxSeconds: seconds,
};

const SHOTS: Checks<ShotOptions> = {
  ...LIMITS,
  origin: ENCODING.origin,
  onProgress: CHECKS.function,
  signal: CHECKS.signal,
};

const { full: _, ...ENCODING_SHOTS } = ENCODING;
const TUNING: Checks<TuneShotsOptions> = {
  ...CHOICE,
  ...ENCODING_SHOTS,
  targets: checkTargets,
  output: requireText,
  keepMissed: CHECKS.flag,
  ...LIMITS,
  goal: (name, value) => {
    if (value !== 'each' && value !== 'whole') throw wrongType(name, value, 'each or whole');
  },
  onShot: CHECKS.function,
};

const MOST_RUNGS = 32;
const MOST_ENCODERS = 16;

/** Options of each kind of work, followed by those that are required. */
const OPTIONS = {
  search: [SEARCH, 'encoder'],
  ladder: [LADDER, 'encoder', 'sizes'],
  comparison: [COMPARISON, 'encoders'],
  shots: [SHOTS],
  tuning: [TUNING, 'encoder'],
} as const;

/** @throws {AnyvmafError} `usage`, naming the option, its value and what it may be */
export function checkOptions(kind: keyof typeof OPTIONS, options: object): void {
  const [checks, ...needed]: readonly [Readonly<Record<string, Check>>, ...string[]] = OPTIONS[kind];
  checkAll(options, checks, 'options');
  const given = new Map(Object.entries(options));
  for (const name of needed) checks[name]?.(name, given.get(name));
  if (checks.minSeconds) checkOrder(options);
}

function checkAll(options: object, checks: Readonly<Record<string, Check>>, what: string): void {
  requireObject(what, options);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check)
      throw usageError(`There is no option ${quoted(name)}; there are ${Object.keys(checks).join(', ')}.`);
    check(name, value);
  }
}

function checkEncoders(name: string, value: unknown): void {
  requireArray(name, value, 'an array of encoders');
  if (value.length < 1 || value.length > MOST_ENCODERS)
    throw wrongType(name, value, `1 to ${MOST_ENCODERS} encoders`);
  for (const encoder of value) {
    checkAll(encoder as object, COMPARED, 'an encoder');
    CHOICE.encoder('encoder', (encoder as ComparedEncoder).encoder);
  }
}

function checkSizes(name: string, value: unknown): void {
  requireArray(name, value, 'an array of heights or sizes');
  if (value.length === 0) throw wrongType(name, value, 'at least one size');
  for (const size of value) {
    const sides =
      typeof size === 'object' && size !== null ? (size as PictureSize) : { width: size, height: size };
    for (const side of [sides.width, sides.height]) {
      if (!Number.isInteger(side) || !((side as number) > 0))
        throw wrongType(name, size, 'a height such as 720, or a size such as { width: 1280, height: 720 }');
    }
  }
}

function checkBetween(name: string, value: unknown): void {
  requireObject(name, value, 'an object such as { min: 40, max: 95 }');
  const { min, max } = value as Record<string, unknown>;
  finite(`${name}.min`, min);
  finite(`${name}.max`, max);
  if ((min as number) > (max as number)) throw wrongType(name, value, 'a min that is not above the max');
}

function checkStatistic(name: string, value: unknown): void {
  oneOf(name, value as Statistic, STATISTICS);
}

function finite(name: string, value: unknown): void {
  requireNumber(name, value);
  if (!Number.isFinite(value)) throw wrongType(name, value, 'a finite number');
}

function positive(name: string, value: unknown): void {
  finite(name, value);
  if (!((value as number) > 0)) throw wrongType(name, value, 'a number above 0');
}

function checkTexts(name: string, value: unknown): void {
  requireObject(name, value, 'an object of texts');
  for (const [key, text] of Object.entries(value as object)) requireText(`${name}.${key}`, text);
}

function checkTargets(name: string, value: unknown): void {
  requireArray(name, value, 'an array of targets');
  for (const target of value) {
    requireObject('a target', target, 'an object such as { atLeast: 95 }');
    const { metric, statistic, atLeast, atMost } = target as Record<string, unknown>;
    if (atLeast !== undefined && atMost !== undefined)
      throw usageError('a target has both atLeast and atMost; pass two targets, one for each bound.');
    if (atMost === undefined) finite('atLeast', atLeast);
    else finite('atMost', atMost);
    if (metric !== undefined) requireText('metric', metric);
    if (statistic !== undefined) checkStatistic('statistic', statistic);
  }
}

function checkRange(name: string, value: unknown): void {
  requireObject(name, value, 'an object such as { min: 18, max: 40 }');
  const { min, max, step } = value as Record<string, unknown>;
  finite(`${name}.min`, min);
  finite(`${name}.max`, max);
  if (step !== undefined) positive(`${name}.step`, step);
}

function checkOrder({ minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY }: ShotLimits): void {
  if (maxSeconds >= 2 * minSeconds) return;
  throw usageError(
    `maxSeconds is ${maxSeconds} and minSeconds ${minSeconds}, but the longest shot must be at least twice the shortest, ` +
      'because longer shots are split.',
  );
}

function seconds(name: string, value: unknown): void {
  requireNumber(name, value);
  if (!((value as number) > 0 && Number.isFinite(value)))
    throw wrongType(name, value, 'a number of seconds above 0');
}

/** Throws unless a value is valid. @param path for the message */
type ItemCheck = (value: unknown, path: string) => void;

const MOST_ITEMS = 10_000;

/** @throws {AnyvmafError} `usage` for a text that is no such result, naming the first problem */
export function parseResult(text: string): CurveResult {
  requireText('text', text, 'the JSON of a result');
  const data = jsonOf(text);
  if (data === undefined) throw wrong('it is not JSON');
  if (!isObject(data)) throw wrong('it is not an object');
  const kind = String(data.kind);
  const check = Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof typeof KINDS] : undefined;
  if (!check)
    throw wrong(`its kind is ${shown(kind)}, but it must be one of ${Object.keys(KINDS).join(', ')}`);
  check(data, '');
  return data as unknown as CurveResult;
}

const number: ItemCheck = (value, path) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(`${path} is not a number`);
};

const positiveNumber: ItemCheck = (value, path) => {
  number(value, path);
  if ((value as number) <= 0) throw wrong(`${path} is not above 0`);
};

const word: ItemCheck = (value, path) => {
  if (typeof value !== 'string' || value.length > 4096) throw wrong(`${path} is not a text`);
};

const flag: ItemCheck = (value, path) => {
  if (typeof value !== 'boolean') throw wrong(`${path} is not true or false`);
};

const statistic: ItemCheck = (value, path) => {
  if (!STATISTICS.includes(value as Statistic)) throw wrong(`${path} is not a statistic`);
};

const orNull =
  (check: ItemCheck): ItemCheck =>
  (value, path) => {
    if (value !== null) check(value, path);
  };

const list =
  (check: ItemCheck, least = 0): ItemCheck =>
  (value, path) => {
    if (!Array.isArray(value) || value.length < least || value.length > MOST_ITEMS)
      throw wrong(`${path} is not a list of ${least} to ${MOST_ITEMS}`);
    value.forEach((item, i) => {
      check(item, `${path}[${i}]`);
    });
  };

const object =
  (checks: Readonly<Record<string, ItemCheck>>): ItemCheck =>
  (value, path) => {
    if (!isObject(value)) throw wrong(`${path || 'it'} is not an object`);
    for (const [name, check] of Object.entries(checks))
      check(Object.hasOwn(value, name) ? value[name] : undefined, path === '' ? name : `${path}.${name}`);
  };

const size = { width: positiveNumber, height: positiveNumber };
const rated = { kbps: positiveNumber, quality: number };
const point = { value: number, bytes: number, ...rated, framesPerSecond: orNull(positiveNumber) };
const pointOfSize = object({ ...size, ...point });
const samples = orNull(list(object({ first: number, count: positiveNumber })));
const counts = { encodes: number, cached: number, samples };
const measure = { metric: word, statistic };
const target: ItemCheck = (value, path) => {
  object(measure)(value, path);
  const { atLeast, atMost } = value as Record<string, unknown>;
  number(atLeast ?? atMost, `${path}.atLeast`);
};
const delta = object({ value: number, range: object({ from: number, to: number }) });
/** Absent in results of earlier versions. */
const kbpsAt: ItemCheck = (value, path) => {
  if (value !== undefined) orNull(positiveNumber)(value, path);
};

const atTarget = object({ target: number, value: number, ...rated, reached: flag, kbpsAt });
const coded = { encoder: word, parameter: word };

const KINDS: Readonly<Record<CurveResult['kind'], ItemCheck>> = {
  search: object({
    source: word,
    ...coded,
    value: number,
    targets: list(target, 1),
    points: list(object({ ...point, margin: number }), 1),
    command: list(word),
    ...counts,
  }),
  ladder: object({
    source: word,
    ...coded,
    ...measure,
    curves: list(object({ ...size, points: list(pointOfSize) }), 1),
    hull: list(pointOfSize, 1),
    takeovers: list(object({ ...size, ...rated })),
    rungs: list(pointOfSize, 1),
    command: list(word),
    ...counts,
  }),
  comparison: object({
    source: word,
    ...measure,
    curves: list(
      object({
        name: word,
        ...coded,
        points: list(object(point), 1),
        atTargets: list(atTarget),
        framesPerSecond: orNull(positiveNumber),
      }),
      1,
    ),
    deltas: list(object({ anchor: word, test: word, rate: orNull(delta), quality: orNull(delta) })),
    ...counts,
  }),
};

function wrong(what: string): AnyvmafError {
  return usageError(`This is not a result of a search, a ladder or a comparison: ${what}.`);
}
