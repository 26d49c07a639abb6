/**
 * @module mcp/jobs
 * Runs every call as a job, within the server's limits. A kept job outlives its request; the client polls it by id.
 */
import { randomUUID } from 'node:crypto';
import { onAbort, TimeLimitError, unlessAborted, withinSeconds } from '../core/abort.js';
import { AnyvmafError, usageError } from '../core/errors.js';
import { suggestion } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import type { AllowedPaths } from '../files/allowed-paths.js';
import { isInside } from '../files/checked-file.js';
import { processMark } from '../files/folders.js';
import type { CallThreads } from './call-threads.js';
import { isServed, type JobRecord, type JobStore, KEPT_DAYS, KEPT_TIME, pointsName } from './job-store.js';
import type { WorkPool } from './pool.js';
import { LOCAL_OWNER, type ResourceScope, type ResultOfJob } from './resources.js';
import { answer, type CallProgress, fitting, refusal } from './results.js';
import {
  type CallAnswer,
  coercedMembers,
  type JobDocument,
  type NextAction,
  type PreparedCall,
  type Tool,
  type ToolContext,
  type ToolJobs,
  type ToolProgress,
} from './tool.js';
import { sentenceOf } from './wording.js';

const MOST_WORKING = 100;
const LISTED = 50;
/** Milliseconds between writes of a running job's record, and between polls of another server's job. */
const WRITE_INTERVAL = 5000;
const POLL_INTERVAL = 500;
/** Least milliseconds between two updates about a running job. */
const UPDATE_INTERVAL = 1000;
/** Milliseconds that a cancelling client waits for its job to stop. */
const STOP_TIME = 2000;

/** Tools that cannot run as jobs. */
export const JOB_TOOLS: ReadonlySet<string> = new Set(
  'job_start job_status job_result job_cancel list_jobs'.split(' '),
);

/** Tools that take seconds, for which the pool reserves a slot. */
const SHORT_TOOLS: ReadonlySet<string> = new Set(['inspect_pair', 'find_alignment', 'probe_backend']);

export interface CallServices {
  readonly tools: readonly Tool[];
  readonly files: AllowedPaths;
  readonly pool: WorkPool;
  readonly threads: CallThreads;
  readonly maxSeconds: number;
  readonly closing: AbortSignal;
  readonly log: (message: string) => void;
}

type JobListener = Pick<CallProgress, 'report' | 'wait'>;

export class Job {
  readonly id = randomUUID();
  readonly created = Date.now();
  readonly ending = new AbortController();
  notified = Number.NEGATIVE_INFINITY;
  /** Set right after construction. */
  answer!: Promise<CallAnswer>;
  /** Resolves when the job has ended and, if it is kept, its answer is stored. */
  saved!: Promise<void>;
  writing: Promise<void> = Promise.resolve();
  kept = false;
  cancelled = false;
  ended: CallAnswer | undefined;
  progress: JobDocument['progress'];
  /** Number of published results, and their bytes. */
  results = 0;
  bytes = 0;
  #first: { readonly at: number; readonly done: number } | undefined;

  constructor(
    readonly tool: Tool,
    readonly args: Readonly<Record<string, unknown>>,
    readonly scope: ResourceScope,
    public listener: JobListener | undefined,
  ) {}

  /** Aborts the job unless it is kept. */
  leave(reason: unknown): void {
    if (!this.kept) this.ending.abort(reason);
  }

  report(report: ToolProgress): void {
    const { done, total, fps, message, best = this.progress?.best } = report;
    const now = performance.now();
    this.#first ??= { at: now, done };
    const { at, done: before } = this.#first;
    const isKnown = total !== null && done > before && !report.isOpen;
    this.progress = {
      ...(report.isSteps ? { frames: 0, total_frames: null } : { frames: done, total_frames: total }),
      ...{ message, best },
      fps: fps !== undefined && Number.isFinite(fps) ? Math.round(fps * 10) / 10 : undefined,
      seconds_left: isKnown ? Math.round(((total - done) * (now - at)) / (done - before) / 1000) : undefined,
    };
    this.listener?.report(report);
  }

  wait(ahead: number, running: number): void {
    this.progress = { frames: 0, total_frames: null, message: `queued: ${running} running, ${ahead} ahead` };
    this.listener?.wait(this.tool.name, ahead, running);
  }
}

export class Jobs {
  readonly #store: JobStore;
  readonly #server: CallServices;
  /** Kept jobs that are running, or whose answer could not be stored. */
  readonly #kept = new Map<string, Job>();
  readonly #listeners = new Set<(id: string, owner: string) => void>();

  constructor(store: JobStore, server: CallServices) {
    this.#store = store;
    this.#server = server;
  }

