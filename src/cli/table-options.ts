/**
 * @module cli/table-options
 * Flags, help and parsing of the options in core/options. Pure.
 */
import { usageError } from '../core/errors.js';
import { type FrameRange, formatRange } from '../core/frame.js';
import { isUrl } from '../core/names.js';
import { OPTION_WORDS, type OptionWords, wordsOf } from '../core/option-words.js';
import { OPTIONS, type OptionKind, type OptionName, type OptionRow } from '../core/options.js';
import { quoted } from '../core/printable.js';
import { checkSamples } from '../core/sampling.js';
import { formatSize, parseSize, type ScaleTo } from '../core/size.js';
import type { PairingOptions, Samples, ScoreOptions } from '../index.js';
import {
  choiceValue,
  type Draft,
  maskValue,
  type Option,
  type OptionUse,
  refusedValue,
  secondsValue,
  unsigned,
  unsignedValue,
} from './options.js';

export type OptionsDraft = Draft<ScoreOptions>;

export interface TableSettings {
  readonly options: OptionsDraft;
}

function rowOf(name: OptionName): OptionRow {
  return OPTIONS[name];
}

/** @param before the option's value so far */
type ValueReader = (use: OptionUse, row: OptionRow, words: OptionWords, before: unknown) => unknown;

/** Readers by kind of option. Other kinds need more than a value. */
const READERS: Readonly<Partial<Record<OptionKind, ValueReader>>> = {
  flag: (_use, _row, { negative = false }) => !negative,
  choice: (use, { of = [] }) => choiceValue(use, of),
  crop: (use, { of = [] }) => choiceValue(use, of),
  count: countValue,
  mask: maskValue,
  seconds: secondsValue,
  text: (use) => use.value,
  rate: (use) => use.value,
  area: areaValue,
  program: programValue,
  size: sizeValue,
  offset: offsetValue,
  range: rangeValue,
  samples: samplesValue,
  hosts: (use, _row, _words, before) => withHost(use, before),
};

/** `undefined` for an option whose kind has no reader. */
export function tableReader(name: OptionName): Option<TableSettings>['read'] {
  const read = READERS[rowOf(name).kind];
  if (!read) return undefined;
  return (use, { options = {} }) => {
    const before: Partial<Record<OptionName, unknown>> = options;
    return { options: { ...options, [name]: read(use, rowOf(name), wordsOf(name), before[name]) } };
  };
}

export function optionsUnder(heading: OptionWords['heading']): readonly Option<TableSettings>[] {
  const names = Object.keys(OPTION_WORDS) as OptionName[];
  return names.flatMap((name) => {
    const { flag, short, argument, help = '', vmaf, heading: group } = wordsOf(name);
    if (group !== heading) return [];
    const optional = rowOf(name).kind === 'hosts' ? isHost : undefined;
    return { name: flag, short, argument, optional, help, ours: !vmaf, group, read: tableReader(name) };
  });
}

/** Decoder, size, rate, offset, range, filters. */
export const PAIRING_OPTIONS = optionsUnder(OPTION_WORDS.scale.heading);

/** Pairing options that change neither which pictures are compared nor their maps. */
const OF_SCORES: readonly string[] = ['strict', 'no-preflight'];

/** Options that decide which pictures a frame number names. */
export const LOOK_OPTIONS: readonly Option<TableSettings>[] = [
  ...optionsUnder('Input').filter(({ name }) => name.startsWith('frame_skip')),
  ...PAIRING_OPTIONS.filter(({ name }) => !OF_SCORES.includes(name)),
];

/** {@link LOOK_OPTIONS} as arguments: `--range=10s-12s`. */
export function lookArguments(options: ScoreOptions): readonly string[] {
  return (Object.entries(options) as [OptionName, unknown][]).flatMap(([name, value]) => {
    const { flag } = wordsOf(name);
    if (value === undefined || value === false || !LOOK_OPTIONS.some((option) => option.name === flag))
      return [];
    if (value === true) return [`--${flag}`];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map(
      (one) => `--${flag}=${name === 'range' ? formatRange(one as FrameRange) : formatSize(one)}`,
    );
  });
}

/** Extensions of files that could pass for a host: `--allow-url ref.mp4 dis.mp4` names none. */
const FILES =
  /\.(?:mp4|m4v|mov|mkv|webm|avi|m?ts|m2ts|mpe?g|mxf|ivf|obu|264|h264|265|hevc|av1|y4m|yuv|wmv|flv|ogv|gif|png|jpe?g|csv|jsonl|ndjson|json|xml|html?)$/i;

/** True if an argument after `--allow-url` is its host: a name with a dot, an address, or anything with a port. */
function isHost(text: string): boolean {
  if (/^\[[\da-f:.]+\](?::\d+)?$/i.test(text) || /^[\da-f.:]+\/\d+$/i.test(text)) return true;
  const [, name = '', port] = /^((?:\*\.)?[a-z\d_-]+(?:\.[a-z\d_-]+)*\.?)(:\d+)?$/i.exec(text) ?? [];
  if (port !== undefined || name.toLowerCase() === 'localhost') return name !== '';
  return name.includes('.') && !FILES.test(name);
}

/** Adds a host; `true` fetches any URL, unchecked. */
function withHost({ label, value }: OptionUse, before: unknown): true | readonly string[] {
  if ((value === '') === (typeof before === 'object') && before !== undefined)
    throw usageError(
      `${label} is given with a host and without one; with hosts nothing else is fetched, so leave out one of the two`,
    );
  if (value === '') return true;
  return [...(Array.isArray(before) ? before : []), value];
}

