/**
 * @module cli/commands/shots-options
 * What `anyvmaf shots` can be told, and what of it the API is told.
 */
import { extname } from 'node:path';
import { usageError } from '../../core/errors.js';
import {
  type ParameterName,
  parseTarget,
  SHOT_FORMATS,
  type ShotFormat,
  type ShotGoal,
  type ShotLimits,
  type TuneShotsOptions,
  type ValueRange,
} from '../../index.js';
import {
  grouped,
  type OptionReaders,
  type OptionSpec,
  type OptionUse,
  orList,
  parseArguments,
  takeOption,
} from '../options.js';
import { choiceValue, numberValue, refusedValue, unsignedValue } from '../values.js';

export const NAME = 'anyvmaf shots';

const PARAMETERS = [
  'crf',
  'cq',
  'qp',
  'global_quality',
  'bitrate',
] as const satisfies readonly ParameterName[];
const GOALS = ['each', 'whole'] as const satisfies readonly ShotGoal[];
const MAX_THREADS = 1024;

export const SHOTS_OPTIONS = [
  ...grouped('Shots', [
    {
      name: 'threshold',
      argument: 'CHANGE',
      help: 'change at which a cut is one, from 0 to 1. Default: 0.3',
    },
    { name: 'min-length', argument: 'SECONDS', help: 'shortest shot. Default: 0.5' },
    {
      name: 'max-length',
      argument: 'SECONDS',
      help: 'longest shot; a longer one is taken in parts. Default: 10',
    },
  ]),
  ...grouped('Encoding', [
    {
      name: 'encoder',
      argument: 'NAME',
      help: 'encoder of the installed ffmpeg; without one the shots are only found',
    },
    {
      name: 'encoder-arg',
      argument: 'NAME=VALUE',
      help: 'option of the encoder, such as preset=slow. May be repeated',
    },
    { name: 'pix-fmt', argument: 'FORMAT', help: "pixel format of the encode. Default: the source's" },
    {
      name: 'encode',
      argument: 'FILE',
      help: 'join the encoded shots, sound and subtitles copied, and score the whole',
    },
  ]),
  ...grouped('Quality', [
    {
      name: 'target',
      argument: 'BOUND',
      help: '95, or a statistic: p5>=90, min>=80, worst_second>=85, psnr_y:mean>=40. May be repeated. Default: 95',
    },
    {
      name: 'goal',
      argument: 'GOAL',
      help: 'each: every shot reaches the target; whole: all together do, with the fewest bytes. Default: each',
    },
    { name: 'model', short: 'm', argument: 'MODEL', help: 'model to score with. May be repeated' },
    { name: 'feature', argument: 'FEATURE', help: 'further metric to measure. May be repeated' },
  ]),
  ...grouped('Search', [
    {
      name: 'parameter',
      argument: 'NAME',
      help: `what to set: ${orList(PARAMETERS)}. Default: the encoder's scale of constant quality`,
    },
    { name: 'range', argument: 'LOW..HIGH', help: 'values to choose from' },
    {
      name: 'cache',
      argument: 'DIR',
      help: "where to keep points: a folder, or none. Default: the user's cache",
    },
    { name: 'max-temp', argument: 'GB', help: 'temporary files at most. Default: 8' },
    { name: 'threads', argument: 'N', help: 'worker threads of the scorer' },
  ]),
  ...grouped('Result', [
    {
      name: 'output',
      short: 'o',
      argument: 'FILE',
      help: 'write the result to FILE, in the format that its ending says: .json, .csv or .sh',
    },
    {
      name: 'format',
      argument: 'FORMAT',
      help: `${orList(SHOT_FORMATS)} instead of a table; shell is a script that makes the encode with ffmpeg`,
    },
    { name: 'json', help: 'as --format json' },
    { name: 'csv', help: 'as --format csv' },
    { name: 'quiet', short: 'q', help: 'no progress on the terminal' },
    { name: 'help', help: 'show this help', last: true },
  ]),
] as const satisfies readonly OptionSpec[];

/** A command line of `anyvmaf shots`. */
export interface ShotsSettings {
  readonly source: string;
  readonly limits: ShotLimits;
  /** Absent where shots are only to be found. */
  readonly options: TuneShotsOptions | undefined;
  readonly output: string | undefined;
  readonly format: ShotFormat | undefined;
  readonly quiet: boolean;
}

/** What the options say, as far as they have been read. */
type Draft = { -readonly [Key in keyof TuneShotsOptions]?: TuneShotsOptions[Key] } & {
  file?: string;
  format?: ShotFormat;
  quiet?: boolean;
};

