/**
 * @module queue/connect
 * Opens a queue by its address (user, password, TLS, name) with BullMQ and its Redis client, optional packages that
 * only this module loads. Messages never show the password.
 */
import type { Job, JobsOptions, Queue, QueueEvents, Worker, WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { type AnyvmafError, backendError, ioError, messageOf, usageError } from '../core/errors.js';
import { shown, withoutAccess } from '../core/printable.js';
import { checkTask, type DeadTask, type QueueCounts, type Task, type TaskQueue, taskId } from './job.js';
import { RedisStore } from './store.js';

export interface QueueAddress {
  readonly host: string;
  readonly port: number;
  /** A Unix socket, used instead of host and port. */
  readonly path?: string;
  readonly database: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls: boolean;
  /** Several queues may share a database. */
  readonly name: string;
  /** Without the password, for messages. */
  readonly shown: string;
}

/** Used if the address has no password. */
const PASSWORD_VARIABLE = 'ANYVMAF_QUEUE_PASSWORD';

const FORM =
  'redis://HOST:PORT/DATABASE, rediss:// for TLS, or redis+unix:///PATH for a socket, each with USER@ if needed';

/** @throws {AnyvmafError} `usage`, without the password */
export function queueAddress(
  text: string,
  env: Readonly<Record<string, string | undefined>> = {},
): QueueAddress {
  const refuse = (why: string) => usageError(`--queue ${shown(withoutPassword(text))} ${why}; give ${FORM}`);
  const scheme = /^(rediss?|valkeys?|redis\+unix):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !URL.canParse(text)) throw refuse('is not the URL of a Redis server');
  const url = new URL(text);
  const password = decoded(url.password) || env[PASSWORD_VARIABLE] || undefined;
  const username = decoded(url.username) || undefined;
  const name = url.searchParams.get('queue') ?? 'anyvmaf';
  if (!/^[\w.-]{1,64}$/.test(name))
    throw refuse('must have a queue name of 1 to 64 letters, digits, dots, dashes and underscores');
  const unix = scheme === 'redis+unix';
  // Others have the database in their path.
  const known = unix ? ['queue', 'db'] : ['queue'];
  const others = [...url.searchParams.keys()].filter((key) => !known.includes(key));
  if (others.length > 0)
    throw refuse(`has ${shown(others.join(', '))} after the question mark, which takes ${known.join(', ')}`);
  const path = unix ? decoded(url.pathname) : undefined;
  if (unix && (!['', 'localhost'].includes(url.host) || path === undefined || path.length < 2))
    throw refuse('must have the path of a socket and no host');
  const number = unix ? (url.searchParams.get('db') ?? '') : url.pathname.replace(/^\//, '');
  if (!/^\d{0,5}$/.test(number)) throw refuse('must have a database number of up to 5 digits');
  if (!unix && url.hostname === '') throw refuse('has no host');
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    ...(path !== undefined && { path }),
    database: Number(number),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    tls: scheme === 'rediss' || scheme === 'valkeys',
    name,
    shown: withoutPassword(text),
  };
}

