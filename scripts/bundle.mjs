/**
 * @module scripts/bundle
 * The second half of `npm run build`: bundles the compiled modules in dist/ into the files of the package. Modules that are
 * always loaded together become one file, which saves start time and memory; modules loaded on demand stay separate.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { builtPath, ROOT } from './lib/project.mjs';

// At the depth of platform/node and platform/browser, which find models and the core relative to themselves.
const FOLDER = join(ROOT, 'dist/bundle/js');

/** Entry points: doors, and worker scripts, which are found relative to their starter. */
const ENTRIES = [
  'index.js',
  'index.browser.js',
  'cli/program/main.js',
  'platform/node/node-worker.js',
  'platform/node/node-ffmpeg-worker.js',
  'platform/node/node-parser-worker.js',
  'platform/browser/browser-worker.js',
  'platform/browser/browser-ffmpeg-worker.js',
  'platform/browser/browser-parser-worker.js',
  'mcp/call-thread.js',
  'mcp/live/transports/live-thread.js',
  'cli/queue/scoring-child.js',
  'bench/pair-maker.js',
];

// Shaders are next to the modules that import them.
for (const file of readdirSync(join(ROOT, 'src'), { recursive: true }))
  if (file.endsWith('.wgsl')) cpSync(join(ROOT, 'src', file), join(ROOT, 'dist', file));

// Scripts of single-file pages, as text: HTML reports, the live dashboard, and the view in MCP hosts.
for (const folder of ['report/html', 'mcp/live/dashboard', 'mcp/apps']) {
  const { output } = await build({
    input: builtPath(`${folder}/viewer.js`),
    output: { format: 'iife', minify: true },
    transform: { target: 'es2022' },
    write: false,
  });
  writeFileSync(
    builtPath(`${folder}/viewer-script.js`),
    `export const VIEWER_SCRIPT = ${JSON.stringify(output[0].code.trim())};\n`,
  );
}

// Metric descriptions as data, so that listing them loads no arithmetic.
const DESCRIPTIONS_FILE = builtPath('metrics/descriptions.js');
const { DESCRIPTIONS } = await import(pathToFileURL(DESCRIPTIONS_FILE).href);
writeFileSync(DESCRIPTIONS_FILE, `export const DESCRIPTIONS = ${JSON.stringify(DESCRIPTIONS)};\n`);

/** Modules that all doors, workers and the browser's start load. */
const BASICS = /dist[\\/]core[\\/](?:arguments|choices|errors|names|nearest|numbers|printable|version)\.js$/;

/** Modules that write the summary of a report, which the browser's start loads too. */
const SUMMARY = /dist[\\/]report[\\/](?:facts|ranking|sections|summary|trust)\.js$/;

/** Joins shaders in as text, without comments and indentation: WGSL has no strings that could hold either. */
const shaders = {
  name: 'shaders',
  load: {
    filter: { id: /\.wgsl$/ },
    handler: (id) => ({
      code: readFileSync(id, 'utf8')
        .replace(/\/\/.*$|\/\*[\s\S]*?\*\//gm, '')
        .replace(/\s*\n\s*/g, '\n'),
      moduleType: 'text',
    }),
  },
};

/** Removes type declarations that the public types do not reach, and the headers of the others. */
function removeInnerTypes() {
  const dist = join(ROOT, 'dist');
  const reached = new Set(['index.d.ts', 'index.browser.d.ts']);
  for (const file of reached) {
    const text = readFileSync(join(dist, file), 'utf8');
    for (const [, name] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g))
      reached.add(`${join(dirname(file), name)}.d.ts`);
  }
  for (const file of readdirSync(dist, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(dist, file);
    // Package users do not need the module header.
    if (reached.has(file))
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^\/\*\*\n \* @module [\s\S]*?\*\/\n/, ''));
    else rmSync(path);
  }
}

removeInnerTypes();
rmSync(FOLDER, { recursive: true, force: true });
await build({
  input: Object.fromEntries(ENTRIES.map((entry) => [basename(entry, '.js'), builtPath(entry)])),
  plugins: [shaders],
  // Users install the dependencies.
  external: /^[^./]/,
  platform: 'neutral',
  transform: { target: 'es2022' },
  treeshake: { moduleSideEffects: false },
  preserveEntrySignatures: 'allow-extension',
  output: {
    dir: FOLDER,
    format: 'esm',
    // A third less to download and parse.
    minify: true,
    entryFileNames: '[name].js',
    // No hashes: they compress badly, and a package has a version.
    chunkFileNames: '[name].js',
    // Put what nearly everything loads into one file; small files take more room in the package.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        { name: 'core', test: BASICS },
        { name: 'summary', test: SUMMARY },
      ],
    },
  },
  logLevel: 'warn',
});
