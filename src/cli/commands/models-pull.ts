/**
 * @module cli/commands/models-pull
 * `anyvmaf models pull NAME|all`: fetches models that do not ship with the package.
 */
import { AnyvmafError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { Command } from '../command.js';
import { EXIT } from '../exit.js';
import { type HelpPage, helpWidth, renderHelp } from '../help.js';
import { type OptionSpec, parseArguments } from '../options.js';
import { interruption } from '../signals.js';

const OPTIONS = [
  {
    name: 'from',
    argument: 'URL',
    group: 'Options',
    help: 'a server that has the files as OWNER/REPOSITORY/TAG/FOLDER/FILE (default: ANYVMAF_MODELS_FROM, else GitHub)',
  },
  { name: 'json', group: 'Options', help: 'as JSON' },
  { name: 'help', group: 'Options', help: 'show this help', last: true },
] as const satisfies readonly OptionSpec[];

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
    if (options.some((use) => use.name === 'help')) {
      await terminal.print(renderHelp(page, helpWidth(terminal.columns)));
      return EXIT.ok;
    }
    const [name, surplus] = positionals;
    if (name === undefined) {
      throw new AnyvmafError('usage', "no model is named; 'anyvmaf models' lists them, and all fetches all");
    }
    if (surplus !== undefined) {
      throw new AnyvmafError('usage', `${quoted(surplus)} is one argument too many; name one model, or all`);
    }
    const from = options.findLast((use) => use.name === 'from')?.value;
    const stop = interruption();
    try {
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
    } finally {
      stop.release();
    }
  },
};
