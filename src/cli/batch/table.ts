/**
 * @module cli/batch/table
 * The settings and jobs of a batch: from a CSV or JSON lines table, or from names of encodes and a rule for references.
 */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { isObject } from '../../core/arguments.js';
import { ioError, messageOf, usageError } from '../../core/errors.js';
import { isUrl } from '../../core/names.js';
import { nearest } from '../../core/nearest.js';
import { quoted, shown, showValue } from '../../core/printable.js';
import { globTest } from '../../files/folders.js';
import { csvTable } from '../../files/text-file.js';
import { MOST_ATTEMPTS, MOST_PRIORITY, type PartLength } from '../../queue/job.js';
import {
  betweenValue,
  fileName,
  HELP_OPTION,
  type OptionSpec,
  type OptionUse,
  optionTable,
  RESULTS_OPTION,
  refusedValue,
  type SettingsOf,
} from '../options.js';
import { GITHUB_SUMMARY_OPTION, PRECISION_OPTION } from '../output-options.js';
import { SCORE_OPTIONS, type ScoreSettings, scoreSettings } from '../score-options.js';
import { YES_OPTION } from '../terminal.js';

const MOST_TOGETHER = 64;

/** Options of a whole batch. */
export const OWN_OPTIONS = optionTable({
  Batch: {
    '-o, --output FILE': [
      'append results to FILE, one line of JSON each; jobs that are in it are not scored again',
      (use) => ({ output: fileName(use) }),
    ],
    '--frames': [
      'also write values per frame as Parquet into the folder FILE.frames',
      () => ({ frames: true }),
    ],
    '--html FILE': ['also write an HTML page with all jobs', (use) => ({ html: namedFile(use) })],
    '--junit FILE': [
      'also write the checks as JUnit XML',
      (use) => ({ junit: namedFile(use) }),
      { ours: true },
    ],
    '--summary FILE': [
      'also write scores, checks and worst frames as Markdown',
      (use) => ({ summary: namedFile(use) }),
      { ours: true },
    ],
    ...GITHUB_SUMMARY_OPTION,
    '-r, --reference RULE': [
      'without a table: the reference of each encode, such as masters/{stem}.mov or {1}.mov',
      (use) => ({ reference: fileName(use) }),
    ],
    '--match REGEX': [
      'without a table: pattern that the path of each encode must match; {1} in RULE is its first group',
      (use) => ({ match: patternValue(use) }),
    ],
    '--together N': [
      'jobs of one reference that may run at the same time (default: one per core, at most 8)',
      (use) => ({ together: betweenValue(use, 4, 1, MOST_TOGETHER) }),
    ],
    '--retry-failed': ['score failed jobs again', () => ({ retryFailed: true })],
    ...PRECISION_OPTION,
    '-q, --quiet': ['no progress and no summary', () => ({ quiet: true })],
    ...YES_OPTION,
    ...HELP_OPTION,
  },
  Queue: {
    '--queue URL': [
      "submit the jobs to the queue at redis://HOST and wait for their results; see 'anyvmaf work --help'",
      ({ value }) => ({ queue: value }),
    ],
    ...RESULTS_OPTION,
    '--part-length LENGTH': [
      'split longer pairs into parts of this length, such as 60s (default) or 1500f (frames)',
      (use) => ({ partLength: lengthValue(use) }),
    ],
    '--priority N': [
      'from 1 (scored first) to 1000 (default: 100)',
      (use) => ({ priority: betweenValue(use, 10, 1, MOST_PRIORITY) }),
    ],
    '--attempts N': [
      'attempts at a pair or part that fails for a transient reason (default: 3)',
      (use) => ({ attempts: betweenValue(use, 3, 1, MOST_ATTEMPTS) }),
    ],
  },
});

type Given = Partial<SettingsOf<typeof OWN_OPTIONS>>;
type Completed = 'output' | 'frames' | 'githubSummary' | 'retryFailed' | 'precision' | 'quiet';

export interface BatchSettings extends Omit<Given, Completed>, Required<Pick<Given, Completed>> {
  /** A table, or folders, patterns and names of encodes. */
  readonly sources: readonly [string, ...string[]];
  /** Scoring options of every job. */
  readonly common: readonly LineOption[];
}

function namedFile(use: OptionUse): string {
  if (use.value === '-') throw refusedValue(use, 'the name of a file');
  return fileName(use);
}

function lengthValue(use: OptionUse): PartLength {
  const [, digits, unit] = /^(\d{1,7}(?:\.\d{1,3})?)([sf])$/.exec(use.value) ?? [];
  const length = Number(digits);
  const fits = unit === 'f' ? Number.isInteger(length) : length <= 86_400;
  if (length > 0 && fits) return { unit: unit === 'f' ? 'frames' : 'seconds', length };
  throw refusedValue(use, 'a time such as 60s, or frames such as 1500f');
}

