/**
 * @module search/result-checks
 * Validates the JSON of searches, ladders and comparisons. It is untrusted: everything that is shown is checked.
 */
import { isObject, jsonOf, requireText } from '../core/arguments.js';
import { AnyvmafError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { STATISTICS } from './targets.js';
import type { CurveResult } from './types.js';

/** Throws unless a value is valid; the path is for the message. */
type Check = (value: unknown, path: string) => void;

const MOST_ITEMS = 10_000;

/** @throws {AnyvmafError} `usage` for a text that is not such a result, naming the first problem */
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

const number: Check = (value, path) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(`${path} is not a number`);
};

const positive: Check = (value, path) => {
  number(value, path);
  if ((value as number) <= 0) throw wrong(`${path} is not above 0`);
};

const word: Check = (value, path) => {
  if (typeof value !== 'string' || value.length > 4096) throw wrong(`${path} is not a text`);
};

const flag: Check = (value, path) => {
  if (typeof value !== 'boolean') throw wrong(`${path} is not true or false`);
};

const statistic: Check = (value, path) => {
  if (!STATISTICS.some((one) => one === value)) throw wrong(`${path} is not a statistic`);
};

const orNull =
  (check: Check): Check =>
  (value, path) => {
    if (value !== null) check(value, path);
  };

const list =
  (check: Check, least = 0): Check =>
  (value, path) => {
    if (!Array.isArray(value) || value.length < least || value.length > MOST_ITEMS)
      throw wrong(`${path} is not a list of ${least} to ${MOST_ITEMS}`);
    value.forEach((item, i) => {
      check(item, `${path}[${i}]`);
    });
  };

const object =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (!isObject(value)) throw wrong(`${path || 'it'} is not an object`);
    for (const [name, check] of Object.entries(checks))
      check(Object.hasOwn(value, name) ? value[name] : undefined, path === '' ? name : `${path}.${name}`);
  };

const size = { width: positive, height: positive };
const point = {
  value: number,
  bytes: number,
  kbps: positive,
  quality: number,
  framesPerSecond: orNull(positive),
};
const pointOfSize = object({ ...size, ...point });
const samples = orNull(list(object({ first: number, count: positive })));
const counts = { encodes: number, cached: number, samples };
const measure = { metric: word, statistic };
const target: Check = (value, path) => {
  object(measure)(value, path);
  const { atLeast, atMost } = value as Record<string, unknown>;
  number(atLeast ?? atMost, `${path}.atLeast`);
};
const delta = object({ value: number, range: object({ from: number, to: number }) });
/** Absent in results of earlier versions. */
const kbpsAt: Check = (value, path) => {
  if (value !== undefined) orNull(positive)(value, path);
};

const KINDS: Readonly<Record<CurveResult['kind'], Check>> = {
  search: object({
    source: word,
    encoder: word,
    parameter: word,
    value: number,
    targets: list(target, 1),
    points: list(object({ ...point, margin: number }), 1),
    command: list(word),
    ...counts,
  }),
  ladder: object({
    source: word,
    encoder: word,
    parameter: word,
    ...measure,
    curves: list(object({ ...size, points: list(pointOfSize) }), 1),
    hull: list(pointOfSize, 1),
    takeovers: list(object({ ...size, kbps: positive, quality: number })),
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
        encoder: word,
        parameter: word,
        points: list(object(point), 1),
        atTargets: list(
          object({ target: number, value: number, kbps: positive, quality: number, reached: flag, kbpsAt }),
        ),
        framesPerSecond: orNull(positive),
      }),
      1,
    ),
    deltas: list(object({ anchor: word, test: word, rate: orNull(delta), quality: orNull(delta) })),
    ...counts,
  }),
};

function wrong(what: string): AnyvmafError {
  return new AnyvmafError('usage', `This is not a result of a search, a ladder or a comparison: ${what}.`);
}
