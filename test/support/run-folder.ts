/**
 * @module test/support/run-folder
 * One TMPDIR for all projects of a run, removed at its end: Vitest kills test processes, which then cannot remove their own folders.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const NAME = 'anyvmaf-run-';

export default function setup(): void {
  // Another project has made it.
  if (basename(tmpdir()).startsWith(NAME)) return;
  const folder = mkdtempSync(join(tmpdir(), NAME));
  process.env.TMPDIR = folder;
  // After the projects, which stop programs that use it.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
}
