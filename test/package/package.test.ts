/**
 * @module test/package/package
 * The installed package: small, complete, with the declared dependencies, working in an empty project, with declarations for
 * the oldest TypeScript in docs/api.md, and loading the live server on request only.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile, type OutputFile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../src/core/version.js';
import { y4mFile } from '../../src/sample/files.js';
import { built, npm, packed, root } from '../support/built.js';
import { anyvmafProcess, videos } from '../support/cli.js';
import { agrees, fixtureClip, readFixture } from '../support/fixtures.js';
import { testFolder } from '../support/folders.js';
import { sessionLines } from '../support/mcp-host.js';
import { tier } from '../support/tier.js';

interface PackageJson {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson;

/** Packages that are used if installed. */
const OPTIONAL: readonly string[] = 'mediabunny @mediabunny/server @ffmpeg/core onnxruntime-web webgpu'.split(
  ' ',
);

/** Packages of the queue, used if installed; only queue/connect loads them. */
const QUEUE: readonly string[] = ['bullmq', 'ioredis'];

/** Packages of the MCP server, which nothing else may load. */
const SERVER: readonly string[] =
  '@modelcontextprotocol/node @modelcontextprotocol/server fast-png jpeg-js zod'.split(' ');

/** Packages for Parquet tables, which only evaluate/table may load. */
const TABLES: readonly string[] = ['hyparquet', 'hyparquet-writer'];

const OLDEST = 'typescript-5.7';

/** Gzipped bytes of the JavaScript that a page loads at first; the rest loads on demand. */
const BUNDLE_BUDGET = 40_000;

/** The packed tarball installed into an empty project. */
const home = testFolder('package');
const project = () => join(home, 'project');
const installed = () => join(project(), 'node_modules/anyvmaf');

function bin(args: readonly string[], input = ''): string {
  const options = { cwd: project(), encoding: 'utf8', input } as const;
  return execFileSync(join(project(), 'node_modules/.bin/anyvmaf'), args, options);
}

/** Folders in node_modules of all required dependencies. */
function runtimePackages(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<
      Record<string, { readonly dev?: boolean; readonly optional?: boolean; readonly peer?: boolean }>
    >;
  };
  return Object.entries(packages)
    .filter(([folder, { dev, optional, peer }]) => folder !== '' && !dev && !optional && !peer)
    .map(([folder]) => folder);
}

beforeAll(() => {
  mkdirSync(project());
  writeFileSync(join(project(), 'package.json'), '{ "private": true, "type": "module" }');
  // Without a network, copy dependencies to where npm would install them.
  for (const folder of runtimePackages())
    cpSync(join(root, folder), join(project(), folder), { recursive: true });
  npm(['install', '--offline', '--no-audit', '--no-fund', packed().path], project(), home);
}, 120_000);

describe('the manifest', () => {
  it('has the version of reports', () => {
    expect(version).toBe(manifest.version);
  });

  it('requires the packages of the MCP server and of tables only', () => {
    expect(Object.keys(manifest.dependencies ?? {})).toEqual([...SERVER, ...TABLES].sort());
    // Peer dependencies are packages that are used if installed.
    for (const name of Object.keys(manifest.peerDependencies ?? {})) {
      expect(manifest.peerDependenciesMeta?.[name]?.optional, name).toBe(true);
    }
  });
});

