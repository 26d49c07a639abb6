import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { defineConfig } from 'vitest/config';

/** What compares times, or counts on a process to answer in time: one file after the other, when all else is done. */
const TIMED = [
  'test/engine/engine-stop.test.ts',
  'test/e2e/web-results.test.ts',
  'test/report/write.test.ts',
  'test/api/process.test.ts',
];

export default defineConfig({
  resolve: {
    // What users import, here from the sources.
    alias: {
      'anyvmaf/abort': fileURLToPath(new URL('src/core/abort.ts', import.meta.url)),
      'anyvmaf/result-view': fileURLToPath(new URL('src/search/result-view.ts', import.meta.url)),
      'anyvmaf/view': fileURLToPath(new URL('src/report/view.ts', import.meta.url)),
      anyvmaf: fileURLToPath(new URL('src/index.ts', import.meta.url)),
    },
  },
  plugins: [
    {
      // What scripts/bundle.mjs makes of the scripts of pages.
      name: 'viewer-script',
      load(id: string) {
        if (!id.endsWith('/viewer-script.ts')) return undefined;
        const entryPoints = [id.replace('-script.ts', '.ts')];
        const { outputFiles } = buildSync({ entryPoints, bundle: true, format: 'iife', write: false });
        return `export const VIEWER_SCRIPT = ${JSON.stringify(outputFiles[0]?.text)};`;
      },
    },
    {
      // What scripts/bundle.mjs makes of shaders.
      name: 'shaders',
      enforce: 'pre',
      load: (id: string) =>
        id.endsWith('.wgsl') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))}` : undefined,
    },
    {
      // What a bundler makes of the address in docs/examples/browser.ts.
      name: 'package-file-urls',
      transform: (code: string, id: string) =>
        id.includes('/docs/examples/')
          ? code.replace('anyvmaf/anyvmaf.wasm', '../../wasm/anyvmaf.wasm')
          : undefined,
    },
  ],
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'plain', include: ['test/**/*.test.ts'], exclude: TIMED, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: { name: 'timed', include: TIMED, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
    globalSetup: 'test/support/build-once.ts',
    setupFiles: 'test/support/workers.ts',
    // Many tests wait for processes and browsers: one file more than Vitest would run beside each other on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    // Videos are encoded before the tests that decode them.
    hookTimeout: 120_000,
    // What is polled for is a state that comes; a busy machine takes its time.
    expect: { poll: { timeout: 30_000 } },
  },
});
