/**
 * Nothing of the live server is loaded by a run that does not ask for it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { built } from '../support/built.js';
import { anyvmaf } from '../support/cli.js';
import { file } from '../support/clips.js';

const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-lazy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(() => {
  const clip = makeSample({ width: 64, height: 64, bitDepth: 8, chroma: '420' });
  for (const side of ['reference', 'distorted'] as const) file(folder, `${side}.y4m`, y4mFile(clip, side, 3));
});

/** Texts of the server, its thread, its links and what steers; each stands in one built file. */
const MARKS = [
  'anyvmaf-live',
  'Live quality',
  'event: ready',
  'it must be a statistic',
  'There is no model ${',
];

/** Built files that a run loads, in all its threads. */
async function loadedBy(args: readonly string[]): Promise<ReadonlySet<string>> {
  const coverage = mkdtempSync(join(folder, 'loaded-'));
  const { code, stderr } = await anyvmaf(['reference.y4m', 'distorted.y4m', ...args], {
    cwd: folder,
    env: { NODE_V8_COVERAGE: coverage },
  });
  expect(code, stderr).toBe(0);
  const scripts = readdirSync(coverage).flatMap(
    (name): { url: string }[] => JSON.parse(readFileSync(join(coverage, name), 'utf8')).result,
  );
  return new Set(
    scripts
      .map(({ url }) => url)
      .filter((url) => url.includes('/dist/'))
      .map((url) => basename(url)),
  );
}

it('is loaded only when it is asked for', async () => {
  const bundle = join(built('dist/bundle/js/main.js'), '..');
  const own = readdirSync(bundle).filter((name) => {
    const text = name.endsWith('.js') ? readFileSync(join(bundle, name), 'utf8') : '';
    return MARKS.some((mark) => text.includes(mark));
  });
  expect(own.length).toBeGreaterThanOrEqual(4);
  const plain = await loadedBy([]);
  expect(plain.size).toBeGreaterThan(20);
  expect(own.filter((name) => plain.has(name))).toEqual([]);
  const live = await loadedBy(['--live', 'sse:0', '--alarm', 'p5<1']);
  expect(own.filter((name) => live.has(name)).length).toBeGreaterThanOrEqual(3);
});
