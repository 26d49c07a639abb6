/** Pairs of any two videos, from files to reports (src/engine/inputs/open.ts, score-many.ts, inspect.ts), with ffmpeg as decoder. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyvmafError } from '../../../src/core/errors.js';
import type { Platform } from '../../../src/engine/contract/platform.js';
import type { ScoreOptions } from '../../../src/engine/contract/types.js';
import { scoreEach } from '../../../src/engine/score-many.js';
import { align, inspect, score, scoreMany } from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { file, results, SMALL, scratchFolder, streamOf, y4mPair } from '../../support/clips.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { failure } from '../../support/media.js';
import { needsShared, sharedPath } from '../../support/shared.js';

/** Every plane counts, and nothing is hidden by a model. */
const FEATURES: ScoreOptions = {
  noPrediction: true,
  features: ['vif', 'adm', 'motion', 'psnr'],
  preflight: false,
};

/** A video as ffmpeg's own Y4M. */
function dumped(path: string, options: readonly string[] = []): string {
  const key = `${path.replace(/^.*\//, '')}${options.join('')}`.replace(/\W+/g, '_');
  return ffmpeg(join(encodeFolder(), `${key}.y4m`), ['-i', `file:${path}`, ...options, '-strict', '-1']);
}

/** A lossy copy. */
function again(path: string, name: string, options: readonly string[] = []): string {
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '34'];
  return ffmpeg(join(encodeFolder(), name), ['-i', `file:${path}`, ...options, ...encoder]);
}

const clips = ['Seeking_30_480_1050.mp4', 'Seeking_10_288_375.mp4'].map((name) =>
  sharedPath(`clips/${name}`),
);
const [seeking, small] = clips;

describe.runIf(hasFfmpeg && seeking && small)(`known scores, ${needsFfmpeg}, ${needsShared}`, () => {
  const request = { reference: seeking ?? '', distorted: small ?? '' };

  it('is 51.01716 for the Seeking pair, scaled bicubic', async () => {
    const report = await score(request);
    expect(report.pooled_metrics.vmaf?.mean).toBeCloseTo(51.01716, 5);
    expect(report.frameCount).toBe(150);
    expect(report.pairing?.distorted).toMatchObject({
      decoder: 'ffmpeg',
      codec: 'h264',
      scaledBy: 'swscale bicubic',
    });
    expect(report.reference).toMatchObject({ width: 720, height: 480, frameCount: 150 });
    expect(report.distorted).toMatchObject({ width: 384, height: 288 });
    expect(report.preflight?.map(({ code }) => code)).toContain('size');
  });

  it('is within 0.05 of it, and on x86 the same, with our own resampler', async () => {
    const [reference, distorted] = [dumped(request.reference), dumped(request.distorted)];
    const report = await score({ reference, distorted }, { scale: 'bicubic', preflight: false });
    const difference = Math.abs((report.pooled_metrics.vmaf?.mean ?? 0) - 51.01716);
    expect(difference).toBeLessThan(process.arch === 'x64' ? 5e-6 : 0.05);
    expect(report.pairing?.distorted.scaledBy).toBe('anyvmaf bicubic');
  });
});

