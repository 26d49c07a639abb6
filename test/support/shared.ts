/**
 * @module test/support/shared
 * Finds reference material in ../shared, next to the repository, which not every checkout has.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../shared/', import.meta.url);

/** Absolute path of `relative` inside ../shared, or `undefined` where it does not exist. */
export function sharedPath(relative: string): string | undefined {
  const path = fileURLToPath(new URL(relative, root));
  return existsSync(path) ? path : undefined;
}

/** Say this in the title of what is skipped. */
export const needsShared = 'needs ../shared';
