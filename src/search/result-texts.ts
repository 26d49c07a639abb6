/**
 * @module search/result-texts
 * Results of searches, ladders and comparisons as tables for a terminal, and as CSV of all points.
 */
import { printable } from '../core/printable.js';
import { cut } from '../report/terminal.js';
import type { CurveResult } from './curve-view.js';
import { ALL_POINTS, type ResultTable, resultTables } from './result-tables.js';

/** The tables of a result, but that of all points. */
export function textOf(result: CurveResult): string {
  const tables = resultTables(result).filter(({ title }, i) => i === 0 || title !== ALL_POINTS);
  return tables.map((table) => `${table.title}\n${alignedTable(table)}`).join('\n');
}

/** Columns of a terminal. */
const WIDTH = 80;

/** Columns two spaces apart, the first to the left, its cells cut where lines are too long, and all others to the right. */
function alignedTable({ heads, rows }: ResultTable): string {
  const all = [heads, ...rows];
  const widths = heads.map((_, i) => Math.max(...all.map((row) => printable(row[i] ?? '').length)));
  const others = widths.slice(1).reduce((sum, width) => sum + 2 + width, 2);
  const first = Math.min(widths[0] ?? 0, Math.max(12, WIDTH - others));
  const names = [...new Set(all.map(([name = '']) => printable(name)))];
  // Its middle goes, else its beginning, as long as names stay apart; else lines are longer.
  const keep = (['both', 'end'] as const).find(
    (side) => new Set(names.map((name) => cut(name, first, side))).size === names.length,
  );
  const shortened = (name: string) => (keep === undefined ? name : cut(name, first, keep));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) =>
        i === 0 ? shortened(printable(cell)).padEnd(first) : printable(cell).padStart(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return all.map((row) => `  ${line(row)}\n`).join('');
}

type Row = readonly (string | number | boolean | null)[];

/** Every point in a row. */
export function csvOf(result: CurveResult): string {
  return [...rowsOf(result)].map((row) => `${row.map(field).join(',')}\n`).join('');
}

/** A head, and a row for each point. */
function* rowsOf(result: CurveResult): Generator<Row> {
  const common = ['bytes', 'kbps', 'quality', 'frames_per_second'];
  const values = (point: CurveResultPoint): Row => [
    point.bytes,
    point.kbps,
    point.quality,
    point.framesPerSecond,
  ];
  if (result.kind === 'search') {
    yield [result.parameter, ...common, 'margin'];
    for (const point of result.points) yield [point.value, ...values(point), point.margin];
  } else if (result.kind === 'ladder') {
    yield ['width', 'height', result.parameter, ...common, 'hull', 'rung'];
    for (const point of result.curves.flatMap(({ points }) => points)) {
      const same = (one: (typeof result.hull)[number]) =>
        one.width === point.width && one.height === point.height && one.value === point.value;
      const rung = result.rungs.findIndex(same);
      const place = [result.hull.some(same), rung < 0 ? null : rung + 1];
      yield [point.width, point.height, point.value, ...values(point), ...place];
    }
  } else {
    yield ['name', 'encoder', 'parameter', 'value', ...common];
    for (const { name, encoder, parameter, points } of result.curves)
      for (const point of points) yield [name, encoder, parameter, point.value, ...values(point)];
  }
}

interface CurveResultPoint {
  readonly bytes: number;
  readonly kbps: number;
  readonly quality: number;
  readonly framesPerSecond: number | null;
}

/** Quoted where it must be. What a spreadsheet would take for a formula becomes text. */
function field(value: Row[number]): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