describe.runIf(hasFfmpeg)(`encoded pairs, ${needsFfmpeg}`, () => {
  const master = () => encode({ codec: 'ffv1', frames: 40 });
  const copy = () => again(master(), 'copy.mp4');

  it.each([
    ['8 bit', 'yuv420p', []],
    ['10 bit', 'yuv420p10le', []],
    ['4:2:2', 'yuv422p', []],
    ['4:4:4', 'yuv444p', []],
    ['odd sizes', 'yuv444p', ['-vf', 'scale=161:121']],
  ] as const)('equal the same pairs as Y4M to the last bit: %s', async (_, pixelFormat, extra) => {
    const reference = encode({ codec: 'ffv1', pixelFormat, frames: 12, extra });
    const distorted = encode({ codec: 'h264', pixelFormat, frames: 12, extra: [...extra, '-crf', '36'] });
    const encoded = await score({ reference, distorted }, FEATURES);
    const stored = await score({ reference: dumped(reference), distorted: dumped(distorted) }, FEATURES);
    expect(results(encoded)).toEqual(results(stored));
    for (const threads of [0, 1, 3]) {
      expect(results(await score({ reference, distorted }, { ...FEATURES, threads }))).toEqual(
        results(stored),
      );
    }
  });

  it('may be encoded on one side only, or raw', async () => {
    const expected = await score({ reference: master(), distorted: copy() }, FEATURES);
    const mixed = await score({ reference: dumped(master()), distorted: copy() }, FEATURES);
    expect(results(mixed)).toEqual(results(expected));
    const raw = ffmpeg(join(encodeFolder(), 'master.yuv'), ['-i', master()]);
    const format = { width: 320, height: 240, bitDepth: 8, chroma: '420' } as const;
    const partly = await score({ reference: raw, distorted: copy(), raw: format }, FEATURES);
    expect(results(partly)).toEqual(results(expected));
    expect(partly.reference.container).toBe('yuv');
  });

  it('are brought to the higher depth and chroma format', async () => {
    const distorted = again(master(), 'deep.mp4', ['-pix_fmt', 'yuv444p10le']);
    const report = await score({ reference: master(), distorted }, FEATURES);
    expect(report.pairing).toMatchObject({ bitDepth: 10, chroma: '444' });
    expect(report.pairing?.reference.conversions).toEqual([
      '8 to 10 bit by a shift of 2',
      '4:2:0 to 4:4:4 by repeating chroma samples',
    ]);
    expect(report.pairing?.distorted.conversions).toEqual([]);
    // A shift of both sides leaves PSNR of luma as it is at 8 bit, but for the samples' peak: 1020 of 1023.
    expect(report.reference.bitDepth).toBe(8);
  });

  it('are scaled to the distorted size or to another one when asked', async () => {
    const distorted = again(master(), 'half.mp4', ['-vf', 'scale=160:120']);
    const down = await score(
      { reference: master(), distorted },
      { ...FEATURES, scaleTo: 'dis', scale: 'lanczos' },
    );
    expect(down.pairing).toMatchObject({
      width: 160,
      height: 120,
      reference: { scaledBy: 'swscale lanczos', width: 320 },
    });
    expect(down.pairing?.distorted.scaledBy).toBeUndefined();
    const scaled = dumped(master(), ['-vf', 'scale=160:120:flags=lanczos']);
    expect(results(down)).toEqual(
      results(await score({ reference: scaled, distorted: dumped(distorted) }, FEATURES)),
    );
    const both = await score(
      { reference: master(), distorted },
      { ...FEATURES, scaleTo: { width: 200, height: 152 } },
    );
    expect(both.pairing).toMatchObject({ width: 200, height: 152 });
    const message = await failure(
      () => score({ reference: master(), distorted }, { ...FEATURES, scale: 'none' }),
      'mismatch',
    );
    expect(message).toContain('distorted is 160x120 but reference is 320x240');
    expect(message).toContain("Pass scale: 'bicubic'.");
  });

  it('count a range in frames or seconds, and an offset', async () => {
    const [reference, distorted] = [master(), copy()];
    const cut = (path: string, start: number, end: number) =>
      dumped(path, ['-vf', `trim=start_frame=${start}:end_frame=${end},setpts=PTS-STARTPTS`]);
    const expected = await score(
      { reference: cut(reference, 10, 20), distorted: cut(distorted, 10, 20) },
      FEATURES,
    );
    for (const range of [
      { unit: 'frames', start: 10, end: 20 },
      { unit: 'seconds', start: 0.4, end: 0.8 },
    ] as const) {
      const report = await score({ reference, distorted }, { ...FEATURES, range });
      expect(results(report)).toEqual(results(expected));
      expect(report.pairing?.range).toEqual(range);
    }
    const stored = await score(
      { reference: dumped(reference), distorted: dumped(distorted) },
      { ...FEATURES, range: { unit: 'frames', start: 10, end: 20 } },
    );
    expect(results(stored)).toEqual(results(expected));

    const shifted = { reference: cut(reference, 5, 40), distorted: cut(distorted, 0, 35) };
    const late = await score({ reference, distorted }, { ...FEATURES, offset: 5 });
    expect(results(late)).toEqual(results(await score(shifted, FEATURES)));
    expect(late.pairing?.frames).toMatchObject({ offset: 5, offsetRequested: 5, pairs: 35 });
    const early = await score(
      { reference, distorted },
      { ...FEATURES, offset: -3, frameCount: 4, skipReference: 2 },
    );
    const skipped = { reference: cut(reference, 2, 6), distorted: cut(distorted, 3, 7) };
    expect(results(early)).toEqual(results(await score(skipped, FEATURES)));
    expect(
      await failure(() => score({ reference, distorted }, { range: { unit: 'frames', start: 40 } }), 'usage'),
    ).toContain('has only 40 frames');
  });

  it('find their offset when asked', async () => {
    const moving = encode({ codec: 'ffv1', source: 'mandelbrot', frames: 150 });
    const distorted = again(moving, 'late.mp4', ['-vf', 'trim=start_frame=7,setpts=PTS-STARTPTS']);
    const report = await score({ reference: moving, distorted }, { ...FEATURES, offset: 'auto' });
    expect(report.pairing?.frames).toMatchObject({ offset: 7, offsetRequested: 'auto', pairs: 143 });
    expect(report.pairing?.frames.offsetConfidence).toBeGreaterThan(0.9);
    expect((await align({ reference: moving, distorted })).offset).toBe(7);
    const warned = await score({ reference: moving, distorted }, { ...FEATURES, preflight: true });
    const finding = warned.preflight?.find(({ code }) => code === 'offset');
    expect(finding).toMatchObject({ severity: 'warning', fix: 'offset: 7' });
    expect(
      await failure(
        () => score({ reference: moving, distorted }, { ...FEATURES, strict: true, preflight: true }),
        'mismatch',
      ),
    ).toContain('offset: 7');
    const found = await inspect({ reference: moving, distorted });
    expect(found.alignment?.offset).toBe(7);
    expect(found.reference.codec).toBe('ffv1');
  });

  it('pair by time where frames are missing, and say which', async () => {
    const distorted = again(master(), 'gap.mkv', ['-vf', "select='not(between(n,20,21))'", '-vsync', 'vfr']);
    const report = await score({ reference: master(), distorted }, FEATURES);
    expect(report.frameCount).toBe(40);
    expect(report.pairing?.frames).toMatchObject({
      policy: 'nearest',
      missing: { count: 2, frames: [20, 21] },
      dropped: { count: 0 },
    });
    const after = report.frames
      .filter(({ frameNum }) => frameNum > 23)
      .map(({ metrics }) => metrics.psnr_y ?? 0);
    const straight = (await score({ reference: master(), distorted: copy() }, FEATURES)).frames
      .filter(({ frameNum }) => frameNum > 23)
      .map(({ metrics }) => metrics.psnr_y ?? 0);
    for (const [i, value] of after.entries()) expect(Math.abs(value - (straight[i] ?? 0))).toBeLessThan(3);
    const message = await failure(
      () => score({ reference: master(), distorted }, { ...FEATURES, frameRatePolicy: 'strict' }),
      'mismatch',
    );
    expect(message).toContain('lacks a frame for reference frames 20, 21');
    expect(message).toContain("pass frameRatePolicy: 'nearest' to compare each");
  });

  it('say when one is shorter', async () => {
    const distorted = again(master(), 'short.mp4', ['-frames:v', '25']);
    const report = await score({ reference: master(), distorted }, FEATURES);
    expect(report.frameCount).toBe(25);
    expect(report.warnings.join()).toMatch(
      /has 40 frames and the distorted .* has 25 frames; only the first 25 pairs/,
    );
  });

  it('compare each reference frame with the nearest of another rate', async () => {
    const half = again(master(), 'half-rate.mp4', ['-r', '12.5']);
    const report = await score({ reference: master(), distorted: half }, FEATURES);
    expect(report.frameCount).toBe(40);
    expect(report.pairing?.frames.missing.count).toBe(20);
    expect(
      await failure(
        () => score({ reference: master(), distorted: half }, { ...FEATURES, frameRatePolicy: 'strict' }),
        'mismatch',
      ),
    ).toContain('distorted has 12.5 frames per second but reference has 25');
  });

  it('say which model they were given, and why', async () => {
    const report = await score(
      { reference: master(), distorted: copy() },
      { models: ['auto', 'auto:name=again:disable_clip'], preflight: false, frameCount: 3 },
    );
    expect(report.models.map(({ name, source }) => [name, source])).toEqual([
      ['vmaf', 'vmaf_v0.6.1'],
      ['again', 'vmaf_v0.6.1'],
    ]);
    expect(report.models[0]?.chosen).toContain('320x240');
    const large = await score(
      { reference: master(), distorted: copy() },
      { models: ['auto'], preflight: false, frameCount: 1, scaleTo: { width: 3840, height: 2160 } },
    );
    expect(large.models[0]).toMatchObject({ source: 'vmaf_4k_v0.6.1' });
    expect(large.models[0]?.chosen).toContain('3840x2160');
  });

  it('are refused from streams, URLs and without a decoder, each with what to do', async () => {
    const reference = master();
    expect(
      await failure(() => score({ reference, distorted: 'https://example.org/a.mp4' }, FEATURES), 'usage'),
    ).toContain('pass allowUrl');
    expect(
      await failure(() => score({ reference, distorted: copy() }, { ...FEATURES, decoder: 'none' }), 'media'),
    ).toContain('without a decoder only Y4M and raw YUV can be read');
    const bytes = new TextEncoder().encode(`\0\0\0\x20ftypisom${'x'.repeat(500)}`);
    expect(
      await failure(() => score({ reference, distorted: streamOf(bytes) }, FEATURES), 'media'),
    ).toContain('give encoded video as a file');
  });
});

