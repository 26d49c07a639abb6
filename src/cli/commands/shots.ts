/**
 * @module cli/commands/shots
 * `anyvmaf shots SOURCE`: finds the shots of a video, and with an encoder a setting for each.
 */
import { extname } from 'node:path';
import { usageError } from '../../core/errors.js';
import {
  SHOT_FORMATS,
  type ShotFormat,
  type ShotGoal,
  type ShotStage,
  type TuneShotsOptions,
} from '../../index.js';
import { asJson, command, type HelpText } from '../command.js';
import { foundCsv, foundText, shotStageText, tunedText } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import { choiceValue, grouped, numberValue, type Option, orList } from '../options.js';
import {
  ENCODER_ARG_OPTION,
  ENCODER_OPTION,
  ENDING_OPTIONS,
  encodeOptions,
  encodingRun,
  oneSource,
  PARAMETERS,
  PIX_FMT_OPTION,
  parameterOption,
  SCORING_OPTIONS,
  TARGET_OPTION,
  valuesOption,
  WORK_OPTIONS,
} from './encoding.js';

const NAME = 'anyvmaf shots';

const GOALS = ['each', 'whole'] as const satisfies readonly ShotGoal[];

interface ShotsSettings extends TuneShotsOptions {
  readonly file: string;
  readonly format: ShotFormat;
  readonly quiet: boolean;
}

const SHOTS_OPTIONS: readonly Option<ShotsSettings>[] = [
  ...grouped<ShotsSettings>('Shots', [
    {
      name: 'threshold',
      argument: 'CHANGE',
      help: 'threshold of a cut, from 0 to 1. Default: 0.3',
      read: (use) => ({ threshold: numberValue(use) }),
    },
    {
      name: 'min-length',
      argument: 'SECONDS',
      help: 'shortest shot. Default: 0.5',
      read: (use) => ({ minSeconds: numberValue(use) }),
    },
    {
      name: 'max-length',
      argument: 'SECONDS',
      help: 'longest shot; longer ones are split. Default: 10',
      read: (use) => ({ maxSeconds: numberValue(use) }),
    },
  ]),
  ...grouped<ShotsSettings>('Encoding', [
    { ...ENCODER_OPTION, help: 'encoder of the installed ffmpeg; without one, shots are only detected' },
    ENCODER_ARG_OPTION,
    PIX_FMT_OPTION,
    ...encodeOptions('join the encoded shots, copy audio and subtitles, and score the whole'),
  ]),
  ...grouped<ShotsSettings>('Quality', [
    TARGET_OPTION,
    {
      name: 'goal',
      argument: 'GOAL',
      help: 'each: every shot reaches the target; whole: the whole video does, with the fewest bytes. Default: each',
      read: (use) => ({ goal: choiceValue(use, GOALS) }),
    },
    ...SCORING_OPTIONS,
  ]),
  ...grouped<ShotsSettings>('Search', [
    parameterOption(
      `parameter to set: ${orList(PARAMETERS)}. Default: the encoder's scale of constant quality`,
    ),
    valuesOption('LOW..HIGH', 'values to choose from'),
    ...WORK_OPTIONS,
  ]),
  ...grouped<ShotsSettings>('Result', [
    {
      name: 'output',
      short: 'o',
      argument: 'FILE',
      help: 'write the result to FILE, in the format of its extension: .json, .csv or .sh',
      read: ({ value }) => ({ file: value }),
    },
    {
      name: 'format',
      argument: 'FORMAT',
      help: `${orList(SHOT_FORMATS)} instead of a table; shell is a script that makes the encode with ffmpeg`,
      read: (use) => ({ format: choiceValue(use, SHOT_FORMATS) }),
    },
    { name: 'json', help: 'as --format json', read: () => ({ format: 'json' }) },
    { name: 'csv', help: 'as --format csv', read: () => ({ format: 'csv' }) },
    ...ENDING_OPTIONS,
  ]),
];

/** JSON unless the extension is `.csv` or `.sh`. */
function formatOf(output: string | undefined): ShotFormat | undefined {
  if (output === undefined) return undefined;
  const ending = extname(output).toLowerCase();
  return ending === '.csv' ? 'csv' : ending === '.sh' ? 'shell' : 'json';
}

const page: HelpText = {
  usage: [`${NAME} [options] SOURCE`, `${NAME} [options] SOURCE --encoder NAME`],
  about:
    'Detects the shots of a video. With an encoder of the installed ffmpeg it finds a setting for each shot, so ' +
    'that every shot, or the whole video, reaches a quality with the fewest bytes, and joins the encodes on ' +
    'request. Exits with 3 if the quality cannot be reached.',
  sections: [
    {
      title: 'Examples',
      rows: [
        [`${NAME} a.mov`, 'only detect the shots'],
        [`${NAME} a.mov --encoder libx264 --target 93`, 'a CRF for each shot'],
        [`${NAME} a.mov --encoder libx264 --goal whole`, 'fewest bytes for a mean of 95'],
        [`${NAME} a.mov --encoder libx265 --encode b.mp4`, 'also write the file'],
        [`${NAME} a.mov --encoder libx264 -o make.sh`, 'a script that makes it'],
      ],
    },
  ],
};

export const shots = command(NAME, SHOTS_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const { file: path, format: asked, quiet = false, encoder, ...rest } = settings;
  const source = oneSource(NAME, positionals, `type ${NAME} SOURCE`);
  const { threshold, minSeconds, maxSeconds, ...others } = rest;
  const limits = { threshold, minSeconds, maxSeconds };
  const format = asked ?? formatOf(path);
  if (encoder === undefined && (Object.keys(others).length > 0 || format === 'shell'))
    throw usageError(`${NAME} needs an encoder for these options, for instance --encoder libx264`);
  return encodingRun({ source, quiet }, [path, rest.output], terminal, async (tools) => {
    const { files, signal, say, clear } = tools;
    const [file] = files;
    const { detectShots, formatShots, tuneShots } = await import('../../index.js');
    const give = async (text: string, data: string): Promise<void> => {
      clear();
      await file?.write([data], signal);
      await terminal.print(format === undefined || file ? text : data);
    };
    if (encoder === undefined) {
      const onProgress = (frames: number, total: number) => say?.(`reading frame ${frames} of ${total}`);
      const found = await detectShots(source, { ...limits, onProgress, signal });
      await give(foundText(found), format === 'csv' ? foundCsv(found) : asJson(found));
      return EXIT.ok;
    }
    const onStage = (stage: ShotStage) => say?.(shotStageText(stage, rest.parameter ?? 'crf'));
    const result = await tuneShots(source, { ...rest, encoder, onStage, signal });
    await give(tunedText(result), await formatShots(result, format ?? 'json'));
    return result.reached && result.final?.reached !== false ? EXIT.ok : EXIT.below;
  });
});
