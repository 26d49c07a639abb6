/**
 * @module cli/help
 * Lays out help pages and other two-column text for a terminal.
 */
import { wrap } from '../report/terminal.js';
import type { OptionSpec } from './options.js';

/** The help of a command. */
export interface HelpPage {
  /** Command lines, one per way to call it. */
  readonly usage: readonly string[];
  /** What it does, in a sentence or two. */
  readonly about: string;
  /** Its options; those with a group are listed under it. */
  readonly options: readonly OptionSpec[];
  /** Further headings with lines of two columns: what, and what it means. */
  readonly sections?: readonly HelpSection[];
}

/** A heading with lines of two columns. */
export interface HelpSection {
  readonly title: string;
  readonly rows: readonly (readonly [string, string])[];
}

/** The width help is laid out for: never wider than a classic terminal, narrower when it is. */
export function helpWidth(columns: number): number {
  return Math.max(40, Math.min(80, columns));
}

/** A help page as text, lines at most `width` characters long. */
export function renderHelp(page: HelpPage, width: number): string {
  const usage = page.usage.map((line, i) => `${i === 0 ? 'Usage: ' : '       '}${line}`).join('\n');
  const listed = page.options.filter((option) => option.group !== undefined);
  const groups = new Set(listed.map((option) => option.group));
  const indent = columnWidth(
    listed.map((option) => optionColumn(option)),
    width,
  );
  const parts = [usage, wrap(page.about, width).join('\n')];
  for (const group of groups) {
    const rows = listed
      .filter((option) => option.group === group)
      .map((option): [string, string] => [optionColumn(option), option.help]);
    parts.push(`${group}:\n${twoColumns(rows, width, indent)}`);
  }
  for (const { title, rows } of page.sections ?? []) parts.push(`${title}:\n${twoColumns(rows, width)}`);
  return `${parts.join('\n\n')}\n`;
}

function optionColumn(option: OptionSpec): string {
  const short = option.short === undefined ? '    ' : `-${option.short}, `;
  const { argument, optional } = option;
  const value = argument === undefined ? '' : optional ? ` [${argument}]` : ` ${argument}`;
  return `${short}--${option.name}${value}`;
}

/**
 * Rows of two columns, the right one wrapped. A left text too long for its column gets a line of its own.
 * @param width longest line, in characters
 * @param indent where the right column starts; by default after the longest left text, within reason
 */
export function twoColumns(
  rows: readonly (readonly [string, string])[],
  width: number,
  indent = columnWidth(
    rows.map(([left]) => left),
    width,
    Math.max(...rows.map(([, right]) => right.length)),
  ),
): string {
  return rows
    .flatMap(([left, right]) => {
      const lines = wrap(right, width - indent).map((line) => ' '.repeat(indent) + line);
      if (left.length + 4 > indent) return [`  ${left}`, ...lines];
      return [`  ${left.padEnd(indent - 2)}${(lines[0] ?? '').slice(indent)}`.trimEnd(), ...lines.slice(1)];
    })
    .join('\n');
}

/**
 * Where a right column starts: after the longest left text where `right` more characters fit then, else after the
 * longest that leaves two thirds of the line.
 */
function columnWidth(lefts: readonly string[], width: number, right = Number.POSITIVE_INFINITY): number {
  const room =
    Math.max(...lefts.map((left) => left.length)) + right + 4 <= width ? width : Math.floor(width / 3);
  return Math.max(0, ...lefts.map((left) => left.length).filter((length) => length <= room)) + 4;
}
