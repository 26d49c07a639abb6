/**
 * @module report/sections
 * A result as data for every view: sections with a headline, table, lines, curves, command. Writes terminals, with
 * colours, widths, columns and the progress line; report/view/sections writes HTML, report/ci Markdown.
 */
import { requireNumber, requireObject } from '../core/arguments.js';
import { formatFixed } from '../core/numbers.js';
import { counted, printable } from '../core/printable.js';

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

export interface CurveSet {
  /** Name of the metric. */
  readonly quality: string;
  /** Range of the metric, if bounded. */
  readonly limits?: readonly [low: number, high: number];
  /** In the order of their colours; points sorted by rate. */
  readonly curves: readonly { readonly name: string; readonly points: readonly CurvePoint[] }[];
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
  const shown = most !== undefined && all.length > most ? all.slice(0, most) : all;
  return shown.map((part, i) => {
    const ellipsis = i === shown.length - 1 && shown.length < all.length ? ' …' : '';
    const line = `${i === 0 ? lead : ' '.repeat(indent)}${part}${ellipsis}`;
    return tone ? style[tone](line) : line;
  });
}

function tableLines({ heads, rows, names, tones = [] }: Table, layout: Layout, title?: string): string[] {
  const { width, style, indent = 2 } = layout;
  const cells = [heads, ...rows].map((row) => row.map(cellText));
  const above = title === undefined ? [] : heading(title, layout);
  const lead = ' '.repeat(indent);
  const [head = '', ...lines] = grid(names ? cells.map((row) => row.slice(1)) : cells);
  const paintRow = (text: string, i: number) => {
    const tone = tones[i];
    return tone ? style[tone](text.trimEnd()) : text;
  };
  if (!names) return [...above, style.dim(lead + head), ...lines.map((line, i) => paintRow(lead + line, i))];
  const room = Math.max(12, width - columns(head) - indent - 2);
  const texts = cells.map(([name = '']) => name);
  const [over = '', ...labels] = shorten(texts, room, names).map((name) => lead + name);
  // A title goes above the names if their column has no head and is wide enough, else above the table.
  const inside = title !== undefined && over.trim() === '' && columns(title) <= room + indent;
  const [first = '', ...others] = aligned([inside ? title : over, ...labels]);
  return [
    ...(inside ? [`${style.bold(first)}  ${style.dim(head)}`] : [...above, style.dim(`${first}  ${head}`)]),
    ...lines.map((line, i) => paintRow(`${others[i]}  ${line}`, i)),
  ];
}

function cellText(cell: Cell): string {
  return printable(typeof cell === 'string' ? cell : cell.code + (cell.text ?? ''));
}

function shorten(names: readonly string[], room: number, keep: 'both' | 'end' | 'apart'): readonly string[] {
  if (keep !== 'apart') return names.map((name) => cut(name, room, keep));
  const different = new Set(names).size;
  const short = (['both', 'end'] as const)
    .map((side) => names.map((name) => cut(name, room, side)))
    .find((list) => new Set(list).size === different);
  return short ?? names;
}

/** Styles text, or returns it as is without colour. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
}

function paint(color: boolean): Paint {
  const style = (on: number, off: number) => (text: string) =>
    color ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { bold: style(1, 22), dim: style(2, 22), good: style(32, 39), warn: style(33, 39) };
}

const WIDE =
  /(?![\uff61-\uffdc])[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;
const ZERO = /\p{M}|\u200d|\ufe0f/u;

/** Columns that text takes: two for East Asian characters and emoji, none for combining marks. */
export function columns(text: string): number {
  let width = 0;
  for (const c of text) width += ZERO.test(c) ? 0 : WIDE.test(c) ? 2 : 1;
  return width;
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, width - columns(text)));
  return align === 'left' ? text + blanks : blanks + text;
}

export function aligned(texts: readonly string[], align: 'left' | 'right' = 'left'): string[] {
  const width = widest(texts.map(columns));
  return texts.map((text) => pad(text, width, align));
}

/** Takes any number of widths, unlike `Math.max(...widths)`; 0 for none. */
export function widest(widths: readonly number[]): number {
  return widths.reduce((most, width) => Math.max(most, width), 0);
}

/** Rows as lines with aligned columns, two spaces apart, without empty columns. */
export function grid(rows: readonly (readonly string[])[], align: 'left' | 'right' = 'right'): string[] {
  const length = widest(rows.map((row) => row.length));
  const texts = Array.from({ length }, (_, i) => rows.map((row) => row[i] ?? ''));
  const filled = texts.map((column) => aligned(column, align)).filter((column) => column[0] !== '');
  return rows.map((_, i) => filled.map((column) => column[i]).join('  '));
}

