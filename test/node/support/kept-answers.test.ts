/**
 * @module test/node/support/kept-answers
 * The script before ffprobe and ffmpeg answers as they do, from the second time on without them.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { scratchFolder } from '../../support/clips.js';

const folder = scratchFolder();
const at = (name: string) => join(folder, name);

/** Says what it was asked and how often it was started. */
const PROGRAM = `#!/bin/sh
echo start >>"${folder}/starts"
for last; do :; done
echo "asked $*"
echo "$last: no video" >&2
exit 3
`;

const starts = () => readFileSync(at('starts'), 'utf8').split('\n').length - 1;
const ask = (tool: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(at(tool), args, { encoding: 'utf8' });
  return [status, stdout, stderr];
};

describe.skipIf(process.platform === 'win32')('kept answers', () => {
  beforeEach(() => {
    for (const name of readdirSync(folder)) rmSync(at(name));
    writeFileSync(at('program'), PROGRAM, { mode: 0o755 });
    writeFileSync(at('starts'), '');
    for (const tool of ['ffprobe', 'ffmpeg']) {
      copyFileSync(new URL('../../support/kept-answers.sh', import.meta.url), at(tool));
      writeFileSync(at(`${tool}.path`), `${at('program')}\n`);
    }
  });

  it('are those of the program, by arguments and content, whatever the name of the file', () => {
    writeFileSync(at('a.mp4'), 'one');
    copyFileSync(at('a.mp4'), at('b.mkv'));
    const answer = (name: string) => {
      const last = `file:${at(name)}`;
      return [3, `asked -i ${last}\n`, `${last}: no video\n`];
    };
    for (const name of ['a.mp4', 'a.mp4', 'b.mkv'])
      expect(ask('ffprobe', '-i', `file:${at(name)}`)).toEqual(answer(name));
    expect(starts()).toBe(1);
    writeFileSync(at('a.mp4'), 'two');
    expect(ask('ffprobe', '-i', `file:${at('a.mp4')}`)).toEqual(answer('a.mp4'));
    ask('ffprobe', '-v', 'error', '-i', `file:${at('a.mp4')}`);
    expect(starts()).toBe(3);
  });

  it('are what ffmpeg decodes of one file, byte by byte', () => {
    const bytes = String.raw`\001\377\000|\012@FILE@`;
    writeFileSync(at('program'), PROGRAM.replace('echo "asked $*"', `printf '${bytes}'`), { mode: 0o755 });
    for (const name of ['a.mp4', 'b.mp4']) {
      writeFileSync(at(name), 'one');
      const args = ['-i', `file:${at(name)}`, '-f', 'rawvideo', 'pipe:1'];
      const { status, stdout, stderr } = spawnSync(at('ffmpeg'), args);
      expect([status, stdout.toString('latin1'), stderr.toString()]).toEqual([
        3,
        '\x01\xff\x00|\n@FILE@',
        'pipe:1: no video\n',
      ]);
    }
    expect(starts()).toBe(1);
  });

  it('are not what is too large to keep', () => {
    const large = 'head -c 9000000 /dev/zero';
    writeFileSync(at('program'), PROGRAM.replace('echo "asked $*"', large), { mode: 0o755 });
    writeFileSync(at('a.mp4'), 'one');
    for (let i = 0; i < 2; i++) {
      const { stdout } = spawnSync(at('ffmpeg'), ['-i', `file:${at('a.mp4')}`, 'pipe:1'], { maxBuffer: 1e8 });
      expect(stdout.length).toBe(9_000_000);
    }
    expect(readdirSync(folder).filter((name) => name.endsWith('.out'))).toEqual([]);
  });

  it.each([
    ['a list', 'ffprobe', 'list.ts', '#EXTM3U\na.ts\n'],
    ['a name with other signs', 'ffprobe', 'a b.mp4', 'x'],
    ['a file that is not there', 'ffprobe', 'none.mp4', undefined],
    ['an encode', 'ffmpeg', 'c.mp4', 'x'],
    ['a decode of two files', 'ffmpeg', 'd.mp4', 'x', ['-i', 'file:/e.mp4', 'pipe:1']],
    ['a decode of a pipe', 'ffmpeg', 'f.mp4', 'x', ['-i', 'pipe:0', 'pipe:1']],
  ])('are not those of %s', (_, tool, name, content, more: readonly string[] = []) => {
    if (content !== undefined) writeFileSync(at(name), content);
    for (const count of [1, 2]) {
      ask(tool, '-i', `file:${at(name)}`, ...more);
      expect(starts()).toBe(count);
    }
  });

  it('hold what a program says of itself', () => {
    for (let i = 0; i < 2; i++) expect(ask('ffmpeg', '-version')[1]).toBe('asked -version\n');
    expect(starts()).toBe(1);
  });
});
