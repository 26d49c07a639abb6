/**
 * @module test/support/built
 * The built package, in the repository and as npm packs it, for tests of what ships.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processFolder } from './folders.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A file of the build. @throws {Error} if it is missing */
export function built(path: string): string {
  const file = join(root, path);
  if (!existsSync(file)) throw new Error(`${path} is missing; run \`npm run build\` first`);
  return file;
}

export interface Packed {
  readonly path: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** Runs npm with `home` as its home folder, and without the variables that `npm test` sets for its scripts. */
export function npm(args: readonly string[], cwd: string, home: string): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  return execFileSync('npm', args, { cwd, env: { ...env, HOME: home }, encoding: 'utf8', stdio: 'pipe' });
}

let made: Packed | undefined;

/** The tarball of the built package, made once a process. */
export function packed(): Packed {
  if (made) return made;
  built('dist/bundle/js/index.js');
  const folder = processFolder('packed');
  const [{ filename, size, files }] = JSON.parse(
    npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root, folder),
  ) as [{ filename: string; size: number; files: Packed['files'] }];
  made = { path: join(folder, filename), size, files };
  return made;
}
