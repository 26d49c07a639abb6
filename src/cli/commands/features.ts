/**
 * @module cli/commands/features
 * `anyvmaf features [NAME]` lists feature extractors; with `--parquet FILE` it writes features, one row per frame.
 */
import { AnyvmafError, usageError } from '../../core/errors.js';
import { counted, quoted } from '../../core/printable.js';
import { localPath } from '../../files/file-url.js';
import { besideList, csvTable, readText } from '../../files/text-file.js';
import type { DatasetOptions, DatasetPair, DatasetSummary, ExtractorSpec } from '../../index.js';
import { wrap } from '../../report/sections.js';
import {
  asJson,
  type Command,
  type HelpPage,
  listingCommand,
  openProgressBar,
  twoColumns,
} from '../command.js';
import { EXIT, interruptible } from '../exit.js';
import {
  fileName,
  HELP_OPTION,
  list,
  numberValue,
  type Option,
  type OptionUse,
  optionTable,
  parseArguments,
  type SettingsOf,
  settingsOf,
  texts,
} from '../options.js';
import { openOutput } from '../output.js';
import { checkPairingOptions, PAIRING_OPTIONS, type TableSettings, tableReader } from '../table-options.js';
import type { Terminal } from '../terminal.js';
import { VIDEO_OPTIONS, type VideoSettings, type Videos, videosOf } from '../video-options.js';

const MAX_DISTORTED = 1000;

const TABLE_OPTIONS = optionTable({
  Table: {
    '--parquet FILE': [
      'measure videos and write their features to FILE, one row per frame',
      (use) => ({ parquet: fileName(use) }),
    ],
    '--pairs FILE': [
      'the videos, as CSV with the columns reference, distorted and, optionally, key, clip and mos',
      (use) => ({ list: fileName(use) }),
    ],
    '--key KEY': [
      'column key, which selects train, val or test: once for all videos, or once for each distorted one ' +
        '(default: name of the reference)',
      texts('keys'),
    ],
    '--mos X': [
      'column mos, the opinion score: once for all, or once for each distorted video',
      list('opinions', numberValue),
    ],
    '--teacher MODEL': [
      'column teacher: score of each frame by this model, vmaf_v0.6.1 or as for --model; also used as mos ' +
        'if there is none',
      (use) => ({ teacher: modelString(use) }),
    ],
    '--feature SPEC': ['further columns: NAME or NAME=OPTION=VALUE. May be repeated', texts('features')],
  },
});

const RUNNING_OPTIONS = optionTable({
  Running: {
    '--threads N': ['workers (default: one per core)', tableReader('threads')],
    '-q, --quiet': ['no progress bar', () => ({ quiet: true })],
    '--json': ['the list, or what was written, as JSON', () => ({ json: true })],
    ...HELP_OPTION,
  },
});

/** Options before their combination is checked. */
type AskedSettings = VideoSettings &
  TableSettings &
  SettingsOf<typeof TABLE_OPTIONS> &
  SettingsOf<typeof RUNNING_OPTIONS>;

const FEATURES_OPTIONS: readonly Option<AskedSettings>[] = [
  ...TABLE_OPTIONS,
  ...VIDEO_OPTIONS,
  ...optionTable({
    Input: {
      '--frame_cnt N': ['at most N frames of each pair (0: all)', tableReader('frameCount')],
      '--subsample N': ['only every Nth frame', tableReader('subsample')],
    },
  }),
  ...PAIRING_OPTIONS,
  ...RUNNING_OPTIONS,
];

const NAME = 'anyvmaf features';

/** Options that lists of extractors take too. */
const OF_LISTS = new Set(['json', 'help']);

export interface FeatureTable {
  readonly output: string;
  readonly pairs: readonly DatasetPair[] | { readonly list: string; readonly raw?: DatasetPair['raw'] };
  readonly options: DatasetOptions;
  readonly quiet: boolean;
  readonly json: boolean;
}

/**
 * Parses the command line: a table with `--parquet`, else the list of extractors.
 * @throws {AnyvmafError} `usage`
 */
export function featuresSettings(args: readonly string[]): FeatureTable | 'list' | 'help' {
  const parsed = parseArguments(args, FEATURES_OPTIONS, NAME);
  if (parsed.options.at(-1)?.name === 'help') return 'help';
  if (!parsed.options.some(({ name }) => name === 'parquet')) {
    const stray = parsed.options.find(({ name }) => !OF_LISTS.has(name));
    if (stray)
      throw usageError(
        `${stray.label} is for a table of features; name the file to write with --parquet FILE`,
      );
    if (parsed.positionals.length > 1)
      throw usageError(
        `"${parsed.positionals[1]}" is one argument too many: name one feature extractor, or give --parquet FILE to ` +
          'measure videos and write a table',
      );
    return 'list';
  }
  return tableOf(settingsOf(parsed.options, FEATURES_OPTIONS), parsed.positionals);
}

