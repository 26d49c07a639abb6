/**
 * @module cli/commands/ladder
 * `anyvmaf ladder SOURCE --sizes 1080,720,540,360 --encoder NAME`: which sizes and settings to offer a source in.
 */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AnyvmafError, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { quotedWord } from '../../core/shell.js';
import { parseSize } from '../../core/size.js';
import type { LadderOptions, LadderPoint } from '../../index.js';
import { BANDWIDTH_COMMAND } from '../../report/bandwidth.js';
import { command, type HelpText } from '../command.js';
import { curveHead, curveLine } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import {
  choiceValue,
  grouped,
  numberValue,
  type OptionReaders,
  type OptionSpec,
  type OptionUse,
  orList,
  type ParsedArguments,
  refusedValue,
  takeOption,
  unsignedValue,
} from '../options.js';
import { openOutput } from '../output.js';
import type { Terminal } from '../terminal.js';
import {
  CURVE_OPTIONS,
  type CurveDraft,
  type CurveName,
  curveReaders,
  curvesRun,
  ENCODER_ARG_OPTION,
  ENCODER_OPTION,
  ENDING_OPTIONS,
  FULL_OPTION,
  PARAMETERS,
  PIX_FMT_OPTION,
  RESULT_OPTIONS,
  type ResultSettings,
  rangeValue,
  resultOf,
  SCORING_OPTIONS,
  type SharedName,
  WORK_OPTIONS,
  withEncoderOption,
} from './encoding.js';

const NAME = 'anyvmaf ladder';
const SPACINGS = ['rate', 'quality'] as const;
const MOST_RUNGS = 32;

const OPTIONS = [
  ...grouped('Encoding', [
    ENCODER_OPTION,
    ENCODER_ARG_OPTION,
    PIX_FMT_OPTION,
    {
      name: 'sizes',
      argument: 'LIST',
      help: 'heights, or sizes: 1080,720,540,360 or 1920x1080,1280x720. None larger than the source',
    },
  ]),
  ...grouped('Rungs', [
    { name: 'rungs', argument: 'N', help: `how many to choose, 1 to ${MOST_RUNGS}. Default: 5` },
    { name: 'spacing', argument: 'BY', help: `evenly in ${orList(SPACINGS)}. Default: rate` },
    {
      name: 'between',
      argument: 'LOW..HIGH',
      help: "qualities of the lowest and the highest. Default: 40..96 of a model's score",
    },
  ]),
  ...grouped('Curves', [
    {
      name: 'parameter',
      argument: 'NAME',
      help: `what is set: ${orList(PARAMETERS)}. Default: the encoder's scale of constant quality`,
    },
    {
      name: 'values',
      argument: 'LOW..HIGH[:STEP]',
      help: 'values of it. Default: seven around the usual one',
    },
    ...CURVE_OPTIONS,
    ...SCORING_OPTIONS,
    FULL_OPTION,
    ...WORK_OPTIONS,
  ]),
  ...grouped('Result', [
    ...RESULT_OPTIONS,
    {
      name: 'master',
      argument: 'FILE',
      help: 'measure the segments beside a master playlist, and write what its streams take into it. Takes no SOURCE',
    },
    ...ENDING_OPTIONS,
  ]),
] as const satisfies readonly OptionSpec[];

const page: HelpText = {
  usage: [`${NAME} SOURCE -e NAME --sizes LIST`, `${NAME} --master master.m3u8`],
  about:
    'Measures rate and quality of a source in several sizes, takes the convex hull of the curves, and chooses rungs on ' +
    'it. Says from which rate on each size is the best one, and gives the ffmpeg command that encodes all rungs for DASH and HLS. ' +
    'Smaller pictures are scored at the size of the source, as they are watched.',
  sections: [
    {
      title: 'Examples',
      rows: [
        [`${NAME} a.mov -e libx264 --sizes 1080,720,540`, 'five rungs'],
        [`${NAME} a.mov -e libx265 --sizes 720 --rungs 8`, 'more of them'],
        [`${NAME} a.mov -e libx264 --sizes 720 -o l.html`, 'a page with the hull'],
      ],
    },
  ],
};

/** The ladder of sizes. */
export const ladder = command(NAME, OPTIONS, page, (parsed, terminal) => {
  const settings = settingsOf(parsed);
  return 'master' in settings ? measureMaster(settings.master, terminal) : build(settings, terminal);
});

interface LadderSettings {
  readonly result: ResultSettings;
  readonly options: LadderOptions;
}

