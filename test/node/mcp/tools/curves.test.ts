/**
 * @module test/node/mcp/tools/curves
 * `run_compare` and `run_ladder` as an agent calls them: the answer, the results as resources, limits, and what they refuse.
 * Needs ffmpeg.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { readEncodingResult } from '../../../../src/index.js';
import { runCompareTool } from '../../../../src/mcp/tools/run-compare.js';
import { runLadderTool } from '../../../../src/mcp/tools/run-ladder.js';
import { encode, encodeFolder, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { call, fakeContext, refused } from '../../../support/mcp-tools.js';
import { privateTmp } from '../../../support/private-tmp.js';

const { leftovers } = privateTmp('anyvmaf-search-');

describe.skipIf(!hasFfmpeg)(`run_compare and run_ladder (${needsFfmpeg})`, () => {
  let src = '';
  const fast = { preset: 'ultrafast' };
  const context = () => fakeContext(encodeFolder());
  beforeAll(async () => {
    src = await encode({ codec: 'ffv1', size: '96x64', frames: 4, source: 'mandelbrot' });
  });

  it('answer rungs that were measured, and publish every point and a page', async () => {
    const asked = context();
    interface Answer {
      readonly rungs: readonly { readonly vmaf: number; readonly height: number }[];
      readonly command: readonly string[];
    }
    const ask = {
      src,
      encoder: 'libx264',
      encoder_options: fast,
      resolutions: ['64', '48x32'],
      quality_tiers: 2,
    };
    const answer = await call<Answer>(runLadderTool, ask, asked);
    expect(answer.rungs).toHaveLength(2);
    expect(answer.command.slice(0, 3)).toEqual(['ffmpeg', '-i', src]);
    expect(answer).toMatchObject({
      summary: expect.stringMatching(/^2 rungs with libx264 from /),
      metric: 'vmaf',
    });
    expect(asked.published.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ['ladder.json', 'application/json'],
      ['ladder.html', 'text/html'],
    ]);
    const whole = await readEncodingResult(String(asked.published[0]?.data));
    expect(whole.kind === 'ladder' && whole.rungs.map(({ quality }) => quality)).toEqual(
      answer.rungs.map(({ vmaf }) => vmaf),
    );
    expect(asked.told.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^scoring at [\d.]+ with libx264, 48x32$/),
    );
  });

  it('answer how presets differ', async () => {
    const ask = {
      src,
      encoders: ['libx264:preset=ultrafast', 'libx264:preset=veryfast'],
      target_vmafs: [70],
    };
    const answer = await call(runCompareTool, ask, context());
    expect(answer).toMatchObject({
      summary: expect.stringMatching(/^libx264:preset=veryfast (needs|shares)/),
      encoders: [{ at_targets: [{ target_vmaf: 70, reached: true }] }, { encoder: 'libx264' }],
    });
  });

  it('refuse what they cannot do, in a sentence, and leave nothing behind', async () => {
    const ask = { src, encoders: ['libx264', 'libx265'] };
    expect(await refused(runCompareTool, { ...ask, encoders: ['libx264', 'x'] }, context())).toContain('"x"');
    expect(await refused(runCompareTool, { ...ask, encoders: ['libx264', 'a:b'] }, context())).toContain(
      'libx264:preset=slow',
    );
    expect(await refused(runLadderTool, { src, resolutions: ['4320'] }, context())).toContain('96x64');
    expect(await refused(runLadderTool, { src, resolutions: ['HD'] }, context())).toContain(
      'such as 1280x720',
    );
    expect(await refused(runLadderTool, { src: '/etc/passwd', resolutions: ['48'] }, context())).toContain(
      'not allowed',
    );
    const slow = { src, resolutions: ['64'], encoder_options: { preset: 'placebo' }, max_seconds: 1 };
    const long = await encode({ codec: 'h264', size: '640x360', frames: 400 });
    expect(await refused(runLadderTool, { ...slow, src: long, full: true }, context())).toContain(
      'max_seconds, 1',
    );
    expect(leftovers()).toEqual([]);
  });
});
