/**
 * @module cli/commands/merge
 * `anyvmaf merge PART...`: joins the parts of a run into one report.
 */
import { usageError } from '../../core/errors.js';
import { isUrl } from '../../core/names.js';
import { withoutAccess } from '../../core/printable.js';
import { MOST_REPORT_BYTES, readText } from '../../files/text-file.js';
import type { Shard } from '../../index.js';
import { command, type HelpText } from '../command.js';
import { completeReport, interruptible } from '../exit.js';
import { HELP_OPTION, HOSTS_HELP, type Option, optionTable } from '../options.js';
import { OUTPUT_OPTIONS, type OutputSettings, outputsOf } from '../output-options.js';
import { hostsOf, type TableSettings, tableReader } from '../table-options.js';
import { YES_OPTION } from '../terminal.js';
import { deliver, openOutputs } from './delivery.js';

const NAME = 'anyvmaf merge';

const MERGE_OPTIONS: readonly Option<OutputSettings & TableSettings>[] = [
  // Pictures need the videos, which may be gone.
  ...OUTPUT_OPTIONS.filter(({ name }) => name !== 'no-pictures' && name !== 'html-size'),
  ...optionTable({
    Running: {
      '--allow-url HOST': [HOSTS_HELP, tableReader('allowUrl')],
      '-q, --quiet': ['plain scores instead of the summary', () => ({ quiet: true })],
      ...YES_OPTION,
      ...HELP_OPTION,
    },
  }),
];

const page: HelpText = {
  usage: [`${NAME} [options] PART...`],
  about:
    'Joins the parts of a pair that were measured with --shard, on one machine or many, into one report: bit for ' +
    'bit the numbers of a single run. Names parts that are missing or do not belong together. Takes the ' +
    'records in any order.',
  sections: {
    Examples: [
      ['anyvmaf ref.mp4 dis.mp4 --shard 1/4 -o part-1.json', 'measure the first of four parts'],
      ['anyvmaf merge part-*.json', 'merge all of them'],
      ['anyvmaf merge part-*.json -o report.json', 'write the report'],
    ],
  },
};

export const merge = command(
  NAME,
  MERGE_OPTIONS,
  page,
  async ({ settings: asked, positionals, args, terminal }) => {
    const { options = {}, ...reported } = asked;
    if (positionals.length === 0)
      throw usageError(
        `no parts given; name the records that anyvmaf --shard I/N wrote: ${NAME} part-*.json`,
      );
    const settings = outputsOf(reported);
    const hosts = hostsOf(options, [...positionals, settings.output, settings.html]) ?? [];
    const outputs = await openOutputs({ ...settings, distorted: [] }, positionals, hosts);
    return interruptible(async (stop) => {
      const api = await import('../../index.js');
      const shards: Shard[] = [];
      for (const name of positionals) {
        stop.signal.throwIfAborted();
        shards.push(await api.readShard(await textOf(name, hosts, stop.signal), withoutAccess(name)));
      }
      const report = completeReport(await api.mergeShards(shards, { signal: stop.signal }), []);
      const outcome = { reports: [report], failures: [], options: shards[0]?.options };
      const makePage = async () => (await import('../printed.js')).htmlText(outcome, ['merge', ...args]);
      const delivery = { ...settings, distorted: [report.distorted.name] };
      return deliver(outcome, delivery, outputs, { terminal, stop, makePage });
    });
  },
);

async function textOf(name: string, hosts: readonly string[], signal: AbortSignal): Promise<string> {
  if (!isUrl(name)) return readText(name);
  const { fetchWhole } = await import('../../remote/remote-file.js');
  return (await fetchWhole(name, hosts, MOST_REPORT_BYTES, signal)).toString();
}
