/**
 * @module cli/commands/models-pull
 * `anyvmaf models pull NAME|all`: fetches models that do not ship with the package.
 */
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { Command } from '../command.js';
import { EXIT } from '../exit.js';
import type { HelpPage } from '../help.js';
import { grouped, parseArguments } from '../options.js';
import { interruptible } from '../signals.js';

const OPTIONS = grouped('Options', [
  {
    name: 'from',
    argument: 'URL',
    help: 'a server that has the files as OWNER/REPOSITORY/TAG/FOLDER/FILE (default: ANYVMAF_MODELS_FROM, else GitHub)',
  },
  { name: 'json', help: 'as JSON' },
  { name: 'help', help: 'show this help', last: true },
]);

const page: HelpPage = {
  usage: ['anyvmaf models pull [--from URL] [--json] NAME|all'],
  about:
    'Fetches models that do not ship with the package from the repository of VMAF, checks their sums, and keeps them in ' +
    'the cache (ANYVMAF_CACHE), so that --model version=NAME works offline from then on.',
  options: OPTIONS,
};

/** Fetches one model, or all. */
export const modelsPull: Command = {
  page,
  run: async (args, terminal) => {
    const { options, positionals } = parseArguments(args, OPTIONS, 'anyvmaf models pull');
    if (options.some((use) => use.name === 'help')) return page;
    const [name, surplus] = positionals;
    if (name === undefined) {
      throw usageError("no model is named; 'anyvmaf models' lists them, and all fetches all");
    }
    if (surplus !== undefined) {
      throw usageError(`${quoted(surplus)} is one argument too many; name one model, or all`);
    }
    const from = options.findLast((use) => use.name === 'from')?.value;
    return interruptible(async (stop) => {
      const { pullModel } = await import('../../index.js');
      const pulled = await pullModel(name, { signal: stop.signal, ...(from !== undefined && { from }) });
      const lines = pulled.map(
        (model) => `${model.name}: ${model.fetched ? 'fetched' : 'already there'}, ${model.place}\n`,
      );
      const text =
        lines.length > 0 ? lines.join('') : `${name} ships with the package; there is nothing to fetch\n`;
      const json = options.some((use) => use.name === 'json');
      await terminal.print(json ? `${JSON.stringify(pulled, null, 2)}\n` : text);
      return EXIT.ok;
    });
  },
};
