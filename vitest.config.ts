import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // What users import, here from the sources.
    alias: { anyvmaf: fileURLToPath(new URL('src/index.ts', import.meta.url)) },
  },
  plugins: [
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
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build-once.ts',
    setupFiles: 'test/support/workers.ts',
    // Many tests wait for processes and browsers: one file more than Vitest would run beside each other on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    // What is polled for is a state that comes; a busy machine takes its time.
    expect: { poll: { timeout: 30_000 } },
  },
});
