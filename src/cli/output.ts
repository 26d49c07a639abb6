/**
 * @module cli/output
 * Writes a result file whole or not at all: to a temporary file beside it, renamed when complete.
 */
import { renameSync } from 'node:fs';
import { lstat, open, realpath, rm, stat } from 'node:fs/promises';
import { basename, parse, resolve } from 'node:path';
import { AnyvmafError, codeOf, ioError, usageError } from '../core/errors.js';
import { isUrl } from '../core/names.js';
import { clause, quoted, shown } from '../core/printable.js';
import { forgetScratch, removeScratch, scratchBeside, writeReason } from '../files/folders.js';

export interface OutputFile {
  /**
   * Writes the whole file, text as UTF-8. On failure, the previous file stays.
   * @param signal stops between pieces
   * @throws {AnyvmafError} `io`, or the signal's reason
   */
  write(pieces: Pieces, signal?: AbortSignal): Promise<void>;
  /**
   * Writes the whole file under a temporary name, so that several can appear together. Devices, pipes and files written
   * in place change at once.
   * @throws as {@link OutputFile.write}
   */
  prepare(pieces: Pieces, signal?: AbortSignal): Promise<PreparedFile>;
}

/** A complete file without its final name; call one of the two. */
export interface PreparedFile {
  /** Renames it synchronously, so that no signal comes in between. @throws {AnyvmafError} `io` */
  keep(): void;
  discard(): Promise<void>;
}

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/**
 * Checks, before the work is done, that a result can be written to `path`. Leaves no trace there. Devices and pipes are
 * written in place, and so is an existing file in a folder where none can be made.
 * @param inputs files that must not be overwritten
 * @param hosts allowed hosts, if `path` is a URL
 * @throws {AnyvmafError} `io` if it is not writable; `usage` if it is an input, a URL that is not allowed, empty, or `-`
 */
export async function openOutput(
  path: string,
  inputs: readonly string[] = [],
  hosts?: boolean | readonly string[],
): Promise<OutputFile> {
  if (path === '' || path === '-')
    throw usageError(`the output is ${quoted(path)}, but it must be the name of a file`);
  if (isUrl(path)) return openRemote(path, hosts);
  for (const input of inputs) {
    if (await sameFile(path, input))
      throw usageError(`the output "${shown(path)}" is one of the inputs; give it another name`);
  }
  try {
    const target = await resolveTarget(path);
    if (target.temporary === undefined && target.regular) await (await open(target.path, 'r+')).close();
    const prepare = (pieces: Pieces, signal?: AbortSignal) => prepareFile(path, target, pieces, signal);
    return { prepare, write: async (pieces, signal) => (await prepare(pieces, signal)).keep() };
  } catch (error) {
    throw outputError(path, error);
  }
}

/** Puts the result to a URL once complete; if that fails, keeps it in a file here. */
async function openRemote(url: string, hosts: boolean | readonly string[] | undefined): Promise<OutputFile> {
  if (typeof hosts !== 'object')
    throw usageError(
      `"${shown(url)}" is a URL; only results of scoring can be uploaded, to hosts that --allow-url=HOST names; ` +
        'write others to files',
    );
  const { openPlace } = await import('../remote/remote-file.js');
  const place = openPlace(url, hosts);
  const write = async (pieces: Pieces, signal?: AbortSignal) => {
    const parts: Uint8Array[] = [];
    for await (const piece of pieces) parts.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
    const bytes = Buffer.concat(parts);
    try {
      await place.put(bytes, signal);
    } catch (error) {
      const file = await saveLocally(url, bytes);
      const why = error instanceof AnyvmafError ? clause(error.message) : 'it could not be uploaded';
      throw ioError(`${why}; the result is in ${shown(file)}.`, { cause: error });
    }
  };
  return {
    write,
    prepare() {
      throw new Error('what is put to a URL does not wait for others');
    },
  };
}

async function saveLocally(url: string, bytes: Uint8Array): Promise<string> {
  const named = basename(new URL(url).pathname).replace(/[^\w.-]/g, '_');
  const { name, ext } = parse(named === '' || named.startsWith('.') ? 'result' : named.slice(-100));
  for (let count = 0; ; count++) {
    const path = resolve(`${name}${count === 0 ? '' : `-${count}`}${ext}`);
    try {
      const file = await open(path, 'wx');
      await file.writeFile(bytes).finally(() => file.close());
      return path;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || count >= 1000) throw outputError(path, error);
    }
  }
}

async function prepareFile(
  path: string,
  { path: file, temporary, mode }: Target,
  pieces: Pieces,
  signal: AbortSignal | undefined,
): Promise<PreparedFile> {
  const discard = async () => {
    if (temporary !== undefined) await removeScratch(temporary);
  };
  try {
    await writeTo(temporary ?? file, temporary === undefined ? 'w' : 'wx', mode, pieces, signal);
  } catch (error) {
    await discard();
    throw outputError(path, error);
  }
  return {
    discard,
    keep() {
      if (temporary === undefined) return;
      try {
        renameSync(temporary, file);
        forgetScratch(temporary);
      } catch (error) {
        // Temporary files are removed when the process ends.
        throw outputError(path, error);
      }
    },
  };
}

/** Streams of this process, which may lead to a regular file that must not be replaced. */
const STREAM = /^\/(dev\/(stdout|stderr|fd\/)|proc\/)/;

interface Target {
  /** With symbolic links followed. */
  readonly path: string;
  /** Written first; `undefined` to write in place. */
  readonly temporary?: string;
  /** Permissions of the replaced file. */
  readonly mode?: number;
  readonly regular: boolean;
}

async function resolveTarget(path: string): Promise<Target> {
  const found = await stat(path).catch(ignoreMissing);
  if (found?.isDirectory()) throw new Error('it is a folder; name a file in it');
  if ((found && !found.isFile()) || STREAM.test(path)) return { path, regular: false };
  // A link to a missing file: writing through it creates the file.
  if (!found && (await lstat(path).catch(ignoreMissing))) return { path, regular: false };
  const file = found ? await realpath(path) : path;
  const temporary = await scratchBeside(file);
  try {
    await (await open(temporary, 'wx')).close();
    await rm(temporary);
  } catch (error) {
    if (!found) throw error;
    return { path: file, regular: true };
  }
  if (found) await (await open(file, 'r+')).close();
  return { path: file, temporary, regular: true, ...(found && { mode: found.mode & 0o7777 }) };
}

async function sameFile(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([a, b].map((path) => stat(path).catch(() => undefined)));
  return one?.isFile() === true && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function writeTo(
  path: string,
  flags: 'w' | 'wx',
  mode: number | undefined,
  pieces: Pieces,
  signal: AbortSignal | undefined,
): Promise<void> {
  const file = await open(path, flags);
  try {
    for await (const piece of pieces) {
      signal?.throwIfAborted();
      await file.writeFile(piece);
    }
    if (mode !== undefined) await file.chmod(mode);
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  EISDIR: 'it is a folder; name a file in it',
};

function outputError(path: string, error: unknown): AnyvmafError {
  if (error instanceof AnyvmafError) return error;
  const reason = REASONS[codeOf(error)] ?? writeReason(error);
  return ioError(`cannot write "${shown(path)}": ${reason}`, { cause: error });
}
