/**
 * @module cli/commands/shots
 * `anyvmaf shots SOURCE`: the shots of a video, and with an encoder a setting for each.
 */
import { extname } from 'node:path';
import { usageError } from '../../core/errors.js';
import {
  parseTarget,
  SHOT_FORMATS,
  type ShotFormat,
  type ShotGoal,
  type ShotLimits,
  type ShotStage,
  type TuneShotsOptions,
} from '../../index.js';
import { command, type HelpText } from '../command.js';
import { foundCsv, foundText, shotStageText, tunedText } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import {
  choiceValue,
  grouped,
  numberValue,
  type OptionReaders,
  type OptionSpec,
  orList,
  type ParsedArguments,
  takeOption,
} from '../options.js';
import type { Terminal } from '../terminal.js';
import {
  ENCODE_MISSED_OPTION,
  ENCODER_ARG_OPTION,
  ENCODER_OPTION,
  ENDING_OPTIONS,
  encodingRun,
  oneSource,
  PARAMETERS,
  PIX_FMT_OPTION,
  rangeValue,
  SCORING_OPTIONS,
  type SharedName,
  sharedReaders,
  TARGET_OPTION,
  WORK_OPTIONS,
  withEncoderOption,
} from './encoding.js';

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
 * @throws {AnyvmafError} `usage`
 */
function shotsSettings({ options: uses, positionals }: ParsedArguments<Name>): ShotsSettings {
  const draft: Draft = {};
  const readers = { ...sharedReaders(draft), ...readersOf(draft) };
  for (const use of uses) takeOption(readers, use, draft);
  const { file: output, format, quiet = false, encoder, ...rest } = draft;
  const source = oneSource(NAME, positionals, `type ${NAME} SOURCE`);
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

const page: HelpText = {
  usage: [`${NAME} [options] SOURCE`, `${NAME} [options] SOURCE --encoder NAME`],
  about:
    'Finds the shots of a video. With an encoder of the installed ffmpeg it finds a setting for each shot, so that every ' +
    'shot, or all together, reach a quality with the fewest bytes, and joins the encodes on request. Exits with 3 when the ' +
    'quality cannot be reached.',
  sections: [
    {
      title: 'Examples',
      rows: [
        [`${NAME} a.mov`, 'only find the shots'],
        [`${NAME} a.mov --encoder libx264 --target 93`, 'a CRF for each shot'],
        [`${NAME} a.mov --encoder libx264 --goal whole`, 'fewest bytes for a mean of 95'],
        [`${NAME} a.mov --encoder libx265 --encode b.mp4`, 'and make the file'],
        [`${NAME} a.mov --encoder libx264 -o make.sh`, 'a script that makes it'],
      ],
    },
  ],
};

/** Shots and their settings. */
export const shots = command(NAME, SHOTS_OPTIONS, page, async (parsed, terminal) =>
  run(shotsSettings(parsed), terminal),
);

async function run(settings: ShotsSettings, terminal: Terminal): Promise<number> {
  const { source, limits, options, output, format } = settings;
  return encodingRun(settings, [output, options?.output], terminal, async (tools) => {
    const { files, signal, say, clear } = tools;
    const [file] = files;
    const { detectShots, formatShots, tuneShots } = await import('../../index.js');
    const give = async (text: string, data: string): Promise<void> => {
      clear();
      await file?.write([data], signal);
      await terminal.print(format === undefined || file ? text : data);
    };
    if (!options) {
      const onProgress = (frames: number, total: number) => say?.(`looking at frame ${frames} of ${total}`);
      const found = await detectShots(source, { ...limits, onProgress, signal });
      await give(
        foundText(found),
        format === 'csv' ? foundCsv(found) : `${JSON.stringify(found, null, 2)}\n`,
      );
      return EXIT.ok;
    }
    const onStage = (stage: ShotStage) => say?.(shotStageText(stage, options.parameter ?? 'crf'));
    const result = await tuneShots(source, { ...options, onStage, signal });
    await give(tunedText(result), await formatShots(result, format ?? 'json'));
    return result.reached && result.final?.reached !== false ? EXIT.ok : EXIT.below;
  });
}
