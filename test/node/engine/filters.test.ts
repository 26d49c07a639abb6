/**
 * @module test/node/engine/filters
 * Filters: what they do to stored and encoded video, refusals, and film grain.
 */
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  type Finding,
  formatHtml,
  formatReport,
  inspect,
  type Progress,
  prepareRun,
  readReport,
  type ScoreOptions,
  score,
  scoreMany,
  scoreShard,
  summarize,
} from '../../../src/index.js';
import { watchMeasurement } from '../../../src/live/link.js';
import { EXACT } from '../../../src/media/delivery.js';
import { openVideo } from '../../../src/media/open.js';
import { filteredSource } from '../../../src/media/own-filters.js';
import { brief } from '../../../src/report/brief.js';
import { trustOf } from '../../../src/report/trust.js';
import { inParts, PSNR } from '../../support/clips.js';
import {
  encode,
  encodeFolder,
  FFMPEG_MAJOR,
  ffmpeg,
  hasFfmpeg,
  makeFile,
  needsFfmpeg,
} from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { blankPlanes, noFiles, readAll } from '../../support/media.js';
import { tier } from '../../support/tier.js';

const raw = { width: 48, height: 36, bitDepth: 8, chroma: '420' } as const;
const FRAME = (48 * 36 * 3) / 2;
const bytes = new Uint8Array(2 * FRAME).map((_, i) => (i * 7) % 251);
const stored = (options: ScoreOptions) =>
  score({ reference: bytes, distorted: bytes, raw }, { threads: 0, ...options });

describe('filters of stored video', () => {
  it('are in the report, and do not change the score if both sides have them', async () => {
    const area = '32:24:8:4';
    const crops = { cropReference: area, cropDistorted: area, pixelFormat: 'yuv420p10le' };
    const report = await stored({ ...crops, preflight: false, features: ['psnr'] });
    const said = ['cropped to 32x24 at 8,4 of 48x36', 'yuv420p to yuv420p10le, as requested'];
    expect(report.pairing).toMatchObject({
      ...{ width: 32, height: 24, bitDepth: 10 },
      reference: { conversions: said },
      distorted: { conversions: said },
    });
    expect(report.pooled_metrics.psnr_y).toMatchObject({ mean: 72 });
  });

  it.each<[string, ScoreOptions, RegExp]>([
    [
      'beyond the picture',
      { cropReference: '40:40:0:0' },
      /cropReference is "40:40:0:0", which goes beyond the picture of 48x36/,
    ],
    ['between samples of chroma', { cropDistorted: '20:20:3:0' }, /cropDistorted .* requires even numbers\./],
    ['of nothing', { cropDistorted: '0:20' }, /WIDTH:HEIGHT/],
    ['with words', { cropDistorted: 'iw:ih/2' }, /WIDTH:HEIGHT/],
    ['twice', { crop: 'auto', cropReference: '20:20' }, /leave one of them out/],
    ['of another kind', { crop: 'all' as 'auto' }, /crop is "all", but it must be auto/],
    [
      'that ffmpeg has, of raw video',
      { vfDistorted: 'hflip' },
      /the distorted is not encoded, but the filters "hflip" need ffmpeg/,
    ],
    ['for another matrix, of raw video', { matrix: 'bt709' }, /matrix conversion needs ffmpeg/],
    ['to fewer bits', { pixelFormat: 'yuv444p' }, /conversion from yuv420p to yuv444p needs ffmpeg/],
    [
      'to RGB',
      { pixelFormat: 'gbrp' },
      /pixelFormat is "gbrp", but it must be one of ffmpeg's planar formats/,
    ],
    ['to a packed format', { pixelFormat: 'nv12' }, /pixelFormat is "nv12"/],
    ['of fields in progressive video', { deinterlace: true }, /no video is marked as interlaced/],
    ['that open files', { vfReference: 'movie=a.mkv' }, /vfReference names the filter "movie"/],
    [
      'to an unknown range',
      { colorRange: 'tv' as 'full' },
      /colorRange is "tv", but it must be limited or full/,
    ],
    ['that are not text', { vfReference: 5 as unknown as string }, /vfReference is 5, but it must be/],
  ])('refuses filters %s', async (_, options, message) => {
    await expect(stored(options)).rejects.toThrow(message);
  });

  it('does not look for borders in the dark', async () => {
    const dark = new Uint8Array(FRAME).fill(16);
    const run = score({ reference: dark, distorted: dark, raw }, { crop: 'auto', threads: 0 });
    await expect(run).rejects.toThrow(/too dark/);
  });
});

