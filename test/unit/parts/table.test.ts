/**
 * @module test/unit/parts/table
 * What is pinned is what the lock file pins, what is developed with, and what the installed packages hold.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PART_NAMES } from '../../../src/core/choices.js';
import { isKept, isOffered, PARTS, type PinnedPackage } from '../../../src/parts/table.js';
import { root } from '../../support/built.js';

const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { packages: locked } = read('package-lock.json') as {
  packages: Record<string, { version: string; integrity?: string; license?: string }>;
};
const manifest = read('package.json') as Record<string, Record<string, string>>;
const parts = PART_NAMES.map((name) => PARTS[name]);
const packages = parts.flatMap((part) => part.packages);

/** Files of an installed package that are kept, by path, with their lengths. */
function kept(one: PinnedPackage): Record<string, number> {
  const folder = join(root, 'node_modules', one.name);
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = all.filter((path) => isKept(one, path) && statSync(join(folder, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, statSync(join(folder, path)).size]));
}

describe.each(packages.map((one) => [one.name, one] as const))('%s', (name, one) => {
  it('is pinned as in package-lock.json', () => {
    const { version, integrity, license } = locked[`node_modules/${name}`] ?? {};
    expect(one).toMatchObject({ version, integrity, licence: license });
  });

  it('is of the version that is installed', () => {
    expect(read(`node_modules/${name}/package.json`).version).toBe(one.version);
  });
});

it('what is pinned is developed with, and a peer that may be absent', () => {
  for (const { packages } of parts) {
    const [{ name, version }] = packages;
    expect(manifest.devDependencies?.[name]?.replace(/^[~^]/, ''), name).toBe(version);
    expect(manifest.peerDependencies?.[name], name).toBeDefined();
    expect(manifest.peerDependenciesMeta?.[name], name).toEqual({ optional: true });
  }
  expect(manifest.optionalDependencies).toBeUndefined();
  expect(read('node_modules/onnxruntime-web/package.json').dependencies['onnxruntime-common']).toBe(
    PARTS.tiny.packages[1]?.version,
  );
});

it('every file that is kept is in the package, and their lengths are those that are said', () => {
  for (const part of parts.filter(isOffered)) {
    const sizes = part.packages.flatMap((one) => {
      const files = kept(one);
      for (const pattern of one.keep)
        expect(
          Object.keys(files).some((path) => isKept({ ...one, keep: [pattern] }, path)),
          pattern,
        ).toBe(true);
      return Object.values(files);
    });
    expect(
      sizes.reduce((sum, size) => sum + size, 0),
      part.name,
    ).toBe(part.size);
  }
});

it('patterns stand for files of one folder', () => {
  const one = { ...PARTS.tiny.packages[0], keep: ['a.js', 'dist/*.js', 'lib/*'] };
  const paths = 'a.js dist/b.js lib/c dist/.js dist/x/y.js lib/x/y xa.js dist/b.js.map lib/'.split(' ');
  expect(paths.filter((path) => isKept(one, path))).toEqual(['a.js', 'dist/b.js', 'lib/c']);
});
