/**
 * @module test/node/files/checked-file
 * What is opened for somebody else is a regular file where it may be, however its name leads there.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BY_USER, type Origin } from '../../../src/core/origin.js';
import { checkedStats, openAndCompare, openChecked } from '../../../src/files/checked-file.js';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'anyvmaf-checked-')));
const at = (...parts: string[]) => join(home, ...parts);
for (const folder of ['data', 'data/inner', 'database', 'outside']) mkdirSync(at(folder));
for (const file of ['data/a', 'data/inner/b', 'database/c', 'outside/secret']) writeFileSync(at(file), file);
symlinkSync(at('data/inner'), at('data/way-in'));
symlinkSync(at('outside'), at('data/way-out'));
symlinkSync(at('outside/secret'), at('data/link-out'));
if (process.platform !== 'win32') execFileSync('mkfifo', [at('data/pipe'), at('outside/pipe')]);
afterAll(() => rmSync(home, { recursive: true, force: true }));

const origin: Origin = { by: 'foreign', folders: [at('data')] };

describe.each([
  ['as this system does it', openChecked],
  ['where descriptors cannot be asked', openAndCompare],
])('a file that somebody else named, %s', (_, open) => {
  it('is opened where it lies in a folder', () => {
    for (const [name, content] of [
      ['data/a', 'data/a'],
      ['data/way-in/b', 'data/inner/b'],
    ] as const) {
      const fd = open(at(name), origin);
      expect(readFileSync(fd, 'utf8')).toBe(content);
      closeSync(fd);
    }
  });

  it.each(['database/c', 'outside/secret', 'data/link-out', 'data/way-out/secret', 'data/../outside/secret'])(
    'is refused where it lies elsewhere: %s',
    (name) => expect(() => open(at(name), origin)).toThrow('leads out of the folders that may be read'),
  );

  it('is a regular file', () => {
    expect(() => open(at('data/inner'), origin)).toThrow('EISDIR');
    expect(() => open(at('data/none'), origin)).toThrow('ENOENT');
  });

  it.runIf(process.platform !== 'win32')('is no pipe, and none is waited for', () => {
    expect(() => open(at('data/pipe'), origin)).toThrow('is not a regular file');
    expect(() => open(at('data/way-out/pipe'), origin)).toThrow('leads out of the folders');
  });

  it('may lie anywhere where no folders are given', () => {
    const fd = open(at('data/link-out'), { by: 'foreign' });
    expect(readFileSync(fd, 'utf8')).toBe('outside/secret');
    closeSync(fd);
  });
});

describe('a file', () => {
  it('that the user named is opened wherever it lies', () => {
    const fd = openChecked(at('data/link-out'), BY_USER);
    expect(readFileSync(fd, 'utf8')).toBe('outside/secret');
    closeSync(fd);
  });

  it('has the facts of what its name leads to, if that is allowed', () => {
    expect(checkedStats(at('data/way-in/b'), origin).size).toBe(12);
    expect(() => checkedStats(at('data/link-out'), origin)).toThrow('leads out of the folders');
  });
});
