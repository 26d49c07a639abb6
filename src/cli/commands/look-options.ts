/**
 * @module cli/commands/look-options
 * The options of commands that look at what is installed. Pure.
 */
import { AnyvmafError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { OptionSpec, ParsedArguments } from '../options.js';

/** As help lists them. */
export const LOOK_OPTIONS = [
  {
    name: 'vmaf-bin',
    argument: 'FILE',
    group: 'Options',
    help: 'the program to look at (default: VMAF_BIN, then PATH)',
  },
  { name: 'json', group: 'Options', help: 'as JSON' },
  { name: 'help', group: 'Options', help: 'show this help', last: true },
] as const satisfies readonly OptionSpec[];

/** What a command line asks for. */
export interface LookSettings {
  readonly help: boolean;
  readonly json: boolean;
  readonly vmafBin: string | undefined;
}

/**
 * Reads the command line of such a command.
 * @param command how to call it, in messages
 * @throws {AnyvmafError} `usage`
 */
export function lookSettings(
  { options, positionals }: ParsedArguments<(typeof LOOK_OPTIONS)[number]['name']>,
  command: string,
): LookSettings {
  const [surplus] = positionals;
  if (surplus !== undefined) {
    throw new AnyvmafError(
      'usage',
      `${quoted(surplus)} is one argument too many; ${command} takes options only`,
    );
  }
  const named = options.filter(({ name }) => name === 'vmaf-bin').at(-1);
  if (named?.value === '')
    throw new AnyvmafError('usage', `${named.label} is empty, but it must name a program`);
  return {
    help: options.some(({ name }) => name === 'help'),
    json: options.some(({ name }) => name === 'json'),
    vmafBin: named?.value,
  };
}
