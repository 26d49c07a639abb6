/**
 * @module cli/batch/table
 * Reads a table of jobs, CSV or JSON lines: each line is a pair with any option of scoring. Pure.
 */
import { isObject } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted, shown, showValue } from '../../core/printable.js';
import { csvLines } from '../csv.js';
import type { OptionSpec } from '../options.js';
import { SCORE_OPTIONS, type ScoreSettings, scoreSettings } from '../score-options.js';
import { isUrl } from '../table-options.js';

/** Options that are about a whole batch, or about nothing that a line decides. */
const NOT_OF_LINES: ReadonlySet<string> = new Set([
  'distorted',
  'output',
  'xml',
  'json',
  'csv',
  'sub',
  'ndjson',
  'html',
  'baseline',
  'max-drop',
  'junit',
  'summary',
  'github-summary',
  'no-pictures',
  'html-size',
  'live',
  'dashboard',
  'alarm',
  'allow',
  'precision',
  'quiet',
  'shard',
  'yes',
  'help',
  'version',
  'c',
]);

/** Options that a line may have, and a batch for all lines. */
export const LINE_OPTIONS: readonly OptionSpec[] = SCORE_OPTIONS.filter(
  ({ name }) => !NOT_OF_LINES.has(name),
);

/** An option with its values; a flag has none. */
export interface LineOption {
  readonly name: string;
  readonly values: readonly string[];
}

/** A pair of the table. */
export interface TableLine {
  /** Where it begins, from 1. */
  readonly line: number;
  /** Absent with no_reference. */
  readonly reference?: string;
  readonly distorted: string;
  readonly options: readonly LineOption[];
}

/** A line that was understood. */
export interface Job {
  readonly line: number;
  /** The command line that it stands for. */
  readonly args: readonly string[];
  readonly settings: ScoreSettings;
}

/** A job to score. */
export interface OpenJob {
  readonly job: Job;
  readonly id: string;
}

const spelt = (name: string) => name.trim().toLowerCase().replaceAll('-', '_');

/**
 * The lines of a table.
 * @param name of the file: `.csv`, else JSON lines
 * @throws {AnyvmafError} `usage`, naming the line
 */
export function tableLines(text: string, name: string): readonly TableLine[] {
  const lines = /\.csv$/i.test(name) ? linesOfCsv(text, name) : linesOfJson(text, name);
  if (lines.length === 0) throw usageError(`${shown(name)} has no jobs: it is empty`);
  return lines;
}

function linesOfCsv(text: string, name: string): readonly TableLine[] {
  const [head, ...records] = csvLines(text, name);
  const columns = head?.fields ?? [];
  return records.map(({ fields, line }) => {
    const where = `line ${line} of ${shown(name)}`;
    if (fields.length !== columns.length) {
      throw usageError(
        `${where} has ${fields.length} fields, but the first line names ${columns.length} columns`,
      );
    }
    const entries = columns.map((column, i) => [column, fields[i]?.trim() ?? ''] as const);
    return lineOf(
      entries.filter(([, value]) => value !== ''),
      line,
      where,
    );
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
        throw usageError(`${where} is not JSON; a table that is CSV needs the ending .csv`, { cause });
      }
      if (!isObject(value)) throw usageError(`${where} is ${showValue(value)}, but it must be an object`);
      return [lineOf(Object.entries(value), i + 1, where)];
    });
}

function lineOf(entries: readonly (readonly [string, unknown])[], line: number, where: string): TableLine {
  const videos: { reference?: string; distorted?: string } = {};
  const options: LineOption[] = [];
  for (const [column, value] of entries) {
    const key = spelt(column);
    if (key === 'reference' || key === 'distorted') {
      if (typeof value !== 'string' || value === '') {
        throw usageError(`${key} in ${where} is ${showValue(value)}, but it must be the name of a file`);
      }
      videos[key] = value;
      continue;
    }
    const option = optionOf(column, value, where);
    if (option) options.push(option);
  }
  const { reference, distorted } = videos;
  if (distorted === undefined) throw usageError(`${where} names no distorted video`);
  return { line, distorted, options, ...(reference !== undefined && { reference }) };
}

function optionOf(column: string, value: unknown, where: string): LineOption | undefined {
  const spec = LINE_OPTIONS.find(({ name }) => spelt(name) === spelt(column));
  if (!spec) {
    const names = ['reference', 'distorted', ...LINE_OPTIONS.map(({ name }) => name)];
    const near = nearest(spelt(column), names, spelt);
    throw usageError(
      `${where} has ${quoted(column)}, which is no option of a pair${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  }
  const { name } = spec;
  if (name === 'allow-url') {
    throw usageError(
      `${where} has ${quoted(column)}, but whoever runs a batch decides what it may fetch; give --allow-url=HOST on the command line`,
    );
  }
  if (value === null || value === undefined) return undefined;
  if (spec.argument === undefined) {
    const said = String(value).toLowerCase();
    if (['true', '1', 'yes'].includes(said)) return { name, values: [] };
    if (['false', '0', 'no'].includes(said)) return undefined;
    throw usageError(`${name} in ${where} is ${showValue(value)}, but it must be true or false`);
  }
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const one of values) {
    if (typeof one === 'string' || typeof one === 'number') continue;
    throw usageError(`${name} in ${where} is ${showValue(one)}, but it must be a text or a number`);
  }
  return { name, values: values.map(String) };
}

/**
 * Reads the lines as command lines of scoring. A line's options replace common ones of the same name.
 * @param table name of the table, for messages
 * @param locate finds a video of the table
 * @throws {AnyvmafError} `usage`, naming the line
 */
export function jobsOf(
  lines: readonly TableLine[],
  common: readonly LineOption[],
  table: string,
  locate: (path: string) => string,
): readonly Job[] {
  return lines.map(({ line, reference, distorted, options }) => {
    const own = new Set(options.map(({ name }) => name));
    const remote = [reference ?? '', distorted].some(isUrl);
    const shared = common.filter(({ name }) => !own.has(name) && (name !== 'allow-url' || remote));
    const all = [...shared, ...options];
    const args = [
      ...all.flatMap(({ name, values }) =>
        values.length === 0 ? [`--${name}`] : values.map((value) => `--${name}=${value}`),
      ),
      ...(reference === undefined ? [] : [`--reference=${locate(reference)}`]),
      `--distorted=${locate(distorted)}`,
    ];
    const where = `line ${line} of ${shown(table)}`;
    let settings: ReturnType<typeof scoreSettings>;
    try {
      settings = scoreSettings(args);
    } catch (error) {
      throw usageError(`${where}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
    if (typeof settings === 'string') throw usageError(`${where} asks for ${settings}`);
    if (settings.live) {
      throw usageError(
        `${where} keeps only a window of its frames, but jobs of a batch are not watched; leave it out`,
      );
    }
    if ([settings.reference, ...settings.distorted].includes('-')) {
      throw usageError(`${where} names standard input (-), which a batch cannot read again; name a file`);
    }
    return { line, args, settings };
  });
}
