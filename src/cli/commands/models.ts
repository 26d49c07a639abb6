/**
 * @module cli/commands/models
 * `anyvmaf models [NAME]`: the models that ship with the package.
 */
import type { ModelDescription } from '../../index.js';
import { wrap } from '../../report/terminal.js';
import type { Command } from '../command.js';
import { twoColumns } from '../help.js';
import { listingCommand } from '../listing.js';

const api = () => import('../../index.js');

/** Lists or describes built-in models. */
export const models: Command = listingCommand({
  command: 'models',
  noun: 'model',
  about: 'Lists the models that --model version=NAME can name, or says what one of them is made of.',
  names: async () => (await (await api()).listModels()).map(({ name }) => name),
  list: async () => {
    const list = await (await api()).listModels();
    const rows = list.map(({ name, intendedUse }): [string, string] => [name, intendedUse]);
    return {
      data: list,
      text: (width) =>
        `Models, for --model version=NAME; 'anyvmaf models NAME' describes one:\n\n${twoColumns(rows, width)}\n`,
    };
  },
  describe: async (name) => {
    const model = await (await api()).describeModel(name);
    return { data: model, text: (width) => describe(model, width) };
  },
});

function describe(model: ModelDescription, width: number): string {
  const { name, kind, intendedUse, inputs, clip, transform, supportVectors, licence, sha256 } = model;
  const members = supportVectors.length;
  const facts: [string, string][] = [
    [
      'kind',
      kind === 'single' ? 'single model' : `the model and ${members - 1} more for a confidence interval`,
    ],
    [
      'scores',
      clip === null ? 'not clipped' : `clipped to ${clip[0]}..${clip[1]} unless disable_clip is given`,
    ],
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
