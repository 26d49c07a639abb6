/**
 * @module cli/commands/encoding
 * Shared by the commands that encode a source: options, their parsing, output files and progress.
 */
import { extname } from 'node:path';
import { usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import {
  type CurveResult,
  type EncoderChoice,
  type EncodingOptions,
  formatEncodingResult,
  type ParameterName,
  parseTarget,
  type QualityTarget,
  type ResultFormat,
  type SearchStage,
  STATISTICS,
  type Statistic,
  type ValueRange,
} from '../../index.js';
import { parsePooledName } from '../../report/limits.js';
import { openProgressBar } from '../command.js';
import { stageText } from '../encoding-text.js';
import {
  choiceValue,
  HELP_OPTION,
  numberValue,
  type Option,
  type OptionUse,
  refusedValue,
  unsignedValue,
} from '../options.js';
import { type OutputFile, openOutput } from '../output.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';
import { localPath } from '../video-options.js';

export const PARAMETERS = [
  'crf',
  'cq',
  'qp',
  'global_quality',
  'bitrate',
] as const satisfies readonly ParameterName[];

const MAX_THREADS = 1024;

export const ENCODER_OPTION: Option<EncoderChoice> = {
  name: 'encoder',
  short: 'e',
  argument: 'NAME',
  help: 'encoder of the installed ffmpeg: libx264, libx265, libsvtav1, libaom-av1, libvpx-vp9 or another',
  read: ({ value }) => ({ encoder: value }),
};

export const ENCODER_ARG_OPTION: Option<EncoderChoice> = {
  name: 'encoder-arg',
  argument: 'NAME=VALUE',
  help: 'option of the encoder, such as preset=slow. May be repeated',
  read: (use, { encoderOptions }) => ({ encoderOptions: withEncoderOption(encoderOptions, use) }),
};

export function parameterOption(help: string): Option<EncoderChoice> {
  return {
    name: 'parameter',
    argument: 'NAME',
    help,
    read: (use) => ({ parameter: choiceValue(use, PARAMETERS) }),
  };
}

export function valuesOption(argument: string, help: string): Option<EncoderChoice> {
  return { name: 'values', argument, help, read: (use) => ({ range: rangeValue(use) }) };
}

export interface EncodeSettings {
  readonly output: string;
  readonly keepMissed: boolean;
}

export function encodeOptions(help: string): readonly Option<EncodeSettings>[] {
  return [
    { name: 'encode', argument: 'FILE', help, read: ({ value }) => ({ output: value }) },
    {
      name: 'encode-missed',
      help: 'write the file of --encode even if it misses the target',
      read: () => ({ keepMissed: true }),
    },
  ];
}

type EncodingSettings = Omit<EncodingOptions, 'onStage'>;

export const PIX_FMT_OPTION: Option<EncodingSettings> = {
  name: 'pix-fmt',
  argument: 'FORMAT',
  help: "pixel format of the encode. Default: the source's",
  read: ({ value }) => ({ pixelFormat: value }),
};

export const TARGET_OPTION: Option<{ readonly targets: readonly QualityTarget[] }> = {
  name: 'target',
  argument: 'BOUND',
  help: '95, or as in --fail-under: p5>=90, worst_second>=85, psnr_y.mean>=40, cambi.max<=5. May be repeated. Default: 95',
  read: ({ value }, { targets = [] }) => ({ targets: [...targets, parseTarget(value)] }),
};

export const SCORING_OPTIONS: readonly Option<EncodingSettings>[] = [
  {
    name: 'model',
    short: 'm',
    argument: 'MODEL',
    help: 'model to score with. May be repeated',
    read: ({ value }, { models = [] }) => ({ models: [...models, value] }),
  },
  {
    name: 'feature',
    argument: 'FEATURE',
    help: 'further metric to measure. May be repeated',
    read: ({ value }, { features = [] }) => ({ features: [...features, value] }),
  },
];

export const WORK_OPTIONS: readonly Option<EncodingSettings>[] = [
  {
    name: 'cache',
    argument: 'DIR',
    help: "where to cache measured points: a folder, or none. Default: the user's cache",
    read: ({ value }) => ({ cache: value === 'none' ? false : value }),
  },
  {
    name: 'max-temp',
    argument: 'GB',
    help: 'size limit of temporary files. Default: 8',
    read: (use) => ({ scratchBytes: numberValue(use) * 1e9 }),
  },
  {
    name: 'threads',
    argument: 'N',
    help: 'worker threads of the scorer',
    read: (use) => ({ threads: unsignedValue(use, 4, MAX_THREADS) }),
  },
];

export const FULL_OPTION: Option<EncodingSettings> = {
  name: 'full',
  help: 'encode the whole source for every point, not samples of it',
  read: () => ({ full: true }),
};

export const ENDING_OPTIONS: readonly Option<{ readonly quiet: boolean }>[] = [
  { name: 'quiet', short: 'q', help: 'no progress on the terminal', read: () => ({ quiet: true }) },
  HELP_OPTION,
];

export interface CurveSettings extends EncodingSettings {
  readonly targets: readonly number[];
  readonly metric: string;
  readonly statistic: Statistic;
  readonly outputs: readonly string[];
  readonly format: ResultFormat;
  readonly quiet: boolean;
}

export const CURVE_OPTIONS: readonly Option<CurveSettings>[] = [
  {
    name: 'target',
    argument: 'QUALITY',
    help: 'quality at which to measure each curve. May be repeated. Default: values of the parameter',
    read: (use, { targets = [] }) => ({ targets: [...targets, numberValue(use)] }),
  },
  {
    name: 'by',
    argument: 'MEASURE',
    help: 'measure of quality: p5, worst_second, or psnr_y.mean of a feature. Default: the mean of the model',
    read: measureValue,
  },
];

export const RESULT_OPTIONS: readonly Option<CurveSettings>[] = [
  {
    name: 'output',
    short: 'o',
    argument: 'FILE',
    help: 'write the result to FILE, in the format of its extension: .json, .csv, .html or .txt. May be repeated',
    read: ({ value }, { outputs = [] }) => ({ outputs: [...outputs, value] }),
  },
  { name: 'json', help: 'print the result as JSON', read: () => ({ format: 'json' }) },
  { name: 'csv', help: 'print all points as CSV', read: () => ({ format: 'csv' }) },
];

export function betweenOption(
  help: string,
): Option<{ readonly between?: { readonly min: number; readonly max: number } | undefined }> {
  return {
    name: 'between',
    argument: 'LOW..HIGH',
    help,
    read: (use) => {
      const { min, max } = rangeValue(use);
      return { between: { min, max } };
    },
  };
}

/** `p5`, `psnr_y` or `psnr_y.min`. */
function measureValue(use: OptionUse): Partial<Pick<CurveSettings, 'metric' | 'statistic'>> {
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
export function resultOf<Settings extends Partial<CurveSettings>>(
  command: string,
  positionals: readonly string[],
  settings: Settings,
) {
  const { outputs = [], format = 'text', quiet = false, ...options } = settings;
  const source = oneSource(command, positionals, `see '${command} --help'`);
  const result: ResultSettings = { source, outputs, format, quiet };
  return { result, options };
}

/**
 * @param advice what to type instead
 * @throws {AnyvmafError} `usage` unless there is exactly one source
 */
export function oneSource(command: string, positionals: readonly string[], advice: string): string {
  const [source, ...more] = positionals.map(localPath);
  if (source !== undefined && more.length === 0) return source;
  const found = source === undefined ? 'none was given' : `${positionals.length} were given`;
  throw usageError(`${command} takes one source, but ${found}; ${advice}`);
}

/** Adds an option such as `preset=slow`. */
function withEncoderOption(
  options: EncoderChoice['encoderOptions'],
  use: OptionUse,
): Readonly<Record<string, string>> {
  const equals = use.value.indexOf('=');
  if (equals > 0) return { ...options, [use.value.slice(0, equals)]: use.value.slice(equals + 1) };
  throw refusedValue(use, 'NAME=VALUE, such as preset=slow');
}

/** `18..40` or `18..40:2`. */
export function rangeValue(use: OptionUse): ValueRange {
  const number = '(\\d{1,10}(?:\\.\\d{1,6})?)';
  const [, min, max, step] = new RegExp(`^${number}\\.\\.${number}(?::${number})?$`).exec(use.value) ?? [];
  if (min !== undefined && max !== undefined && Number(min) <= Number(max))
    return { min: Number(min), max: Number(max), ...(step !== undefined && { step: Number(step) }) };
  throw refusedValue(use, 'a range such as 18..40');
}

export interface EncodingTools {
  /** In the order of the paths. */
  readonly files: readonly (OutputFile | undefined)[];
  readonly signal: AbortSignal;
  /** Updates the status line, rate-limited; undefined without a terminal or with `--quiet`. */
  readonly say: ((words: string) => void) | undefined;
  /** Prints a line above the status line. */
  line(text: string): void;
  clear(): void;
}

/** Milliseconds before the status line is redrawn if only its numbers change. */
const READING = 100;

/**
 * Opens the output files, so that an unwritable one fails before hours of encoding, and does the work.
 * @param paths output files; none may be the source
 * @throws {AnyvmafError} what the work throws; `usage` or `io` for files that cannot be written
 */
export async function encodingRun<Result>(
  { source, quiet }: { readonly source: string; readonly quiet: boolean },
  paths: readonly (string | undefined)[],
  terminal: Terminal,
  work: (tools: EncodingTools) => Promise<Result>,
): Promise<Result> {
  const files: (OutputFile | undefined)[] = [];
  for (const path of paths) files.push(path === undefined ? undefined : await openOutput(path, [source]));
  const bar = await openProgressBar(terminal, quiet);
  let last = { kind: '', time: 0 };
  const clear = () => bar?.clear();
  const say = (words: string) => {
    const now = { kind: words.replaceAll(/\d/g, ''), time: performance.now() };
    if (now.kind === last.kind && now.time - last.time < READING) return;
    last = now;
    bar?.say(words);
  };
  const line = (text: string) => {
    clear();
    if (!quiet) terminal.draw(`${text}\n`);
  };
  return interruptible(async ({ signal }) => {
    try {
      return await work({ files, signal, say: bar && say, line, clear });
    } finally {
      clear();
    }
  });
}

export interface ResultSettings {
  readonly source: string;
  /** Files; the extension of each names its format. */
  readonly outputs: readonly string[];
  /** Format of standard output. */
  readonly format: ResultFormat;
  readonly quiet: boolean;
}

/**
 * Measures curves, writes the result to files and prints it.
 * @param work `line` prints a line if the result is text
 */
export async function curvesRun<Result extends CurveResult>(
  settings: ResultSettings,
  terminal: Terminal,
  work: (tools: {
    readonly signal: AbortSignal;
    readonly onStage?: (stage: SearchStage) => void;
    line(text: string): void;
  }) => Promise<Result>,
): Promise<Result> {
  const { outputs, format } = settings;
  const formats = outputs.map(formatOf);
  return encodingRun(settings, outputs, terminal, async ({ files, signal, say, line, clear }) => {
    const result = await work({
      signal,
      ...(say && { onStage: (stage) => say(stageText(stage)) }),
      line: format === 'text' ? line : clear,
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
