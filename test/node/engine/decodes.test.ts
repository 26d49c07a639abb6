/** How often and how far videos are decoded when several are scored against one (src/engine/score-many.ts, looks.ts). */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ScoreManyOptions } from '../../../src/engine/contract/types.js';
import { scoreEach } from '../../../src/engine/score-many.js';
import { score } from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { results } from '../../support/clips.js';
import { type Decoding, watchedPlatform } from '../../support/decodings.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

const QUICK = { noPrediction: true, features: ['psnr'] } as const;

/** Frames of the reference, more than a search of its first seconds reads. */
const FRAMES = 420;

/** Frames of a video that looking at its first seconds decodes at most. */
const WINDOW = 300;

describe.runIf(hasFfmpeg)(`decodings of one reference, ${needsFfmpeg}`, () => {
  const master = () =>
    encode({
      codec: 'ffv1',
      source: 'mandelbrot',
      size: '96x64',
      frames: FRAMES,
      rate: 30,
      extra: ['-g', '1'],
    });
  const copy = (name: string, ...options: string[]) =>
    ffmpeg(join(encodeFolder(), name), [
      ...['-i', `file:${master()}`, ...options],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '20', '-g', '15'],
    ]);
  const late = (frames: number) =>
    copy(`late${frames}.mp4`, '-vf', `trim=start_frame=${frames},setpts=PTS-STARTPTS`);
  const thinned = (every: number, rate: number) =>
    copy(`rate${rate}.mp4`, '-vf', `select='not(mod(n,${every}))',setpts=N/${rate}/TB`, '-r', String(rate));
  const smaller = () => copy('smaller.mp4', '-vf', 'scale=64:48');

  // Encoding takes longer than a test may on a busy machine.
  beforeAll(() => {
    for (const make of [() => late(7), () => late(20), () => thinned(2, 15), () => thinned(3, 10), smaller])
      make();
    copy('a.mp4');
    copy('b.mp4', '-vf', 'gblur=sigma=1');
  }, 120_000);

  const pairs = {
    alike: () => [copy('a.mp4'), copy('b.mp4')],
    late: () => [late(7), late(20), copy('a.mp4')],
    rates: () => [thinned(2, 15), thinned(3, 10), copy('a.mp4')],
    sizes: () => [smaller(), copy('a.mp4')],
  };

  /** Of the reference: decodings for the score and others, and how far the latter went. */
  async function decodings(distorted: readonly string[], options: ScoreManyOptions) {
    const { platform, opened } = watchedPlatform(nodePlatform);
    const reports = await scoreEach(platform, master(), distorted, { ...QUICK, ...options });
    const of = opened.filter(({ input }) => input === master());
    const looks = of.filter(({ request }) => request.allowDamaged === true);
    const seconds = ({ request }: Decoding) => (request.time?.end ?? 0) - (request.time?.start ?? 0);
    return {
      reports,
      scored: of.filter((one) => !looks.includes(one)).map(({ frames }) => frames),
      searches: looks.filter(({ request }) => request.frames).map(({ frames }) => frames),
      glances: looks.filter(({ request }) => request.time).map(seconds),
    };
  }

  it.each([
    ['of one kind', 'alike', {}],
    ['of other sizes', 'sizes', {}],
    ['of other frame rates', 'rates', {}],
    ['of other frame rates, which is known', 'rates', { frameRatePolicy: 'nearest' }],
    ['with an offset', 'alike', { offset: 3 }],
    ['a part that is long', 'alike', { range: { unit: 'frames', start: 100, end: 300 } }],
  ] as const)('is one, and nothing else: %s', async (_, kind, options) => {
    const { scored, searches, glances } = await decodings(pairs[kind](), options);
    expect(scored).toHaveLength(1);
    expect(searches).toEqual([]);
    expect(glances).toEqual([]);
  });

  it.each([
    ['warnings are to be known before', 'alike', { strict: true }, FRAMES],
    ['the offsets are searched', 'late', { offset: 'auto' }, FRAMES],
    ['both', 'alike', { strict: true, offset: 'auto' }, FRAMES],
    ['few frames are scored', 'alike', { frameCount: 30 }, 30],
    ['a short part is scored', 'rates', { range: { unit: 'frames', start: 200, end: 230 } }, 30],
  ] as const)('is one beside a look at the first seconds: %s', async (_, kind, options, frames) => {
    const { scored, searches, glances } = await decodings(pairs[kind](), options);
    expect(scored).toEqual([frames]);
    // One search for all pairs, and a few single frames.
    expect(searches).toHaveLength(1);
    expect(searches[0]).toBeLessThanOrEqual(WINDOW);
    expect(glances.length).toBeLessThanOrEqual(3);
    for (const length of glances) expect(length).toBeLessThan(0.1);
  });

  it('begins where the earliest pair does, and gives each what it has alone', async () => {
    const options = { offset: 'auto' } as const;
    const { reports, scored } = await decodings(pairs.late(), options);
    expect(scored).toEqual([FRAMES]);
    expect(reports.map(({ pairing }) => pairing?.frames.offset)).toEqual([7, 20, 0]);
    expect(reports.map(({ frameCount }) => frameCount)).toEqual([FRAMES - 7, FRAMES - 20, FRAMES]);
    for (const [i, distorted] of pairs.late().entries()) {
      const alone = await score({ reference: master(), distorted }, { ...QUICK, ...options });
      const together = reports[i];
      expect(together && results(together)).toEqual(results(alone));
      expect(together?.preflight).toEqual(alone.preflight);
      expect(together?.warnings).toEqual(alone.warnings);
    }
  });

  it('ends where the last pair does', async () => {
    const options = { offset: 'auto', frameCount: 100 } as const;
    const { reports, scored } = await decodings([late(7), late(20)], options);
    expect(reports.map(({ frameCount }) => frameCount)).toEqual([100, 100]);
    // From frame 7 to frame 119.
    expect(scored).toEqual([113]);
  });
});
