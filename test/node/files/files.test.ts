/**
 * @module test/node/files/files
 * Files of others, locks, temporary and result files: nothing is opened, overwritten or removed that should not be, and a result
 * is whole or absent.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, test, vi } from 'vitest';
import { openOutput } from '../../../src/cli/output.js';
import { BY_USER, type Origin } from '../../../src/core/origin.js';
import { checkedStats, openAndCompare, openChecked } from '../../../src/files/checked-file.js';
import { keepEnds } from '../../../src/files/child-process.js';
import {
  machineMark,
  makeScratchFolder,
  processMark,
  removeScratch,
  scratchBeside,
  sweepScratch,
  writeWhole,
} from '../../../src/files/folders.js';
import { lockFile } from '../../../src/files/lock.js';
import { root } from '../../support/built.js';
import { ownFolder, testFolder } from '../../support/folders.js';
import { refusalOf } from '../../support/refusals.js';

const home = testFolder('checked');
const at = (...parts: string[]) => join(home, ...parts);
for (const folder of ['data', 'data/inner', 'database', 'outside']) mkdirSync(at(folder));
for (const file of ['data/a', 'data/inner/b', 'database/c', 'outside/secret']) writeFileSync(at(file), file);
symlinkSync(at('data/inner'), at('data/way-in'));
symlinkSync(at('outside'), at('data/way-out'));
symlinkSync(at('outside/secret'), at('data/link-out'));
if (process.platform !== 'win32') execFileSync('mkfifo', [at('data/pipe'), at('outside/pipe')]);

const origin: Origin = { by: 'foreign', folders: [at('data')] };

/** The text of an opened file, which this closes. */
function textOf(fd: number): string {
  const text = readFileSync(fd, 'utf8');
  closeSync(fd);
  return text;
}

describe.each([
  ['as this system opens it', openChecked],
  ['where the path of a descriptor is unknown', openAndCompare],
])('a file that somebody else named, %s', (_, open) => {
  it('is opened where it lies in a folder', () => {
    expect(textOf(open(at('data/a'), origin))).toBe('data/a');
    expect(textOf(open(at('data/way-in/b'), origin))).toBe('data/inner/b');
  });

  it.each(['database/c', 'outside/secret', 'data/link-out', 'data/way-out/secret', 'data/../outside/secret'])(
    'is refused where it lies elsewhere: %s',
    (name) => expect(() => open(at(name), origin)).toThrow('leads out of the allowed folders'),
  );

  it('is a regular file', () => {
    expect(() => open(at('data/inner'), origin)).toThrow('EISDIR');
    expect(() => open(at('data/none'), origin)).toThrow('ENOENT');
  });

  it.runIf(process.platform !== 'win32')('is not a pipe, and a pipe is not waited for', () => {
    expect(() => open(at('data/pipe'), origin)).toThrow('is not a regular file');
    expect(() => open(at('data/way-out/pipe'), origin)).toThrow('leads out of the allowed folders');
  });

  it('may lie anywhere where no folders are given', () => {
    expect(textOf(open(at('data/link-out'), { by: 'foreign' }))).toBe('outside/secret');
  });
});

describe('a file', () => {
  it('that the user named is opened wherever it lies', () => {
    expect(textOf(openChecked(at('data/link-out'), BY_USER))).toBe('outside/secret');
  });

  it('has the facts of what its name leads to, if that is allowed', () => {
    expect(checkedStats(at('data/way-in/b'), origin).size).toBe(12);
    expect(() => checkedStats(at('data/link-out'), origin)).toThrow('leads out of the allowed folders');
  });
});

const within = ownFolder('scratch-test');

const file = () => within('results.jsonl');
const locks = () => readdirSync(within()).filter((name) => name.endsWith('.lock'));

/** The path that a lock of this file would have if a process with that mark made it. */
async function lockOf(mark: string): Promise<string> {
  const own = await lockFile(file());
  const [name = ''] = locks();
  await own.release();
  return within(name.replace(await processMark(), mark));
}

it('a file that this process has locked cannot be locked again, until it is released', async () => {
  const lock = await lockFile(file());
  lock.require();
  await expect(lockFile(file())).rejects.toThrow('this process already writes it');
  await lock.release();
  await (await lockFile(file())).release();
  expect(locks()).toEqual([]);
});

