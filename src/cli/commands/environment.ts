/**
 * @module cli/commands/look
 * What commands that look at what is installed have in common: help, Ctrl-C, and one text to print.
 */
import type { Command } from '../command.js';
import { EXIT } from '../exit.js';
import { type HelpPage, helpWidth, renderHelp } from '../help.js';
import { parseArguments } from '../options.js';
import { interruption } from '../signals.js';
import { LOOK_OPTIONS, lookSettings } from './look-options.js';

/** What to look at. */
export interface LookRequest {
  /** The program to look at; by itself VMAF_BIN, then PATH. */
  readonly vmafBin: string | undefined;
  readonly signal: AbortSignal;
}

/** What was seen. */
interface Seen {
  /** What --json prints. */
  readonly data: unknown;
  /** The same for people, on lines of so many characters. */
  text(width: number): string;
  /** The exit code. */
  readonly code: number;
}

/** A command that looks and tells. */
export function lookCommand(
  name: string,
  about: string,
  look: (request: LookRequest) => Promise<Seen>,
): Command {
  const page: HelpPage = { usage: [`${name} [--json] [--vmaf-bin FILE]`], about, options: LOOK_OPTIONS };
  return {
    page,
    run: async (args, terminal) => {
      const { help, json, vmafBin } = lookSettings(parseArguments(args, LOOK_OPTIONS, name), name);
      const width = helpWidth(terminal.columns);
      if (help) {
        await terminal.print(renderHelp(page, width));
        return EXIT.ok;
      }
      const stop = interruption();
      try {
        const { data, text, code } = await look({ vmafBin, signal: stop.signal });
        await terminal.print(json ? `${JSON.stringify(data, null, 2)}\n` : text(width));
        return code;
      } finally {
        stop.release();
      }
    },
  };
}
