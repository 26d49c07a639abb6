/**
 * @module files/checked-file
 * Opens files named by others, then checks what it opened: a name checked first could become a link to another file
 * before it is opened. Turns read errors into sentences.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import { AnyvmafError, codeOf, ioError, messageOf } from '../core/errors.js';
import type { Origin } from '../core/origin.js';
import { shown } from '../core/printable.js';
import { limitError } from '../core/system-limits.js';

/** Linux: opens a descriptor of the path without opening the pipe or device behind it. */
const O_PATH = 0o10000000;

/** Linux: links from this process's descriptors to the open files. */
const DESCRIPTORS = '/proc/self/fd';

const hasDescriptorLinks = process.platform === 'linux' && existsSync(DESCRIPTORS);

/**
 * Opens a file for reading; checks it unless the user named it.
 * @returns its descriptor, which the caller closes
 * @throws {AnyvmafError} `io` unless it is a regular file below the folders of its origin; system errors unchanged
 */
export function openChecked(path: string, origin: Origin): number {
  if (origin.by === 'user') return openSync(path, 'r');
  if (!hasDescriptorLinks) return openAndCompare(path, origin);
  const found = find(path, origin);
  try {
    return openSync(`${DESCRIPTORS}/${found}`, 'r');
  } finally {
    closeSync(found);
  }
}

/** Facts of a file, checked as by {@link openChecked} even if the user named it. @throws as {@link openChecked} */
export function checkedStats(path: string, origin: Origin): Stats {
  const fd = hasDescriptorLinks ? find(path, origin) : openAndCompare(path, origin);
  try {
    return fstatSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Opens a path descriptor, which cannot be read, of a regular file in the folders. */
function find(path: string, { folders }: Origin): number {
  const found = openOrRefuse(path, folders, O_PATH);
  try {
    if (!liesIn(folders, readlinkSync(`${DESCRIPTORS}/${found}`))) throw outside(path);
    refuseIrregular(path, fstatSync(found));
    return found;
  } catch (error) {
    closeSync(found);
    throw error;
  }
}

/** Without descriptor links: opens a path without blocking, then checks that the path still leads to that file. */
export function openAndCompare(path: string, { folders }: Origin): number {
  const fd = openOrRefuse(path, folders, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const opened = fstatSync(fd, { bigint: true });
    const real = realpathSync(path);
    const current = statSync(real, { bigint: true });
    if (!liesIn(folders, real) || current.ino !== opened.ino || current.dev !== opened.dev)
      throw outside(path);
    refuseIrregular(path, opened);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Opens a path. Outside the folders, the error does not depend on what exists. */
function openOrRefuse(path: string, folders: Origin['folders'], flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const near = nearestReal(isAbsolute(path) ? path : `${process.cwd()}${sep}${path}`);
    if (!near || !liesIn(folders, near.real)) throw outside(path);
    throw error;
  }
}

/**
 * The path, else its nearest parent, that resolves (links before `..`), and its real path; `undefined` for a dangling link, a
 * loop of links or a folder without permission.
 */
export function nearestReal(path: string): { readonly at: string; readonly real: string } | undefined {
  for (let at = path; ; at = dirname(at)) {
    try {
      return { at, real: realpathSync.native(at) };
    } catch {
      if (at === dirname(at) || isThere(at)) return undefined;
    }
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path) !== undefined;
  } catch (error) {
    return /^(?:EACCES|EPERM)$/.test(codeOf(error));
  }
}

function liesIn(folders: Origin['folders'], real: string): boolean {
  return folders === undefined || folders.some((folder) => isInside(folder, real));
}

/** True if `path` is `root` or below it, both real paths; `/data` does not contain `/database`. */
export function isInside(root: string, path: string, windows = process.platform === 'win32'): boolean {
  const [from, to] = windows ? [root.toLowerCase(), path.toLowerCase()] : [root, path];
  const way = relative(from, to);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function outside(path: string): AnyvmafError {
  return ioError(`${shown(path)} leads out of the allowed folders; give a file in one of them.`);
}

function refuseIrregular(path: string, found: Stats | BigIntStats): void {
  if (found.isFile()) return;
  if (found.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
  throw ioError(`${shown(path)} is not a regular file, but a file is needed.`);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a folder in its path is not a directory',
  EISDIR: 'it is a directory; give the path of a file',
  EACCES: 'permission denied; allow this user to read it',
  EPERM: 'the system does not permit it',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the path is too long',
  EBADF: 'it is not an open file descriptor',
  ENXIO: 'it is a socket or a device that cannot be read',
  EIO: 'the device reports a read error',
  ERR_INVALID_ARG_VALUE: 'the path contains a NUL character',
};

/** @param name of the file as the user gave it */
export function fileError(name: string, cause: unknown): AnyvmafError {
  if (cause instanceof AnyvmafError) return cause;
  const limited = limitError(cause, `cannot read ${shown(name)}`);
  if (limited) return limited;
  const reason = REASONS[codeOf(cause)] ?? messageOf(cause);
  return ioError(`cannot read ${shown(name)}: ${shown(reason)}.`, { cause });
}
