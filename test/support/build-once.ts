/**
 * @module test/support/build-once
 * Builds dist before any test, unless it is newer than the sources: workers and spawned processes run what ships.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const built = join(root, 'dist/bundle/js/index.js');

export default function build(): void {
  if (existsSync(built) && statSync(built).mtimeMs > newest(join(root, 'src'))) return;
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    encoding: 'utf8',
  });
  // `npm run typecheck` reports type errors; the emitted code can still be tested.
  if (status !== 0) console.warn(stdout);
  spawnSync(process.execPath, [join(root, 'scripts/bundle.mjs')], { cwd: root, stdio: 'inherit' });
  if (!existsSync(built)) throw new Error('the build left no dist/bundle/js/index.js');
}

/** When the newest file or folder of a tree was changed, milliseconds. */
function newest(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Math.max(
    statSync(folder).mtimeMs,
    ...entries.map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );
}
