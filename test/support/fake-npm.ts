/**
 * @module test/support/fake-npm
 * A program called npm that gives what a test wants.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Writes an npm that runs `body`, in which `folder` is where to install.
 * @returns PATH with it
 */
export function fakeNpm(at: string, body: string): string {
  const folder = join(at, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'npm'),
    `#!${process.execPath}
const { mkdirSync, symlinkSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const [, , command, ...rest] = process.argv;
const folder = rest[rest.indexOf('--prefix') + 1];
if (command !== 'ci') process.exit(9);
${body}
`,
  );
  chmodSync(join(folder, 'npm'), 0o755);
  return `${folder}${delimiter}${process.env.PATH}`;
}

/** The body of an npm that installs files: their contents by their paths below `node_modules`. */
export function delivering(files: Readonly<Record<string, string>>): string {
  return `for (const [path, content] of Object.entries(${JSON.stringify(files)})) {
  const to = join(folder, 'node_modules', path);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, content);
}`;
}