it('a link counts as the file that it leads to, also one that is not there yet', async () => {
  mkdirSync(within('other'));
  symlinkSync('../results.jsonl', within('other', 'link'));
  symlinkSync('other/link', within('link'));
  symlinkSync('.', within('here'));
  const names = [file(), within('other', 'link'), within('link'), within('here', 'results.jsonl')];
  for (const there of [false, true]) {
    if (there) writeFileSync(file(), '');
    for (const name of names) {
      const lock = await lockFile(name);
      for (const other of names) await expect(lockFile(other)).rejects.toThrow('is locked');
      await (await lockFile(within('another'))).release();
      await lock.release();
    }
  }
});

it('locks of dead processes are void, also where another process has the number now', async () => {
  const mark = await machineMark();
  for (const dead of [`${mark}-${endedProcess()}-1`, `${mark}-${process.ppid}-1`]) {
    writeFileSync(await lockOf(dead), '');
    expect(locks()).toHaveLength(1);
    const lock = await lockFile(file());
    expect(locks()).toHaveLength(1);
    await lock.release();
  }
});

it('locks of other machines hold as long as they are renewed', async () => {
  const other = await lockOf('zzz-123-1');
  writeFileSync(other, '');
  await expect(lockFile(file())).rejects.toThrow(/process 123 of another machine or container writes it/);
  const past = new Date(Date.now() - 3_600_000);
  utimesSync(other, past, past);
  await (await lockFile(file())).release();
  expect(locks()).toEqual([]);
});

it('a lock is renewed by the clock of the file system, not by that of its machine', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: Date.now() - 3_600_000 });
  try {
    const lock = await lockFile(file());
    const path = within(locks()[0] ?? '');
    const made = statSync(path).mtimeMs;
    vi.advanceTimersByTime(10_000);
    expect(statSync(path).mtimeMs).toBeGreaterThanOrEqual(made);
    await lock.release();
  } finally {
    vi.useRealTimers();
  }
});

it('a lock that was lost is noticed', async () => {
  const lock = await lockFile(file());
  rmSync(within(locks()[0] ?? ''));
  expect(() => lock.require()).toThrow('is gone');
  await lock.release();
});

it('of many that begin at once, at most one has the lock', async () => {
  // Within one process the second is refused at once, so more would need processes.
  const tries = Array.from({ length: 8 }, () => lockFile(file()).catch(() => undefined));
  const held = (await Promise.all(tries)).filter((lock) => lock !== undefined);
  expect(held).toHaveLength(1);
  await held[0]?.release();
});

it('a folder in which no lock can be made is an error that says so', async () => {
  await expect(lockFile(within('none', 'results.jsonl'))).rejects.toThrow(/cannot create a lock file/);
});

/** A folder in which nothing has been swept yet: each folder is swept once. */
function fresh(name: string): string {
  const path = within(name);
  mkdirSync(path);
  return path;
}

/** The number of a process that has ended. */
const endedProcess = (): number => spawnSync('true').pid;

/** The parts of a name: what it is for, the machine, the process, its start, and the rest. */
async function parts(kind: 'mcp' | 'beside'): Promise<[string, string, string, string, string]> {
  const at = fresh('names');
  const made = await (kind === 'mcp' ? makeScratchFolder('mcp', at) : scratchBeside(join(at, 'x')));
  await removeScratch(made);
  const [, prefix = '', machine = '', pid = '', start = '', rest = ''] =
    /^(.*)-(\w+)-(\d+)-(\w+)-([\w.]+)$/.exec(basename(made)) ?? [];
  expect(Number(pid)).toBe(process.pid);
  return [prefix, machine, pid, start, rest];
}

it('a folder for temporary files is readable by this user only, and is deleted when it is removed', async () => {
  const path = await makeScratchFolder('mcp', within());
  expect(basename(path)).toMatch(/^anyvmaf-mcp-/);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  writeFileSync(join(path, 'a'), 'x');
  await removeScratch(path);
  expect(existsSync(path)).toBe(false);
});

it('a folder that cannot be made is an error that says what to do', async () => {
  expect(await refusalOf('io', () => makeScratchFolder('mcp', within('none')))).toBe(
    `No temporary folder can be made in "${within('none')}": no folder can be created there; name another folder with TMPDIR.`,
  );
});

