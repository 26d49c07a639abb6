/**
 * @module cli/options
 * Parses command lines by the rules of getopt_long, as the `vmaf` tool does (spec A.1), and reads values; options that
 * several commands share. Pure.
 */
import { type AnyvmafError, usageError } from '../core/errors.js';
import { quotedWord } from '../core/names.js';
import { nearest } from '../core/nearest.js';
import { MOST_SECONDS } from '../core/options.js';
import { quoted, shown, withoutAccess } from '../core/printable.js';

export interface OptionSpec {
  /** Long name without dashes, as help shows it. `_` and `-` are interchangeable when typed. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Placeholder of the value in help; an option without it takes no value. */
  readonly argument?: string;
  /** Set if the value may be left out: it follows `=`, or is the next argument if this returns true for it. */
  readonly optional?: (next: string) => boolean;
  /** Help heading; an option without one is not listed. */
  readonly group?: string;
  readonly help: string;
  /** Not in the `vmaf` tool, whose options take precedence for abbreviations. */
  readonly ours?: boolean;
  readonly shortOnly?: boolean;
  /** Ends parsing: later arguments are ignored (`--help`). */
  readonly last?: boolean;
}

/**
 * Returns its additions to the settings.
 * @param before settings of the options before it
 */
type Reader<Settings> = (use: OptionUse, before: Partial<Settings>) => Partial<Settings>;

export interface Option<Settings = object> extends OptionSpec {
  /** Absent if the option adds no settings or is read elsewhere. */
  readonly read?: Reader<Settings>;
}

/** Help and reader of each option, by its spelling in the help: `-r, --reference FILE`. */
type OptionRows = Readonly<
  Record<
    `--${string}` | `-${string}, --${string}`,
    readonly [
      help: string,
      read?: ((use: OptionUse, before: never) => object) | undefined,
      extras?: Pick<OptionSpec, 'optional' | 'ours' | 'last'>,
    ]
  >
>;

type Member<Of> = Of extends unknown ? Of[keyof Of] : never;
type Read<Row> = Row extends readonly [string, infer Reader, ...unknown[]] ? Returned<Reader> : never;
type Returned<Reader> = Reader extends (...args: never) => infer Settings ? Settings : never;
type KeyOf<Of> = Of extends unknown ? keyof Of : never;
type ValueOf<Of, Key> = Of extends unknown ? (Key extends keyof Of ? Of[Key] : never) : never;
/** All that the readers of rows return. */
type SettingsIn<Rows> = {
  readonly [Key in KeyOf<Read<Member<Rows>>>]: Exclude<ValueOf<Read<Member<Rows>>, Key>, undefined>;
};

/** What the options of a table set. */
export type SettingsOf<Table> = Table extends readonly Option<infer Settings>[] ? Settings : never;

/** Rows for several tables. */
export function optionRows<Rows extends OptionRows>(rows: Rows): Rows {
  return rows;
}

/** @param groups rows by help heading */
export function optionTable<Groups extends Readonly<Record<string, OptionRows>>>(
  groups: Groups,
  common: Pick<OptionSpec, 'ours'> = {},
): readonly Option<SettingsIn<Member<Groups>>>[] {
  return Object.entries(groups).flatMap(([group, rows]) =>
    Object.entries(rows).map(([spelling, [help, read, extras]]) => {
      const [, short, name = '', argument] = /^(?:-(\w), )?--(\S+)(?: (.+))?$/.exec(spelling) ?? [];
      return { name, short, argument, help, read: read as Option['read'], group, ...common, ...extras };
    }),
  );
}

/** A reader that adds to the list of a key. */
export function list<Key extends string, Value>(key: Key, read: (use: OptionUse) => Value) {
  type List = Readonly<Record<Key, readonly Value[]>>;
  return (use: OptionUse, before: Partial<List>) =>
    ({ [key]: [...(before[key] ?? []), read(use)] }) as unknown as List;
}

