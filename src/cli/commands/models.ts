/**
 * @module cli/commands/models
 * `anyvmaf models [NAME]` lists models; `anyvmaf models pull NAME|all` fetches those that do not ship with the package.
 */
import { SHORT_MODEL_NAMES } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { ModelDescription, ModelSummary } from '../../index.js';
import { wrap } from '../../report/sections.js';
import {
  asJson,
  type Command,
  command,
  type HelpText,
  itemNamed,
  listingCommand,
  twoColumns,
} from '../command.js';
import { EXIT, interruptible } from '../exit.js';
import { HELP_OPTION, JSON_OPTION, optionTable } from '../options.js';

const OPTIONS = optionTable({
  Options: {
    '--from URL': [
      'a server that has the files as OWNER/REPOSITORY/TAG/FOLDER/FILE (default: ANYVMAF_MODELS_FROM, else GitHub)',
      ({ value }) => ({ from: value }),
    ],
    ...JSON_OPTION,
    ...HELP_OPTION,
  },
});

const page: HelpText = {
  usage: ['anyvmaf models pull [--from URL] [--json] NAME|all'],
  about:
    'Fetches models that do not ship with the package from the VMAF repository, verifies their checksums, and ' +
    'caches them (ANYVMAF_CACHE), so that --model version=NAME works offline from then on.',
};

const modelsPull = command(
  'anyvmaf models pull',
  OPTIONS,
  page,
  async ({ settings, positionals, terminal }) => {
    const { from, json } = settings;
    const [name, surplus] = positionals;
    if (name === undefined)
      throw usageError("no model given; 'anyvmaf models' lists them, and all fetches all");
    if (surplus !== undefined)
      throw usageError(`${quoted(surplus)} is one argument too many; name one model, or all`);
    return interruptible(async (stop) => {
      const { listModels, pullModel } = await import('../../index.js');
      if (name !== 'all') itemNamed(name, await listModels(), 'model');
      const pulled = await pullModel(name, { signal: stop.signal, ...(from !== undefined && { from }) });
      const lines = pulled.map(
        (model) => `${model.name}: ${model.fetched ? 'fetched' : 'already there'}, ${model.place}\n`,
      );
      const text = lines.join('') || `${name} ships with the package; there is nothing to fetch\n`;
      await terminal.print(json ? asJson(pulled) : text);
      return EXIT.ok;
    });
  },
);

const listing = listingCommand({
  command: 'models',
  noun: 'model',
  usage: ['anyvmaf models pull NAME|all'],
  about:
    'Lists the models for --model version=NAME, or describes one of them. Those that do not ship with the package ' +
    "need 'anyvmaf models pull NAME' first.",
  short: SHORT_MODEL_NAMES,
  items: async () => (await import('../../index.js')).listModels(),
  list: (models, width) =>
    `Models, for --model version=NAME; 'anyvmaf models NAME' describes one:\n\n${tables(models, width)}`,
  describe: async (summary) => {
    if (summary.availability === 'to be pulled')
      return { data: summary, text: (width) => describeAbsent(summary, width) };
    const { describeModel } = await import('../../index.js');
    const model = await describeModel(summary.name);
    return { data: model, text: (width) => describe(model, width) };
  },
});

export const models: Command = {
  page: listing.page,
  run: ([first, ...rest], terminal) => {
    if (first !== 'pull') return listing.run(first === undefined ? [] : [first, ...rest], terminal);
    return modelsPull.run(rest, terminal);
  },
};

/** Lists the models that ship, then those to be pulled. */
function tables(list: readonly ModelSummary[], width: number): string {
  const builtIn: [string, string][] = [];
  const others: [string, string][] = [];
  for (const { name, intendedUse, availability } of list) {
    if (availability === 'built-in') builtIn.push([name, intendedUse]);
    else others.push([name, `${intendedUse} (${availability})`]);
  }
  const head = "\nNot in the package; 'anyvmaf models pull NAME' fetches one, or all:\n\n";
  const rest = others.length > 0 ? `${head}${twoColumns(others, width)}\n` : '';
  return `${twoColumns(builtIn, width)}\n${rest}`;
}

function describeAbsent({ name, intendedUse, features }: ModelSummary, width: number): string {
  return [
    `${name}\n`,
    `${wrap(intendedUse, width).join('\n')}\n`,
    `Features it reads: ${features.join(', ')}\n`,
    `To be pulled: run 'anyvmaf models pull ${name}'; it works offline from then on.\n`,
  ].join('\n');
}

function describe(model: ModelDescription, width: number): string {
  const { name, kind, intendedUse, inputs, clip, transform, supportVectors, licence, sha256 } = model;
  const members = supportVectors.length;
  const collection = `the model and ${members - 1} more for a confidence interval`;
  const range = clip && `clipped to ${clip[0]}..${clip[1]} unless disable_clip is given`;
  const facts: [string, string][] = [
    ['kind', kind === 'single' ? 'single model' : collection],
    ['scores', range ?? 'not clipped'],
    ['transform', transformText(transform)],
    ['vectors', `${supportVectors.slice(0, 3).join(', ')}${members > 3 ? ', ...' : ''} support vectors`],
    ['licence', licence],
    ['sha256', sha256],
  ];
  const reads = inputs.map(({ logName, extractor, options }): [string, string] => {
    const set = Object.entries(options).map(([option, value]) => `${option}=${value}`);
    return [logName, [`from ${extractor}`, ...set].join(', ')];
  });
  return [
    `${name}\n`,
    `${wrap(intendedUse, width).join('\n')}\n`,
    `Features it reads:\n${twoColumns(reads, width)}\n`,
    `Facts:\n${twoColumns(facts, width)}\n`,
  ].join('\n');
}

function transformText(transform: ModelDescription['transform']): string {
  if (transform === null) return 'none';
  return transform.enabled ? 'applied to every score' : 'applied when enable_transform is given';
}
