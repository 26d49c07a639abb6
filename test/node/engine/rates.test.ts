/** Offsets between videos of different frame rates (src/media/pairing/prepare.ts, src/engine/inputs/alignment.ts). */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { align, score } from '../../../src/index.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

const PSNR = { noPrediction: true, features: ['psnr'] } as const;

describe.runIf(hasFfmpeg)(`offsets between different frame rates, ${needsFfmpeg}`, () => {
  const master = () => encode({ codec: 'ffv1', source: 'mandelbrot', size: '160x96', frames: 240, rate: 50 });
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '12'];
  /** Every second frame, from the twelfth on. */
  const later = () =>
    ffmpeg(join(encodeFolder(), 'later.mp4'), [
      ...['-i', `file:${master()}`],
      ...['-vf', "select='gte(n,12)*not(mod(n,2))',setpts=N/25/TB", '-r', '25', ...encoder],
    ]);
  /** Six frames of something else, then every second frame. */
  const earlier = () =>
    ffmpeg(join(encodeFolder(), 'earlier.mp4'), [
      ...['-f', 'lavfi', '-i', 'testsrc2=s=160x96:r=50:d=0.24', '-i', `file:${master()}`],
      '-filter_complex',
      "[0:v]format=yuv420p[a];[a][1:v]concat=n=2:v=1,select='not(mod(n,2))',setpts=N/25/TB",
      ...['-r', '25', ...encoder],
    ]);
  /** All frames, at 48 a second. */
  const slower = () =>
    ffmpeg(join(encodeFolder(), 'slower.mp4'), [
      ...['-i', `file:${master()}`, '-vf', 'setpts=N/48/TB', '-r', '48', ...encoder],
    ]);

  beforeAll(() => {
    for (const make of [later, earlier, slower]) make();
  }, 60_000);

  /** PSNR of pairs that show the same moment: every second one. */
  async function sameMoments(distorted: string, offset: number | 'auto'): Promise<number> {
    const { frames, pairing } = await score({ reference: master(), distorted }, { ...PSNR, offset });
    if (offset !== 'auto') expect(pairing?.frames.offset).toBe(offset);
    return Math.min(...frames.filter((_, n) => n % 2 === 0).map(({ metrics }) => metrics.psnr_y ?? 0));
  }

  it.each([
    ['later', later, 12, { reference: 12, distorted: 0 }],
    ['earlier', earlier, -12, { reference: 0, distorted: 6 }],
  ] as const)(
    'are frames of the reference, whichever video begins %s',
    async (_, make, offset, match) => {
      const distorted = make();
      const found = await align({ reference: master(), distorted });
      expect(found).toMatchObject({ offset, reason: 'clear', match });
      expect(found.explanation).toContain(
        `Distorted frame ${match.distorted} shows reference frame ${match.reference},`,
      );
      const aligned = await sameMoments(distorted, offset);
      expect(aligned).toBeGreaterThan(35);
      expect(await sameMoments(distorted, 'auto')).toBe(aligned);
      expect(await sameMoments(distorted, 0)).toBeLessThan(aligned - 10);
    },
    60_000,
  );

  it('are none where frames were left out here and there', async () => {
    const gappy = ffmpeg(join(encodeFolder(), 'gappy.mp4'), [
      ...['-i', `file:${master()}`, '-vf', "select='not(eq(mod(n,17),3)+eq(mod(n,29),7))'"],
      ...['-vsync', 'vfr', ...encoder],
    ]);
    expect(await align({ reference: master(), distorted: gappy })).toMatchObject({
      offset: 0,
      reason: 'clear',
      match: { reference: 0, distorted: 0 },
    });
    const { preflight = [] } = await score({ reference: master(), distorted: gappy }, PSNR);
    const codes = preflight.map(({ code }) => code);
    expect(codes).toContain('missing-frames');
    expect(codes).not.toContain('offset');
  });

  it('beyond the window are not answered with its end', async () => {
    const far = ffmpeg(join(encodeFolder(), 'far.mp4'), [
      ...['-i', `file:${master()}`, '-vf', 'trim=start_frame=32,setpts=PTS-STARTPTS', ...encoder],
    ]);
    const found = await align({ reference: master(), distorted: far }, { window: 26 });
    expect(found).toMatchObject({ ambiguous: true, reason: 'edge' });
    const { preflight = [] } = await score({ reference: master(), distorted: far }, PSNR);
    expect(preflight.find(({ code }) => code === 'offset')?.fix).toBe("offset: 'auto', window: 500");
  });

  it('are told of by frames that show the same moment', async () => {
    const { preflight = [] } = await score({ reference: master(), distorted: earlier() }, PSNR);
    expect(preflight.find(({ code }) => code === 'offset')).toMatchObject({
      reference: 0,
      distorted: 6,
      fix: 'offset: -12',
    });
  });

  it('are counted one by one where the same frames run at another speed', async () => {
    const distorted = slower();
    expect(await align({ reference: master(), distorted })).toMatchObject({ offset: 0, reason: 'clear' });
    const { preflight = [], pairing } = await score({ reference: master(), distorted }, PSNR);
    expect(pairing?.frames.policy).toBe('number');
    const told = preflight.map(({ code, fix }) => [code, fix]);
    expect(told).toContainEqual(['duration', undefined]);
    expect(told.map(([code]) => code)).not.toContain('offset');
  });

  it('leave reference frames without a partner, which is said', async () => {
    const { warnings } = await score({ reference: master(), distorted: later() }, PSNR);
    expect(warnings.join()).toContain('goes on for 12 frames after the distorted');
  });

  it('is no reason to refuse a pair, however far they are apart', async () => {
    const few = ffmpeg(join(encodeFolder(), 'few.mp4'), [
      ...['-i', `file:${master()}`, '-vf', "select='not(mod(n,50))',setpts=N/TB", '-r', '1', ...encoder],
    ]);
    const codes = async (reference: string, distorted: string) => {
      const { preflight = [], frameCount } = await score({ reference, distorted }, PSNR);
      expect(frameCount).toBeGreaterThan(0);
      return preflight.map(({ code }) => code);
    };
    expect(await codes(master(), few)).toContain('frame-rate');
    expect(await codes(few, master())).toContain('frame-rate');
    expect((await align({ reference: master(), distorted: few })).offset).toBe(0);
    await align({ reference: few, distorted: master() });
  });

  it('is nothing to fail for where the clock of a stream jumps', async () => {
    const jumping = ffmpeg(join(encodeFolder(), 'jumping.ts'), [
      ...['-i', `file:${master()}`, '-vf', "setpts='PTS+gte(N,120)*100/TB'", '-vsync', 'passthrough'],
      ...encoder,
    ]);
    for (const [reference, distorted] of [
      [master(), jumping],
      [jumping, master()],
    ] as const) {
      const { preflight = [] } = await score({ reference, distorted }, PSNR);
      expect(preflight.map(({ code }) => code)).toContain('missing-frames');
    }
  });
});