describe('stored pairs', () => {
  const folder = scratchFolder();
  const pair = y4mPair(SMALL, 9);
  const reference = file(folder, 'r.y4m', pair.reference);
  const distorted = file(folder, 'd.y4m', pair.distorted);

  it('load no decoder, and go by number', async () => {
    const platform: Platform = {
      ...nodePlatform,
      decoders: () => Promise.reject(new Error('decoders were asked for')),
    };
    const { scorePair } = await import('../../../src/engine/score.js');
    for (const options of [{}, { scale: 'bicubic' }, { range: { unit: 'frames', start: 2 } }] as const) {
      const report = await scorePair(platform, { reference, distorted }, { ...FEATURES, ...options });
      expect(report.pairing?.frames.policy ?? 'number').toBe('number');
    }
  });

  it('of different sizes are refused unless scaling is asked for', async () => {
    const small = file(folder, 's.y4m', y4mPair({ ...SMALL, width: 64, height: 40 }, 9).distorted);
    expect(await failure(() => score({ reference, distorted: small }, FEATURES), 'mismatch')).toContain(
      'distorted is 64x40 but reference is 98x54',
    );
    const report = await score({ reference, distorted: small }, { ...FEATURES, scale: 'bilinear' });
    expect(report.pairing?.distorted.scaledBy).toBe('anyvmaf bilinear');
  });
});

