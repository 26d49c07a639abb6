import { describe, expect, it } from 'vitest';
import type { ScoreOptions } from '../../../src/engine/contract/types.js';
import { scorePair } from '../../../src/engine/score.js';
import { align, inspect, score } from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import {
  EVERY_PLANE,
  file,
  inParts,
  PSNR,
  results,
  SMALL,
  storedPair,
  streamOf,
  watchedPlatform,
  y4mPair,
} from '../../support/clips.js';
import { copyOf, encode, hasFfmpeg, makeFile, needsFfmpeg } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { smallModel } from '../../support/models.js';
import { refusalOf } from '../../support/refusals.js';
import { exhaustive, needsShared, sharedPath, tier } from '../../support/tier.js';

/** A video as ffmpeg's own Y4M. */
function dumped(path: string, options: readonly string[] = []): string {
  const key = `${path.replace(/^.*\//, '')}${options.join('')}`.replace(/\W+/g, '_');
  return makeFile(`${key}.y4m`, '-i', `file:${path}`, ...options, '-strict', '-1');
}

const seeking = sharedPath('clips/Seeking_30_480_1050.mp4');
const small = sharedPath('clips/Seeking_10_288_375.mp4');

describe('a model with CAMBI', () => {
  const folder = testFolder();
  const model = smallModel({
    feature_names: ['VMAF_integer_feature_adm2_score', 'Cambi_feature_cambi_score'],
  });
  const models = [`path=${file(folder, 'cambi.json', Buffer.from(JSON.stringify(model)))}`];
  const HD = { width: 256, height: 232, bitDepth: 10, chroma: '420' } as const;
  const SD = { width: 232, height: 220, bitDepth: 8, chroma: '420' } as const;
  const [master, small8] = [y4mPair(HD, 2), y4mPair(SD, 2)];
  const request = { reference: master.reference, distorted: small8.distorted };
  const options = { scale: 'bicubic', commonBitDepth: true, preflight: false, threads: 0 } as const;
  const TOLD = ':cambi.enc_width=232:cambi.enc_height=220:cambi.enc_bitdepth=8';
  const name = 'cambi_encbd_8_ench_220_encw_232';

  it('gets the size and depth of a scaled encode, as the report tells', async () => {
    const report = await score(request, { ...options, models });
    expect(report.metrics).toContain(name);
    const [model] = report.models;
    const given = 'enc_width=232, enc_height=220, enc_bitdepth=8';
    expect(model?.settings).toBe(`CAMBI was given the encode's format: ${given}.`);
    const told = await score(request, { ...options, models: [`${models[0]}${TOLD}`], v1Settings: 'plain' });
    expect(report.frames).toEqual(told.frames);
    expect((await inParts(request, 2, { ...options, models })).frames).toEqual(report.frames);
    const deep = await score(request, { ...options, models, pixelFormat: 'yuv420p10le' });
    expect(deep.metrics).toContain(name);
  });

  it.each<[string, ScoreOptions, keyof typeof request | undefined]>([
    ['with v1Settings plain', { models, v1Settings: 'plain' }, undefined],
    ['if the model string sets an option', { models: [`${models[0]}:cambi.enc_bitdepth=9`] }, undefined],
    ['if nothing is scaled', { models }, 'reference'],
  ])('gets no settings %s', async (_, asked, side) => {
    const distorted = side ? request[side] : request.distorted;
    const report = await score({ ...request, distorted }, { ...options, ...asked });
    expect(report.metrics.filter((metric) => /encw/.test(metric))).toEqual([]);
  });
});

