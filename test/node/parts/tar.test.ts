/**
 * @module test/node/parts/tar
 * Tarballs are read as npm writes them; links, devices, names that lead elsewhere and damage are refused.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BadTarball, tarFiles } from '../../../src/parts/tar.js';
import { seeded } from '../../support/random.js';
import { type Entry, tar } from '../../support/tarball.js';

async function* pieces(bytes: Uint8Array, length: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const next = at + length();
    yield bytes.subarray(at, next);
    at = next;
  }
}

async function read(bytes: Uint8Array, length = () => 1000): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { path, size, content } of tarFiles(pieces(bytes, length))) {
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(Uint8Array.from(part));
    files[path] = Buffer.concat(parts).toString();
    expect(files[path]).toHaveLength(size);
  }
  return files;
}

const refused = (entries: readonly Entry[]) =>
  expect(read(tar([{ name: 'package/a', content: 'a' }, ...entries]))).rejects;

describe('a tarball', () => {
  it('gives its files, whatever the pieces it comes in', async () => {
    const long = 'x'.repeat(5000);
    const bytes = tar([
      { name: 'package/', type: '5' },
      { name: 'package/a.js', content: 'one' },
      { name: 'package/b/c.js', content: long },
      { name: 'package/empty' },
      { name: 'package/exact', content: 'y'.repeat(512) },
    ]);
    const random = seeded(7);
    for (const length of [() => 1, () => 511, () => 1e6, () => random.int(1, 900)])
      expect(await read(bytes, length)).toEqual({
        'a.js': 'one',
        'b/c.js': long,
        empty: '',
        exact: 'y'.repeat(512),
      });
  });

  it('skips files that nobody reads', async () => {
    const bytes = tar([
      { name: 'package/a', content: 'z'.repeat(3000) },
      { name: 'package/b', content: 'b' },
    ]);
    const found: string[] = [];
    for await (const { path } of tarFiles(pieces(bytes, () => 700))) found.push(path);
    expect(found).toEqual(['a', 'b']);
  });

  it('has long names in headers of their own', async () => {
    const name = `package/${'n'.repeat(150)}.js`;
    const line = `path=${name}\n`;
    const record = `${line.length + 4} ${line}`;
    const bytes = tar([
      { name: 'PaxHeader', type: 'x', content: record },
      { name: 'package/short', content: '1' },
      { name: 'package/next', content: '2' },
    ]);
    expect(await read(bytes)).toEqual({ [`${'n'.repeat(150)}.js`]: '1', next: '2' });
  });

  it('may come from the tar of this system', async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-tar-'));
    try {
      mkdirSync(join(folder, 'package/deep'), { recursive: true });
      writeFileSync(join(folder, 'package/deep/file'), 'content');
      let bytes: Buffer;
      try {
        bytes = execFileSync('tar', ['-c', '--format=ustar', 'package'], { cwd: folder });
      } catch {
        return skip('needs tar');
      }
      expect(await read(bytes)).toEqual({ 'deep/file': 'content' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each([
    'package/../../evil',
    '/etc/evil',
    '../evil',
    'package//x',
    'package/./x',
    'package\\..\\x',
    'package/c:x',
  ])('is refused with the name %s', async (name) => {
    await refused([{ name, content: 'evil' }]).toThrow(/leads out of the package/);
  });

  it('is refused with such a name in a header of its own', async () => {
    const content = '24 path=package/../evil\n';
    await refused([
      { name: 'PaxHeader', type: 'x', content },
      { name: 'package/good', content: 'evil' },
    ]).toThrow(/"package\/\.\.\/evil" in it leads out/);
  });

  it.each([
    ['symbolic link', '2'],
    ['hard link', '1'],
    ['device', '3'],
    ['pipe', '6'],
    ['long link of GNU', 'K'],
  ])('is refused with a %s', async (_, type) => {
    await refused([{ name: 'package/link', type, link: '/etc/passwd' }]).toThrow(
      /neither a file nor a folder/,
    );
  });

  it('is refused if it is damaged or cut off, at any place', async () => {
    const whole = tar([{ name: 'package/a', content: 'a'.repeat(600) }]);
    for (const length of [0, 100, 512, 700, 1112, 1535])
      await expect(read(whole.subarray(0, length)), `${length} bytes`).rejects.toThrow(BadTarball);
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(damaged.readUInt8(3) ^ 1, 3);
    await expect(read(damaged)).rejects.toThrow(/a header in it is damaged/);
    await refused([{ name: 'package/b', content: 'b', size: 'xyz' }]).toThrow(/a length in it is damaged/);
    await refused([{ name: 'x', type: 'x', content: '999 path=a\n' }]).toThrow(/a header in it is damaged/);
    await refused([{ name: 'x', type: 'x', content: '20 size=99999999999\n' }]).toThrow(
      /larger than a package/,
    );
    await refused([{ name: 'package', content: 'b' }]).toThrow(/has no name/);
  });
});