type Name = (typeof SHOTS_OPTIONS)[number]['name'];

/** Options that may be repeated add to what is there. */
const readersOf = (draft: Draft): OptionReaders<Name, Draft> => ({
  threshold: (use) => ({ threshold: numberValue(use) }),
  'min-length': (use) => ({ minSeconds: numberValue(use) }),
  'max-length': (use) => ({ maxSeconds: numberValue(use) }),
  encoder: ({ value }) => ({ encoder: value }),
  'encoder-arg': (use) => ({ encoderOptions: { ...draft.encoderOptions, ...encoderOption(use) } }),
  'pix-fmt': ({ value }) => ({ pixelFormat: value }),
  encode: ({ value }) => ({ output: value }),
  target: ({ value }) => ({ targets: [...(draft.targets ?? []), parseTarget(value)] }),
  goal: (use) => ({ goal: choiceValue(use, GOALS) }),
  model: ({ value }) => ({ models: [...(draft.models ?? []), value] }),
  feature: ({ value }) => ({ features: [...(draft.features ?? []), value] }),
  parameter: (use) => ({ parameter: choiceValue(use, PARAMETERS) }),
  range: (use) => ({ range: rangeValue(use) }),
  cache: ({ value }) => ({ cache: value === 'none' ? false : value }),
  'max-temp': (use) => ({ scratchBytes: numberValue(use) * 1e9 }),
  threads: (use) => ({ threads: unsignedValue(use, 4, MAX_THREADS) }),
  output: ({ value }) => ({ file: value }),
  format: (use) => ({ format: choiceValue(use, SHOT_FORMATS) }),
  json: () => ({ format: 'json' }),
  csv: () => ({ format: 'csv' }),
  quiet: () => ({ quiet: true }),
  help: () => ({}),
});

/**
 * Reads a command line.
 * @returns `help`, or what to do
 * @throws {AnyvmafError} `usage`
 */
export function shotsSettings(args: readonly string[]): ShotsSettings | 'help' {
  const { options: uses, positionals } = parseArguments(args, SHOTS_OPTIONS, NAME);
  if (uses.at(-1)?.name === 'help') return 'help';
  const draft: Draft = {};
  const readers = readersOf(draft);
  for (const use of uses) takeOption(readers, use, draft);
  const { file: output, format, quiet = false, encoder, ...rest } = draft;
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) {
    const found = source === undefined ? 'none was given' : `${positionals.length} were given`;
    throw usageError(`${NAME} takes one source, but ${found}; type ${NAME} SOURCE`);
  }
  const { threshold, minSeconds, maxSeconds, ...others } = rest;
  const limits = {
    ...(threshold !== undefined && { threshold }),
    ...(minSeconds !== undefined && { minSeconds }),
    ...(maxSeconds !== undefined && { maxSeconds }),
  };
  const chosen = format ?? formatOf(output);
  const common = { source, limits, output, format: chosen, quiet };
  if (encoder !== undefined) return { ...common, options: { ...rest, encoder } };
  requireEncoder(Object.keys(others).length > 0 || chosen === 'shell');
  return { ...common, options: undefined };
}

/** @throws {AnyvmafError} `usage` where options ask for encodes */
function requireEncoder(asked: boolean): void {
  if (!asked) return;
  throw usageError(`${NAME} needs an encoder for these options, for instance --encoder libx264`);
}

/** The format that a file's name says. */
function formatOf(output: string | undefined): ShotFormat | undefined {
  if (output === undefined) return undefined;
  const ending = extname(output).toLowerCase();
  return ending === '.csv' ? 'csv' : ending === '.sh' ? 'shell' : 'json';
}

function encoderOption(use: OptionUse): Readonly<Record<string, string>> {
  const equals = use.value.indexOf('=');
  if (equals > 0) return { [use.value.slice(0, equals)]: use.value.slice(equals + 1) };
  throw refusedValue(use, 'NAME=VALUE, such as preset=slow');
}

/** `18..40`. */
function rangeValue(use: OptionUse): ValueRange {
  const [, min, max] = /^(\d{1,10}(?:\.\d{1,6})?)\.\.(\d{1,10}(?:\.\d{1,6})?)$/.exec(use.value) ?? [];
  if (min !== undefined && max !== undefined && Number(min) <= Number(max))
    return { min: Number(min), max: Number(max) };
  throw refusedValue(use, 'a range such as 18..40');
}