/** Cuts text to a width, keeping its `end` (paths) or `both` ends (names). */
export function cut(text: string, width: number, keep: 'end' | 'both'): string {
  if (columns(text) <= width) return text;
  if (width < 1) return '';
  const characters = [...text];
  const head = keep === 'both' ? take(characters, Math.ceil((width - 1) / 2)) : '';
  const tail = take(characters.reverse(), width - 1 - columns(head));
  return `${head}…${[...tail].reverse().join('')}`;
}

function take(characters: readonly string[], width: number): string {
  let result = '';
  for (const c of characters) {
    if (columns(result) + columns(c) > width) break;
    result += c;
  }
  return result;
}

/** Breaks text at spaces into lines of at most `width` columns; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && columns(line) + 1 + columns(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines;
}

/** `0:07`, `12:34`, `1:02:03`; with decimals `0:07.25`. Not for negative times. */
export function clock(seconds: number, decimals = 0): string {
  const unit = 10 ** decimals;
  const ticks = Math.round(seconds * unit);
  const whole = Math.floor(ticks / unit);
  const fraction = decimals > 0 ? `.${String(ticks % unit).padStart(decimals, '0')}` : '';
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const two = (n: number) => String(n).padStart(2, '0');
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}${fraction}`;
}

/** Input of {@link formatProgress}, such as the `Progress` of a run. */
export interface ProgressView {
  /** Frame pairs measured so far. */
  readonly framesDone: number;
  /** Frame pairs in all; `null` while unknown. */
  readonly framesTotal: number | null;
  /** Frame pairs per second so far. */
  readonly fps: number;
  /** Estimated seconds left; `null` while unknown. */
  readonly secondsLeft: number | null;
}

export interface ProgressOptions {
  /** Columns of the terminal, which the line never exceeds. Default 80. */
  readonly width?: number;
  /** ANSI colours. Default false. */
  readonly color?: boolean;
}

const MIN_BAR = 8;
const MAX_BAR = 40;

/**
 * Returns `  42% ████████░░░░░░░░░░░  420/1000 frames   35.2 fps   0:16 left`, without a line end. The bar
 * takes the remaining width; a narrow terminal drops the bar, then time, then speed. With an unknown total
 * there is neither percentage nor bar.
 */
export function formatProgress(progress: ProgressView, options: ProgressOptions = {}): string {
  requireObject('progress', progress, 'the progress passed to onProgress');
  requireObject('options', options);
  const { width = 80, color = false } = options;
  const { framesDone, framesTotal, fps, secondsLeft } = progress;
  requireNumber('framesDone', framesDone);
  if (framesTotal !== null) requireNumber('framesTotal', framesTotal, 'a number or null');
  const style = paint(color);
  const speed = Number.isFinite(fps) ? [`${formatFixed(fps, 1).padStart(6)} fps`] : [];
  if (framesTotal === null)
    return firstFitting([[counted(framesDone, 'frame'), ...speed], [counted(framesDone, 'frame')]], width);
  const share = framesTotal > 0 ? Math.min(1, framesDone / framesTotal) : 1;
  // Rounded down, so that 100 % means done.
  const percent = `${String(Math.floor(share * 100)).padStart(3)}%`;
  const count = `${String(framesDone).padStart(String(framesTotal).length)}/${counted(framesTotal, 'frame')}`;
  const left =
    secondsLeft !== null && Number.isFinite(secondsLeft) ? [`${clock(secondsLeft).padStart(6)} left`] : [];
  const all = [count, ...speed, ...left];
  const bar = Math.min(MAX_BAR, width - percent.length - GAP.length - all.join(GAP).length - GAP.length);
  if (bar >= MIN_BAR) {
    const full = Math.floor(share * bar);
    const drawn = style.good('█'.repeat(full)) + style.dim('░'.repeat(bar - full));
    return [percent, drawn, ...all].join(GAP);
  }
  return firstFitting([[percent, ...all], [percent, count, ...speed], [percent, count], [percent]], width);
}

const GAP = '  ';

function firstFitting(choices: readonly (readonly string[])[], width: number): string {
  return choices.map((parts) => parts.join(GAP)).find((line) => line.length <= width) ?? '';
}
