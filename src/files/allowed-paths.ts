/**
 * @module files/allowed-paths
 * Resolves untrusted paths: only regular files under the allowed folders, after following every symbolic link. Messages
 * reveal nothing about files outside, not even whether they exist.
 */
import { existsSync, type Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AnyvmafError, ioError, usageError } from '../core/errors.js';
import { modelPath } from '../core/names.js';
import type { Origin } from '../core/origin.js';
import { quoted } from '../core/printable.js';
import { checkedStats, isInside, nearestReal } from './checked-file.js';

/** Longest path, in UTF-16 units; Linux allows 4096 bytes. */
const MAX_PATH = 4096;

/** Names of devices in every folder of Windows. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)\s*(\.|:|$)/i;

/** Shipped models, as list_models names them, need no permission. */
const SHIPPED = /^model\/([\w.-]+)\.json$/;

/** The real path of a folder; `undefined` if it cannot be read. */
export async function realFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** @param refusal makes the error for a path that is no folder */
export async function realFolders(
  named: readonly string[],
  cwd: string,
  refusal: (folder: string) => AnyvmafError,
): Promise<string[]> {
  const folders = new Set<string>();
  for (const folder of named) {
    const real = await realFolder(resolve(cwd, folder));
    if (real === undefined) throw refusal(folder);
    folders.add(real);
  }
  return [...folders];
}

/** A name that leads to files in several allowed folders. */
export class SeveralFilesError extends AnyvmafError {
  constructor(
    readonly named: string,
    readonly paths: readonly string[],
  ) {
    const names = paths.map((path) => quoted(path)).join(' or ');
    super('io', `${quoted(named)} may be in several allowed folders; give the whole path, ${names}`);
  }
}

/** A path outside the allowed folders. */
export class NotAllowedError extends AnyvmafError {}

export class AllowedPaths {
  /** Real paths of the folders that the user allowed, without the server's own. */
  readonly allowed: readonly string[];
  readonly #own: Set<string>;
  readonly #cwd: string;
  readonly #advice: string;
  readonly #translate: (path: string) => Promise<string | undefined>;

  /**
   * @param roots real paths of folders
   * @param cwd where relative paths start
   * @param advice how to allow more folders
   * @param translate turns a name that is not a path into one; `undefined` for other text
   * @param own the server's own folders, which may grow
   */
  constructor(
    roots: Iterable<string>,
    cwd: string,
    advice: string,
    translate: (path: string) => Promise<string | undefined> = async () => undefined,
    own = new Set<string>(),
  ) {
    this.allowed = [...new Set(roots)];
    this.#own = own;
    this.#cwd = cwd;
    this.#advice = advice;
    this.#translate = translate;
  }

