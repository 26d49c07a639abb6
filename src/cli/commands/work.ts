/**
 * @module cli/commands/work
 * `anyvmaf work --queue URL --allow DIR`: runs a worker of a queue.
 */
import { availableParallelism, hostname } from 'node:os';
import { onAbort } from '../../core/abort.js';
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { realFolders } from '../../files/allowed-paths.js';
import { authority, isLoopback } from '../../mcp/guard.js';
import { queueAddress } from '../../queue/address.js';
import type { QueueConnection } from '../../queue/connect.js';
import type { MetricsAddress, MetricsServer } from '../../queue/metrics.js';
import type { QueueWorker } from '../../queue/worker.js';
import { command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import {
  betweenValue,
  grouped,
  HELP_OPTION,
  type OptionUse,
  refusedValue,
  secondsValue,
} from '../options.js';
import {
  HOSTS_OPTION,
  hideArguments,
  QUEUE_OPTION,
  RESULTS_OPTION,
  requireQueue,
} from '../queue/queue-options.js';
import { interruption } from '../signals.js';
import type { Terminal } from '../terminal.js';

const NAME = 'anyvmaf work';
const MOST_CONCURRENCY = 256;
const [LEAST_LEASE, USUAL_LEASE, MOST_LEASE] = [2, 30, 3600];
/** Six hours. */
const USUAL_MOST_SECONDS = 21_600;
/** Milliseconds to return tasks to the queue, whose server may be far away. */
const PATIENCE = 8000;

interface WorkSettings {
  readonly queue: string;
  readonly allow: readonly string[];
  readonly hosts: readonly string[];
  readonly results?: string;
  readonly concurrency: number;
  readonly threads?: number;
  readonly lease: number;
  readonly maxSeconds: number;
  readonly metrics?: MetricsAddress;
  readonly quiet: boolean;
}

const WORK_OPTIONS = grouped<WorkSettings>('Worker', [
  QUEUE_OPTION,
  {
    name: 'allow',
    argument: 'DIR',
    help: 'read videos and models only under this folder. May be repeated',
    read: ({ value }, { allow = [] }) => ({ allow: [...allow, value] }),
  },
  HOSTS_OPTION,
  RESULTS_OPTION,
  {
    name: 'concurrency',
    argument: 'N',
    help: 'tasks at the same time (default: 1)',
    read: (use) => ({ concurrency: betweenValue(use, 2, 1, MOST_CONCURRENCY) }),
  },
  {
    name: 'threads',
    argument: 'N',
    help: 'maximum threads per task (default: one per core, shared by tasks)',
    read: (use) => ({ threads: betweenValue(use, 4, 1, 1024) }),
  },
  {
    name: 'lease',
    argument: 'SECONDS',
    help: 'seconds after which a silent worker loses its tasks to others (default: 30)',
    read: (use) => ({ lease: betweenValue(use, USUAL_LEASE, LEAST_LEASE, MOST_LEASE) }),
  },
  {
    name: 'max-seconds',
    argument: 'N',
    help: 'fail a task that takes longer than N seconds (default: 21600)',
    read: (use) => ({ maxSeconds: secondsValue(use) }),
  },
  {
    name: 'metrics',
    argument: 'PORT',
    help: 'serve Prometheus metrics at this port of 127.0.0.1, or at HOST:PORT',
    read: (use) => ({ metrics: metricsValue(use) }),
  },
  { name: 'quiet', short: 'q', help: 'print only errors', read: () => ({ quiet: true }) },
  HELP_OPTION,
]);

const page: HelpText = {
  usage: [`${NAME} --queue URL --allow DIR [options]`],
  about:
    'Scores the jobs that "anyvmaf batch --queue" submits, until it is stopped. Start one on each machine. With ' +
    '--results, long pairs are split into parts, and the last worker merges. SIGTERM and Ctrl-C return ' +
    'running tasks to the queue. ANYVMAF_QUEUE may hold the address of the queue, ANYVMAF_QUEUE_PASSWORD ' +
    'its password.',
  sections: [
    {
      title: 'Examples',
      rows: [
        ['anyvmaf work --queue redis://queue --allow /media', 'a worker'],
        ['anyvmaf batch jobs.csv -o r.jsonl --queue redis://queue', 'jobs for it'],
        ['anyvmaf queue --queue redis://queue', 'watch it'],
      ],
    },
  ],
};

export const work = command(NAME, WORK_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  if (positionals.length > 0) throw usageError(`unexpected argument ${positionals[0]}; see '${NAME} --help'`);
  const { allow = [], hosts = [] } = settings;
  if (allow.length + hosts.length === 0)
    throw usageError(
      'a worker reads only allowed folders and hosts; name one with --allow DIR or --allow-url HOST',
    );
  const usual = { concurrency: 1, lease: USUAL_LEASE, maxSeconds: USUAL_MOST_SECONDS, quiet: false };
  const queue = requireQueue(settings.queue, NAME);
  return runWorker({ ...usual, ...settings, allow, hosts, queue }, terminal);
});

