/**
 * @module test/support/kept-answers
 * Puts kept-answers.sh before ffprobe and ffmpeg in the PATH of all tests of a run. `ANYVMAF_TEST_ANSWERS=no` leaves it out.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { CACHE, hasFfmpeg } from './encode.js';

export default function keepAnswers(): void {
  if (!hasFfmpeg || process.env.ANYVMAF_TEST_ANSWERS === 'no') return;
  const script = new URL('kept-answers.sh', import.meta.url);
  const version = createHash('sha256').update(readFileSync(script)).digest('hex').slice(0, 8);
  const folder = join(dirname(CACHE), 'answers', `${CACHE.slice(-16)}-${version}`);
  mkdirSync(folder, { recursive: true });
  forgetUnused(folder);
  for (const tool of ['ffmpeg', 'ffprobe']) {
    const program = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' });
    writeFileSync(join(folder, `${tool}.path`), program);
    copyFileSync(script, join(folder, tool));
  }
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`;
}

/** Milliseconds for which an answer is kept that nothing asks for. */
const UNUSED = 14 * 24 * 3_600_000;

/** Removes answers that were not asked for in a while, as of clips that tests no longer make. The parts of one go together. */
function forgetUnused(folder: string): void {
  const used = new Map<string, number>();
  const names = readdirSync(folder);
  const key = (name: string) => name.replace(/\..*$/, '');
  for (const name of names) {
    // Another run may have just given it another name.
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    if (found) used.set(key(name), Math.max(found.atimeMs, used.get(key(name)) ?? 0));
  }
  for (const name of names) {
    if ((used.get(key(name)) ?? Date.now()) < Date.now() - UNUSED)
      rmSync(join(folder, name), { force: true });
  }
}
