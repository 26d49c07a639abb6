/**
 * @module cli/commands/search-options
 * What `anyvmaf search` can be told, and what of it the API is told.
 */
import { AnyvmafError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import {
  type ParameterName,
  parseTarget,
  type QualityTarget,
  type SearchOptions,
  type ValueRange,
} from '../../index.js';
import { type OptionSpec, type OptionUse, orList, parseArguments } from '../options.js';
import { numberValue, unsignedValue } from '../values.js';

export const NAME = 'anyvmaf search';
const ENCODING = 'Encoding';
const QUALITY = 'Quality';
const SEARCH = 'Search';
const RESULT = 'Result';

const PARAMETERS = [
  'crf',
  'cq',
  'qp',
  'global_quality',
  'bitrate',
] as const satisfies readonly ParameterName[];

export const SEARCH_OPTIONS = [
  {
    name: 'encoder',
    argument: 'NAME',
    group: ENCODING,
    help: 'encoder of the installed ffmpeg: libx264, libx265, libsvtav1, libaom-av1, libvpx-vp9 or any other',
  },
  {
    name: 'encoder-arg',
    argument: 'NAME=VALUE',
    group: ENCODING,
    help: 'option of the encoder, such as preset=slow. May be repeated',
  },
  {
    name: 'pix-fmt',
    argument: 'FORMAT',
    group: ENCODING,
    help: "pixel format of the encode. Default: the source's",
  },
  {
    name: 'encode',
    argument: 'FILE',
    group: ENCODING,
    help: 'encode the whole source with the value found, sound and subtitles copied, and score it',
  },
  {
    name: 'target',
    argument: 'BOUND',
    group: QUALITY,
    help: '95, or a statistic: p5>=90, min>=80, worst_second>=85, psnr_y:mean>=40. May be repeated. Default: 95',
  },
  { name: 'between', argument: 'LOW..HIGH', group: QUALITY, help: 'a mean from LOW to HIGH' },
  {
    name: 'max-size',
    argument: 'SHARE',
    group: QUALITY,
    help: "largest size, as a share of the source's: 60%",
  },
  {
    name: 'model',
    short: 'm',
    argument: 'MODEL',
    group: QUALITY,
    help: 'model to score with. May be repeated',
  },
  {
    name: 'feature',
    argument: 'FEATURE',
    group: QUALITY,
    help: 'further metric to measure. May be repeated',
  },
  {
    name: 'parameter',
    argument: 'NAME',
    group: SEARCH,
    help: `what to search: ${orList(PARAMETERS)}. Default: the encoder's scale of constant quality`,
  },
  { name: 'range', argument: 'LOW..HIGH', group: SEARCH, help: 'values to search' },
  {
    name: 'all',
    argument: 'LOW..HIGH:STEP',
    group: SEARCH,
    help: 'encode every value of a grid instead of searching',
  },
  { name: 'full', group: SEARCH, help: 'encode the whole source for every point, not samples of it' },
  { name: 'verify', group: SEARCH, help: 'encode the whole source with the value found, and score it' },
  {
    name: 'cache',
    argument: 'DIR',
    group: SEARCH,
    help: "where to keep points: a folder, or none. Default: the user's cache",
  },
  { name: 'forget', group: SEARCH, help: 'remove the points of all earlier searches, and nothing else' },
  { name: 'max-temp', argument: 'GB', group: SEARCH, help: 'temporary files at most. Default: 8' },
  { name: 'threads', argument: 'N', group: SEARCH, help: 'worker threads of the scorer' },
  { name: 'output', short: 'o', argument: 'FILE', group: RESULT, help: 'write the result as JSON to FILE' },
  { name: 'json', group: RESULT, help: 'print the result as JSON' },
  { name: 'quiet', short: 'q', group: RESULT, help: 'no progress on the terminal' },
  { name: 'help', group: RESULT, help: 'show this help', last: true },
] as const satisfies readonly OptionSpec[];

/** A command line of `anyvmaf search`. */
export interface SearchSettings {
  readonly source: string;
  readonly options: SearchOptions;
  readonly output: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** What is still being collected. */
type Draft = { -readonly [Key in keyof SearchOptions]?: SearchOptions[Key] };

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
  let [json, quiet] = [false, false];
  let output: string | undefined;
  for (const use of uses) {
    if (use.name === 'json') json = true;
    else if (use.name === 'quiet') quiet = true;
    else if (use.name === 'output') output = use.value;
    else takeOption(use, draft);
  }
  if (uses.some(({ name }) => name === 'forget'))
    return { forget: typeof draft.cache === 'string' ? draft.cache : undefined };
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) {
    const found = source === undefined ? 'none was given' : `${positionals.length} were given`;
    throw new AnyvmafError(
      'usage',
      `${NAME} takes one source, but ${found}; type ${NAME} SOURCE --encoder libx264`,
    );
  }
  const { encoder } = draft;
  if (encoder === undefined) {
    throw new AnyvmafError('usage', `${NAME} needs an encoder, for instance --encoder libx264`);
  }
  return { source, options: { ...draft, encoder }, output, json, quiet };
}

