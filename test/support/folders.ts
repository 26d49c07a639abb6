/**
 * @module test/support/folders
 * Temporary folders that no other test sees: one for the tests of a file, for each test, or for this process.
 */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

/** Read before a test sets TMPDIR. */
const TEMPORARY = tmpdir();

function make(name: string): string {
  return realpathSync(mkdtempSync(join(TEMPORARY, `${name}-`)));
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Gives the tests of a file their own TMPDIR. @param beginning of the names that {@link leftovers} lists */
export function privateTmp(beginning: string): { leftovers(): string[] } {
  const outer = process.env.TMPDIR;
  const folder = testFolder('test');
  beforeAll(() => {
    process.env.TMPDIR = folder;
  });
  afterAll(() => {
    if (outer === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = outer;
  });
  return { leftovers: () => readdirSync(folder).filter((name) => name.startsWith(beginning)) };
}

/** A folder for the tests of a file or group, by its real path; it is gone after them. @param name a part of its name */
export function testFolder(name = 'test'): string {
  const folder = make(name);
  afterAll(() => remove(folder));
  return folder;
}

/** Paths in a folder of its own for each test of a file or group. */
export function ownFolder(name: string): (...parts: string[]) => string {
  let folder = '';
  beforeEach(() => {
    folder = make(name);
  });
  afterEach(() => remove(folder));
  return (...parts) => join(folder, ...parts);
}

/** A folder that nothing else uses, removed after the run. */
export function privateFolder(): string {
  return make('private');
}

const kept = new Map<string, string>();

/** The folder of that name, one a process, removed after the run. */
export function processFolder(name: string): string {
  const made = kept.get(name) ?? make(name);
  kept.set(name, made);
  return made;
}
