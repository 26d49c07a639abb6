/**
 * @module web/saved/client
 * Reads and writes saved reports in a worker, batch by batch.
 */
import type { Report } from 'anyvmaf';
import { Remote } from '../engine/calls.js';
import { text } from '../text.js';
import type { Paper, ReadEvent, WriteFormat, WriteOptions } from './functions.js';

const paper = new Remote<Paper>(
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'anyvmaf reports' }),
  text.saved.died,
);

const BATCH = 400;

export function readSaved(file: File, onEvent: (event: ReadEvent) => void): Promise<void> {
  return paper.call('read', { file }, { onEvent });
}

/** Writes are serialized. */
let last: Promise<unknown> = Promise.resolve();

/** One report, or for HTML and comparisons several with the same reference. */
export function writeSaved(
  reports: readonly Report[],
  format: WriteFormat,
  options: WriteOptions = {},
): Promise<Blob> {
  const made = last.then(async () => {
    const heads = reports.map(({ frames: _, ...head }) => head);
    await paper.call('begin', heads);
    for (const [index, { frames }] of reports.entries())
      for (let i = 0; i < frames.length; i += BATCH)
        await paper.call('add', { index, frames: frames.slice(i, i + BATCH) });
    return paper.call('write', { format, options });
  });
  last = made.catch(() => undefined);
  return made;
}