describe.runIf(hasFfmpeg)(`several against one reference, ${needsFfmpeg}`, () => {
  const folder = scratchFolder();
  const master = () => encode({ codec: 'ffv1', frames: 40 });
  const copies = () => [
    again(master(), 'copy.mp4'),
    again(master(), 'quarter.mp4', ['-vf', 'scale=80:60']),
    again(master(), 'short.mp4', ['-frames:v', '25']),
  ];

  it.each([false, true])(
    'equal single runs, and decode the reference once (preflight: %s)',
    async (looks) => {
      const options = { ...FEATURES, preflight: looks };
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
      const seen: number[] = [];
      const reports = await scoreEach(platform, master(), [...copies(), master()], {
        ...options,
        onReport: (_, index) => seen.push(index),
      });
      expect(seen.sort()).toEqual([0, 1, 2, 3]);
      // Once for all four, and once as the last distorted video.
      expect(opened.filter((input) => input === master())).toHaveLength(2);
      for (const [i, distorted] of copies().entries()) {
        const alone = await score({ reference: master(), distorted }, options);
        const together = reports[i];
        expect(together?.warnings).toEqual(alone.warnings);
        expect(together?.preflight).toEqual(alone.preflight);
        expect(together && results(together)).toEqual(results(alone));
      }
    },
  );

  it('fail together, naming the one that is to blame', async () => {
    const bad = file(folder, 'bad.mp4', new TextEncoder().encode('\0\0\0\x20ftypisom'));
    expect(await failure(() => scoreMany(master(), [...copies(), bad], FEATURES), 'media')).toContain(
      'bad.mp4',
    );
  });

  it('go on without the ones that fail where somebody is told of them', async () => {
    const bad = file(folder, 'bad.mp4', new TextEncoder().encode('\0\0\0\x20ftypisom'));
    const told: [string, number][] = [];
    const onFailure = (error: AnyvmafError, index: number) => told.push([error.message, index]);
    const reports = await scoreMany(master(), [bad, ...copies()], { ...FEATURES, onFailure });
    expect(told).toEqual([[expect.stringContaining('bad.mp4'), 0]]);
    expect(reports.map(({ distorted }) => distorted.name)).toEqual(copies());
    told.length = 0;
    expect(await scoreMany(bad, copies(), { ...FEATURES, onFailure })).toEqual([]);
    expect(told.map(([, index]) => index).sort()).toEqual([0, 1, 2]);
    // What is wrong with all, and whoever stops them all, is not one's own failure.
    told.length = 0;
    expect(
      await failure(() => scoreMany(master(), copies(), { onFailure, features: ['nonsense'] }), 'feature'),
    ).toContain('nonsense');
    const stop = new AbortController();
    const running = scoreMany(master(), copies(), {
      ...FEATURES,
      onFailure,
      signal: stop.signal,
      onFrame: () => stop.abort(new Error('enough')),
    });
    await expect(running).rejects.toThrow('enough');
    expect(told).toEqual([]);
  });

  it('stop when asked', async () => {
    const stop = new AbortController();
    const running = scoreMany(master(), copies(), {
      ...FEATURES,
      signal: stop.signal,
      onFrame: () => stop.abort(new Error('enough')),
    });
    await expect(running).rejects.toThrow('enough');
  });

  it('refuse a reference that can be read only once', async () => {
    const stream = streamOf(y4mPair(SMALL, 3).reference);
    expect(await failure(() => scoreMany(stream, ['a.y4m', 'b.y4m']), 'usage')).toContain('only once');
  });
});

describe('pictures too small to be measured', () => {
  it('are named as such however they came to be so small', async () => {
    const raw = { width: 5, height: 64, bitDepth: 8, chroma: '420' } as const;
    const video = new Uint8Array((5 * 64 + 2 * 3 * 32) * 3);
    const tooSmall = (options: ScoreOptions) =>
      failure(() => score({ reference: video, distorted: video, raw }, options), 'media');
    for (const options of [{}, { scale: 'bicubic' }, { scale: 'none' }] as const) {
      expect(await tooSmall(options)).toContain('5x64, too small to be measured');
    }
    const { reference, distorted } = y4mPair(SMALL, 1);
    const shrunk = () => score({ reference, distorted }, { scaleTo: { width: 40, height: 16 } });
    expect(await failure(shrunk, 'media')).toContain('40x16, too small to be measured');
  });
});
