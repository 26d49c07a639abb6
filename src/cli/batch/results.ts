/**
 * @module cli/batch/results
 * Scores the jobs of a batch into its results file: JSON lines, each appended whole, so that a killed run neither loses nor
 * repeats results. A job is identified by its line and by the size, time, head and tail of each video and model file,
 * or by its pictures.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObject, jsonOf } from '../../core/arguments.js';
import { AnyvmafError, ioError, messageOf, usageError } from '../../core/errors.js';
import { isOnnxPath, isUrl } from '../../core/names.js';
import { shown, withoutAccess } from '../../core/printable.js';
import { makeFolders, textDigest } from '../../files/folders.js';
import { lockFile } from '../../files/lock.js';
import { namesSequence, openSequence } from '../../files/sequence.js';
import type { BatchProgress, Report } from '../../index.js';
import { failureLine, reportLine } from '../../report/batch.js';
import type { FailedEncode } from '../../report/schema.js';
import type { ProgressBar } from '../command.js';
import { completeReport, messageInFlags } from '../exit.js';
import { gateOf } from '../gate.js';
import { openOutput } from '../output.js';
import { modelFilesIn, requestOf, videosIn } from '../score-options.js';
import type { Terminal } from '../terminal.js';
import type { BatchSettings, Job, OpenJob } from './table.js';

export interface ResultLine {
  /** Without line feed. */
  readonly text: string;
  readonly id: string;
  /** Line of the table when it was written. */
  readonly line: number;
  readonly failed: boolean;
  /** The gate failed: the score is below its limit, or cannot be trusted. */
  readonly below: boolean;
  /** The score cannot be trusted, with or without a gate. */
  readonly untrusted: boolean;
}

export type ResultsFile = Awaited<ReturnType<typeof openResults>>;

/**
 * Opens or creates the file, and locks it against other processes. Drops an incomplete last line, left by a kill.
 * @param retry also drops failed jobs
 * @throws {AnyvmafError} `io` if it is not writable, locked by another process, or not a results file; `usage` for a
 * pipe or a device, whose results cannot be read again
 */