it('folders of ended processes are removed, those of living ones stay', async () => {
  const [prefix, machine, pid, start] = await parts('mcp');
  const at = fresh('left');
  const dead = [prefix, machine, endedProcess(), start, 'a'].join('-');
  // The same number, but another start time: another process has the number now.
  const recycled = [prefix, machine, pid, `${start}1`, 'b'].join('-');
  const living = [prefix, machine, pid, start, 'c'].join('-');
  // A container or a machine that shares the folder has its own numbers.
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

it('symbolic links, what they lead to and files with the name of a folder stay', async () => {
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
  const [prefix, machine, , start] = await parts('mcp');
  const at = fresh('left');
  const theirs = join(at, [prefix, machine, endedProcess(), start, 'a'].join('-'));
  mkdirSync(theirs);
  chownSync(theirs, 65_534, 65_534);
  await sweepScratch(at);
  expect(existsSync(theirs)).toBe(true);
});

it('what a process left is removed when it exits, or by the next one if it was killed', async () => {
  const script = (end: string) => `
    const { makeScratchFolder } = await import(${JSON.stringify(pathToFileURL(join(root, 'dist/files/folders.js')).href)});
    await makeScratchFolder('native', process.argv[1]);
    ${end}`;
  const run = async (end: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script(end), within()]);
    await once(child, 'exit');
  };
  await run('process.exit(3)');
  expect(readdirSync(within())).toEqual([]);
  for (let killed = 0; killed < 2; killed++) {
    await run("process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})");
    expect(readdirSync(within())).toHaveLength(1);
  }
  await sweepScratch(within());
  expect(readdirSync(within())).toEqual([]);
});

it('of a lot of output, the reason at its end is kept, however it was split', async () => {
  const stream = new PassThrough();
  const kept = keepEnds(stream);
  stream.write('first\n');
  for (let i = 0; i < 100; i++) stream.write('x'.repeat(2000));
  for (const piece of ['the ', 'reason\n', 'Conversion failed!\n']) stream.write(piece);
  stream.end();
  await once(stream, 'end');
  expect(kept()).toMatch(/^first\n.*the reason\nConversion failed!\n$/s);
  expect(kept().length).toBeLessThan(150_000);
});

describe.skipIf(process.platform === 'win32')('programs that a process started', () => {
  const script = pathToFileURL(join(root, 'dist/files/child-process.js')).href;
  const isAlive = (pid: number) => {
    try {
      process.kill(pid, 0);
      return readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z';
    } catch {
      return false;
    }
  };

  it.each(['SIGKILL', 'SIGTERM'] as const)('end with it, and so do their children, on %s', async (signal) => {
    const code = `import { startChild, endChild } from ${JSON.stringify(script)};
      const short = startChild('/bin/sleep', ['600'], { stdio: 'ignore' });
      await endChild(short, new Promise((gone) => short.once('exit', gone)), []);
      const child = startChild('/bin/sh', ['-c', 'sleep 600 & echo $! $$; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
      child.stdout.pipe(process.stdout);
      setInterval(() => {}, 1000);`;
    const own = spawn(process.execPath, ['--input-type=module', '-e', code]);
    const [line] = (await once(own.stdout, 'data')) as [Buffer];
    const pids = line.toString().trim().split(' ').map(Number);
    expect(pids.map(isAlive)).toEqual([true, true]);
    own.kill(signal);
    await once(own, 'exit');
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
  });

  it('do not keep it alive once they have ended', async () => {
    const code = `import { startChild } from ${JSON.stringify(script)}; startChild('/bin/true', [], { stdio: 'ignore' });`;
    const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { timeout: 20_000 });
    expect(status).toBe(0);
  });
});

function* failing(): Generator<string> {
  yield 'half';
  throw new Error('the disk broke');
}

