/**
 * @module test/package/architecture
 * The rules of the house that a reader relies on: who may import whom, what stays free of any platform, and that every
 * file says what it is for.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/built.js';

/** Which parts a part may import from, types included. Everybody may use `core`. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  metrics: [],
  models: ['metrics'],
  media: [],
  pictures: ['media'],
  sample: ['media'],
  parsing: ['media'],
  tiny: ['metrics'],
  evaluate: ['tiny', 'parsing', 'media'],
  report: ['media', 'metrics'],
  engine: ['media', 'parsing', 'metrics', 'models', 'pictures', 'tiny', 'evaluate', 'report'],
  search: ['engine', 'media', 'models', 'report'],
  // Files behind URLs, and where they may be.
  remote: [],
  // What programs in Node share: temporary files, and the one place that opens what somebody else named.
  files: [],
  // What is too large to come with the package, and is fetched when it is needed.
  parts: ['files'],
  // Platforms implement what others declare; their worker scripts start the body that the engine brings.
  platform: [
    'engine',
    'search',
    'evaluate',
    'parsing',
    'metrics',
    'models',
    'media',
    'tiny',
    'sample',
    'files',
    'parts',
    'remote',
  ],
  public: [
    'live',
    'engine',
    'search',
    'evaluate',
    'media',
    'metrics',
    'models',
    'pictures',
    'report',
    'tiny',
  ],
  api: ['public', 'engine', 'search', 'evaluate', 'models', 'tiny'],
  // The measuring side of the live server; its thread, which talks to clients, is a door.
  live: ['engine', 'report'],
  index: ['api', 'public', 'platform', 'live'],
  'index.browser': ['api', 'public', 'platform'],
  // The queue is of Node: it has its own processes, and is driven by the command line.
  queue: ['files', 'remote'],
  bench: ['index', 'sample', 'files'],
  mcp: ['index', 'live', 'report', 'sample', 'bench', 'files'],
  cli: ['index', 'live', 'mcp', 'report', 'bench', 'files', 'parts', 'queue', 'remote'],
};

/** Parts that run unchanged in Node, browsers and workers. */
const ISOMORPHIC =
  /^(core\/(?!system-limits)|metrics|media|pictures|parsing|models|tiny|evaluate|report|engine|search|sample|public|api|index\.browser|platform\/(ffmpeg|ffmpeg-wasm|mediabunny))\b/;

/** What decoders of several platforms share. */
const SHARED_PLATFORM = /^platform\/(ffmpeg|ffmpeg-wasm|mediabunny)\//;

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, 'src', file), 'utf8') }));

/** The part of the house that a file belongs to: its folder, or its own name at the top. */
function partOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '');
}

/** Files that a file imports, types included; `lazy` also those that it loads on demand. */
function imports({ file, text }: { file: string; text: string }, lazy = true): string[] {
  const found = text.matchAll(/^(?:import|export)\s[^'";]*?\s*from\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm);
  return [...found].flatMap(([, fixed, loaded]) => {
    const name = fixed ?? (lazy ? loaded : undefined);
    return name === undefined ? [] : [normalize(join(dirname(file), name)).replace(/\.js$/, '.ts')];
  });
}

/** Files that import themselves by way of others, types included. */
function circular(): string[] {
  const graph = new Map(sources.map((source) => [source.file, imports(source, false)]));
  return [...graph.keys()].filter((file) => {
    const reached = new Set(graph.get(file));
    for (const next of reached) for (const target of graph.get(next) ?? []) reached.add(target);
    return reached.has(file);
  });
}

function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').replace(/'[^'\n]*'|`[^`]*`/g, "''");
}

describe('the house', () => {
  it('knows every part of src', () => {
    expect([...new Set(sources.map(({ file }) => partOf(file)))].sort()).toEqual(
      Object.keys(MAY_IMPORT).sort(),
    );
  });

  it('imports only downwards, types included', () => {
    const wrong = sources.flatMap((source) => {
      const part = partOf(source.file);
      const allowed = [part, 'core', ...(MAY_IMPORT[part] ?? [])];
      return imports(source)
        .filter((target) => !allowed.includes(partOf(target)))
        .map((target) => `${source.file} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  // A command's page lists all commands, which are loaded on demand: such a circle is no trouble to any of them.
  it('imports nothing in a circle, types included', () => {
    expect(circular()).toEqual([]);
  });

  it('keeps what platforms share free of each of them', () => {
    const shared = sources.filter(({ file }) => SHARED_PLATFORM.test(file));
    expect(shared.length).toBeGreaterThan(3);
    const wrong = shared.flatMap(({ file, text }) =>
      /from '[./]*(?:platform\/)?(?:node|browser)\//.test(text) ? [file] : [],
    );
    expect(wrong).toEqual([]);
  });

  it('keeps platforms out of what runs everywhere', () => {
    const wrong = sources.flatMap(({ file, text }) => {
      // The script of the HTML report is text here; it runs in the page that it is written into.
      if (!ISOMORPHIC.test(file) || file === 'report/html/viewer.ts') return [];
      const found = code(text).match(/\b(process\.|Buffer\b|require\(|__dirname|document\.|localStorage)/);
      const imported = /from 'node:|import\('node:/.test(text);
      return found || imported ? [`${file}: ${found?.[0] ?? 'node:'}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  it('opens every file with its name and what it is for', () => {
    const wrong = sources
      .filter(({ file, text }) => {
        const header = new RegExp(
          `^(#!.*\\n)?/\\*\\*\\n \\* @module ${file.replace(/\.ts$/, '').replaceAll('.', '\\.')}\\n \\* \\S`,
        );
        return !header.test(text);
      })
      .map(({ file }) => file);
    expect(wrong).toEqual([]);
  });
});