describe.runIf(hasFfmpeg && seeking && small)(`known scores, ${needsFfmpeg}, ${needsShared}`, () => {
  const request = { reference: seeking ?? '', distorted: small ?? '' };

  const known =
    hasFfmpeg && seeking && small
      ? score(request, { preflight: false })
      : Promise.reject(new Error(needsFfmpeg));
  known.catch(() => {}); // reported by the tests that await it

  it('is 51.01716 for the Seeking pair, scaled bicubic', async () => {
    const report = await known;
    expect(report.pooled_metrics.vmaf?.mean).toBeCloseTo(51.01716, 5);
    expect(report.frameCount).toBe(150);
    const scaled = { decoder: 'ffmpeg', codec: 'h264', scaledBy: 'swscale bicubic' };
    expect(report.pairing?.distorted).toMatchObject(scaled);
    expect(report.reference).toMatchObject({ width: 720, height: 480, frameCount: 150 });
    expect(report.distorted).toMatchObject({ width: 384, height: 288 });
  });

  it('is within 0.05 of it, and on x86 the same, with our own resampler', async () => {
    const cut = (path: string) => dumped(path, ['-frames:v', tier('12', '150')]);
    const pair = { reference: cut(request.reference), distorted: cut(request.distorted) };
    const report = await score(pair, { scale: 'bicubic', preflight: false });
    // The motion of the last frame depends on the next one, which only the whole video has.
    const whole = report.frames.length === 150;
    for (const { frameNum, metrics } of whole ? report.frames : report.frames.slice(0, -1)) {
      const other = (await known).frames[frameNum]?.metrics.vmaf ?? 100;
      const difference = Math.abs((metrics.vmaf ?? 0) - other);
      expect(difference, `frame ${frameNum}`).toBeLessThan(process.arch === 'x64' ? 1e-4 : 0.5);
    }
    expect(report.pairing?.distorted.scaledBy).toBe('anyvmaf bicubic');
  });
});

describe.runIf(hasFfmpeg)(`pairs at the frames of the encode, ${needsFfmpeg}`, () => {
  const master = () => encode({ codec: 'ffv1', size: '96x64', frames: 60, rate: 60 });
  const EVEN = ['-vf', "select='not(mod(n,2))',setpts=N/30/TB", '-r', '30'];
  const halved = () => copyOf(master(), 'halved.mp4', EVEN);
  const every2nd = () => dumped(master(), EVEN);
  const OPTIONS: ScoreOptions = { ...EVERY_PLANE, pairBy: 'distorted' };

  it('score as the same pairs made with ffmpeg, in one thread and in several', async () => {
    const request = { reference: master(), distorted: halved() };
    const report = await score(request, OPTIONS);
    const byHand = await score({ reference: every2nd(), distorted: dumped(halved()) }, EVERY_PLANE);
    expect(report.frameCount).toBe(30);
    expect(results(report)).toEqual(results(byHand));
    expect(report.pairing?.frames).toMatchObject({
      ...{ policy: 'nearest', by: 'distorted', pairs: 30 },
      ...{ missing: { count: 0 }, repeated: { count: 0 } },
    });
    expect(results(await score(request, { ...OPTIONS, threads: 2 }))).toEqual(results(byHand));
    expect(results(await inParts(request, 2, OPTIONS))).toEqual(results(byHand));
    const stored = { reference: dumped(master()), distorted: dumped(halved()) };
    const y4m = await score(stored, OPTIONS);
    expect(results(y4m)).toEqual(results(byHand));
    // Paired by time, so there is no warning that frames are compared by number.
    expect(y4m.warnings).toEqual([]);
  });

  it('are as many to a second as the encode has', async () => {
    const request = { reference: master(), distorted: halved() };
    const report = await score(request, { ...OPTIONS, keep: { seconds: 1 / 3 } });
    expect(report.frames.map(({ frameNum }) => frameNum)).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
  });

  it('take a range of the reference and an offset', async () => {
    const late = copyOf(master(), 'late.mp4', ['-vf', `trim=start_frame=20,${EVEN[1]}`, '-r', '30']);
    const part = { ...OPTIONS, offset: 20, range: { unit: 'frames', start: 30, end: 50 } } as const;
    const report = await score({ reference: master(), distorted: late }, part);
    expect(report.frameCount).toBe(10);
    expect([report.reference.skipped, report.distorted.skipped]).toEqual([30, 5]);
    const moved = { ...OPTIONS, offset: -10 } as const;
    const early = await score({ reference: late, distorted: master() }, moved);
    expect([early.frameCount, early.distorted.skipped]).toEqual([40, 20]);
  });

  it('are advised by preflight, and resolve its warning', async () => {
    const request = { reference: master(), distorted: halved() };
    const before = await inspect(request);
    const expected = expect.objectContaining({ code: 'frame-rate', fix: "pairBy: 'distorted'" });
    expect(before.findings).toContainEqual(expected);
    const after = await score(request, { pairBy: 'distorted', models: [], features: ['psnr'] });
    expect(after.preflight?.map(({ code, severity }) => [code, severity])).toEqual([['frame-rate', 'info']]);
  });

  it('need frame times, and no strict frame rate policy', async () => {
    const raw = makeFile('halved.264', '-i', `file:${halved()}`, '-c', 'copy');
    const untimed = refusalOf('usage', () => score({ reference: master(), distorted: raw }, OPTIONS));
    expect(await untimed).toContain('halved.264 has no frame times');
    const both = { ...OPTIONS, frameRatePolicy: 'strict' } as const;
    const strict = refusalOf('usage', () => score({ reference: master(), distorted: halved() }, both));
    expect(await strict).toContain('leave one of them out');
  });
});

