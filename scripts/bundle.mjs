/**
 * @module scripts/bundle
 * The second half of `npm run build`: bundles the compiled modules in dist/ into the files of the package. Modules that are
 * always loaded together become one file, which saves start time and memory; modules loaded on demand stay separate.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, buildSync } from 'esbuild';
import { builtPath, ROOT } from './lib/project.mjs';

// As deep as platform/node and platform/browser, which find models and core relative to themselves.
const FOLDER = join(ROOT, 'dist/bundle/js');

/** Entry points: doors, and worker scripts, which are found relative to their starter. */
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
  'mcp/live/live-thread.js',
  'cli/queue/scoring-child.js',
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

/** Writes the descriptions of metrics, so that listing them loads no arithmetic. */
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

/** Removes declarations that the public types do not reach, which nobody can import, and says not what is where in them. */
function removeInnerTypes() {
  const dist = join(ROOT, 'dist');
  const reached = new Set(['index.d.ts', 'index.browser.d.ts']);
  for (const file of reached) {
    const text = readFileSync(join(dist, file), 'utf8');
    for (const [, name] of text.matchAll(/(?:from |import\()'(\.[^']+)\.js'/g))
      reached.add(`${join(dirname(file), name)}.d.ts`);
  }
  for (const file of readdirSync(dist, { recursive: true }))
    if (file.endsWith('.d.ts') && !reached.has(file)) rmSync(join(dist, file));
  for (const file of reached) {
    const text = readFileSync(join(dist, file), 'utf8');
    writeFileSync(join(dist, file), text.replace(/^\/\*\*\s+\* @module [\s\S]*?\*\/\s*/, ''));
  }
}

removeInnerTypes();
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
  // A third less to fetch and to parse.
  minify: true,
  logLevel: 'warning',
});
