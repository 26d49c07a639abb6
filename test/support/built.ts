/**
 * @module test/support/built
 * The built package, for tests of what ships.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A file in the repository that a build leaves behind. */
export function built(path: string): string {
  const file = join(root, path);
  if (!existsSync(file)) throw new Error(`${path} is missing; run \`npm run build\` first`);
  return file;
}
