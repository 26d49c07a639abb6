/**
 * @module test/node/engine/sequences
 * Pictures in files of their own: numbered, by a pattern and in folders, with their rate, and what can be wrong with them.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { score } from '../../../src/index.js';
import { hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

describe.runIf(hasFfmpeg)(`sequences of pictures (${needsFfmpeg})`, () => {
  let home = '';
  let video = '';
  const at = (...parts: string[]) => join(home, ...parts);
  const run = (...args: string[]) =>
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { cwd: home });

  beforeAll(() => {
    // A name that means something to ffmpeg, which it must not.
    home = mkdtempSync(join(tmpdir(), 'anyvmaf 100%d [a]{b} '));
    for (const folder of ['shots', 'low', 'mixed', 'empty', 'gap']) mkdirSync(at(folder));
    video = at('video.mkv');
    run(
      '-f',
      'lavfi',
      '-i',
      'testsrc2=s=128x96:r=24000/1001',
      '-frames:v',
      '6',
      '-c:v',
      'ffv1',
      '-pix_fmt',
      'gbrp',
      'video.mkv',
    );
    run('-i', 'video.mkv', '-start_number', '7', 'shots/frame_%04d.png');
    run('-i', 'video.mkv', '-q:v', '9', '-start_number', '7', 'low/frame_%d.jpg');
    run('-i', 'video.mkv', 'gap/%02d.png');
    rmSync(at('gap', '03.png'));
    run('-i', 'video.mkv', '-frames:v', '1', 'mixed/a.png');
    run('-i', 'video.mkv', '-frames:v', '1', 'mixed/a.jpg');
    writeFileSync(at('empty', 'notes.txt'), 'nothing');
    writeFileSync(at('shots', 'notes.txt'), 'nothing');
    writeFileSync(at('shots', 'frame_0001x.png'), 'nothing');
    renameSync(at('shots', 'frame_0001x.png'), at('shots', 'frame_0001x.txt'));
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const options = { threads: 0, features: ['psnr'], rate: '24000/1001', preflight: false } as const;

  it.each([
    ['numbers', () => at('shots', 'frame_%04d.png')],
    ['a pattern', () => at('shots', '*.png')],
    ['a pattern of letters', () => at('shots', 'frame_00??.png')],
    ['a folder', () => at('shots')],
  ])('are found by %s, and equal the video that they are of', async (_, name) => {
    const report = await score({ reference: video, distorted: name() }, options);
    expect(report.frames.length).toBe(6);
    expect(report.pooled_metrics.psnr_y).toMatchObject({ min: 60, mean: 60 });
    expect(report.pairing?.distorted).toMatchObject({ codec: 'png', frameRate: { num: 24000, den: 1001 } });
    expect(report.pairing?.distorted.conversions[0]).toMatch(
      /^rgb24 \(RGB\) to yuv444p by the matrix BT\.709/,
    );
    expect(report.distorted.frameCount).toBe(6);
  });

  it('are compared with each other, JPEG with PNG', async () => {
    const report = await score({ reference: at('shots'), distorted: at('low', 'frame_%d.jpg') }, options);
    expect(report.frames.length).toBe(6);
    expect(report.pairing?.distorted.conversions.slice(0, 2)).toEqual([
      'colour range full to limited',
      'matrix bt601 to bt709',
    ]);
    const { mean = 0 } = report.pooled_metrics.psnr_y as { mean?: number };
    expect(mean).toBeGreaterThan(25);
    expect(mean).toBeLessThan(50);
  });

  it('are read from a frame on', async () => {
    const range = { unit: 'frames', start: 4 } as const;
    const report = await score({ reference: video, distorted: at('shots') }, { ...options, range });
    expect(report.frames.length).toBe(2);
    expect(report.pooled_metrics.psnr_y).toMatchObject({ min: 60 });
  });

  it.each([
    ['none', 'shots/picture_%d.png', /no file is named like .*picture_%d\.png/],
    ['no folder', 'nowhere/%d.png', /no file is named like/],
    ['none by a pattern', 'shots/*.dpx', /no file is named like/],
    ['a gap', 'gap/%02d.png', /03\.png is missing between 02\.png and 04\.png/],
    ['two numbers', 'shots/%d_%d.png', /more than one number/],
    ['several kinds', 'mixed', /holds pictures of several kinds \(\.jpg, \.png\)/],
    ['a folder without any', 'empty', /is a directory|folder/],
  ])('are refused where there is %s', async (_, name, message) => {
    await expect(score({ reference: video, distorted: at(name) }, options)).rejects.toThrow(message);
  });

  it('have a rate, which videos do not take', async () => {
    await expect(score({ reference: video, distorted: video }, options)).rejects.toThrow(
      /neither video is a sequence of pictures/,
    );
    const fast = { ...options, rate: 'fast' };
    await expect(score({ reference: video, distorted: at('shots') }, fast)).rejects.toThrow(/rate is "fast"/);
    const report = await score(
      { reference: at('shots'), distorted: at('shots') },
      { threads: 0, preflight: false },
    );
    expect(report.pairing?.reference.frameRate).toEqual({ num: 25, den: 1 });
  });

  it('are not opened for somebody else', async () => {
    const origin = { by: 'foreign' as const, folders: [home] };
    for (const name of ['shots', 'shots/frame_%04d.png', 'shots/*.png']) {
      await expect(
        score({ reference: video, distorted: at(name) }, { threads: 0, origin }),
      ).rejects.toThrow();
    }
  });
});
