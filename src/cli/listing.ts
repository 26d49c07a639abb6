/**
 * @module cli/listing
 * Shared by the commands that list items or describe one of them.
 */
import { usageError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { asJson, type Command, command, helpWidth } from './command.js';
import { EXIT } from './exit.js';
import { grouped, HELP_OPTION, JSON_OPTION, orList } from './options.js';

const LISTING_OPTIONS = grouped<{ readonly json: boolean }>('Options', [JSON_OPTION, HELP_OPTION]);

/** A list or an item: its data, and its text for a width in columns. */
export interface View {
  readonly data: unknown;
  readonly text: (width: number) => string;
}

export interface Listing {
  /** Such as `models`. */
  readonly command: string;
  /** One item, such as `model`. */
  readonly noun: string;
  readonly usage?: readonly string[];
  readonly about: string;
  readonly names: () => Promise<readonly string[]>;
  /** Short names of some items. */
  readonly short?: ReadonlyMap<string, string>;
  readonly list: () => Promise<View>;
  readonly describe: (name: string) => Promise<View>;
}

/** Makes the command `anyvmaf COMMAND [NAME] [--json]`. */
export function listingCommand(listing: Listing): Command {
  const { noun, usage = [], about, names, short, list, describe } = listing;
  const name = `anyvmaf ${listing.command}`;
  const text = { usage: [`${name} [--json] [NAME]`, ...usage], about };
  return command(name, LISTING_OPTIONS, text, async ({ settings, positionals, terminal }) => {
    const width = helpWidth(terminal.columns);
    const [typed, surplus] = positionals;
    const wanted = typed === undefined ? undefined : (short?.get(typed.toLowerCase()) ?? typed);
    if (surplus !== undefined) {
      throw usageError(`${quoted(surplus)} is one argument too many; name one ${noun} at a time`);
    }
    if (wanted !== undefined) await known(wanted, noun, names);
    const view = wanted === undefined ? await list() : await describe(wanted);
    await terminal.print(settings.json ? asJson(view.data) : view.text(width));
    return EXIT.ok;
  });
}

async function known(name: string, noun: string, names: Listing['names']): Promise<void> {
  const all = await names();
  if (all.includes(name)) return;
  const near = nearest(name, all);
  const hint =
    near === undefined
      ? `there are ${orList(all).replace(/ or ([^ ]*)$/, ' and $1')}`
      : `did you mean ${near}?`;
  throw usageError(`there is no ${noun} ${quoted(name)}; ${hint}`);
}
