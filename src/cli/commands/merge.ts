/**
 * @module cli/commands/merge
 * `anyvmaf merge PART...`: makes the report of a pair that was measured in parts.
 */
import { readFile, stat } from 'node:fs/promises';
import { AnyvmafError, usageError } from '../../core/errors.js';
import { shown, withoutAccess } from '../../core/printable.js';
import type { Shard } from '../../index.js';
import { command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import { findingsInFlags } from '../flags.js';
import { sayVerdict } from '../gate.js';
import { grouped, type OptionSpec } from '../options.js';
import { OUTPUT_OPTIONS, OutputArguments, type OutputSettings } from '../output-options.js';
import { HOSTS_OPTION } from '../queue/queue-options.js';
import { interruptible } from '../signals.js';
import { hostsOf, isUrl, type OptionsDraft, takeTableOption } from '../table-options.js';
import type { Terminal } from '../terminal.js';
import { type DeliverySettings, deliver, htmlText, openOutputs, reportText } from './delivery.js';

const NAME = 'anyvmaf merge';

const MERGE_OPTIONS = [
  // The videos need not be there any more.
  ...OUTPUT_OPTIONS.filter(({ name }) => name !== 'no-pictures' && name !== 'html-size'),
  ...grouped('Running', [
    HOSTS_OPTION,
    { name: 'quiet', short: 'q', help: 'plain scores instead of the summary' },
    { name: 'help', help: 'show this help', last: true },
  ]),
] as const satisfies readonly OptionSpec[];

const page: HelpText = {
  usage: [`${NAME} [options] PART...`],
  about:
    'Makes the report of a pair whose parts were measured with --shard, on one machine or many: the same numbers as in one ' +
    'run, to the last bit. Says which parts are missing, or which do not belong together. Takes the records in any order.',
  sections: [
    {
      title: 'Examples',
      rows: [
        ['anyvmaf ref.mp4 dis.mp4 --shard 1/4 -o part-1.json', 'measure the first of four parts'],
        ['anyvmaf merge part-*.json', 'merge all of them'],
        ['anyvmaf merge part-*.json -o report.json', 'write the report'],
      ],
    },
  ],
};

/** Merging of shards. */
export const merge = command(NAME, MERGE_OPTIONS, page, async (parsed, terminal, args) => {
  const outputs = new OutputArguments();
  const options: OptionsDraft = {};
  for (const use of parsed.options) if (!takeTableOption(use, options)) outputs.take(use);
  if (parsed.positionals.length === 0) {
    throw usageError(`no parts are named: ${NAME} part-*.json; they are what anyvmaf --shard I/N writes`);
  }
  const settings = outputs.finish();
  const hosts = hostsOf(options, [...parsed.positionals, settings.output, settings.html]) ?? [];
  return mergeParts(parsed.positionals, hosts, settings, args, terminal);
});

async function mergeParts(
  parts: readonly string[],
  hosts: readonly string[],
  settings: OutputSettings,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { file, page: pageFile, gate } = await openOutputs({ ...settings, distorted: [] }, parts, hosts);
  return interruptible(async (stop) => {
    const api = await import('../../index.js');
    const shards: Shard[] = [];
    for (const name of parts) {
      stop.signal.throwIfAborted();
      shards.push(await api.readShard(await textOf(name, hosts, stop.signal), withoutAccess(name)));
    }
    const merged = await api.mergeShards(shards, { signal: stop.signal });
    const { preflight } = merged;
    const report = { ...merged, ...(preflight && { preflight: findingsInFlags(preflight) }) };
    const outcome = { reports: [report], failures: [] };
    const delivery: DeliverySettings = { ...settings, distorted: [report.distorted.name] };
    if (file) await file.write(await reportText(outcome, delivery), stop.signal);
    const text = settings.html === undefined ? undefined : await htmlText(outcome, ['merge', ...args]);
    if (pageFile && text) await pageFile.write(text, stop.signal);
    const verdict = await gate?.judge(outcome, stop.signal);
    stop.release();
    await deliver(outcome, delivery, terminal, false);
    if (text && !pageFile) for (const piece of text) await terminal.print(piece);
    return verdict ? sayVerdict(verdict, terminal) : EXIT.ok;
  });
}

/** Largest record that is read; longer parts need more of them. */
const MOST_BYTES = 400 * 1024 * 1024;

async function textOf(name: string, hosts: readonly string[], signal: AbortSignal): Promise<string> {
  if (isUrl(name)) {
    const { fetchWhole } = await import('../../remote/store.js');
    return (await fetchWhole(name, hosts, MOST_BYTES, signal)).toString();
  }
  try {
    const { size } = await stat(name);
    if (size > MOST_BYTES) throw new Error(`it has ${size} bytes, more than the ${MOST_BYTES} of a record`);
    return await readFile(name, 'utf8');
  } catch (cause) {
    throw new AnyvmafError('io', `cannot read "${shown(name)}": ${(cause as Error).message}`, { cause });
  }
}
