/**
 * @module test/node/files/lock
 * One process at a time writes a file, by whatever name; a process that is gone keeps nobody away.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { type FileLock, lockFile } from '../../../src/files/lock.js';
import { machineMark, processMark } from '../../../src/files/scratch.js';

const root = mkdtempSync(join(tmpdir(), 'anyvmaf-lock-'));
const file = join(root, 'results.jsonl');
const locks = () => readdirSync(root).filter((name) => name.endsWith('.lock'));

afterEach(() => {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
});

afterAll(() => rmSync(root, { recursive: true }));

/** Where a lock of this file would be that a process of that mark had. */
async function lockOf(mark: string): Promise<string> {
  const own = await lockFile(file);
  const [name = ''] = locks();
  await own.release();
  return join(root, name.replace(await processMark(), mark));
}

it('a file that this process has locked cannot be locked again, until it is released', async () => {
  const lock = await lockFile(file);
  lock.require();
  await expect(lockFile(file)).rejects.toThrow('this process already writes it');
  await lock.release();
  await (await lockFile(file)).release();
  expect(locks()).toEqual([]);
});

it('links are the file that they lead to, also one that is not there yet', async () => {
  mkdirSync(join(root, 'other'));
  symlinkSync('../results.jsonl', join(root, 'other', 'link'));
  symlinkSync('other/link', join(root, 'link'));
  symlinkSync('.', join(root, 'here'));
  const names = [file, join(root, 'other', 'link'), join(root, 'link'), join(root, 'here', 'results.jsonl')];
  for (const there of [false, true]) {
    if (there) writeFileSync(file, '');
    for (const name of names) {
      const lock = await lockFile(name);
      for (const other of names) await expect(lockFile(other)).rejects.toThrow('is locked');
      await (await lockFile(join(root, 'another'))).release();
      await lock.release();
    }
  }
});

it('locks of dead processes are void: one that is gone, and one whose number another process has now', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  const mark = await machineMark();
  for (const dead of [`${mark}-${child.pid}-1`, `${mark}-${process.ppid}-1`]) {
    writeFileSync(await lockOf(dead), '');
    expect(locks()).toHaveLength(1);
    const lock = await lockFile(file);
    expect(locks()).toHaveLength(1);
    await lock.release();
  }
});

it('locks of other machines hold as long as they give signs of life', async () => {
  const other = await lockOf('zzz-123-1');
  writeFileSync(other, '');
  await expect(lockFile(file)).rejects.toThrow(/process 123 of another machine or container writes it/);
  const past = new Date(Date.now() - 3_600_000);
  utimesSync(other, past, past);
  await (await lockFile(file)).release();
  expect(locks()).toEqual([]);
});

it('a lock that was lost is noticed', async () => {
  const lock = await lockFile(file);
  rmSync(join(root, locks()[0] ?? ''));
  expect(() => lock.require()).toThrow('is gone');
  await lock.release();
});

it('of many that begin at once, at most one has it', async () => {
  const results: (FileLock | undefined)[] = [];
  // Within one process the second to come is refused at once, so that processes are needed for more.
  await Promise.all(
    Array.from({ length: 8 }, async () => results.push(await lockFile(file).catch(() => undefined))),
  );
  const held = results.filter((lock) => lock !== undefined);
  expect(held).toHaveLength(1);
  await held[0]?.release();
});

it('a folder that does not let one be made is an error that says so', async () => {
  await expect(lockFile(join(root, 'none', 'results.jsonl'))).rejects.toThrow(/cannot lock/);
});