function tableOf(settings: Partial<AskedSettings>, positionals: readonly string[]): FeatureTable {
  const { parquet: output = '', list, keys = [], opinions = [], quiet = false, json = false } = settings;
  const { features, teacher, options: pairing = {} } = settings;
  checkPairingOptions(pairing);
  const options = { ...pairing, ...(teacher !== undefined && { teacher }), ...(features && { features }) };
  const option = keys.length > 0 ? '--key' : opinions.length > 0 ? '--mos' : undefined;
  const pairs =
    list === undefined
      ? namedPairs(videosOf(settings, positionals, MAX_DISTORTED, NAME), keys, opinions)
      : listedPairs(list, settings, positionals[0] ?? option);
  return { output, options, quiet, json, pairs };
}

/** @param surplus an argument that names videos beside the list */
function listedPairs(list: string, videos: Partial<VideoSettings>, surplus?: string): FeatureTable['pairs'] {
  if (surplus !== undefined)
    throw usageError(
      `${surplus} cannot be used with --pairs, whose list names the videos with their keys and opinion scores`,
    );
  const { raw } = videosOf(videos, [list, list], 1, NAME);
  return { list, ...(raw && { raw }) };
}

function namedPairs(
  { reference, distorted, raw }: Videos,
  keys: readonly string[],
  opinions: readonly number[],
): FeatureTable['pairs'] {
  const keyOf = oneOrEach(keys, distorted.length, '--key');
  const mosOf = oneOrEach(opinions, distorted.length, '--mos');
  return distorted.map((video, i) => ({
    reference,
    distorted: video,
    ...(raw && { raw }),
    key: keyOf(i),
    mos: mosOf(i),
  }));
}

/** A bare name is a built-in model. */
function modelString(use: OptionUse): string {
  if (use.value === '') throw usageError(`${use.label} is empty, but it must name a model`);
  return use.value.includes('=') ? use.value : `version=${use.value}`;
}

/** Returns the value for each distorted video; a single value applies to all. */
function oneOrEach<T>(values: readonly T[], count: number, label: string): (index: number) => T | undefined {
  if (values.length > 1 && values.length !== count)
    throw usageError(
      `${label} is given ${values.length} times, but there ${count === 1 ? 'is one distorted video' : `are ${count} distorted videos`}; ` +
        'give it once, or once for each',
    );
  return (index) => (values.length === 1 ? values[0] : values[index]);
}

const COLUMNS = ['reference', 'distorted', 'key', 'clip', 'mos'];

/**
 * Parses a list of pairs: CSV (RFC 4180) with a header.
 * @param list its name, for messages
 * @param locate resolves a path of the list
 * @throws {AnyvmafError} `usage`, naming the line
 */
export function parsePairs(
  text: string,
  list: string,
  locate: (path: string) => string,
  raw: DatasetPair['raw'],
): DatasetPair[] {
  const { columns, rows } = csvTable(text, list);
  const names = columns.map((name) => name.trim().toLowerCase());
  const unknown = names.find((name) => !COLUMNS.includes(name));
  if (unknown !== undefined || !names.includes('reference') || !names.includes('distorted'))
    throw usageError(
      `the first line of ${list} must name the columns reference and distorted and, optionally, key, clip and mos` +
        `${unknown === undefined ? '' : `, but it has ${quoted(unknown)}`}`,
    );
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw usageError(`the first line of ${list} names the column ${twice} twice`);
  if (rows.length === 0) throw usageError(`${list} lists no pairs of videos`);
  return rows.map(({ entries, line }) => {
    const field = (name: string) => entries[names.indexOf(name)]?.[1] || undefined;
    const video = (name: string) => {
      const path = field(name);
      if (path === undefined) throw usageError(`line ${line} of ${list} names no ${name} video`);
      return localPath(locate(path));
    };
    const value = field('mos');
    const label = `mos in line ${line} of ${list}`;
    return {
      reference: video('reference'),
      distorted: video('distorted'),
      ...(raw && { raw }),
      key: field('key'),
      clip: field('clip'),
      mos: value === undefined ? undefined : numberValue({ name: 'mos', label, value }),
    };
  });
}