describe('a new output file', () => {
  test('appears whole, and not before it is written', async () => {
    const output = await openOutput(within('report.json'));
    expect(readdirSync(within())).toEqual([]);
    await output.write(['one ', 'two\n']);
    expect(readdirSync(within())).toEqual(['report.json']);
    expect(readFileSync(within('report.json'), 'utf8')).toBe('one two\n');
  });

  test('may have the longest name that file systems take, in any script', async () => {
    const name = `${'影'.repeat(83)}.json`; // 254 bytes
    await (await openOutput(within(name))).write(['x']);
    expect(readdirSync(within())).toEqual([name]);
  });

  test('does not appear when writing fails', async () => {
    const output = await openOutput(within('report.json'));
    const why = `cannot write "${within('report.json')}": the disk broke`;
    await expect(output.write(failing())).rejects.toThrow(why);
    expect(readdirSync(within())).toEqual([]);
  });

  test('does not appear when the run is stopped between two pieces', async () => {
    const stop = new AbortController();
    const output = await openOutput(within('report.json'));
    const pieces = (function* () {
      yield 'half';
      stop.abort();
      yield 'whole';
    })();
    await expect(output.write(pieces, stop.signal)).rejects.toThrow();
    expect(readdirSync(within())).toEqual([]);
  });
});

describe('an existing output file', () => {
  test('is replaced and keeps its permissions', async () => {
    writeFileSync(within('old'), 'a long old text');
    chmodSync(within('old'), 0o640);
    await (await openOutput(within('old'))).write(['new']);
    expect(readFileSync(within('old'), 'utf8')).toBe('new');
    expect(statSync(within('old')).mode & 0o777).toBe(0o640);
  });

  test('stays as it was when writing fails', async () => {
    writeFileSync(within('old'), 'old');
    await expect((await openOutput(within('old'))).write(failing())).rejects.toThrow();
    expect(readFileSync(within('old'), 'utf8')).toBe('old');
    expect(readdirSync(within())).toEqual(['old']);
  });

  test('is written through a symbolic link, which stays', async () => {
    writeFileSync(within('old'), 'old');
    symlinkSync('old', within('link'));
    await (await openOutput(within('link'))).write(['new']);
    expect(readlinkSync(within('link'))).toBe('old');
    expect(readFileSync(within('old'), 'utf8')).toBe('new');
  });

  test('is made by writing through a link that leads nowhere yet', async () => {
    symlinkSync('later', within('link'));
    await (await openOutput(within('link'))).write(['new']);
    expect(readFileSync(within('later'), 'utf8')).toBe('new');
  });

  test('is refused when it is one of the inputs, under whatever name', async () => {
    writeFileSync(within('video'), 'frames');
    linkSync(within('video'), within('same'));
    const sentence = await refusalOf('usage', () => openOutput(within('same'), ['missing', within('video')]));
    expect(sentence).toBe(`the output "${within('same')}" is one of the inputs; give it another name`);
    // A file of that name would surprise.
    expect(await refusalOf('usage', () => openOutput('-'))).toMatch(/the output is "-".*the name of a file/);
    expect(readFileSync(within('video'), 'utf8')).toBe('frames');
  });
});

describe('what cannot be written is refused before the run', () => {
  test.each([
    ['a missing folder', 'no/such/report', 'its folder does not exist'],
    ['a folder', '.', 'it is a folder; name a file in it'],
    ['a file as a folder', 'file/report', 'a part of its path is a file, not a folder'],
    ['too long a name', 'x'.repeat(300), 'its path is too long'],
  ])('%s', async (_title, name, reason) => {
    writeFileSync(within('file'), '');
    expect(await refusalOf('io', () => openOutput(within(name)))).toContain(reason);
  });

  test.skipIf(process.getuid?.() === 0)(
    'a folder without permission (needs a user other than root)',
    async () => {
      mkdirSync(within('locked'), { mode: 0o500 });
      await expect(openOutput(within('locked/report'))).rejects.toThrow('permission denied');
    },
  );
});

describe.skipIf(process.platform === 'win32')('devices and pipes', () => {
  test('are written to directly', async () => {
    execFileSync('mkfifo', [within('pipe')]);
    const output = await openOutput(within('pipe'));
    const [text] = await Promise.all([readFile(within('pipe'), 'utf8'), output.write(['through'])]);
    expect(text).toBe('through');
    expect(statSync(within('pipe')).isFIFO()).toBe(true);
  });

  test.runIf(existsSync('/dev/full'))('a full device is an error', async () => {
    const output = await openOutput('/dev/full');
    await expect(output.write(['x'])).rejects.toThrow('cannot write "/dev/full": the disk is full');
  });
});