describe.runIf(hasFfmpeg)(`encoded pairs, ${needsFfmpeg}`, () => {
  const master = () => encode({ codec: 'ffv1', size: '128x96', frames: 40 });
  const copy = () => copyOf(master(), 'copy.mp4');
  const every = (reference: string, distorted: string, options: ScoreOptions = {}) =>
    score({ reference, distorted }, { ...EVERY_PLANE, ...options });
  const against = (distorted: string, options: ScoreOptions = {}) => every(master(), distorted, options);

  const kinds = [
    ['8 bit', 'yuv420p', []],
    ['10 bit', 'yuv420p10le', []],
    ['odd sizes', 'yuv444p', ['-vf', 'scale=97:65']],
    ['4:2:2', 'yuv422p', []],
    ['4:4:4', 'yuv444p', []],
  ] as const;
  it.each(kinds.slice(0, tier(3, kinds.length)))(
    'equal the same pairs as Y4M to the last bit: %s',
    async (kind, pixelFormat, extra) => {
      const made = { pixelFormat, size: '96x64', frames: 8 };
      const reference = encode({ ...made, codec: 'ffv1', extra });
      const distorted = encode({ ...made, codec: 'h264', extra: [...extra, '-crf', '36'] });
      const stored = results(await every(dumped(reference), dumped(distorted)));
      for (const threads of tier(kind === '8 bit' ? [0, 2] : [0], [0, 1, 3]))
        expect(results(await every(reference, distorted, { threads }))).toEqual(stored);
    },
  );

  it('may be encoded on one side only, or raw', async () => {
    const expected = results(await against(copy()));
    expect(results(await every(dumped(master()), copy()))).toEqual(expected);
    const raw = { width: 128, height: 96, bitDepth: 8, chroma: '420' } as const;
    const reference = makeFile('master.yuv', '-i', master());
    const partly = await score({ reference, distorted: copy(), raw }, EVERY_PLANE);
    expect(results(partly)).toEqual(expected);
    expect(partly.reference.container).toBe('yuv');
  });

  it('are brought to the higher depth and chroma format', async () => {
    const report = await against(copyOf(master(), 'deep.mp4', ['-pix_fmt', 'yuv444p10le']));
    const conversions = ['8 to 10 bit by a shift of 2', '4:2:0 to 4:4:4 by repeating chroma samples'];
    expect(report.pairing).toMatchObject({
      ...{ bitDepth: 10, chroma: '444' },
      ...{ reference: { conversions }, distorted: { conversions: [] } },
    });
    expect(report.reference.bitDepth).toBe(8);
  });

  it('are scaled to the distorted size or to another one on request', async () => {
    const distorted = copyOf(master(), 'half.mp4', ['-vf', 'scale=64:48']);
    const down = await against(distorted, { scaleTo: 'dis', scale: 'lanczos' });
    const reference = { scaledBy: 'swscale lanczos', width: 128 };
    expect(down.pairing).toMatchObject({ width: 64, height: 48, reference });
    expect(down.pairing?.distorted.scaledBy).toBeUndefined();
    const scaled = dumped(master(), ['-vf', 'scale=64:48:flags=lanczos']);
    expect(results(down)).toEqual(results(await every(scaled, dumped(distorted))));
    const size = { width: 100, height: 76 };
    expect((await against(distorted, { scaleTo: size })).pairing).toMatchObject(size);
    const message = await refusalOf('mismatch', () => against(distorted, { scale: 'none' }));
    expect(message).toContain('distorted is 64x48 but reference is 128x96');
    expect(message).toContain("Pass scale: 'bicubic'.");
  });

  it('count a range in frames or seconds, and an offset', async () => {
    const cut = (path: string, start: number, end: number) =>
      dumped(path, ['-vf', `trim=start_frame=${start}:end_frame=${end},setpts=PTS-STARTPTS`]);
    const expected = results(await every(cut(master(), 10, 20), cut(copy(), 10, 20)));
    const frames = { unit: 'frames', start: 10, end: 20 } as const;
    for (const range of [frames, { unit: 'seconds', start: 0.4, end: 0.8 }] as const) {
      const report = await against(copy(), { range });
      expect(results(report)).toEqual(expected);
      expect(report.pairing?.range).toEqual(range);
    }
    const stored = await every(dumped(master()), dumped(copy()), { range: frames });
    expect(results(stored)).toEqual(expected);

    const late = await against(copy(), { offset: 5 });
    expect(results(late)).toEqual(results(await every(cut(master(), 5, 40), cut(copy(), 0, 35))));
    expect(late.pairing?.frames).toMatchObject({ offset: 5, offsetRequested: 5, pairs: 35 });
    const early = await against(copy(), { offset: -3, frameCount: 4, skipReference: 2 });
    expect(results(early)).toEqual(results(await every(cut(master(), 2, 6), cut(copy(), 3, 7))));
    const beyond = { unit: 'frames', start: 40 } as const;
    expect(await refusalOf('usage', () => against(copy(), { range: beyond }))).toContain('only 40 frames');
  });

  it('find their offset once, though colour metrics read them separately', async () => {
    const reference = encode({ codec: 'ffv1', source: 'mandelbrot', frames: 60, size: '96x64' });
    const filters = ['-vf', 'trim=start_frame=7,setpts=PTS-STARTPTS,format=yuv444p'];
    const distorted = makeFile('late-444.mkv', '-i', `file:${reference}`, ...filters, '-c:v', 'ffv1');
    const { opened, platform } = watchedPlatform(nodePlatform);
    const features = ['psnr', 'ssimulacra2'];
    const options: ScoreOptions = { features, noPrediction: true, preflight: false, offset: 'auto' };
    const { pairing } = await scorePair(platform, { reference, distorted }, options);
    expect(pairing?.frames).toMatchObject({
      ...{ offset: 7, offsetRequested: 'auto', offsetState: 'found', pairs: 53 },
      offsetConfidence: expect.toSatisfy((confidence: number) => confidence > 0.9),
    });
    expect(opened.map(({ request }) => request.damage).sort()).toEqual([
      ...['accept', 'accept'],
      ...['refuse', 'refuse', 'refuse', 'refuse'],
    ]);
    const strict = { features: ['psnr'], strict: true, preflight: true };
    expect(await refusalOf('mismatch', () => every(reference, distorted, strict))).toContain('offset: 7');
    const found = await inspect({ reference, distorted });
    expect(found).toMatchObject({ alignment: { offset: 7 }, reference: { codec: 'ffv1' } });
  });

  it('pair by time if frames are missing, and list those', async () => {
    const distorted = copyOf(master(), 'gap.mkv', ['-vf', "select='not(between(n,20,21))'", '-vsync', 'vfr']);
    const report = await against(distorted);
    expect(report.frameCount).toBe(40);
    const lost = { missing: { count: 2, frames: [20, 21] }, dropped: { count: 0 } };
    expect(report.pairing?.frames).toMatchObject({ policy: 'nearest', ...lost });
    const straight = await against(copy());
    for (const { frameNum, metrics } of report.frames.slice(24)) {
      const same = straight.frames[frameNum]?.metrics.psnr_y ?? 0;
      expect(Math.abs((metrics.psnr_y ?? 0) - same)).toBeLessThan(3);
    }
    const message = await refusalOf('mismatch', () => against(distorted, { frameRatePolicy: 'strict' }));
    expect(message).toContain('no distorted frame for reference frames 20, 21');
    expect(message).toContain("pass frameRatePolicy: 'nearest' to compare each");
  });

  it('compare each reference frame with the nearest of another rate', async () => {
    const half = copyOf(master(), 'half-rate.mp4', ['-r', '12.5']);
    const report = await against(half);
    expect([report.frameCount, report.pairing?.frames.missing.count]).toEqual([40, 20]);
    const sentence = await refusalOf('mismatch', () => against(half, { frameRatePolicy: 'strict' }));
    expect(sentence).toContain('distorted has 12.5 frames per second but reference has 25');
  });

  it('tell which model was chosen, and why', async () => {
    const given = async (models: readonly string[], more: ScoreOptions) => {
      const options = { models, preflight: false, frameCount: 1, ...more };
      const report = await score({ reference: master(), distorted: copy() }, options);
      return report.models.map(({ name, source, chosen }) => ({ name, source, chosen }));
    };
    const [small, again] = await given(['auto', 'auto:name=again:disable_clip'], {});
    const chosen = expect.stringContaining('128x96');
    expect(small).toEqual({ name: 'vmaf', source: 'vmaf_v0.6.1', chosen });
    expect(again).toMatchObject({ name: 'again', source: 'vmaf_v0.6.1' });
    const [large] = await given(['auto'], { scaleTo: { width: 2576, height: 64 } });
    expect(large).toMatchObject({ source: 'vmaf_4k_v0.6.1', chosen: expect.stringContaining('2576x64') });
  });

  it('are refused from streams and URLs and without a decoder, with advice', async () => {
    expect(await refusalOf('usage', () => against('https://example.org/a.mp4'))).toContain(
      "pass allowUrl: ['example.org']",
    );
    const said = await refusalOf('media', () => against(copy(), { decoder: 'none' }));
    expect(said).toContain('without a decoder only Y4M and raw YUV can be read');
    const bytes = new TextEncoder().encode(`\0\0\0\x20ftypisom${'x'.repeat(500)}`);
    const streamed = { reference: master(), distorted: streamOf(bytes) };
    const answered = await refusalOf('media', () => score(streamed, EVERY_PLANE));
    expect(answered).toContain('give encoded video as a file');
  });
});