/** {@link list} of texts as typed. */
export function texts<Key extends string>(key: Key) {
  return list(key, ({ value }) => value);
}

/** Nests the settings of options under a key. */
export function within<Key extends string, Settings>(
  key: Key,
  options: readonly Option<Settings>[],
): readonly Option<Readonly<Record<Key, Partial<Settings>>>>[] {
  return options.map(({ read, ...option }) => ({
    ...option,
    read: (use, before) => {
      const own = before[key] ?? {};
      return { [key]: { ...own, ...read?.(use, own) } } as Record<Key, Partial<Settings>>;
    },
  }));
}

/** Merges the settings of all uses, in order. */
export function settingsOf<Settings>(uses: readonly OptionUse[], options: readonly Option<Settings>[]) {
  const settings: Partial<Settings> = {};
  for (const use of uses)
    Object.assign(settings, options.find(({ name }) => name === use.name)?.read?.(use, settings));
  return settings;
}

export const JSON_OPTION = optionRows({ '--json': ['as JSON', () => ({ json: true })] });

export const HELP_OPTION = optionRows({ '--help': ['show this help', undefined, { last: true }] });

export interface OptionUse {
  readonly name: string;
  /** As messages name it: `-w/--width` or `--threads`. */
  readonly label: string;
  /** Empty if the option takes none. */
  readonly value: string;
}

export type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** As messages and help name it: `-w/--width`, `--threads`, `-c`. */
export function optionLabel({ name, short, shortOnly }: OptionSpec): string {
  if (shortOnly) return `-${short ?? name}`;
  return short === undefined ? `--${name}` : `-${short}/--${name}`;
}

/**
 * Parses a command line: `--name value`, `--name=value`, unambiguous abbreviations of long names, glued short options
 * (`-b10`, `-nq`), any order, `--` before arguments that start with a dash. `-` alone is positional. As in getopt, an
 * option that takes a value takes the next argument, whatever it is.
 * @param program as messages show it: `anyvmaf` or `anyvmaf models`
 * @returns options in command-line order; the caller decides what a repeated option means
 * @throws {AnyvmafError} `usage`: unknown or ambiguous option, missing or unwanted value
 */
export function parseArguments(args: readonly string[], specs: readonly OptionSpec[], program = 'anyvmaf') {
  const options: OptionUse[] = [];
  const positionals: string[] = [];
  let next = 0;
  const nextValue = ({ optional }: OptionSpec): string | undefined => {
    const ahead = args[next];
    if (optional && (ahead === undefined || !optional(ahead))) return '';
    next++;
    return ahead;
  };
  /** Records one use; `glued` is a value in the same argument. Returns true if parsing ends here. */
  const use = (option: OptionSpec, glued: string | undefined): boolean => {
    const label = optionLabel(option);
    const value = option.argument === undefined ? '' : (glued ?? nextValue(option));
    if (value === undefined) {
      const hint = option.short === 'h' ? `; for help type '${program} --help'` : '';
      throw usageError(`option ${label} needs a value: ${label} ${option.argument}${hint}`);
    }
    options.push({ name: option.name, label, value });
    return option.last === true;
  };
  for (let arg = args[next++]; arg !== undefined; arg = args[next++]) {
    if (arg === '--') {
      for (const argument of args.slice(next)) positionals.push(argument);
      break;
    }
    if (arg.startsWith('--')) {
      const equals = arg.indexOf('=');
      const name = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
      const value = equals < 0 ? undefined : arg.slice(equals + 1);
      const option = longOption(name, specs, program);
      if (value !== undefined && option.argument === undefined)
        throw usageError(`option --${option.name} takes no value, but ${quoted(value)} was given`);
      if (use(option, value)) break;
    } else if (!arg.startsWith('-') || arg === '-') positionals.push(arg);
    else if (shortOptions(arg, specs, use, program)) break;
  }
  return { options, positionals };
}

