/**
 * @module cli/commands/backends
 * `anyvmaf backends`: what can measure frames here, and what would run it.
 */
import type { BackendList } from '../../index.js';
import { wrap } from '../../report/terminal.js';
import type { Command } from '../command.js';
import { EXIT } from '../exit.js';
import { type HelpPage, helpWidth, renderHelp, twoColumns } from '../help.js';
import { parseArguments } from '../options.js';
import { interruption } from '../signals.js';
import { LOOK_OPTIONS, lookSettings } from './look-options.js';

const NAME = 'anyvmaf backends';

const page: HelpPage = {
  usage: [`${NAME} [--json] [--vmaf-bin FILE]`],
  about:
    'Lists what --backend can name, and what was installed for it. A backend that is here may still lack its driver: ' +
    "'anyvmaf doctor' tries each of them.",
  options: LOOK_OPTIONS,
};

/** Lists backends. */
export const backends: Command = {
  page,
  run: async (args, terminal) => {
    const { help, json, vmafBin } = lookSettings(parseArguments(args, LOOK_OPTIONS, NAME), NAME);
    const width = helpWidth(terminal.columns);
    if (help) {
      await terminal.print(renderHelp(page, width));
      return EXIT.ok;
    }
    const stop = interruption();
    try {
      const { listBackends } = await import('../../index.js');
      const list = await listBackends({ vmafBin, signal: stop.signal });
      await terminal.print(json ? `${JSON.stringify(list, null, 2)}\n` : listing(list, width));
      return EXIT.ok;
    } finally {
      stop.release();
    }
  },
};

function listing({ details, native }: BackendList, width: number): string {
  const rows = details.map(({ backend, runs, advice }): [string, string] => [
    backend,
    runs ?? `not here. ${advice ?? ''}`,
  ]);
  const problem = native.error === null ? '' : `\n${wrap(native.error, width).join('\n')}\n`;
  return `Backends, for --backend NAME:\n\n${twoColumns(rows, width)}\n${problem}`;
}
