/**
 * @module parts/install
 * Fetches a part into the user's cache: tarballs by npm, their digests compared with the pinned ones before anything reads
 * them, only the files that are used, and all of them or none.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { PartName } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { removeScratch } from '../files/scratch.js';
import { fetchTarball, type NpmOptions } from './npm.js';
import { isHere, LIST, partsFolder, placeOf, unwritable, workFolder } from './store.js';
import { isKept, isOffered, PARTS, type Part, type PinnedPackage, specOf } from './table.js';
import { BadTarball, tarFiles } from './tar.js';

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
 * @throws {AnyvmafError} `io` where npm is missing or fails, or the cache cannot be written; `backend` where there is no
 * such part for this system; `io` for a package that is not the pinned one; the signal's reason
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
    const content = join(work, 'content');
    const sizes: Record<string, number> = {};
    for (const [i, one] of part.packages.entries()) {
      onPackage?.(one);
      const folder = join(work, `${i}`);
      await mkdir(folder);
      const tarball = await fetchTarball(specOf(one), folder, options);
      await requirePinned(tarball, one);
      Object.assign(sizes, await unpack(tarball, one, content));
      await rm(folder, { recursive: true, force: true });
      signal?.throwIfAborted();
    }
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

/**
 * Compares a tarball with the pinned digest.
 * @throws {AnyvmafError} `io`
 */
async function requirePinned(tarball: string, one: PinnedPackage): Promise<void> {
  const { size } = await stat(tarball);
  const hash = createHash('sha512');
  // A file that is longer need not be read to its end.
  if (size === one.packed) await pipeline(createReadStream(tarball), hash);
  const found = size === one.packed ? `sha512-${hash.digest('base64')}` : `${size} bytes`;
  if (found === one.integrity) return;
  const expected = size === one.packed ? one.integrity : `${one.packed}`;
  throw new AnyvmafError(
    'io',
    `What npm gave for ${specOf(one)} has ${found}, not ${expected}, so it was not kept; check the registry or proxy in ` +
      'between, and try again.',
  );
}

/** Writes the files of a tarball that are kept, and gives their lengths by their paths. */
async function unpack(tarball: string, one: PinnedPackage, content: string): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  const write = async (bytes: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const file of tarFiles(bytes)) {
      if (!isKept(one, file.path)) continue;
      const path = join('node_modules', one.name, file.path);
      if (path in sizes) throw new BadTarball(`${file.path} is in it twice`);
      await mkdir(dirname(join(content, path)), { recursive: true });
      await pipeline(Readable.from(file.content), createWriteStream(join(content, path), { flags: 'wx' }));
      sizes[path] = file.size;
    }
  };
  try {
    await pipeline(createReadStream(tarball), createGunzip(), write);
  } catch (cause) {
    if (!(cause instanceof BadTarball || isZlibError(cause))) throw cause;
    throw badPackage(one, cause.message);
  }
  const missing = one.keep.filter(
    (pattern) => !Object.keys(sizes).some((path) => matches(one, pattern, path)),
  );
  if (missing.length > 0) throw badPackage(one, `it has no ${missing.join(', ')}`);
  return sizes;
}

function matches(one: PinnedPackage, pattern: string, path: string): boolean {
  return isKept({ ...one, keep: [pattern] }, path.slice(join('node_modules', one.name).length + 1));
}

function isZlibError(cause: unknown): cause is Error {
  return cause instanceof Error && 'code' in cause && /^Z_/.test(String(cause.code));
}

function badPackage(one: PinnedPackage, why: string): AnyvmafError {
  return new AnyvmafError('io', `The package ${specOf(one)} cannot be unpacked: ${shown(why)}.`);
}
