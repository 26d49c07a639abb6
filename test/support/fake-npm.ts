/**
 * @module test/support/fake-npm
 * A program called npm that gives what a test wants.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Writes an npm that runs `body`, in which `spec` and `folder` are what to pack and where to.
 * @returns PATH with it
 */
export function fakeNpm(at: string, body: string): string {
  const folder = join(at, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'npm'),
    `#!${process.execPath}
const { copyFileSync, symlinkSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const [, , command, spec, ...rest] = process.argv;
const folder = rest[rest.indexOf('--pack-destination') + 1];
if (command !== 'pack') process.exit(9);
${body}
`,
  );
  chmodSync(join(folder, 'npm'), 0o755);
  return `${folder}${delimiter}${process.env.PATH}`;
}

/** The body of an npm that copies files by what is asked for. */
export function delivering(files: Readonly<Record<string, string>>): string {
  return `const files = ${JSON.stringify(files)};
copyFileSync(files[spec], join(folder, 'package.tgz'));`;
}
