/**
 * @module test/node/mcp/files
 * Tools reach files under the allowed roots and nothing else, and learn nothing of what lies outside.
 */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInside } from '../../../src/files/checked-file.js';
import { AllowedFiles, findRoots, splitRoots } from '../../../src/mcp/files.js';
import { seeded } from '../../support/random.js';

const posix = process.platform !== 'win32';

let home = '';
let files: AllowedFiles;
const at = (...parts: string[]) => join(home, ...parts);

beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'anyvmaf-files-')));
  for (const folder of ['data', 'data/inner', 'database', 'elsewhere']) mkdirSync(at(folder));
  for (const file of ['data/a.yuv', 'data/inner/b.yuv', 'database/c.yuv', 'elsewhere/secret.yuv'])
    writeFileSync(at(file), 'x');
  symlinkSync(at('data/a.yuv'), at('data/link-in'));
  symlinkSync(at('elsewhere/secret.yuv'), at('data/link-out'));
  symlinkSync(at('elsewhere'), at('data/folder-out'));
  symlinkSync(at('elsewhere/nothing'), at('data/dangling-out'));
  symlinkSync(at('data/loop'), at('data/loop'));
  symlinkSync(at('data'), at('way-in'));
  files = new AllowedFiles([at('data')], at('data'));
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

const refused = /is not under an allowed folder; start the server with --allow DIR, or set ANYVMAF_MCP_ALLOW/;

