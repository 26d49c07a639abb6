/**
 * @module cli/own-package
 * Whether the user has installed a package beside anyvmaf.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Looks for its file only: some take seconds to load. */
export function hasPackage(name: string): boolean {
  try {
    return existsSync(fileURLToPath(import.meta.resolve(name)));
  } catch {
    return false;
  }
}
