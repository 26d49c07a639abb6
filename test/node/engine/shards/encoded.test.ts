/** Shards of encoded videos: each decodes from the key frame before it, and merged they equal a run in one piece. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { score } from '../../../../src/index.js';
import type { ScoreOptions } from '../../../../src/public.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { comparable, inParts } from '../../../support/shards.js';

const QUICK: ScoreOptions = { noPrediction: true, features: ['psnr', 'motion=debug=true'] };
const FRAMES = 44;

describe.runIf(hasFfmpeg)(`shards of encoded videos, merged, ${needsFfmpeg}`, () => {
  const master = (frames = FRAMES, rate: string | number = 25) =>
    encode({ codec: 'ffv1', source: 'mandelbrot', size: '96x64', frames, rate, extra: ['-g', '1'] });
  const copy = (name: string, ...options: string[]) =>
    ffmpeg(join(encodeFolder(), name), ['-i', `file:${master()}`, ...options]);
  const x264 = ['-c:v', 'libx264', '-preset', 'medium', '-bf', '3', '-g', '12', '-crf', '30'];
  const openGop = [...x264, '-x264-params', 'open-gop=1:b-pyramid=normal:log-level=error'];
  const x265 = [
    '-c:v',
    'libx265',
    '-preset',
    'fast',
    '-x265-params',
    'keyint=12:bframes=4:open-gop=1:log-level=error',
  ];
  const vp9 = [
    '-c:v',
    'libvpx-vp9',
    '-g',
    '12',
    '-auto-alt-ref',
    '1',
    '-lag-in-frames',
    '16',
    '-cpu-used',
    '8',
  ];

  const videos: Readonly<Record<string, () => string>> = {
    'H.264 with open GOPs': () => copy('open.mkv', ...openGop),
    'HEVC with open GOPs': () => copy('hevc.mp4', ...x265),
    VP9: () => copy('vp9.webm', ...vp9),
    'MPEG-2': () => copy('mpeg2.mkv', '-c:v', 'mpeg2video', '-bf', '2', '-g', '12', '-q:v', '6'),
    'another size': () => copy('smaller.mp4', '-vf', 'scale=64:48', ...x264),
    'another rate': () =>
      copy('slow.mp4', '-vf', "select='not(mod(n,2))',setpts=N/12.5/TB", '-r', '12.5', ...x264),
    'a variable rate': () =>
      copy('vfr.mkv', '-vf', "select='not(eq(mod(n,7),3))'", '-fps_mode', 'vfr', ...x264),
    'a late start': () => copy('late.mp4', '-vf', 'trim=start_frame=6,setpts=PTS-STARTPTS', ...x264),
    'a lost frame': () => copy('lost.mp4', '-vf', "select='not(eq(n,30))',setpts=N/25/TB", ...x264),
    shorter: () => copy('shorter.mp4', '-frames:v', '38', ...x264),
  };

  beforeAll(() => {
    for (const make of Object.values(videos)) make();
  }, 120_000);

  async function compare(distorted: string, options: ScoreOptions, counts = [3]): Promise<void> {
    const request = { reference: master(), distorted };
    const whole = await score(request, options);
    for (const count of counts) {
      expect(comparable(await inParts(request, count, options)), `${count} parts`).toEqual(comparable(whole));
    }
  }

  it.each(Object.keys(videos))(
    'equal one run: %s',
    async (kind) => {
      await compare(videos[kind]?.() ?? '', QUICK);
    },
    60_000,
  );

  it.each([
    ['an offset that is searched', 'a late start', { ...QUICK, offset: 'auto' }],
    [
      'a range of time',
      'H.264 with open GOPs',
      { ...QUICK, range: { unit: 'seconds', start: 0.5, end: 1.5 } },
    ],
    ['workers that are sent frames', 'another size', { threads: 2 }],
    ['a decoder of this package', 'H.264 with open GOPs', { ...QUICK, decoder: 'wasm' }],
  ] as const)(
    'equal one run: %s',
    async (_, kind, options) => {
      await compare(videos[kind]?.() ?? '', options, [3]);
    },
    60_000,
  );

  it('equal one run of a file that is cut off', async () => {
    const bytes = readFileSync(videos['H.264 with open GOPs']?.() ?? '');
    const cut = join(encodeFolder(), 'cut.mkv');
    writeFileSync(cut, bytes.subarray(0, Math.floor(bytes.length * 0.6)));
    await compare(cut, { ...QUICK, allowDamaged: true }, [3]);
  }, 60_000);
});
