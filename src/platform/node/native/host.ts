/**
 * @module platform/node/native/host
 * Runs installed programs in Node, each in a private folder and its own process group, with named pipes as inputs.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { unlessAborted } from '../../../core/abort.js';
import { backendError, codeOf } from '../../../core/errors.js';
import { limitError } from '../../../core/system-limits.js';
import type { Feed, NativeHost, NativeJob, NativeOutcome } from '../../../engine/backends/native/types.js';
import { endChild, keepEnds, killGroup, startChild } from '../../../files/child-process.js';
import { makeScratchFolder, removeScratch } from '../../../files/folders.js';
import { findPrograms } from '../ffmpeg/tool.js';

export const nodeNative: NativeHost = { pipes: process.platform !== 'win32', candidates: findPrograms, run };

async function run(job: NativeJob): Promise<NativeOutcome> {
  const { files = {}, feeds = {}, output, signal } = job;
  signal?.throwIfAborted();
  const feeding = Object.entries(feeds);
  const needed = Object.keys(files).length > 0 || feeding.length > 0 || output !== undefined;
  const folder = needed ? await makeScratchFolder('native') : undefined;
  try {
    const at = (name: string) => join(folder ?? '', name);
    for (const [name, content] of Object.entries(files)) writeFileSync(at(name), content, { mode: 0o600 });
    if (feeding.length > 0) await makePipes(feeding.map(([name]) => at(name)));
    signal?.throwIfAborted();
    const outcome = await runIn(job, folder, at);
    return { ...outcome, output: output === undefined ? undefined : readIfThere(at(output)) };
  } finally {
    if (folder !== undefined) await removeScratch(folder);
  }
}

async function runIn(
  { path, args, feeds = {}, timeout, stall, signal }: NativeJob,
  folder: string | undefined,
  at: (name: string) => string,
): Promise<NativeOutcome> {
  const start = performance.now();
  const child = tryStart(path, args, folder);
  if (child instanceof Error) {
    const nothing = { code: null, signal: null, stdout: '', stderr: '', time: 0 };
    return { kind: 'unstartable', ...nothing, reason: startProblem(child) };
  }
  const stdout = keepEnds(child.stdout);
  const stderr = keepEnds(child.stderr);
  const ended = new Promise<Ending>((resolve) => {
    child.once('error', (error) => resolve({ kind: 'unstartable', reason: startProblem(error) }));
    child.once('close', (code, by) => resolve({ kind: 'ended', code, signal: by }));
    // Orphaned children may hold its output open, but the run is over.
    child.once('exit', () => killGroup(child));
  });

  const timers = new Timers(timeout, stall);
  const writers = Object.entries(feeds).map(([name, feed]) => ({ feed, writer: new PipeWriter(at(name)) }));
  const fed = Promise.all(writers.map(({ feed, writer }) => feedPipe(feed, writer, timers)));
  // Only a failed feed ends the run.
  const broken = new Promise<never>((_, reject) => {
    fed.catch(reject);
  });
  broken.catch(() => {});

  try {
    const ending = await unlessAborted(signal, Promise.race([ended, timers.up, broken]));
    for (const { writer } of writers) writer.close();
    // An error of a feed counts even if the program did not read that far.
    if (ending.kind === 'ended') await unlessAborted(signal, fed);
    const time = performance.now() - start;
    const limit = ending.kind === 'timeout' ? timeout : undefined;
    return { code: null, signal: null, ...ending, stdout: stdout(), stderr: stderr(), time, limit };
  } finally {
    timers.stop();
    for (const { writer } of writers) writer.close();
    await endChild(child, ended, [child.stdout, child.stderr]);
  }
}

type Program = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

/** Starts a program; returns errors that Node throws. */
function tryStart(path: string, args: readonly string[], folder: string | undefined): Program | Error {
  try {
    const child = startChild(path, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    if (hasPipes(child)) return child;
    // Too many open files; the child also emits an error.
    child.on('error', () => {});
    return new Error('EMFILE: no pipes can be made');
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const hasPipes = (child: ChildProcess): child is Program => child.stdout !== null && child.stderr !== null;

async function feedPipe(feed: Feed, writer: PipeWriter, timers: Timers): Promise<void> {
  timers.busy(1);
  try {
    await feed(async (bytes) => {
      timers.busy(-1);
      const written = await writer.write(bytes);
      timers.busy(1);
      return written;
    });
  } finally {
    timers.busy(-1);
  }
  await writer.end();
}

interface Ending {
  readonly kind: NativeOutcome['kind'];
  readonly code?: number | null;
  readonly signal?: string | null;
  readonly reason?: string;
}

/** Time limits of a run: in total, and without progress while no feed is busy. */
class Timers {
  readonly up: Promise<Ending>;
  readonly #stall: number | undefined;
  readonly #all: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #ring: () => void = () => {};
  #busy = 0;
  #stopped = false;

  constructor(timeout: number | undefined, stall: number | undefined) {
    this.up = new Promise((resolve) => {
      this.#ring = () => resolve({ kind: 'timeout' });
    });
    this.#stall = stall;
    if (timeout !== undefined) this.#all = setTimeout(this.#ring, timeout);
    this.busy(0);
  }

  /** Counts feeds that wait for their own bytes, meanwhile pausing the stall limit. */
  busy(change: number): void {
    this.#busy += change;
    clearTimeout(this.#idle);
    if (this.#stall === undefined || this.#busy > 0 || this.#stopped) return;
    this.#idle = setTimeout(this.#ring, this.#stall);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#all);
    clearTimeout(this.#idle);
  }
}

function startProblem(error: Error): string {
  const code = codeOf(error);
  if (code === 'EACCES') return 'this user may not run it';
  if (code === 'ENOENT') return 'it does not exist, or a library or interpreter that it needs does not';
  if (code === 'ENOEXEC' || code === 'UNKNOWN') return 'it is not a program for this system';
  return limitError(error)?.message ?? error.message;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** First and longest pause in milliseconds between attempts to open a pipe without a reader. */
const SHORT = 1;
const LONG = 20;

/** Makes named pipes for this user only. @throws {AnyvmafError} `backend` if the system cannot */
export async function makePipes(paths: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
  } catch (cause) {
    throw backendError(
      'Native backends are fed through named pipes, but mkfifo cannot be run here; install coreutils, or use the ' +
        'backend cpu.',
      { cause },
    );
  }
}

/** The writing end of a named pipe: opens when there is a reader, and writes without blocking a thread. */
export class PipeWriter {
  readonly #path: string;
  #socket: Socket | undefined;
  #closed = false;
  #waiting: ((written: boolean) => void) | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when the bytes are in the pipe; `false` if the pipe is closed or its reader is gone. */
  async write(bytes: Uint8Array): Promise<boolean> {
    this.#socket ??= await this.#open();
    const socket = this.#socket;
    if (!socket || this.#closed) return false;
    return new Promise((resolve) => {
      this.#waiting = resolve;
      socket.write(bytes, (error) => resolve(!error));
    });
  }

  /** Ends the pipe after the written bytes. */
  async end(): Promise<void> {
    // A later reader must find the end instead of waiting for data.
    this.#socket ??= await this.#open();
    this.#socket?.end();
  }

  close(): void {
    this.#closed = true;
    this.#socket?.destroy();
    this.#waiting?.(false);
  }

  /** Waits for a reader, without which a non-blocking open fails. */
  async #open(): Promise<Socket | undefined> {
    for (let pause = SHORT; !this.#closed; pause = Math.min(LONG, 2 * pause)) {
      const fd = this.#tryOpen();
      if (fd !== undefined) {
        const socket = new Socket({ fd, readable: false, writable: true });
        // The result of the write reports the missing reader.
        socket.on('error', () => this.close());
        return socket;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    return undefined;
  }

  #tryOpen(): number | undefined {
    try {
      const fd = openSync(this.#path, constants.O_WRONLY | constants.O_NONBLOCK);
      if (!this.#closed) return fd;
      closeSync(fd);
      return undefined;
    } catch (error) {
      if (codeOf(error) === 'ENXIO') return undefined;
      // The folder and the reader are gone.
      this.#closed = true;
      return undefined;
    }
  }
}