  /** Listens to progress and ends of this server's kept jobs. @returns a function that removes the listener */
  hear(listener: (id: string, owner: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(job: Job): void {
    const now = performance.now();
    if (!job.ended && now - job.notified < UPDATE_INTERVAL) return;
    job.notified = now;
    for (const listener of this.#listeners) listener(job.id, job.scope.owner);
  }

  begin(tool: Tool, args: unknown, scope: ResourceScope, listener?: JobListener): Job {
    return this.#run(tool, args, scope, async (context) => tool.call(args, context), listener);
  }

  /**
   * Keeps a running call as a job.
   * @throws {AnyvmafError} `usage` if there are too many, `io` if nothing can be written
   */
  async keep(job: Job): Promise<JobDocument> {
    const working = [...this.#kept.values()].filter(({ ended }) => !ended).length;
    if (working >= MOST_WORKING)
      throw usageError(
        `The server already runs ${MOST_WORKING} jobs, its limit; wait for one with job_status, or stop one with job_cancel.`,
      );
    // At once: others may start meanwhile.
    this.#kept.set(job.id, job);
    try {
      await this.#store.sweep();
      await this.#store.write({ ...(await this.#recordOf(job)), kept: true });
    } catch (error) {
      this.#kept.delete(job.id);
      throw error;
    }
    job.kept = true;
    job.listener = { report: () => this.#tell(job), wait() {} };
    if (job.ended) await this.#save(job, job.ended);
    else void this.#keepWriting(job);
    return this.#document(await this.#recordOf(job));
  }

  of(scope: ResourceScope): ToolJobs {
    return {
      start: (tool, args) => this.#start(tool, args, scope),
      status: async (id, seconds, signal) => this.#document(await this.#wait(id, scope, seconds, signal)),
      result: async (id, seconds, signal) => {
        const { status } = await this.#wait(id, scope, seconds, signal);
        if (status !== 'completed' && status !== 'failed') return undefined;
        // Until then its paths may lead to files that are deleted with the session.
        await this.#kept.get(id)?.saved;
        return this.#kept.get(id)?.ended ?? this.#store.answer(id);
      },
      cancel: (id) => this.#cancel(id, scope),
      list: () => this.#list(scope),
    };
  }

  /** Finds a result of a job that the client may see, perhaps of an earlier server. */
  async findResult(id: string, number: number, scope: ResourceScope): Promise<ResultOfJob | undefined> {
    const record = await this.#store.read(id).catch(() => undefined);
    if (!record || !(await this.#sees(record, scope))) return undefined;
    const found = await this.#store.result(id, number);
    return found && { ...found, owner: record.owner };
  }

  /** Resolves when the answers of all kept jobs are stored. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#kept.values()].map(({ saved }) => saved));
  }

  #run(tool: Tool, args: unknown, scope: ResourceScope, run: PreparedCall, listener?: JobListener): Job {
    // Next calls repeat them, so they must fit the schema.
    const sent = coercedMembers(tool.inputSchema, Object(args ?? {}));
    const job = new Job(tool, sent, scope, listener);
    job.answer = this.#answer(job, run);
    job.saved = job.answer.then(async (answer) => {
      job.ended = answer;
      // Saved, so that published results are found after a restart.
      if (job.kept || (job.results > 0 && !answer.isError)) await this.#save(job, answer);
      else if (job.results > 0) await this.#store.forget(job.id);
    });
    return job;
  }

  /** Runs a call and turns errors into answers. */
  async #answer(job: Job, run: PreparedCall): Promise<CallAnswer> {
    const { closing, maxSeconds, log } = this.#server;
    const { tool, ending } = job;
    // Not AbortSignal.any: its results stay registered with `closing`, which lives as long as the server.
    const forget = onAbort(closing, (reason) => ending.abort(reason));
    const late = `the call took longer than ${maxSeconds} s, the limit of this server (--max-seconds), and was stopped`;
    try {
      return await withinSeconds(maxSeconds, new TimeLimitError(late), ending.signal, async (signal) => {
        const context = this.#contextOf(job, signal);
        const outcome = await run(context);
        // Check before cutting it to the size of an answer.
        const schema = 'fits' in outcome ? outcome.fits : tool.outputSchema;
        const { error } = schema.safeParse(answer(outcome).structuredContent);
        if (!error) return answer(await fitting(tool.name, outcome, context.resources));
        const [issue] = error.issues;
        log(`${tool.name}: result does not fit its schema at ${issue?.path.join('.')}: ${issue?.message}`);
        return refusal(
          `The result of ${tool.name} does not match its schema, a defect of anyvmaf; please report it.`,
        );
      });
    } catch (error) {
      if (closing.aborted) return refusal('The server is shutting down; call again once it has restarted.');
      return refusal(sentenceOf(error));
    } finally {
      forget();
    }
  }

  #contextOf(job: Job, signal: AbortSignal): ToolContext {
    const { files, tools, pool, threads, log } = this.#server;
    const { args, scope } = job;
    const { name } = job.tool;
    const turn = { signal, short: SHORT_TOOLS.has(name), onWait: job.wait.bind(job) };
    const instead: ToolContext['instead'] = (other, changes) => {
      const takes = tools.find((tool) => tool.name === other)?.inputSchema.shape;
      if (!takes || Object.keys(changes).some((key) => !Object.hasOwn(takes, key))) return undefined;
      const both = Object.entries(args).filter(([key]) => Object.hasOwn(takes, key));
      return { tool: other, arguments: { ...Object.fromEntries(both), ...changes } };
    };
    return {
      ...{ tool: name, args, signal, files: scope.filesOf(files), jobs: this.of(scope) },
      progress: (report) => job.report(report),
      pool: {
        run: (weight, task) =>
          pool.run({ ...turn, weight }, (grant) => task({ ...grant, api: threads.measuring })),
      },
      resources: {
        // Without a writable store, points live as long as the server.
        points: (source) => this.#store.points(source).catch(() => scope.all.scratch(pointsName(source))),
        publish: (publication) => this.#publish(job, publication),
      },
      again: (changes) => instead(name, changes),
      instead,
      log: (message) => log(`${name}: ${message}`),
    };
  }

  async #publish(job: Job, publication: Parameters<ResourceScope['publish']>[0]) {
    const number = ++job.results;
    // Without a writable store, results live as long as the server.
    const place = await this.#store.resultFolder(job.id, number).catch(() => undefined);
    const published = await job.scope.publish(publication, { id: `${job.id}-${number}`, ...place });
    job.bytes += published.link.size ?? 0;
    return published;
  }

  async #start(name: string, args: Readonly<Record<string, unknown>>, scope: ResourceScope) {
    const tools = this.#server.tools.filter((tool) => !JOB_TOOLS.has(tool.name));
    const tool = tools.find((known) => known.name === name);
    if (!tool) {
      const names = tools.map((known) => known.name);
      throw usageError(`No tool ${quoted(name, 100)} can run as a job; ${suggestion(name, names)}`);
    }
    const job = this.#run(tool, args, scope, await tool.prepare(args, scope.filesOf(this.#server.files)));
    try {
      return await this.keep(job);
    } catch (error) {
      job.leave(error);
      throw error;
    }
  }

  /** Updates the record until the job ends. */
  async #keepWriting(job: Job): Promise<void> {
    while (!job.ended) {
      await pause(WRITE_INTERVAL, [job.answer]);
      if (job.ended) return;
      job.writing = this.#recordOf(job).then((record) => this.#store.write(record));
      await job.writing.catch(() => {});
    }
  }

  async #save(job: Job, answer: CallAnswer): Promise<void> {
    // A pending write would overwrite the last record.
    await job.writing.catch(() => {});
    try {
      const record = await this.#recordOf(job);
      if (record.status === 'interrupted') await this.#store.write(record);
      else await this.#store.finish(record, answer);
      this.#kept.delete(job.id);
      await this.#store.sweep();
    } catch (error) {
      this.#server.log(
        `the answer of the job ${job.id} could not be saved and stays in memory: ${String(error)}`,
      );
    }
    this.#tell(job);
  }

