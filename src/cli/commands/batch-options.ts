/**
 * @module cli/commands/batch-options
 * The options of the batch command. Pure: opens nothing.
 */
import { usageError } from '../../core/errors.js';
import { type Precision, parsePrecision } from '../../report/format.js';
import { LINE_OPTIONS, type LineOption } from '../batch/table.js';
import { grouped, type OptionSpec, type OptionUse, parseArguments } from '../options.js';
import { refusedValue, unsignedValue } from '../values.js';
import { fileName } from './video-options.js';

const NAME = 'anyvmaf batch';
const BATCH = 'Batch';
const MOST_TOGETHER = 64;

const OWN = grouped(BATCH, [
  {
    name: 'output',
    short: 'o',
    argument: 'FILE',
    help: 'add the results to FILE, one line of JSON each; what it has is not scored again',
  },
  { name: 'frames', help: 'also write the values per frame, as Parquet, into the folder FILE.frames' },
  { name: 'html', argument: 'FILE', help: 'also write a page with all jobs' },
  {
    name: 'reference',
    short: 'r',
    argument: 'RULE',
    help: 'without a table: the reference of an encode, such as masters/{stem}.mov or {1}.mov',
  },
  {
    name: 'match',
    argument: 'REGEX',
    help: 'without a table: what the path of an encode must match; {1} in the rule is its first group',
  },
  {
    name: 'together',
    argument: 'N',
    help: 'most jobs of one reference at the same time (default: one per core, at most 8)',
  },
  { name: 'retry-failed', help: 'score jobs again that failed before' },
  {
    name: 'precision',
    argument: 'P',
    help: 'digits of all numbers: legacy (six decimals, default), 1 to 17 significant ones, max or full (17)',
  },
  { name: 'quiet', short: 'q', help: 'no progress and no summary' },
  { name: 'help', help: 'show this help', last: true },
]);

const OWN_NAMES: ReadonlySet<string> = new Set(OWN.map(({ name }) => name));

/** The options in the order in which help lists them. */
export const BATCH_OPTIONS: readonly OptionSpec[] = [
  ...OWN,
  ...LINE_OPTIONS.filter(({ name }) => !OWN_NAMES.has(name)),
];

/** What a command line asks for. */
export interface BatchSettings {
  /** A table, or folders, patterns and names of encodes. */
  readonly sources: readonly [string, ...string[]];
  /** Options of all jobs. */
  readonly common: readonly LineOption[];
  readonly output: string;
  readonly frames: boolean;
  readonly html?: string;
  readonly reference?: string;
  readonly match?: RegExp;
  readonly together?: number;
  readonly retryFailed: boolean;
  readonly precision: Precision;
  readonly quiet: boolean;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Reads a command line.
 * @throws {AnyvmafError} `usage`
 */
export function batchSettings(args: readonly string[]): BatchSettings | 'help' {
  const { options, positionals } = parseArguments<string>(args, BATCH_OPTIONS, NAME);
  if (options.at(-1)?.name === 'help') return 'help';
  const draft: Draft<Partial<BatchSettings>> = {};
  const common = new Map<string, string[]>();
  for (const use of options) {
    if (takeOwn(use, draft)) continue;
    const takes = LINE_OPTIONS.find(({ name }) => name === use.name)?.argument !== undefined;
    common.set(use.name, [...(common.get(use.name) ?? []), ...(takes ? [use.value] : [])]);
  }
  const [first, ...others] = positionals;
  if (first === undefined) {
    throw usageError(`no jobs are named; try '${NAME} jobs.csv -o results.jsonl' or '${NAME} --help'`);
  }
  if (draft.output === undefined || draft.output === '-') {
    throw usageError(
      'a batch adds its results to a file, from which it also knows what is done; name one: -o results.jsonl',
    );
  }
  const isTable = others.length === 0 && /\.(csv|jsonl|ndjson)$/i.test(first);
  if (isTable && (draft.reference !== undefined || draft.match)) {
    throw usageError(
      '--reference and --match find the references of encodes, but a table names them; leave them out',
    );
  }
  if (!isTable && draft.reference === undefined) {
    throw usageError(
      `${first} is no table (.csv, .jsonl), and encodes need a rule for their reference: --reference 'masters/{stem}.mov'`,
    );
  }
  return {
    sources: [first, ...others],
    common: [...common].map(([name, values]) => ({ name, values })),
    frames: false,
    retryFailed: false,
    precision: 'legacy',
    quiet: false,
    ...draft,
    output: draft.output,
  };
}

/** @returns false if it is an option of all jobs */
function takeOwn(use: OptionUse, draft: Draft<Partial<BatchSettings>>): boolean {
  switch (use.name) {
    case 'output':
    case 'html':
      draft[use.name] = fileName(use);
      return true;
    case 'reference':
      draft.reference = fileName(use);
      return true;
    case 'match':
      draft.match = patternValue(use);
      return true;
    case 'together': {
      const together = unsignedValue(use, 4);
      if (together < 1 || together > MOST_TOGETHER)
        throw refusedValue(use, `a number from 1 to ${MOST_TOGETHER}`);
      draft.together = together;
      return true;
    }
    case 'precision':
      try {
        draft.precision = parsePrecision(use.value);
      } catch {
        throw refusedValue(use, 'legacy, max, full or a whole number from 1 to 17');
      }
      return true;
    case 'retry-failed':
      draft.retryFailed = true;
      return true;
    case 'frames':
    case 'quiet':
      draft[use.name] = true;
      return true;
  }
  return false;
}

function patternValue(use: OptionUse): RegExp {
  try {
    return new RegExp(use.value);
  } catch {
    throw refusedValue(use, "a regular expression, such as '([^/]+)_[0-9]+p'");
  }
}
