/**
 * @module scripts/bundle
 * The second half of `npm run build`: joins the compiled modules in dist/ into the files that the package ships. Modules
 * that are always loaded together become one file, so that a program starts sooner and keeps less in memory, and what is
 * loaded on demand stays apart.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, buildSync } from 'esbuild';
import { builtPath, ROOT } from './lib/project.mjs';

// As deep in the package as platform/node and platform/browser: they find its models and its core from where they are.
const FOLDER = join(ROOT, 'dist/bundle/js');

/** What is started by name: doors, and scripts of workers, which are looked for beside whoever starts them. */
const ENTRIES = [
  'index.js',
  'index.browser.js',
  'cli/main.js',
  'platform/node/node-worker.js',
  'platform/node/node-ffmpeg-worker.js',
  'platform/node/node-parser-worker.js',
  'platform/browser/browser-worker.js',
  'platform/browser/browser-ffmpeg-worker.js',
  'platform/browser/browser-parser-worker.js',
  'mcp/pictures/picture-worker.js',
  'bench/pair-maker.js',
];

// Shaders stand beside the modules that import them.
for (const file of readdirSync(join(ROOT, 'src'), { recursive: true }))
  if (file.endsWith('.wgsl')) cpSync(join(ROOT, 'src', file), join(ROOT, 'dist', file));

// The script of HTML reports, as text.
const { outputFiles } = buildSync({
  entryPoints: [builtPath('report/html/viewer.js')],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  write: false,
});
writeFileSync(
  builtPath('report/html/viewer-script.js'),
  `export const VIEWER_SCRIPT = ${JSON.stringify(outputFiles[0].text.trim())};\n`,
);

/** Writes out what the metrics are, so that who lists them does not load what they do. */
const descriptions = {
  name: 'descriptions',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]metrics[/\\]descriptions\.js$/ }, async ({ path }) => {
      const { DESCRIPTIONS } = await import(pathToFileURL(path).href);
      return { contents: `export const DESCRIPTIONS = ${JSON.stringify(DESCRIPTIONS)};` };
    }),
};

/** Joins shaders in as text, without comments and indentation: WGSL has no strings that could hold either. */
const shaders = {
  name: 'shaders',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.wgsl$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace(/\/\/.*$|\/\*[\s\S]*?\*\//gm, '')
        .replace(/\s*\n\s*/g, '\n'),
      loader: 'text',
    })),
};

rmSync(FOLDER, { recursive: true, force: true });
await build({
  entryPoints: ENTRIES.map(builtPath),
  outdir: FOLDER,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  plugins: [descriptions, shaders],
  packages: 'external',
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  logLevel: 'warning',
});
