/**
 * @module cli/command
 * What a command of the program is, and the list of them. Each is loaded only when it runs.
 */
import type { HelpPage } from './help.js';
import type { Terminal } from './terminal.js';

/** One command, in a file of its own under cli/commands. */
export interface Command {
  /** What `--help` and `anyvmaf help NAME` print. */
  readonly page: HelpPage;
  /**
   * Runs it.
   * @param args what followed the command's name
   * @returns the exit code, or the page to print where help is asked for
   * @throws {AnyvmafError} with a message for the user
   */
  run(args: readonly string[], terminal: Terminal): Promise<number | HelpPage>;
}

/** A command by name. */
export interface CommandEntry {
  readonly name: string;
  /** One line for the list in the help. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** All commands; the first is the default. */
export const COMMANDS: readonly [CommandEntry, ...CommandEntry[]] = [
  {
    name: 'score',
    summary: 'score videos against a reference; runs when no command is named',
    load: async () => (await import('./commands/score.js')).score,
  },
  {
    name: 'batch',
    summary: 'score a table of pairs, and go on where an earlier run ended',
    load: async () => (await import('./commands/batch.js')).batch,
  },
  {
    name: 'merge',
    summary: 'make the report of a pair that was measured in parts, on one machine or many',
    load: async () => (await import('./commands/merge.js')).merge,
  },
  {
    name: 'work',
    summary: 'score the jobs of a queue; as many workers as there are machines',
    load: async () => (await import('./commands/work.js')).work,
  },
  {
    name: 'queue',
    summary: 'watch a queue, list its dead jobs, put them back, or cancel jobs',
    load: async () => (await import('./commands/queue.js')).queue,
  },
  {
    name: 'inspect',
    summary: 'say what would make the score of two videos wrong, without scoring them',
    load: async () => (await import('./commands/inspect.js')).inspect,
  },
  {
    name: 'align',
    summary: 'find the offset between two videos',
    load: async () => (await import('./commands/align.js')).align,
  },
  {
    name: 'heatmap',
    summary: 'draw where in single frames quality is lost',
    load: async () => (await import('./commands/heatmap.js')).heatmap,
  },
  {
    name: 'search',
    summary: 'find the setting with which an encoder reaches a quality',
    load: async () => (await import('./commands/search.js')).search,
  },
  {
    name: 'ladder',
    summary: 'choose sizes and settings to offer a video in',
    load: async () => (await import('./commands/ladder.js')).ladder,
  },
  {
    name: 'compare-encoders',
    summary: 'say which encoder or preset needs less for equal quality',
    load: async () => (await import('./commands/compare-encoders.js')).compareEncodersCommand,
  },
  {
    name: 'shots',
    summary: 'find the shots of a video, and an encoder setting for each',
    load: async () => (await import('./commands/shots.js')).shots,
  },
  {
    name: 'models',
    summary: 'list the models, describe one, or pull one that does not ship',
    load: async () => (await import('./commands/models.js')).models,
  },
  {
    name: 'features',
    summary: 'list the feature extractors, describe one, or write features of videos as a table',
    load: async () => (await import('./commands/features.js')).features,
  },
  {
    name: 'tiny',
    summary: 'say what tiny ONNX models are worth on a table of features',
    load: async () => (await import('./commands/tiny.js')).tiny,
  },
  {
    name: 'backends',
    summary: 'list what can measure frames here: the own core and installed programs',
    load: async () => (await import('./commands/backends.js')).backends,
  },
  {
    name: 'setup',
    summary: 'fetch, list or remove parts that do not come with the package',
    load: async () => (await import('./commands/setup.js')).setup,
  },
  {
    name: 'doctor',
    summary: 'say what is installed, what works, and how to get the rest',
    load: async () => (await import('./commands/doctor.js')).doctor,
  },
  {
    name: 'bench',
    summary: 'time every backend that works here, and compare their numbers',
    load: async () => (await import('./commands/bench.js')).bench,
  },
  {
    name: 'mcp',
    summary: 'serve the tools to AI agents (Model Context Protocol)',
    load: async () => (await import('./commands/mcp.js')).mcp,
  },
  {
    name: 'help',
    summary: 'show this help, or that of a command',
    load: async () => (await import('./commands/help.js')).help,
  },
];