/** Parses `-nq`, `-b10`, `-nb10`: flags until one takes the rest as its value. Returns true if parsing ends. */
function shortOptions(
  arg: string,
  specs: readonly OptionSpec[],
  use: (option: OptionSpec, glued: string | undefined) => boolean,
  program: string,
): boolean {
  for (let i = 1; i < arg.length; i++) {
    const letter = String.fromCodePoint(arg.codePointAt(i) ?? 0);
    const option = specs.find((spec) => spec.short === letter);
    if (option === undefined) {
      const meant = matchingNames(arg.slice(1), specs);
      const file = /[./\\]/.test(arg) ? `for a file of that name write ${shown(`./${arg}`)}; ` : '';
      const hint = i === 1 && meant.length === 1 ? `did you mean --${meant[0]?.name}? ` : file;
      throw usageError(`unknown option -${letter}; ${hint}'${program} --help' lists the options`);
    }
    const glued = arg.slice(i + 1);
    const takesRest = option.argument !== undefined;
    if (takesRest && i === 1 && isNameOfVideo(glued, option.argument === 'FILE'))
      throw usageError(
        `${shown(arg)} is read as the option -${letter} with the value ${quoted(glued)}; for a file of that name write ${shown(`./${arg}`)}`,
      );
    if (use(option, takesRest && glued !== '' ? glued : undefined)) return true;
    if (takesRest) return false;
  }
  return false;
}

/** True if `glued` looks like the end of a video's name; if the option takes a file, only a bare extension does. */
function isNameOfVideo(glued: string, takesFile: boolean): boolean {
  const ending = /\.(?:y4m|yuv|mp4|m4v|mov|mkv|webm|avi|ts|m2ts|mxf|ivf)$/i.exec(glued);
  return ending !== null && (!takesFile || ending.index === 0);
}

const normalise = (name: string) => name.replaceAll('-', '_');

/** The option of this name, else those that it abbreviates: of the `vmaf` tool, else ours. */
function matchingNames(name: string, specs: readonly OptionSpec[]): readonly OptionSpec[] {
  const typed = normalise(name);
  if (typed === '') return [];
  const long = specs.filter((spec) => !spec.shortOnly);
  const exact = long.filter((spec) => normalise(spec.name) === typed);
  if (exact.length > 0) return exact;
  const matches = long.filter((spec) => normalise(spec.name).startsWith(typed));
  // An abbreviation of --help must not set a height.
  if (matches.some((spec) => spec.last)) return matches;
  const ofVmaf = matches.filter((spec) => !spec.ours);
  return ofVmaf.length > 0 ? ofVmaf : matches;
}

function longOption(name: string, specs: readonly OptionSpec[], program: string): OptionSpec {
  const [first, ...others] = matchingNames(name, specs);
  if (first === undefined) {
    const names = specs.filter((spec) => !spec.shortOnly).map((spec) => spec.name);
    const near = nearest(name, names, normalise);
    const hint = near === undefined ? '' : `did you mean --${near}? `;
    throw usageError(`unknown option ${shown(`--${name}`)}; ${hint}'${program} --help' lists the options`);
  }
  if (others.length > 0) {
    const list = [first, ...others].map((spec) => `--${spec.name}`);
    throw usageError(`option ${shown(`--${name}`)} is ambiguous: it may mean ${orList(list)}`);
  }
  return first;
}

/** `a`, `a or b`, `a, b or c`. */
export function orList(items: readonly string[]): string {
  const head = items.slice(0, -1).join(', ');
  const tail = items.at(-1) ?? '';
  return head === '' ? tail : `${head} or ${tail}`;
}

/** A command line that a POSIX shell reads back, without the credentials of its URLs. */
export function commandLine(program: string, args: readonly string[]): string {
  return [program, ...args.map((arg) => quotedWord(withoutAccess(arg)))].join(' ');
}

export function refusedValue({ label, value }: OptionUse, expected: string): AnyvmafError {
  return usageError(`${label} is ${quoted(value)}, but it must be ${expected}`);
}

