/**
 * @module platform/node/heatmaps
 * Heatmap files in Node, written under temporary names until complete.
 */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { open, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AnyvmafError, featureError, internalError, ioError } from '../../core/errors.js';
import type { HeatmapFile } from '../../core/module.js';
import { shown } from '../../core/printable.js';
import type { HeatmapRun, HeatmapStore, HeatmapWriter } from '../../engine/backends/measurer.js';
import {
  forgetScratch,
  makeFolders,
  removeScratch,
  scratchBeside,
  writeReason,
} from '../../files/folders.js';

export const nodeHeatmaps: HeatmapStore = { create: createFiles, open: (paths) => new FileWriter(paths) };

async function createFiles(files: readonly HeatmapFile[]): Promise<HeatmapRun> {
  const targets = files.map(({ folder, name }) => join(resolve(folder), name));
  const twice = targets.find((path, i) => targets.indexOf(path) !== i);
  if (twice !== undefined) {
    throw featureError(
      `Two variants of the cambi extractor would write ${shown(twice)}; give each a heatmaps_path of its own.`,
    );
  }
  const paths: string[] = [];
  const made: string[] = [];
  let kept = false;
  const discard = async () => {
    if (kept) return;
    for (const path of paths) await removeScratch(path).catch(() => {});
    // Removes only empty folders.
    for (const folder of made.toReversed()) await rmdir(folder).catch(() => {});
  };
  try {
    for (const target of targets) {
      await makeFolders(dirname(target), made);
      const taken = await stat(target).catch(() => undefined);
      if (taken && !taken.isFile()) throw heatmapError(target, 'something else has its name');
      const path = await scratchBeside(target);
      paths.push(path);
      await (await open(path, 'wx')).close();
    }
  } catch (cause) {
    await discard();
    throw heatmapError(targets[0] ?? '', cause);
  }
  return {
    paths,
    keep() {
      // Synchronous, so that no signal interrupts it.
      for (const [i, path] of paths.entries()) rename(path, targets[i] ?? '');
      kept = true;
    },
    discard,
  };
}

function rename(path: string, target: string): void {
  try {
    renameSync(path, target);
    forgetScratch(path);
  } catch (cause) {
    throw heatmapError(target, cause);
  }
}

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
    if (fd === undefined) throw internalError(`There is no heatmap file ${file}.`);
    try {
      // Writes may be short, as before a report of a full disk.
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

/** @param cause an error, or the end of a sentence */
function heatmapError(path: string, cause: unknown): AnyvmafError {
  if (cause instanceof AnyvmafError) return cause;
  return ioError(
    `Heatmaps cannot be written into ${shown(dirname(path))}: ${shown(writeReason(cause))}; name another folder with heatmaps_path.`,
    cause instanceof Error ? { cause } : {},
  );
}
