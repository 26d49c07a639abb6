/**
 * @module test/support/run-folder
 * One TMPDIR for all projects of a run, removed at its end: Vitest kills its processes before they can remove their folders.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const NAME = 'anyvmaf-run-';

export default function setup(): void {
  // Another project made it.
  if (basename(tmpdir()).startsWith(NAME)) return;
  const folder = mkdtempSync(join(tmpdir(), NAME));
  process.env.TMPDIR = folder;
  // Not before all projects have stopped the programs that use it.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
}
