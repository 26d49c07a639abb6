/**
 * @module report/terminal
 * Text for a terminal: colours, widths, columns, cutting, wrapping, and the progress line.
 */
import { requireNumber, requireObject } from '../core/arguments.js';
import { counted } from '../core/printable.js';
import { formatFixed } from '../core/printf.js';

/** Styles text, or returns it as is without colour. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
}

export function paint(color: boolean): Paint {
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

export function aligned(texts: readonly string[], align: 'left' | 'right'): string[] {
  const width = widest(texts.map(columns));
  return texts.map((text) => pad(text, width, align));
}

/** Takes any number of widths, unlike `Math.max(...widths)`; 0 for none. */
export function widest(widths: readonly number[]): number {
  return widths.reduce((most, width) => Math.max(most, width), 0);
}

/** Rows as lines with aligned columns, two spaces apart, without empty columns. */
export function grid(rows: readonly (readonly string[])[], align: 'left' | 'right'): string[] {
  const count = widest(rows.map((row) => row.length));
  const filled = Array.from({ length: count }, (_, i) =>
    aligned(
      rows.map((row) => row[i] ?? ''),
      align,
    ),
  ).filter((column) => column[0] !== '');
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

// --- progress line ---

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
  const bar = Math.min(MAX_BAR, width - percent.length - GAP.length - joined(all).length - GAP.length);
  if (bar >= MIN_BAR) {
    const full = Math.floor(share * bar);
    return joined([percent, style.good('█'.repeat(full)) + style.dim('░'.repeat(bar - full)), ...all]);
  }
  return firstFitting([[percent, ...all], [percent, count, ...speed], [percent, count], [percent]], width);
}

const GAP = '  ';

function joined(parts: readonly string[]): string {
  return parts.join(GAP);
}

function firstFitting(choices: readonly (readonly string[])[], width: number): string {
  return choices.map(joined).find((line) => line.length <= width) ?? '';
}
