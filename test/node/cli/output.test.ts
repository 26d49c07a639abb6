/**
 * @module test/node/cli/output
 * A result file is whole or absent, and what stood there before survives a failure.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openOutput } from '../../../src/cli/output.js';

let folder = '';
const at = (name: string) => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'anyvmaf-output-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function* failing(): Generator<string> {
  yield 'half';
  throw new Error('the disk broke');
}

describe('a new file', () => {
  test('appears whole, and not before it is written', async () => {
    const output = await openOutput(at('report.json'));
    expect(readdirSync(folder)).toEqual([]);
    await output.write(['one ', 'two\n']);
    expect(readdirSync(folder)).toEqual(['report.json']);
    expect(readFileSync(at('report.json'), 'utf8')).toBe('one two\n');
  });

  test('may have the longest name that file systems take, in any script', async () => {
    const name = `${'影'.repeat(83)}.json`; // 254 bytes
    await (await openOutput(at(name))).write(['x']);
    expect(readdirSync(folder)).toEqual([name]);
  });

  test('does not appear when writing fails', async () => {
    const output = await openOutput(at('report.json'));
    await expect(output.write(failing())).rejects.toThrow(
      `cannot write "${at('report.json')}": the disk broke`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test('does not appear when the run is stopped between two pieces', async () => {
    const stop = new AbortController();
    const output = await openOutput(at('report.json'));
    const pieces = (function* () {
      yield 'half';
      stop.abort();
      yield 'whole';
    })();
    await expect(output.write(pieces, stop.signal)).rejects.toThrow();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an existing file', () => {
  test('is replaced and keeps its permissions', async () => {
    writeFileSync(at('old'), 'a long old text');
    chmodSync(at('old'), 0o640);
    await (await openOutput(at('old'))).write(['new']);
    expect(readFileSync(at('old'), 'utf8')).toBe('new');
    expect(statSync(at('old')).mode & 0o777).toBe(0o640);
  });

  test('stays as it was when writing fails', async () => {
    writeFileSync(at('old'), 'old');
    await expect((await openOutput(at('old'))).write(failing())).rejects.toThrow();
    expect(readFileSync(at('old'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['old']);
  });

  test('is written through a symbolic link, which stays', async () => {
    writeFileSync(at('old'), 'old');
    symlinkSync('old', at('link'));
    await (await openOutput(at('link'))).write(['new']);
    expect(readlinkSync(at('link'))).toBe('old');
    expect(readFileSync(at('old'), 'utf8')).toBe('new');
  });

  test('is made by writing through a link that leads nowhere yet', async () => {
    symlinkSync('later', at('link'));
    await (await openOutput(at('link'))).write(['new']);
    expect(readFileSync(at('later'), 'utf8')).toBe('new');
  });

  test('is refused when it is one of the inputs, under whatever name', async () => {
    writeFileSync(at('video'), 'frames');
    linkSync(at('video'), at('same'));
    await expect(openOutput(at('same'), ['missing', at('video')])).rejects.toMatchObject({
      code: 'usage',
      message: `the output "${at('same')}" is one of the inputs; give it another name`,
    });
    expect(readFileSync(at('video'), 'utf8')).toBe('frames');
  });
});

describe('what cannot be written is refused before the run', () => {
  test.each([
    ['a missing folder', 'no/such/report', 'its folder does not exist'],
    ['a folder', '.', 'it is a folder; name a file in it'],
    ['a file as a folder', 'file/report', 'a part of its path is a file, not a folder'],
    ['too long a name', 'x'.repeat(300), 'its path is too long'],
  ])('%s', async (_title, name, reason) => {
    writeFileSync(at('file'), '');
    await expect(openOutput(at(name))).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining(reason),
    });
  });

  test.skipIf(process.getuid?.() === 0)(
    'a folder without permission (needs a user other than root)',
    async () => {
      mkdirSync(at('locked'), { mode: 0o500 });
      await expect(openOutput(at('locked/report'))).rejects.toThrow('permission denied');
    },
  );
});

describe.skipIf(process.platform === 'win32')('devices and pipes', () => {
  test('are written to directly', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const output = await openOutput(at('pipe'));
    const [text] = await Promise.all([
      import('node:fs/promises').then(({ readFile }) => readFile(at('pipe'), 'utf8')),
      output.write(['through']),
    ]);
    expect(text).toBe('through');
    expect(statSync(at('pipe')).isFIFO()).toBe(true);
  });

  test.runIf(existsSync('/dev/full'))('a full device is an error', async () => {
    await expect((await openOutput('/dev/full')).write(['x'])).rejects.toThrow(
      'cannot write "/dev/full": the disk is full',
    );
  });
});
