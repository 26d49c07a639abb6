/**
 * @module files/folders
 * The cache folder, private folders, temporary files, atomic writes, digests, and reasons of failed writes. The name of a
 * temporary file identifies the process that made it. That process removes it at its end; after a kill, the next process
 * that makes a temporary file in the same folder does.
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { homedir, hostname, tmpdir, uptime } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, ioError, messageOf } from '../core/errors.js';
import { quoted } from '../core/printable.js';

/** `ANYVMAF_CACHE`, else the system's usual cache folder. */
export function cacheFolder(): string {
  const { ANYVMAF_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (ANYVMAF_CACHE) return resolve(ANYVMAF_CACHE);
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'anyvmaf');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'anyvmaf');
  if (process.platform === 'win32')
    return join(LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'anyvmaf', 'Cache');
  return join(homedir(), '.cache', 'anyvmaf');
}

/**
 * Makes a folder and its parents. Node's recursive mkdir never returns where mkdir is impossible, as in /proc.
 * @param path absolute
 * @param made receives the new folders, topmost first
 */
export async function makeFolders(path: string, made: string[] = []): Promise<void> {
  if (await stat(path).catch(() => undefined)) return;
  if (dirname(path) !== path) await makeFolders(dirname(path), made);
  try {
    await mkdir(path);
    made.push(path);
  } catch (error) {
    // Another process may have made it.
    if (!(await stat(path).catch(() => undefined))) throw error;
  }
}

/**
 * Opens or creates a folder that only this user can read. @returns its real path
 * @param named absolute
 * @param what its purpose, for the error: `where jobs are kept`
 * @param advice how to choose another, for the error
 * @throws {AnyvmafError} `io` if it is not a folder of this user; the system's error
 */
export async function openPrivate(named: string, what: string, advice: string): Promise<string> {
  await makeFolders(dirname(named));
  await mkdir(named, { mode: 0o700 }).catch(() => {});
  const found = await lstat(named);
  if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid()))
    throw ioError(`${quoted(named)}, ${what}, is not a folder of this user; remove it, or ${advice}.`);
  if ((found.mode & 0o077) !== 0 && process.platform !== 'win32') await chmod(named, 0o700);
  return join(await realpath(dirname(named)), basename(named));
}

const WRITE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no folder can be created there',
  EEXIST: 'a part of its path is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'a folder has that name',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it would exceed the size limit of files',
  ENAMETOOLONG: 'its path is too long',
  ELOOP: 'its symbolic links form a loop',
  EMFILE: 'too many files are open',
};

/** The reason of a failed write, as the end of a sentence. */
export function writeReason(cause: unknown): string {
  return WRITE_REASONS[codeOf(cause)] ?? messageOf(cause);
}

export type ScratchKind = 'bench' | 'mcp' | 'native' | 'part' | 'search';

/** `anyvmaf-mcp-MACHINE-PID-START-RANDOM` in a temporary folder; `.anyvmaf-…-RANDOM.tmp` beside other files. */
const SCRATCH_NAME =
  /^(?:anyvmaf-(?:bench|mcp|native|part|search)|\.anyvmaf)-([0-9a-z]{1,12})-(\d{1,10})-([0-9a-z]{1,13})-[0-9a-z]{1,12}(\.tmp)?$/;

/** Tolerated clock error in seconds. */
const SLACK = 60;

/** Absolute paths that this process must remove. */
const made = new Set<string>();

/** Folders swept or being swept, by absolute path. */
const swept = new Map<string, Promise<void>>();

let identity: Promise<string> | undefined;

export function isScratch(path: string): boolean {
  return SCRATCH_NAME.test(basename(path));
}

/**
 * Makes a folder that only this user can read.
 * @param parent an existing folder
 * @param advice what to do if that fails, for the error
 * @returns its absolute path; remove it with {@link removeScratch}
 * @throws {AnyvmafError} `io`
 */
export async function makeScratchFolder(
  kind: ScratchKind,
  parent: string = tmpdir(),
  advice = 'name another folder with TMPDIR',
): Promise<string> {
  await sweepScratch(parent);
  const path = join(resolve(parent), await newName(`anyvmaf-${kind}`));
  remember(path);
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (cause) {
    forgetScratch(path);
    throw ioError(`No temporary folder can be made in ${quoted(parent)}: ${writeReason(cause)}; ${advice}.`, {
      cause,
    });
  }
  return path;
}