  async #recordOf(job: Job): Promise<JobRecord> {
    const { id, tool, args, created, scope, progress, kept, bytes } = job;
    return {
      ...{ format: 1, id, tool: tool.name, arguments: { ...args }, created, updated: Date.now(), bytes },
      status: statusOf(job, this.#server.closing.aborted),
      server: await processMark(),
      owner: scope.owner,
      folders: [...this.#server.files.allowed],
      ...{ progress, kept },
    };
  }

  /** Finds the record of a job that the client may see. @throws {AnyvmafError} `usage` if there is none */
  async #find(id: string, scope: ResourceScope): Promise<JobRecord> {
    const job = this.#kept.get(id);
    const record = job ? await this.#recordOf(job) : await this.#store.read(id);
    if (record && (await this.#sees(record, scope))) return record;
    throw usageError(
      `This client has no job ${quoted(id, 60)}; list_jobs lists its jobs, which are kept for ${KEPT_DAYS} days.`,
    );
  }

  /**
   * A client sees its own jobs and, by their unguessable id, those of ended sessions, if all folders allowed at their
   * start still are.
   */
  async #sees(record: JobRecord, scope: ResourceScope): Promise<boolean> {
    const { allowed } = this.#server.files;
    const isAllowed = record.folders.every((folder) => allowed.some((root) => isInside(root, folder)));
    if (!isAllowed || !scope.sees(record.owner)) return false;
    // All that is known of another server's sessions is that they end with it.
    const isElsewhere = record.server !== (await processMark());
    return record.owner === scope.owner || !isElsewhere || !(await isServed(record));
  }

  async #wait(id: string, scope: ResourceScope, seconds: number, signal: AbortSignal): Promise<JobRecord> {
    const until = performance.now() + seconds * 1000;
    const aborted = unlessAborted(signal, new Promise(() => {})).catch(() => {});
    for (;;) {
      const record = await this.#find(id, scope);
      const left = until - performance.now();
      if (record.status !== 'working' || left <= 0 || signal.aborted) return record;
      const job = this.#kept.get(id);
      await pause(job ? left : Math.min(left, POLL_INTERVAL), job ? [job.saved, aborted] : [aborted]);
    }
  }