  /** A relative name may start in the working directory or in any allowed folder: a remote client cannot tell. */
  #places(path: string): readonly string[] {
    this.#check(path);
    const bases = isAbsolute(path) ? [] : this.allowed;
    return [...new Set([this.#cwd, ...bases].map((base) => resolve(base, path)))];
  }

  /**
   * Resolves a name that may lead to one file only.
   * @param find resolves one place
   * @throws {AnyvmafError} `io` if it leads to several, with their names; as `find` if it refuses every place
   */
  async #only(path: string, places: readonly string[], find: (place: string) => Promise<string | undefined>) {
    const found = new Set<string>();
    const refusals: unknown[] = [];
    for (const place of places) {
      try {
        const real = await find(place);
        if (real !== undefined) found.add(real);
      } catch (error) {
        refusals.push(error);
      }
    }
    const [first, second] = found;
    if (second !== undefined) throw new SeveralFilesError(path, [...found]);
    if (first === undefined && refusals.length === places.length) throw refusals[0];
    return first;
  }

  /** Adds one of the server's own folders, such as for results and samples, by its real path. */
  allow(root: string): void {
    this.#own.add(root);
  }

  /**
   * Restricts these files to those that other folders contain too, unless there is no overlap.
   * @param folders real paths
   * @param advice for refusals
   * @param translate replaces that of these files
   */
  within(folders: readonly string[], advice: string, translate = this.#translate): AllowedPaths {
    const both = this.allowed.flatMap((root) =>
      folders.flatMap((folder) => (isInside(root, folder) ? [folder] : isInside(folder, root) ? [root] : [])),
    );
    return both.length === 0
      ? new AllowedPaths(this.allowed, this.#cwd, this.#advice, translate, this.#own)
      : new AllowedPaths(both, this.#cwd, advice, translate, this.#own);
  }

  get #roots(): readonly string[] {
    return [...this.allowed, ...this.#own];
  }

  /** Pass it to every function that opens one of these files. */
  get origin(): Origin {
    return { by: 'foreign', folders: this.#roots };
  }

  /** Bytes of a resolved file. @throws {AnyvmafError} `io` if it is gone or no longer allowed */
  sizeOf(path: string): number {
    return checkedStats(path, this.origin).size;
  }

  /** The real path of a regular file. @throws {AnyvmafError} `io` if it is missing, not allowed or not a regular file */
  async resolveInput(path: string): Promise<string> {
    const wanted = (await this.#translate(path)) ?? localPath(path);
    const real = await this.#only(path, this.#places(wanted), (place) => this.#real(place, path));
    if (real === undefined)
      throw ioError(`${quoted(path)} does not exist; check the name, and give the whole path`);
    // Not followed: if the name became a link meanwhile, the message reveals nothing about its target.
    const found = await lstat(real).catch(() => undefined);
    if (!found?.isFile()) throw notRegular(path, found);
    return real;
  }

  /** The real path of a file to write: missing or regular, in an existing folder. @throws as `resolveInput` */
  async resolveOutput(path: string): Promise<string> {
    const places = this.#places(localPath(path));
    const name = basename(places[0] ?? '');
    if (name === '' || /[\\/]\.{0,2}$/.test(path) || (sep === '\\' && WINDOWS_DEVICE.test(name)))
      throw ioError(`${quoted(path)} is not the name of a file to write`);
    const target = await this.#only(path, places, async (place) => {
      const folder = await this.#real(dirname(place), path);
      return folder !== undefined && (await realFolder(folder)) ? resolve(folder, name) : undefined;
    });
    if (target === undefined) throw ioError(`the folder of ${quoted(path)} does not exist; create it first`);
    const existing = await lstat(target).catch(() => undefined);
    if (existing === undefined) return target;
    // The target of a link must be allowed too.
    const real = await this.#real(target, path);
    const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
    if (real === undefined || !found?.isFile()) throw notRegular(path, found);
    return real;
  }

  #check(path: string): void {
    if (typeof path !== 'string' || path.trim() === '')
      throw ioError('a path is empty; give the path of a file');
    if (path.includes('\0')) throw ioError(`${quoted(path)} contains a NUL character`);
    if (path.length > MAX_PATH) {
      throw ioError(
        `a path of ${path.length} characters is too long, at most ${MAX_PATH} are allowed: ${quoted(path)}`,
      );
    }
  }

  /**
   * The real path of something under a root; `undefined` if it does not exist.
   * @param named its name in messages
   * @throws {AnyvmafError} `io` for everything else; the message does not depend on what exists
   */
  async #real(path: string, named: string): Promise<string | undefined> {
    this.#check(path);
    const absolute = resolve(this.#cwd, path);
    // Only the real path of the first existing folder shows whether it lies under a root.
    const near = nearestReal(absolute);
    if (near && this.#roots.some((root) => isInside(root, near.real)))
      return near.at === absolute ? near.real : undefined;
    // A root that is gone, such as a network mount, may come back.
    const gone = this.#roots.some((root) => isInside(root, absolute) && !existsSync(root));
    const Refusal = gone ? AnyvmafError : NotAllowedError;
    throw new Refusal('io', `${quoted(named)} is not under an allowed folder; ${this.#advice}`);
  }
}

/** Resolves the paths in a model string. @throws {AnyvmafError} as `resolveInput`; `usage` for `:` or `=` in a path */
export async function allowedModel(text: string, files: Pick<AllowedPaths, 'resolveInput'>): Promise<string> {
  const items: string[] = [];
  // libvmaf takes the last of repeated items, and version before path: check ignored paths too.
  for (const [place, item] of text.split(':').entries()) {
    const path = modelPath(item, place);
    const shipped = SHIPPED.exec(path ?? '')?.[1];
    if (path === undefined) items.push(item);
    else if (shipped !== undefined) items.push(`version=${shipped}`);
    else items.push(modelOfFile(await files.resolveInput(path)));
  }
  return items.join(':');
}

/** libvmaf cannot escape a colon or an equals sign in a path. @throws {AnyvmafError} `usage` */
export function modelOfFile(path: string): string {
  if (!/[:=]/.test(path)) return `path=${path}`;
  throw usageError(
    `The model file ${quoted(path)} has a colon or an equals sign in its path, which a model string cannot ` +
      'contain; rename it.',
  );
}

/** The path of a `file:` URL; other text unchanged. @throws {AnyvmafError} `io` for a URL of another machine */
function localPath(path: string): string {
  if (typeof path !== 'string' || !/^file:/i.test(path)) return path;
  try {
    return fileURLToPath(path);
  } catch {
    throw ioError(`${quoted(path)} is not the address of a file of this machine; give its path`);
  }
}

function notRegular(path: string, found: Stats | undefined): AnyvmafError {
  const what = found?.isDirectory() ? 'a folder' : 'not a regular file';
  return ioError(`${quoted(path)} is ${what}, but a file is needed`);
}
