/**
 * @module report/sections
 * A result as data for every view: sections with a headline, table, lines, curves, command. Writes terminals;
 * report/view/sections writes HTML, report/step-summary Markdown.
 */
import { printable } from '../core/printable.js';
import { aligned, columns, cut, grid, type Paint, paint, wrap } from './terminal.js';

export type Tone = keyof Paint;

/** A text; or a name, path or command with a text after it. */
export type Cell = string | { readonly code: string; readonly text?: string };

export interface Table {
  readonly heads: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
  /**
   * The first column has names, which terminals cut if rows are too long: in the middle (`both` ends stay), at
   * the start (`end` stays), or so that they stay `apart`. Absent: all columns are numbers.
   */
  readonly names?: 'both' | 'end' | 'apart';
  /** Indices of further text columns; pages and Markdown align all others as numbers. */
  readonly texts?: readonly number[];
  /** By row. Markdown marks rows that are `good` or `warn`. */
  readonly tones?: readonly (Tone | undefined)[];
}

/** A sentence that may take several lines. */
export interface Line {
  readonly text: string;
  readonly tone?: Tone;
  /** Before the first line; further lines are indented as far. */
  readonly lead?: string;
  /** Lines at most; cut text ends in an ellipsis. */
  readonly most?: number;
}

export interface CurvePoint {
  /** Kilobits per second, above 0. */
  readonly kbps: number;
  readonly quality: number;
  /** Shown in the tooltip. */
  readonly label: string;
}

/** Points joined by a line, sorted by rate. */
export interface NamedCurve {
  readonly name: string;
  readonly points: readonly CurvePoint[];
}

export interface CurveSet {
  /** Name of the metric. */
  readonly quality: string;
  /** Range of the metric, if bounded. */
  readonly limits?: readonly [low: number, high: number];
  /** In the order of their colours. */
  readonly curves: readonly NamedCurve[];
  /** Drawn as a band beneath the curves. */
  readonly hull: readonly CurvePoint[];
  /** Drawn as rings with labels. */
  readonly chosen: readonly CurvePoint[];
  readonly target?: number;
}

/** Terminals show title, table and lines, if there is a table or lines; pages show all but lines. */
export interface Section {
  readonly title?: string;
  /** Heading of a page, with a line below it. */
  readonly headline?: string;
  readonly about?: string;
  readonly table?: Table;
  /** Terminals print strings as they are. */
  readonly lines?: readonly (string | Line)[];
  /** Drawn on pages only. */
  readonly curves?: CurveSet;
  readonly command?: string;
}

export interface Layout {
  /** In columns. */
  readonly width: number;
  readonly style: Paint;
  /** Columns before the rows of tables. Default 2. */
  readonly indent?: number;
}

export interface TerminalOptions {
  /** Columns of the terminal; fewer than 60 count as 60. Default 80. A long word may exceed it. */
  readonly width?: number;
  /** ANSI colours. Default false. */
  readonly color?: boolean;
}

export function layoutOf({ width = 80, color = false }: TerminalOptions): Layout {
  return { width: Math.max(60, width), style: paint(color) };
}

export function sectionsText(sections: readonly Section[], layout: Layout): string {
  return sections
    .map((section) => sectionLines(section, layout))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(''))
    .join('\n');
}

function sectionLines({ title, table, lines = [] }: Section, layout: Layout): string[] {
  const body = lines.flatMap((line) => (typeof line === 'string' ? [line] : lineTexts(line, layout)));
  if (table) return [...tableLines(table, layout, title), ...body];
  return body.length > 0 && title !== undefined ? [...heading(title, layout), ...body] : body;
}

function heading(title: string, { width, style }: Layout): string[] {
  return wrap(title, width).map(style.bold);
}

export function lineTexts({ text, tone, lead = '', most }: Line, { width, style }: Layout): string[] {
  const indent = columns(lead);
  const all = wrap(printable(text), width - indent - (most === undefined ? 0 : 2));
  const kept = most !== undefined && all.length > most ? all.slice(0, most) : all;
  return kept.map((part, i) => {
    const line = `${i === 0 ? lead : ' '.repeat(indent)}${part}`;
    const whole = i === kept.length - 1 && kept.length < all.length ? `${line} …` : line;
    return tone ? style[tone](whole) : whole;
  });
}

function tableLines(
  { heads, rows, names, tones = [] }: Table,
  layout: Layout,
  title: string | undefined,
): string[] {
  const { width, style, indent = 2 } = layout;
  const cells = [heads, ...rows].map((row) => row.map(cellText));
  const above = title === undefined ? [] : heading(title, layout);
  const lead = ' '.repeat(indent);
  const [head = '', ...lines] = grid(names ? cells.map((row) => row.slice(1)) : cells, 'right');
  const paintRow = (text: string, i: number) => {
    const tone = tones[i];
    return tone ? style[tone](text.trimEnd()) : text;
  };
  if (!names) return [...above, style.dim(lead + head), ...lines.map((line, i) => paintRow(lead + line, i))];
  const room = Math.max(12, width - columns(head) - indent - 2);
  const [over = '', ...labels] = shortened(
    cells.map(([name = '']) => name),
    room,
    names,
  ).map((name) => lead + name);
  // A title goes above the names if their column has no head and is wide enough, else above the table.
  const inside = title !== undefined && over.trim() === '' && columns(title) <= room + indent;
  const [first = '', ...others] = aligned([inside ? title : over, ...labels], 'left');
  return [
    ...(inside ? [`${style.bold(first)}  ${style.dim(head)}`] : [...above, style.dim(`${first}  ${head}`)]),
    ...lines.map((line, i) => paintRow(`${others[i]}  ${line}`, i)),
  ];
}

function cellText(cell: Cell): string {
  return printable(typeof cell === 'string' ? cell : cell.code + (cell.text ?? ''));
}

function shortened(
  names: readonly string[],
  room: number,
  keep: 'both' | 'end' | 'apart',
): readonly string[] {
  if (keep !== 'apart') return names.map((name) => cut(name, room, keep));
  const different = new Set(names).size;
  const short = (['both', 'end'] as const)
    .map((side) => names.map((name) => cut(name, room, side)))
    .find((list) => new Set(list).size === different);
  return short ?? names;
}
