/**
 * @module web/vite.config
 * Builds the page into static files that work from any folder, and serves it for development.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const require = createRequire(import.meta.url);

/** Files that the library fetches by name at run time: their folder on the page and their source. */
interface Fetched {
  readonly to: string;
  readonly from: string;
  readonly only: RegExp;
  /** Other names on the page. */
  readonly rename?: Readonly<Record<string, string>>;
}

const FETCHED: readonly Fetched[] = [
  { to: 'model', from: join(ROOT, 'model'), only: /\.txt$/ },
  {
    to: 'ort',
    from: dirname(require.resolve('onnxruntime-web')),
    only: /^ort\.bundle\.min\.mjs$|^ort-wasm-simd-threaded\.jsep\.wasm$/,
    // Some servers do not serve .mjs as JavaScript.
    rename: { 'ort.bundle.min.mjs': 'ort.bundle.min.js' },
  },
  {
    to: 'ffmpeg',
    from: join(dirname(require.resolve('@ffmpeg/core')), '../esm'),
    only: /^ffmpeg-core\.(js|wasm)$/,
  },
];

/** Adds the fetched files to the page: served in place, or emitted as assets. */
function fetchedFiles(): Plugin {
  return {
    name: 'fetched-files',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const path = (request.url ?? '').split('?')[0]?.slice(1) ?? '';
        // The most specific folder.
        const folder = FETCHED.findLast(({ to }) => path.startsWith(`${to}/`));
        const file = folder && relative(folder.to, path);
        const name = Object.entries(folder?.rename ?? {}).find(([, other]) => other === file)?.[0] ?? file;
        if (!folder || !name || name.includes('..') || !folder.only.test(name)) return next();
        const types = {
          mjs: 'text/javascript',
          js: 'text/javascript',
          wasm: 'application/wasm',
          json: 'application/json',
        };
        const type = Object.entries(types).find(([ending]) => name.endsWith(`.${ending}`))?.[1];
        if (type) response.setHeader('content-type', type);
        createReadStream(join(folder.from, name)).on('error', next).pipe(response);
      });
    },
    async generateBundle() {
      for (const { to, from, only, rename } of FETCHED) {
        for (const name of (await readdir(from)).filter((file) => only.test(file)))
          this.emitFile({
            type: 'asset',
            fileName: `${to}/${rename?.[name] ?? name}`,
            source: await readFile(join(from, name)),
          });
      }
    },
  };
}

const LICENCES = 'licences.txt';

/** Packages in the page, and the file with the text of their licence. */
const BUNDLED: Readonly<Record<string, string>> = {
  'lit-html': join(ROOT, 'node_modules/lit-html/LICENSE'),
  mediabunny: join(ROOT, 'node_modules/mediabunny/LICENSE'),
  'fast-png': join(ROOT, 'node_modules/fast-png/LICENSE'),
  iobuffer: join(ROOT, 'node_modules/iobuffer/LICENSE'),
  fflate: join(ROOT, 'node_modules/fflate/LICENSE'),
  hyparquet: join(ROOT, 'node_modules/hyparquet/LICENSE'),
  'onnxruntime-web': join(ROOT, 'web/licences/MIT-onnxruntime.txt'),
  '@ffmpeg/core': join(ROOT, 'web/licences/GPL-2.0.txt'),
};

/** The project's licence and notices, then the licences of all packages in the page. */
async function licencesText(): Promise<string> {
  const texts = [join(ROOT, 'LICENSE'), join(ROOT, 'THIRD-PARTY-NOTICES.md'), ...Object.values(BUNDLED)];
  const parts = await Promise.all(texts.map((file) => readFile(file, 'utf8')));
  const names = ['anyvmaf', 'Third-party notices', ...Object.keys(BUNDLED)];
  const rule = '='.repeat(80);
  return parts.map((text, i) => `${rule}\n${names[i]}\n${rule}\n\n${text.trim()}\n`).join('\n\n');
}

