/**
 * @module scripts/house
 * `npm run house`: size and structure of the source tree, as a table. docs/architecture.md describes the rooms.
 *
 *   node scripts/house.mjs [--list MEASURE]
 *
 * --list  lists what one row counts: one-importer, circles, folder-circles, long, repeats, size, or an option
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'vite';
import { ROOT, table } from './lib/project.mjs';

/** Lines: of a file that may have a single importer, and of a function that fits on a screen. */
const SMALL = 60;
const SCREEN = 60;
/** Lines of a repeated block. */
const REPEAT = 12;
/** Options whose spread over files is counted. */
const OPTIONS = [
  'scaleTo',
  'frameRatePolicy',
  'allowDamaged',
  'commonBitDepth',
  'noPrediction',
  'allowUrl',
  'vmafBin',
  'skipReference',
  'noReference',
];
/** A regular expression that parses a size; not `8x4s`. */
const SIZE = /\/[^/\n]*\\d[^/\n]*\)\[?[x×][^/\n]*\\d[^/\n]*(?<!\)s\$)\//;

const sources = ['src', 'web/src'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => {
      const path = `${folder}/${file}`;
      const text = readFileSync(join(ROOT, path), 'utf8');
      return {
        path,
        text,
        lines: text.split('\n').length - 1,
        code: withoutComments(path, text),
      };
    }),
);
const library = sources.filter(({ path }) => path.startsWith('src/'));

/** Removes comments with a parser: `"shots/*.jpg"` does not start one. */
function withoutComments(path, text) {
  const { comments } = parseSync(path, text);
  return comments.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
}

/** Files that a file imports, including types and dynamic imports. */
function importsOf({ path, text }) {
  const found = text.matchAll(/^(?:import|export)\s[^'";]*?\s*from\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm);
  return [...found].map(([, fixed, loaded]) =>
    normalize(join(dirname(path), fixed ?? loaded)).replace(/\.js$/, '.ts'),
  );
}

/** Cycles of a graph, as groups of nodes. */
function circles(graph) {
  const reach = (from) => {
    const reached = new Set(graph.get(from));
    for (const next of reached) for (const target of graph.get(next) ?? []) reached.add(target);
    return reached;
  };
  const reached = new Map([...graph.keys()].map((node) => [node, reach(node)]));
  const groups = new Map();
  for (const [node, targets] of reached) {
    if (!targets.has(node)) continue;
    const group = [...targets].filter((other) => reached.get(other)?.has(node)).sort();
    groups.set(group[0], group);
  }
  return [...groups.values()];
}

const graph = new Map(library.map((source) => [source.path, importsOf(source)]));
const room = (path) => path.split('/')[1] ?? '';
/** Imports between the files or folders of a room. */
function within(name) {
  const result = new Map();
  for (const [path, targets] of graph) {
    const own = targets.filter((target) => room(target) === room(path)).map(name);
    result.set(name(path), [
      ...(result.get(name(path)) ?? []),
      ...own.filter((target) => target !== name(path)),
    ]);
  }
  return result;
}

const importers = new Map();
for (const targets of graph.values())
  for (const target of new Set(targets)) importers.set(target, (importers.get(target) ?? 0) + 1);

/** Functions that do not fit on a screen, as `path:line (lines)`. */
function longFunctions({ path, text }) {
  const found = [];
  const lineOf = (offset) => text.slice(0, offset).split('\n').length;
  const visit = (node) => {
    if (!node || typeof node !== 'object') return;
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type) && node.body) {
      const lines = lineOf(node.end) - lineOf(node.start) + 1;
      if (lines > SCREEN) found.push(`${path}:${lineOf(node.start)} (${lines} lines)`);
    }
    for (const child of Object.values(node)) {
      if (Array.isArray(child)) for (const item of child) visit(item);
      else visit(child);
    }
  };
  visit(parseSync(path, text).program);
  return found;
}

/** Repeated blocks, as `path:line path:line`. */
function repeats() {
  const seen = new Map();
  const found = [];
  for (const { path, text } of sources) {
    const lines = text.split('\n').map((line, i) => ({ line: line.trim(), number: i + 1 }));
    const code = lines.filter(
      ({ line }) => line !== '' && !/^(\*|\/\*|\/\/|import |} from|export \* )/.test(line),
    );
    let last = -REPEAT;
    for (let i = 0; i + REPEAT <= code.length; i++) {
      const key = code
        .slice(i, i + REPEAT)
        .map(({ line }) => line)
        .join('\n');
      const place = `${path}:${code[i].number}`;
      if (seen.has(key) && i >= last + REPEAT) {
        found.push(`${seen.get(key)} ${place}`);
        last = i;
      }
      if (!seen.has(key)) seen.set(key, place);
    }
  }
  return found;
}

const naming = (pattern) => sources.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
const sum = (files) => files.reduce((total, { lines }) => total + lines, 0);
const page = sources.filter((source) => !library.includes(source));

const counted = {
  'one-importer': () =>
    library
      .filter(({ path, lines }) => lines < SMALL && room(path) !== 'platform' && importers.get(path) === 1)
      .map(({ path }) => path),
  circles: () => circles(within((path) => path)).map((group) => group.join(' ')),
  'folder-circles': () => circles(within(dirname)).map((group) => group.join(' ')),
  long: () => sources.flatMap(longFunctions),
  repeats,
  size: () => naming(SIZE),
  ...Object.fromEntries(OPTIONS.map((name) => [name, () => naming(new RegExp(`\\b${name}\\b`))])),
};

const WORDS = {
  'one-importer': `files below ${SMALL} lines with one importer, outside platform`,
  circles: 'groups of files of a room that import each other, lazily too',
  'folder-circles': 'groups of folders of a room that import each other, lazily too',
  long: `functions over ${SCREEN} lines`,
  repeats: `runs of ${REPEAT} lines that stand twice`,
  size: 'files that parse WxH',
};

const [flag, wanted] = process.argv.slice(2);
if (flag === '--list') {
  if (!counted[wanted]) {
    console.error(`--list is ${wanted}, but it must be one of ${Object.keys(counted).join(', ')}.`);
    process.exit(2);
  }
  console.log(counted[wanted]().join('\n'));
} else {
  const rows = [
    [
      'src',
      `${sum(library)} lines in ${library.length} files, ${Math.round(sum(library) / library.length)} each`,
    ],
    ['web/src', `${sum(page)} lines in ${page.length} files, ${Math.round(sum(page) / page.length)} each`],
    ...Object.entries(counted).map(([name, list]) => [
      WORDS[name] ?? `files that name ${name}`,
      list().length,
    ]),
  ];
  console.log(table(['measure', 'value'], rows));
}
