/**
 * @module cli/commands/search-options
 * What `anyvmaf search` can be told, and what of it the API is told.
 */
import { usageError } from '../../core/errors.js';
import {
  type ParameterName,
  parseTarget,
  type QualityTarget,
  type SearchOptions,
  type ValueRange,
} from '../../index.js';
import {
  grouped,
  type OptionReaders,
  type OptionSpec,
  type OptionUse,
  orList,
  parseArguments,
  takeOption,
} from '../options.js';
import { choiceValue, numberValue, refusedValue, unsignedValue } from '../values.js';

export const NAME = 'anyvmaf search';

const PARAMETERS = [
  'crf',
  'cq',
  'qp',
  'global_quality',
  'bitrate',
] as const satisfies readonly ParameterName[];
const MAX_THREADS = 1024;

export const SEARCH_OPTIONS = [
  ...grouped('Encoding', [
    {
      name: 'encoder',
      argument: 'NAME',
      help: 'encoder of the installed ffmpeg: libx264, libx265, libsvtav1, libaom-av1, libvpx-vp9 or any other',
    },
    {
      name: 'encoder-arg',
      argument: 'NAME=VALUE',
      help: 'option of the encoder, such as preset=slow. May be repeated',
    },
    { name: 'pix-fmt', argument: 'FORMAT', help: "pixel format of the encode. Default: the source's" },
    {
      name: 'encode',
      argument: 'FILE',
      help: 'encode the whole source with the value found, sound and subtitles copied, and score it',
    },
  ]),
  ...grouped('Quality', [
    {
      name: 'target',
      argument: 'BOUND',
      help: '95, or a statistic: p5>=90, min>=80, worst_second>=85, psnr_y:mean>=40. May be repeated. Default: 95',
    },
    { name: 'between', argument: 'LOW..HIGH', help: 'a mean from LOW to HIGH' },
    { name: 'max-size', argument: 'SHARE', help: "largest size, as a share of the source's: 60%" },
    { name: 'model', short: 'm', argument: 'MODEL', help: 'model to score with. May be repeated' },
    { name: 'feature', argument: 'FEATURE', help: 'further metric to measure. May be repeated' },
  ]),
  ...grouped('Search', [
    {
      name: 'parameter',
      argument: 'NAME',
      help: `what to search: ${orList(PARAMETERS)}. Default: the encoder's scale of constant quality`,
    },
    { name: 'range', argument: 'LOW..HIGH', help: 'values to search' },
    { name: 'all', argument: 'LOW..HIGH:STEP', help: 'encode every value of a grid instead of searching' },
    { name: 'full', help: 'encode the whole source for every point, not samples of it' },
    { name: 'verify', help: 'encode the whole source with the value found, and score it' },
    {
      name: 'cache',
      argument: 'DIR',
      help: "where to keep points: a folder, or none. Default: the user's cache",
    },
    { name: 'forget', help: 'remove the points of all earlier searches, and nothing else' },
    { name: 'max-temp', argument: 'GB', help: 'temporary files at most. Default: 8' },
    { name: 'threads', argument: 'N', help: 'worker threads of the scorer' },
  ]),
  ...grouped('Result', [
    { name: 'output', short: 'o', argument: 'FILE', help: 'write the result as JSON to FILE' },
    { name: 'json', help: 'print the result as JSON' },
    { name: 'quiet', short: 'q', help: 'no progress on the terminal' },
    { name: 'help', help: 'show this help', last: true },
  ]),
] as const satisfies readonly OptionSpec[];

