/**
 * @module cli/batch/results
 * The file of results: JSON lines that are only ever added, each whole, so that a run that was killed loses and doubles
 * nothing.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { isObject } from '../../core/arguments.js';
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { type FileLock, lockFile } from '../../files/lock.js';
import { openOutput } from '../output.js';

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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
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
