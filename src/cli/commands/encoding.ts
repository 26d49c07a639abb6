/**
 * @module cli/commands/encoding
 * Shared by the commands that encode a source: options, output files, progress, and lines of points and results.
 */
import { usageError } from '../../core/errors.js';
import { counted, shown } from '../../core/printable.js';
import { localPath } from '../../files/file-url.js';
import {
  type EncoderChoice,
  type ParameterName,
  parseTarget,
  type SearchOptions,
  type SearchResult,
  type SearchStage,
  type ValueRange,
} from '../../index.js';
import { openProgressBar } from '../command.js';
import { interruptible } from '../exit.js';
import {
  choiceValue,
  HELP_OPTION,
  list,
  numberValue,
  type OptionUse,
  optionRows,
  orList,
  refusedValue,
  texts,
  unsignedValue,
} from '../options.js';
import { type OutputFile, openOutput } from '../output.js';
import type { Terminal } from '../terminal.js';

const PARAMETERS = [
  'crf',
  'cq',
  'qp',
  'global_quality',
  'bitrate',
] as const satisfies readonly ParameterName[];

const MAX_THREADS = 1024;

export const PIX_FMT_OPTION = optionRows({
  '--pix-fmt FORMAT': [
    "pixel format of the encode. Default: the source's",
    ({ value }) => ({ pixelFormat: value }),
  ],
});

export const ENCODER_OPTIONS = optionRows({
  '-e, --encoder NAME': [
    'encoder of the installed ffmpeg: libx264, libx265, libsvtav1, libaom-av1, libvpx-vp9 or another',
    ({ value }) => ({ encoder: value }),
  ],
  '--encoder-arg NAME=VALUE': [
    'option of the encoder, such as preset=slow. May be repeated',
    (use: OptionUse, { encoderOptions }: Pick<EncoderChoice, 'encoderOptions'>) => ({
      encoderOptions: withEncoderOption(encoderOptions, use),
    }),
  ],
  ...PIX_FMT_OPTION,
});

/** @param verb what is done with the parameter */
export function parameterOption(verb: string) {
  return optionRows({
    '--parameter NAME': [
      `parameter to ${verb}: ${orList(PARAMETERS)} (bits per second). Default: the encoder's scale of constant quality`,
      (use) => ({ parameter: choiceValue(use, PARAMETERS) }),
    ],
  });
}

export function valuesOption(argument: string, help: string) {
  return optionRows({ [`--values ${argument}` as const]: [help, (use) => ({ range: rangeValue(use) })] });
}

export function encodeOptions(help: string) {
  return optionRows({
    '--encode FILE': [help, ({ value }) => ({ output: value })],
    '--encode-missed': [
      'write the file of --encode even if it misses the target',
      () => ({ keepMissed: true }),
    ],
  });
}

/** @throws {AnyvmafError} `usage` for `--encode-missed` alone */
export function checkEncode({ output, keepMissed }: Pick<SearchOptions, 'output' | 'keepMissed'>): void {
  if (keepMissed && output === undefined)
    throw usageError('--encode-missed requires --encode; add it, or leave out --encode-missed');
}

export const TARGET_OPTION = optionRows({
  '--target BOUND': [
    '95, or as in --fail-under: p5>=90, worst_second>=85, psnr_y.mean>=40, cambi.max<=5. May be repeated. Default: 95',
    list('targets', ({ value }) => parseTarget(value)),
  ],
});

export const SCORING_OPTIONS = optionRows({
  '-m, --model MODEL': ['model to score with. May be repeated', texts('models')],
  '--feature FEATURE': ['further metric to measure. May be repeated', texts('features')],
});

export const WORK_OPTIONS = optionRows({
  '--cache DIR': [
    "where to cache measured points: a folder, or none. Default: the user's cache",
    ({ value }) => ({ cache: value === 'none' ? (false as const) : value }),
  ],
  '--max-temp GB': [
    'size limit of temporary files. Default: 8',
    (use) => ({ scratchBytes: gigabytesValue(use) * 1e9 }),
  ],
  '--threads N': ['worker threads of the scorer', (use) => ({ threads: unsignedValue(use, 4, MAX_THREADS) })],
});

export const FULL_OPTION = optionRows({
  '--full': ['encode the whole source for every point, not samples of it', () => ({ full: true })],
});

export const ENDING_OPTIONS = optionRows({
  '-q, --quiet': ['no progress on the terminal', () => ({ quiet: true })],
  ...HELP_OPTION,
});

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

function withEncoderOption(options: EncoderChoice['encoderOptions'], use: OptionUse): Record<string, string> {
  const equals = use.value.indexOf('=');
  if (equals > 0) return { ...options, [use.value.slice(0, equals)]: use.value.slice(equals + 1) };
  throw refusedValue(use, 'NAME=VALUE, such as preset=slow');
}

function gigabytesValue(use: OptionUse): number {
  const size = numberValue(use);
  if (size > 0) return size;
  throw refusedValue(use, 'a number of gigabytes above 0');
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
  const bar = openProgressBar(terminal, quiet);
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

const BAR = 24;
/** Columns of value, quality and rate. */
export const POINT = [10, 9, 9] as const;

/** Right-aligns texts in columns of fixed widths, for lines printed as they come. */
export function row(widths: readonly number[], texts: readonly (string | number)[]): string {
  return texts.map((text, i) => String(text).padStart(widths[i] ?? 0)).join(' ');
}

export function bar(share: number, width = BAR): string {
  return '#'.repeat(Math.round(Math.max(0, Math.min(1, share)) * width)).padEnd(width, '.');
}

/** `23`; bit rates as `3150 kb/s`. */
export function valueText(parameter: string, value: number): string {
  return parameter === 'bitrate' ? `${Math.round(value / 1000)} kb/s` : String(value);
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 1)} MB`;
}

export function pointsHead(parameter: string, metric: string): string {
  return row(POINT, [parameter, metric, 'kb/s']);
}

export function reachedText({ reached }: { readonly reached: boolean }): string {
  return reached ? 'which reaches the target' : 'which misses a target or bound';
}

/** The unwritten file and how to get it, warnings, and the number of encodes. */
export function endLines({
  unwritten,
  unfinished = null,
  warnings,
  encodes,
  cached,
}: Pick<SearchResult, 'unwritten' | 'warnings' | 'encodes' | 'cached'> &
  Partial<Pick<SearchResult, 'unfinished'>>): string[] {
  const missed = unfinished ? '' : ' because it misses a target or bound; --encode-missed writes it anyway';
  return [
    ...(unwritten === null ? [] : [`${shown(unwritten)} was not written${missed}.`]),
    ...warnings.map((text) => `Note: ${text}`),
    `${counted(encodes, 'encode')}, ${counted(cached, 'cached point')}.`,
  ];
}

export function stageText(stage: SearchStage): string {
  if (stage.kind === 'reading') return 'reading the source';
  if (stage.kind === 'finding') return `looking for cuts, frame ${stage.frames} of ${stage.total}`;
  if (stage.kind === 'cutting') return `cutting ${stage.samples} samples, ${stage.frames} frames`;
  const { kind, encoder, size, value, whole } = stage;
  const what = whole ? 'the whole source' : 'samples';
  return `${kind} ${what}${size ? ` in ${size.width}x${size.height}` : ''} with ${encoder} at ${value}${frameText(stage)}`;
}

export function frameText({ frames, total }: { readonly frames?: number; readonly total?: number }): string {
  return frames === undefined ? '' : `, frame ${frames} of ${total}`;
}