function patternValue(use: OptionUse): RegExp {
  try {
    return new RegExp(use.value);
  } catch {
    throw refusedValue(use, "a regular expression, such as '([^/]+)_[0-9]+p'");
  }
}

/** Options of a whole batch, or without meaning for one line. */
const BATCH_ONLY: ReadonlySet<string> = new Set(
  (
    'distorted output xml json csv sub ndjson html baseline max-drop junit summary github-summary ' +
    'no-pictures html-size features-table live dashboard alarm allow also-model precision quiet shard yes help ' +
    'version c'
  ).split(' '),
);

/** Options that a line may set, and a batch for all lines. */
export const LINE_OPTIONS: readonly OptionSpec[] = SCORE_OPTIONS.filter(({ name }) => !BATCH_ONLY.has(name));

/** One use of an option; a flag has no value. The order counts: options of a tiny model follow it. */
export interface LineOption {
  readonly name: string;
  readonly value?: string;
}

export interface TableLine {
  /** First line of the entry, from 1. */
  readonly line: number;
  /** Absent with no_reference. */
  readonly reference?: string;
  readonly distorted: string;
  readonly options: readonly LineOption[];
  /** Names of options that it sets, be it to `false` or an empty list. */
  readonly own: readonly string[];
}

export interface Job {
  readonly line: number;
  /** The equivalent command line of scoring. */
  readonly args: readonly string[];
  readonly settings: ScoreSettings;
}

/** A job without a result yet. */
export interface OpenJob {
  readonly job: Job;
  readonly id: string;
}

const spelt = (name: string) => name.trim().toLowerCase().replaceAll('-', '_');

/**
 * Parses a table.
 * @param name file name: `.csv`, else JSON lines
 * @throws {AnyvmafError} `usage`, naming the line
 */
export function tableLines(text: string, name: string): readonly TableLine[] {
  const lines = /\.csv$/i.test(name) ? linesOfCsv(text, name) : linesOfJson(text, name);
  if (lines.length === 0) throw usageError(`${shown(name)} has no jobs: it is empty`);
  return lines;
}

function linesOfCsv(text: string, name: string): readonly TableLine[] {
  const list = shown(name);
  return csvTable(text, list).rows.map(({ entries, line }) => {
    const filled = entries.filter(([, value]) => value !== '');
    return lineOf(filled, line, `line ${line} of ${list}`);
  });
}

function linesOfJson(text: string, name: string): readonly TableLine[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((content, i) => {
      if (content.trim() === '') return [];
      const where = `line ${i + 1} of ${shown(name)}`;
      let value: unknown;
      try {
        value = JSON.parse(content);
      } catch (cause) {
        throw usageError(`${where} is not JSON; the name of a CSV table must end in .csv`, { cause });
      }
      if (!isObject(value)) throw usageError(`${where} is ${showValue(value)}, but it must be an object`);
      return [lineOf(Object.entries(value), i + 1, where)];
    });
}

function lineOf(entries: readonly (readonly [string, unknown])[], line: number, where: string): TableLine {
  const videos: { reference?: string; distorted?: string } = {};
  const options: LineOption[] = [];
  const own: string[] = [];
  for (const [column, value] of entries) {
    const key = spelt(column);
    if (key === 'reference' || key === 'distorted') {
      if (typeof value !== 'string' || value === '')
        throw usageError(`${key} in ${where} is ${showValue(value)}, but it must be the name of a file`);
      if (videos[key] !== undefined)
        throw usageError(`${where} names two ${key} videos; write a line for each pair`);
      videos[key] = value;
      continue;
    }
    const { name, values } = optionOf(column, value, where);
    if (!values) continue;
    own.push(name);
    for (const value of values) options.push(value === true ? { name } : { name, value: String(value) });
  }
  const { reference, distorted } = videos;
  if (distorted === undefined) throw usageError(`${where} names no distorted video`);
  return { line, distorted, options, own, ...(reference !== undefined && { reference }) };
}

