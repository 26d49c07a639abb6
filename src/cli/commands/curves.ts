/**
 * @module cli/commands/curves
 * `anyvmaf ladder` builds a bitrate ladder; `anyvmaf compare-encoders` compares encoders or presets at equal quality. Both
 * measure rate-quality curves of a source.
 */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { ioError, usageError } from '../../core/errors.js';
import { quotedWord } from '../../core/names.js';
import { printable, shown } from '../../core/printable.js';
import { parseSize } from '../../core/size.js';
import { fileError } from '../../files/checked-file.js';
import {
  type ComparedPoint,
  type CurveResult,
  type EncodedPoint,
  formatEncodingResult,
  type LadderOptions,
  type LadderPoint,
  parseEncoder,
  type ResultFormat,
  type SearchStage,
  STATISTICS,
} from '../../index.js';
import { BANDWIDTH_COMMAND } from '../../report/bandwidth.js';
import { type PooledName, parsePooledName } from '../../report/limits.js';
import { cut } from '../../report/sections.js';
import { command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import {
  choiceValue,
  list,
  numberValue,
  type OptionUse,
  optionRows,
  optionTable,
  orList,
  refusedValue,
  texts,
  unsignedValue,
} from '../options.js';
import { openOutput } from '../output.js';
import type { Terminal } from '../terminal.js';
import {
  bar,
  ENCODER_OPTIONS,
  ENDING_OPTIONS,
  encodingRun,
  FULL_OPTION,
  oneSource,
  PIX_FMT_OPTION,
  POINT,
  parameterOption,
  pointsHead,
  rangeValue,
  row,
  SCORING_OPTIONS,
  stageText,
  valuesOption,
  WORK_OPTIONS,
} from './encoding.js';

const CURVE_OPTIONS = optionRows({
  '--target QUALITY': [
    'quality at which to measure each curve. May be repeated. Default: values of the parameter',
    list('targets', numberValue),
  ],
  '--by MEASURE': [
    'measure of quality: p5, worst_second, or psnr_y.mean of a feature. Default: the mean of the model',
    measureValue,
  ],
});

const formatted = (format: ResultFormat) => () => ({ format });

const RESULT_OPTIONS = optionRows({
  '-o, --output FILE': [
    'write the result to FILE, in the format of its extension: .json, .csv, .html or .txt. May be repeated',
    texts('outputs'),
  ],
  '--json': ['print the result as JSON', formatted('json')],
  '--csv': ['print all points as CSV', formatted('csv')],
});

function betweenOption(help: string) {
  const read = (use: OptionUse) => {
    const { min, max } = rangeValue(use);
    return { between: { min, max } };
  };
  return optionRows({ '--between LOW..HIGH': [help, read] });
}

/** `p5`, `psnr_y` or `psnr_y.min`. */
function measureValue(use: OptionUse): PooledName {
  const name = parsePooledName(use.value);
  if (name) return name;
  throw refusedValue(
    use,
    `a statistic, a metric, or both, such as p5 or psnr_y.mean (${STATISTICS.join(', ')})`,
  );
}

/**
 * Splits the source and the output settings from the options of the API.
 * @throws {AnyvmafError} `usage` unless there is exactly one source
 */
function resultOf<Settings extends Partial<Omit<ResultSettings, 'source'>>>(
  command: string,
  positionals: readonly string[],
  settings: Settings,
) {
  const { outputs = [], format = 'text', quiet = false, ...options } = settings;
  const source = oneSource(command, positionals, `see '${command} --help'`);
  const result: ResultSettings = { source, outputs, format, quiet };
  return { result, options };
}

interface ResultSettings {
  readonly source: string;
  /** Files; the extension of each names its format. */
  readonly outputs: readonly string[];
  readonly format: ResultFormat;
  readonly quiet: boolean;
}

/**
 * Measures curves, writes the result to files and prints it.
 * @param columns of the table of points
 * @param work `show` prints a point if the result is text
 */
async function curvesRun<Result extends CurveResult>(
  settings: ResultSettings,
  terminal: Terminal,
  columns: readonly [curve: string, parameter: string, quality: string],
  work: (tools: {
    readonly signal: AbortSignal;
    readonly onStage?: (stage: SearchStage) => void;
    show(curve: string, point: CurvePoint): void;
  }) => Promise<Result>,
): Promise<Result> {
  const { outputs, format } = settings;
  const formats = outputs.map(formatOf);
  return encodingRun(settings, outputs, terminal, async ({ files, signal, say, line, clear }) => {
    const print = format === 'text' ? line : clear;
    let begun = false;
    const result = await work({
      signal,
      ...(say && { onStage: (stage) => say(stageText(stage)) }),
      show: (curve, point) => {
        if (!begun) print(`${columns[0].padEnd(CURVE_NAME)} ${pointsHead(columns[1], columns[2])}`);
        begun = true;
        print(curveLine(curve, point));
      },
    });
    clear();
    for (const [i, file] of files.entries())
      await file?.write([await formatEncodingResult(result, formats[i] ?? 'json')], signal);
    await terminal.print(await formatEncodingResult(result, format));
    return result;
  });
}

const FORMATS: Readonly<Record<string, ResultFormat>> = {
  '.json': 'json',
  '.csv': 'csv',
  '.html': 'html',
  '.htm': 'html',
  '.txt': 'text',
};

/** @throws {AnyvmafError} `usage` for an unknown extension */
function formatOf(path: string): ResultFormat {
  const format = FORMATS[extname(path).toLowerCase()];
  if (format !== undefined) return format;
  throw usageError(
    `the result cannot be written to ${shown(path)}; its name must end in ${Object.keys(FORMATS).join(', ')}.`,
  );
}

const SHORT_BAR = 16;
/** Columns of the name of a curve; a longer one is cut in its middle. */
const CURVE_NAME = 24;

type CurvePoint = EncodedPoint & { readonly quality: number };

/** At most 80 columns. */
export function curveLine(curve: string, { value, quality, kbps, cached }: CurvePoint): string {
  const point = row(POINT, [value, quality.toFixed(2), Math.round(kbps)]);
  const name = cut(printable(curve), CURVE_NAME, 'both').padEnd(CURVE_NAME);
  return `${name} ${point}  ${bar(quality / 100, SHORT_BAR)}${cached ? ' cached' : ''}`;
}

const LADDER = 'anyvmaf ladder';
const SPACINGS = ['rate', 'quality'] as const;
const MOST_RUNGS = 32;

const LADDER_OPTIONS = optionTable({
  Encoding: {
    ...ENCODER_OPTIONS,
    '--sizes LIST': [
      'heights, or sizes: 1080,720,540,360 or 1920x1080,1280x720. None larger than the source',
      (use) => ({ sizes: use.value.split(',').map((text) => sizeValue(use, text.trim())) }),
    ],
  },
  Rungs: {
    '--rungs N': [
      `number of rungs, 1 to ${MOST_RUNGS}. Default: 5`,
      (use) => ({ rungs: unsignedValue(use, 5, MOST_RUNGS) }),
    ],
    '--spacing BY': [
      `space rungs evenly in ${orList(SPACINGS)}. Default: rate`,
      (use) => ({ spacing: choiceValue(use, SPACINGS) }),
    ],
    ...betweenOption("quality of the lowest and of the highest rung. Default: 40..96 of a model's score"),
  },
  Curves: {
    ...parameterOption('set'),
    ...valuesOption('LOW..HIGH[:STEP]', 'values of the parameter. Default: seven around the usual one'),
    ...CURVE_OPTIONS,
    ...SCORING_OPTIONS,
    ...FULL_OPTION,
    ...WORK_OPTIONS,
  },
  Result: {
    ...RESULT_OPTIONS,
    '--master FILE': [
      'measure the segments of a master playlist, and write the bandwidths of its streams into it. Takes no ' +
        'SOURCE',
      texts('masters'),
    ],
    ...ENDING_OPTIONS,
  },
});

const ladderPage: HelpText = {
  usage: [`${LADDER} SOURCE -e NAME --sizes LIST`, `${LADDER} --master master.m3u8`],
  about:
    'Measures rate and quality of a source at several sizes, takes the convex hull of the curves, and ' +
    'chooses rungs on it. Prints the rate from which each size is best, and the ffmpeg command that encodes ' +
    'all rungs for DASH and HLS. Smaller pictures are scored at the size of the source, as they are watched.',
  sections: {
    Examples: [
      [`${LADDER} a.mov -e libx264 --sizes 1080,720,540`, 'five rungs'],
      [`${LADDER} a.mov -e libx265 --sizes 720 --rungs 8`, 'more of them'],
      [`${LADDER} a.mov -e libx264 --sizes 720 -o l.html`, 'a page with the hull'],
    ],
  },
};

export const ladder = command(
  LADDER,
  LADDER_OPTIONS,
  ladderPage,
  async ({ settings, positionals, terminal }) => {
    const { masters: [master, ...more] = [], ...rest } = settings;
    if (master !== undefined) {
      if (more.length + Object.keys(rest).length + positionals.length === 0)
        return measureMaster(master, terminal);
      throw usageError(
        `--master measures existing files and takes no other arguments; type ${LADDER} --master master.m3u8`,
      );
    }
    const { result, options } = resultOf(LADDER, positionals, rest);
    const { encoder, sizes, ...others } = options;
    if (encoder === undefined) throw usageError(`${LADDER} needs an encoder, for instance --encoder libx264`);
    if (sizes === undefined) throw usageError(`${LADDER} needs sizes, for instance --sizes 1080,720,540,360`);
    const { buildLadder } = await import('../../index.js');
    const columns = ['size', options.parameter ?? 'value', options.metric ?? 'quality'] as const;
    const { command, warnings } = await curvesRun(result, terminal, columns, ({ show, ...listeners }) => {
      const onPoint = (point: LadderPoint) => show(`${point.width}x${point.height}`, point);
      return buildLadder(result.source, { ...others, encoder, sizes, ...listeners, onPoint });
    });
    if (result.format === 'text')
      await terminal.print(
        `\n${warnings.map((text) => `Note: ${text}\n`).join('')}${command.map(quotedWord).join(' ')}\n${BANDWIDTH_COMMAND}\n`,
      );
    return EXIT.ok;
  },
);

const MOST_TEXT = 16 * 1024 * 1024;

/** Writes measured bandwidths into a master playlist, and into a manifest of the same streams beside it. */
async function measureMaster(path: string, terminal: Terminal): Promise<number> {
  const { measuredManifest, measuredMaster } = await import('../../report/bandwidth.js');
  const folder = dirname(path);
  const sizeOf = async (name: string) => {
    const file = join(folder, name);
    const facts = await stat(file).catch((cause: unknown) => {
      throw fileError(file, cause);
    });
    if (facts.isFile()) return facts.size;
    throw ioError(`${shown(file)} is not a regular file.`);
  };
  const text = async (name: string) => {
    if ((await sizeOf(name)) > MOST_TEXT) throw ioError(`${shown(name)} is too large for a playlist.`);
    return readFile(join(folder, name), 'utf8');
  };
  const { text: master, peaks } = await measuredMaster(path, await text(basename(path)), {
    text,
    bytes: sizeOf,
  });
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
  if (/^[1-9]\d{0,4}p?$/.test(text)) return numberValue({ ...use, value: text.replace('p', '') });
  throw refusedValue(use, 'heights or sizes such as 1080,720 or 1920x1080,1280x720');
}

const COMPARE = 'anyvmaf compare-encoders';

const COMPARE_OPTIONS = optionTable({
  Encoding: {
    '-e, --encoder NAME[:OPTION=VALUE...]': [
      'encoder of the installed ffmpeg, with options: libx264:preset=slow. Give two or more; all are ' +
        'compared with the first',
      list('encoders', ({ value }) => parseEncoder(value)),
    ],
    ...PIX_FMT_OPTION,
  },
  Curves: {
    ...CURVE_OPTIONS,
    ...betweenOption("quality range of the BD-rates. Default: 60..97 of a model's score"),
    ...SCORING_OPTIONS,
    ...FULL_OPTION,
    ...WORK_OPTIONS,
  },
  Result: { ...RESULT_OPTIONS, ...ENDING_OPTIONS },
});

const comparePage: HelpText = {
  usage: [`${COMPARE} SOURCE -e NAME -e NAME`],
  about:
    'Measures the rate-quality curves of several encoders, or of one with several presets, on a source. Reports ' +
    'how much less each needs for equal quality (BD-rate), how fast it is here, and the rate that it needs ' +
    'for a target quality.',
  sections: {
    Examples: [
      [`${COMPARE} a.mov -e libx264 -e libx265`, 'two codecs'],
      [`${COMPARE} a.mov -e libx265 -e libsvtav1`, 'and others'],
    ],
  },
};

export const compareEncodersCommand = command(COMPARE, COMPARE_OPTIONS, comparePage, async (line) => {
  const { result, options } = resultOf(COMPARE, line.positionals, line.settings);
  const { encoders = [], ...others } = options;
  if (encoders.length < 2)
    throw usageError(
      `${COMPARE} needs two encoders or more, for instance --encoder libx264 --encoder libx265`,
    );
  const { compareEncoders } = await import('../../index.js');
  const columns = ['encoder', 'value', options.metric ?? 'quality'] as const;
  await curvesRun(result, line.terminal, columns, ({ show, ...listeners }) => {
    const onPoint = (point: ComparedPoint) => show(point.name, point);
    return compareEncoders(result.source, { ...others, encoders, ...listeners, onPoint });
  });
  return EXIT.ok;
});