describe('the packed tarball', () => {
  it('contains no stale build outputs', () => {
    const stale = packed()
      .files.map(({ path }) => path)
      .filter(
        (path) =>
          path.endsWith('.d.ts') && !existsSync(join(root, path.replace(/^dist(.*)\.d\.ts$/, 'src$1.ts'))),
      );
    expect(stale, 'delete dist and build again').toEqual([]);
  });

  it('stays below 1.2 MB, with 0.07 MB of perceptual.wasm', () => {
    console.log(`packed: ${packed().size} bytes, ${packed().files.length} files`);
    expect(packed().size).toBeLessThan(1_200_000);
  });

  it('contains every file of exports and bin', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    );
    const paths = new Set(packed().files.map(({ path }) => path));
    for (const target of [...targets, ...Object.values(manifest.bin)]) {
      const path = target.replace(/^\.\//, '');
      // A pattern matches files of a folder.
      const named = path.endsWith('/*')
        ? [...paths].filter((other) => other.startsWith(path.slice(0, -1)))
        : [path].filter((other) => paths.has(other));
      expect(named, target).not.toEqual([]);
    }
  });

  it('contains the models, the modules, the licence and the notices, and no sources or tests', () => {
    const paths = packed().files.map(({ path }) => path);
    for (const name of 'vmaf_v0.6.1 vmaf_v0.6.1neg vmaf_4k_v0.6.1 vmaf_4k_v0.6.1neg vmaf_b_v0.6.3'.split(
      ' ',
    )) {
      expect(paths).toContain(`model/${name}.json`);
    }
    expect(paths).toEqual(
      expect.arrayContaining([
        ...['wasm/anyvmaf.wasm', 'wasm/perceptual.wasm', 'LICENSE', 'THIRD-PARTY-NOTICES.md'],
      ]),
    );
    expect(paths.filter((path) => /^(src|test|scripts|\.)|\.tsbuildinfo$|\.c$/.test(path))).toEqual([]);
  });

  it('imports only its own files, Node modules and declared packages', () => {
    const named = [...Object.keys(manifest.dependencies ?? {}), ...OPTIONAL, ...QUEUE];
    const wrong = importsOf(join(installed(), 'dist')).filter(({ path, name }) =>
      name.startsWith('.')
        ? !existsSync(join(path, '..', name))
        : !name.startsWith('node:') && !named.some((known) => `${name}/`.startsWith(`${known}/`)),
    );
    expect(wrong).toEqual([]);
  });

  it('loads packages only in their own parts', () => {
    const folder = join(root, 'dist');
    const wrong = importsOf(folder).filter(({ path, name, onDemand }) => {
      const file = relative(folder, path);
      if (/^(\.|node:)/.test(name) || file.startsWith('bundle')) return false;
      // Decoders load optional packages on demand.
      if (onDemand && file.startsWith('platform') && OPTIONAL.includes(name)) return false;
      if (onDemand && file === 'queue/connect.js' && QUEUE.includes(name)) return false;
      if (file.startsWith('mcp') && SERVER.some((known) => `${name}/`.startsWith(`${known}/`))) return false;
      if (file.startsWith('pictures') && name === 'fast-png') return false;
      return !(file.startsWith('evaluate/table') && TABLES.includes(name));
    });
    expect(wrong).toEqual([]);
  });
});

/** Static and dynamic imports of the modules in a folder. */
function importsOf(folder: string): { path: string; name: string; onDemand: boolean }[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => {
      const path = join(folder, file);
      const names = readFileSync(path, 'utf8').matchAll(
        /^(?:import|export)\b(?:[\w\s{},*$]*\bfrom)?\s*["']([^"'\n]+)["']|\bimport\(["']([^"']+)["']\)/gm,
      );
      return [...names].map(([, fixed, loaded]) => ({
        path,
        name: fixed ?? loaded ?? '',
        onDemand: fixed === undefined,
      }));
    });
}

/** The entry and its static imports. */
function startBundle(files: readonly OutputFile[], outputs: Metafile['outputs']): Uint8Array {
  const names = new Set(
    Object.keys(outputs).filter((name) => outputs[name]?.entryPoint?.endsWith('index.browser.js')),
  );
  for (const name of names) {
    for (const { path, kind } of outputs[name]?.imports ?? [])
      if (kind === 'import-statement') names.add(path);
  }
  const parts = files.filter(({ path }) => [...names].some((name) => path.endsWith(name)));
  return Buffer.concat(parts.map(({ contents }) => contents));
}

describe('the browser build', () => {
  it('bundles without Node modules and stays small', async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [built('dist/bundle/js/index.browser.js')],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      // Code for decoding, pairing and preflight loads on demand, in files of its own.
      splitting: true,
      outdir: 'bundle',
      metafile: true,
      external: [...OPTIONAL],
      write: false,
      logLevel: 'silent',
    });
    const code = startBundle(outputFiles, metafile.outputs);
    const zipped = gzipSync(code, { level: 9 }).length;
    console.log(`browser bundle: ${code.length} bytes, gzip ${zipped} bytes (budget ${BUNDLE_BUDGET})`);
    expect(zipped).toBeLessThan(BUNDLE_BUDGET);
  });
});