/** The values of an option, `true` for a flag that is set; absent if nothing is set. */
function optionOf(
  column: string,
  value: unknown,
  where: string,
): { readonly name: string; readonly values?: readonly (string | number | true)[] } {
  const spec = LINE_OPTIONS.find(({ name }) => spelt(name) === spelt(column));
  if (!spec) {
    const names = ['reference', 'distorted', ...LINE_OPTIONS.map(({ name }) => name)];
    const near = nearest(spelt(column), names, spelt);
    throw usageError(
      `${where} has ${quoted(column)}, which is not an option of a pair` +
        `${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  }
  const { name } = spec;
  if (name === 'allow-url')
    throw usageError(
      `${where} has ${quoted(column)}, but only the command line may allow hosts; give --allow-url=HOST there`,
    );
  if (value === null || value === undefined) return { name };
  if (spec.argument === undefined) {
    const word = String(value).toLowerCase();
    if (['true', '1', 'yes'].includes(word)) return { name, values: [true] };
    if (['false', '0', 'no'].includes(word)) return { name, values: [] };
    throw usageError(`${name} in ${where} is ${showValue(value)}, but it must be true or false`);
  }
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const item of values) {
    if (typeof item === 'string' || typeof item === 'number') continue;
    throw usageError(`${name} in ${where} is ${showValue(item)}, but it must be a string or a number`);
  }
  return { name, values: values as readonly (string | number)[] };
}

/**
 * Parses each line as a command line of scoring; its options replace common ones of the same name.
 * @param table name, for messages
 * @param locate resolves the path of a video
 * @throws {AnyvmafError} `usage`, naming the line
 */
export function jobsOf(
  lines: readonly TableLine[],
  common: readonly LineOption[],
  table: string,
  locate: (path: string) => string,
): readonly Job[] {
  return lines.map(({ line, reference, distorted, options, own }) => {
    const remote = [reference ?? '', distorted].some(isUrl);
    const shared = common.filter(({ name }) => !own.includes(name) && (name !== 'allow-url' || remote));
    const args = [
      ...[...shared, ...options].map(({ name, value }) =>
        value === undefined ? `--${name}` : `--${name}=${value}`,
      ),
      ...(reference === undefined ? [] : [`--reference=${locate(reference)}`]),
      `--distorted=${locate(distorted)}`,
    ];
    const where = `line ${line} of ${shown(table)}`;
    let settings: ReturnType<typeof scoreSettings>;
    try {
      settings = scoreSettings(args);
    } catch (error) {
      throw usageError(`${where}: ${messageOf(error)}`, { cause: error });
    }
    if (typeof settings === 'string') throw usageError(`${where} asks for ${settings}`);
    if (settings.live)
      throw usageError(
        `${where} sets a time for --window, which is for live runs and not for a batch; leave it out`,
      );
    if ([settings.reference, ...settings.distorted].includes('-'))
      throw usageError(`${where} names standard input (-), which a batch cannot read again; name a file`);
    return { line, args, settings };
  });
}

/** Extensions of the videos taken from a folder. */
const VIDEOS: ReadonlySet<string> = new Set(
  '.mp4 .m4v .mov .mkv .webm .avi .ts .m2ts .mpg .mpeg .mxf .ivf .obu .264 .h264 .265 .hevc .y4m .yuv .wmv .flv .ogv'.split(
    ' ',
  ),
);

type ReferenceRule = Required<Pick<BatchSettings, 'reference'>> & Pick<BatchSettings, 'match'>;

/**
 * Returns the jobs in the order of the names. Folders are not searched recursively.
 * @throws {AnyvmafError} `io` for an unreadable folder; `usage` if nothing is found, or the rule does not fit
 */
export async function encodeLines(names: readonly string[], rule: ReferenceRule): Promise<TableLine[]> {
  const videos: string[] = [];
  for (const name of names) videos.push(...(await videosOf(name)));
  const pairs = [...new Set(videos)].map((distorted) => ({
    reference: referenceOf(distorted, rule),
    distorted,
  }));
  // A folder may hold the reference too.
  const encodes = pairs.filter(({ reference, distorted }) => resolve(reference) !== resolve(distorted));
  if (encodes.length === 0) throw usageError(`there are no videos in ${shown(names.join(', '))}`);
  return encodes.map((pair, i) => ({ line: i + 1, ...pair, options: [], own: [] }));
}

async function videosOf(name: string): Promise<readonly string[]> {
  if (isUrl(name)) return [name];
  if (/[*?]/.test(basename(name)) && !(await stat(name).catch(() => undefined))) {
    const matches = globTest(basename(name));
    return (await filesOf(dirname(name))).filter((path) => matches(basename(path)));
  }
  if (!(await stat(name).catch(() => undefined))?.isDirectory()) return [name];
  return (await filesOf(name)).filter(
    (path) => VIDEOS.has(extname(path).toLowerCase()) && !basename(path).startsWith('.'),
  );
}

async function filesOf(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink());
    return files.map(({ name }) => join(folder, name)).sort();
  } catch (cause) {
    throw ioError(`cannot read the folder "${shown(folder)}": ${messageOf(cause)}`, { cause });
  }
}

function referenceOf(distorted: string, { reference, match }: ReferenceRule): string {
  const groups = match?.exec(distorted);
  if (match && !groups)
    throw usageError(
      `${shown(distorted)} does not match ${shown(match.source)}, so its reference is unknown`,
    );
  return reference.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    switch (name) {
      case 'stem':
        return basename(distorted, extname(distorted));
      case 'name':
        return basename(distorted);
      case 'folder':
        return basename(dirname(distorted));
    }
    const group = /^[1-9]$/.test(name) ? groups?.[Number(name)] : undefined;
    if (group !== undefined) return group;
    throw usageError(
      `--reference has ${quoted(`{${name}}`)}, but only {stem}, {name}, {folder} and {1} to {9} for groups of ` +
        '--match are available',
    );
  });
}
