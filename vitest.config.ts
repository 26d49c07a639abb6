import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // What users import, here from the sources.
    alias: { anyvmaf: fileURLToPath(new URL('src/index.ts', import.meta.url)) },
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build-once.ts',
    setupFiles: 'test/support/workers.ts',
    testTimeout: 60_000,
  },
});
