/**
 * @module test/package/scripts
 * What scripts and the training load of the built package is there: nothing else would notice until somebody runs them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { built, root } from '../support/built.js';

const files = ['scripts', 'training'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => join(folder, file)),
);

/** Modules by `loadBuilt` or its like, with the names that are taken out of each. */
function loaded(file: string): { path: string; names: string[] }[] {
  const text = readFileSync(join(root, file), 'utf8');
  const calls = text.matchAll(/(?:const\s+\{([^}]*)\}\s*=\s*await\s+)?\bload(?:Built)?\(\s*'([^']+\.js)'/g);
  return [...calls].map(([, taken = '', path = '']) => ({
    path,
    names: taken.split(',').flatMap((name) => name.split(':')[0]?.trim() || []),
  }));
}

describe('scripts', () => {
  it('load modules that are built, and names that they export', async () => {
    built('dist/index.js');
    const missing: string[] = [];
    let seen = 0;
    for (const file of files) {
      for (const { path, names } of loaded(file)) {
        const module = join(root, 'dist', path);
        seen++;
        if (!existsSync(module)) missing.push(`${file}: ${path}`);
        else if (names.length > 0) {
          const exported: object = await import(pathToFileURL(module).href);
          missing.push(
            ...names.filter((name) => !(name in exported)).map((name) => `${file}: ${path} ${name}`),
          );
        }
      }
    }
    expect(missing).toEqual([]);
    expect(seen).toBeGreaterThan(30);
  });
});
