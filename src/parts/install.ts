/**
 * @module parts/install
 * Installs a part into the user's cache: `npm ci` by a lock file that pins each package's content, then only the files that are
 * used, and all of them or none.
 */
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { PartName } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import { removeScratch } from '../files/scratch.js';
import { installPackages, type NpmOptions } from './npm.js';
import { isHere, LIST, partsFolder, placeOf, unwritable, workFolder } from './store.js';
import { isKept, isOffered, PARTS, type Part, type PinnedPackage, specOf } from './table.js';

/** A part that is here. */
export interface InstalledPart {
  readonly name: PartName;
  /** Its folder. */
  readonly place: string;
  /** It was not here before. */
  readonly fetched: boolean;
}

/** How to install. */
export interface InstallOptions extends NpmOptions {
  /** Hears of each package before it is fetched. */
  readonly onPackage?: ((one: PinnedPackage) => void) | undefined;
  /** The part as it is pinned; a test brings others. */
  readonly part?: Part;
}

/**
 * Installs a part, unless it is here and whole. Several processes may do so at once.
 * @throws {AnyvmafError} `io` where npm is missing or fails, as for a package that is not the pinned one, or the cache cannot be written; `backend` where there is no
 * such part for this system; the signal's reason
 */
export async function installPart(name: PartName, options: InstallOptions = {}): Promise<InstalledPart> {
  const { part = PARTS[name], signal, onPackage } = options;
  const place = placeOf(part);
  if (isHere(part)) return { name, place, fetched: false };
  if (!isOffered(part))
    throw new AnyvmafError('backend', `The package ${part.packages[0].name} has nothing for ${part.system}.`);
  signal?.throwIfAborted();
  const work = await workFolder();
  try {
    const [installed, content] = [join(work, 'installed'), join(work, 'content')];
    for (const one of part.packages) onPackage?.(one);
    await mkdir(installed);
    await installPackages(part.packages, installed, options);
    const sizes: Record<string, number> = {};
    for (const one of part.packages) Object.assign(sizes, await keepUsed(one, installed, content));
    await writeFile(join(content, LIST), JSON.stringify(sizes));
    await putInPlace(content, part, work);
  } catch (cause) {
    if (cause instanceof AnyvmafError || signal?.aborted) throw cause;
    throw unwritable(partsFolder(), cause);
  } finally {
    await removeScratch(work);
  }
  return { name, place, fetched: true };
}

/** Moves what is complete to where it is looked for. */
async function putInPlace(content: string, part: Part, work: string): Promise<void> {
  const place = placeOf(part);
  for (let tries = 1; ; tries++) {
    try {
      return await rename(content, place);
    } catch (error) {
      // Another process was quicker.
      if (isHere(part)) return;
      if (tries === 3) throw error;
    }
    // What is there is damaged, or a link to elsewhere.
    await rename(place, join(work, `old-${tries}`)).catch(() => {});
  }
}

/** Moves the files of a package that are kept, and gives their lengths by their paths. */
async function keepUsed(one: PinnedPackage, from: string, to: string): Promise<Record<string, number>> {
  const own = join('node_modules', one.name);
  const found = await readdir(join(from, own), { recursive: true, withFileTypes: true });
  const files = found
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(from, own), join(entry.parentPath, entry.name)).split(sep).join('/'));
  const missing = one.keep.filter(
    (pattern) => !files.some((path) => isKept({ ...one, keep: [pattern] }, path)),
  );
  if (missing.length > 0)
    throw new AnyvmafError(
      'io',
      `The package ${specOf(one)} is not as expected: it has no ${missing.join(', ')}.`,
    );
  const sizes: Record<string, number> = {};
  for (const file of files.filter((path) => isKept(one, path))) {
    const path = join(own, file);
    await mkdir(dirname(join(to, path)), { recursive: true });
    await rename(join(from, path), join(to, path));
    sizes[path] = (await stat(join(to, path))).size;
  }
  return sizes;
}
