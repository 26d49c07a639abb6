/**
 * @module scripts/lib/support
 * Loads the tests' support modules, for scripts that compare at length what tests compare briefly.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from './project.mjs';

/** Bundles and loads modules of test/support by name. @returns all their exports */
export async function loadSupport(...names) {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.support-'));
  try {
    await build({
      stdin: {
        contents: names.map((name) => `export * from './${name}.ts';`).join('\n'),
        resolveDir: join(ROOT, 'test/support'),
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: join(folder, 'support.mjs'),
      external: ['vitest', 'webgpu'],
      loader: { '.wgsl': 'text' },
      // Modules find fixtures relative to themselves.
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(ROOT, 'test/support/all.ts')).href) },
    });
    return await import(pathToFileURL(join(folder, 'support.mjs')).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