export async function writeTable(settings: FeatureTable, terminal: Terminal): Promise<number> {
  const { output, options, quiet, json } = settings;
  const pairs = await pairsOf(settings);
  const inputs = pairs.flatMap(({ reference, distorted }) => [String(reference), String(distorted)]);
  const list = 'list' in settings.pairs ? [settings.pairs.list] : [];
  const file = await openOutput(output, [...inputs, ...list]);
  const bar = openProgressBar(terminal, quiet);
  return interruptible(async ({ signal }) => {
    const { writeFeatures } = await import('../../index.js');
    const table = writeFeatures(pairs, { ...options, signal, ...(bar && { onProgress: bar.show }) });
    let summary: DatasetSummary | undefined;
    const rowsOf = async function* () {
      summary = yield* table;
    };
    await file.write(rowsOf(), signal).finally(() => bar?.clear());
    if (!summary) throw new AnyvmafError('internal', `nothing was written to ${output}`);
    for (const warning of summary.warnings) terminal.complain(`warning: ${warning}`);
    const { rows, columns } = summary;
    const counts = `${counted(rows, 'row')} of ${counted(pairs.length, 'pair')}`;
    const text = `${output}: ${counts}, columns ${columns.join(' ')}\n`;
    await terminal.print(json ? asJson({ file: output, rows, pairs: pairs.length, columns }) : text);
    return EXIT.ok;
  });
}

async function pairsOf({ pairs }: FeatureTable): Promise<readonly DatasetPair[]> {
  if (!('list' in pairs)) return pairs;
  const { list, raw } = pairs;
  return parsePairs(await readText(list), list, besideList(list), raw);
}

const listing = listingCommand({
  command: 'features',
  noun: 'feature extractor',
  about: 'Lists the extractors for --feature NAME, or describes one of them with its options and features.',
  items: async () => (await import('../../index.js')).listExtractors(),
  list: (extractors, width) => {
    const rows = extractors.map(({ name, description }): [string, string] => [name, description]);
    return `Extractors, for --feature NAME; 'anyvmaf features NAME' lists the options:\n\n${twoColumns(rows, width)}\n`;
  },
  describe: (extractor) => ({ data: extractor, text: (width) => describe(extractor, width) }),
});

const page: HelpPage = {
  usage: [
    'anyvmaf features [--json] [NAME]',
    'anyvmaf features --parquet FILE REF DISTORTED...',
    'anyvmaf features --parquet FILE --pairs LIST.csv',
  ],
  about:
    'Lists the extractors for --feature NAME, or describes one of them with its options and features. With ' +
    '--parquet it measures videos instead and writes a table for training and evaluating models: key, clip, frame, mos, ' +
    'adm2, vif_scale0 to vif_scale3, motion2, and what else is requested.',
  options: FEATURES_OPTIONS,
};

export const features: Command = {
  page,
  run: async (args, terminal) => {
    const settings = featuresSettings(args);
    if (settings === 'help') return page;
    return settings === 'list' ? listing.run(args, terminal) : writeTable(settings, terminal);
  },
};

function describe({ name, description, options, features: emitted }: ExtractorSpec, width: number): string {
  const settings = options.map((option): [string, string] => [
    `${option.name}=${option.choices?.join('|') ?? (option.type === 'bool' ? 'true|false' : 'N')}`,
    `${option.description} ${valueText(option)}`,
  ]);
  const names = emitted.map(({ alias, when, emitted: time, stills }): [string, string] => {
    const needs = when.length > 0 ? `, with ${when.join(' and ')}` : '';
    const scope = time === 'sequence' ? 'one value for all frames' : stills ? 'of stills' : 'per frame';
    return [alias, scope + needs];
  });
  return [
    `${name}\n`,
    `${wrap(description, width).join('\n')}\n`,
    settings.length > 0
      ? `Options, as in --feature ${name}=OPTION=VALUE:OPTION=VALUE:\n${twoColumns(settings, width)}\n`
      : 'It has no options.\n',
    `Features in the report:\n${twoColumns(names, width)}\n`,
  ].join('\n');
}

function valueText({ type, default: byDefault, min, max, inName }: ExtractorSpec['options'][number]): string {
  const parts = [`Default ${byDefault}`];
  if (type === 'int' || type === 'double') {
    const from = min ?? Number.NEGATIVE_INFINITY;
    const to = max ?? Number.POSITIVE_INFINITY;
    if (to < Number.MAX_VALUE) parts.push(`${from} to ${to}`);
    else if (Number.isFinite(from)) parts.push(`at least ${from}`);
  }
  if (inName) parts.push('shown in the names of the features');
  return `(${parts.join('; ')})`;
}
