/**
 * @module parts/store
 * The parts in the user's cache, and packages installed beside anyvmaf.
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

export const partsFolder = (): string => join(cacheFolder(), 'parts');

/** Folder of a part, with `node_modules` in it; each version has its own. */
export function placeOf({ name, packages, system }: Part): string {
  const suffix = system === undefined ? '' : `-${system}`;
  return join(partsFolder(), `${name}@${packages[0].version}${suffix}`);
}

/** Path of a part's file; `undefined` if the part is not installed. @param file path below `node_modules` */
export function partFile(name: PartName, file: string): string | undefined {
  const place = placeOf(PARTS[name]);
  return isWhole(place) ? join(place, 'node_modules', file) : undefined;
}

export function isHere(part: Part): boolean {
  return isWhole(placeOf(part));
}

/** True if the user installed a package beside anyvmaf. Only looks for its file, since some take seconds to load. */
export function hasPackage(name: string): boolean {
  try {
    return existsSync(fileURLToPath(import.meta.resolve(name)));
  } catch {
    return false;
  }
}

/** True if a trusted user owns the folder and every listed file has its length. */
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

/** Files that other users, except root, put into a shared folder are not run. */
function isTrusted(owner: number): boolean {
  return !process.getuid || owner === process.getuid() || owner === 0;
}

/** Creates a private scratch folder beside the parts, and removes old ones. @throws {AnyvmafError} `io` */
export async function workFolder(): Promise<string> {
  const folder = partsFolder();
  try {
    await makeFolders(folder);
  } catch (cause) {
    throw unwritable(folder, cause);
  }
  return makeScratchFolder('part', folder, ADVICE);
}

export function unwritable(folder: string, cause: unknown): AnyvmafError {
  return new AnyvmafError('io', `Cannot write to ${folder}: ${writeReason(cause)}; ${ADVICE}.`, {
    cause,
  });
}

/** Removes every version of a part. @returns the removed folders @throws {AnyvmafError} `io` */
export async function removePart(name: PartName): Promise<readonly string[]> {
  const folder = partsFolder();
  const names = await readdir(folder).catch(() => []);
  const theirs = names.filter((one) => one.startsWith(`${name}@`)).map((one) => join(folder, one));
  if (theirs.length === 0) return [];
  const work = await workFolder();
  try {
    // Moved first, so that no process finds half a part.
    for (const [i, path] of theirs.entries()) await rename(path, join(work, `${i}`));
  } catch (cause) {
    throw unwritable(folder, cause);
  } finally {
    await removeScratch(work);
  }
  return theirs;
}
