/** Defects of preflight (src/engine/inputs/preflight.ts): a warning in the report, and never the end of a run. */
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inspect, score } from '../../../src/index.js';
import { PassingThumbs } from '../../../src/media/align.js';
import { LumaMeter } from '../../../src/media/preflight.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { film } from '../../support/films.js';

const PSNR = { noPrediction: true, features: ['psnr'] } as const;

afterEach(() => vi.restoreAllMocks());

function broken(): never {
  throw new TypeError('table is undefined');
}

describe.runIf(hasFfmpeg)(`a defect of preflight, ${needsFfmpeg}`, () => {
  const request = () => ({
    reference: encode({ codec: 'ffv1', source: 'mandelbrot', size: '160x96', frames: 30 }),
    distorted: encode({ codec: 'h264', source: 'mandelbrot', size: '160x96', frames: 30 }),
  });
  const breaks = {
    'in a frame that is looked at': () => vi.spyOn(LumaMeter.prototype, 'add').mockImplementation(broken),
    'in a thumbnail': () => vi.spyOn(PassingThumbs.prototype, 'add').mockImplementation(broken),
    'in the search': () => vi.spyOn(PassingThumbs.prototype, 'readTo').mockImplementation(broken),
  };

  it.each(Object.keys(breaks) as (keyof typeof breaks)[])(
    'is told, and the pair scored: %s',
    async (where) => {
      const whole = await score(request(), PSNR);
      breaks[where]();
      const { preflight = [], frames } = await score(request(), PSNR);
      expect(frames).toEqual(whole.frames);
      expect(preflight[0]).toMatchObject({ code: 'unchecked', severity: 'warning' });
      expect(preflight[0]?.message).toContain('Preflight could not look at the pictures');
      expect(preflight[0]?.message).toContain('table is undefined.');
    },
  );

  it('is a reason to refuse a pair that must be without objection', async () => {
    breaks['in a frame that is looked at']();
    await expect(score(request(), { ...PSNR, strict: true })).rejects.toThrow('table is undefined');
  });
});

describe.runIf(hasFfmpeg)(`an offset of many seconds, ${needsFfmpeg}`, () => {
  const moving = { source: 'testsrc2', frames: 640 };
  const request = () => ({
    reference: film({ parts: [moving] }),
    distorted: film({ parts: [{ ...moving, filter: 'trim=start_frame=520,setpts=PTS-STARTPTS' }] }),
  });
  const codesOf = (findings: readonly { readonly code: string }[] = []) => findings.map(({ code }) => code);
  it('is looked at like any other, before a run and in it', async () => {
    const aligned = expect.not.arrayContaining(['offset']);
    for (const [offset, expected] of [
      [520, aligned],
      [510, expect.arrayContaining(['offset'])],
    ] as const) {
      const { preflight } = await score(request(), { ...PSNR, offset });
      const { findings } = await inspect(request(), { offset });
      for (const codes of [codesOf(preflight), codesOf(findings)]) {
        expect(codes).not.toContain('unchecked');
        expect(codes).toEqual(expected);
      }
    }
  });
});

describe.runIf(hasFfmpeg)(`videos of a single frame, ${needsFfmpeg}`, () => {
  const first = (name: string, ...options: readonly string[]) =>
    ffmpeg(join(encodeFolder(), name), [
      ...['-f', 'lavfi', '-i', 'mandelbrot=s=320x240:r=25', '-frames:v', '1', '-pix_fmt', 'yuv420p'],
      ...options,
    ]);
  const videos = {
    Y4M: () => first('one.y4m'),
    JPEG: () => first('one.jpg', '-strict', 'unofficial'),
    WebP: () => first('one.webp', '-c:v', 'libwebp', '-quality', '40'),
    MP4: () => first('one.mp4', '-c:v', 'libx264', '-crf', '30'),
  };
  type Name = keyof typeof videos;
  it.each<[Name, Name]>([
    ['Y4M', 'MP4'],
    ['MP4', 'Y4M'],
    ['MP4', 'JPEG'],
    ['JPEG', 'WebP'],
    ['Y4M', 'WebP'],
  ])('are a pair: %s against %s', async (reference, distorted) => {
    const { frameCount, models } = await score({
      reference: videos[reference](),
      distorted: videos[distorted](),
    });
    expect(frameCount).toBe(1);
    expect(models).toHaveLength(1);
  });

  it('are a pair where Y4M goes by times', async () => {
    const request = { reference: videos.Y4M(), distorted: videos.Y4M() };
    expect((await score(request, { ...PSNR, frameRatePolicy: 'nearest' })).frameCount).toBe(1);
  });

  it('are refused with a reason where nothing is left to compare', async () => {
    const request = { reference: videos.MP4(), distorted: videos.MP4() };
    await expect(score(request, { ...PSNR, offset: 5 })).rejects.toThrow(
      /no frames to score: .+check the offset/,
    );
  });
});