function metricsValue(use: OptionUse): MetricsAddress {
  const [, six, host = six ?? '127.0.0.1', port] =
    /^(?:(?:\[([0-9a-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(use.value) ?? [];
  if (port !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw refusedValue(use, 'PORT or HOST:PORT, such as 9464');
}

async function runWorker(settings: WorkSettings, terminal: Terminal): Promise<number> {
  const address = queueAddress(settings.queue, process.env);
  hideArguments();
  const { allow, hosts } = settings;
  const folders = await realFolders(allow, process.cwd(), (folder) =>
    usageError(`--allow ${quoted(folder)} is not a readable folder`),
  );
  const [{ QueueConnection }, { ResultsFolder }, { QueueWorker }, { serveMetrics }, { AllowedHosts }] =
    await Promise.all([
      import('../../queue/connect.js'),
      import('../../queue/results-folder.js'),
      import('../../queue/worker.js'),
      import('../../queue/metrics.js'),
      import('../../remote/allowed-hosts.js'),
    ]);
  new AllowedHosts(hosts);
  const files = await ResultsFolder.open(settings.results, hosts);
  const stop = interruption(PATIENCE);
  try {
    const connection = await QueueConnection.open(address, true);
    const { concurrency, lease, maxSeconds, quiet, metrics } = settings;
    const say = (sentence: string) => {
      if (!quiet) terminal.complain(sentence);
    };
    connection.onTrouble = (why) => say(`lost the queue at ${address.shown}; retrying: ${why}`);
    const name = `${hostname()}-${process.pid}`;
    const rules = {
      allow: folders,
      hosts,
      threads: settings.threads ?? Math.max(1, Math.floor(availableParallelism() / concurrency)),
      ...(files.path !== undefined && { results: files.path }),
    };
    const worker = new QueueWorker(connection, files, { name, concurrency, lease, maxSeconds, rules, say });
    try {
      const start = [
        `worker ${name} of ${address.shown}, ${concurrency} at a time`,
        ...(files.path === undefined ? ['without --results, long pairs are not split'] : []),
      ];
      const served = metrics && {
        address: metrics,
        server: await serveMetrics(metrics, () => metricsText(worker, connection, concurrency)),
      };
      await untilAborted(stop.signal, say, start, served);
    } finally {
      await worker.stop();
      await connection.close();
    }
    return EXIT.ok;
  } finally {
    stop.release();
  }
}

/** Adds counts of the queue if it answers within a second. */
async function metricsText(
  { metrics }: QueueWorker,
  connection: QueueConnection,
  concurrency: number,
): Promise<string> {
  const counts = await Promise.race([
    connection.counts().catch(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, 1000, undefined)),
  ]);
  return metrics.text(counts, concurrency);
}

async function untilAborted(
  signal: AbortSignal,
  say: (sentence: string) => void,
  start: readonly string[],
  served: { readonly address: MetricsAddress; readonly server: MetricsServer } | undefined,
): Promise<void> {
  try {
    for (const sentence of start) say(sentence);
    if (served) {
      const { address, server } = served;
      const open = isLoopback(address.host) ? '' : ', reachable from other machines';
      say(`metrics at http://${authority({ host: address.host, port: server.port })}/metrics${open}`);
    }
    await new Promise((resolve) => onAbort(signal, resolve));
    say('returning running tasks');
  } finally {
    await served?.server.close();
  }
}
