/**
 * @module scripts/lib/project
 * Shared by several scripts: the repository, its build, tables in its documents, random numbers and processes.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Reads the command line of a script as `parseArgs` does. `--help` prints the comment at the head of the script's file; a
 * wrong option ends the process with status 2.
 */
export function readOptions(config) {
  try {
    const read = parseArgs({ ...config, options: { ...config.options, help: { type: 'boolean' } } });
    if (!read.values.help) return read;
  } catch ({ message }) {
    console.error(`${message.split('. ')[0]}; --help lists the options.`);
    process.exit(2);
  }
  const [, head = ''] = /^(?:#!.*\n)?\/\*\*\n(.*?) \*\/\n/s.exec(readFileSync(process.argv[1], 'utf8')) ?? [];
  console.log(head.replace(/^ \* ?/gm, '').trimEnd());
  process.exit();
}

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

/** Other processes whose environment contains a text: those that a script started, and their leftovers. */
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

/** The fields of /proc/PID/stat from the state (field 3) on; empty once the process has ended, and off Linux. */
export function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
  } catch {
    return [];
  }
}

/** Seconds of processor time of ended child processes and their descendants; NaN off Linux. */
export function childrenTime() {
  // Fields 16 and 17, in hundredths.
  const fields = statOf('self');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Mulberry32. @returns gives the next number in [0, 1) */
export function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
