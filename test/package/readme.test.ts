/**
 * @module test/package/readme
 * What the README shows is true: its code is that of the examples, which run, its links lead somewhere, and its commands
 * exist.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/built.js';

const PAGES = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const read = (file: string) => readFileSync(join(root, file), 'utf8');

describe('README.md', () => {
  it('shows code of the examples as it stands', () => {
    const examples = readdirSync(join(root, 'docs/examples')).map((name) => read(`docs/examples/${name}`));
    const blocks = [...read('README.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(examples).toContain(block);
  });
});

describe.each(PAGES)('%s', (page) => {
  it('links to files that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const names = [...read(page).matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
  });
});