/**
 * A whole number 0..4294967295, written as for strtoul with base 0: decimal, `0x` hexadecimal, or octal with a leading
 * zero. Unlike strtoul (spec A.1), refuses a minus sign and an overflow instead of wrapping.
 * @param example a likely value, for the message
 * @param max largest value accepted
 * @throws {AnyvmafError} `usage`
 */
export function unsignedValue(use: OptionUse, example: number, max = 0xffffffff): number {
  const text = use.value.trimStart().replace(/^\+/, '');
  const number = unsigned(text);
  if (number !== undefined && number <= max) return number;
  // getopt reads `-help` as height "elp".
  const hint = use.label.startsWith('-h/') ? ' (for help type --help)' : '';
  if (/^-\d/.test(text))
    throw usageError(`${use.label} is ${quoted(use.value)}, but it cannot be negative${hint}`);
  const expected = number === undefined ? `a whole number such as ${example}` : `at most ${max}`;
  throw refusedValue(use, `${expected}${hint}`);
}

/** @throws {AnyvmafError} `usage` */
export function betweenValue(use: OptionUse, example: number, least: number, most: number): number {
  const number = unsignedValue(use, example);
  if (number >= least && number <= most) return number;
  throw refusedValue(use, `a number from ${least} to ${most}`);
}

/** Parses an unsigned C literal; `undefined` if the whole text is not one. */
export function unsigned(text: string): number | undefined {
  if (/^0x[0-9a-f]+$/i.test(text)) return Number.parseInt(text, 16);
  if (/^0[0-7]*$/.test(text)) return Number.parseInt(text, 8);
  if (/^[1-9][0-9]*$/.test(text)) return Number.parseInt(text, 10);
  return undefined;
}

/** A bit mask as in the `vmaf` tool, where `-1` means all bits. @throws {AnyvmafError} `usage` */
export function maskValue(use: OptionUse): number {
  const negative = /^\s*-/.test(use.value);
  const magnitude = unsignedValue(negative ? { ...use, value: use.value.replace('-', '') } : use, 63);
  return (negative ? -magnitude : magnitude) >>> 0;
}

/** A finite decimal number. @throws {AnyvmafError} `usage` */
export function numberValue(use: OptionUse): number {
  const number = Number(use.value);
  if (!/^\s*[-+]?[0-9.]/.test(use.value) || /^\s*[-+]?0[xob]/i.test(use.value) || !Number.isFinite(number))
    throw refusedValue(use, 'a number such as 93.5');
  return number;
}

/** @throws {AnyvmafError} `usage` */
export function choiceValue<Choice extends string>(use: OptionUse, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === use.value);
  if (found !== undefined) return found;
  const near = nearest(use.value, choices);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw refusedValue(use, `${orList(choices)}${hint}`);
}

/** A time limit. @throws {AnyvmafError} `usage` */
export function secondsValue(use: OptionUse): number {
  const seconds = numberValue(use);
  if (seconds > 0 && seconds <= MOST_SECONDS) return seconds;
  throw refusedValue(use, `a number of seconds above 0 and up to ${MOST_SECONDS}`);
}

/** @throws {AnyvmafError} `usage` if it is empty */
export function fileName(use: OptionUse): string {
  if (use.value === '') throw usageError(`${use.label} is empty, but it must name a file`);
  return use.value;
}

/** For results that are too large for Redis. */
export const RESULTS_OPTION = optionRows({
  '--results DIR': [
    'a folder that all workers and the batch can access, or a URL to upload to, for parts and other large results',
    (use) => ({ results: fileName(use) }),
  ],
});

export const HOSTS_HELP = 'read from and upload to URLs on HOST, checked. May be repeated';

/** For commands that read no videos of their own. */
export const HOSTS_OPTION = optionRows({ '--allow-url HOST': [HOSTS_HELP, texts('hosts')] });
