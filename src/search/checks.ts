/**
 * @module search/checks
 * Checks what comes from outside: options of searches, ladders, comparisons and shots, and the JSON of results.
 */
import { isReadable, jsonOf, requireObject, requireText, wrongType } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { CHECKS, checkMembers } from '../core/option-checks.js';
import { checkOrigin } from '../core/origin.js';
import {
  among,
  fitting,
  flag,
  isAbove0,
  list,
  maybe,
  nullable,
  number,
  object,
  optional,
  positive,
  record,
  type Shape,
  string,
  upTo,
  variants,
  whole,
} from '../core/shapes.js';
import { STATISTICS } from './targets.js';
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
  TuneShotsOptions,
} from './types.js';

const MOST_RUNGS = 32;
const MOST_ENCODERS = 16;

type Check = (name: string, value: unknown) => void;
type Checks<Options> = { readonly [Key in keyof Required<Options>]: Check };

const statistic = among(STATISTICS);
const seconds = fitting<number>('a number of seconds above 0', isAbove0);
const isSide = (value: unknown) => Number.isInteger(value) && Number(value) > 0;
const size = fitting<unknown>(
  'a height such as 720, or a size such as { width: 1280, height: 720 }',
  (value) => isSide(value) || (isReadable(value) && isSide(value.width) && isSide(value.height)),
);
const limits = object({ min: number, max: number }, 'an object such as { min: 40, max: 95 }');
const targets = list(
  object(
    {
      metric: optional(string),
      statistic: optional(statistic),
      atLeast: optional(number),
      atMost: optional(number),
    },
    'an object such as { atLeast: 95 }',
  ),
  'an array of targets',
);

const ENCODING: Checks<EncodingOptions> = {
  full: flag,
  pixelFormat: string,
  cache: fitting('a folder, or false', (value) => value === false || typeof value === 'string'),
  scratchBytes: positive,
  origin: (_, value) => checkOrigin(value as EncodingOptions['origin']),
  onStage: CHECKS.function,
  models: CHECKS.texts,
  features: CHECKS.texts,
  threads: number,
  signal: CHECKS.signal,
};

const CHOICE: Checks<EncoderChoice> = {
  encoder: (name, value) => requireText(name, value, "the name of one of ffmpeg's encoders, such as libx264"),
  encoderOptions: record(string, 'an object of texts'),
  parameter: string,
  range: object(
    { min: number, max: number, step: optional(positive) },
    'an object such as { min: 18, max: 40 }',
  ),
};

const SEARCH: Checks<SearchOptions> = {
  ...ENCODING,
  ...CHOICE,
  targets: checkTargets,
  atMost: number,
  maxSize: positive,
  all: flag,
  verify: flag,
  output: string,
  keepMissed: flag,
  finish: CHECKS.signal,
  onPoint: CHECKS.function,
};

const CURVES: Checks<CurveOptions> = {
  ...ENCODING,
  metric: string,
  statistic,
  targets: list(number, 'an array of qualities'),
};

const LADDER: Checks<LadderOptions> = {
  ...CURVES,
  ...CHOICE,
  sizes: list(size, 'an array of at least one size', 1),
  rungs: whole(1, MOST_RUNGS),
  spacing: among(['rate', 'quality']),
  between: checkBetween,
  onPoint: CHECKS.function,
};

const COMPARISON: Checks<CompareOptions> = {
  ...CURVES,
  encoders: list(checkEncoder, `an array of 1 to ${MOST_ENCODERS} encoders`, 1, MOST_ENCODERS),
  between: checkBetween,
  onPoint: CHECKS.function,
};
const COMPARED: Checks<ComparedEncoder> = { ...CHOICE, name: string };

const LIMITS: Checks<ShotLimits> = {
  threshold: fitting('a number above 0, up to 1', (value) => isAbove0(value) && value <= 1),
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
  output: string,
  keepMissed: flag,
  ...LIMITS,
  goal: among(['each', 'whole']),
  onShot: CHECKS.function,
};

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
  requireObject('options', options);
  checkMembers(options, checks);
  const given = new Map(Object.entries(options));
  for (const name of needed) checks[name]?.(name, given.get(name));
  if (checks.minSeconds) checkOrder(options);
}