/**
 * Returns the allowed hosts, `undefined` if none is named.
 * @throws {AnyvmafError} `usage` if no name is a URL: a host may be meant as a file
 */
export function hostsOf({ allowUrl }: PairingOptions, names: readonly (string | undefined)[]) {
  if (typeof allowUrl !== 'object') return undefined;
  if (names.some((name) => name !== undefined && isUrl(name))) return allowUrl;
  throw usageError(
    `--allow-url names ${quoted(allowUrl[0] ?? '')}, but nothing here is a URL; leave it out, or, if that is a file, put ` +
      '--allow-url after the videos',
  );
}

/** @throws {AnyvmafError} `usage` for conflicting options */
export function checkPairingOptions(options: PairingOptions): void {
  if (options.window !== undefined && options.offset !== 'auto')
    throw usageError('--window requires --offset auto; add that, or leave out --window');
  if (options.crop && (options.cropReference ?? options.cropDistorted) !== undefined)
    throw usageError('--crop auto finds the crop, but --crop-ref or --crop-dis sets it; leave out one');
  if (options.strict && options.preflight === false)
    throw usageError('--strict requires preflight, but --no-preflight turns it off; leave out one');
}

/** `ref`, `dis` or `1920x1080`. */
function sizeValue(use: OptionUse): ScaleTo {
  if (use.value === 'ref' || use.value === 'dis') return use.value;
  const size = parseSize(use.value);
  if (size) return size;
  throw refusedValue(use, 'ref, dis or a size such as 1920x1080');
}

function programValue(use: OptionUse): string {
  if (use.value !== '') return use.value;
  throw usageError(`${use.label} is empty, but it must name a program`);
}

/** `1920:800:0:140`, `1920:800`. */
function areaValue(use: OptionUse): string {
  if (/^\d{1,5}:\d{1,5}(?::\d{1,5}:\d{1,5})?$/.test(use.value)) return use.value;
  throw refusedValue(use, 'WIDTH:HEIGHT:X:Y in samples, such as 1920:800:0:140');
}

/** A whole number of frames with or without a sign, or `auto`. */
function offsetValue(use: OptionUse): number | 'auto' {
  if (use.value === 'auto') return 'auto';
  const [, sign, digits] = /^([-+]?)(.*)$/.exec(use.value) ?? [];
  const frames = unsigned(digits ?? '');
  if (frames !== undefined && frames <= 1e9) return sign === '-' ? -frames : frames;
  throw refusedValue(use, 'a whole number of frames, such as 12 or -3, or auto');
}

/** `auto`, `8x4s`. */
function samplesValue(use: OptionUse): Samples {
  if (use.value === 'auto') return 'auto';
  const [, runs, seconds] = /^(\d{1,4})x(\d{1,4}(?:\.\d{1,3})?)s$/i.exec(use.value) ?? [];
  const sizes = { runs: Number(runs), seconds: Number(seconds) };
  try {
    checkSamples(sizes);
    return sizes;
  } catch {
    throw refusedValue(
      use,
      'auto, or an even number of runs, at least 4, and the seconds of each, such as 8x4s',
    );
  }
}

function countValue(
  use: OptionUse,
  { least = 0, most }: OptionRow,
  { example = 0, unit }: OptionWords,
): number {
  const number = unsignedValue(use, example, least > 0 ? undefined : most);
  if (number >= least && number <= (most ?? number)) return number;
  throw refusedValue(use, `from ${least} to ${most}${unit ? ` ${unit}` : ''}`);
}

/**
 * `240-480`, `1:30-2:00`, `10s-12.5s`, `10-12.5s`, `1:30-`, `-200`. The end is exclusive. A unit on one side holds for
 * both; without any, whole numbers are frames.
 */
function rangeValue(use: OptionUse): FrameRange {
  const [, from = '', to = ''] = /^([^-]*)-([^-]*)$/.exec(use.value.trim()) ?? [];
  const [start, end] = [from.trim(), to.trim()].map((text) => (text === '' ? null : bound(text)));
  if (start === undefined || end === undefined || (start === null && end === null))
    throw usageError(
      `${use.label} is ${quoted(use.value)}, but it must be a range of frames such as 240-480, or of time such as ` +
        '1:30-2:00 or 10s-12.5s; one end may be left out',
    );
  const seconds = start?.seconds === true || end?.seconds === true;
  const range: FrameRange = {
    unit: seconds ? 'seconds' : 'frames',
    start: start?.value ?? 0,
    ...(end && { end: end.value }),
  };
  if (range.end !== undefined && range.end <= range.start)
    throw usageError(
      `${use.label} is ${quoted(use.value)}, which is empty: its end must come after its start`,
    );
  return range;
}

/** `90`, `90s`, `1.5`, `1:30`, `1:02:03.5`; `undefined` for anything else. */
function bound(text: string): { readonly value: number; readonly seconds: boolean } | undefined {
  if (/^\d{1,12}$/.test(text)) return { value: Number(text), seconds: false };
  const [, clock, plain] = /^(?:((?:\d+:)?\d+:\d{1,2}(?:\.\d+)?)|(\d+(?:\.\d+)?)s?)$/.exec(text) ?? [];
  if (plain !== undefined) return { value: Number(plain), seconds: true };
  if (clock === undefined) return undefined;
  const parts = clock.split(':').map(Number);
  if (parts.slice(1).some((part) => part >= 60)) return undefined;
  return { value: parts.reduce((sum, part) => sum * 60 + part, 0), seconds: true };
}
