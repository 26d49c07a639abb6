/**
 * @module cli/commands/queue
 * `anyvmaf work` runs a worker of a queue; `anyvmaf queue` shows a queue, lists and retries its dead jobs, cancels jobs.
 */
import { availableParallelism, hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { onAbort } from '../../core/abort.js';
import { ioError, usageError } from '../../core/errors.js';
import { counted, printable, quoted, shown } from '../../core/printable.js';
import { realFolders } from '../../files/allowed-paths.js';
import { authority, isLoopback } from '../../mcp/guard.js';
import { hideArguments, QueueConnection, queueAddress, queueError } from '../../queue/connect.js';
import type { DeadTask, QueueCounts } from '../../queue/job.js';
import { ResultsFolder } from '../../queue/results-folder.js';
import { cancelJobs, retryDead } from '../../queue/submit.js';
import { type MetricsAddress, type MetricsServer, QueueWorker, serveMetrics } from '../../queue/worker.js';
import { AllowedHosts } from '../../remote/request.js';
import { cut } from '../../report/sections.js';
import { command, type HelpText } from '../command.js';
import { EXIT, interruptible, interruption } from '../exit.js';
import {
  betweenValue,
  HELP_OPTION,
  HOSTS_OPTION,
  type OptionUse,
  optionRows,
  optionTable,
  orList,
  RESULTS_OPTION,
  refusedValue,
  type SettingsOf,
  secondsValue,
  texts,
} from '../options.js';
import type { Terminal } from '../terminal.js';

const QUEUE = 'anyvmaf queue';
/** Milliseconds between redraws. */
const REFRESH = 1000;
/** Dead tasks that are listed, the newest first. */
const MOST_LISTED = 1000;

const QUEUE_OPTION = optionRows({
  '--queue URL': [
    'the queue: redis://USER@HOST:PORT/DB, rediss:// for TLS; ?queue=NAME for one of several',
    ({ value }) => ({ queue: value }),
  ],
});

const QUEUE_OPTIONS = optionTable({
  Queue: {
    ...QUEUE_OPTION,
    ...RESULTS_OPTION,
    ...HOSTS_OPTION,
    '--json': ['print one object of JSON and exit', () => ({ json: true })],
    '--once': ['print the state once and exit', () => ({ once: true })],
    '--all': ['cancel: every job that has not ended', () => ({ all: true })],
    ...HELP_OPTION,
  },
});

const ACTIONS = ['view', 'dead', 'retry', 'cancel'] as const;

const queuePage: HelpText = {
  usage: [
    `${QUEUE} --queue URL`,
    `${QUEUE} dead --queue URL`,
    `${QUEUE} retry [ID...] --queue URL`,
    `${QUEUE} cancel ID...|--all --queue URL`,
  ],
  about:
    'Shows the waiting and running tasks of a queue, and its workers. dead lists jobs that failed permanently, ' +
    'with their errors. retry puts them back, all or those whose IDs begin with ID, and keeps what was ' +
    'measured of them. cancel ends jobs; workers stop within seconds.',
};

type QueueSettings = SettingsOf<typeof QUEUE_OPTIONS>;

interface QueueTask {
  readonly action: (typeof ACTIONS)[number];
  readonly ids: readonly string[];
  readonly settings: Partial<QueueSettings>;
}

export const queue = command(QUEUE, QUEUE_OPTIONS, queuePage, async ({ settings, positionals, terminal }) => {
  const task = { ...actionOf(positionals, settings.all === true), settings };
  const address = queueAddress(requireQueue(settings.queue, QUEUE), process.env);
  hideArguments();
  const connection = await QueueConnection.open(address);
  try {
    return await act(task, connection, terminal);
  } catch (error) {
    throw queueError(error, address);
  } finally {
    await connection.close();
  }
});

function actionOf([first = 'view', ...ids]: readonly string[], all: boolean) {
  const action = ACTIONS.find((name) => name === first);
  if (action === undefined)
    throw usageError(`there is no action ${quoted(first)}; the actions are ${orList(ACTIONS.slice(1))}`);
  const wrong = ids.find((id) => !/^[\w-]{4,100}$/.test(id));
  if (wrong !== undefined)
    throw usageError(
      `${shown(wrong)} is not the ID of a job, nor its first digits: '${QUEUE} dead' lists them`,
    );
  if (ids.length > 0 && (action === 'view' || action === 'dead'))
    throw usageError(`${action} takes no IDs; leave ${ids.join(' ')} out`);
  if (all && (action !== 'cancel' || ids.length > 0)) throw usageError('--all is for cancel without IDs');
  if (action === 'cancel' && ids.length === 0 && !all)
    throw usageError('cancel needs the IDs of jobs, or --all');
  return { action, ids };
}

/** @throws {AnyvmafError} `usage` if no queue is named */
function requireQueue(address: string | undefined, command: string): string {
  if (address !== undefined) return address;
  const variable = process.env.ANYVMAF_QUEUE;
  if (variable !== undefined && variable !== '') return variable;
  throw usageError(
    `no queue given; name it with --queue redis://HOST or in ANYVMAF_QUEUE; see '${command} --help'`,
  );
}

async function act({ action, ids, settings }: QueueTask, connection: QueueConnection, terminal: Terminal) {
  const { json, all, results, hosts } = settings;
  if (action === 'view') return view(settings, connection, terminal);
  if (action === 'dead') {
    const dead = await connection.dead(MOST_LISTED);
    await terminal.print(json ? `${JSON.stringify({ dead: dead.map(deadJson) })}\n` : deadText(dead));
    return EXIT.ok;
  }
  const files = await ResultsFolder.open(results, hosts);
  const selection = all || ids.length === 0 ? 'all' : ids;
  const count = await (action === 'retry' ? retryDead : cancelJobs)(connection, files, selection);
  const done = action === 'retry' ? 'put back' : 'cancelled';
  await terminal.print(
    json ? `${JSON.stringify({ [done.replace(' ', '_')]: count })}\n` : `${counted(count, 'job')} ${done}\n`,
  );
  if (count > 0 || ids.length === 0) return EXIT.ok;
  const [job, hint] = action === 'retry' ? ['dead job', `: '${QUEUE} dead' lists them`] : ['job', ''];
  throw ioError(`no ${job} has an ID that begins with ${ids.join(' or ')}${hint}`);
}

async function view({ json, once }: Partial<QueueSettings>, connection: QueueConnection, terminal: Terminal) {
  const look = async () => {
    const [counts, workers, open] = await Promise.all([
      connection.counts(),
      connection.workers(),
      connection.store.cutJobs(),
    ]);
    return { ...counts, cut_pairs: open.length, workers };
  };
  if (json) {
    await terminal.print(`${JSON.stringify(await look())}\n`);
    return EXIT.ok;
  }
  if (once || !terminal.interactive) {
    await terminal.print(`${viewText(await look()).join('\n')}\n`);
    return EXIT.ok;
  }
  await interruptible(async ({ signal }) => {
    for (let drawn = 0; !signal.aborted; ) {
      const text = [connection.address.shown, ...viewText(await look()), connection.lastError];
      const lines = screenLines(text, terminal.columns);
      const up = drawn > 0 ? `\x1b[${drawn}A\x1b[J` : '';
      await terminal.print(`${up}${lines.join('\n')}\n`);
      drawn = lines.length;
      await pause(REFRESH, undefined, { signal }).catch(() => {});
    }
  });
  return EXIT.ok;
}

/** One row each: a line that wraps would shift the next redraw. */
export function screenLines(lines: readonly string[], columns: number): string[] {
  return lines.map((line) => cut(printable(line), columns - 1, 'both'));
}

type View = QueueCounts & { readonly cut_pairs: number; readonly workers: readonly string[] };

function viewText({ waiting, delayed, active, failed, cut_pairs: cut, workers }: View): string[] {
  return [
    `running  ${active}`,
    `waiting  ${waiting}`,
    `waiting to retry  ${delayed}`,
    `dead  ${failed}${failed > 0 ? `  ('${QUEUE} dead' lists them)` : ''}`,
    `split pairs  ${cut}`,
    `workers  ${workers.length}${workers.length > 0 ? `  ${printable(workers.slice(0, 20).join(', '))}` : ''}`,
  ];
}

function deadJson({ taskId, task, reason, attempts }: DeadTask) {
  const job = task?.job;
  return {
    id: taskId.slice(0, 32),
    task: taskId,
    attempts,
    error: reason,
    ...(job && { line: job.line, args: job.args }),
  };
}

function deadText(dead: readonly DeadTask[]): string {
  if (dead.length === 0) return 'no dead jobs\n';
  const lines = dead.map(({ taskId, task, reason }) => {
    const option = task?.job.args.find((arg) => arg.startsWith('--distorted='));
    const distorted = option === undefined ? '' : `${shown(option.slice('--distorted='.length))}: `;
    return `${shown(taskId.slice(0, 12))}  ${distorted}${printable(reason)}`;
  });
  return `${lines.join('\n')}\n`;
}

const WORK = 'anyvmaf work';
const MOST_CONCURRENCY = 256;
const [LEAST_LEASE, USUAL_LEASE, MOST_LEASE] = [2, 30, 3600];
/** Six hours. */
const USUAL_MOST_SECONDS = 21_600;
/** Milliseconds to return tasks to the queue, whose server may be far away. */
const PATIENCE = 8000;

const WORK_OPTIONS = optionTable({
  Worker: {
    ...QUEUE_OPTION,
    '--allow DIR': ['read videos and models only under this folder. May be repeated', texts('allow')],
    ...HOSTS_OPTION,
    ...RESULTS_OPTION,
    '--concurrency N': [
      'tasks at the same time (default: 1)',
      (use) => ({ concurrency: betweenValue(use, 2, 1, MOST_CONCURRENCY) }),
    ],
    '--threads N': [
      'maximum threads per task (default: one per core, shared by tasks)',
      (use) => ({ threads: betweenValue(use, 4, 1, 1024) }),
    ],
    '--lease SECONDS': [
      'seconds after which a silent worker loses its tasks to others (default: 30)',
      (use) => ({ lease: betweenValue(use, USUAL_LEASE, LEAST_LEASE, MOST_LEASE) }),
    ],
    '--max-seconds N': [
      'fail a task that takes longer than N seconds (default: 21600)',
      (use) => ({ maxSeconds: secondsValue(use) }),
    ],
    '--metrics PORT': [
      'serve Prometheus metrics at this port of 127.0.0.1, or at HOST:PORT',
      (use) => ({ metrics: metricsValue(use) }),
    ],
    '-q, --quiet': ['print only errors', () => ({ quiet: true })],
    ...HELP_OPTION,
  },
});

const workPage: HelpText = {
  usage: [`${WORK} --queue URL --allow DIR [options]`],
  about:
    'Scores the jobs that "anyvmaf batch --queue" submits, until it is stopped. Start one on each machine. With ' +
    '--results, long pairs are split into parts, and the last worker merges. SIGTERM and Ctrl-C return ' +
    'running tasks to the queue. ANYVMAF_QUEUE may hold the address of the queue, ANYVMAF_QUEUE_PASSWORD ' +
    'its password.',
  sections: {
    Examples: [
      ['anyvmaf work --queue redis://queue --allow /media', 'a worker'],
      ['anyvmaf batch jobs.csv -o r.jsonl --queue redis://queue', 'jobs for it'],
      ['anyvmaf queue --queue redis://queue', 'watch it'],
    ],
  },
};

export const work = command(WORK, WORK_OPTIONS, workPage, async ({ settings, positionals, terminal }) => {
  if (positionals.length > 0) throw usageError(`unexpected argument ${positionals[0]}; see '${WORK} --help'`);
  const { allow = [], hosts = [] } = settings;
  if (allow.length + hosts.length === 0)
    throw usageError(
      'a worker reads only allowed folders and hosts; name one with --allow DIR or --allow-url HOST',
    );
  const usual = { concurrency: 1, lease: USUAL_LEASE, maxSeconds: USUAL_MOST_SECONDS, quiet: false };
  const queue = requireQueue(settings.queue, WORK);
  return runWorker({ ...usual, ...settings, allow, hosts, queue }, terminal);
});

function metricsValue(use: OptionUse): MetricsAddress {
  const [, ipv6, host = ipv6 ?? '127.0.0.1', port] =
    /^(?:(?:\[([0-9a-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(use.value) ?? [];
  if (port !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw refusedValue(use, 'PORT or HOST:PORT, such as 9464');
}

type WorkSettings = SettingsOf<typeof WORK_OPTIONS>;
type Defaulted = 'queue' | 'allow' | 'hosts' | 'concurrency' | 'lease' | 'maxSeconds' | 'quiet';

async function runWorker(
  settings: Partial<WorkSettings> & Pick<WorkSettings, Defaulted>,
  terminal: Terminal,
): Promise<number> {
  const address = queueAddress(settings.queue, process.env);
  hideArguments();
  const { allow, hosts } = settings;
  const folders = await realFolders(allow, process.cwd(), (folder) =>
    usageError(`--allow ${quoted(folder)} is not a readable folder`),
  );
  // Refuse invalid hosts before anything starts.
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
    let served: MetricsServer | undefined;
    try {
      served = metrics && (await serveMetrics(metrics, () => metricsText(worker, connection, concurrency)));
      say(`worker ${name} of ${address.shown}, ${concurrency} at a time`);
      if (files.path === undefined) say('without --results, long pairs are not split');
      if (metrics && served) {
        const open = isLoopback(metrics.host) ? '' : ', reachable from other machines';
        say(`metrics at http://${authority({ host: metrics.host, port: served.port })}/metrics${open}`);
      }
      await new Promise((resolve) => onAbort(stop.signal, resolve));
      say('returning running tasks');
    } finally {
      await served?.close();
      await worker.stop();
      await connection.close();
    }
    return EXIT.ok;
  } finally {
    stop.release();
  }
}

/** Adds counts of the queue if it answers within a second. */
async function metricsText({ metrics }: QueueWorker, connection: QueueConnection, concurrency: number) {
  const counts = await Promise.race([
    connection.counts().catch(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, 1000, undefined)),
  ]);
  return metrics.text(counts, concurrency);
}
