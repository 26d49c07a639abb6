/**
 * @module cli/commands/environment
 * The common part of commands that report on the installation: options, help, Ctrl-C, and printing.
 */
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { Command } from '../command.js';
import { type HelpPage, helpWidth } from '../help.js';
import { grouped, type ParsedArguments, parseArguments } from '../options.js';
import { interruptible } from '../signals.js';

const OPTIONS = grouped('Options', [
  { name: 'vmaf-bin', argument: 'FILE', help: 'the program to look at (default: VMAF_BIN, then PATH)' },
  { name: 'json', help: 'as JSON' },
  { name: 'help', help: 'show this help', last: true },
]);

/** What to report on. */
interface EnvironmentRequest {
  /** The native program to run; default VMAF_BIN, then PATH. */
  readonly vmafBin: string | undefined;
  readonly signal: AbortSignal;
}

interface EnvironmentReport {
  /** What --json prints. */
  readonly data: unknown;
  /** The same for people, on lines of `width` characters. */
  text(width: number): string;
  /** The exit code. */
  readonly code: number;
}

/** A command that reports on the installation. */
export function environmentCommand(
  name: string,
  about: string,
  report: (request: EnvironmentRequest) => Promise<EnvironmentReport>,
): Command {
  const page: HelpPage = { usage: [`${name} [--json] [--vmaf-bin FILE]`], about, options: OPTIONS };
  return {
    page,
    run: async (args, terminal) => {
      const { help, json, vmafBin } = readArguments(parseArguments(args, OPTIONS, name), name);
      const width = helpWidth(terminal.columns);
      if (help) return page;
      return interruptible(async (stop) => {
        const { data, text, code } = await report({ vmafBin, signal: stop.signal });
        await terminal.print(json ? `${JSON.stringify(data, null, 2)}\n` : text(width));
        return code;
      });
    },
  };
}

/**
 * @param command its name, for messages
 * @throws {AnyvmafError} `usage`
 */
function readArguments(
  { options, positionals }: ParsedArguments<(typeof OPTIONS)[number]['name']>,
  command: string,
) {
  const [surplus] = positionals;
  if (surplus !== undefined) {
    throw usageError(`${quoted(surplus)} is one argument too many; ${command} takes options only`);
  }
  const named = options.filter(({ name }) => name === 'vmaf-bin').at(-1);
  if (named?.value === '') throw usageError(`${named.label} is empty, but it must name a program`);
  return {
    help: options.some(({ name }) => name === 'help'),
    json: options.some(({ name }) => name === 'json'),
    vmafBin: named?.value,
  };
}
