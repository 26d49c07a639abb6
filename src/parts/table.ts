/**
 * @module parts/table
 * Optional components, too large to ship with anyvmaf: npm packages pinned by version and content, in the user's cache or
 * installed beside anyvmaf.
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
  /** Digest of the tarball, as in lock files. */
  readonly integrity: string;
  /** Bytes of the tarball. */
  readonly packed: number;
  readonly licence: string;
  /** Paths of files to keep; `*` matches any text without a slash. */
  readonly keep: readonly string[];
}

export interface Part {
  readonly name: PartName;
  /** Its purpose, as a clause after "which". */
  readonly use: string;
  readonly packages: readonly [PinnedPackage, ...PinnedPackage[]];
  /** Bytes on disk. */
  readonly size: number;
  /** The package's name for the system and processor, if files differ between them. */
  readonly system?: string;
}

/** Bytes on disk of the part `webgpu` on each supported system. */
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

/** The list of files in a part's folder, written last. */
export const LIST = 'files.json';

const ADVICE = 'make it writable, or name another folder with ANYVMAF_CACHE';

export const partsFolder = (): string => join(cacheFolder(), 'parts');

/** Folder of a version of a part; contains `node_modules`. */
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

/** True if a package is installed beside anyvmaf. Does not load it: some take seconds. */
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

/** Guards against running files that other users put into a shared folder. */
const isTrusted = (owner: number): boolean => !process.getuid || owner === process.getuid() || owner === 0;

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
  const versions = names.filter((entry) => entry.startsWith(`${name}@`)).map((entry) => join(folder, entry));
  if (versions.length === 0) return [];
  const work = await workFolder();
  try {
    // Move first, so that no process finds half a part.
    for (const [i, path] of versions.entries()) await rename(path, join(work, `${i}`));
  } catch (cause) {
    throw unwritable(folder, cause);
  } finally {
    await removeScratch(work);
  }
  return versions;
}
