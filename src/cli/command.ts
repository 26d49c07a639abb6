/**
 * @module cli/command
 * Commands: their list, constructors for those with options and those that list things, and their output: help pages,
 * two-column text, JSON, progress.
 */
import { usageError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { printable, quoted } from '../core/printable.js';
import type { Progress } from '../index.js';
import { cut, formatProgress, wrap } from '../report/sections.js';
import { EXIT } from './exit.js';
import {
  HELP_OPTION,
  JSON_OPTION,
  type Option,
  type OptionSpec,
  optionTable,
  orList,
  parseArguments,
  settingsOf,
} from './options.js';
import { ERASE_LINE, type Terminal } from './terminal.js';

export interface Command {
  /** What `--help` and `anyvmaf help NAME` print. */
  readonly page: HelpPage;
  /**
   * @param args what followed the command's name
   * @returns the exit code, or the help page to print
   * @throws {AnyvmafError} with a message for the user
   */
  run(args: readonly string[], terminal: Terminal): Promise<number | HelpPage>;
}

export interface CommandRun<Settings> {
  readonly settings: Partial<Settings>;
  readonly positionals: readonly string[];
  readonly args: readonly string[];
  readonly terminal: Terminal;
}

/**
 * Makes a command that takes options and positional arguments.
 * @param name as messages show it: `anyvmaf align`
 * @param run not called for `--help`
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

/** In help order; the first is the default. */
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

export interface HelpPage {
  readonly usage: readonly string[];
  readonly about: string;
  /** Options without a group are not listed. */
  readonly options: readonly OptionSpec[];
  /** Rows of two columns, by heading. */
  readonly sections?: Readonly<Record<string, readonly (readonly [string, string])[]>>;
}

export type HelpText = Omit<HelpPage, 'options'>;

export function asJson(data: unknown): string {
  return `${JSON.stringify(data, null, 2)}\n`;
}

/** 40 to 80 columns. */
export function helpWidth(columns: number): number {
  return Math.max(40, Math.min(80, columns));
}

export function renderHelp(page: HelpPage, width: number): string {
  const usage = page.usage.map((line, i) => `${i === 0 ? 'Usage: ' : '       '}${line}`).join('\n');
  const listed = page.options.filter((option) => option.group !== undefined);
  const indent = columnWidth(listed.map(optionColumn), width);
  const parts = [usage, wrap(page.about, width).join('\n')];
  for (const group of new Set(listed.map((option) => option.group))) {
    const rows = listed
      .filter((option) => option.group === group)
      .map((option): [string, string] => [optionColumn(option), option.help]);
    parts.push(`${group}:\n${twoColumns(rows, width, indent)}`);
  }
  for (const [title, rows] of Object.entries(page.sections ?? {}))
    parts.push(`${title}:\n${twoColumns(rows, width)}`);
  return `${parts.join('\n\n')}\n`;
}

function optionColumn({ name, short, argument, optional }: OptionSpec): string {
  const value = argument === undefined ? '' : optional ? ` [${argument}]` : ` ${argument}`;
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${value}`;
}

/**
 * Lays out rows of two columns and wraps the right one. A left text too long for its column gets its own line.
 * @param indent start of the right column
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
 * The start of the right column: after the longest left text if `right` more characters fit then, else after the
 * longest left text within a third of the line.
 */
function columnWidth(lefts: readonly string[], width: number, right = Number.POSITIVE_INFINITY): number {
  const lengths = lefts.map((left) => left.length);
  const room = Math.max(...lengths) + right + 4 <= width ? width : Math.floor(width / 3);
  return Math.max(0, ...lengths.filter((length) => length <= room)) + 4;
}

export interface ProgressBar {
  show(progress: Progress): void;
  /** Shows words until there is progress to show. */
  say(words: string): void;
  clear(): void;
}

/** Columns left free, so that the line never wraps, not even by the `^C` that a terminal echoes. */
const MARGIN = 3;

/** Draws in the last line of standard error, if it can; the width may change meanwhile. */
export function openProgressBar(terminal: Terminal, quiet = false): ProgressBar | undefined {
  if (!terminal.canDraw || quiet) return undefined;
  let shown = false;
  const draw = (line: string) => {
    terminal.draw(ERASE_LINE + line);
    shown = true;
  };
  return {
    show: (progress) =>
      draw(formatProgress(progress, { width: terminal.errorColumns - MARGIN, color: terminal.errorColour })),
    say: (words) => draw(cut(printable(words), Math.max(0, terminal.errorColumns - MARGIN), 'both')),
    clear: () => {
      if (shown) terminal.draw(ERASE_LINE);
      shown = false;
    },
  };
}

/**
 * Sums the progress of `count` concurrent runs; `show` receives the sum after each report.
 * @returns takes the progress of a run; `null` removes a failed one from the sum
 */
export function progressSum(count: number, show: (progress: Progress) => void) {
  const runs = new Map<number, Progress>();
  let left = count;
  return (progress: Progress | null, index: number) => {
    if (progress) runs.set(index, progress);
    else {
      runs.delete(index);
      left--;
    }
    if (runs.size === 0) return;
    const all = [...runs.values()];
    const totals = all.map(({ framesTotal }) => framesTotal);
    const known = runs.size === left && !totals.includes(null);
    const seconds = all.map(({ secondsLeft }) => secondsLeft ?? Number.NaN);
    const longest = known ? Math.max(...seconds) : Number.NaN;
    show({
      framesDone: all.reduce((sum, { framesDone }) => sum + framesDone, 0),
      framesTotal: known ? totals.reduce((sum: number, total) => sum + (total ?? 0), 0) : null,
      fps: all.reduce((sum, { fps }) => sum + fps, 0),
      secondsLeft: Number.isNaN(longest) ? null : longest,
    });
  };
}

const LISTING_OPTIONS = optionTable({ Options: { ...JSON_OPTION, ...HELP_OPTION } });

/** A list or an item: its data, and its text for a width in columns. */
export interface View {
  readonly data: unknown;
  readonly text: (width: number) => string;
}

interface Named {
  readonly name: string;
  readonly otherName?: string;
}

interface Listing<Item> {
  readonly command: string;
  readonly noun: string;
  readonly usage?: readonly string[];
  readonly about: string;
  readonly items: () => Promise<readonly Item[]>;
  /** Short names of some items. */
  readonly short?: ReadonlyMap<string, string>;
  readonly list: (items: readonly Item[], width: number) => string;
  readonly describe: (item: Item) => View | Promise<View>;
}

export function listingCommand<Item extends Named>(listing: Listing<Item>): Command {
  const { noun, usage = [], about, short, list, describe } = listing;
  const name = `anyvmaf ${listing.command}`;
  const text = { usage: [`${name} [--json] [NAME]`, ...usage], about };
  return command(name, LISTING_OPTIONS, text, async ({ settings, positionals, terminal }) => {
    const [typed, surplus] = positionals;
    if (surplus !== undefined)
      throw usageError(`${quoted(surplus)} is one argument too many; name one ${noun} at a time`);
    const items = await listing.items();
    const view: View =
      typed === undefined
        ? { data: items, text: (width) => list(items, width) }
        : await describe(itemNamed(short?.get(typed.toLowerCase()) ?? typed, items, noun));
    await terminal.print(settings.json ? asJson(view.data) : view.text(helpWidth(terminal.columns)));
    return EXIT.ok;
  });
}

/** @throws {AnyvmafError} `usage` for an unknown name */
export function itemNamed<Item extends Named>(name: string, items: readonly Item[], noun: string): Item {
  const found = items.find((item) => item.name === name || item.otherName === name);
  if (found) return found;
  const names = items.map((item) => item.name);
  const near = nearest(name, names);
  const all = orList(names).replace(/ or ([^ ]*)$/, ' and $1');
  const hint = near === undefined ? `there are ${all}` : `did you mean ${near}?`;
  throw usageError(`there is no ${noun} ${quoted(name)}; ${hint}`);
}