/** A command line of `anyvmaf search`. */
export interface SearchSettings {
  readonly source: string;
  readonly options: SearchOptions;
  readonly output: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** What the options say, as far as they have been read. */
type Draft = { -readonly [Key in keyof SearchOptions]?: SearchOptions[Key] } & {
  file?: string;
  json?: boolean;
  quiet?: boolean;
  forget?: boolean;
};

type Name = (typeof SEARCH_OPTIONS)[number]['name'];

/** Options that may be repeated add to what is there. */
const readersOf = (draft: Draft): OptionReaders<Name, Draft> => ({
  encoder: ({ value }) => ({ encoder: value }),
  'encoder-arg': (use) => ({ encoderOptions: { ...draft.encoderOptions, ...encoderOption(use) } }),
  'pix-fmt': ({ value }) => ({ pixelFormat: value }),
  encode: ({ value }) => ({ output: value }),
  target: ({ value }) => ({ targets: [...(draft.targets ?? []), parseTarget(value)] }),
  between: (use) => {
    const { min, max } = rangeValue(use);
    const target: QualityTarget = { atLeast: min };
    return { targets: [target, ...(draft.targets ?? [])], atMost: max };
  },
  'max-size': (use) => ({ maxSize: shareValue(use) }),
  model: ({ value }) => ({ models: [...(draft.models ?? []), value] }),
  feature: ({ value }) => ({ features: [...(draft.features ?? []), value] }),
  parameter: (use) => ({ parameter: choiceValue(use, PARAMETERS) }),
  range: (use) => ({ range: rangeValue(use) }),
  all: (use) => ({ range: rangeValue(use), all: true }),
  full: () => ({ full: true }),
  verify: () => ({ verify: true }),
  cache: ({ value }) => ({ cache: value === 'none' ? false : value }),
  forget: () => ({ forget: true }),
  'max-temp': (use) => ({ scratchBytes: numberValue(use) * 1e9 }),
  threads: (use) => ({ threads: unsignedValue(use, 4, MAX_THREADS) }),
  output: ({ value }) => ({ file: value }),
  json: () => ({ json: true }),
  quiet: () => ({ quiet: true }),
  help: () => ({}),
});

/**
 * Reads a command line.
 * @returns `help`, `forget` with the folder to forget, or what to search
 * @throws {AnyvmafError} `usage`
 */
export function searchSettings(
  args: readonly string[],
): SearchSettings | 'help' | { readonly forget: string | undefined } {
  const { options: uses, positionals } = parseArguments(args, SEARCH_OPTIONS, NAME);
  if (uses.at(-1)?.name === 'help') return 'help';
  const draft: Draft = {};
  const readers = readersOf(draft);
  for (const use of uses) takeOption(readers, use, draft);
  const { file: output, json = false, quiet = false, forget, encoder, ...options } = draft;
  if (forget) return { forget: typeof options.cache === 'string' ? options.cache : undefined };
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) {
    const found = source === undefined ? 'none was given' : `${positionals.length} were given`;
    throw usageError(`${NAME} takes one source, but ${found}; type ${NAME} SOURCE --encoder libx264`);
  }
  if (encoder === undefined) throw usageError(`${NAME} needs an encoder, for instance --encoder libx264`);
  return { source, options: { ...options, encoder }, output, json, quiet };
}

function encoderOption(use: OptionUse): Readonly<Record<string, string>> {
  const equals = use.value.indexOf('=');
  if (equals > 0) return { [use.value.slice(0, equals)]: use.value.slice(equals + 1) };
  throw refusedValue(use, 'NAME=VALUE, such as preset=slow');
}

/** `18..40` or `18..40:2`. */
function rangeValue(use: OptionUse): ValueRange {
  const number = '(\\d{1,10}(?:\\.\\d{1,6})?)';
  const [, min, max, step] = new RegExp(`^${number}\\.\\.${number}(?::${number})?$`).exec(use.value) ?? [];
  if (min !== undefined && max !== undefined && Number(min) <= Number(max))
    return { min: Number(min), max: Number(max), ...(step !== undefined && { step: Number(step) }) };
  throw refusedValue(use, 'a range such as 18..40');
}

function shareValue(use: OptionUse): number {
  const [, text, percent] = /^(\d{1,6}(?:\.\d{1,6})?)(%?)$/.exec(use.value) ?? [];
  const share = Number(text) / (percent === '%' ? 100 : 1);
  if (share > 0) return share;
  throw refusedValue(use, 'a share such as 60%');
}
