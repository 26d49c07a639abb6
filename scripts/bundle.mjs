/**
 * @module scripts/bundle
 * The second half of `npm run build`: bundles the compiled modules in dist/ into the files of the package. Modules that are
 * always loaded together become one file, which saves start time and memory; modules loaded on demand stay separate.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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

// Scripts of pages that are written as one file, as text: of HTML reports, and of the live dashboard.
for (const folder of ['report/html', 'mcp/live/dashboard']) {
  const { outputFiles } = buildSync({
    entryPoints: [builtPath(`${folder}/viewer.js`)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    write: false,
  });
  writeFileSync(
    builtPath(`${folder}/viewer-script.js`),
    `export const VIEWER_SCRIPT = ${JSON.stringify(outputFiles[0].text.trim())};\n`,
  );
}

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

/** Removes declarations that the public types do not reach, which nobody can import, and the headers of the others. */
function removeInnerTypes() {
  const dist = join(ROOT, 'dist');
  const reached = new Set(['index.d.ts', 'index.browser.d.ts']);
  for (const file of reached) {
    const text = readFileSync(join(dist, file), 'utf8');
    for (const [, name] of text.matchAll(/(?:from |import\()'(\.[^']+)\.js'/g))
      reached.add(`${join(dirname(file), name)}.d.ts`);
  }
  for (const file of readdirSync(dist, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(dist, file);
    // What a file is for, its readers do not see.
    if (reached.has(file))
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^\/\*\*\n \* @module [\s\S]*?\*\/\n/, ''));
    else rmSync(path);
  }
}

removeInnerTypes();
rmSync(FOLDER, { recursive: true, force: true });
const bundled = await build({
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
  write: false,
});

/** A chunk as esbuild names it: what it is made of, and the hash of its content. */
const HASHED = /[\w-]+-[A-Z\d]{8}\.js/g;
/** The imports at the head of a module. */
const HEAD = /^(?:import(?:[\w{},*$ ]*from)?"[^"]*";)*/;

/**
 * Gives chunks short names, since files name each other five thousand times, and drops imports of chunks of which nothing is
 * used: modules have no side effects, as package.json says. Both are a tenth of the package.
 */
function writeShort(files) {
  const names = new Map(
    files
      .map(({ path }) => basename(path))
      .filter((name) => name.match(HASHED)?.[0] === name)
      .sort()
      .map((name, i) => [name, `${i.toString(36)}.js`]),
  );
  mkdirSync(FOLDER, { recursive: true });
  for (const { path, text } of files) {
    const name = basename(path);
    const short = text
      .replace(HEAD, (head) => head.replace(/import"\.\/[^"]*";/g, ''))
      .replace(HASHED, (found) => names.get(found) ?? found);
    writeFileSync(join(FOLDER, names.get(name) ?? name), short);
  }
}

writeShort(bundled.outputFiles);