describe.runIf(hasFfmpeg)(`filters of encoded video (${needsFfmpeg})`, () => {
  const folder = testFolder();
  const reference = () => encode({ codec: 'ffv1', frames: 8, size: '160x120' });
  const distorted = () => encode({ codec: 'h264', frames: 8, size: '160x120', extra: ['-crf', '40'] });
  const pair = () => ({ reference: reference(), distorted: distorted() });

  it.each(tier(['mediabunny'] as const, ['mediabunny', 'wasm'] as const))(
    'of ffmpeg are refused if %s decodes',
    async (decoder) => {
      const both = { reference: distorted(), distorted: distorted() };
      const run = score(both, { ...PSNR, decoder, vfDistorted: 'hflip', threads: 0 });
      await expect(run).rejects.toThrow(
        `the distorted is decoded by ${decoder}, but the filters "hflip" need ffmpeg`,
      );
    },
  );

  it('report the errors of ffmpeg about their values', async () => {
    const run = score(pair(), { vfDistorted: 'crop=900:900', threads: 0 });
    await expect(run).rejects.toThrow(/ffmpeg cannot filter .* by "crop=900:900": /);
  });

  it('never reach a shell or a file', async () => {
    const marker = join(folder, 'made');
    const values = [
      `hflip;$(touch ${marker})`,
      `hflip'\`touch ${marker}\``,
      `metadata=print:file=${marker}`,
      `hflip,-y ${marker}`,
    ];
    for (const vfDistorted of values)
      await expect(score(pair(), { vfDistorted })).rejects.toThrow(/vfDistorted/);
    expect(existsSync(marker)).toBe(false);
  });

  it('are limited for foreign requests', async () => {
    const origin = { by: 'foreign' as const, folders: [encodeFolder()] };
    await expect(score(pair(), { origin, vfDistorted: 'nlmeans' })).rejects.toThrow(/not allowed here/);
    const report = await score(pair(), { origin, vfDistorted: 'hflip', vfReference: 'hflip', threads: 0 });
    expect(report.pairing?.distorted.conversions).toContain("filtered by ffmpeg's hflip");
  });

  it.each([
    ['gray', 8],
    ['gray10le', 10],
  ])('keep the luma if they leave out the chroma: %s', async (pixelFormat, bitDepth) => {
    const options = { features: ['psnr'], preflight: false, threads: 0 };
    const [colour, grey] = [
      await score(pair(), { ...options, pixelFormat: bitDepth === 8 ? 'yuv420p' : 'yuv420p10le' }),
      await score(pair(), { ...options, pixelFormat }),
    ];
    expect(grey.pairing).toMatchObject({ chroma: '400', bitDepth });
    for (const name of ['vmaf', 'psnr_y'])
      expect(grey.pooled_metrics[name]?.mean).toBe(colour.pooled_metrics[name]?.mean);
  });

  it.skipIf(FFMPEG_MAJOR >= 8).each([8, 10, 12, 16])(
    'give samples of %i bit the range that ffmpeg gives them before its version 8, without it',
    async (bitDepth) => {
      const raw = { width: 256, height: 2 ** bitDepth / 256, bitDepth, chroma: '444' } as const;
      const samples = Uint16Array.from({ length: 2 ** bitDepth }, (_, sample) => sample);
      const plane = bitDepth === 8 ? Uint8Array.from(samples) : new Uint8Array(samples.buffer);
      const bytes = Buffer.concat([plane, plane, plane]);
      const path = join(encodeFolder(), `samples-${bitDepth}.yuv`);
      writeFileSync(path, bytes);
      const name = `yuv444p${bitDepth === 8 ? '' : `${bitDepth}le`}`;
      const input = ['-f', 'rawvideo', '-pix_fmt', name, '-s', `256x${raw.height}`, '-i', path];
      for (const [from, to] of [
        ['full', 'limited'],
        ['limited', 'full'],
      ] as const) {
        const scale = `scale=in_range=${from}:out_range=${to}:flags=${EXACT},format=${name}`;
        const expected = readFileSync(makeFile(`${to}-${bitDepth}.yuv`, ...input, '-vf', scale));
        const stored = await openVideo(bytes, { raw, platform: noFiles });
        const { y, cb, cr } =
          (await readAll(filteredSource(stored, { range: { from, to } }), 0)) ?? blankPlanes(raw);
        expect(Buffer.concat([y, cb, cr]).equals(expected), to).toBe(true);
      }
    },
  );

  it('leave grey as it is if they convert the matrix', async () => {
    const grey = (name: string, matrix: string) =>
      makeFile(
        name,
        ...['-f', 'lavfi', '-i', 'nullsrc=s=128x64,geq=lum=16+X:cb=128:cr=128'],
        ...['-frames:v', '2', '-pix_fmt', 'yuv420p', '-colorspace', matrix, '-c:v', 'ffv1'],
      );
    const pair = { reference: grey('grey-709.mkv', 'bt709'), distorted: grey('grey-601.mkv', 'smpte170m') };
    const report = await score(pair, { ...PSNR, matrix: 'bt709', threads: 0 });
    expect(report.pairing?.distorted.conversions).toContain('matrix bt601 to bt709');
    expect(report.pooled_metrics.psnr_y?.mean).toBe(60);
  });

  it('crop 4:1:1 where they say, and rotated 4:2:2 at its own depth', async () => {
    const options = { ...PSNR, preflight: false, threads: 0 };
    const video = (name: string, ...args: string[]) => makeFile(name, ...args, '-c:v', 'ffv1');
    const source = ['-f', 'lavfi', '-i', 'testsrc2=s=128x64', '-frames:v', '2', '-pix_fmt', 'yuv411p'];
    const dv = video('dv.mkv', ...source);
    const part = video('dv-part.mkv', '-i', dv, '-vf', 'scale=flags=neighbor,format=yuv422p,crop=90:64:6:0');
    const cropped = await score(
      { reference: part, distorted: dv },
      { ...options, cropDistorted: '90:64:6:0' },
    );
    expect(cropped.pooled_metrics.psnr_y?.mean).toBe(60);
    const camera = encode({ codec: 'prores', pixelFormat: 'yuv422p10le', frames: 2 });
    const turned = makeFile('turned-422.mov', '-i', camera, '-c', 'copy', '-metadata:s:v', 'rotate=90');
    const crops = { cropReference: '200:300:20:10', cropDistorted: '200:300:20:10' };
    const report = await score({ reference: turned, distorted: turned }, { ...options, ...crops });
    expect(report.pairing).toMatchObject({ width: 200, height: 300, bitDepth: 10, chroma: '444' });
  });

  it('keep full range if they convert the matrix or the format', async () => {
    const grey = (name: string, matrix: string, format: string) =>
      makeFile(
        name,
        ...['-f', 'lavfi', '-i', 'nullsrc=s=128x64,geq=lum=2*X:cb=128:cr=128', '-frames:v', '2'],
        ...['-pix_fmt', format, '-colorspace', matrix, '-color_range', 'pc', '-c:v', 'ffv1'],
      );
    const reference = grey('full-709.mkv', 'bt709', 'yuv444p');
    const flipped = { vfReference: 'hflip', vfDistorted: 'hflip' };
    for (const [distorted, options] of [
      [grey('full-601.mkv', 'smpte170m', 'yuv444p'), { matrix: 'bt709' }],
      [grey('full-420.mkv', 'bt709', 'yuv420p'), { pixelFormat: 'yuv444p' }],
      [grey('full-601.mkv', 'smpte170m', 'yuv444p'), { matrix: 'bt709', ...flipped }],
      [grey('full-420.mkv', 'bt709', 'yuv420p'), { pixelFormat: 'yuv444p', ...flipped }],
    ] as const) {
      const settings = { ...PSNR, ...options, preflight: false, threads: 0 };
      const report = await score({ reference, distorted }, settings);
      // A change of range gives about 28 dB.
      expect(report.pooled_metrics.psnr_y?.mean).toBeGreaterThan(40);
    }
  });

  it('bring PQ to the range of its tone-mapped encode, as the finding advises', async () => {
    const label = (transfer: string, rest: string) =>
      `setparams=color_primaries=${rest}:color_trc=${transfer}:colorspace=${rest === 'bt2020' ? 'bt2020nc' : rest}`;
    const labelled = (name: string, ...words: [string, string]) =>
      makeFile(name, '-i', reference(), '-vf', label(...words), '-c:v', 'ffv1');
    const [pq, sdr] = [labelled('pq.mkv', 'smpte2084', 'bt2020'), labelled('sdr.mkv', 'bt709', 'bt709')];
    const mapped = { reference: pq, distorted: sdr };
    const report = await score(mapped, { threads: 0 });
    expect(report.pooled_metrics.vmaf?.mean).toBeGreaterThan(90);
    expect(trustOf(report)).toMatchObject({ verdict: 'untrusted', codes: ['dynamic-range'] });
    const { hint } = report.preflight?.find(({ code }) => code === 'dynamic-range') ?? {};
    const fix = hint?.purpose === 'prepare' ? hint.instead?.[0] : undefined;
    const mended = await score(mapped, { threads: 0, ...(fix && { [fix.option]: fix.value }) });
    expect(mended.preflight?.map(({ code }) => code)).not.toContain('dynamic-range');
  });

  it('swap chroma back, as the finding advises before and during a run', async () => {
    const swap = ['-i', reference(), '-vf', 'shuffleplanes=0:2:1', '-c:v', 'ffv1'];
    const swapped = makeFile('swapped-chroma.mkv', ...swap);
    const wrong = { reference: reference(), distorted: swapped };
    const codes = (found: readonly Finding[] = []) => found.map(({ code }) => code);
    expect(codes((await inspect(wrong)).findings)).toContain('chroma');
    const report = await score(wrong, { threads: 0 });
    expect(trustOf(report)).toMatchObject({ verdict: 'doubtful', fix: "vfDistorted: 'shuffleplanes=0:2:1'" });
    const mended = await score(wrong, { threads: 0, vfDistorted: 'shuffleplanes=0:2:1' });
    expect(codes(mended.preflight)).not.toContain('chroma');
  });

  it('apply to each pair if several share a reference', async () => {
    // Each frame that is searched for borders needs a process.
    const few = { frames: 3, size: '160x120' };
    const reference = encode({ codec: 'ffv1', ...few });
    const plain = encode({ codec: 'h264', ...few, extra: ['-crf', '40'] });
    const bars = makeFile('bars.mkv', '-i', plain, '-vf', 'crop=160:80,pad=160:120:0:20', '-c:v', 'ffv1');
    const reports = await scoreMany(reference, [plain, bars], { ...PSNR, crop: 'auto', threads: 0 });
    expect(reports.map(({ pairing }) => pairing?.reference.conversions)).toEqual([
      ['not cropped: no borders to cut off'],
      ['not cropped: no borders to cut off'],
    ]);
    const cut = await scoreMany(reference, [plain, bars], {
      ...{ ...PSNR, cropReference: '160:80', cropDistorted: '160:80', threads: 0, preflight: false },
    });
    const [a, b] = cut.map(({ pooled_metrics }) => pooled_metrics.psnr_y);
    expect(a).toEqual(b);
  });

  it.each([
    ['', {}],
    [', also if they remember earlier pictures', { vfDistorted: 'noise=alls=20:allf=t' }],
  ])('give the same in parts as in a whole run%s', async (_, filters) => {
    const options = {
      ...{ vfReference: 'crop=120:100', cropDistorted: '120:100', threads: 0, ...filters },
      ...{ features: ['psnr', 'motion'], noPrediction: true, preflight: false },
    } as const;
    const long = (crf: string) =>
      encode({ codec: 'h264', frames: 100, size: '160x120', extra: ['-crf', crf] });
    const request = { reference: long('10'), distorted: long('40') };
    expect((await inParts(request, 2, options)).frames).toEqual((await score(request, options)).frames);
  });

  it('do not hide that chroma samples are repeated before them', async () => {
    const reference = encode({ codec: 'ffv1', pixelFormat: 'yuv411p', size: '160x120', frames: 1 });
    const report = await score(
      { reference, distorted: reference },
      { ...PSNR, vfReference: 'hflip', threads: 0 },
    );
    const note = 'chroma samples of 4:1:1 repeated, as 4:2:2';
    expect(report.pairing?.reference.conversions).toEqual([note, "filtered by ffmpeg's hflip"]);
    expect(report.pairing?.distorted.decodedBy).toContain(note);
  });

  it('make ffmpeg read Y4M if they need it', async () => {
    const y4m = join(folder, 'stored.y4m');
    ffmpeg(y4m, ['-i', distorted(), '-pix_fmt', 'yuv420p']);
    const report = await score(
      { reference: y4m, distorted: y4m },
      { ...PSNR, vfReference: 'hflip', vfDistorted: 'hflip', threads: 0 },
    );
    const conversions = ["filtered by ffmpeg's hflip"];
    expect(report.pairing?.reference).toMatchObject({ decoder: 'ffmpeg', conversions });
  });

  it('are stopped if they make far more frames than the video has, by a rate or a gap in its times', async () => {
    const plain = encode({ codec: 'ffv1', size: '48x36', frames: 8 });
    const gap = ffmpeg(join(folder, 'gap.mkv'), [
      ...['-i', plain, '-vf', 'setpts=PTS+gt(N\\,5)*100000/TB', '-vsync', 'vfr', '-c:v', 'ffv1'],
    ]);
    const make = (path: string, vf: string) => {
      const filters = { vfReference: vf, vfDistorted: vf, preflight: false };
      return score(
        { reference: path, distorted: path },
        { ...PSNR, ...filters, threads: 0, decoder: 'ffmpeg' },
      );
    };
    await expect(make(gap, 'fps=25')).rejects.toThrow(
      /^the filters "fps=25" make more than 1512 frames from the 8 of .*gap\.mkv, whose timestamps may have a gap; use a lower rate/,
    );
    await expect(make(plain, 'fps=100000')).rejects.toThrow(/make more than 1512 frames from the 8/);
    expect((await make(plain, 'fps=100')).frames.length).toBeGreaterThan(25);
  });
});

