/**
 * @module test/package/architecture
 * Rules of the sources: allowed imports, platform-independent parts, words allowed in messages, linear regular expressions,
 * scripts that load built modules.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import { built, root } from '../support/built.js';

/** Parts that each part may import from, types included; all may import `core`. */
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
  // Files behind URLs, and allowed locations.
  remote: [],
  // Shared by programs in Node: temporary files, and opening files named by others.
  files: [],
  // Optional components, fetched on demand.
  parts: ['files'],
  // Platforms implement interfaces of others; their worker scripts run the engine's code.
  platform: 'engine search evaluate parsing metrics models media tiny sample files parts remote'.split(' '),
  public: 'live engine search evaluate media metrics models pictures report tiny'.split(' '),
  api: ['public', 'engine', 'search', 'evaluate', 'models', 'tiny'],
  // The measuring side of the live server; the thread that serves clients is a door.
  live: ['engine', 'report'],
  index: ['api', 'public', 'platform', 'live'],
  'index.browser': ['api', 'public', 'platform'],
  // The queue needs Node: it starts processes and is used by the command line.
  queue: ['files', 'remote'],
  bench: ['index', 'report', 'sample', 'files'],
  mcp: ['index', 'live', 'report', 'sample', 'bench', 'files'],
  cli: ['index', 'live', 'mcp', 'report', 'bench', 'files', 'parts', 'queue', 'remote'],
};

/** Parts that run unchanged in Node, browsers and workers. */
const ISOMORPHIC =
  /^(core\/(?!system-limits)|metrics|media|pictures|parsing|models|tiny|evaluate|report|engine|search|sample|public|api|index\.browser|platform\/(ffmpeg|ffmpeg-wasm|mediabunny))\b/;

/** Shared by the decoders of several platforms. */
const SHARED_PLATFORM = /^platform\/(ffmpeg|ffmpeg-wasm|mediabunny)\//;

interface Source {
  readonly file: string;
  readonly text: string;
}

/** Files of a folder, with paths within it. */
function filesOf(folder: string, ext = '.ts'): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ext))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(root, folder, file), 'utf8') }));
}

const sources = filesOf('src');
/** Including the page's, with paths within the repository. */
const allSources = ['src', 'web/src'].flatMap((folder) =>
  filesOf(folder).map(({ file, text }) => ({ file: `${folder}/${file}`, text })),
);

/** The part of a file: its top folder, or its own name at the top. */
function partOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '');
}

/** Files that a file imports, including types and dynamic imports. */
function imports({ file, text }: Source): string[] {
  const found = text.matchAll(/^(?:import|export)\s[^'";]*?\s*from\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm);
  return [...found].flatMap(([, fixed, loaded]) => {
    const name = fixed ?? loaded;
    return name === undefined ? [] : [normalize(join(dirname(file), name)).replace(/\.js$/, '.ts')];
  });
}

/** Nodes of a graph that reach themselves. */
function circular(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  return [...graph.keys()].filter((from) => {
    const reached = new Set(graph.get(from));
    for (const next of reached) for (const target of graph.get(next) ?? []) reached.add(target);
    return reached.has(from);
  });
}

/** By folder, the other folders of its part that its files import from. */
function folders(): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map<string, Set<string>>();
  for (const source of sources) {
    const from = dirname(source.file);
    const known = graph.get(from) ?? new Set();
    for (const target of imports(source)) {
      const to = dirname(target);
      if (to !== from && partOf(target) === partOf(source.file)) known.add(to);
    }
    graph.set(from, known);
  }
  return graph;
}

function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').replace(/'[^'\n]*'|`[^`]*`/g, "''");
}

describe('imports', () => {
  it('have a rule for every part of src', () => {
    expect([...new Set(sources.map(({ file }) => partOf(file)))].sort()).toEqual(
      Object.keys(MAY_IMPORT).sort(),
    );
  });

  it('only go downwards, types included', () => {
    const wrong = sources.flatMap((source) => {
      const part = partOf(source.file);
      const allowed = [part, 'core', ...(MAY_IMPORT[part] ?? [])];
      return imports(source)
        .filter((target) => !allowed.includes(partOf(target)))
        .map((target) => `${source.file} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('form no circles between files, types and dynamic imports included', () => {
    expect(circular(new Map(sources.map((source) => [source.file, imports(source)])))).toEqual([]);
  });

  it('form no circles between folders of a part', () => {
    expect(circular(folders())).toEqual([]);
  });

  it('of shared platform code avoid single platforms', () => {
    const shared = sources.filter(({ file }) => SHARED_PLATFORM.test(file));
    expect(shared.length).toBeGreaterThan(3);
    const wrong = shared.flatMap(({ file, text }) =>
      /from '[./]*(?:platform\/)?(?:node|browser)\//.test(text) ? [file] : [],
    );
    expect(wrong).toEqual([]);
  });

  it('and globals of isomorphic parts avoid platforms', () => {
    const wrong = sources.flatMap(({ file, text }) => {
      // The script of the HTML report is only written here; it runs in browsers.
      if (!ISOMORPHIC.test(file) || file === 'report/html/viewer.ts') return [];
      const found = code(text).match(/\b(process\.|Buffer\b|require\(|__dirname|document\.|localStorage)/);
      const imported = /from 'node:|import\('node:/.test(text);
      return found || imported ? [`${file}: ${found?.[0] ?? 'node:'}`] : [];
    });
    expect(wrong).toEqual([]);
  });
});

