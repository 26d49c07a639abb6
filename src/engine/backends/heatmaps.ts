/**
 * @module engine/backends/heatmaps
 * Writes heatmap files: each picture at the position of its frame, whatever the order of measuring.
 */

import { AnyvmafError } from '../../core/errors.js';
import type { HeatmapFile } from '../../core/kernel.js';
import { quoted } from '../../core/printable.js';
import type { FeaturePlan } from './features.js';
import { heatmapFiles } from './types.js';

export interface HeatmapWriter {
  /** Writes at a position in bytes; gaps stay zero. @throws {AnyvmafError} `io` */
  write(file: number, position: number, bytes: Uint8Array): void;
  close(): void;
}

/** The heatmap files of one run. They get their names only once complete. */
export interface HeatmapRun {
  /** Paths to open in the threads that write, in the order of the requested files. */
  readonly paths: readonly string[];
  /** Gives all files their names at once, replacing existing files. @throws {AnyvmafError} `io` */
  keep(): void;
  /** Removes the files unless {@link keep} was called. May be called twice. */
  discard(): Promise<void>;
}

export interface HeatmapStore {
  /** Creates the files and their folders. @throws {AnyvmafError} `io`; `feature` if two of them are the same file */
  create(files: readonly HeatmapFile[]): Promise<HeatmapRun>;
  open(paths: readonly string[]): HeatmapWriter;
}

/** Creates the files of a run, if it writes any. @throws {AnyvmafError} `feature` without a store; `io` */
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
    `cambi cannot write heatmaps to ${quoted(first.folder)} here; leave out heatmaps_path, or score a whole video with ` +
      'the command line or score() in Node.',
  );
}
