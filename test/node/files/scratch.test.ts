/**
 * @module test/node/files/scratch
 * Temporary files and folders: what a process that has ended left is removed, and nothing else is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  makeScratchFolder,
  removeScratch,
  scratchBeside,
  sweepScratch,
  writeWhole,
} from '../../../src/files/scratch.js';
import { root } from '../../support/built.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'anyvmaf-scratch-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A folder in which nothing has been swept yet, as sweeping is once for each folder. */
function fresh(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

/** The number of a process that has ended. */
function endedProcess(): number {
  const { pid } = spawnSync(process.execPath, ['--version']);
  return pid;
}

/** The parts of a name: what it is for, the machine, the process, its start, and the rest. */
async function parts(kind: 'mcp' | 'beside'): Promise<[string, string, string, string, string]> {
  const made =
    kind === 'mcp'
      ? await makeScratchFolder('mcp', fresh('names'))
      : await scratchBeside(join(fresh('names'), 'x'));
  await removeScratch(made);
  const [, prefix = '', machine = '', pid = '', start = '', rest = ''] =
    /^(.*)-(\w+)-(\d+)-(\w+)-([\w.]+)$/.exec(basename(made)) ?? [];
  expect(Number(pid)).toBe(process.pid);
  return [prefix, machine, pid, start, rest];
}

it('a folder is readable by this user only, and goes when it is removed', async () => {
  const path = await makeScratchFolder('mcp', folder);
  expect(basename(path)).toMatch(/^anyvmaf-mcp-/);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  writeFileSync(join(path, 'a'), 'x');
  await removeScratch(path);
  expect(existsSync(path)).toBe(false);
});

it('a folder that cannot be made is an error that says what to do', async () => {
  await expect(makeScratchFolder('mcp', join(folder, 'none'))).rejects.toMatchObject({
    code: 'io',
    message: `No temporary folder can be made in "${join(folder, 'none')}": no folder can be made there; name another with TMPDIR.`,
  });
});

it('folders of ended processes are removed, those of living ones stay', async () => {
  const [prefix, machine, pid, start] = await parts('mcp');
  const at = fresh('left');
  const dead = [prefix, machine, endedProcess(), start, 'a'].join('-');
  // The same number, but a process that started at another time: the number was given to another one.
  const recycled = [prefix, machine, pid, `${start}1`, 'b'].join('-');
  const living = [prefix, machine, pid, start, 'c'].join('-');
  // A container or a machine that shares the folder has numbers of its own.
  const elsewhere = [prefix, `${machine}0`, endedProcess(), start, 'd'].join('-');
  const foreign = ['anyvmaf-other', 'anyvmaf-mcp-', 'anyvmaf-mcp-x-1-y', `${dead}.bak`];
  for (const name of [dead, recycled, living, elsewhere, ...foreign]) {
    mkdirSync(join(at, name));
    writeFileSync(join(at, name, 'file'), 'x');
  }
  await sweepScratch(at);
  const stays = process.platform === 'linux' ? [] : [recycled];
  expect(readdirSync(at).sort()).toEqual([living, elsewhere, ...foreign, ...stays].sort());
});

it('half-written files of ended processes are removed when another is written there', async () => {
  const [prefix, machine, , start, rest] = await parts('beside');
  const at = fresh('left');
  writeFileSync(join(at, [prefix, machine, endedProcess(), start, rest].join('-')), 'half');
  writeFileSync(join(at, 'report.json'), 'old');
  await writeWhole(join(at, 'report.json'), 'whole');
  expect(readdirSync(at)).toEqual(['report.json']);
  expect(readFileSync(join(at, 'report.json'), 'utf8')).toBe('whole');
});

it('symbolic links and things of another kind stay, and so does what links lead to', async () => {
  const [prefix, machine, , start] = await parts('mcp');
  const [at, outside] = [fresh('left'), fresh('outside')];
  writeFileSync(join(outside, 'precious'), 'x');
  const name = (suffix: string) => join(at, [prefix, machine, endedProcess(), start, suffix].join('-'));
  const link = name('link');
  symlinkSync(outside, link);
  writeFileSync(name('file'), 'a folder has this name, no file');
  const holder = name('holder');
  mkdirSync(holder);
  symlinkSync(outside, join(holder, 'inner'));
  await sweepScratch(at);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(existsSync(holder)).toBe(false);
  expect(readdirSync(at)).toHaveLength(2);
  expect(readdirSync(outside)).toEqual(['precious']);
});

it.skipIf(process.getuid?.() !== 0)('what belongs to another user stays (needs root)', async () => {
  const { chownSync } = await import('node:fs');
  const [prefix, machine, , start] = await parts('mcp');
  const at = fresh('left');
  const theirs = join(at, [prefix, machine, endedProcess(), start, 'a'].join('-'));
  mkdirSync(theirs);
  chownSync(theirs, 65_534, 65_534);
  await sweepScratch(at);
  expect(existsSync(theirs)).toBe(true);
});

it('what a process has not removed goes when it exits, and stays for the next one when it is killed', async () => {
  const script = (end: string) => `
    const { makeScratchFolder } = await import(${JSON.stringify(pathToFileURL(join(root, 'dist/files/scratch.js')).href)});
    await makeScratchFolder('native', process.argv[1]);
    ${end}`;
  const run = async (end: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script(end), folder]);
    await once(child, 'exit');
  };
  await run('process.exit(3)');
  expect(readdirSync(folder)).toEqual([]);
  await run("process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})");
  expect(readdirSync(folder)).toHaveLength(1);
  await run("process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})");
  expect(readdirSync(folder)).toHaveLength(1);
  await sweepScratch(folder);
  expect(readdirSync(folder)).toEqual([]);
});
