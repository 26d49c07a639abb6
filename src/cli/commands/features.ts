/**
 * @module cli/commands/features
 * `anyvmaf features [NAME]`: the feature extractors and their options; with `--parquet`, a table of features.
 */
import type { ExtractorSpec } from '../../index.js';
import { wrap } from '../../report/terminal.js';
import { type Command, type HelpPage, twoColumns } from '../command.js';
import { listingCommand } from '../listing.js';
import { FEATURES_OPTIONS, featuresSettings } from './features-table.js';

const extractors = async () => (await import('../../index.js')).listExtractors();

const listing = listingCommand({
  command: 'features',
  noun: 'feature extractor',
  about:
    'Lists the extractors that --feature NAME can name, or describes one of them with its options and features.',
  names: async () => (await extractors()).map(({ name }) => name),
  list: async () => {
    const list = await extractors();
    const rows = list.map(({ name, description }): [string, string] => [name, description]);
    return {
      data: list,
      text: (width) =>
        `Extractors, for --feature NAME; 'anyvmaf features NAME' lists the options:\n\n${twoColumns(rows, width)}\n`,
    };
  },
  describe: async (name) => {
    const extractor = (await extractors()).find((candidate) => candidate.name === name);
    return { data: extractor, text: (width) => (extractor ? describe(extractor, width) : '') };
  },
});

const page: HelpPage = {
  usage: [
    'anyvmaf features [--json] [NAME]',
    'anyvmaf features --parquet FILE REF DISTORTED...',
    'anyvmaf features --parquet FILE --pairs LIST.csv',
  ],
  about:
    'Lists the extractors that --feature NAME can name, or describes one of them with its options and features. With ' +
    '--parquet it measures videos instead and writes a table for training and evaluating models: key, clip, frame, mos, ' +
    'adm2, vif_scale0 to vif_scale3, motion2, and what else is asked for.',
  options: FEATURES_OPTIONS,
};

/** Lists or describes feature extractors, or writes features of videos. */
export const features: Command = {
  page,
  run: async (args, terminal) => {
    const settings = featuresSettings(args);
    if (settings.kind === 'list') return listing.run(settings.args, terminal);
    if (settings.kind === 'help') return page;
    const { writeTable } = await import('./features-table.js');
    return writeTable(settings, terminal);
  },
};

function describe({ name, description, options, features: emitted }: ExtractorSpec, width: number): string {
  const settings = options.map((option): [string, string] => [
    `${option.name}=${option.choices?.join('|') ?? (option.type === 'bool' ? 'true|false' : 'N')}`,
    `${option.description} ${valueText(option)}`,
  ]);
  const names = emitted.map(({ alias, when, emitted: time, stills }): [string, string] => {
    const needs = when.length > 0 ? [`with ${when.join(' and ')}`] : [];
    const given = time === 'sequence' ? 'one value for all frames' : stills ? 'of stills' : 'per frame';
    return [alias, [given, ...needs].join(', ')];
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
