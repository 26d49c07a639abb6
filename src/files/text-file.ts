/**
 * @module files/text-file
 * Reads text files that the user named, and CSV tables with line numbers.
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { ioError, usageError } from '../core/errors.js';
import { hasScheme } from '../core/names.js';
import { shown } from '../core/printable.js';
import { fileError } from './checked-file.js';

/** Most bytes of a report, or of the record of one part of a pair. */
export const MOST_REPORT_BYTES = 400 * 1024 * 1024;

/** @throws {AnyvmafError} `io` if it cannot be read, or has more than `most` bytes */
export async function readText(name: string, most = MOST_REPORT_BYTES): Promise<string> {
  try {
    const { size } = await stat(name);
    if (size > most) throw ioError(`${shown(name)} has ${size} bytes, more than the ${most} that are read.`);
    return await readFile(name, 'utf8');
  } catch (cause) {
    throw fileError(name, cause);
  }
}

/** Returns a function that resolves names in a list: relative to its folder, except URLs. */
export function besideList(list: string): (name: string) => string {
  return (name) => (isAbsolute(name) || hasScheme(name) ? name : join(dirname(list), name));
}

interface CsvLine {
  readonly fields: readonly string[];
  /** First line of the record, from 1. */
  readonly line: number;
}

/** Parses CSV; skips empty records. @param list for messages @throws {AnyvmafError} `usage` for misplaced quotes */
function csvLines(text: string, list: string): CsvLine[] {
  const records: CsvLine[] = [];
  let fields: string[] = [];
  let line = 1;
  let start = 1;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length) {
    const found = csvField(text, at);
    if (!found) throw usageError(`line ${line} of ${list} is not CSV: check its quotation marks`);
    const { value, end, next } = found;
    fields.push(value);
    line += text.slice(at, next).split(/\r\n|\n|\r/).length - 1;
    at = next;
    if (end === ',') {
      if (at === text.length) fields.push('');
      else continue;
    }
    if (fields.some((value) => value.trim() !== '')) records.push({ fields, line: start });
    fields = [];
    start = line;
  }
  return records;
}

/** Parses CSV with a header. @throws {AnyvmafError} `usage` as {@link csvLines}, and for a ragged record */
export function csvTable(text: string, list: string) {
  const [head, ...records] = csvLines(text, list);
  const columns = head?.fields ?? [];
  const rows = records.map(({ fields, line }) => {
    if (fields.length === columns.length)
      return { line, entries: columns.map((column, i) => [column, fields[i]?.trim() ?? ''] as const) };
    throw usageError(
      `line ${line} of ${list} has ${fields.length} fields, but the first line names ${columns.length} columns`,
    );
  });
  return { columns, rows };
}

/** Parses the field at `at`: `end` is its separator, `next` the start of the next field; `undefined` if malformed. */
function csvField(text: string, at: number): { value: string; end: string; next: number } | undefined {
  let stop = at;
  let value: string;
  if (text[at] === '"') {
    do stop = text.indexOf('"', stop + 1) + 1;
    while (stop > 0 && text[stop] === '"');
    if (stop === 0) return undefined;
    value = text.slice(at + 1, stop - 1).replaceAll('""', '"');
  } else {
    while (stop < text.length && !'",\r\n'.includes(text.charAt(stop))) stop++;
    value = text.slice(at, stop);
  }
  const end = text.startsWith('\r\n', stop) ? '\r\n' : text.charAt(stop);
  return end === '' || ',\r\n'.includes(end) ? { value, end, next: stop + end.length } : undefined;
}