describe('stored pairs', () => {
  const folder = testFolder();
  const pair = y4mPair(SMALL, 9);
  const { reference, distorted } = storedPair(folder, 'small', pair);

  it('load no decoder, and are paired by number', async () => {
    const decoders = () => Promise.reject(new Error('decoders were asked for'));
    const platform = { ...nodePlatform, decoders };
    for (const options of [{}, { scale: 'bicubic' }, { range: { unit: 'frames', start: 2 } }] as const) {
      const report = await scorePair(platform, { reference, distorted }, { ...EVERY_PLANE, ...options });
      expect(report.pairing?.frames.policy ?? 'number').toBe('number');
    }
  });

  it('of different sizes are refused unless scaling is requested', async () => {
    const small = file(folder, 's.y4m', y4mPair({ ...SMALL, width: 64, height: 40 }, 9).distorted);
    const sentence = await refusalOf('mismatch', () => score({ reference, distorted: small }, EVERY_PLANE));
    expect(sentence).toContain('distorted is 64x40 but reference is 98x54');
    const report = await score({ reference, distorted: small }, { ...EVERY_PLANE, scale: 'bilinear' });
    expect(report.pairing?.distorted.scaledBy).toBe('anyvmaf bilinear');
    // Options that pair by time, or other frames, do not scale.
    for (const options of [{ offset: 1 }, { frameRatePolicy: 'nearest' }, { pairBy: 'distorted' }] as const) {
      const task = () => score({ reference, distorted: small }, { ...EVERY_PLANE, ...options });
      expect(await refusalOf('mismatch', task)).toContain('distorted is 64x40 but reference is 98x54');
    }
  });
});

