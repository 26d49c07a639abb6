/**
 * @module test/package/types
 * The shipped declarations under the oldest TypeScript that docs/api.md names, with and without the DOM library.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { built, root } from '../support/built.js';

vi.setConfig({ testTimeout: 120_000 });

const OLDEST = 'typescript-5.7';

const PROGRAM = `
import { configure, createScorer, score, type FrameSource, type Report } from 'anyvmaf';
const report: Report = await score({ reference: 'a.y4m', distorted: new Uint8Array(8) });
const mean: number | undefined = report.pooled_metrics.vmaf?.mean;
configure({ wasm: new Uint8Array(8) });
await using scorer = await createScorer({ width: 64, height: 64, bitDepth: 8, chroma: '420' });
export type Source = FrameSource;
console.log(mean, scorer);
`;

let home = '';

beforeAll(() => {
  built('dist/index.d.ts');
  home = mkdtempSync(join(tmpdir(), 'anyvmaf-types-'));
  mkdirSync(join(home, 'node_modules/@types'), { recursive: true });
  symlinkSync(root.replace(/\/$/, ''), join(home, 'node_modules/anyvmaf'));
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(home, 'node_modules', name));
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(home, 'program.ts'), PROGRAM);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe(`the declarations under TypeScript ${readVersion()}`, () => {
  it.each(['es2022,esnext.disposable', 'es2022,esnext.disposable,dom'])('are whole with lib %s', (lib) => {
    const { stdout } = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules', OLDEST, 'bin/tsc'),
        ...['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'],
        ...['--preserveSymlinks', '--lib', lib, 'program.ts'],
      ],
      { cwd: home, encoding: 'utf8' },
    );
    expect(stdout).toBe('');
  });

  it('are of the version that docs/api.md names', () => {
    expect(readFileSync(join(root, 'docs/api.md'), 'utf8')).toContain(`TypeScript ${readVersion()} or newer`);
  });
});

function readVersion(): string {
  const { version } = JSON.parse(
    readFileSync(join(root, 'node_modules', OLDEST, 'package.json'), 'utf8'),
  ) as { readonly version: string };
  return version.split('.').slice(0, 2).join('.');
}
