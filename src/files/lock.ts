/**
 * @module files/lock
 * Lets one process at a time write a file. Each process creates a lock file that names it beside that file, then looks for
 * the lock files of others. So no process removes a fresh lock of another, and a killed process blocks nobody.
 */
import { statSync, writeFileSync } from 'node:fs';
import { lstat, open, readdir, readlink, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type AnyvmafError, codeOf, ioError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import {
  forgetScratch,
  isAlive,
  machineMark,
  processMark,
  remember,
  textDigest,
  writeReason,
} from './folders.js';

export interface FileLock {
  /** @throws {AnyvmafError} `io` if the lock is lost, as after a long suspension of this process */
  require(): void;
  release(): Promise<void>;
}

/** `.anyvmaf-MACHINE-PID-START-NAME.lock`; NAME is a digest of the locked file's name. */
const NAME = /^\.anyvmaf-([0-9a-z]{1,12})-(\d{1,10})-([0-9a-z]{1,13})-([0-9a-f]{12})\.lock$/;

/** Of a lock file: heartbeats overwrite it, which needs no room on a full disk. */
const CONTENT = '.';

/** Milliseconds between heartbeats, for processes of other machines. */
const BEAT = 10_000;
/** Milliseconds without a heartbeat after which a process of another machine counts as dead. */
const SILENCE = 90_000;
/** Tries, for processes that start at the same moment, and the longest pause between two in milliseconds. */
const TRIES = 5;
const PAUSE = 300;

/** Locks a file, even a missing one; a link and its target are one file. @throws {AnyvmafError} `io` */
export async function lockFile(path: string): Promise<FileLock> {
  const file = await realName(resolve(path));
  const folder = dirname(file);
  const digest = textDigest(basename(file), 12);
  const own = join(folder, `.anyvmaf-${await processMark()}-${digest}.lock`);
  for (let tries = 1; ; tries++) {
    await claim(own, path);
    let holder: Holder | undefined;
    try {
      holder = await otherHolder(own, folder, digest);
    } catch (cause) {
      await drop(own);
      throw lockError(path, cause);
    }
    if (!holder) return held(own, path);
    await drop(own);
    // The other process may have started at the same moment and back off too.
    if (tries >= TRIES) throw taken(path, holder);
    await new Promise((wake) => setTimeout(wake, Math.random() * PAUSE));
  }
}

interface Holder {
  readonly pid: number;
  readonly elsewhere: boolean;
  readonly lock: string;
}

function held(own: string, path: string): FileLock {
  const beat = setInterval(() => {
    try {
      // The clock of the file system counts, not that of this machine. Does not create a lost lock again.
      writeFileSync(own, CONTENT, { flag: 'r+' });
    } catch {
      // The next write reports it.
    }
  }, BEAT);
  beat.unref();
  return {
    require() {
      try {
        statSync(own);
      } catch (cause) {
        throw ioError(
          `The lock on "${shown(path)}" is gone, and another process may write it; run the batch again.`,
          { cause },
        );
      }
    },
    async release() {
      clearInterval(beat);
      await drop(own);
    },
  };
}

async function claim(own: string, path: string): Promise<void> {
  remember(own);
  try {
    const file = await open(own, 'wx', 0o644);
    await file.write(CONTENT).finally(() => file.close());
  } catch (cause) {
    // This process already has the lock: keep it.
    if (codeOf(cause) === 'EEXIST') throw taken(path, { pid: process.pid, elsewhere: false, lock: own });
    await drop(own);
    throw lockError(path, cause);
  }
}

async function drop(own: string): Promise<void> {
  await rm(own, { force: true });
  forgetScratch(own);
}

/** Finds a live process that holds a lock; removes the locks of dead ones. */
async function otherHolder(own: string, folder: string, digest: string): Promise<Holder | undefined> {
  const mark = await machineMark();
  for (const name of await readdir(folder)) {
    const [, machine = '', pid = '', start = '', of] = NAME.exec(name) ?? [];
    const lock = join(folder, name);
    if (of !== digest || lock === own) continue;
    const elsewhere = machine !== mark;
    if (elsewhere ? await isFresh(lock, own) : await isAlive(Number(pid), start))
      return { pid: Number(pid), elsewhere, lock };
    await rm(lock, { force: true });
  }
  return undefined;
}

/** True if the heartbeat of another machine's process is recent, by the clock of the file system. */
async function isFresh(lock: string, own: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all([stat(lock).catch(() => undefined), stat(own)]);
  return theirs !== undefined && ours.mtimeMs - theirs.mtimeMs < SILENCE;
}

/** Resolves a name, even of a file that does not exist yet. */
async function realName(path: string, links = 40): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined) return found;
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
  if (isLink && links > 0) return realName(resolve(dirname(path), await readlink(path)), links - 1);
  return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
}

function taken(path: string, { pid, elsewhere, lock }: Holder): AnyvmafError {
  const who =
    pid === process.pid && !elsewhere
      ? 'this process already writes it'
      : `process ${pid}${elsewhere ? ' of another machine or container' : ''} writes it`;
  const after = elsewhere
    ? `; wait until it has ended (its lock, ${shown(lock)}, expires ${SILENCE / 1000} s after that)`
    : '; wait until it has ended';
  return ioError(`"${shown(path)}" is locked: ${who}${after}, or name another file.`);
}

function lockError(path: string, cause: unknown): AnyvmafError {
  return ioError(`cannot create a lock file beside "${shown(path)}": ${writeReason(cause)}`, { cause });
}
