/**
 * @module files/folders
 * The cache folder, folders of this user alone, creation of missing folders, and reasons of failed writes.
 */

import { chmod, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { AnyvmafError } from '../core/errors.js';
import { quoted } from '../core/printable.js';

/** `ANYVMAF_CACHE`, else the usual place for caches on this system. */
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
 * Makes a folder and those above it. Node's recursive mkdir never returns where nothing can be made, as in /proc.
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
 * The real path of a folder that only this user can read; made if missing.
 * @param named absolute
 * @param what it is, for the error: `where jobs are kept`
 * @param advice how to name another, for the error
 * @throws {AnyvmafError} `io` if it is not a folder of this user; the system's error
 */
export async function openPrivate(named: string, what: string, advice: string): Promise<string> {
  await makeFolders(dirname(named));
  await mkdir(named, { mode: 0o700 }).catch(() => {});
  const found = await lstat(named);
  if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid()))
    throw new AnyvmafError(
      'io',
      `${quoted(named)}, ${what}, is not a folder of this user; remove it, or ${advice}.`,
    );
  if ((found.mode & 0o077) !== 0 && process.platform !== 'win32') await chmod(named, 0o700);
  return join(await realpath(dirname(named)), basename(named));
}

const REASONS: Readonly<Record<string, string>> = {
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

/** Why a write failed; ends a sentence. */
export function writeReason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
}
