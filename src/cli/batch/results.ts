/**
 * @module cli/batch/results
 * The file of results: JSON lines that are only ever added, each whole, so that a run that was killed loses and doubles nothing; and what
 * tells whether a job was done before: the content of its line, and of each file size, time, head and tail.
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
import { isObject, jsonOf } from '../../core/arguments.js';
import { AnyvmafError } from '../../core/errors.js';
import { shown, withoutAccess } from '../../core/printable.js';
import { type FileLock, lockFile } from '../../files/lock.js';
import { openOutput } from '../output.js';
import { isUrl } from '../table-options.js';
import type { Job } from './table.js';

/** What a batch reads back of a line. */
export interface ResultLine {
  /** As written, without its line feed. */
  readonly text: string;
  readonly id: string;
  /** Its place in the table when it was written. */
  readonly line: number;
  readonly failed: boolean;
  /** Whether its score is below its limit, or cannot be trusted. */
  readonly below: boolean;
  /** Whether its pair gave a score that is not to be trusted, limit or not. */
  readonly untrusted: boolean;
}

/** An open file of results, which no other process writes meanwhile. */
export class ResultsFile {
  readonly #path: string;
  readonly #fd: number;
  readonly #lock: FileLock | undefined;
  readonly #lines = new Map<string, ResultLine>();

  private constructor(path: string, fd: number, lock: FileLock | undefined, lines: readonly ResultLine[]) {
    this.#path = path;
    this.#fd = fd;
    this.#lock = lock;
    for (const line of lines) this.#lines.set(line.id, line);
  }

  /**
   * Opens the file, or makes it. A last line without an end, which a kill left, is dropped.
   * @param retry drops failed jobs too
   * @throws {AnyvmafError} `io` if it cannot be written, another process writes it, or it holds something else
   */
  static async open(path: string, inputs: readonly string[], retry: boolean): Promise<ResultsFile> {
    const output = await openOutput(path, inputs);
    // Before it is read: what another process adds would be missed.
    const regular = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
    const lock = regular ? await lockFile(path) : undefined;
    try {
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      const whole = text.slice(0, text.lastIndexOf('\n') + 1);
      const lines = whole
        .split('\n')
        .slice(0, -1)
        .map((line, i) => readLine(line, i + 1, path));
      const kept = retry ? lines.filter(({ failed }) => !failed) : lines;
      if (kept.length < lines.length) await output.write(kept.map((line) => `${line.text}\n`));
      const fd = openSync(path, 'a');
      if (kept.length === lines.length && whole.length < text.length)
        ftruncateSync(fd, Buffer.byteLength(whole));
      return new ResultsFile(path, fd, lock, kept);
    } catch (error) {
      await lock?.release();
      throw error instanceof AnyvmafError ? error : writeError(path, error);
    }
  }

  /** The line of a job, if it is done. */
  get(id: string): ResultLine | undefined {
    return this.#lines.get(id);
  }

  /**
   * Adds a line, which is on the disk when this returns.
   * @throws {AnyvmafError} `io`
   */
  add(text: string): ResultLine {
    const line = readLine(text, this.#lines.size + 1, this.#path);
    this.#lock?.require();
    try {
      const bytes = Buffer.from(`${text}\n`);
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
      fsyncSync(this.#fd);
    } catch (error) {
      throw writeError(this.#path, error);
    }
    this.#lines.set(line.id, line);
    return line;
  }

  async close(): Promise<void> {
    closeSync(this.#fd);
    await this.#lock?.release();
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
  throw new AnyvmafError(
    'io',
    `line ${number} of "${shown(path)}" is not a result of a batch; give --output another name, or move that file away`,
  );
}

function writeError(path: string, cause: unknown): AnyvmafError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AnyvmafError('io', `cannot write "${shown(path)}": ${why}`, { cause });
}

/** Bytes read at the head and at the tail of a file. */
const ENDS = 64 * 1024;

/**
 * The identity of a job: hexadecimal, the same as long as neither its line nor its files change. Where a file is fetched
 * from, it goes by what is there: a URL that is signed anew is the same, and so are other hosts that are allowed.
 * @param signal stops fetching
 */
export async function jobId({ args, settings }: Job, signal?: AbortSignal): Promise<string> {
  const { reference, distorted, hosts } = settings;
  const files = [...(reference === undefined ? [] : [reference]), ...distorted];
  const facts = await Promise.all(
    files.map((file) => (isUrl(file) ? urlFacts(file, hosts, signal) : fileFacts(file))),
  );
  const own = args.filter((arg) => !/^--(?:allow-url|max-seconds)\b/.test(arg));
  const line = facts.some((fact, i) => fact === null && isUrl(files[i] ?? '')) ? own : own.map(withoutAccess);
  return createHash('sha256')
    .update(JSON.stringify([line, facts]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * Why the files of a job cannot be those of a batch: a pipe is read once, and waits for who writes to it.
 * @returns an error of code `io`; `undefined` for files, and for what is not there
 */
export async function onceOnly({ settings }: Job): Promise<AnyvmafError | undefined> {
  const { reference, distorted } = settings;
  for (const path of [...(reference === undefined ? [] : [reference]), ...distorted]) {
    const found = isUrl(path) ? undefined : await stat(path).catch(() => undefined);
    if (!found || found.isFile() || found.isDirectory()) continue;
    const what = found.isFIFO() ? 'a named pipe' : 'a device or a socket';
    return new AnyvmafError(
      'io',
      `${shown(path)} is ${what}, but a batch reads files; store the video, or score it by itself.`,
    );
  }
  return undefined;
}

type Facts = readonly [size: number, state: number | string, digest: string];

/** Of a file: bytes, milliseconds of its last change, and a digest; `null` if it is not there, or no file of this machine. */
async function fileFacts(path: string): Promise<Facts | null> {
  let file: FileHandle | undefined;
  try {
    // Without waiting for who writes to a named pipe.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    const { size, mtimeMs } = stats;
    const digest = await digestOf(size, (bytes, position) => file?.read(bytes, 0, bytes.length, position));
    return [size, mtimeMs, digest];
  } catch {
    // The run itself says what is wrong with it.
    return null;
  } finally {
    await file?.close();
  }
}

/** Of what is behind a URL; `null` if it cannot be read in parts, or may be fetched unchecked. */
async function urlFacts(
  url: string,
  hosts: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<Facts | null> {
  if (!hosts) return null;
  try {
    const [{ AllowedHosts }, { RemoteFile }] = await Promise.all([
      import('../../remote/allowed-hosts.js'),
      import('../../remote/remote-file.js'),
    ]);
    const file = await RemoteFile.open(url, new AllowedHosts(hosts), { signal });
    const reader = file.reader();
    return [file.size, file.version, await digestOf(file.size, (bytes, at) => reader.read(at, [bytes]))];
  } catch {
    // The run itself says what is wrong with it.
    return null;
  }
}

/** Of the head and the tail of a file. */
async function digestOf(
  size: number,
  read: (bytes: Buffer, position: number) => Promise<number | { readonly bytesRead: number }> | undefined,
): Promise<string> {
  const hash = createHash('sha256');
  const ends =
    size <= 2 * ENDS
      ? [[0, size]]
      : [
          [0, ENDS],
          [size - ENDS, ENDS],
        ];
  for (const [position = 0, length = 0] of ends) {
    const bytes = Buffer.alloc(length);
    const got = await read(bytes, position);
    hash.update(bytes.subarray(0, typeof got === 'object' ? got.bytesRead : got));
  }
  return hash.digest('hex');
}
