/**
 * @module platform/node/heatmaps
 * Heatmap files in Node: written under temporary names beside their own, which they take when complete.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { HeatmapFile } from '../../core/metrics.js';
import { AnyvmafError } from '../../errors.js';
import { shown } from '../../media/errors.js';
import type { HeatmapRun, HeatmapStore, HeatmapWriter } from '../../score/heatmaps.js';

/** The file system. */
export const nodeHeatmaps: HeatmapStore = { create: createFiles, open: (paths) => new FileWriter(paths) };

async function createFiles(files: readonly HeatmapFile[]): Promise<HeatmapRun> {
  const targets = files.map(({ folder, name }) => join(resolve(folder), name));
  const twice = targets.find((path, i) => targets.indexOf(path) !== i);
  if (twice !== undefined) {
    throw new AnyvmafError(
      'feature',
      `Two variants of the cambi extractor would write ${shown(twice)}; give each a heatmaps_path of its own.`,
    );
  }
  // Nobody else's: containers that share a folder have the same process numbers.
  const unique = `${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  const paths = targets.map((path, i) => join(dirname(path), `.anyvmaf-${unique}-${i}.tmp`));
  const made: string[] = [];
  let kept = false;
  const discard = async () => {
    if (kept) return;
    for (const path of paths) await rm(path, { force: true }).catch(() => {});
    // Only what is empty again goes.
    for (const folder of made.toReversed()) await rmdir(folder).catch(() => {});
  };
  try {
    for (const [i, path] of paths.entries()) {
      await makeFolders(dirname(path), made);
      const taken = await stat(targets[i] ?? '').catch(() => undefined);
      if (taken && !taken.isFile()) throw heatmapError(targets[i] ?? '', 'something else has its name');
      await (await open(path, 'wx')).close();
    }
  } catch (cause) {
    await discard();
    throw heatmapError(targets[0] ?? '', cause);
  }
  return {
    paths,
    async keep() {
      for (const [i, path] of paths.entries()) {
        const target = targets[i] ?? '';
        await rename(path, target).catch((cause) => {
          throw heatmapError(target, cause);
        });
      }
      kept = true;
    },
    discard,
  };
}

/**
 * Makes a folder and those above it. Not by Node's recursive mkdir, which never returns where nothing can be made, as
 * in /proc.
 * @param made receives those that were not there, the topmost first
 */
async function makeFolders(folder: string, made: string[]): Promise<void> {
  if (await stat(folder).catch(() => undefined)) return;
  if (dirname(folder) !== folder) await makeFolders(dirname(folder), made);
  await mkdir(folder);
  made.push(folder);
}

/** Writes at positions, synchronously and without buffers of its own. */
class FileWriter implements HeatmapWriter {
  readonly #paths: readonly string[];
  readonly #files: number[] = [];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
    for (const path of paths) {
      try {
        this.#files.push(openSync(path, 'r+'));
      } catch (cause) {
        this.close();
        throw heatmapError(path, cause);
      }
    }
  }

  write(file: number, position: number, bytes: Uint8Array): void {
    const fd = this.#files[file];
    if (fd === undefined) throw new AnyvmafError('internal', `There is no heatmap file ${file}.`);
    try {
      // The system may take less than it was given, as it does before it says that the disk is full.
      for (let done = 0; done < bytes.length; )
        done += writeSync(fd, bytes, done, bytes.length - done, position + done);
    } catch (cause) {
      throw heatmapError(this.#paths[file] ?? '', cause);
    }
  }

  close(): void {
    for (const fd of this.#files.splice(0)) closeSync(fd);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no folder can be made there',
  EEXIST: 'a part of its path is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it would become larger than files may be here',
  ENAMETOOLONG: 'its path is too long',
  ELOOP: 'it is a circle of symbolic links',
  EMFILE: 'too many files are open',
};

/** @param cause what was thrown, or the end of a sentence */
function heatmapError(path: string, cause: unknown): AnyvmafError {
  if (cause instanceof AnyvmafError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
  return new AnyvmafError(
    'io',
    `Heatmaps cannot be written into ${shown(dirname(path))}: ${shown(reason)}; name another folder with heatmaps_path.`,
    cause instanceof Error ? { cause } : {},
  );
}
