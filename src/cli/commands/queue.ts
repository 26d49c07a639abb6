/**
 * @module cli/commands/queue
 * `anyvmaf queue`: shows a queue, lists and retries its dead jobs, cancels jobs.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { usageError } from '../../core/errors.js';
import { counted, printable, quoted, shown } from '../../core/printable.js';
import { queueAddress } from '../../queue/address.js';
import type { QueueConnection } from '../../queue/connect.js';
import type { DeadTask, QueueCounts } from '../../queue/types.js';
import { command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import { grouped, HELP_OPTION, orList } from '../options.js';
import {
  HOSTS_OPTION,
  hideArguments,
  QUEUE_OPTION,
  RESULTS_OPTION,
  requireQueue,
} from '../queue/queue-options.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';

const NAME = 'anyvmaf queue';
/** Milliseconds between redraws. */
const REFRESH = 1000;
/** Dead tasks that are listed, the newest first. */
const MOST_LISTED = 1000;

interface QueueSettings {
  readonly queue: string;
  readonly results?: string;
  readonly hosts: readonly string[];
  readonly json: boolean;
  readonly once: boolean;
  readonly all: boolean;
}

const QUEUE_OPTIONS = grouped<QueueSettings>('Queue', [
  QUEUE_OPTION,
  RESULTS_OPTION,
  HOSTS_OPTION,
  { name: 'json', help: 'print one object of JSON and exit', read: () => ({ json: true }) },
  { name: 'once', help: 'print the state once and exit', read: () => ({ once: true }) },
  { name: 'all', help: 'cancel: every job that has not ended', read: () => ({ all: true }) },
  HELP_OPTION,
]);

const ACTIONS = ['view', 'dead', 'retry', 'cancel'] as const;
type Action = (typeof ACTIONS)[number];

const page: HelpText = {
  usage: [
    `${NAME} --queue URL`,
    `${NAME} dead --queue URL`,
    `${NAME} retry [ID...] --queue URL`,
    `${NAME} cancel ID...|--all --queue URL`,
  ],
  about:
    'Shows the waiting and running tasks of a queue, and its workers. dead lists jobs that failed permanently, ' +
    'with their errors. retry puts them back, all or those whose IDs begin with ID, and keeps what was ' +
    'measured of them. cancel ends jobs; workers stop within seconds.',
};

interface QueueTask {
  readonly action: Action;
  readonly ids: readonly string[];
  readonly settings: Partial<QueueSettings>;
}

export const queue = command(NAME, QUEUE_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const task = { ...actionOf(positionals, settings.all === true), settings };
  const address = queueAddress(requireQueue(settings.queue, NAME), process.env);
  hideArguments();
  const { QueueConnection, queueError } = await import('../../queue/connect.js');
  const connection = await QueueConnection.open(address);
  try {
    return await act(task, connection, terminal);
  } catch (error) {
    throw queueError(error, address);
  } finally {
    await connection.close();
  }
});

function actionOf(
  [first = 'view', ...ids]: readonly string[],
  all: boolean,
): Pick<QueueTask, 'action' | 'ids'> {
  const action = ACTIONS.find((one) => one === first);
  if (action === undefined)
    throw usageError(`there is no action ${quoted(first)}; the actions are ${orList(ACTIONS.slice(1))}`);
  const wrong = ids.find((id) => !/^[\w-]{4,100}$/.test(id));
  if (wrong !== undefined)
    throw usageError(
      `${shown(wrong)} is not the ID of a job, nor its first digits: '${NAME} dead' lists them`,
    );
  if (ids.length > 0 && (action === 'view' || action === 'dead'))
    throw usageError(`${action} takes no IDs; leave ${ids.join(' ')} out`);
  if (all && (action !== 'cancel' || ids.length > 0)) throw usageError('--all is for cancel without IDs');
  if (action === 'cancel' && ids.length === 0 && !all)
    throw usageError('cancel needs the IDs of jobs, or --all');
  return { action, ids };
}

async function act(
  { action, ids, settings }: QueueTask,
  connection: QueueConnection,
  terminal: Terminal,
): Promise<number> {
  const { json, all, results, hosts } = settings;
  if (action === 'view') return view(settings, connection, terminal);
  if (action === 'dead') {
    const dead = await connection.dead(MOST_LISTED);
    await terminal.print(json ? `${JSON.stringify({ dead: dead.map(deadJson) })}\n` : deadText(dead));
    return EXIT.ok;
  }
  const [{ retryDead, cancelJobs }, { ResultsFolder }] = await Promise.all([
    import('../../queue/manage.js'),
    import('../../queue/results-folder.js'),
  ]);
  const files = await ResultsFolder.open(results, hosts);
  const selection = all || ids.length === 0 ? 'all' : ids;
  const count = await (action === 'retry' ? retryDead : cancelJobs)(connection, files, selection);
  const done = action === 'retry' ? 'put back' : 'cancelled';
  await terminal.print(
    json ? `${JSON.stringify({ [done.replace(' ', '_')]: count })}\n` : `${counted(count, 'job')} ${done}\n`,
  );
  // IDs that match nothing are a mistake.
  return count === 0 && ids.length > 0 ? EXIT.failed : EXIT.ok;
}

async function view(
  { json, once }: Partial<QueueSettings>,
  connection: QueueConnection,
  terminal: Terminal,
): Promise<number> {
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
    await terminal.print(
      viewText(await look())
        .join('\n')
        .concat('\n'),
    );
    return EXIT.ok;
  }
  await interruptible(async ({ signal }) => {
    for (let drawn = 0; !signal.aborted; ) {
      const lines = [connection.address.shown, ...viewText(await look()), connection.lastError];
      const up = drawn > 0 ? `\x1b[${drawn}A\x1b[J` : '';
      await terminal.print(`${up}${lines.join('\n')}\n`);
      drawn = lines.length;
      await pause(REFRESH, undefined, { signal }).catch(() => {});
    }
  });
  return EXIT.ok;
}

type View = QueueCounts & { readonly cut_pairs: number; readonly workers: readonly string[] };

function viewText({ waiting, delayed, active, failed, cut_pairs: cut, workers }: View): string[] {
  return [
    `running  ${active}`,
    `waiting  ${waiting}`,
    `waiting to retry  ${delayed}`,
    `dead  ${failed}${failed > 0 ? `  ('${NAME} dead' lists them)` : ''}`,
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
    const distorted = task?.job.args
      .find((arg) => arg.startsWith('--distorted='))
      ?.slice('--distorted='.length);
    return `${shown(taskId.slice(0, 12))}  ${distorted === undefined ? '' : `${shown(distorted)}: `}${printable(reason)}`;
  });
  return `${lines.join('\n')}\n`;
}