export async function openResults(path: string, inputs: readonly string[], retry: boolean) {
  const output = await openOutput(path, inputs);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw usageError(
      `"${shown(path)}" is a pipe or a device, but a batch reads its results again to resume; name a file`,
    );
  // Lock before reading, so that no line of another process is missed.
  const lock = await lockFile(path);
  try {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const all = whole
      .split('\n')
      .slice(0, -1)
      .map((line, i) => readLine(line, i + 1, path));
    const remaining = retry ? all.filter(({ failed }) => !failed) : all;
    const dropped = remaining.length < all.length;
    if (dropped) await output.write(remaining.map((line) => `${line.text}\n`));
    const fd = openSync(path, 'a');
    if (!dropped && whole.length < text.length) ftruncateSync(fd, Buffer.byteLength(whole));
    const lines = new Map(remaining.map((line) => [line.id, line]));
    return {
      get: (id: string) => lines.get(id),
      /** Appends a line and syncs it to disk. @throws {AnyvmafError} `io` */
      add(added: string): ResultLine {
        const line = readLine(added, lines.size + 1, path);
        lock.require();
        try {
          const bytes = Buffer.from(`${added}\n`);
          for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
          fsyncSync(fd);
        } catch (error) {
          throw writeError(path, error);
        }
        lines.set(line.id, line);
        return line;
      },
      async close(): Promise<void> {
        closeSync(fd);
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error instanceof AnyvmafError ? error : writeError(path, error);
  }
}

function readLine(text: string, number: number, path: string): ResultLine {
  const value = jsonOf(text);
  const job = isObject(value) ? value.job : undefined;
  if (isObject(value) && isObject(job) && typeof job.id === 'string' && typeof job.line === 'number') {
    const gate = isObject(value.gate) ? value.gate : undefined;
    const trust = isObject(value.trust) ? value.trust : undefined;
    return {
      ...{ text, id: job.id, line: job.line, failed: 'error' in value },
      ...{ below: gate?.passed === false, untrusted: trust?.verdict === 'untrusted' },
    };
  }
  throw ioError(
    `line ${number} of "${shown(path)}" is not a result of a batch; give --output another name, or move that file away`,
  );
}

function writeError(path: string, cause: unknown): AnyvmafError {
  return ioError(`cannot write "${shown(path)}": ${messageOf(cause)}`, { cause });
}

/** Bytes digested at each end of a file. */
const ENDS = 64 * 1024;

/**
 * Identifies a job, in hexadecimal, by its line and files. Allowed hosts and `--max-seconds` do not count, nor does the
 * signature of a URL whose content could be digested.
 */
async function jobId({ args, settings }: Job, known: KnownWeights, signal?: AbortSignal): Promise<string> {
  const { hosts } = settings;
  const models = modelFilesIn(settings);
  const weights = await Promise.all(models.filter(isOnnxPath).map((graph) => weightsOf(graph, known)));
  const files = [...videosIn(settings), ...models, ...weights.flat()];
  const factsOf = (file: string) => (isUrl(file) ? urlFacts(file, hosts, signal) : fileFacts(file));
  const facts = await Promise.all(files.map(factsOf));
  const own = args.filter((arg) => !/^--(?:allow-url|max-seconds)\b/.test(arg));
  const line = facts.some((fact, i) => fact === null && isUrl(files[i] ?? '')) ? own : own.map(withoutAccess);
  return textDigest(JSON.stringify([line, facts]), 32);
}

/** By graph: jobs of a batch share models, whose description reads and digests all their files. */
type KnownWeights = Map<string, Promise<readonly string[]>>;

function weightsOf(graph: string, known: KnownWeights): Promise<readonly string[]> {
  const found = known.get(graph) ?? findWeights(graph);
  known.set(graph, found);
  return found;
}

/** Files of weights that a graph names; none if the model cannot be used, which the run reports. */
async function findWeights(graph: string): Promise<readonly string[]> {
  const { describeTinyModel } = await import('../../index.js');
  try {
    const { parts } = await describeTinyModel(graph);
    return parts.flatMap(({ role, name }) => (role === 'weights' ? join(dirname(graph), name) : []));
  } catch {
    return [];
  }
}

/** Returns an `io` error if a file can be read only once, such as a named pipe; `undefined` if it is missing. */
async function onceOnly({ settings }: Job): Promise<AnyvmafError | undefined> {
  for (const path of videosIn(settings)) {
    const found = isUrl(path) ? undefined : await stat(path).catch(() => undefined);
    if (!found || found.isFile() || found.isDirectory()) continue;
    const kind = found.isFIFO() ? 'a named pipe' : 'a device or a socket';
    return ioError(
      `${shown(path)} is ${kind}, but a batch reads files; store the video, or score it by itself.`,
    );
  }
  return undefined;
}

type Facts = readonly [size: number, state: number | string, digest: string];

/** Bytes, modification time in milliseconds and digest; of pictures a digest; `null` if there is neither. */
async function fileFacts(path: string): Promise<Facts | string | null> {
  let file: FileHandle | undefined;
  try {
    // Non-blocking: opening a named pipe would wait for its writer.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (!stats.isFile()) return picturesVersion(path);
    const { size, mtimeMs } = stats;
    const digest = await contentDigest(size, (bytes, position) =>
      file?.read(bytes, 0, bytes.length, position),
    );
    return [size, mtimeMs, digest];
  } catch {
    return picturesVersion(path);
  } finally {
    await file?.close();
  }
}

function picturesVersion(name: string): string | null {
  try {
    return namesSequence(name) ? openSequence(name).version : null;
  } catch {
    // The run reports the error.
    return null;
  }
}

/** `null` if ranges cannot be read, or if no hosts are listed. */
async function urlFacts(url: string, hosts?: readonly string[], signal?: AbortSignal): Promise<Facts | null> {
  if (!hosts) return null;
  try {
    const [{ AllowedHosts }, { RemoteFile }] = await Promise.all([
      import('../../remote/request.js'),
      import('../../remote/remote-file.js'),
    ]);
    const file = await RemoteFile.open(url, new AllowedHosts(hosts), { signal });
    const reader = file.reader();
    return [file.size, file.version, await contentDigest(file.size, (bytes, at) => reader.read(at, [bytes]))];
  } catch {
    // The run reports the error.
    return null;
  }
}

async function contentDigest(
  size: number,
  read: (bytes: Buffer, position: number) => Promise<number | { readonly bytesRead: number }> | undefined,
): Promise<string> {
  const hash = createHash('sha256');
  const whole = size <= 2 * ENDS;
  for (const position of whole ? [0] : [0, size - ENDS]) {
    const bytes = Buffer.alloc(whole ? size : ENDS);
    const got = await read(bytes, position);
    hash.update(bytes.subarray(0, typeof got === 'object' ? got.bytesRead : got));
  }
  return hash.digest('hex');
}

interface BatchWork {
  readonly jobs: readonly Job[];
  readonly settings: BatchSettings;
  readonly terminal: Terminal;
  /** Files that must not be overwritten. */
  readonly inputs: readonly string[];
  readonly signal: AbortSignal;
  readonly results: ResultsFile;
  readonly bar: ProgressBar | undefined;
}

/** Repeated lines that are named; others are counted. */
const MOST_REPEATS = 10;

/**
 * Scores the jobs that have no result yet.
 * @returns the line of each distinct job in table order, and how many were there before
 * @throws {AnyvmafError} `io` if results cannot be written; the signal's reason
 */
export async function scoreJobs(work: BatchWork) {
  const { jobs, settings, terminal, signal, results, bar } = work;
  bar?.say(`checking the files of ${jobs.length} jobs`);
  const ids = new Map<string, OpenJob>();
  const weights: KnownWeights = new Map();
  let repeats = 0;
  for (const job of jobs) {
    signal.throwIfAborted();
    const id = await jobId(job, weights, signal);
    const earlier = ids.get(id);
    if (!earlier) ids.set(id, { job, id });
    else if (++repeats <= MOST_REPEATS)
      terminal.complain(`line ${job.line} repeats line ${earlier.job.line}; it is scored once`);
  }
  if (repeats > MOST_REPEATS)
    terminal.complain(`${repeats - MOST_REPEATS} more lines repeat earlier ones; each job is scored once`);
  const open = [...ids.values()].filter(({ id }) => !results.get(id));
  try {
    const ready: OpenJob[] = [];
    for (const entry of open) {
      const error = await onceOnly(entry.job);
      if (error) await addFailure(work, entry, error);
      else ready.push(entry);
    }
    if (ready.length > 0)
      await (settings.queue === undefined ? scoreOpen(work, ready) : followOpen(work, settings.queue, ready));
  } finally {
    bar?.clear();
  }
  const lines = [...ids.keys()].map((id) => results.get(id)).filter((line) => line !== undefined);
  return { lines, before: ids.size - open.length };
}

async function scoreOpen(work: BatchWork, open: readonly OpenJob[]): Promise<void> {
  const { jobs, settings, signal, bar } = work;
  const before = jobs.length - open.length;
  const { together } = settings;
  const { scoreBatch } = await import('../../index.js');
  const running = scoreBatch(
    open.map(({ job }) => requestOf(job.settings)),
    {
      signal,
      ...(together !== undefined && { together }),
      ...(bar && { onProgress: (progress) => bar.say(progressText(progress, before)) }),
    },
  );
  for await (const { index, report, error } of running) {
    const done = open[index];
    if (!done) continue;
    try {
      if (report) await addReport(work, done, report);
      else throw error ?? new AnyvmafError('internal', 'The job ended without a report.');
    } catch (thrown) {
      // A limit may name a metric that was not measured.
      if (!(thrown instanceof AnyvmafError) || (report && thrown.code !== 'usage')) throw thrown;
      await addFailure(work, done, { code: thrown.code, message: messageInFlags(thrown) });
    }
  }
}

async function followOpen(work: BatchWork, address: string, open: readonly OpenJob[]): Promise<void> {
  const { settings, terminal, signal, results, bar } = work;
  const { followBatch } = await import('./queued.js');
  const show = bar && ((text: string) => bar.say(text));
  const complain = (text: string) => {
    bar?.clear();
    terminal.complain(text);
  };
  try {
    for await (const ended of followBatch(address, { open, settings, signal, show, complain })) {
      const { done, line, frames, failure } = ended;
      if (frames) await saveFrames(work, done.id, frames);
      if (failure) await addFailure(work, done, failure);
      else complainOfJob(work, done, results.add(line ?? ''));
    }
  } finally {
    if (signal.aborted) complain('the jobs stay in the queue; run the command again to follow them');
  }
}

function complainOfJob(
  { terminal, bar }: BatchWork,
  { job }: OpenJob,
  { failed, below }: ResultLine,
  failure = '',
): void {
  if (!failed && !below) return;
  bar?.clear();
  const problem = failed ? `: ${failure}` : ' is below its limit or cannot be trusted';
  terminal.complain(`line ${job.line}, ${withoutAccess(job.settings.distorted[0])}${problem}`);
}

async function addFailure(
  work: BatchWork,
  open: OpenJob,
  { code, message }: Pick<FailedEncode, 'code' | 'message'>,
): Promise<void> {
  const { version } = await import('../../core/version.js');
  const { id, job } = open;
  const { line, args, settings } = job;
  const reference = withoutAccess(settings.reference ?? '');
  const distorted = withoutAccess(settings.distorted[0]);
  const text = failureLine({ id, line, args }, { version, reference, distorted, code, message });
  complainOfJob(work, open, work.results.add(text), message);
}

async function addReport(work: BatchWork, open: OpenJob, report: Report): Promise<void> {
  const { id, job } = open;
  const { line, args } = job;
  const complete = completeReport(report, job.settings.ignored);
  const { precision, frames: wanted } = work.settings;
  const gate = gateOf(complete, job.settings);
  // Written before the line that names the file: if killed in between, the next run replaces the file.
  const frames = wanted
    ? await saveFrames(work, id, await (await import('../../index.js')).formatFrames(complete))
    : undefined;
  const text = reportLine({ id, line, args }, complete, { precision, gate, frames });
  complainOfJob(work, open, work.results.add(text));
}

async function saveFrames({ settings, inputs }: BatchWork, id: string, bytes: Uint8Array): Promise<string> {
  const folder = `${settings.output}.frames`;
  await makeFolders(resolve(folder)).catch((cause: unknown) => {
    throw ioError(`cannot make the folder "${folder}": ${messageOf(cause)}`, { cause });
  });
  const path = join(folder, `${id}.parquet`);
  await (await openOutput(path, inputs)).write([bytes]);
  return path;
}

function progressText(progress: BatchProgress, before: number): string {
  const { jobsDone, jobsFailed, jobsTotal, fraction, secondsLeft } = progress;
  const failed = jobsFailed > 0 ? `, ${jobsFailed} failed` : '';
  const left = secondsLeft === null ? '' : `, ${durationText(secondsLeft)} left`;
  return `${before + jobsDone} of ${before + jobsTotal} jobs${failed}, ${Math.floor(100 * fraction)} %${left}`;
}

/** `45 s`, `3 min`, `2 h 5 min`. */
function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
