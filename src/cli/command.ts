/**
 * @module cli/command
 * What a command of the program is, the list of them, and the layout of help pages and other two-column text for a terminal.
 */
import { wrap } from '../report/terminal.js';
import { type Option, type OptionSpec, parseArguments, settingsOf } from './options.js';
import type { Terminal } from './terminal.js';

/** One command, in a file of its own under cli/commands. */
export interface Command {
  /** What `--help` and `anyvmaf help NAME` print. */
  readonly page: HelpPage;
  /**
   * Runs it.
   * @param args what followed the command's name
   * @returns the exit code, or the page to print where help is asked for
   * @throws {AnyvmafError} with a message for the user
   */
  run(args: readonly string[], terminal: Terminal): Promise<number | HelpPage>;
}

/** What a command is run with. */
export interface CommandRun<Settings> {
  /** What its options say. */
  readonly settings: Partial<Settings>;
  readonly positionals: readonly string[];
  /** What followed the command's name. */
  readonly args: readonly string[];
  readonly terminal: Terminal;
}

/**
 * A command whose command line is options and positional arguments.
 * @param name as messages name it, `anyvmaf align`
 * @param run is not called where help is asked for
 */
export function command<Settings>(
  name: string,
  options: readonly Option<Settings>[],
  text: HelpText,
  run: (line: CommandRun<Settings>) => Promise<number>,
): Command {
  const page = { ...text, options };
  return {
    page,
    run: async (args, terminal) => {
      const { options: uses, positionals } = parseArguments(args, options, name);
      if (uses.at(-1)?.name === 'help') return page;
      return run({ settings: settingsOf(uses, options), positionals, args, terminal });
    },
  };
}

/** Commands by name, each with its line in the help; the first is the default. */
export const COMMANDS = [
  { name: 'score', summary: 'score videos against a reference; the default command' },
  { name: 'batch', summary: 'score a table of pairs; resume an interrupted run' },
  { name: 'merge', summary: 'join the parts of a run into one report' },
  { name: 'work', summary: 'score the jobs of a queue' },
  { name: 'queue', summary: 'show a queue, retry its dead jobs, cancel jobs' },
  { name: 'inspect', summary: 'check a pair for problems before you score it' },
  { name: 'align', summary: 'find the offset between two videos' },
  { name: 'heatmap', summary: 'draw loss heatmaps' },
  { name: 'search', summary: 'find the encoder setting that reaches a quality' },
  { name: 'ladder', summary: 'build a bitrate ladder' },
  { name: 'compare-encoders', summary: 'compare encoders or presets at equal quality' },
  { name: 'shots', summary: 'find shots, and an encoder setting for each' },
  { name: 'models', summary: 'list, describe or pull models' },
  { name: 'features', summary: 'list or describe feature extractors; write features as a table' },
  { name: 'tiny', summary: 'evaluate tiny ONNX models' },
  { name: 'backends', summary: 'list backends' },
  { name: 'setup', summary: 'fetch, list or remove optional components' },
  { name: 'doctor', summary: 'show what is installed, what works, and how to get the rest' },
  { name: 'bench', summary: 'time every available backend and compare their scores' },
  { name: 'mcp', summary: 'serve the tools to AI agents (Model Context Protocol)' },
  { name: 'help', summary: 'show this help, or that of a command' },
] as const;

export type CommandName = (typeof COMMANDS)[number]['name'];

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

/** What help says beside the options. */
export type HelpText = Omit<HelpPage, 'options'>;

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
