/**
 * @module test/node/mcp/tools/find-quality
 * `find_quality` as an agent calls it: the answer, progress, the limits on time, and what it will not open. Needs ffmpeg.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findQualityTool } from '../../../../src/mcp/tools/find-quality.js';
import { encode, encodeFolder, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { call, fakeContext, refused } from '../../../support/mcp-tools.js';
import { privateTmp } from '../../../support/private-tmp.js';

interface Answer {
  readonly points: readonly { readonly value: number; readonly margin: number }[];
  readonly value: number;
  readonly command: readonly string[];
  readonly encodes: number;
}

const context = (signal?: AbortSignal) => fakeContext(encodeFolder(), signal);
const { leftovers } = privateTmp('anyvmaf-search-');

describe.skipIf(!hasFfmpeg)(`find_quality (${needsFfmpeg})`, () => {
  let source = '';
  const ask = { encoder: 'libx264', encoder_options: { preset: 'ultrafast' }, range: { min: 24, max: 34 } };
  beforeAll(async () => {
    source = await encode({ codec: 'ffv1', size: '96x64', frames: 12, source: 'mandelbrot' });
  });

  it('answers a setting, the points it measured, and the command that makes the encode', async () => {
    const asked = context();
    const answer = await call<Answer>(findQualityTool, { source, ...ask, targets: ['80', 'min>=60'] }, asked);
    expect(answer).toMatchObject({
      encoder: 'libx264',
      parameter: 'crf',
      shortfall: null,
      sampled_frames: null,
    });
    const { points, value, command, encodes } = answer;
    expect(points).toHaveLength(encodes);
    expect(points.find((point) => point.value === value)?.margin).toBeGreaterThanOrEqual(0);
    expect(command.slice(0, 3)).toEqual(['ffmpeg', '-i', source]);
    expect(asked.told.map(({ message }) => message)).toContain(
      `encoding at ${points[0]?.value} with libx264`,
    );
    expect(asked.ran).toEqual([['find_quality', null]]);
  });

  it('encodes and scores the whole within the folders that are allowed', async () => {
    const answer = await call(findQualityTool, { source, ...ask, targets: ['1'], verify: true }, context());
    expect(answer).toMatchObject({ value: 34, final: { reached: true } });
  });

  it('opens no playlist, whatever its name is', async () => {
    const inner = join(encodeFolder(), 'inner.mkv');
    copyFileSync(source, inner);
    const list = join(encodeFolder(), 'list.mp4');
    writeFileSync(list, `ffconcat version 1.0\nfile '${inner}'\n`);
    expect(await refused(findQualityTool, { source: list, ...ask }, context())).toMatch(
      /playlist|other files/,
    );
  });

  it('refuses what it cannot do, in a sentence, and leaves nothing behind', async () => {
    const asked = { source, ...ask };
    expect(await refused(findQualityTool, { ...asked, encoder: 'x264' }, context())).toContain('libx264');
    expect(await refused(findQualityTool, { ...asked, targets: ['good'] }, context())).toContain('p5>=90');
    expect(await refused(findQualityTool, { ...asked, encoder_options: { f: 'tee' } }, context())).toContain(
      'no option "f"',
    );
    expect(await refused(findQualityTool, { ...asked, source: '/etc/passwd' }, context())).toContain(
      'not allowed',
    );
    expect(
      await refused(
        findQualityTool,
        {
          ...asked,
          encoder_options: { preset: 'placebo' },
          range: { min: 0, max: 1 },
          source: await encode({ codec: 'h264', size: '640x360', frames: 400 }),
          full: true,
          max_seconds: 1,
        },
        context(),
      ),
    ).toContain('max_seconds, 1');
    expect(leftovers()).toEqual([]);
  });
});