describe('pictures that are too small', () => {
  it('are refused with their size, whether stored or scaled', async () => {
    const raw = { width: 5, height: 64, bitDepth: 8, chroma: '420' } as const;
    const video = new Uint8Array((5 * 64 + 2 * 3 * 32) * 3);
    const tooSmall = (options: ScoreOptions) =>
      refusalOf('media', () => score({ reference: video, distorted: video, raw }, options));
    for (const options of [{}, { scale: 'bicubic' }, { scale: 'none' }] as const)
      expect(await tooSmall(options)).toContain('5x64, too small to be measured');
    const { reference, distorted } = y4mPair(SMALL, 1);
    const withXpsnr = { models: [], features: ['ssimulacra2', 'xpsnr'] };
    expect(await tooSmall(withXpsnr)).toContain('butteraugli and cvvdp without a VMAF model accept');
    const shrunk = () => score({ reference, distorted }, { scaleTo: { width: 40, height: 16 } });
    expect(await refusalOf('media', shrunk)).toContain('40x16, too small to be measured');
  });

  it('are measured by colour metrics down to their own limits', async () => {
    const { reference, distorted } = y4mPair(SMALL, 2);
    const features = ['ssimulacra2', 'butteraugli', 'cvvdp'];
    const measured = (width: number, height: number) =>
      score({ reference, distorted }, { models: [], features, scaleTo: { width, height }, threads: 0 });
    const report = await measured(8, 9);
    expect(report.warnings).toEqual([]);
    expect(Object.values(report.frames[1]?.metrics ?? {}).every(Number.isFinite)).toBe(true);
    expect(report.metrics).toEqual(['ssimulacra2', 'butteraugli', 'butteraugli_3norm', 'cvvdp_q']);
    const cut = y4mPair({ ...SMALL, width: 9, height: 8 }, 2);
    const stored = await score(cut, { models: [], features, threads: 0 });
    expect(stored.warnings).toEqual([]);
    expect(stored.pooled_metrics.ssimulacra2?.mean).toBeLessThan(100);
    expect((await measured(2, 2)).frames.length).toBe(2);
    const sentence = await refusalOf('media', () => measured(2, 1));
    expect(sentence).toContain('2x1, too small to be measured; width and height must be at least 2.');
  });
});