describe.runIf(hasFfmpeg)(`film grain of AV1, ${needsFfmpeg}`, () => {
  const master = () => encode({ codec: 'ffv1', source: 'testsrc2', size: '192x108', frames: 6, rate: 25 });
  const grainy = () =>
    makeFile(
      'grain.mp4',
      ...['-i', `file:${master()}`, '-pix_fmt', 'yuv420p', '-c:v', 'libsvtav1', '-preset', '10'],
      ...['-crf', '30', '-svtav1-params', 'film-grain=50'],
    );
  const run = (options: ScoreOptions) =>
    score({ reference: master(), distorted: grainy() }, { threads: 0, ...options });

  it('is added unless turned off, as the report tells, and can be measured both ways for one report', async () => {
    const features = ['psnr', 'ssimulacra2'];
    const [on, off] = [await run({ features }), await run({ grain: 'off', features })];
    expect(on.preflight?.map(({ code, fix }) => [code, fix])).toContainEqual(['film-grain', "grain: 'off'"]);
    expect(off.preflight?.map(({ code }) => code)).not.toContain('film-grain');
    expect(on.pairing?.distorted.conversions).not.toContain('film grain left out');
    expect(off.pairing?.distorted.conversions).toContain('film grain left out');
    expect(off.pooled_metrics.vmaf?.mean).toBeGreaterThan(on.pooled_metrics.vmaf?.mean ?? Number.NaN);
    const seen: Progress[] = [];
    const both = await run({ grain: 'both', features, onProgress: (one) => seen.push(one) });
    expect(both.frames).toEqual(on.frames);
    expect(both.pairing).toEqual(on.pairing);
    expect(both.withoutGrain).toEqual(
      off.metrics.map((metric) => ({ metric, value: off.pooled_metrics[metric]?.mean })),
    );
    expect(seen.at(-1)).toMatchObject({ framesDone: 6, framesTotal: 6 });
    const [vmaf] = both.withoutGrain?.filter(({ metric }) => metric === 'vmaf') ?? [];
    const said = [on.pooled_metrics.vmaf?.mean, vmaf?.value].map((value) => value?.toFixed(4)).join('   *');
    expect(summarize(both)).toMatch(new RegExp(`Film grain[^]*\\n  vmaf  +${said}\\n`));
    expect(brief(both)).toContain(`Without film grain: vmaf ${vmaf?.value.toFixed(4)}, psnr_y `);
    expect(await formatHtml(both)).toContain('Without film grain: ');
    const saved = readReport(formatReport(both, 'json', { precision: 'max' }), 'both.json');
    expect(saved.withoutGrain).toEqual(both.withoutGrain);
  });

  it('is measured once if no decoder adds any', async () => {
    const plain = { reference: master(), distorted: master() };
    const report = await score(plain, { threads: 0, grain: 'both', models: [], features: ['psnr'] });
    expect(report.withoutGrain).toEqual([]);
    expect(summarize(report)).toMatch(/film grain +no decoder adds film grain; both/);
  });

  it('is found with any decoder', async () => {
    const without = encode({ codec: 'av1', size: '192x108', frames: 6 });
    const codes = async (distorted: string) => {
      const options = { ...PSNR, threads: 0, decoder: 'mediabunny' } as const;
      const report = await score({ reference: without, distorted }, options);
      return report.preflight?.map(({ code }) => code);
    };
    const mkv = makeFile('grain.mkv', '-i', `file:${grainy()}`, '-c', 'copy');
    for (const path of tier([mkv], [grainy(), mkv])) expect(await codes(path)).toContain('film-grain');
    expect(await codes(without)).not.toContain('film-grain');
  });

  it('cannot be turned off in other decoders, or measured twice in streams, shards and samples', async () => {
    const alone = { reference: grainy(), distorted: grainy() };
    for (const grain of tier(['both'] as const, ['off', 'both'] as const))
      await expect(score(alone, { grain, decoder: 'mediabunny' })).rejects.toThrow(
        `grain is ${grain}, but the decoder mediabunny always adds the grain of `,
      );
    const run = scoreShard(alone, { number: 1, count: 2 }, { grain: 'both' });
    await expect(run).rejects.toThrow('grain is both, but a shard measures its frames once');
    const work = score(alone, { grain: 'both', samples: 'auto' });
    await expect(work).rejects.toThrow("samples and grain 'both' exclude each other");
    const watched = await prepareRun(alone, { grain: 'both' });
    watchMeasurement(watched, { alarms: [] });
    await expect(watched.start()).rejects.toThrow('but a run that is watched measures its frames once');
    const stream = createReadStream(master());
    const piped = { reference: Readable.toWeb(stream) as ReadableStream<Uint8Array>, distorted: grainy() };
    const message = 'grain is both, which measures the pair twice, but one of the videos is a stream';
    await expect(score(piped, { grain: 'both' })).rejects.toThrow(message);
  });
});
