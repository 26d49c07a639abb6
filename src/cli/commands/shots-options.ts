/**
 * @module cli/commands/shots-options
 * What `anyvmaf shots` can be told, and what of it the API is told.
 */
import { extname } from 'node:path';
import { usageError } from '../../core/errors.js';
import {
  parseTarget,
  SHOT_FORMATS,
  type ShotFormat,
  type ShotGoal,
  type ShotLimits,
  type TuneShotsOptions,
} from '../../index.js';
import {
  grouped,
  type OptionReaders,
  type OptionSpec,
  orList,
  parseArguments,
  takeOption,
} from '../options.js';
import { choiceValue, numberValue } from '../values.js';
import { localPath } from '../video-options.js';
import {
  ENCODE_MISSED_OPTION,
  ENCODER_ARG_OPTION,
  ENCODER_OPTION,
  ENDING_OPTIONS,
  PARAMETERS,
  PIX_FMT_OPTION,
  rangeValue,
  SCORING_OPTIONS,
  type SharedName,
  sharedReaders,
  TARGET_OPTION,
  WORK_OPTIONS,
  withEncoderOption,
} from './encoding-options.js';

export const NAME = 'anyvmaf shots';

const GOALS = ['each', 'whole'] as const satisfies readonly ShotGoal[];

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
    { ...ENCODER_OPTION, help: 'encoder of the installed ffmpeg; without one the shots are only found' },
    ENCODER_ARG_OPTION,
    PIX_FMT_OPTION,
    {
      name: 'encode',
      argument: 'FILE',
      help: 'join the encoded shots, sound and subtitles copied, and score the whole',
    },
    ENCODE_MISSED_OPTION,
  ]),
  ...grouped('Quality', [
    TARGET_OPTION,
    {
      name: 'goal',
      argument: 'GOAL',
      help: 'each: every shot reaches the target; whole: all together do, with the fewest bytes. Default: each',
    },
    ...SCORING_OPTIONS,
  ]),
  ...grouped('Search', [
    {
      name: 'parameter',
      argument: 'NAME',
      help: `what to set: ${orList(PARAMETERS)}. Default: the encoder's scale of constant quality`,
    },
    { name: 'values', argument: 'LOW..HIGH', help: 'values to choose from' },
    ...WORK_OPTIONS,
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
    ...ENDING_OPTIONS,
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
const readersOf = (draft: Draft): OptionReaders<Exclude<Name, SharedName>, Draft> => ({
  threshold: (use) => ({ threshold: numberValue(use) }),
  'min-length': (use) => ({ minSeconds: numberValue(use) }),
  'max-length': (use) => ({ maxSeconds: numberValue(use) }),
  encoder: ({ value }) => ({ encoder: value }),
  'encoder-arg': (use) => ({ encoderOptions: withEncoderOption(draft.encoderOptions, use) }),
  encode: ({ value }) => ({ output: value }),
  'encode-missed': () => ({ keepMissed: true }),
  target: ({ value }) => ({ targets: [...(draft.targets ?? []), parseTarget(value)] }),
  goal: (use) => ({ goal: choiceValue(use, GOALS) }),
  parameter: (use) => ({ parameter: choiceValue(use, PARAMETERS) }),
  values: (use) => ({ range: rangeValue(use) }),
  output: ({ value }) => ({ file: value }),
  format: (use) => ({ format: choiceValue(use, SHOT_FORMATS) }),
  json: () => ({ format: 'json' }),
  csv: () => ({ format: 'csv' }),
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
  const readers = { ...sharedReaders(draft), ...readersOf(draft) };
  for (const use of uses) takeOption(readers, use, draft);
  const { file: output, format, quiet = false, encoder, ...rest } = draft;
  const [source, ...more] = positionals.map(localPath);
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
