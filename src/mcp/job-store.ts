/**
 * @module mcp/job-store
 * Stores jobs in a folder that outlives the server. Checks all that it reads; no path comes from a file.
 */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { lstat, mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod/v4';
import { jsonOf } from '../core/arguments.js';
import { AnyvmafError, ioError, messageOf, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { openChecked } from '../files/checked-file.js';
import {
  isAlive,
  machineMark,
  openPrivate,
  processMark,
  textDigest,
  writeReason,
  writeWhole,
} from '../files/folders.js';
import type { ResultOfJob } from './resources.js';
import { type CallAnswer, jobDocument } from './tool.js';

/** Days that a job is kept after its last change, and limits for all jobs; the oldest go first. */
export const KEPT_DAYS = 7;
export const KEPT_TIME = KEPT_DAYS * 86_400_000;
const MOST_JOBS = 500;
const MOST_BYTES = 2 ** 31;
/** Most bytes of a record, and of an answer, which may hold pictures. */
const RECORD_BYTES = 256 << 10;
const ANSWER_BYTES = 16 << 20;
/** Milliseconds without a write after which a job of another machine counts as interrupted. */
const SILENCE = 120_000;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const RECORD = 'job.json';
const ANSWER = 'answer.json';
const RESULTS = 'results';

const recordSchema = z.object({
  format: z.literal(1),
  id: z.string().regex(ID),
  tool: z.string().max(64),
  /** As the client sent them. */
  arguments: z.record(z.string(), z.unknown()),
  /** `interrupted`: the server ended before the job. */
  status: jobDocument.shape.status,
  /** Milliseconds since 1970. */
  created: z.number(),
  updated: z.number(),
  /** `processMark` of the process that runs it. */
  server: z.string().regex(/^[0-9a-z]{1,12}-\d{1,10}-[0-9a-z]{1,13}$/),
  /** Owner of its `ResourceScope`. */
  owner: z.string().max(64),
  /** Folders that were allowed at the start. */
  folders: z.array(z.string()),
  progress: jobDocument.shape.progress,
  /** False for a call that was answered at once. */
  kept: z.boolean().optional(),
  /** Size of answer and results. */
  bytes: z.int().min(0),
});

export type JobRecord = z.output<typeof recordSchema>;

const answerSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.enum(['text', 'image', 'resource_link']) })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.literal(true).optional(),
});

export class JobStore {
  readonly #named: string;
  #root: Promise<string> | undefined;
  #swept = Number.NEGATIVE_INFINITY;
  /** Ended jobs of the last list, whose records no longer change. */
  #ended: ReadonlyMap<string, JobRecord> = new Map();

  /** @param folder created with the first job; readable by this user only */
  constructor(folder: string) {
    this.#named = resolve(folder);
  }

  /** @throws {AnyvmafError} `io` if the folder is not writable; `usage` if the arguments are too long */
  async write(record: JobRecord): Promise<void> {
    const text = JSON.stringify(record);
    const bytes = Buffer.byteLength(text);
    if (bytes > RECORD_BYTES)
      throw usageError(
        `The job with its arguments takes ${bytes} bytes, but ${RECORD_BYTES} is the limit; name fewer files in one job.`,
      );
    await this.#put(record.id, RECORD, text);
  }

  /** Stores the answer of a job, then its last record. */
  async finish(record: JobRecord, answer: CallAnswer): Promise<void> {
    const text = JSON.stringify(answer);
    await this.#put(record.id, ANSWER, text);
    await this.write({ ...record, bytes: record.bytes + Buffer.byteLength(text) });
  }

  /** A job whose server has ended is interrupted. @throws {AnyvmafError} `io` if it is damaged */
  async read(id: string): Promise<JobRecord | undefined> {
    const text = await this.#text(id, RECORD, RECORD_BYTES);
    if (text === undefined) return undefined;
    const record = recordSchema.safeParse(jsonOf(text));
    if (!record.success || record.data.id !== id) throw damaged(id, RECORD);
    const { data } = record;
    return data.status === 'working' && !(await isServed(data)) ? { ...data, status: 'interrupted' } : data;
  }