  async #cancel(id: string, scope: ResourceScope): Promise<JobDocument> {
    // Look it up first: a job that ends while its record is read is removed.
    const job = this.#kept.get(id);
    const record = await this.#find(id, scope);
    if (record.status === 'working' && !job)
      throw usageError(`Another server process runs the job ${id}; cancel it there, or stop that server.`);
    if (job && !job.ended) {
      job.cancelled = true;
      job.ending.abort(new AnyvmafError('aborted', 'The job was cancelled.'));
      await pause(STOP_TIME, [job.saved]);
    }
    return this.#document(await this.#find(id, scope));
  }

  async #list(scope: ResourceScope) {
    // Copy first: the record of a job that ends while the list is read may still say working.
    const running = new Map(this.#kept);
    const { jobs, problems } = await this.#store.list();
    const owned = scope.listed ? jobs.filter(({ owner }) => owner === scope.owner) : [];
    const seen: JobDocument[] = [];
    for (const stored of owned) {
      if (seen.length === LISTED) break;
      const job = running.get(stored.id);
      const record = job ? await this.#recordOf(job) : stored;
      if (await this.#sees(record, scope)) seen.push(this.#document(record));
    }
    return {
      jobs: seen,
      problems: scope.owner === LOCAL_OWNER ? problems : [],
      note: scope.listed
        ? undefined
        : 'Clients without a session cannot be told apart, so their jobs are not listed; query one by its job_id.',
    };
  }

  #document(record: JobRecord): JobDocument {
    const { id, tool, status, created, updated, progress } = record;
    return {
      summary: summaryOf(record),
      job_id: id,
      tool,
      status,
      started: new Date(created).toISOString(),
      seconds: Math.round((updated - created) / 1000),
      progress: progress && {
        ...progress,
        seconds_left: status === 'working' ? progress.seconds_left : undefined,
      },
      kept_until: new Date(updated + KEPT_TIME).toISOString(),
      next_action: nextOf(record),
    };
  }
}

function statusOf({ ended, cancelled }: Job, closing: boolean): JobRecord['status'] {
  if (!ended) return 'working';
  if (!ended.isError) return 'completed';
  if (cancelled) return 'cancelled';
  return closing ? 'interrupted' : 'failed';
}

function nextOf({ id, tool, status, arguments: args }: JobRecord): NextAction {
  if (status === 'working') return { tool: 'job_status', arguments: { job_id: id } };
  if (status === 'completed' || status === 'failed') return { tool: 'job_result', arguments: { job_id: id } };
  return { tool: 'job_start', arguments: { tool, arguments: args } };
}

function summaryOf({ tool, status, progress }: JobRecord): string {
  const { seconds_left: left, best } = progress ?? {};
  const soon = left === undefined ? '' : `, about ${left} s left`;
  const sentences = {
    working: `${tool} is running${soon}.${best === undefined ? '' : ` Best so far: ${best}.`} Check again with next_action.`,
    completed: `${tool} is done; next_action gets its result.`,
    failed: `${tool} failed; next_action gets the reason.`,
    cancelled: `${tool} was cancelled; next_action starts it again.`,
    interrupted: `The server ended before ${tool} was done; next_action starts it again and reuses encodes already measured.`,
  };
  return sentences[status];
}

/** Most milliseconds that a timer can wait. */
const LONGEST = 2 ** 31 - 1;

/** Waits for a number of milliseconds, or until one of the promises settles. */
export async function pause(milliseconds: number, earlier: readonly Promise<unknown>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(milliseconds, LONGEST));
  });
  await Promise.race([late, ...earlier.map((each) => each.catch(() => {}))]);
  clearTimeout(timer);
}

/** URI template (RFC 6570). */
export const JOB_TEMPLATE = 'anyvmaf://jobs/{id}';

export const jobAddress = (id: string) => JOB_TEMPLATE.replace('{id}', id);
