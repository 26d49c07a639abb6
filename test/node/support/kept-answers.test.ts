/**
 * @module test/node/support/kept-answers
 * The script before ffprobe answers as the program does, from the second time on without it.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
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

  it.each([
    ['a list', 'ffprobe', 'list.ts', '#EXTM3U\na.ts\n'],
    ['a name with other signs', 'ffprobe', 'a b.mp4', 'x'],
    ['a file that is not there', 'ffprobe', 'none.mp4', undefined],
    ['an encode', 'ffmpeg', 'c.mp4', 'x'],
  ])('are not those of %s', (_, tool, name, content) => {
    if (content !== undefined) writeFileSync(at(name), content);
    for (const count of [1, 2]) {
      ask(tool, '-i', `file:${at(name)}`);
      expect(starts()).toBe(count);
    }
  });

  it('hold what a program says of itself', () => {
    for (let i = 0; i < 2; i++) expect(ask('ffmpeg', '-version')[1]).toBe('asked -version\n');
    expect(starts()).toBe(1);
  });
});
