/**
 * @module parts/table
 * The parts that are too large to ship with anyvmaf: npm packages pinned by version and content, where they are in the
 * user's cache, and packages installed beside anyvmaf.
 */

import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PartName } from '../core/choices.js';
import { type AnyvmafError, ioError } from '../core/errors.js';
import { cacheFolder, makeFolders, makeScratchFolder, removeScratch, writeReason } from '../files/folders.js';

export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** Digest of the tarball, in the form of lock files. */
  readonly integrity: string;
  /** Bytes of the tarball. */
  readonly packed: number;
  readonly licence: string;
  /** Paths of files to keep; `*` stands for any text without a slash. */
  readonly keep: readonly string[];
}

export interface Part {
  readonly name: PartName;
  /** Its purpose: ends a sentence that begins with "which". */
  readonly use: string;
  readonly packages: readonly [PinnedPackage, ...PinnedPackage[]];
  /** Bytes on disk. */
  readonly size: number;
  /** Set if files are for one system and processor only: the package's name for it. */
  readonly system?: string;
}

/** Bytes on disk of the part webgpu, for each system that its package has a library for. */
const WEBGPU_SIZES: Readonly<Record<string, number>> = {
  'darwin-universal': 21_886_452,
  'linux-arm64': 19_648_460,
  'linux-x64': 21_531_756,
  'win32-arm64': 40_176_174,
  'win32-x64': 34_240_598,
};

const SYSTEM = process.platform === 'darwin' ? 'darwin-universal' : `${process.platform}-${process.arch}`;

export const PARTS: Readonly<Record<PartName, Part>> = {
  decoder: {
    name: 'decoder',
    use: 'decodes video where there is no ffmpeg',
    packages: [
      {
        name: '@ffmpeg/core',
        version: '0.12.10',
        integrity:
          'sha512-dzNplnn2Nxle2c2i2rrDhqcB19q9cglCkWnoMTDN9Q9l3PvdjZWd1HfSPjCNWc/p8Q3CT+Es9fWOR0UhAeYQZA==',
        packed: 20_634_719,
        licence: 'GPL-2.0-or-later',
        keep: ['package.json', 'dist/umd/ffmpeg-core.js', 'dist/umd/ffmpeg-core.wasm'],
      },
    ],
    size: 32_345_421,
  },
  tiny: {
    name: 'tiny',
    use: 'runs tiny models where onnxruntime-node is not installed',
    packages: [
      {
        name: 'onnxruntime-web',
        version: '1.30.0',
        integrity:
          'sha512-q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==',
        packed: 33_106_585,
        licence: 'MIT',
        keep: [
          'package.json',
          'dist/ort.node.min.mjs',
          'dist/ort-wasm-simd-threaded.mjs',
          'dist/ort-wasm-simd-threaded.wasm',
        ],
      },
      {
        name: 'onnxruntime-common',
        version: '1.30.0',
        integrity:
          'sha512-7fdVWjAID1dVhH/G8qK3APARunV4VkBFoCQAP7qp4Wkab0mrorvmc+sqiT+mKXOzDqdjN5j+/Z9nb4gzNPWcyA==',
        packed: 66_795,
        licence: 'MIT',
        keep: ['package.json', 'dist/esm/*.js', 'dist/esm/package.json'],
      },
    ],
    size: 14_356_542,
  },
  webgpu: {
    name: 'webgpu',
    use: 'measures on a GPU',
    packages: [
      {
        name: 'webgpu',
        version: '0.6.2',
        integrity:
          'sha512-3L4GfmqJLvYUIEWJngEQY+2HQiUlAFkg8+P8NDDj3Xx5hHHIFO/r8JW+ynfqBj7kHN4mbnwO74uB+lrRtLhp4Q==',
        packed: 51_264_151,
        licence: 'MIT',
        keep: ['package.json', 'index.js', 'LICENSE.md', `dist/${SYSTEM}/*`],
      },
    ],
    size: WEBGPU_SIZES[SYSTEM] ?? 0,
    system: SYSTEM,
  },
};

export function isOffered({ system }: Part): boolean {
  return system === undefined || system in WEBGPU_SIZES;
}

export function isKept({ keep }: PinnedPackage, path: string): boolean {
  return keep.some((pattern) => {
    const [before = '', after] = pattern.split('*');
    if (after === undefined) return path === pattern;
    const between = path.slice(before.length, path.length - after.length);
    return path === before + between + after && between !== '' && !between.includes('/');
  });
}

/** `@ffmpeg/core@0.12.10`. */
export function specOf({ name, version }: PinnedPackage): string {
  return `${name}@${version}`;
}

export function packedSize({ packages }: Part): number {
  return packages.reduce((sum, { packed }) => sum + packed, 0);
}

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
  return ioError(`Cannot write to ${folder}: ${writeReason(cause)}; ${ADVICE}.`, { cause });
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
