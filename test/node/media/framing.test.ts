/**
 * @module test/node/media/framing
 * Sizes that differ a little: pixels decide whether one picture was cut, padded or scaled, before any offset is believed.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspect, score, trustOf } from '../../../src/index.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';

const words = (text: string): string[] => text.split(' ');
const X264 = words('-c:v libx264 -preset ultrafast -crf 20 -threads 1');
const QUICK = { features: ['psnr'], threads: 0 } as const;

const make = (name: string, input: readonly string[], ...output: readonly string[]) =>
  ffmpeg(join(encodeFolder(), name), [...input, '-pix_fmt', 'yuv420p', ...output]);
const master = () =>
  make(
    'framed.mkv',
    words('-f lavfi -t 1.2 -i testsrc2=size=320x180:rate=25'),
    ...words('-c:v ffv1 -threads 1'),
  );
const encode = (name: string, filter: string) => make(name, ['-i', master()], '-vf', filter, ...X264);

describe.runIf(hasFfmpeg)(`pictures of sizes that differ a little (${needsFfmpeg})`, () => {
  it.each(
    tier(
      [['rows at the edge that are repeated', 'pad=320:184,fillborders=bottom=4:mode=smear', '320:180:0:0']],
      [
        ['rows at the edge that are repeated', 'pad=320:184,fillborders=bottom=4:mode=smear', '320:180:0:0'],
        ['black rows', 'pad=320:182', '320:180:0:0'],
        ['columns and rows', 'pad=336:192,fillborders=bottom=12:right=16:mode=smear', '320:180:0:0'],
      ],
    ),
  )('of %s, only those of the picture are compared once this is followed', async (what, filter, area) => {
    const pair = {
      reference: master(),
      distorted: encode(`padded-${what.replaceAll(' ', '-')}.mp4`, filter),
    };
    const wrong = await score(pair, QUICK);
    const found = wrong.preflight?.find(({ code }) => code === 'framing');
    expect(found).toMatchObject({
      severity: 'warning',
      message: expect.stringContaining('padding'),
      hint: { instead: [{ option: 'cropDistorted', value: area }] },
    });
    expect(wrong.preflight?.map(({ code }) => code)).not.toContain('offset');
    expect(trustOf(wrong)).toMatchObject({ verdict: 'untrusted', fix: found?.fix });

    const mended = await score(pair, { ...QUICK, cropDistorted: area });
    expect(mended.preflight?.filter(({ severity }) => severity !== 'info').map(({ code }) => code)).toEqual(
      [],
    );
    const careful = make(
      'careful.mkv',
      ['-i', pair.distorted],
      '-vf',
      `crop=${area}`,
      ...words('-c:v ffv1 -threads 1'),
    );
    const right = await score(
      { reference: pair.reference, distorted: careful },
      { ...QUICK, preflight: false },
    );
    expect(mended.pooled_metrics.vmaf?.mean).toBe(right.pooled_metrics.vmaf?.mean);
    expect(right.pooled_metrics.vmaf?.mean).toBeGreaterThan((wrong.pooled_metrics.vmaf?.mean ?? 100) + 5);
  });

  it('that were scaled are compared so', async () => {
    const pair = { reference: master(), distorted: encode('scaled-a-little.mp4', 'scale=320:184') };
    const { findings } = await inspect(pair);
    expect(findings.map(({ code }) => code)).not.toContain('framing');
    expect(findings.map(({ code }) => code)).toContain('size');
  });

  it('of which one was cut, with the edges gone, are not to be trusted', async () => {
    const pair = { reference: master(), distorted: encode('cut.mp4', 'crop=320:134:0:22') };
    const { findings } = await inspect(pair);
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'framing',
        hint: expect.objectContaining({
          instead: [{ purpose: 'fix', option: 'cropReference', value: '320:134:0:22' }],
        }),
      }),
    );
    expect(trustOf({ preflight: findings }).verdict).toBe('untrusted');
    const after = await inspect(pair, { cropReference: '320:134:0:22' });
    expect(trustOf({ preflight: after.findings }).verdict).toBe('fine');
  });
});
