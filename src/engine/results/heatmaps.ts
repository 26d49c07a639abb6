/**
 * @module engine/results/heatmaps
 * Writes heatmaps into files: each picture goes to the place of its frame, in whatever order frames are measured.
 */

import { AnyvmafError } from '../../core/errors.js';
import type { HeatmapFile } from '../../core/kernel.js';
import { quoted } from '../../core/printable.js';
import { heatmapFiles } from '../backends/types.js';
import type { FeaturePlan } from '../plan/features.js';

/** Files that pictures are written into, open in one thread. */
export interface HeatmapWriter {
  /**
   * Writes at a position in bytes; what lies between stays zero.
   * @throws {AnyvmafError} `io`
   */
  write(file: number, position: number, bytes: Uint8Array): void;
  close(): void;
}

/** The heatmap files of one run. They take their names only when they are complete. */
export interface HeatmapRun {
  /** What to open in the threads that write; the order is that of the files asked for. */
  readonly paths: readonly string[];
  /**
   * Gives the files their names, over files that have them already, all at once.
   * @throws {AnyvmafError} `io`
   */
  keep(): void;
  /** Leaves nothing behind, unless {@link keep} was called. May be called twice. */
  discard(): Promise<void>;
}

/** Where heatmaps can be written. */
export interface HeatmapStore {
  /**
   * Makes the files, and the folders they stand in.
   * @throws {AnyvmafError} `io`, or `feature` when two of them are one
   */
  create(files: readonly HeatmapFile[]): Promise<HeatmapRun>;
  /** Opens the files of a run in this thread. */
  open(paths: readonly string[]): HeatmapWriter;
}

/**
 * The files of a run, made; `undefined` when it writes none.
 * @param store absent where there is no place to write
 * @throws {AnyvmafError} `feature` without a store; `io`
 */
export async function createHeatmaps(
  { extraction }: FeaturePlan,
  store: (() => Promise<HeatmapStore>) | undefined,
): Promise<HeatmapRun | undefined> {
  const files = heatmapFiles(extraction);
  const [first] = files;
  if (!first) return undefined;
  if (store) return (await store()).create(files);
  throw new AnyvmafError(
    'feature',
    `cambi is to write heatmaps into ${quoted(first.folder)}, but there is no place for files here; leave out ` +
      'heatmaps_path, or score a whole video with the command line or score() in Node.',
  );
}