function takeOption(use: OptionUse<(typeof SEARCH_OPTIONS)[number]['name']>, draft: Draft): void {
  const { name, value } = use;
  switch (name) {
    case 'encoder':
      draft.encoder = value;
      return;
    case 'encoder-arg':
      draft.encoderOptions = { ...draft.encoderOptions, ...encoderOption(use) };
      return;
    case 'pix-fmt':
      draft.pixelFormat = value;
      return;
    case 'encode':
      draft.output = value;
      return;
    case 'target':
      draft.targets = [...(draft.targets ?? []), parseTarget(value)];
      return;
    case 'between': {
      const { min, max } = rangeValue(use);
      const target: QualityTarget = { atLeast: min };
      draft.targets = [target, ...(draft.targets ?? [])];
      draft.atMost = max;
      return;
    }
    case 'max-size':
      draft.maxSize = shareValue(use);
      return;
    case 'model':
      draft.models = [...(draft.models ?? []), value];
      return;
    case 'feature':
      draft.features = [...(draft.features ?? []), value];
      return;
    case 'parameter':
      draft.parameter = parameterValue(use);
      return;
    case 'range':
    case 'all':
      draft.range = rangeValue(use);
      if (name === 'all') draft.all = true;
      return;
    case 'full':
      draft.full = true;
      return;
    case 'verify':
      draft.verify = true;
      return;
    case 'cache':
      draft.cache = value === 'none' ? false : value;
      return;
    case 'max-temp':
      draft.scratchBytes = numberValue(use) * 1e9;
      return;
    case 'threads':
      draft.threads = unsignedValue(use, 4, 1024);
  }
}

function encoderOption({ label, value }: OptionUse): Readonly<Record<string, string>> {
  const equals = value.indexOf('=');
  if (equals > 0) return { [value.slice(0, equals)]: value.slice(equals + 1) };
  throw new AnyvmafError(
    'usage',
    `${label} is ${quoted(value)}, but it must be NAME=VALUE, such as preset=slow`,
  );
}

/** `18..40` or `18..40:2`. */
function rangeValue({ label, value }: OptionUse): ValueRange {
  const number = '(\\d{1,10}(?:\\.\\d{1,6})?)';
  const [, min, max, step] = new RegExp(`^${number}\\.\\.${number}(?::${number})?$`).exec(value) ?? [];
  if (min !== undefined && max !== undefined && Number(min) <= Number(max))
    return { min: Number(min), max: Number(max), ...(step !== undefined && { step: Number(step) }) };
  throw new AnyvmafError('usage', `${label} is ${quoted(value)}, but it must be a range such as 18..40`);
}

function shareValue({ label, value }: OptionUse): number {
  const [, text, percent] = /^(\d{1,6}(?:\.\d{1,6})?)(%?)$/.exec(value) ?? [];
  const share = Number(text) / (percent === '%' ? 100 : 1);
  if (share > 0) return share;
  throw new AnyvmafError('usage', `${label} is ${quoted(value)}, but it must be a share such as 60%`);
}

function parameterValue({ label, value }: OptionUse): ParameterName {
  const found = PARAMETERS.find((name) => name === value);
  if (found) return found;
  throw new AnyvmafError('usage', `${label} is ${quoted(value)}, but it must be ${orList(PARAMETERS)}`);
}
