/**
 * @module parts/store
 * The parts in the user's cache: where each is, whether it is whole, and how it leaves; and whether a package is installed beside
 * anyvmaf.
 */
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PartName } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import { cacheFolder, makeFolders, writeReason } from '../files/folders.js';
import { makeScratchFolder, removeScratch } from '../files/scratch.js';
import { PARTS, type Part } from './table.js';

/** Lists the files of a part, in its folder; written last. */
export const LIST = 'files.json';

const ADVICE = 'make it writable, or name another folder with ANYVMAF_CACHE';

/** The folder of all parts. */
export const partsFolder = (): string => join(cacheFolder(), 'parts');

/** Where a part is, or will be: a folder of its own for each version, with `node_modules` in it. */
export function placeOf({ name, packages, system }: Part): string {
  const suffix = system === undefined ? '' : `-${system}`;
  return join(partsFolder(), `${name}@${packages[0].version}${suffix}`);
}

/**
 * The path of a file of a part that is here; `undefined` where the part is not.
 * @param file its path below `node_modules`
 */
export function partFile(name: PartName, file: string): string | undefined {
  const place = placeOf(PARTS[name]);
  return isWhole(place) ? join(place, 'node_modules', file) : undefined;
}

/** Whether a part is here, and whole. */
export function isHere(part: Part): boolean {
  return isWhole(placeOf(part));
}

/** Whether the user has installed a package beside anyvmaf. Looks for its file only: some take seconds to load. */
export function hasPackage(name: string): boolean {
  try {
    return existsSync(fileURLToPath(import.meta.resolve(name)));
  } catch {
    return false;
  }
}

/** Whether a folder is this user's and has every file that its list names, in the right length. */
function isWhole(folder: string): boolean {
  try {
    const found = lstatSync(folder);
    if (!found.isDirectory() || !isTrusted(found.uid)) return false;
    const list: unknown = JSON.parse(readFileSync(join(folder, LIST), 'utf8'));
    if (typeof list !== 'object' || list === null) return false;
    const files = Object.entries(list);
    return files.length > 0 && files.every(([path, size]) => statSync(join(folder, path)).size === size);
  } catch {
    return false;
  }
}

/** What others put into a shared folder is not run, but for the administrator's. */
function isTrusted(owner: number): boolean {
  return !process.getuid || owner === process.getuid() || owner === 0;
}

/**
 * A private folder beside the parts, to make one in. What killed processes left is removed.
 * @throws {AnyvmafError} `io`
 */
export async function workFolder(): Promise<string> {
  const folder = partsFolder();
  try {
    await makeFolders(folder);
  } catch (cause) {
    throw unwritable(folder, cause);
  }
  return makeScratchFolder('part', folder, ADVICE);
}

/** @throws {AnyvmafError} `io` always, about a folder that nothing can be written to */
export function unwritable(folder: string, cause: unknown): AnyvmafError {
  return new AnyvmafError('io', `Nothing can be kept in ${folder}: ${writeReason(cause)}; ${ADVICE}.`, {
    cause,
  });
}

/**
 * Removes every version of a part.
 * @returns the folders that are gone
 * @throws {AnyvmafError} `io`
 */
export async function removePart(name: PartName): Promise<readonly string[]> {
  const folder = partsFolder();
  const names = await readdir(folder).catch(() => []);
  const theirs = names.filter((one) => one.startsWith(`${name}@`)).map((one) => join(folder, one));
  if (theirs.length === 0) return [];
  const work = await workFolder();
  try {
    // Moved first: nobody finds half of one.
    for (const [i, path] of theirs.entries()) await rename(path, join(work, `${i}`));
  } catch (cause) {
    throw unwritable(folder, cause);
  } finally {
    await removeScratch(work);
  }
  return theirs;
}
