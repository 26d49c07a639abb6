/**
 * @module core/options
 * The table of options: a row says what an option's values are, its default, and which calls take it. The checks of the API,
 * the command line, the tools' parameters and what a queue's job may set come from these rows; what doors say of an option
 * stands beside in core/option-words, which no web page loads.
 */
import { isObject, oneOf, requireObject, wrongType } from './arguments.js';
import {
  BACKEND_CHOICES,
  COLOR_MATRICES,
  COLOR_RANGES,
  COLOUR_AS,
  COMPATS,
  DECODER_CHOICES,
  FILM_GRAIN,
  FRAME_RATE_POLICIES,
  PAIR_BY,
  SCALE_FILTERS,
  V1_SETTINGS,
} from './choices.js';
import { usageError } from './errors.js';
import { type FrameRange, MOST_FRAMES } from './frame.js';
import { AOM_CTC_VERSIONS, NFLX_CTC_VERSIONS } from './presets.js';
import { quoted, showValue } from './printable.js';

/** What takes options: public functions, and the jobs of a queue. `look` is inspecting and aligning. */
export type OptionTaker = 'score' | 'batch' | 'shard' | 'scorer' | 'look' | 'extract' | 'job';

/** Kinds of values, each with a check; `checked` and `samples` are checked where they are used. */
export type OptionKind = keyof typeof CHECKS;

/** A row of the table. */
export interface OptionRow {
  readonly kind: OptionKind;
  readonly of?: readonly string[];
  readonly least?: number;
  readonly most?: number;
  readonly default?: boolean | number | string;
  readonly by: readonly OptionTaker[];
  /** It is about a reference, so that it excludes scoring without one. */
  readonly reference?: true;
  /** Only this package's core supports it, no installed program. */
  readonly core?: true;
  /** It changes the pictures of one or both videos. */
  readonly filter?: true;
  /** About the machine and the call, not about what is measured. */
  readonly machine?: true;
}

/** Whole numbers from 0, unless a row says more. */
const COUNT = { kind: 'count', least: 0, most: MOST_FRAMES } as const;
/** What is off unless it is asked for. */
const FLAG = { kind: 'flag', default: false } as const;

/** More threads than this are a mistake. */
const MOST_THREADS = 1024;
/** No container has as many video tracks. */
const MOST_TRACKS = 999;
/** Longest side of a picture, the core's limit. */
const MOST_SIDE = 16384;
/** Seconds in a year: no limit is longer. */
export const MOST_SECONDS = 366 * 86_400;

const WHOLE = ['score', 'batch', 'shard'] as const;
const JOB = [...WHOLE, 'job'] as const;
const PAIR = [...WHOLE, 'look', 'extract'] as const;
const PAIR_JOB = [...PAIR, 'job'] as const;
const SCORER = [...WHOLE, 'scorer'] as const;
const SCORER_JOB = [...SCORER, 'job'] as const;
const CUT = [...JOB, 'extract'] as const;