describe('sources', () => {
  it('begin with their module name and purpose', () => {
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

// Below the doors (command line, MCP, page), errors state their remedies as data, and no code parses messages.

/** Parts below the doors, without the words for options. */
const BELOW =
  /^src\/(core(?!\/option-words)|metrics|models|media|pictures|engine|tiny|evaluate|report|parsing|platform|files|index|public)\b/;

/** Files that start programs. */
const COMMAND_LINES = [
  'src/engine/backends/native/command.ts',
  'src/platform/node/workers.ts',
  'src/platform/node/tiny/runtimes.ts',
  'src/report/bandwidth.ts',
];

/** Flags of npm and Node.js, which all doors share, and strings that are a single argument or CSS property. */
const FOREIGN = /npm install [^)]*|NODE_OPTIONS=\S+|(['"`])--[a-z-]+\1/g;

/** In a string; CSS properties look alike, but are followed by a colon or in brackets. */
const FLAG = /['"`](?:.*[^\w(-])?--[a-z][a-z_-]*(?![\w-]*[:$])/;
const COMMAND =
  /['"`].*\banyvmaf (align|backends|bench|doctor|features|heatmap|inspect|mcp|models|score|setup|tiny)\b/;
const VARIABLE = /['"`].*\b(VMAF_BIN|ANYVMAF_[A-Z]+)\b/;

const READ =
  /\.message\b[^;]*\.(replace|replaceAll|match|matchAll|search|split)\(\s*\/|\/[a-z]*\.(test|exec)\([^)]*\.message\b/;

function lines(pattern: RegExp, files: (file: string) => boolean): string[] {
  return allSources
    .filter(({ file }) => files(file))
    .flatMap(({ file, text }) =>
      text
        .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        .replace(FOREIGN, '')
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
}

describe('below the doors', () => {
  it('no string names a flag', () => {
    expect(lines(FLAG, (file) => BELOW.test(file) && !COMMAND_LINES.includes(file))).toEqual([]);
  });
  it('no string names a command', () => {
    expect(lines(COMMAND, (file) => BELOW.test(file))).toEqual([]);
  });
  it('no string names an environment variable, except where Node reads it', () => {
    expect(lines(VARIABLE, (file) => BELOW.test(file) && !file.startsWith('src/platform/node/'))).toEqual([]);
  });
  it('violations are detected', () => {
    for (const text of ["'pass --scale bicubic'", '`; pass --allow-url, or`', "'--offset 12'"])
      expect(text).toMatch(FLAG);
    expect("  'run anyvmaf models pull x'").toMatch(COMMAND);
    expect("/a/i.test(failure.message) && error.message.replace(/\\.$/, '')").toMatch(READ);
  });
});

describe('everywhere', () => {
  it('no regular expression is applied to a message', () => {
    expect(lines(READ, () => true)).toEqual([]);
  });
});

// Most regular expressions run on untrusted text, so all must take linear time.

const LENGTH = 30_000;

/** Milliseconds of CPU time: a linear one takes less than 3, a quadratic one a second. */
const MOST = 100;

/** Representatives of character classes. */
const ALPHABET = [...'aAfx019 \t\n\r.,:;-+_"\'/\\=<>|{}[]()#!&e\0\u2028'];

interface Found {
  readonly where: string;
  readonly pattern: RegExp;
}

/** Every literal of a file, also within templates. */
function literals({ file, text }: Source): Found[] {
  const found: Found[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'regex') {
        const { pattern, flags } = value as { pattern: string; flags: string };
        found.push({ where: `${file}: /${pattern}/${flags}`, pattern: new RegExp(pattern, flags) });
      } else walk(value);
    }
  };
  walk(parseSync(file, text).program);
  return found;
}

const PIECES = [...ALPHABET, '0.', ' =', 'a=', '""', ': ', 'a b', '1:', '--', '[a]'];

/** Texts that repeat a character or a word of the pattern, and end without a match. */
function* texts({ source }: RegExp): Generator<string> {
  const words = source.split(/[^A-Za-z0-9 <>!:;=&"'-]+/).filter((word) => word.length > 1);
  for (const piece of new Set([...PIECES, ...words])) {
    const long = piece.repeat(Math.ceil(LENGTH / piece.length));
    for (const start of ['', '<a ', '[']) for (const end of ['\u0001', 'x!']) yield start + long + end;
  }
}

/** Milliseconds of CPU time, which hardly depends on the load of the machine. */
function time(pattern: RegExp, text: string): number {
  const start = process.cpuUsage();
  pattern.lastIndex = 0;
  if (pattern.global) text.replace(pattern, '');
  else pattern.exec(text);
  return process.cpuUsage(start).user / 1000;
}

/** The start of the first text that takes too long in three tries. */
function slowText(pattern: RegExp): string | undefined {
  for (const text of texts(pattern))
    if ([0, 1, 2].every(() => time(pattern, text) > MOST)) return JSON.stringify(text.slice(0, 12));
  return undefined;
}

describe('regular expressions', () => {
  const all = allSources.flatMap(literals);

  it('are all found', () => {
    expect(all.length).toBeGreaterThan(200);
  });

  it('take linear time', () => {
    const unbounded = all.filter(({ pattern }) => /[*+]|\{\d+,\}/.test(pattern.source));
    const slow = unbounded.flatMap(({ where, pattern }) => {
      const text = slowText(pattern);
      return text === undefined ? [] : [`${where} on ${text}...`];
    });
    expect(slow).toEqual([]);
  }, 120_000);
});

/** Modules loaded by `load` or `loadBuilt`, with the names taken from each. */
function loaded(text: string): { path: string; names: string[] }[] {
  const calls = text.matchAll(/(?:const\s+\{([^}]*)\}\s*=\s*await\s+)?\bload(?:Built)?\(\s*'([^']+\.js)'/g);
  return [...calls].map(([, taken = '', path = '']) => ({
    path,
    names: taken.split(',').flatMap((name) => name.split(':')[0]?.trim() || []),
  }));
}

describe('scripts', () => {
  it('load built modules and exported names', async () => {
    built('dist/index.js');
    const missing: string[] = [];
    let seen = 0;
    for (const { file, text } of ['scripts', 'training'].flatMap((folder) => filesOf(folder, '.mjs'))) {
      for (const { path, names } of loaded(text)) {
        const module = join(root, 'dist', path);
        seen++;
        if (!existsSync(module)) missing.push(`${file}: ${path}`);
        else if (names.length > 0) {
          const exported: object = await import(pathToFileURL(module).href);
          missing.push(
            ...names.filter((name) => !(name in exported)).map((name) => `${file}: ${path} ${name}`),
          );
        }
      }
    }
    expect(missing).toEqual([]);
    expect(seen).toBeGreaterThan(30);
  });
});
