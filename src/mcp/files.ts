/**
 * @module mcp/files
 * Resolves the paths in a tool's arguments: only regular files under the allowed roots, after every symbolic link is
 * followed. Messages reveal nothing about files outside, not even whether they exist.
 */

import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, parse, resolve, sep } from 'node:path';
import { AnyvmafError, usageError } from '../core/errors.js';
import type { Origin } from '../core/origin.js';
import { quoted } from '../core/printable.js';
import { checkedStats, isInside } from '../files/checked-file.js';
import type { ToolFiles } from './context.js';

/** Longest path that is resolved, in UTF-16 units; Linux has 4096 bytes. */
const MAX_PATH = 4096;

const HOW_TO_EXTEND = 'start the server with --allow DIR, or set ANYVMAF_MCP_ALLOW, to allow more folders';

/** Names that are devices in every folder of Windows. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)\s*(\.|:|$)/i;

/** Where roots come from. */
export interface RootSources {
  /** From the command line. */
  readonly allow: readonly string[];
  /** `ANYVMAF_MCP_ALLOW` and `VMAF_MCP_ALLOW`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  readonly cwd: string;
}

/**
 * Splits the value of an environment variable into folders: at colons and semicolons; in Windows not at the colon of
 * a drive.
 */
export function splitRoots(value: string, windows = process.platform === 'win32'): string[] {
  const colon = windows ? /;|(?<!(?:^|[;:])\s*[A-Za-z]):|:(?![\\/])/ : /[;:]/;
  return value
    .split(colon)
    .map((folder) => folder.trim())
    .filter((folder) => folder !== '');
}

/** The real paths of allowed folders, and warnings about folders that cannot be used. */
export interface Roots {
  readonly folders: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Finds the allowed folders: the command line's and the environment's, or the working directory where there are none.
 * A working directory that is the root of a file system allows nothing: some hosts start servers there.
 * @throws {AnyvmafError} `usage` when --allow does not name a folder
 */
export async function findRoots({ allow, env, cwd }: RootSources): Promise<Roots> {
  const folders = new Set<string>();
  const warnings: string[] = [];
  for (const folder of allow) {
    const real = await realFolder(resolve(cwd, folder));
    if (real === undefined) throw usageError(`--allow ${quoted(folder)} is not a folder that can be read`);
    folders.add(real);
  }
  let named = allow.length;
  for (const name of ['ANYVMAF_MCP_ALLOW', 'VMAF_MCP_ALLOW']) {
    for (const folder of splitRoots(env[name] ?? '')) {
      named++;
      const real = await realFolder(resolve(cwd, folder));
      if (real === undefined)
        warnings.push(`${name} names ${quoted(folder)}, which is not a folder; ignored`);
      else folders.add(real);
    }
  }
  if (named === 0) {
    const real = await realFolder(cwd);
    if (real !== undefined && parse(real).root !== real) folders.add(real);
    else warnings.push(`no folder is allowed, because the server was started in ${cwd}; ${HOW_TO_EXTEND}`);
  }
  return { folders: [...folders], warnings };
}

async function realFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** The allowed files of a server. */
export class AllowedFiles implements ToolFiles {
  readonly #roots: Set<string>;
  readonly #cwd: string;
  readonly #translate: (path: string) => Promise<string | undefined>;
  readonly #advice: string;

  /**
   * @param roots real paths of folders
   * @param cwd where relative paths start
   * @param translate gives the path of one of the server's own resource addresses, `undefined` for other text
   * @param advice how to allow more folders
   */
  constructor(
    roots: Iterable<string>,
    cwd: string,
    translate: (path: string) => Promise<string | undefined> = async () => undefined,
    advice = HOW_TO_EXTEND,
  ) {
    this.#roots = new Set(roots);
    this.#cwd = cwd;
    this.#translate = translate;
    this.#advice = advice;
  }

  /** Allows one more folder by its real path: the server's own results and samples. */
  allow(root: string): void {
    this.#roots.add(root);
  }

  get origin(): Origin {
    return { by: 'foreign', folders: [...this.#roots] };
  }

  sizeOf(path: string): number {
    return checkedStats(path, this.origin).size;
  }

  async resolveInput(path: string): Promise<string> {
    const wanted = (await this.#translate(path)) ?? path;
    const real = await this.#real(wanted, path);
    if (real === undefined) {
      throw new AnyvmafError('io', `${quoted(path)} does not exist; check the name, and give the whole path`);
    }
    // Not followed: if the name became a link meanwhile, the message reveals nothing about its target.
    const found = await lstat(real).catch(() => undefined);
    if (!found?.isFile()) throw notRegular(path, found);
    return real;
  }

  async resolveOutput(path: string): Promise<string> {
    this.#check(path);
    const absolute = resolve(this.#cwd, path);
    const name = basename(absolute);
    if (name === '' || /[\\/]\.{0,2}$/.test(path) || (sep === '\\' && WINDOWS_DEVICE.test(name)))
      throw new AnyvmafError('io', `${quoted(path)} is not the name of a file to write`);
    const folder = await this.#real(dirname(absolute), path);
    if (folder === undefined || !(await stat(folder).catch(() => undefined))?.isDirectory())
      throw new AnyvmafError('io', `the folder of ${quoted(path)} does not exist; create it first`);
    const target = resolve(folder, name);
    const there = await lstat(target).catch(() => undefined);
    if (there === undefined) return target;
    // The target of a link must be allowed as well.
    const real = await this.#real(target, path);
    const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
    if (real === undefined || !found?.isFile()) throw notRegular(path, found);
    return real;
  }

  #check(path: string): void {
    if (typeof path !== 'string' || path.trim() === '')
      throw new AnyvmafError('io', 'a path is empty; give the path of a file');
    if (path.includes('\0')) throw new AnyvmafError('io', `${quoted(path)} contains a NUL character`);
    if (path.length > MAX_PATH) {
      throw new AnyvmafError(
        'io',
        `a path of ${path.length} characters is too long, at most ${MAX_PATH} are allowed: ${quoted(path)}`,
      );
    }
  }

  /**
   * The real path of something under a root, `undefined` for something that does not exist under a root.
   * @param asked how messages name it
   * @throws {AnyvmafError} `io` for everything else, in words that do not depend on what there is
   */
  async #real(path: string, asked: string): Promise<string | undefined> {
    this.#check(path);
    const absolute = resolve(this.#cwd, path);
    const refusal = new AnyvmafError(
      'io',
      `${quoted(asked)} is not under an allowed folder; ${this.#advice}`,
    );
    const allowed = (real: string) => [...this.#roots].some((root) => isInside(root, real));
    // Walk up to the first folder that exists: only its real path shows whether it lies under a root.
    for (let at = absolute, missing = false; ; missing = true) {
      const real = await realpath(at).catch(() => undefined);
      if (real !== undefined) {
        if (!allowed(real)) throw refusal;
        return missing ? undefined : real;
      }
      // It exists but cannot be resolved: a dangling link, a loop of links, a folder without permission.
      if (await exists(at)) throw refusal;
      const parent = dirname(at);
      if (parent === at) throw refusal;
      at = parent;
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'EACCES' || error.code === 'EPERM',
  );
}

function notRegular(path: string, found: Stats | undefined): AnyvmafError {
  const what = found?.isDirectory() ? 'a folder' : 'not a regular file';
  return new AnyvmafError('io', `${quoted(path)} is ${what}, but a file is needed`);
}
