/**
 * @module test/node/mcp/tools/run-tune-per-shot
 * `run_tune_per_shot` as an agent calls it: the answer, its script and table, progress, limits, and what it will not open.
 * Needs ffmpeg.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runTunePerShotTool } from '../../../../src/mcp/tools/run-tune-per-shot.js';
import { encodeFolder, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { film } from '../../../support/films.js';
import { call, fakeContext, refused } from '../../../support/mcp-tools.js';
import { privateTmp } from '../../../support/private-tmp.js';

interface Answer {
  readonly shots: readonly {
    readonly first_frame: number;
    readonly frames: number;
    readonly margin: number;
  }[];
  readonly uri: string | null;
  readonly summary: string;
}

const context = (signal?: AbortSignal) => fakeContext(encodeFolder(), signal);
const { leftovers } = privateTmp('anyvmaf-search-');

describe.skipIf(!hasFfmpeg)(`run_tune_per_shot (${needsFfmpeg})`, () => {
  let src = '';
  const ask = {
    encoder_options: { preset: 'ultrafast' },
    range: { min: 30, max: 32 },
    min_seconds: 0.2,
    target_vmaf: 10,
  };
  beforeAll(() => {
    src = film({
      parts: [
        { source: 'testsrc2', frames: 8 },
        { source: 'mandelbrot', frames: 7 },
      ],
    });
  });

  it('answers the shots with their settings, and a script as a resource', async () => {
    const asked = context();
    const answer = await call<Answer>(runTunePerShotTool, { src, ...ask, format: 'shell' }, asked);
    expect(answer).toMatchObject({ encoder: 'libx264', parameter: 'crf', goal: 'each', reached: true });
    expect(answer.shots.map((shot) => [shot.first_frame, shot.frames])).toEqual([
      [0, 8],
      [8, 7],
    ]);
    expect(answer.summary).toContain('2 shots with libx264: every shot reaches vmaf mean of 10');
    const [script] = asked.published;
    expect(script?.name).toBe('encode-shots.sh');
    expect(String(script?.data)).toMatch(/^#!\/bin\/sh\n/);
    expect(answer.uri).toContain('encode-shots.sh');
    expect(asked.told.map(({ message }) => message)).toContain('shot 2 of 2: encoding at 32');
    expect(asked.ran).toEqual([['run_tune_per_shot', null]]);
  });

  it('opens no playlist, and nothing outside the folders', async () => {
    const inner = join(encodeFolder(), 'inner-shots.mkv');
    copyFileSync(src, inner);
    const list = join(encodeFolder(), 'shots-list.mp4');
    writeFileSync(list, `ffconcat version 1.0\nfile '${inner}'\n`);
    expect(await refused(runTunePerShotTool, { src: list, ...ask }, context())).toMatch(
      /playlist|other files/,
    );
    expect(await refused(runTunePerShotTool, { src: '/etc/passwd' }, context())).toContain('not allowed');
  });

  it('refuses what it cannot do, in a sentence, and leaves nothing behind', async () => {
    const asked = { src, ...ask };
    expect(await refused(runTunePerShotTool, { ...asked, encoder: 'x264' }, context())).toContain('libx264');
    expect(
      await refused(runTunePerShotTool, { ...asked, encoder_options: { f: 'tee' } }, context()),
    ).toContain('no option "f"');
    expect(
      await refused(runTunePerShotTool, { ...asked, min_seconds: 4, max_seconds_per_shot: 5 }, context()),
    ).toContain('at least twice');
    const stop = new AbortController();
    const late = context(stop.signal);
    late.progress = () => stop.abort();
    await expect(call(runTunePerShotTool, asked, late)).rejects.toThrow();
    expect(leftovers()).toEqual([]);
  });
});
