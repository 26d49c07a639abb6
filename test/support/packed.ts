/**
 * @module test/support/packed
 * The package as npm packs it, for tests of what users install.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built, root } from './built.js';

/** A tarball. */
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
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-packed-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [{ filename, size, files }] = JSON.parse(
    npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root, folder),
  ) as [{ filename: string; size: number; files: Packed['files'] }];
  made = { path: join(folder, filename), size, files };
  return made;
}
