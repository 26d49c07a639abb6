/**
 * @module cli/commands/setup
 * `anyvmaf setup [PART...]`: fetches, lists or removes optional components.
 */
import { PART_NAMES, type PartName } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import { hasPackage, isHere, placeOf, removePart } from '../../parts/store.js';
import { isOffered, megabytes, PARTS, type Part, packedSize, specOf } from '../../parts/table.js';
import { asJson, command, type HelpText, helpWidth, twoColumns } from '../command.js';
import { EXIT } from '../exit.js';
import { grouped, HELP_OPTION, JSON_OPTION, orList } from '../options.js';
import { partsDoor } from '../parts-door.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';

const NAME = 'anyvmaf setup';

const OPTIONS = grouped<{ readonly remove: boolean; readonly json: boolean }>('Options', [
  { name: 'remove', help: 'remove the named parts, or all', read: () => ({ remove: true }) },
  JSON_OPTION,
  HELP_OPTION,
]);

const page: HelpText = {
  usage: [`${NAME} [--json]`, `${NAME} [--json] ${PART_NAMES.join('|')}...`, `${NAME} --remove [PART...]`],
  about:
    'Fetches parts that are too large to ship with anyvmaf, so that no command has to ask for them later: npm ' +
    'packages of a pinned version and content, into the cache (ANYVMAF_CACHE). Only the files in use are ' +
    'kept. Without a name it lists the parts. A package that is installed beside anyvmaf takes precedence ' +
    'over a part.',
  sections: [
    { title: 'Parts', rows: Object.values(PARTS).map(({ name, use }): [string, string] => [name, use]) },
    {
      title: 'Environment',
      rows: [
        ['ANYVMAF_INSTALL=auto', 'fetch what is missing without asking'],
        ['ANYVMAF_INSTALL=never', 'fetch only here and with --yes'],
      ],
    },
  ],
};

interface PartState {
  readonly part: PartName;
  readonly use: string;
  readonly packages: readonly string[];
  readonly licences: readonly string[];
  /** Bytes to download, and bytes on disk. */
  readonly download: number;
  readonly size: number;
  readonly installed: boolean;
  /** The package is installed beside anyvmaf, and is used instead of the part. */
  readonly own: boolean;
  /** Set if the part was requested. */
  readonly fetched?: boolean;
  readonly place: string;
}

export const setup = command(NAME, OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const { json = false } = settings;
  const names = [...new Set(positionals.map(partName))];
  if (settings.remove) return remove(names, json, terminal);
  return interruptible(async (stop) => {
    const fetched = new Map<PartName, boolean>();
    for (const name of names) fetched.set(name, await fetch(name, stop.signal, terminal));
    const wanted = names.length > 0 ? names : PART_NAMES;
    const states = wanted.map((name) => stateOf(PARTS[name], fetched.get(name)));
    const text = names.length > 0 ? states.map(fetchedText).join('') : listText(states, terminal.columns);
    await terminal.print(json ? asJson(states) : text);
    return EXIT.ok;
  });
});

function partName(text: string): PartName {
  const name = PART_NAMES.find((one) => one === text);
  if (name) return name;
  const near = nearest(text, PART_NAMES);
  throw usageError(
    `there is no part ${quoted(text)}; ${near === undefined ? `the parts are ${orList(PART_NAMES)}` : `did you mean ${near}?`}`,
  );
}

async function fetch(name: PartName, signal: AbortSignal, terminal: Terminal): Promise<boolean> {
  const { installPart } = await import('../../parts/install.js');
  const { fetched } = await installPart(name, { signal, onPackage: partsDoor(terminal, false).say });
  return fetched;
}

async function remove(names: readonly PartName[], json: boolean, terminal: Terminal): Promise<number> {
  const removed: string[] = [];
  for (const name of names.length > 0 ? names : PART_NAMES) removed.push(...(await removePart(name)));
  const text =
    removed.length > 0 ? removed.map((place) => `removed ${place}\n`).join('') : 'nothing to remove\n';
  await terminal.print(json ? asJson({ removed }) : text);
  return EXIT.ok;
}

function stateOf(part: Part, fetched: boolean | undefined): PartState {
  const { name, use, packages, size } = part;
  return {
    part: name,
    use,
    packages: packages.map(specOf),
    licences: packages.map(({ licence }) => licence),
    download: packedSize(part),
    size,
    installed: isHere(part),
    own: hasPackage(packages[0].name),
    ...(fetched !== undefined && { fetched }),
    place: placeOf(part),
  };
}

function fetchedText({ part, fetched, size, place }: PartState): string {
  return `${part}: ${fetched ? 'fetched' : 'already there'}, ${megabytes(size)}, ${place}\n`;
}

function listText(states: readonly PartState[], columns: number): string {
  const rows = states.map(
    ({ part, use, packages, download, size, installed, own, place }): [string, string] => {
      const sizes = `${megabytes(size)} on disk`;
      const state = installed
        ? `installed, ${sizes}: ${place}`
        : isOffered(PARTS[part])
          ? `not installed; ${megabytes(download)} to fetch, ${sizes}`
          : 'not available for this system';
      const before = own ? ' (not needed: the package is installed beside anyvmaf)' : '';
      return [part, `${use} (${packages.join(', ')}): ${state}${before}`];
    },
  );
  return `Parts; '${NAME} PART' fetches one:\n\n${twoColumns(rows, helpWidth(columns))}\n`;
}
