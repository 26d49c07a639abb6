/**
 * @module test/support/private-tmp
 * Folders that no other test sees: for the files of a test, and for temporary files, so that a test can count what is left of them.
 */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/**
 * Gives the tests of a file a temporary folder of their own.
 * @param beginning of the names that {@link leftovers} lists
 */
export function privateTmp(beginning: string): { leftovers(): string[] } {
  const outer = process.env.TMPDIR;
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-test-'));
  beforeAll(() => {
    process.env.TMPDIR = folder;
  });
  afterAll(() => {
    if (outer === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = outer;
    rmSync(folder, { recursive: true, force: true });
  });
  return { leftovers: () => readdirSync(folder).filter((name) => name.startsWith(beginning)) };
}

/** A folder for the tests of a file, by its real path; it is gone after them. @param name a part of its name */
export function testFolder(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `anyvmaf-${name}-`)));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
