import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { Plugin } from 'vite';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Bundles scripts of pages and inlines shaders, as scripts/bundle.mjs does. */
const bundled: Plugin = {
  name: 'bundled-text',
  enforce: 'pre',
  // Vitest caches modules by their content; what the plugins make of these depends on other files too.
  configureVitest({ experimental_defineCacheKeyGenerator }) {
    experimental_defineCacheKeyGenerator(({ id, sourceCode }) =>
      id.endsWith('/viewer-script.ts') || sourceCode.includes('import.meta.url') ? false : undefined,
    );
  },
  load(id) {
    if (id.endsWith('.wgsl')) return `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`;
    if (!id.endsWith('/viewer-script.ts')) return undefined;
    const entryPoints = [id.replace('-script.ts', '.ts')];
    const { outputFiles } = buildSync({ entryPoints, bundle: true, format: 'iife', write: false });
    return `export const VIEWER_SCRIPT = ${JSON.stringify(outputFiles[0]?.text)};`;
  },
};

/** Sources start the worker scripts that were built, because Node.js cannot run those in src. */
const builtScripts: Plugin = {
  name: 'built-scripts',
  transform(code, id) {
    if (id.includes('/docs/examples/'))
      return code.replace('anyvmaf/anyvmaf.wasm', '../../wasm/anyvmaf.wasm');
    if (!id.startsWith(file('src/'))) return undefined;
    return code.replace(
      /new URL\((['"])(\.\/[\w-]+\.js)\1, import\.meta\.url\)/g,
      (whole, _quote, script) => {
        const built = file(`dist/bundle/js/${basename(script)}`);
        return existsSync(built) ? `new URL(${JSON.stringify(`file://${built}`)})` : whole;
      },
    );
  },
};

/** A project per kind of test, in the folder of its name; see docs/testing.md. */
const project = (name: string, ...globalSetup: string[]): TestProjectConfiguration => ({
  extends: true,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    globalSetup: [FOLDER, ...globalSetup],
    ...(name === 'unit' && { setupFiles: 'test/support/unit-setup.ts' }),
    // Files share their process and its modules: a test restores what it changes.
    isolate: false,
    // First alone, a browser for each core: what waits for a page asks it at each frame, which takes time of all others.
    ...(name === 'browser'
      ? { maxWorkers: Math.min(availableParallelism(), 8), sequence: { groupOrder: 0 } }
      : { sequence: { groupOrder: 1 } }),
  },
});

/**
 * All files of a project, then those of the next: a process, with its modules and its browser, serves one project, and Vitest
 * ends it when the next file is of another.
 */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // The short files of the last one fill the time in which others end.
    const order = ['browser', 'gpu', 'exhaustive', 'package', 'node', 'unit'];
    return order.flatMap((name) => sorted.filter(({ project }) => project.name === name));
  }
}

const FOLDER = 'test/support/run-folder.ts';
const BUILD = 'test/support/build-once.ts';
const PAGE = 'test/support/browser-setup.ts';
const FORKS = 'test/support/quick-starts.ts';

export default defineConfig({
  resolve: {
    // What users import, here from the sources.
    alias: {
      'anyvmaf/core': file('src/core'),
      'anyvmaf/result-sections': file('src/search/result-sections.ts'),
      'anyvmaf/view': file('src/report/view/index.ts'),
      'anyvmaf/packets': file('src/media/evidence/packets.ts'),
      anyvmaf: file('src/index.ts'),
    },
  },
  plugins: [bundled, builtScripts],
  test: {
    projects: [
      project('unit'),
      project('node', BUILD, FORKS),
      project('browser', BUILD, PAGE, FORKS),
      project('gpu', BUILD),
      project('package', BUILD, FORKS),
      // Whole files that only `npm run test:exhaustive` runs.
      ...(process.env.ANYVMAF_EXHAUSTIVE === '1' ? [project('exhaustive', BUILD, PAGE, FORKS)] : []),
    ],
    pool: 'forks',
    // Modules that did not change since the last run, or that another project has used, are not transformed again.
    experimental: {
      fsModuleCache: true,
      fsModuleCachePath: file('node_modules/.cache/anyvmaf-test-modules'),
    },
    sequence: { sequencer: ByProject },
    // One more than there are cores: tests of processes wait now and then.
    maxWorkers: Math.min(availableParallelism() + 1, 8),
    // Tests make and drop much; to collect it from the usual 16 MB takes a good twentieth of their time.
    execArgv: ['--max-semi-space-size=64'],
    // Of one file after another; only a test's own defects make it wait for so long.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A busy machine may take a while to reach the state that is polled for.
    expect: { poll: { timeout: 30_000 } },
    coverage: {
      include: ['src/**/*.ts', 'web/src/**/*.ts'],
      reporter: ['json-summary', 'json'],
      reportOnFailure: true,
    },
  },
});