export function withoutPassword(text: string): string {
  // A password may contain an at sign.
  return text
    .replace(/\b([a-z][a-z+]*:\/\/[^\s:/?#@]*):[^\s/]*@/gi, '$1:***@')
    .replace(/\*\*\*@[^\s/]*@/g, '***@');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Hides the command line from process lists if one of its URLs has a password or a signature. */
export function hideArguments(): void {
  if (process.argv.some((arg) => withoutPassword(arg) !== arg || withoutAccess(arg) !== arg))
    process.title = 'anyvmaf';
}

export interface QueueLibraries {
  readonly bullmq: Pick<
    typeof import('bullmq'),
    'Queue' | 'QueueEvents' | 'UnrecoverableError' | 'WaitingError' | 'Worker'
  >;
  readonly redis: Pick<typeof import('ioredis'), 'Redis'>;
}

/** BullMQ's name of the queue; the address's queue name is the prefix of its keys. */
const TASKS = 'tasks';
/** Milliseconds for the server's first answer. */
const PATIENCE = 10_000;
/** Milliseconds until the first retry of a task; doubled each time, with jitter. */
const BACKOFF = 2000;
const AT_ONCE = 500;

export class QueueConnection implements TaskQueue {
  readonly address: QueueAddress;
  readonly store: RedisStore;
  readonly #libraries: QueueLibraries;
  readonly #redis: Redis;
  readonly #queue: Queue;
  readonly #others: Redis[] = [];
  #lastError = '';
  /** Called with each new connection error, a clause without passwords. */
  onTrouble: (why: string) => void = () => {};

  private constructor(address: QueueAddress, libraries: QueueLibraries, redis: Redis) {
    this.address = address;
    this.#libraries = libraries;
    this.#redis = redis;
    this.store = new RedisStore(redis, prefixOf(address));
    this.#queue = new libraries.bullmq.Queue(TASKS, { connection: redis, prefix: prefixOf(address) });
    // A lost connection is restored; commands wait meanwhile.
    this.#queue.on('error', (error) => this.#note(error));
    redis.on('ready', () => {
      this.#lastError = '';
    });
  }

  /**
   * @param patience wait for a server that does not listen yet
   * @param load replaceable in tests
   * @throws {AnyvmafError} `backend` if the libraries are not installed; `io` if no server answers or it refuses
   */
  static async open(address: QueueAddress, patience = false, load = loadLibraries): Promise<QueueConnection> {
    const libraries = await load().catch((cause: unknown) => {
      const [why] = messageOf(cause).split('\n', 1);
      throw backendError(
        `a queue needs the packages bullmq and ioredis, which are not installed here (${why}); install them next to anyvmaf: npm install bullmq ioredis`,
        { cause },
      );
    });
    const redis = client(libraries, address);
    try {
      await firstAnswer(redis, address, patience);
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    const connection = new QueueConnection(address, libraries, redis);
    try {
      // Fails for a server that is too old, or a user with too few rights.
      await connection.#queue.waitUntilReady();
    } catch (error) {
      await connection.close();
      throw unusable(address, error);
    }
    return connection;
  }

  /** Last connection error, without passwords; empty if none. */
  get lastError(): string {
    return this.#lastError;
  }

  async add(tasks: readonly Task[]): Promise<void> {
    for (let at = 0; at < tasks.length; at += AT_ONCE) {
      const some = tasks.slice(at, at + AT_ONCE);
      await this.#queue.addBulk(
        some.map((task) => ({ name: task.kind, data: task, opts: taskOptions(task) })),
      );
    }
  }

  async counts(): Promise<QueueCounts> {
    const counts = await this.#queue.getJobCounts('wait', 'prioritized', 'delayed', 'active', 'failed');
    const of = (...names: readonly string[]) => names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
    return {
      waiting: of('wait', 'prioritized'),
      delayed: of('delayed'),
      active: of('active'),
      failed: of('failed'),
    };
  }

  /** The newest first. */
  async dead(most: number): Promise<readonly DeadTask[]> {
    return (await this.#queue.getFailed(0, most - 1)).flatMap((job) => (job ? [deadTask(job)] : []));
  }

  /** Tasks that have not ended, in batches. */
  async *open(): AsyncGenerator<readonly { readonly taskId: string; readonly task?: Task }[]> {
    for (const state of ['active', 'waiting', 'prioritized', 'delayed'] as const) {
      for (let at = 0; ; at += AT_ONCE) {
        const jobs = await this.#queue.getJobs([state], at, at + AT_ONCE - 1, true);
        yield jobs.flatMap((job) => (job ? [idAndTask(job)] : []));
        if (jobs.length < AT_ONCE) break;
      }
    }
  }

  /** Removes tasks, except running ones. */
  async remove(taskIds: readonly string[]): Promise<void> {
    for (const id of taskIds) await this.#queue.remove(id).catch(() => {});
  }

  async workers(): Promise<readonly string[]> {
    // The server may forbid listing its clients.
    const workers = await this.#queue.getWorkers().catch(() => []);
    const named = workers.map(({ rawname = '' }) => /:w:(.*)$/s.exec(rawname)?.[1] ?? '');
    return named.filter((name) => name !== '').sort();
  }

  worker(
    run: (job: Job, token: string, signal: AbortSignal) => Promise<unknown>,
    options: Pick<
      WorkerOptions,
      'name' | 'concurrency' | 'lockDuration' | 'stalledInterval' | 'maxStalledCount'
    >,
  ): Worker {
    const worker = new this.#libraries.bullmq.Worker(
      TASKS,
      async (job, token = '', signal = new AbortController().signal) => run(job, token, signal),
      {
        ...options,
        connection: this.#client(),
        prefix: prefixOf(this.address),
        drainDelay: 5,
        // After a connection error, as long as a reconnection takes.
        runRetryDelay: 1000,
      },
    );
    worker.on('error', (error) => this.#note(error));
    return worker;
  }

  /** Errors that tell BullMQ what to do with a task. */
  get errors(): Pick<typeof import('bullmq'), 'UnrecoverableError' | 'WaitingError'> {
    return this.#libraries.bullmq;
  }

  events(): QueueEvents {
    const events = new this.#libraries.bullmq.QueueEvents(TASKS, {
      connection: this.#client(),
      prefix: prefixOf(this.address),
    });
    events.on('error', (error) => this.#note(error));
    return events;
  }

  /** Ends all connections at once; close workers and events first. */
  async close(): Promise<void> {
    await this.#queue.close().catch(() => {});
    for (const redis of [this.#redis, ...this.#others]) redis.disconnect();
  }

  #client(): Redis {
    const redis = client(this.#libraries, this.address);
    redis.on('error', (error: Error) => this.#note(error));
    this.#others.push(redis);
    return redis;
  }

  #note(error: Error): void {
    const why = withoutPassword(error.message || String(error));
    if (why === this.#lastError) return;
    this.#lastError = why;
    this.onTrouble(why);
  }
}

function unusable({ shown: address }: QueueAddress, cause: unknown): AnyvmafError {
  const why = withoutPassword(messageOf(cause));
  return ioError(`cannot use the queue at ${address}: ${why}`, { cause });
}

/** Turns an error of the server into a user-facing one; returns others unchanged. */
export function queueError(error: unknown, { shown: address }: QueueAddress): unknown {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return error;
  const why = withoutPassword(error.message);
  return ioError(`the queue server at ${address} refused: ${why}`, { cause: error });
}

function prefixOf({ name }: QueueAddress): string {
  // Braces keep all keys on one machine of a cluster.
  return `{${name}}`;
}

function taskOptions(task: Task): JobsOptions {
  const { priority, attempts } = task.job;
  return {
    jobId: taskId(task),
    // Parts of a started pair precede pairs of the same priority, so that few pairs are open at a time.
    priority: 2 * priority - (task.kind === 'pair' ? 0 : 1),
    attempts,
    backoff: { type: 'exponential', delay: BACKOFF, jitter: 0.5 },
    removeOnComplete: true,
    removeOnFail: false,
    stackTraceLimit: 0,
  };
}

function idAndTask({ id, data }: Job): { readonly taskId: string; readonly task?: Task } {
  try {
    return { taskId: id ?? '', task: checkTask(data) };
  } catch {
    return { taskId: id ?? '' };
  }
}

function deadTask(job: Job): DeadTask {
  return { ...idAndTask(job), reason: String(job.failedReason), attempts: job.attemptsMade };
}

async function loadLibraries(): Promise<QueueLibraries> {
  const [bullmq, redis] = await Promise.all([import('bullmq'), import('ioredis')]);
  return { bullmq, redis };
}

function client({ redis }: QueueLibraries, address: QueueAddress): Redis {
  const { host, port, path, database, username, password, tls } = address;
  const options = {
    ...(path === undefined ? { host, port } : { path }),
    db: database,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: { servername: host } }),
    // Commands wait while the server restarts.
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(100 * times, 2000),
  };
  return inItsDatabase(new redis.Redis(options));
}

/** Reconnects if the server refuses the database; ioredis would continue in database 0. */
function inItsDatabase(redis: Redis): Redis {
  redis.on('error', (error: Error & { command?: { name: string } }) => {
    if (error.command?.name === 'select') redis.disconnect(true);
  });
  // BullMQ's workers use duplicates too.
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (options) => inItsDatabase(duplicate(options));
  return redis;
}

/** @throws {AnyvmafError} `io` if the server does not answer or refuses */
function firstAnswer(redis: Redis, address: QueueAddress, patience: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = 'it does not answer';
    const fail = () => {
      clearTimeout(timer);
      reject(unusable(address, last));
    };
    const timer = setTimeout(fail, PATIENCE);
    // Keep this listener: an unhandled error event would end the process.
    redis.on('error', (error: Error & { code?: string }) => {
      last = withoutPassword(error.message || error.code || String(error));
      const text = `${last} ${error.code}`;
      // A wrong name, password or database stays wrong.
      const final = /ENOTFOUND|WRONGPASS|NOAUTH|NOPERM|DB index|CERT|SSL|altnames|self.signed/i.test(text);
      if (final || (!patience && /ECONNREFUSED|ENOENT/.test(text))) fail();
    });
    redis.ping().then(
      () => {
        clearTimeout(timer);
        resolve();
      },
      (error: Error) => {
        last = withoutPassword(error.message);
        fail();
      },
    );
  });
}
