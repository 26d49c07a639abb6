/**
 * @module cli/commands/help
 * `anyvmaf help [COMMAND]`: shows a command's help page.
 */
import { usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import {
  COMMANDS,
  type Command,
  type CommandName,
  type HelpPage,
  helpWidth,
  renderHelp,
} from '../command.js';
import { EXIT } from '../exit.js';
import { HELP_OPTION, orList, parseArguments } from '../options.js';

const OPTIONS = [HELP_OPTION];

const page: HelpPage = {
  usage: ['anyvmaf help [COMMAND]'],
  about: 'Shows how a command is used; without a name, how videos are scored and which commands there are.',
  options: OPTIONS,
};

/** The command that shows help pages, also of others. */
export const helpOn = (load: (name: CommandName) => Promise<Command>): Command => ({
  page,
  run: async (args, terminal) => {
    const { options, positionals } = parseArguments(args, OPTIONS, 'anyvmaf help');
    const name = options.length > 0 ? 'help' : (positionals[0] ?? COMMANDS[0].name);
    const entry = COMMANDS.find((candidate) => candidate.name === name);
    if (entry === undefined) {
      const names = COMMANDS.map((candidate) => candidate.name);
      const near = nearest(name, names);
      throw usageError(
        `there is no command ${quoted(name)}; ${near === undefined ? `the commands are ${orList(names)}` : `did you mean ${near}?`}`,
      );
    }
    const { page: shown } = await load(entry.name);
    await terminal.print(renderHelp(shown, helpWidth(terminal.columns)));
    return EXIT.ok;
  },
});