describe.runIf(hasFfmpeg)(`offsets between different frame rates, ${needsFfmpeg}`, () => {
  const master = () => encode({ codec: 'ffv1', source: 'mandelbrot', size: '96x64', frames: 150, rate: 50 });
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '12'];
  const copy = (name: string, filter: string, ...more: string[]) =>
    copyOf(master(), name, ['-vf', filter, ...more], 12);
  /** Every second frame, from frame 12 on. */
  const later = () => copy('later.mp4', "select='gte(n,12)*not(mod(n,2))',setpts=N/25/TB", '-r', '25');
  /** Six frames of something else, then every second frame. */
  const earlier = () =>
    makeFile(
      'earlier.mp4',
      ...['-f', 'lavfi', '-i', 'testsrc2=s=96x64:r=50:d=0.24', '-i', `file:${master()}`],
      '-filter_complex',
      "[0:v]format=yuv420p[a];[a][1:v]concat=n=2:v=1,select='not(mod(n,2))',setpts=N/25/TB",
      ...['-r', '25', ...encoder],
    );

  /** A report, and the least PSNR of its pairs that show the same moment: every second one. */
  async function sameMoments(distorted: string, offset: number | 'auto', expected = offset) {
    const report = await score({ reference: master(), distorted }, { ...PSNR, offset });
    expect(report.pairing?.frames.offset).toBe(expected);
    const values = report.frames.filter((_, n) => n % 2 === 0).map(({ metrics }) => metrics.psnr_y ?? 0);
    return { report, least: Math.min(...values) };
  }

  it.each([
    ['later', later, 12, { reference: 12, distorted: 0 }],
    ['earlier', earlier, -12, { reference: 0, distorted: 6 }],
  ] as const)('count frames of the reference, whichever video begins %s', async (_, make, offset, match) => {
    const distorted = make();
    const found = await align({ reference: master(), distorted });
    expect(found).toMatchObject({ offset, reason: 'clear', match });
    expect(found.explanation).toContain(
      `Distorted frame ${match.distorted} shows reference frame ${match.reference},`,
    );
    const aligned = (await sameMoments(distorted, 'auto', offset)).least;
    expect(aligned).toBeGreaterThan(35);
    if (exhaustive) expect((await sameMoments(distorted, offset)).least).toBe(aligned);
    const { report, least } = await sameMoments(distorted, 0);
    expect(least).toBeLessThan(aligned - 10);
    const told = report.preflight?.find(({ code }) => code === 'offset');
    expect(told).toMatchObject({ ...match, fix: `offset: ${offset}` });
    // Reference frames without a partner.
    const unpaired = /continues for 12 frames after the distorted/.test(report.warnings.join());
    expect(unpaired).toBe(offset > 0);
  });

  it('do not hide that one is a part of the other', async () => {
    const reference = encode({ codec: 'ffv1', source: 'mandelbrot', size: '320x240', frames: 90, rate: 60 });
    const half = ['-vf', "select='not(mod(n,2))',setpts=N/30/TB,crop=320:224:0:0", '-r', '30'];
    const distorted = copyOf(reference, 'halved-cut.mp4', half, 20);
    const codes = async (options: ScoreOptions) => {
      const { preflight = [] } = await score({ reference, distorted }, { ...PSNR, ...options });
      return preflight.map(({ code }) => code);
    };
    expect(await codes({})).toContain('framing');
    expect(await codes({ skipReference: 40, skipDistorted: 20 })).toContain('framing');
  });

  it('are zero if single frames are missing', async () => {
    const gappy = copy('gappy.mp4', "select='not(eq(mod(n,17),3)+eq(mod(n,29),7))'", '-vsync', 'vfr');
    const found = await align({ reference: master(), distorted: gappy });
    expect(found).toMatchObject({ offset: 0, reason: 'clear', match: { reference: 0, distorted: 0 } });
    const { preflight = [] } = await score({ reference: master(), distorted: gappy }, PSNR);
    const codes = preflight.map(({ code }) => code);
    expect(codes).toContain('missing-frames');
    for (const code of ['offset', 'frame-rate', 'unwatched']) expect(codes).not.toContain(code);
    // Frames that both lack do not count as missing.
    const same = copyOf(gappy, 'gappy-same.mkv', ['-vsync', 'passthrough'], 30);
    const options = { ...PSNR, strict: true, frameRatePolicy: 'strict' } as const;
    const { pairing } = await score({ reference: gappy, distorted: same }, options);
    const none = { count: 0 };
    expect(pairing?.frames).toMatchObject({ policy: 'strict', missing: none, repeated: none });
  });

  it('do not make a pair refused, however far the rates differ', async () => {
    const few = copy('few.mp4', "select='not(mod(n,50))',setpts=N/TB", '-r', '1');
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

  it('do not fail if the clock of a stream jumps', async () => {
    const jumping = copy('jumping.ts', "setpts='PTS+gte(N,75)*100/TB'", '-vsync', 'passthrough');
    for (const [reference, distorted] of [
      [master(), jumping],
      [jumping, master()],
    ] as const) {
      const { preflight = [] } = await score({ reference, distorted }, PSNR);
      expect(preflight.map(({ code }) => code)).toContain('missing-frames');
    }
  });
});