/**
 * An unused path beside `file`, for a new file that replaces it when complete. Remove that with
 * {@link removeScratch}, or rename it and call {@link forgetScratch}.
 */
export async function scratchBeside(file: string): Promise<string> {
  const folder = dirname(resolve(file));
  await sweepScratch(folder);
  const path = join(folder, `${await newName('.anyvmaf')}.tmp`);
  remember(path);
  return path;
}

export async function removeScratch(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  forgetScratch(path);
}

/** Keeps a temporary file that was renamed. */
export function forgetScratch(path: string): void {
  made.delete(path);
  if (made.size === 0) process.off('exit', removeAll);
}

/** Writes a file atomically. @param mode default: as the user's other files @throws the system's error */
export async function writeWhole(path: string, data: string | Uint8Array, mode = 0o666): Promise<void> {
  const temporary = await scratchBeside(path);
  try {
    await writeFile(temporary, data, { flag: 'wx', mode });
    await rename(temporary, path);
    forgetScratch(temporary);
  } catch (error) {
    await removeScratch(temporary).catch(() => {});
    throw error;
  }
}

/** Removes temporary files of ended processes of this user and machine, once per folder. Never throws. */
export function sweepScratch(folder: string = tmpdir()): Promise<void> {
  const path = resolve(folder);
  const sweeping = swept.get(path) ?? sweep(path).catch(() => {});
  swept.set(path, sweeping);
  return sweeping;
}

async function sweep(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names) {
    const path = join(folder, name);
    if (SCRATCH_NAME.test(name) && (await isLeft(path)))
      await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** True if a path belongs to this user and an ended process, and is of the kind that its name implies. */
async function isLeft(path: string): Promise<boolean> {
  const [, machine = '', pid = '', start = '', file] = SCRATCH_NAME.exec(basename(path)) ?? [];
  if (machine !== (await machineMark()) || (await isAlive(Number(pid), start))) return false;
  const found = await lstat(path).catch(() => undefined);
  if (!found || (process.getuid && found.uid !== process.getuid())) return false;
  return file === undefined ? found.isDirectory() : found.isFile();
}

async function newName(prefix: string): Promise<string> {
  return `${prefix}-${await processMark()}-${Math.random().toString(36).slice(2, 12) || '0'}`;
}

/** A unique mark of this process, also over time: `MACHINE-PID-START`. */
export function processMark(): Promise<string> {
  identity ??= (async () => {
    const start =
      (await startOf(process.pid)) ?? Math.round(Date.now() / 1000 - process.uptime()).toString(36);
    return `${await machineMark()}-${process.pid}-${start}`;
  })();
  return identity;
}

/** Identifies the machine and container: several may share a folder, and process IDs are unique within one only. */
export async function machineMark(): Promise<string> {
  const space = await readlink('/proc/self/ns/pid').catch(() => '');
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${hostname()}\n${space}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(36);
}

/** True if the process with this ID and start time runs, or if that is unknown. */
export async function isAlive(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
  }
  const now = await startOf(pid);
  if (now !== undefined) return now === start;
  // Only Linux reports start times. Elsewhere, a process that started before the last boot has ended.
  return process.platform === 'linux' || Number.parseInt(start, 36) > Date.now() / 1000 - uptime() - SLACK;
}

/** Start time of a process in clock ticks; `gone` if it has ended; `undefined` if unknown. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The bracketed process name may contain spaces and brackets.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (!fields) return undefined;
  const [state = '', ticks] = [fields[0], fields[19]];
  if (state === 'Z' || state === 'X') return 'gone';
  return ticks === undefined ? undefined : Number(ticks).toString(36);
}

/** Removes a file at the exit of this process, unless {@link forgetScratch} is called. */
export function remember(path: string): void {
  if (made.size === 0) process.on('exit', removeAll);
  made.add(path);
}

function removeAll(): void {
  for (const path of made) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // The next process removes it.
    }
  }
}

/** Compiles `*` and `?` in file names; brackets are literal. As in a shell, `*` matches no leading dot. */
export function globTest(pattern: string): (name: string) => boolean {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  const whole = new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`);
  return (name) => whole.test(name) && (!name.startsWith('.') || pattern.startsWith('.'));
}

/**
 * SHA-256, synchronously; `core/bytes` has an asynchronous one for all platforms.
 * @param digits number of leading hexadecimal digits, at most 64
 */
export function textDigest(text: string, digits = 64): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