/** The rows, by the names of the API. */
export const OPTIONS = {
  models: { kind: 'texts', by: [...SCORER_JOB, 'look'] },
  alsoModels: { kind: 'texts', by: SCORER, core: true },
  features: { kind: 'texts', by: [...SCORER_JOB, 'look'], reference: true },
  aomCtc: { kind: 'version', of: AOM_CTC_VERSIONS, by: SCORER, reference: true },
  nflxCtc: { kind: 'version', of: NFLX_CTC_VERSIONS, by: SCORER, reference: true },
  noPrediction: { ...FLAG, by: SCORER_JOB },
  tiny: { kind: 'checked', by: SCORER_JOB, core: true },
  compat: { kind: 'choice', of: COMPATS, default: 'libvmaf-3.2', by: SCORER_JOB, core: true },
  subsample: { ...COUNT, default: 1, by: SCORER_JOB },
  threads: { ...COUNT, most: MOST_THREADS, by: SCORER_JOB, machine: true },
  implementation: {
    kind: 'choice',
    of: ['simd128', 'portable'],
    default: 'simd128',
    by: SCORER_JOB,
    core: true,
  },
  onFrame: { kind: 'function', by: ['score', 'scorer'], machine: true },
  keep: { kind: 'checked', by: ['score', 'batch', 'scorer'] },
  names: { kind: 'names', by: ['scorer'] },
  v1Settings: { kind: 'choice', of: V1_SETTINGS, default: 'encode', by: JOB },
  noReference: { ...FLAG, by: JOB, core: true },
  samples: { kind: 'samples', by: ['score', 'batch'] },
  frameCount: { ...COUNT, default: 0, by: CUT },
  skipReference: { ...COUNT, default: 0, by: CUT, reference: true },
  skipDistorted: { ...COUNT, default: 0, by: CUT },
  chunkFrames: { ...COUNT, least: 1, by: WHOLE, core: true, machine: true },
  maxThreads: { ...COUNT, least: 1, most: MOST_THREADS, by: WHOLE, machine: true },
  backend: { kind: 'choice', of: BACKEND_CHOICES, by: JOB },
  vmafBin: { kind: 'program', by: WHOLE, machine: true },
  cpumask: { ...COUNT, kind: 'mask', by: WHOLE, machine: true },
  gpumask: { ...COUNT, kind: 'mask', by: WHOLE, machine: true },
  syclDevice: { ...COUNT, by: WHOLE, machine: true },
  hipDevice: { ...COUNT, by: WHOLE, machine: true },
  metalDevice: { ...COUNT, by: WHOLE, machine: true },
  maxSeconds: { kind: 'seconds', by: JOB, machine: true },
  gate: { kind: 'function', by: WHOLE, machine: true },
  onProgress: { kind: 'function', by: WHOLE, machine: true },
  onStart: { kind: 'function', by: ['score'], machine: true },
  signal: { kind: 'signal', by: PAIR, machine: true },
  decoder: { kind: 'choice', of: DECODER_CHOICES, default: 'auto', by: PAIR_JOB },
  scale: { kind: 'choice', of: [...SCALE_FILTERS, 'none'], by: PAIR_JOB },
  scaleTo: { kind: 'size', by: PAIR_JOB, reference: true },
  frameRatePolicy: { kind: 'choice', of: FRAME_RATE_POLICIES, by: PAIR_JOB, reference: true },
  pairBy: { kind: 'choice', of: PAIR_BY, default: 'reference', by: PAIR_JOB, reference: true },
  offset: { kind: 'offset', default: 0, by: PAIR_JOB, reference: true },
  window: { ...COUNT, least: 1, most: 1000, by: PAIR_JOB },
  range: { kind: 'range', by: PAIR_JOB },
  grain: { kind: 'choice', of: FILM_GRAIN, default: 'on', by: PAIR_JOB },
  colourAs: { kind: 'choice', of: COLOUR_AS, by: PAIR_JOB },
  allowDamaged: { ...FLAG, by: PAIR_JOB },
  allowUrl: { kind: 'hosts', default: false, by: PAIR },
  rate: { kind: 'rate', by: PAIR },
  trackReference: { ...COUNT, most: MOST_TRACKS, by: PAIR_JOB },
  trackDistorted: { ...COUNT, most: MOST_TRACKS, by: PAIR_JOB },
  origin: { kind: 'checked', by: PAIR, machine: true },
  commonBitDepth: { kind: 'flag', by: PAIR_JOB },
  strict: { ...FLAG, by: PAIR_JOB },
  preflight: { ...FLAG, default: true, by: PAIR_JOB },
  deinterlace: { kind: 'flag', by: PAIR_JOB, filter: true },
  crop: { kind: 'crop', of: ['auto'], by: PAIR_JOB, filter: true },
  cropReference: { kind: 'area', by: PAIR_JOB, reference: true, filter: true },
  cropDistorted: { kind: 'area', by: PAIR_JOB, filter: true },
  vfReference: { kind: 'text', by: PAIR_JOB, reference: true, filter: true },
  vfDistorted: { kind: 'text', by: PAIR_JOB, filter: true },
  colorRange: { kind: 'choice', of: COLOR_RANGES, by: PAIR_JOB, filter: true },
  matrix: { kind: 'choice', of: COLOR_MATRICES, by: PAIR_JOB, filter: true },
  pixelFormat: { kind: 'text', by: PAIR_JOB, filter: true },
} as const satisfies Readonly<Record<string, OptionRow>>;

type Table = typeof OPTIONS;

/** An option of the API. */
export type OptionName = keyof Table;

/** Options whose rows have something, such as a `default`. */
export type OptionWith<Property extends object> = {
  [Name in OptionName]: Table[Name] extends Property ? Name : never;
}[OptionName];

const ROWS: ReadonlyMap<string, OptionRow> = new Map(Object.entries(OPTIONS));

/** The names of the options that something takes, in the table's order. */
export function optionsOf(taker: OptionTaker): readonly string[] {
  return [...ROWS].flatMap(([name, { by }]) => (by.includes(taker) ? [name] : []));
}

/** Those of given options whose rows fit. */
export function pickOptions<Options extends object>(
  options: Options,
  fits: (row: OptionRow) => boolean | undefined,
): Partial<Options> {
  const given = Object.entries(options).filter(([name, value]) => {
    const row = ROWS.get(name);
    return value !== undefined && row && fits(row);
  });
  return Object.fromEntries(given) as Partial<Options>;
}

/**
 * Checks each option by its row.
 * @returns the given options, and the defaults of the others
 * @throws {AnyvmafError} `usage`, naming the option, its value and what it may be
 */
