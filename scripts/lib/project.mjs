/**
 * @module scripts/lib/project
 * Shared by several scripts: the repository, its build, tables in its documents, and what a script left running.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The repository. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Path of a built file; ends the process with a message if the build is missing. */
export function builtPath(path) {
  const file = join(ROOT, 'dist', path);
  if (!existsSync(file)) {
    console.error('anyvmaf is not built yet; run `npm ci` or `npm run build` first.');
    process.exit(1);
  }
  return file;
}

/** The shipped command. */
export function builtCommand() {
  return builtPath('bundle/js/main.js');
}

/** Imports a built module. */
export function loadBuilt(path) {
  return import(pathToFileURL(builtPath(path)).href);
}

/** A Markdown table. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Replaces the text between the two marks of a block in a document. */
export function replaceBlock(document, name, text) {
  const path = join(ROOT, document);
  const old = readFileSync(path, 'utf8');
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const from = old.indexOf(begin);
  const to = old.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${document} has no block "${name}"`);
  writeFileSync(path, `${old.slice(0, from)}${begin}\n\n${text}\n\n${old.slice(to)}`);
}

/** Other processes whose environment holds a text, by number: what a script started, and what that left. */
export function processesMarked(text) {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}
