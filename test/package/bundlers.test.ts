/**
 * @module test/package/bundlers
 * The packed package in a page bundled by Vite, webpack, esbuild and Rollup, as in docs/api.md: it scores a pair in Chromium as
 * in Node, and ships nothing unused. `npm test` takes esbuild, which needs configured URLs; web/ is built by Vite, which finds
 * them itself.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { score } from '../../src/index.js';
import { shippedModels } from '../../src/platform/browser/shipped-models.js';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { packed, root } from '../support/built.js';
import { launchChromium, noChromium, PATIENCE, PATIENT } from '../support/chromium.js';
import { serve } from '../support/file-server.js';
import { testFolder } from '../support/folders.js';
import { tier } from '../support/tier.js';

vi.setConfig(PATIENT);

/** Dependencies of the package in a page, including indirect ones, but no optional packages. */
const NEEDED = ['fast-png', 'fflate', 'iobuffer', 'hyparquet', 'hyparquet-writer', 'zod'];

/** Largest page in bytes: the core, the models and our code. */
const BUDGET = 3_000_000;

const clip = makeSample({ width: 64, height: 48, bitDepth: 8, chroma: '420' });
const reference = y4mFile(clip, 'reference', 4);
const distorted = y4mFile(clip, 'distorted', 4);

const RUN = `
  window.scores = async () => {
    const files = ['/reference.y4m', '/distorted.y4m'].map(async (url) => (await fetch(url)).blob());
    const [reference, distorted] = await Promise.all(files);
    const report = await score({ reference, distorted }, { threads: 2, features: ['ssimulacra2'] });
    return report.frames.map(({ metrics }) => [metrics.vmaf, metrics.ssimulacra2]);
  };`;

/** For bundlers that resolve URLs of assets. */
const PLAIN = `import { score } from 'anyvmaf';${RUN}`;

/** For the others, with the two folders served beside the page. */
const CONFIGURED = `import { configure, score } from 'anyvmaf';
  configure({
    wasm: '/anyvmaf/wasm/anyvmaf.wasm',
    perceptualWasm: '/anyvmaf/wasm/perceptual.wasm',
    models: '/anyvmaf/model/',
    worker: '/anyvmaf-worker.js',
    parserWorker: '/anyvmaf-parser.js',
  });${RUN}`;

/** A user's project. */
const home = testFolder('bundlers');
const installed = () => join(home, 'node_modules/anyvmaf');

/** Writes the page for a bundler. @returns its folder */
function project(name: string, code: string): string {
  const folder = join(home, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'app.js'), code);
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><link rel="icon" href="data:,"><script type="module" src="./app.js"></script>',
  );
  return folder;
}

/** Copies the page to its bundle, with the folders that docs/api.md says to serve if a bundler does not resolve URLs. */
function served(folder: string, out: string): string {
  cpSync(join(folder, 'index.html'), join(out, 'index.html'));
  for (const name of ['wasm', 'model'])
    cpSync(join(installed(), name), join(out, 'anyvmaf', name), { recursive: true });
  return out;
}

const BUNDLERS: Readonly<Record<string, () => Promise<string>>> = {
  async Vite() {
    const folder = project('vite', PLAIN);
    const outDir = join(folder, 'out');
    const { build: vite } = await import('vite');
    await vite({ root: folder, configFile: false, logLevel: 'error', build: { outDir } });
    return outDir;
  },
  async webpack() {
    const folder = project('webpack', PLAIN);
    const out = join(folder, 'out');
    const { default: webpack } = await import('webpack');
    await new Promise<void>((resolve, reject) => {
      webpack(
        { mode: 'production', context: folder, entry: './app.js', output: { path: out, filename: 'app.js' } },
        (error, stats) => {
          if (error) reject(error);
          else if (stats?.hasErrors()) reject(new Error(stats.toString({ all: false, errors: true })));
          else resolve();
        },
      );
    });
    cpSync(join(folder, 'index.html'), join(out, 'index.html'));
    return out;
  },
  async esbuild() {
    const folder = project('esbuild', CONFIGURED);
    const out = join(folder, 'out');
    await esbuild({
      absWorkingDir: folder,
      entryPoints: {
        app: './app.js',
        'anyvmaf-worker': 'anyvmaf/browser-worker.js',
        'anyvmaf-parser': 'anyvmaf/browser-parser-worker.js',
      },
      bundle: true,
      splitting: true,
      format: 'esm',
      external: ['mediabunny'],
      outdir: out,
      logLevel: 'error',
    });
    return served(folder, out);
  },
  async Rollup() {
    const folder = project('rollup', CONFIGURED);
    const out = join(folder, 'out');
    const { nodeResolve } = await import('@rollup/plugin-node-resolve');
    const { rollup } = await import('rollup');
    const bundle = await rollup({
      input: {
        app: join(folder, 'app.js'),
        'anyvmaf-worker': 'anyvmaf/browser-worker.js',
        'anyvmaf-parser': 'anyvmaf/browser-parser-worker.js',
      },
      external: ['mediabunny'],
      plugins: [nodeResolve({ browser: true, rootDir: folder })],
    });
    await bundle.write({ dir: out, format: 'es' });
    await bundle.close();
    return served(folder, out);
  },
};

beforeAll(() => {
  mkdirSync(installed(), { recursive: true });
  execFileSync('tar', ['xzf', packed().path, '--strip-components=1', '-C', installed()]);
  for (const name of NEEDED)
    cpSync(join(root, 'node_modules', name), join(home, 'node_modules', name), { recursive: true });
});

it('pages find every model file that the package ships for them', () => {
  const files = readdirSync(join(root, 'model'), { recursive: true, encoding: 'utf8' });
  const wanted = files.filter(
    (file) => /\.(json|onnx)$/.test(file) && !/\.(schema|figures)\.json$/.test(file),
  );
  expect([...shippedModels()].sort()).toEqual(wanted.sort());
});

describe.skipIf(noChromium)(`a page bundled without optional packages${noChromium}`, () => {
  let browser: Browser;
  let expected: readonly (readonly (number | undefined)[])[];

  beforeAll(async () => {
    browser = await launchChromium(['--disable-gpu']);
    const report = await score({ reference, distorted }, { features: ['ssimulacra2'] });
    expected = report.frames.map(({ metrics }) => [metrics.vmaf, metrics.ssimulacra2]);
  });
  afterAll(() => browser?.close());

  it.each(tier(['esbuild'], Object.keys(BUNDLERS)))('by %s scores a pair as Node does', async (name) => {
    const out = (await BUNDLERS[name]?.()) ?? '';
    const server = await serve(out, { '/reference.y4m': reference, '/distorted.y4m': distorted });
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    const missing: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) missing.push(response.url());
    });
    try {
      await page.goto(`${server.origin}/index.html`);
      await page.waitForFunction('window.scores');
      expect(await page.evaluate('window.scores()')).toEqual(expected);
      expect(missing).toEqual([]);
    } finally {
      await page.close();
      await server.stop();
    }
    const bytes = readdirSync(out, { recursive: true, encoding: 'utf8' })
      .map((file) => statSync(join(out, file)))
      .filter((stats) => stats.isFile())
      .reduce((sum, { size }) => sum + size, 0);
    console.log(`${name}: a page of ${bytes} bytes`);
    expect(bytes).toBeLessThan(BUDGET);
  });
});