  /** @throws {AnyvmafError} `io` if it is missing or damaged */
  async answer(id: string): Promise<CallAnswer> {
    const answer = answerSchema.safeParse(jsonOf((await this.#text(id, ANSWER, ANSWER_BYTES)) ?? ''));
    if (!answer.success) throw damaged(id, ANSWER);
    return answer.data as unknown as CallAnswer;
  }

  /** All jobs, newest first, and the problems of unreadable ones. */
  async list(): Promise<{ readonly jobs: readonly JobRecord[]; readonly problems: readonly string[] }> {
    const root = await this.#existing();
    const names = root === undefined ? [] : await readdir(root);
    const problems: string[] = [];
    const read = async (id: string) =>
      this.#ended.get(id) ??
      this.read(id).catch((error: unknown) => {
        problems.push(messageOf(error));
        return undefined;
      });
    const found = await Promise.all(names.filter((name) => ID.test(name)).map(read));
    const jobs = found.filter((job) => job !== undefined);
    const ended = jobs.filter(({ status }) => status !== 'working' && status !== 'interrupted');
    this.#ended = new Map(ended.map((job) => [job.id, job]));
    return { jobs: jobs.sort((a, b) => b.created - a.created), problems };
  }

  /** Creates a folder for one result of a job; `all` holds the results of all jobs. */
  resultFolder(id: string, number: number): Promise<{ readonly folder: string; readonly all: string }> {
    return this.#writing(async (root) => {
      const all = join(root, RESULTS);
      const folder = join(all, id, String(number));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return { folder, all };
    });
  }

  /** Finds a result of a job; `undefined` if it is not a regular file of the store. */
  async result(id: string, number: number): Promise<Omit<ResultOfJob, 'owner'> | undefined> {
    const root = await this.#existing();
    if (root === undefined || !ID.test(id)) return undefined;
    const all = join(root, RESULTS);
    const folder = join(all, id, String(number));
    const [name] = await readdir(folder).catch(() => []);
    if (name === undefined || (await realpath(folder)) !== folder) return undefined;
    const found = await lstat(join(folder, name));
    return found.isFile() ? { name, path: join(folder, name), size: found.size, all } : undefined;
  }

  async forget(id: string): Promise<void> {
    const root = await this.#existing();
    if (root !== undefined)
      await rm(join(root, RESULTS, id), { recursive: true, force: true }).catch(() => {});
  }

  /** Folder for measured points of a source, kept as long as a job. */
  points(source: string): Promise<string> {
    return this.#writing(async (root) => join(root, pointsName(source)));
  }

  /** Removes old and surplus jobs, except running ones; at most once a minute. */
  async sweep(): Promise<void> {
    const now = Date.now();
    const root = now - this.#swept < 60_000 ? undefined : await this.#existing();
    if (root === undefined) return;
    this.#swept = now;
    const { jobs } = await this.list();
    const known = new Map(jobs.map((job) => [job.id, job]));
    let [count, bytes] = [0, 0];
    // Drop calls that were answered at once before jobs: clients make many of them.
    const ranked = jobs.toSorted((a, b) => Number(b.kept ?? false) - Number(a.kept ?? false));
    const expired = ranked.filter((job) => {
      if (job.status === 'working') return false;
      [count, bytes] = [count + 1, bytes + job.bytes];
      return isOld(job.updated, now) || count > MOST_JOBS || bytes > MOST_BYTES;
    });
    const paths = expired.flatMap(({ id }) => [join(root, id), join(root, RESULTS, id)]);
    // Also remove damaged jobs, points of searches, and results without a job.
    for (const folder of [root, join(root, RESULTS)]) {
      for (const name of await readdir(folder).catch(() => [])) {
        const found = await lstat(join(folder, name)).catch(() => undefined);
        const isOther = name !== RESULTS && !known.has(name);
        if (isOther && found && isOld(found.mtimeMs, now)) paths.push(join(folder, name));
      }
    }
    for (const path of paths) await rm(path, { recursive: true, force: true }).catch(() => {});
  }

  /** Reads a file of a job; `undefined` if it does not exist or the id is invalid. */
  async #text(id: string, name: string, most: number): Promise<string | undefined> {
    const root = ID.test(id) ? await this.#existing() : undefined;
    if (root === undefined || !(await lstat(join(root, id)).catch(() => undefined))) return undefined;
    let fd: number;
    try {
      fd = openChecked(join(root, id, name), { by: 'foreign', folders: [join(root, id)] });
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw damaged(id, name);
    }
    try {
      const { size } = fstatSync(fd);
      if (size > most) throw damaged(id, name);
      const bytes = Buffer.alloc(size);
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, size, 0));
    } finally {
      closeSync(fd);
    }
  }

  /** Real path of the folder, `undefined` if it does not exist yet. */
  async #existing(): Promise<string | undefined> {
    if (this.#root) return this.#root;
    const found = await lstat(this.#named).catch(() => undefined);
    return found && this.#open();
  }

  #put(id: string, name: string, text: string): Promise<void> {
    return this.#writing(async (root) => {
      await mkdir(join(root, id), { mode: 0o700, recursive: true });
      await writeWhole(join(root, id, name), text, 0o600);
    });
  }

  async #writing<T>(write: (root: string) => Promise<T>): Promise<T> {
    try {
      return await write(await this.#open());
    } catch (cause) {
      if (cause instanceof AnyvmafError) throw cause;
      throw ioError(
        `Jobs cannot be kept in ${quoted(this.#named)}: ${writeReason(cause)}; make it writable, or name another folder with ANYVMAF_CACHE.`,
        { cause },
      );
    }
  }

  #open(): Promise<string> {
    this.#root ??= openPrivate(this.#named, 'where jobs are kept', 'name another with ANYVMAF_CACHE');
    this.#root.catch(() => {
      this.#root = undefined;
    });
    return this.#root;
  }
}

export const pointsName = (source: string): string => `points-${textDigest(source, 32)}`;

/** True while the job's server runs. */
export async function isServed({ server, updated }: JobRecord): Promise<boolean> {
  if (server === (await processMark())) return true;
  const [machine, pid, start = ''] = server.split('-');
  if (machine === (await machineMark())) return isAlive(Number(pid), start);
  return Date.now() - updated < SILENCE;
}

const isOld = (changed: number, now: number) => now - changed > KEPT_TIME;

function damaged(id: string, file: string): AnyvmafError {
  return ioError(
    `The job ${id} cannot be used: its ${file} is missing, damaged or not a file of the store; start it again with job_start.`,
  );
}
