/**
 * @module cli/command
 * What a command of the program is, and the list of them.
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

/** Commands by name, each with its line in the help; the first is the default. */
export const COMMANDS = [
  { name: 'score', summary: 'score videos against a reference; the default command' },
  { name: 'batch', summary: 'score a table of pairs; resume an interrupted run' },
  { name: 'merge', summary: 'join the parts of a run into one report' },
  { name: 'work', summary: 'score the jobs of a queue' },
  { name: 'queue', summary: 'show a queue, retry its dead jobs, cancel jobs' },
  { name: 'inspect', summary: 'check a pair for problems before you score it' },
  { name: 'align', summary: 'find the offset between two videos' },
  { name: 'heatmap', summary: 'draw loss heatmaps' },
  { name: 'search', summary: 'find the encoder setting that reaches a quality' },
  { name: 'ladder', summary: 'build a bitrate ladder' },
  { name: 'compare-encoders', summary: 'compare encoders or presets at equal quality' },
  { name: 'shots', summary: 'find shots, and an encoder setting for each' },
  { name: 'models', summary: 'list, describe or pull models' },
  { name: 'features', summary: 'list or describe feature extractors; write features as a table' },
  { name: 'tiny', summary: 'evaluate tiny ONNX models' },
  { name: 'backends', summary: 'list backends' },
  { name: 'setup', summary: 'fetch, list or remove optional components' },
  { name: 'doctor', summary: 'show what is installed, what works, and how to get the rest' },
  { name: 'bench', summary: 'time every available backend and compare their scores' },
  { name: 'mcp', summary: 'serve the tools to AI agents (Model Context Protocol)' },
  { name: 'help', summary: 'show this help, or that of a command' },
] as const;

export type CommandName = (typeof COMMANDS)[number]['name'];
