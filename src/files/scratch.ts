/**
 * @module files/scratch
 * Temporary files and folders. Names carry the process that made them: it removes them when it ends; after a kill, the
 * next process that makes something in the same folder does.
 */

import { rmSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir, uptime } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { AnyvmafError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { writeReason } from './folders.js';

export type ScratchKind = 'bench' | 'mcp' | 'native' | 'part' | 'search';

/** `anyvmaf-mcp-MACHINE-PID-START-RANDOM` in a temporary folder, `.anyvmaf-…-RANDOM.tmp` beside other files. */
const NAME =
  /^(?:anyvmaf-(?:bench|mcp|native|part|search)|\.anyvmaf)-([0-9a-z]{1,12})-(\d{1,10})-([0-9a-z]{1,13})-[0-9a-z]{1,12}(\.tmp)?$/;

/** Seconds by which a clock may be off. */
const SLACK = 60;

/** Absolute paths that this process has made and not removed. */
const made = new Set<string>();

/** Folders swept or being swept, by absolute path. */
const swept = new Map<string, Promise<void>>();

let identity: Promise<string> | undefined;

export function isScratch(path: string): boolean {
  return NAME.test(basename(path));
}

/**
 * Makes a folder that only this user can read.
 * @param parent an existing folder
 * @param advice what to do if nothing can be made in it
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
    throw new AnyvmafError(
      'io',
      `No temporary folder can be made in ${quoted(parent)}: ${writeReason(cause)}; ${advice}.`,
      { cause },
    );
  }
  return path;
}

/**
 * An unused path in the folder of `file`, for a new file that replaces it when complete. Remove that with
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

/** Keeps something made here, which was renamed. */
export function forgetScratch(path: string): void {
  made.delete(path);
  if (made.size === 0) process.off('exit', removeAll);
}

/**
 * Writes a file whole or not at all: it gets its name when complete.
 * @param mode by default as the user's other files
 * @throws the system's error
 */
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

/**
 * Removes from a folder, once per process, what ended processes of this user on this machine left. Symbolic links and
 * files of others stay. Never throws.
 */
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
    if (NAME.test(name) && (await isLeft(path)))
      await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** True if a path is this user's, of the kind that its name says, and of a process that has ended. */
async function isLeft(path: string): Promise<boolean> {
  const [, machine = '', pid = '', start = '', file] = NAME.exec(basename(path)) ?? [];
  if (machine !== (await machineMark()) || (await isAlive(Number(pid), start))) return false;
  const found = await lstat(path).catch(() => undefined);
  if (!found || (process.getuid && found.uid !== process.getuid())) return false;
  return file === undefined ? found.isDirectory() : found.isFile();
}

async function newName(prefix: string): Promise<string> {
  return `${prefix}-${await processMark()}-${Math.random().toString(36).slice(2, 12) || '0'}`;
}

/** Identifies this process among all that ever ran: `MACHINE-PID-START`. */
export function processMark(): Promise<string> {
  identity ??= (async () => {
    const start =
      (await startOf(process.pid)) ?? Math.round(Date.now() / 1000 - process.uptime()).toString(36);
    return `${await machineMark()}-${process.pid}-${start}`;
  })();
  return identity;
}

/** Process IDs are unique on one machine and in one container only, and several may share a folder. */
export async function machineMark(): Promise<string> {
  const space = await readlink('/proc/self/ns/pid').catch(() => '');
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${hostname()}\n${space}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(36);
}

/** True if the process with this ID and start still runs, or if that is unknown. */
export async function isAlive(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  const now = await startOf(pid);
  if (now !== undefined) return now === start;
  // Only Linux tells when a process started. Elsewhere none is older than the system's start.
  return process.platform === 'linux' || Number.parseInt(start, 36) > Date.now() / 1000 - uptime() - SLACK;
}

/** When a process started, in clock ticks; `gone` if it has ended; `undefined` if the system does not tell. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The name before it, in brackets, may contain anything.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (!fields) return undefined;
  const [state = '', ticks] = [fields[0], fields[19]];
  if (state === 'Z' || state === 'X') return 'gone';
  return ticks === undefined ? undefined : Number(ticks).toString(36);
}

/** Removes a file when this process ends, unless {@link forgetScratch} is called. */
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