async function build({ result: settings, options }: LadderSettings, terminal: Terminal): Promise<number> {
  const { buildLadder } = await import('../../index.js');
  const { command, warnings } = await curvesRun(settings, terminal, ({ line, ...listeners }) => {
    let first = true;
    const onPoint = (point: LadderPoint) => {
      if (first) line(curveHead('size', options.parameter ?? 'value', options.metric ?? 'quality'));
      first = false;
      line(curveLine(`${point.width}x${point.height}`, point));
    };
    return buildLadder(settings.source, { ...options, ...listeners, onPoint });
  });
  if (settings.format === 'text')
    await terminal.print(
      `\n${warnings.map((text) => `Note: ${text}\n`).join('')}${command.map(quotedWord).join(' ')}\n${BANDWIDTH_COMMAND}\n`,
    );
  return EXIT.ok;
}

/** Bytes of a playlist or a manifest that are read at most. */
const MOST_TEXT = 16 * 1024 * 1024;

/** Writes what streams take into a master playlist, and into a manifest of the same streams beside it. */
async function measureMaster(path: string, terminal: Terminal): Promise<number> {
  const { measuredManifest, measuredMaster } = await import('../../report/bandwidth.js');
  const folder = dirname(path);
  const sizeOf = async (name: string) => {
    const facts = await stat(join(folder, name)).catch((cause: Error) => {
      throw new AnyvmafError('io', `${shown(join(folder, name))} cannot be read: ${cause.message}.`, {
        cause,
      });
    });
    if (facts.isFile()) return facts.size;
    throw usageError(`${shown(join(folder, name))} is no regular file.`);
  };
  const text = async (name: string) => {
    if ((await sizeOf(name)) > MOST_TEXT) throw usageError(`${shown(name)} is too large for a playlist.`);
    return readFile(join(folder, name), 'utf8');
  };
  const { text: master, peaks } = await measuredMaster(await text(basename(path)), { text, bytes: sizeOf });
  await replaceFile(path, master);
  const manifest = join(folder, 'ladder.mpd');
  const found = await stat(manifest).catch(() => undefined);
  if (found?.isFile()) await replaceFile(manifest, measuredManifest(await text('ladder.mpd'), peaks));
  await terminal.print(`${master.trimEnd()}\n`);
  return EXIT.ok;
}

async function replaceFile(path: string, text: string): Promise<void> {
  await (await openOutput(path, [])).write([text]);
}

type Draft = CurveDraft & { -readonly [Key in keyof LadderOptions]?: LadderOptions[Key] } & {
  master?: string;
};
type Name = (typeof OPTIONS)[number]['name'];

const readersOf = (draft: Draft): OptionReaders<Exclude<Name, SharedName | CurveName>, Draft> => ({
  encoder: ({ value }) => ({ encoder: value }),
  'encoder-arg': (use) => ({ encoderOptions: withEncoderOption(draft.encoderOptions, use) }),
  sizes: (use) => ({ sizes: use.value.split(',').map((text) => sizeValue(use, text.trim())) }),
  rungs: (use) => ({ rungs: unsignedValue(use, 5, MOST_RUNGS) }),
  spacing: (use) => ({ spacing: choiceValue(use, SPACINGS) }),
  between: (use) => {
    const { min, max } = rangeValue(use);
    return { between: { min, max } };
  },
  master: ({ value }) => ({ master: value }),
  parameter: (use) => ({ parameter: choiceValue(use, PARAMETERS) }),
  values: (use) => ({ range: rangeValue(use) }),
});

/** @throws {AnyvmafError} `usage` */
function settingsOf({
  options: uses,
  positionals,
}: ParsedArguments<Name>): LadderSettings | { readonly master: string } {
  const draft: Draft = {};
  const readers = { ...curveReaders(draft), ...readersOf(draft) };
  for (const use of uses) takeOption(readers, use, draft);
  const { encoder, sizes, master } = draft;
  if (master !== undefined) {
    if (uses.length === 1 && positionals.length === 0) return { master };
    throw usageError(
      `--master measures files that are there, so that nothing goes with it; type ${NAME} --master master.m3u8`,
    );
  }
  const { result, options } = resultOf(NAME, positionals, draft);
  if (encoder === undefined) throw usageError(`${NAME} needs an encoder, for instance --encoder libx264`);
  if (sizes === undefined) throw usageError(`${NAME} needs sizes, for instance --sizes 1080,720,540,360`);
  return { result, options: { ...options, encoder, sizes } };
}

/** `720` or `1280x720`. */
function sizeValue(use: OptionUse, text: string): LadderOptions['sizes'][number] {
  const size = parseSize(text);
  if (size) return size;
  if (/^\d{1,5}p?$/.test(text)) return numberValue({ ...use, value: text.replace('p', '') });
  throw refusedValue(use, 'heights or sizes such as 1080,720 or 1920x1080,1280x720');
}
