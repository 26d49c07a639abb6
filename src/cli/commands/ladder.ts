/**
 * @module cli/commands/ladder
 * `anyvmaf ladder SOURCE --sizes 1080,720,540,360 --encoder NAME`: builds a bitrate ladder.
 */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AnyvmafError, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { quotedWord } from '../../core/shell.js';
import { parseSize } from '../../core/size.js';
import type { EncoderChoice, LadderOptions, LadderPoint } from '../../index.js';
import { BANDWIDTH_COMMAND } from '../../report/bandwidth.js';
import { command, type HelpText } from '../command.js';
import { curveHead, curveLine } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import {
  choiceValue,
  grouped,
  numberValue,
  type Option,
  type OptionUse,
  orList,
  refusedValue,
  unsignedValue,
} from '../options.js';
import { openOutput } from '../output.js';
import type { Terminal } from '../terminal.js';
import {
  betweenOption,
  CURVE_OPTIONS,
  type CurveSettings,
  curvesRun,
  ENCODER_ARG_OPTION,
  ENCODER_OPTION,
  ENDING_OPTIONS,
  FULL_OPTION,
  PARAMETERS,
  PIX_FMT_OPTION,
  parameterOption,
  RESULT_OPTIONS,
  resultOf,
  SCORING_OPTIONS,
  valuesOption,
  WORK_OPTIONS,
} from './encoding.js';

const NAME = 'anyvmaf ladder';
const SPACINGS = ['rate', 'quality'] as const;
const MOST_RUNGS = 32;

interface LadderSettings
  extends CurveSettings,
    EncoderChoice,
    Pick<LadderOptions, 'sizes' | 'rungs' | 'spacing' | 'between'> {
  readonly masters: readonly string[];
}

const OPTIONS: readonly Option<LadderSettings>[] = [
  ...grouped<LadderSettings>('Encoding', [
    ENCODER_OPTION,
    ENCODER_ARG_OPTION,
    PIX_FMT_OPTION,
    {
      name: 'sizes',
      argument: 'LIST',
      help: 'heights, or sizes: 1080,720,540,360 or 1920x1080,1280x720. None larger than the source',
      read: (use) => ({ sizes: use.value.split(',').map((text) => sizeValue(use, text.trim())) }),
    },
  ]),
  ...grouped<LadderSettings>('Rungs', [
    {
      name: 'rungs',
      argument: 'N',
      help: `number of rungs, 1 to ${MOST_RUNGS}. Default: 5`,
      read: (use) => ({ rungs: unsignedValue(use, 5, MOST_RUNGS) }),
    },
    {
      name: 'spacing',
      argument: 'BY',
      help: `space rungs evenly in ${orList(SPACINGS)}. Default: rate`,
      read: (use) => ({ spacing: choiceValue(use, SPACINGS) }),
    },
    betweenOption("quality of the lowest and of the highest rung. Default: 40..96 of a model's score"),
  ]),
  ...grouped<LadderSettings>('Curves', [
    parameterOption(
      `parameter to set: ${orList(PARAMETERS)}. Default: the encoder's scale of constant quality`,
    ),
    valuesOption('LOW..HIGH[:STEP]', 'values of the parameter. Default: seven around the usual one'),
    ...CURVE_OPTIONS,
    ...SCORING_OPTIONS,
    FULL_OPTION,
    ...WORK_OPTIONS,
  ]),
  ...grouped<LadderSettings>('Result', [
    ...RESULT_OPTIONS,
    {
      name: 'master',
      argument: 'FILE',
      help:
        'measure the segments of a master playlist, and write the bandwidths of its streams into it. Takes no ' +
        'SOURCE',
      read: ({ value }, { masters = [] }) => ({ masters: [...masters, value] }),
    },
    ...ENDING_OPTIONS,
  ]),
];

const page: HelpText = {
  usage: [`${NAME} SOURCE -e NAME --sizes LIST`, `${NAME} --master master.m3u8`],
  about:
    'Measures rate and quality of a source at several sizes, takes the convex hull of the curves, and ' +
    'chooses rungs on it. Prints the rate from which each size is best, and the ffmpeg command that encodes ' +
    'all rungs for DASH and HLS. Smaller pictures are scored at the size of the source, as they are watched.',
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

export const ladder = command(NAME, OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const { masters: [master, ...more] = [], ...asked } = settings;
  if (master !== undefined) {
    if (more.length + Object.keys(asked).length + positionals.length === 0)
      return measureMaster(master, terminal);
    throw usageError(
      `--master measures existing files and takes no other arguments; type ${NAME} --master master.m3u8`,
    );
  }
  const { result, options } = resultOf(NAME, positionals, asked);
  const { encoder, sizes, ...others } = options;
  if (encoder === undefined) throw usageError(`${NAME} needs an encoder, for instance --encoder libx264`);
  if (sizes === undefined) throw usageError(`${NAME} needs sizes, for instance --sizes 1080,720,540,360`);
  const { buildLadder } = await import('../../index.js');
  const { command, warnings } = await curvesRun(result, terminal, ({ line, ...listeners }) => {
    let first = true;
    const onPoint = (point: LadderPoint) => {
      if (first) line(curveHead('size', options.parameter ?? 'value', options.metric ?? 'quality'));
      first = false;
      line(curveLine(`${point.width}x${point.height}`, point));
    };
    return buildLadder(result.source, { ...others, encoder, sizes, ...listeners, onPoint });
  });
  if (result.format === 'text')
    await terminal.print(
      `\n${warnings.map((text) => `Note: ${text}\n`).join('')}${command.map(quotedWord).join(' ')}\n${BANDWIDTH_COMMAND}\n`,
    );
  return EXIT.ok;
});

/** Most bytes of a playlist or manifest. */
const MOST_TEXT = 16 * 1024 * 1024;

/** Writes measured bandwidths into a master playlist, and into a manifest of the same streams beside it. */
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
    throw usageError(`${shown(join(folder, name))} is not a regular file.`);
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

/** `720` or `1280x720`. */
function sizeValue(use: OptionUse, text: string): LadderOptions['sizes'][number] {
  const size = parseSize(text);
  if (size) return size;
  if (/^\d{1,5}p?$/.test(text)) return numberValue({ ...use, value: text.replace('p', '') });
  throw refusedValue(use, 'heights or sizes such as 1080,720 or 1920x1080,1280x720');
}