export function checkByTable<Completed extends object>(options: object, taker: OptionTaker): Completed {
  const checked: Record<string, unknown> = {};
  for (const [name, row] of ROWS) if (row.default !== undefined) checked[name] = row.default;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const row = ROWS.get(name);
    if (!row?.by.includes(taker)) {
      throw usageError(`There is no option ${quoted(name)}; there are ${optionsOf(taker).join(', ')}.`);
    }
    CHECKS[row.kind](name, value, row);
    checked[name] = value;
  }
  return checked as Completed;
}

/** Options that are about a reference and say more than their defaults. */
export function aboutReference(options: object): readonly string[] {
  const given = pickOptions(options, ({ reference }) => reference);
  return Object.entries(given).flatMap(([name, value]) =>
    value === ROWS.get(name)?.default || (Array.isArray(value) && value.length === 0) ? [] : [name],
  );
}

type Check = (name: string, value: unknown, row: OptionRow) => void;
type OwnCheck = (name: string, value: unknown) => void;

const typed =
  (type: 'boolean' | 'function' | 'string', expected: string): OwnCheck =>
  (name, value) => {
    if (typeof value !== type) throw wrongType(name, value, expected);
  };

/** What is expected of a value for which `fits` does not hold. */
const fitting =
  (expected: string, fits: (value: unknown) => boolean): OwnCheck =>
  (name, value) => {
    if (!fits(value)) throw wrongType(name, value, expected);
  };

const countFits: Check = (name, value, { least, most }) => checkCount(name, value, least, most);

const isTexts = (value: unknown) => Array.isArray(value) && value.every((text) => typeof text === 'string');

const CHECKS = {
  checked: () => {},
  samples: () => {},
  flag: typed('boolean', 'true or false'),
  function: typed('function', 'a function'),
  text: typed('string', 'a string'),
  area: typed('string', 'a string'),
  version: typed('string', 'a version such as v1.0'),
  program: fitting(
    'the path of a program',
    (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
  ),
  texts: fitting('an array of strings', isTexts),
  hosts: fitting('true, false or a list of hosts', (value) => typeof value === 'boolean' || isTexts(value)),
  signal: fitting('an AbortSignal', (value) => isObject(value) && 'throwIfAborted' in value),
  choice: (name, value, { of = [] }) => void oneOf(name, value as string, of),
  crop: fitting(
    'auto; cropReference and cropDistorted take a part of the picture',
    (value) => value === 'auto',
  ),
  offset: fitting(
    'a whole number of frames or auto',
    (value) => value === 'auto' || (Number.isInteger(value) && Math.abs(Number(value)) <= MOST_FRAMES),
  ),
  rate: fitting('pictures per second: a number up to 1000, or a fraction such as 24000/1001', isRate),
  count: countFits,
  mask: countFits,
  seconds: checkSeconds,
  size: checkSize,
  range: checkRange,
  names: checkNames,
} satisfies Readonly<Record<string, Check>>;

/** @throws {AnyvmafError} `usage` */
export function checkCount(name: string, value: unknown, min = 0, max = MOST_FRAMES): void {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return;
  throw wrongType(name, value, `a whole number from ${min} to ${max}`);
}

function checkSeconds(name: string, value: unknown): void {
  if (typeof value === 'number' && value > 0 && value <= MOST_SECONDS) return;
  const expected = `a number of seconds above 0 and up to ${MOST_SECONDS}`;
  throw usageError(`is ${showValue(value)}, but it must be ${expected}.`, { about: name as 'maxSeconds' });
}

function checkNames(name: string, value: unknown): void {
  requireObject(name, value);
  for (const [side, text] of Object.entries(value as object)) CHECKS.text(`${name}.${side}`, text);
}

function isRate(rate: unknown): boolean {
  const [, num = '', den = '1'] = /^(\d{1,7}(?:\.\d{1,6})?)(?:\/([1-9]\d{0,6}))?$/.exec(String(rate)) ?? [];
  const value = Number(num) / Number(den);
  return num !== '' && value > 0 && value <= 1000 && !(num.includes('.') && den !== '1');
}

function checkSize(name: string, size: unknown): void {
  if (size === 'ref' || size === 'dis') return;
  if (!isObject(size)) throw wrongType(name, size, 'ref, dis or a width and height');
  for (const side of ['width', 'height']) checkCount(`${name}.${side}`, size[side], 1, MOST_SIDE);
}

function checkRange(name: string, value: unknown): void {
  if (!isObject(value)) throw wrongType(name, value, 'an object with unit, start and end');
  const { unit, start, end } = value as unknown as FrameRange;
  oneOf(`${name}.unit`, unit, ['frames', 'seconds']);
  if (unit === 'frames') {
    checkCount(`${name}.start`, start);
    if (end !== undefined) checkCount(`${name}.end`, end);
  } else if (!(start >= 0 && start < MOST_FRAMES) || (end !== undefined && !(end >= 0))) {
    throw usageError(`${name} is ${start} to ${end} seconds, but it must lie from 0 on.`);
  }
  if (end !== undefined && end <= start) {
    throw usageError(`${name} is ${start} to ${end} ${unit}, but its end must come after its start.`);
  }
}