const packages = new Set<string>(['@ffmpeg/core', 'onnxruntime-web']);

function collectPackages(): Plugin {
  return {
    name: 'collect-packages',
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== 'chunk') continue;
        for (const id of file.moduleIds) {
          const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
          if (name !== undefined) packages.add(name);
        }
      }
    },
  };
}

/** Joins shaders in as text, as scripts/bundle.mjs does. */
function shaders(): Plugin {
  return {
    name: 'shaders',
    enforce: 'pre',
    load: async (id) =>
      id.endsWith('.wgsl') ? `export default ${JSON.stringify(await readFile(id, 'utf8'))}` : undefined,
  };
}

/** Emits the licences, and fails the build if a package's licence is missing. */
function licences(): Plugin {
  return {
    name: 'licences',
    configureServer(server) {
      server.middlewares.use(`/${LICENCES}`, (_, response, next) => {
        licencesText().then((text) => {
          response.setHeader('content-type', 'text/plain; charset=utf-8');
          response.end(text);
        }, next);
      });
    },
    async generateBundle() {
      const unnamed = [...packages].filter((name) => !(name in BUNDLED));
      if (unnamed.length > 0)
        throw new Error(
          `The page contains ${unnamed.join(', ')}, but ${LICENCES} has no licence for it; add it to web/vite.config.ts ` +
            'and to THIRD-PARTY-NOTICES.md.',
        );
      this.emitFile({ type: 'asset', fileName: LICENCES, source: await licencesText() });
    },
  };
}

/** Writes the service worker with the names of all files. */
function offline(): Plugin {
  return {
    name: 'offline',
    apply: 'build',
    // After Vite has dropped chunks that had style sheets only.
    enforce: 'post',
    async generateBundle(_, bundle) {
      const names = Object.keys(bundle).sort();
      const [entry] = names.filter((name) => {
        const file = bundle[name];
        return file?.type === 'chunk' && file.isEntry && name.includes('index');
      });
      const chunk = entry === undefined ? undefined : bundle[entry];
      const first = chunk?.type === 'chunk' ? [chunk.fileName, ...chunk.imports] : [];
      const styles = names.filter((name) => /^assets\/index-.*\.css$/.test(name));
      const shell = ['./', ...first, ...styles, 'icon.svg', 'manifest.webmanifest', 'file.js'];
      // Large and rarely needed files are cached on first use.
      const seldom = /^ffmpeg\/|^ort\/|^assets\/[nf]r_vmaf_|\.html$/;
      const rest = names.filter((name) => !shell.includes(name) && !seldom.test(name));
      const hash = createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 12);
      const code = await readFile(join(ROOT, 'web/src/sw.js'), 'utf8');
      const source = code
        .replace(/const SHELL = .*/, `const SHELL = ${JSON.stringify(shell)};`)
        .replace(/const REST = .*/, `const REST = ${JSON.stringify(rest)};`)
        .replace('BUILD', hash);
      this.emitFile({ type: 'asset', fileName: 'sw.js', source });
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [fetchedFiles(), shaders(), collectPackages(), licences(), offline()],
  resolve: {
    // The built library, the modules that its HTML report shares with the page, and its generated videos.
    alias: {
      'anyvmaf/core': join(ROOT, 'dist/core'),
      'anyvmaf/view': join(ROOT, 'dist/report/view/index.js'),
      'anyvmaf/packets': join(ROOT, 'dist/media/evidence/packets.js'),
      'anyvmaf/result-sections': join(ROOT, 'dist/search/result-sections.js'),
      'anyvmaf/sample/files': join(ROOT, 'dist/sample/files.js'),
      'anyvmaf/sample/generator': join(ROOT, 'dist/sample/generator.js'),
      anyvmaf: join(ROOT, 'dist/index.browser.js'),
    },
  },
  worker: { format: 'es', plugins: () => [shaders(), collectPackages()] },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
  server: { host: '127.0.0.1' },
  preview: { host: '127.0.0.1' },
});
