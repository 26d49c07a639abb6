/**
 * @module cli/program/program
 * Runs a command line: loads the command, runs it, and turns what it throws into one line and an exit code.
 */
import { existsSync, statSync } from 'node:fs';
import { usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import { openPartsDoor } from '../../parts/consent.js';
import { COMMANDS, type Command, type CommandName, command, helpWidth, renderHelp } from '../command.js';
import { EXIT, endProcess, errorLine, exitCodeOf } from '../exit.js';
import { orList } from '../options.js';
import { openTerminal, partsDoor, type Terminal } from '../terminal.js';

const LOADERS: Readonly<Record<CommandName, () => Promise<Command>>> = {
  score: async () => (await import('../commands/score.js')).score,
  batch: async () => (await import('../commands/batch.js')).batch,
  merge: async () => (await import('../commands/merge.js')).merge,
  work: async () => (await import('../commands/queue.js')).work,
  queue: async () => (await import('../commands/queue.js')).queue,
  inspect: async () => (await import('../commands/inspect.js')).inspect,
  align: async () => (await import('../commands/inspect.js')).align,
  heatmap: async () => (await import('../commands/heatmap.js')).heatmap,
  search: async () => (await import('../commands/search.js')).search,
  ladder: async () => (await import('../commands/curves.js')).ladder,
  'compare-encoders': async () => (await import('../commands/curves.js')).compareEncodersCommand,
  shots: async () => (await import('../commands/shots.js')).shots,
  models: async () => (await import('../commands/models.js')).models,
  features: async () => (await import('../commands/features.js')).features,
  tiny: async () => (await import('../commands/tiny.js')).tiny,
  backends: async () => (await import('../commands/environment.js')).backends,
  setup: async () => (await import('../commands/environment.js')).setup,
  doctor: async () => (await import('../commands/environment.js')).doctor,
  bench: async () => (await import('../commands/bench.js')).bench,
  mcp: async () => (await import('../commands/mcp.js')).mcp,
  help: async () => help,
};

export function loadCommand(name: CommandName): Promise<Command> {
  return LOADERS[name]();
}

export async function main(args: readonly string[]): Promise<never> {
  const terminal = openTerminal(process);
  const stray = (error: unknown) => process.exit(report(error, terminal));
  process.on('uncaughtException', stray).on('unhandledRejection', stray);
  const code = await runProgram(args, terminal);
  await terminal.flush();
  return endProcess(code);
}

/** @returns the exit code; errors are printed, never thrown */
export function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  return run(args, terminal).catch((error) => report(error, terminal));
}

/** Prints an error as one line, with its stack if ANYVMAF_DEBUG is set. @returns the exit code */
function report(error: unknown, terminal: Terminal): number {
  const message = errorLine(error);
  if (message !== undefined) terminal.complain(message);
  if (process.env.ANYVMAF_DEBUG && error instanceof Error) terminal.draw(`${error.stack}\n`);
  return exitCodeOf(error);
}

/** Commands that run unattended and must not ask. */
const UNATTENDED: readonly string[] = ['mcp', 'work'];

/** Runs the command that `args` names, by default the first of {@link COMMANDS}. */
async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, rest] = chooseCommand(args, (path) => existsSync(path) && !statSync(path).isDirectory());
  openPartsDoor(partsDoor(terminal, !UNATTENDED.includes(name)));
  const command = await loadCommand(name);
  const ended = await command.run(rest, terminal);
  if (typeof ended === 'number') return ended;
  await terminal.print(renderHelp(ended, helpWidth(terminal.columns)));
  return EXIT.ok;
}

/**
 * The command and its arguments. A first argument that names both a command and a file is a video.
 * @param isFile true for a path that exists and is not a folder
 */
export function chooseCommand(
  args: readonly string[],
  isFile: (path: string) => boolean,
): [CommandName, readonly string[]] {
  const [first, ...rest] = args;
  const named = COMMANDS.find((entry) => entry.name === first);
  return named && !isFile(named.name) ? [named.name, rest] : [COMMANDS[0].name, args];
}

const help = command(
  'anyvmaf help',
  [{ name: 'help', help: 'show this help', last: true }],
  {
    usage: ['anyvmaf help [COMMAND]'],
    about: 'Shows the help of a command; without a name, of scoring, with all commands.',
  },
  async ({ positionals: [name = COMMANDS[0].name], terminal }) => {
    const names = COMMANDS.map((entry) => entry.name);
    const known = names.find((other) => other === name);
    if (known === undefined) {
      const near = nearest(name, names);
      const hint = near === undefined ? `the commands are ${orList(names)}` : `did you mean ${near}?`;
      throw usageError(`there is no command ${quoted(name)}; ${hint}`);
    }
    const { page } = await loadCommand(known);
    await terminal.print(renderHelp(page, helpWidth(terminal.columns)));
    return EXIT.ok;
  },
);
