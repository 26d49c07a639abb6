/** Pictures that are looked at while they are scored (src/engine/inputs/frame-observer.ts), against looking at them apart. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Platform } from '../../../src/engine/contract/platform.js';
import { scorePair } from '../../../src/engine/score.js';
import { inspect, score } from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { file, SMALL, scratchFolder, y4mPair } from '../../support/clips.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

const QUICK = { noPrediction: true, features: ['psnr'] } as const;

describe.runIf(hasFfmpeg)(`pictures looked at in passing, ${needsFfmpeg}`, () => {
  const master = () => encode({ codec: 'ffv1', source: 'mandelbrot', frames: 150 });
  const copy = (name: string, filter: string) =>
    ffmpeg(join(encodeFolder(), name), [
      ...['-i', `file:${master()}`, '-vf', filter],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '20'],
    ]);

  it.each([
    ['late', 'trim=start_frame=6,setpts=PTS-STARTPTS', { offset: 'offset: 6' }],
    ['barred', 'drawbox=w=iw:h=24:c=black:t=fill', { 'black-borders': undefined }],
    ['barred and smaller', 'drawbox=w=iw:h=24:c=black:t=fill,scale=160:120', { 'black-borders': undefined }],
    ['blurred', 'gblur=sigma=3', {}],
  ] as const)('say what looking at them apart says: %s', async (name, filter, expected) => {
    const request = { reference: master(), distorted: copy(`${name}.mp4`, filter) };
    const { preflight = [] } = await score(request);
    const told = (findings: typeof preflight) => findings.map(({ code, severity }) => `${severity} ${code}`);
    expect(told(preflight)).toEqual(told((await inspect(request)).findings));
    for (const [code, fix] of Object.entries(expected)) {
      const found = preflight.find((finding) => finding.code === code);
      expect(found, code).toBeDefined();
      if (fix !== undefined) expect(found?.fix).toBe(fix);
    }
  });

  it('counts offsets from the first frames of the files, whatever offset is in use', async () => {
    const distorted = copy('later.mp4', 'trim=start_frame=6,setpts=PTS-STARTPTS');
    const used = async (offset: number) => {
      const { preflight = [] } = await score({ reference: master(), distorted }, { ...QUICK, offset });
      return preflight.find(({ code }) => code === 'offset')?.fix;
    };
    expect(await used(2)).toBe('offset: 6');
    expect(await used(-3)).toBe('offset: 6');
    expect(await used(6)).toBeUndefined();
  });

  it('opens each video once, unless all warnings are to be known before', async () => {
    const opened: unknown[] = [];
    const platform: Platform = {
      ...nodePlatform,
      decoders: async (options) =>
        (await nodePlatform.decoders(options)).map((decoder) => ({
          id: decoder.id,
          availability: () => decoder.availability(),
          probe: (input, signal) => decoder.probe(input, signal),
          timestamps: (input, signal) => decoder.timestamps(input, signal),
          open(input, facts, request) {
            opened.push(input);
            return decoder.open(input, facts, request);
          },
        })),
    };
    const request = { reference: master(), distorted: copy('same.mp4', 'null') };
    await scorePair(platform, request, QUICK);
    expect(opened).toEqual([request.reference, request.distorted]);
    await scorePair(platform, request, { ...QUICK, strict: true });
    expect(opened.length).toBeGreaterThan(4);
  });
});

describe('two stored videos of one format', () => {
  const folder = scratchFolder();
  const pair = y4mPair(SMALL, 4);
  const reference = file(folder, 'r.y4m', pair.reference);
  const distorted = file(folder, 'd.y4m', pair.distorted);

  it('are compared by what they declare', async () => {
    for (const threads of [0, 1]) {
      const report = await score({ reference, distorted }, { models: ['version=vmaf_4k_v0.6.1'], threads });
      expect(report.preflight?.find(({ code }) => code === 'model-size')).toMatchObject({
        severity: 'warning',
        fix: "models: ['auto']",
      });
      const off = await score({ reference, distorted }, { ...QUICK, preflight: false, threads });
      expect(off.preflight).toBeUndefined();
    }
  });
});