describe('an installation in an empty project', () => {
  it('scores a pair by its command with the exact features', () => {
    const entry = readFixture('formats')[0];
    const run = entry?.runs[0];
    if (entry === undefined || run?.models === undefined) throw new Error('formats.json has no first case');
    const clip = fixtureClip(entry.clip);
    for (const side of ['reference', 'distorted'] as const) {
      writeFileSync(join(project(), `${side}.y4m`), y4mFile(clip, side, entry.clip.frames));
    }
    const models = run.models.flatMap((model) => ['--model', model]);
    const report = JSON.parse(
      bin(['reference.y4m', 'distorted.y4m', '--json', '--precision', 'max', ...models]),
    );
    for (const [metric, values] of Object.entries(run.metrics)) {
      values.forEach((value, i) => {
        const actual = report.frames[i].metrics[metric];
        expect(agrees(metric, actual, value), `${metric} of frame ${i}: ${actual}, libvmaf ${value}`).toBe(
          true,
        );
      });
    }
  });

  it('serves its tools', () => {
    const [, list] = bin(['mcp'], sessionLines({ id: 2, method: 'tools/list' }))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(list.result.tools.map(({ name }: { name: string }) => name)).toContain('vmaf_score');
  });

  it('is imported by name, WebAssembly modules included', () => {
    const script = `
      import { listModels, version } from 'anyvmaf';
      import { readFileSync } from 'node:fs';
      import { fileURLToPath } from 'node:url';
      const wasm = ['anyvmaf', 'perceptual'].map((name) =>
        WebAssembly.validate(readFileSync(fileURLToPath(import.meta.resolve('anyvmaf/' + name + '.wasm')))));
      console.log(JSON.stringify({ version, wasm, models: (await listModels()).length }));
    `;
    const node = ['--input-type=module', '-e', script];
    const output = execFileSync(process.execPath, node, { cwd: project(), encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual({ version: manifest.version, wasm: [true, true], models: 17 });
  });
});

describe(`the declarations under TypeScript ${readVersion()}`, () => {
  const PROGRAM = `
import { configure, createScorer, score, type FrameSource, type Report } from 'anyvmaf';
const report: Report = await score({ reference: 'a.y4m', distorted: new Uint8Array(8) });
const mean: number | undefined = report.pooled_metrics.vmaf?.mean;
configure({ wasm: new Uint8Array(8) });
await using scorer = await createScorer({ width: 64, height: 64, bitDepth: 8, chroma: '420' });
export type Source = FrameSource;
console.log(mean, scorer);
`;
  const folder = testFolder('types');

  beforeAll(() => {
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
    symlinkSync(root.replace(/\/$/, ''), join(folder, 'node_modules/anyvmaf'));
    for (const name of ['@types/node', 'undici-types'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
  });

  it.each(tier([''], ['', ',dom']))(
    'compile with lib es2022,esnext.disposable%s',
    (dom) => {
      const options = [
        ...['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'],
        ...['--exactOptionalPropertyTypes', '--preserveSymlinks'],
        ...['--lib', `es2022,esnext.disposable${dom}`, 'program.ts'],
      ];
      const compiler = join(root, 'node_modules', OLDEST, 'bin/tsc');
      const { stdout } = spawnSync(process.execPath, [compiler, ...options], {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(stdout).toBe('');
    },
    120_000,
  );

  it('are tested with the version in docs/api.md', () => {
    expect(readFileSync(join(root, 'docs/api.md'), 'utf8')).toContain(`TypeScript ${readVersion()} or newer`);
  });
});

function readVersion(): string {
  const { version } = JSON.parse(
    readFileSync(join(root, 'node_modules', OLDEST, 'package.json'), 'utf8'),
  ) as { readonly version: string };
  return version.split('.').slice(0, 2).join('.');
}

describe('the live server', () => {
  /** Texts of the server, its thread, its links and its control; each is in one built file. */
  const MARKS = [
    'anyvmaf-live',
    'Live quality',
    'event: ready',
    'it must be a statistic',
    'There is no model ${',
  ];
  const files = videos();

  /** Built files that a run loads, in all its threads. */
  async function loadedBy(pair: readonly string[], args: readonly string[]): Promise<ReadonlySet<string>> {
    const coverage = mkdtempSync(files.at('loaded-'));
    const { code, stderr } = await anyvmafProcess([...pair, ...args], {
      env: { NODE_V8_COVERAGE: coverage },
    });
    expect(code, stderr).toBe(0);
    const scripts = readdirSync(coverage).flatMap(
      (name): { url: string }[] => JSON.parse(readFileSync(join(coverage, name), 'utf8')).result,
    );
    return new Set(scripts.flatMap(({ url }) => (url.includes('/dist/') ? [basename(url)] : [])));
  }

  it('is loaded on request only', async () => {
    const bundle = join(built('dist/bundle/js/main.js'), '..');
    const own = readdirSync(bundle).filter((name) => {
      const text = name.endsWith('.js') ? readFileSync(join(bundle, name), 'utf8') : '';
      return MARKS.some((mark) => text.includes(mark));
    });
    expect(own.length).toBeGreaterThanOrEqual(4);
    const pair = files.pair(['reference.y4m', 'distorted.y4m'], 3);
    const plain = await loadedBy(pair, []);
    expect(plain.size).toBeGreaterThan(20);
    expect(own.filter((name) => plain.has(name))).toEqual([]);
    const live = await loadedBy(pair, ['--live', 'sse:0', '--alarm', 'p5<1']);
    expect(own.filter((name) => live.has(name)).length).toBeGreaterThanOrEqual(3);
  });
});