describe('input files', () => {
  it('are found by whole and by relative paths, and by way of links that stay inside', async () => {
    expect(await files.resolveInput(at('data/a.yuv'))).toBe(at('data/a.yuv'));
    expect(await files.resolveInput('inner/b.yuv')).toBe(at('data/inner/b.yuv'));
    expect(await files.resolveInput('inner/../a.yuv')).toBe(at('data/a.yuv'));
    expect(await files.resolveInput(at('data/link-in'))).toBe(at('data/a.yuv'));
    expect(await files.resolveInput(at('way-in/a.yuv'))).toBe(at('data/a.yuv'));
  });

  it.each([
    'elsewhere/secret.yuv',
    'database/c.yuv',
    'data/../elsewhere/secret.yuv',
    'data/link-out',
    'data/folder-out/secret.yuv',
    'data/dangling-out',
    'data/loop',
    '..',
    '.',
  ])('are refused outside: %s', async (path) => {
    await expect(files.resolveInput(at(path))).rejects.toThrow(refused);
  });

  it('outside are told in the same words whether they exist or not', async () => {
    const told = async (path: string) => {
      const error = await files.resolveInput(path).catch((reason: unknown) => reason);
      return error instanceof Error ? error.message.replace(JSON.stringify(path), 'PATH') : 'allowed';
    };
    const there = await told(at('elsewhere/secret.yuv'));
    expect(await told(at('elsewhere/nothing.yuv'))).toBe(there);
    expect(await told(at('elsewhere'))).toBe(there);
    expect(await told(at('elsewhere/secret.yuv/below'))).toBe(there);
    // By way of a link that leads out, too.
    expect(await told(at('data/folder-out/secret.yuv'))).toBe(there);
    expect(await told(at('data/folder-out/nothing.yuv'))).toBe(there);
  });

  it('that are missing inside are told as missing', async () => {
    await expect(files.resolveInput('nothing.yuv')).rejects.toThrow('"nothing.yuv" does not exist');
    await expect(files.resolveInput('a.yuv/below')).rejects.toThrow('does not exist');
    await expect(files.resolveInput(`${'n'.repeat(300)}.yuv`)).rejects.toThrow('does not exist');
  });

  it('must be regular files', async () => {
    await expect(files.resolveInput(at('data/inner'))).rejects.toThrow('is a folder, but a file is needed');
  });

  it.runIf(posix)('are never FIFOs, sockets or devices, and looking does not wait for a writer', async () => {
    execFileSync('mkfifo', [at('data/fifo')]);
    await expect(files.resolveInput('fifo')).rejects.toThrow('is not a regular file');
    const server = createServer().listen(at('data/socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    await expect(files.resolveInput('socket')).rejects.toThrow('is not a regular file');
    await new Promise((resolve) => server.close(resolve));
    const devices = new AllowedFiles(['/dev'], '/');
    await expect(devices.resolveInput('/dev/zero')).rejects.toThrow('is not a regular file');
    await expect(files.resolveInput('/dev/zero')).rejects.toThrow(refused);
    await expect(files.resolveInput('/dev/stdin')).rejects.toThrow(refused);
    await expect(files.resolveInput('/proc/self/environ')).rejects.toThrow(refused);
  });

  it('are compared with their letters as they are, on file systems that know the difference', async () => {
    expect(isInside('/data', '/DATA/a', false)).toBe(false);
    expect(isInside('/data', '/DATA/a', true)).toBe(true);
  });

  it('have names that can be one', async () => {
    await expect(files.resolveInput('')).rejects.toThrow('a path is empty');
    await expect(files.resolveInput('  ')).rejects.toThrow('a path is empty');
    await expect(files.resolveInput('a.yuv\0.png')).rejects.toThrow('contains a NUL character');
    const long = await files.resolveInput('x/'.repeat(500_000)).catch((error: Error) => error.message);
    expect(long).toContain('a path of 1000000 characters is too long');
    expect(String(long).length).toBeLessThan(400);
  });

  it('may be given by an address of the server itself', async () => {
    const own = new AllowedFiles([at('data')], at('data'), async (uri) =>
      uri === 'anyvmaf://a'
        ? at('data/a.yuv')
        : uri === 'anyvmaf://out'
          ? at('elsewhere/secret.yuv')
          : undefined,
    );
    expect(await own.resolveInput('anyvmaf://a')).toBe(at('data/a.yuv'));
    // The address changes nothing about what is allowed.
    await expect(own.resolveInput('anyvmaf://out')).rejects.toThrow(refused);
    await expect(own.resolveInput('anyvmaf://other')).rejects.toThrow('does not exist');
  });

  it('hold against a thousand random paths', async () => {
    const random = seeded(0x66696c65);
    const parts = [
      '..',
      '.',
      '',
      'data',
      'inner',
      'elsewhere',
      'secret.yuv',
      'a.yuv',
      'folder-out',
      'link-out',
      '~',
    ];
    for (let i = 0; i < 1000; i++) {
      const path = Array.from({ length: random.int(1, 7) }, () => random.pick(parts)).join(
        random.pick(['/', '//']),
      );
      const start = random.pick(['', '/', `${home}/`, `${at('data')}/`]);
      const real = await files.resolveInput(start + path).catch(() => undefined);
      if (real !== undefined) expect(real, `seed ${random.seed}: ${start + path}`).toMatch(`${at('data')}/`);
    }
  });
});

describe('output files', () => {
  it('may be new or replace a regular file, in a folder that exists', async () => {
    expect(await files.resolveOutput('new.json')).toBe(at('data/new.json'));
    expect(await files.resolveOutput(at('data/a.yuv'))).toBe(at('data/a.yuv'));
    await expect(files.resolveOutput('nowhere/new.json')).rejects.toThrow('does not exist; create it first');
    await expect(files.resolveOutput('inner')).rejects.toThrow('is a folder');
    for (const path of ['inner/', 'inner/.', 'inner/..'])
      await expect(files.resolveOutput(path)).rejects.toThrow('is not the name of a file to write');
  });

  it.each([
    'elsewhere/new.json',
    'data/folder-out/new.json',
    'data/link-out',
    'data/dangling-out',
    'data/../new',
  ])('are refused outside: %s', async (path) => {
    await expect(files.resolveOutput(at(path))).rejects.toThrow(refused);
  });

  it('are not written by asking', async () => {
    await files.resolveOutput('untouched.json');
    expect(() => readFileSync(at('data/untouched.json'))).toThrow('ENOENT');
  });
});

describe('roots', () => {
  it('are split at colons and semicolons, in Windows not after the letter of a drive', () => {
    expect(splitRoots('/a:/b;/c::', false)).toEqual(['/a', '/b', '/c']);
    expect(splitRoots('C:\\a;D:/b', true)).toEqual(['C:\\a', 'D:/b']);
    expect(splitRoots('C:\\a:D:\\b:e', true)).toEqual(['C:\\a', 'D:\\b', 'e']);
    expect(splitRoots('', true)).toEqual([]);
  });

  it('come from the command line and both variables, and from the working directory where there are none', async () => {
    const env = { ANYVMAF_MCP_ALLOW: `${at('data')}:${at('nowhere')}`, VMAF_MCP_ALLOW: at('database') };
    const found = await findRoots({ allow: ['elsewhere'], env, cwd: home });
    expect(found.folders).toEqual([at('elsewhere'), at('data'), at('database')]);
    expect(found.warnings).toEqual([expect.stringContaining('nowhere')]);
    expect((await findRoots({ allow: [], env: {}, cwd: at('way-in') })).folders).toEqual([at('data')]);
  });

  it('do not include a whole file system by default', async () => {
    const { folders, warnings } = await findRoots({ allow: [], env: {}, cwd: '/' });
    expect(folders).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('no folder is allowed')]);
    expect((await findRoots({ allow: ['/'], env: {}, cwd: '/' })).folders).toEqual(['/']);
  });

  it('of the command line must exist', async () => {
    const found = findRoots({ allow: [at('data/a.yuv')], env: {}, cwd: home });
    await expect(found).rejects.toThrow('is not a folder that can be read');
  });
});