function checkEncoder(name: string, encoder: unknown): void {
  requireObject(name, encoder);
  checkMembers(encoder as object, COMPARED, name);
  CHOICE.encoder(`${name}.encoder`, (encoder as ComparedEncoder).encoder);
}

function checkBetween(name: string, value: unknown): void {
  const { min, max } = limits(name, value);
  if (min > max) throw wrongType(name, value, 'a min that is not above the max');
}

function checkTargets(name: string, value: unknown): void {
  for (const [i, { atLeast, atMost }] of targets(name, value).entries()) {
    if (atLeast !== undefined && atMost !== undefined)
      throw usageError('a target has both atLeast and atMost; pass two targets, one for each bound.');
    number(`${name}[${i}].atLeast`, atMost ?? atLeast);
  }
}

function checkOrder({ minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY }: ShotLimits): void {
  if (maxSeconds >= 2 * minSeconds) return;
  throw usageError(
    `maxSeconds is ${maxSeconds} and minSeconds ${minSeconds}, but the longest shot must be at least twice the shortest, ` +
      'because longer shots are split.',
  );
}

const MOST_ITEMS = 10_000;
const items = <T>(item: Shape<T>, least = 0) =>
  list(item, `a list of ${least} to ${MOST_ITEMS}`, least, MOST_ITEMS);
const word = upTo(4096);
const sides = { width: positive, height: positive };
const rated = { kbps: positive, quality: number };
const point = { value: number, bytes: number, ...rated, framesPerSecond: nullable(positive) };
const pointOfSize = object({ ...sides, ...point });
const samples = nullable(items(object({ first: number, count: positive })));
const counts = { encodes: number, cached: number, samples };
const measure = { metric: word, statistic };
const bounded = object({ ...measure, atLeast: maybe(number), atMost: maybe(number) });
const target: Shape<number> = (path, value, refuse) => {
  const { atLeast, atMost } = bounded(path, value, refuse);
  return number(`${path}.atLeast`, atLeast ?? atMost, refuse);
};
const delta = object({ value: number, range: object({ from: number, to: number }) });
/** `kbpsAt` is absent in results of earlier versions. */
const atTarget = object({ target: number, value: number, ...rated, reached: flag, kbpsAt: maybe(positive) });
const coded = { encoder: word, parameter: word };

const result = variants('kind', {
  search: object({
    source: word,
    ...coded,
    value: number,
    targets: items(target, 1),
    points: items(object({ ...point, margin: number }), 1),
    command: items(word),
    ...counts,
  }),
  ladder: object({
    source: word,
    ...coded,
    ...measure,
    curves: items(object({ ...sides, points: items(pointOfSize) }), 1),
    hull: items(pointOfSize, 1),
    takeovers: items(object({ ...sides, ...rated })),
    rungs: items(pointOfSize, 1),
    command: items(word),
    ...counts,
  }),
  comparison: object({
    source: word,
    ...measure,
    curves: items(
      object({
        name: word,
        ...coded,
        points: items(object(point), 1),
        atTargets: items(atTarget),
        framesPerSecond: nullable(positive),
      }),
      1,
    ),
    deltas: items(object({ anchor: word, test: word, rate: nullable(delta), quality: nullable(delta) })),
    ...counts,
  }),
} satisfies Readonly<Record<CurveResult['kind'], Shape<unknown>>>);

/** @throws {AnyvmafError} `usage` for a text that is no such result, naming the first problem */
export function parseResult(json: string): CurveResult {
  requireText('text', json, 'the JSON of a result');
  const data = jsonOf(json);
  const refuse = (path: string, _: unknown, expected: string) =>
    usageError(
      `This is not a result of a search, a ladder or a comparison: ${path || 'it'} is not ${expected}.`,
    );
  if (data === undefined) throw refuse('', data, 'JSON');
  result('', data, refuse);
  return data as CurveResult;
}
