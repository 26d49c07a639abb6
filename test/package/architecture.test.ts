/**
 * @module test/package/architecture
 * The rules of the house that a reader relies on: who may import whom, what stays free of any platform, and that every
 * file says what it is for.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/built.js';

/** Which parts a part may call. Everybody may use those at the top; types may come from anywhere below. */
const MAY_CALL: Readonly<Record<string, readonly string[]>> = {
  choices: [],
  arguments: [],
  errors: [],
  hint: [],
  limits: [],
  nearest: [],
  numbers: [],
  presets: [],
  printable: [],
  'system-limits': [],
  version: [],
  // What programs in Node share: temporary files, and the one place that opens what somebody else named.
  files: [],
  core: [],
  media: ['core'],
  parsing: ['media'],
  sample: [],
  model: ['core'],
  tiny: ['core'],
  report: ['core'],
  backend: ['core'],
  score: ['media', 'parsing', 'backend', 'model', 'tiny', 'report', 'core'],
  // Platforms implement what media and score declare; their worker scripts start the body that score brings.
  platform: ['score', 'media', 'parsing', 'backend', 'tiny', 'core', 'files'],
  public: ['core', 'report'],
  index: ['public', 'score', 'model', 'tiny', 'platform'],
  'index.browser': ['public', 'score', 'model', 'tiny', 'platform'],
  bench: ['index', 'sample', 'files'],
  mcp: ['index', 'report', 'sample', 'bench', 'files'],
  cli: ['index', 'mcp', 'report', 'bench', 'files'],
};

/** Single files at the top of `src` that everybody may use. */
const TOP = [
  'arguments',
  'choices',
  'errors',
  'hint',
  'limits',
  'nearest',
  'numbers',
  'presets',
  'printable',
  'system-limits',
  'version',
];

/** Parts that run unchanged in Node, browsers and workers. */
const ISOMORPHIC =
  /^(core|media|parsing|model|tiny|report|score|backend|sample|public|arguments|choices|errors|hint|limits|nearest|numbers|presets|printable|version|index\.browser|platform\/(ffmpeg|wasm|mediabunny))\b/;

/** What decoders of several platforms share. */
const SHARED_PLATFORM = /^platform\/(ffmpeg|wasm|mediabunny)\//;

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, 'src', file), 'utf8') }));

/** The part of the house that a file belongs to: its folder, or its own name at the top. */
function partOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '');
}

/** Files that a file imports at run time. */
function calls({ file, text }: { file: string; text: string }): string[] {
  const imports = text.matchAll(
    /^(?:import|export)\s+(?!type\b)([^'";]*?)\s*from\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  );
  return [...imports].flatMap(([, names = '', fixed, loaded]) => {
    const inner = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1]; // all names of it types: gone after compilation
    if (inner?.split(',').every((name) => /^\s*(type\s|$)/.test(name))) return [];
    return [normalize(join(dirname(file), fixed ?? loaded ?? '')).replace(/\.js$/, '.ts')];
  });
}

function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').replace(/'[^'\n]*'|`[^`]*`/g, "''");
}

describe('the house', () => {
  it('knows every part of src', () => {
    expect([...new Set(sources.map(({ file }) => partOf(file)))].sort()).toEqual(
      Object.keys(MAY_CALL).sort(),
    );
  });

  it('calls only downwards', () => {
    const wrong = sources.flatMap((source) => {
      const part = partOf(source.file);
      const allowed = [part, ...TOP, ...(MAY_CALL[part] ?? [])];
      return calls(source)
        .filter((target) => !allowed.includes(partOf(target)))
        .map((target) => `${source.file} calls ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('keeps what everybody uses free of everything above, types included', () => {
    const wrong = sources
      .filter(({ file }) => TOP.includes(partOf(file)))
      .flatMap(({ file, text }) =>
        [...text.matchAll(/\bfrom '\.\/([\w-]+)(?:\.js'|\/)/g)]
          .filter(([, part = '']) => ![...TOP, 'core'].includes(part))
          .map(([whole]) => `${file}: ${whole}`),
      );
    expect(wrong).toEqual([]);
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
