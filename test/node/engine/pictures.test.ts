/**
 * @module test/node/engine/pictures
 * RGB, pictures with alpha, single pictures, image sequences, and encoded video from pipes, compared by a stated conversion as
 * ffmpeg does it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, createReadStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { inspect, score, trustOf } from '../../../src/index.js';
import { comparable, inParts, PSNR } from '../../support/clips.js';
import { copyOf, encode, makeFile as file, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { FileServer } from '../../support/file-server.js';
import { testFolder } from '../../support/folders.js';
import { tier } from '../../support/tier.js';

const EXACT = 'flags=bicubic+accurate_rnd+full_chroma_int';
const FROM_RGB = `scale=out_color_matrix=bt709:out_range=limited:${EXACT}`;
const BY_601 = FROM_RGB.replace('bt709', 'bt601');
const STATED = `by the matrix BT.709 in limited range (${FROM_RGB})`;

describe.runIf(hasFfmpeg)(`RGB and pictures (${needsFfmpeg})`, () => {
  const png = () =>
    file('still.png', '-f', 'lavfi', '-i', 'testsrc2=s=192x128', '-frames:v', '1', '-pix_fmt', 'rgb24');
  const from = (name: string, ...args: string[]) => file(name, '-i', png(), '-frames:v', '1', ...args);
  const y4m = (name: string, path: string, chain: string) =>
    file(name, '-i', path, '-vf', chain, '-strict', '-1', '-f', 'yuv4mpegpipe');

  /** How to make each kind, the pixel format that ffmpeg decodes, and the one compared. */
  const kinds: readonly (readonly [string, () => string, string, string, string[]])[] = [
    ['jpeg', () => from('still.jpg', '-q:v', '6'), 'yuvj444p', 'yuv444p', []],
    ['png with alpha', () => from('alpha.png', '-pix_fmt', 'rgba'), 'rgba', 'yuv444p', ['alpha left out']],
    ['gbrp', () => from('rgb.mkv', '-c:v', 'ffv1', '-pix_fmt', 'gbrp10le'), 'gbrp10le', 'yuv444p10le', []],
    ['a palette', () => from('palette.png', '-pix_fmt', 'pal8'), 'pal8', 'yuv444p', []],
    ['gif', () => from('still.gif'), 'bgra', 'yuv444p', ['alpha left out']],
  ];
  it.each(kinds.slice(0, tier(3, kinds.length)))(
    'compares %s with PNG by a conversion that the report states',
    async (name, make, decoded, format, alpha) => {
      const distorted = make();
      const options = { threads: 0, ...PSNR, commonBitDepth: true, preflight: false } as const;
      const report = await score({ reference: png(), distorted }, options);
      // JPEG has a matrix, which applies to the other picture too.
      const jpeg = name === 'jpeg';
      const by = jpeg ? BY_601 : FROM_RGB;
      const stated = jpeg ? `by the matrix BT.601 in limited range (${BY_601})` : STATED;
      const fromRgb = name === 'a palette' ? `format=rgb24,${FROM_RGB}` : FROM_RGB;
      const byRgb = `${decoded} (RGB) to ${format} ${STATED.replace(FROM_RGB, fromRgb)}`;
      const converted = jpeg ? 'colour range full to limited' : byRgb;
      const chain = jpeg ? `scale=in_range=full:out_range=limited:${EXACT}` : fromRgb;
      expect(report.pairing?.reference.conversions[0]).toBe(`rgb24 (RGB) to yuv444p ${stated}`);
      expect(report.pairing?.distorted.conversions).toEqual(expect.arrayContaining([converted, ...alpha]));
      const plain = {
        reference: y4m(`reference-${name}.y4m`, png(), `${by},format=yuv444p`),
        distorted: y4m(`${name.replaceAll(' ', '-')}.y4m`, distorted, `${chain},format=${format}`),
      };
      const expected = await score(plain, options);
      expect(report.frames[0]?.metrics).toEqual(expected.frames[0]?.metrics);
      expect(report.frames.length).toBe(1);
    },
  );

  it('compares AVIF with PNG as the picture that ffmpeg decodes', async () => {
    const made = ['-vf', `${FROM_RGB},format=yuv444p`, '-colorspace', 'bt709', '-color_range', 'tv'];
    const distorted = from('still.avif', ...made, '-c:v', 'libaom-av1', '-still-picture', '1', '-crf', '45');
    const options = { threads: 0, ...PSNR, preflight: false } as const;
    const report = await score({ reference: png(), distorted }, options);
    expect(report.pairing?.distorted).toMatchObject({
      codec: 'av1',
      pixelFormat: 'yuv444p',
      conversions: [],
    });
    const plain = {
      reference: y4m('avif-reference.y4m', png(), `${FROM_RGB},format=yuv444p`),
      distorted: y4m('avif.y4m', distorted, 'null'),
    };
    const expected = await score(plain, options);
    expect(report.frames).toEqual(expected.frames);
    expect(report.frames.length).toBe(1);
    expect(report.frames[0]?.metrics.psnr_y).toBeLessThan(60);
  });

  const moving = (name: string, ...args: string[]) =>
    file(name, '-f', 'lavfi', '-t', '0.4', '-i', 'testsrc2=s=192x128:r=25', ...args);
  const master = () => moving('rgb-master.mkv', '-pix_fmt', 'gbrp', '-c:v', 'ffv1');
  const encoded = (name: string, ...args: string[]) => copyOf(master(), name, args, 12);
  const by709 = ['-vf', `scale=out_color_matrix=bt709:${EXACT},format=yuv420p`];
  const label = ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'];

  const conversions: readonly (readonly [string, () => string, string, string])[] = [
    ['by default', () => encoded('by-default.mp4', '-pix_fmt', 'yuv420p'), '601', 'fits the colours'],
    ['by BT.709 without a label', () => encoded('by-709.mp4', ...by709), '709', 'fits the colours'],
    ['by its label', () => encoded('labelled-709.mp4', ...by709, ...label), '709', 'as distorted states'],
  ];
  it.each(conversions.slice(0, tier(2, conversions.length)))(
    'converts an RGB master as its encode was: %s',
    async (_, make, matrix, why) => {
      const options = { threads: 0, features: ['psnr'] } as const;
      for (const decoder of tier<readonly ('ffmpeg' | 'wasm')[]>(['ffmpeg'], ['ffmpeg', 'wasm'])) {
        const report = await score({ reference: master(), distorted: make() }, { ...options, decoder });
        const [conversion] = report.pairing?.reference.conversions ?? [];
        expect(conversion).toContain(`by the matrix BT.${matrix} in limited range`);
        const finding = { code: 'matrix', severity: 'info', message: expect.stringContaining(why) };
        expect(report.preflight).toContainEqual(expect.objectContaining(finding));
        expect(trustOf(report).codes).not.toContain('levels');
        const chain = `scale=out_color_matrix=bt${matrix}:out_range=limited:${EXACT},format=yuv444p`;
        const careful = { reference: y4m(`careful-${matrix}.y4m`, master(), chain), distorted: make() };
        const right = await score(careful, { ...options, preflight: false, frameRatePolicy: 'nearest' });
        expect(report.pooled_metrics.vmaf?.mean).toBeCloseTo(right.pooled_metrics.vmaf?.mean ?? 0, 6);
        expect(report.pooled_metrics.vmaf?.mean).toBeGreaterThan(90);
      }
    },
  );

  it('RGB keeps the matrix of the other video if it is filtered too, and as the distorted video', async () => {
    const pair = { reference: encoded('by-default.mp4', '-pix_fmt', 'yuv420p'), distorted: master() };
    const crops = { cropReference: '160:96:0:0', cropDistorted: '160:96:0:0' };
    const { findings } = await inspect(pair, { ...crops, models: [] });
    expect(findings.filter(({ severity, code }) => severity === 'warning' && code !== 'swapped')).toEqual([]);
    const matrix = { code: 'matrix', message: expect.stringContaining('the matrix smpte170m') };
    expect(findings).toContainEqual(expect.objectContaining(matrix));
  });

  it(`${tier('WebP has', 'WebP and GIF have')} the same score with every decoder`, async () => {
    const video = moving('of-pictures.mkv', '-frames:v', '1', '-pix_fmt', 'yuv420p', '-c:v', 'ffv1');
    const kinds = [['one.webp', '-quality', '90'], ['one.gif']] as const;
    for (const [name, ...args] of kinds.slice(0, tier(1, 2))) {
      const distorted = file(name, '-i', video, ...args);
      const [one, other] = await Promise.all(
        (['ffmpeg', 'wasm'] as const).map((decoder) =>
          score({ reference: video, distorted }, { threads: 0, ...PSNR, decoder }),
        ),
      );
      expect(other?.frames).toEqual(one?.frames);
      expect(one?.frames[0]?.metrics.psnr_y).toBeGreaterThan(name === 'one.webp' ? 35 : 25);
    }
  });

  it('reports this also for separately coded alpha, which decoders leave out', async () => {
    const webm = encode({ codec: 'vp9', pixelFormat: 'yuva420p', frames: 2, size: '160x120' });
    const av1 = ['-c:v', 'libaom-av1', '-cpu-used', '8'];
    const planes = ['-map', '0', '-map', '0', '-filter:v:1', 'alphaextract', ...av1];
    const avif = file('alpha.avif', '-i', from('alpha.png', '-pix_fmt', 'rgba'), ...planes);
    const opaque = file('opaque.avif', '-i', png(), ...av1);
    const told = async (path: string) => {
      const options = { threads: 0, features: ['ssimulacra2'], noPrediction: true } as const;
      return (await score({ reference: path, distorted: path }, options)).pairing?.distorted.conversions;
    };
    expect(await told(webm)).toEqual(['alpha left out']);
    expect(await told(avif)).toEqual(['alpha left out']);
    expect(await told(opaque)).toEqual([]);
  });

  it('JPEG is in limited range also if it is cropped', async () => {
    const distorted = from('to-crop.jpg', '-q:v', '6');
    const crop = '160:96:0:0';
    const options = { threads: 0, ...PSNR, preflight: false } as const;
    const crops = { cropReference: crop, cropDistorted: crop };
    const report = await score({ reference: png(), distorted }, { ...options, ...crops });
    const toLimited = `scale=in_range=full:out_range=limited:${EXACT},format=yuv444p`;
    const plain = {
      reference: y4m('crop-reference.y4m', png(), `${BY_601},format=yuv444p,crop=${crop}`),
      distorted: y4m('crop-jpeg.y4m', distorted, `${toLimited},crop=${crop}`),
    };
    expect(report.frames[0]?.metrics).toEqual((await score(plain, options)).frames[0]?.metrics);
  });

  it('the report states conversions also if nothing is cropped', async () => {
    const distorted = from('uncropped.jpg', '-q:v', '6');
    const options = { threads: 0, ...PSNR, preflight: false, crop: 'auto' } as const;
    const { pairing } = await score({ reference: png(), distorted }, options);
    expect(pairing?.distorted.conversions).toEqual(
      expect.arrayContaining(['colour range full to limited', 'not cropped: no borders to cut off']),
    );
    expect(pairing?.reference.conversions.join()).toContain('(RGB) to yuv444p');
  });

  it('grey pictures are converted to limited range like others', async () => {
    const reference = from('grey.png', '-pix_fmt', 'gray');
    const distorted = file('grey.jpg', '-i', reference, '-q:v', '2');
    const report = await score({ reference, distorted }, { threads: 0, ...PSNR, preflight: false });
    expect(report.pairing?.reference.conversions).toContain('colour range full to limited');
    expect(report.frames[0]?.metrics.psnr_y).toBeGreaterThan(35);
  });

  it('a palette is converted by the stated matrix', async () => {
    const bars = ['-f', 'lavfi', '-i', 'smptehdbars=s=192x128', '-frames:v', '1'];
    const reference = file('bars.png', ...bars, '-pix_fmt', 'rgb24');
    const palette = 'split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none';
    const distorted = file('bars-8.png', '-i', reference, '-filter_complex', palette, '-pix_fmt', 'pal8');
    const report = await score({ reference, distorted }, { threads: 0, ...PSNR, preflight: false });
    expect(report.frames[0]?.metrics.psnr_y).toBe(60);
  });

  it('compares AVIF behind a signed URL as from a file', async () => {
    const chain = 'scale=out_color_matrix=bt709:out_range=full,format=yuv444p';
    const made = ['-vf', chain, '-colorspace', 'bt709', '-color_range', 'pc', '-c:v', 'libaom-av1'];
    const path = from('full.avif', ...made, '-still-picture', '1', '-crf', '45');
    await using server = await FileServer.start();
    const url = `${server.add('/full.avif', readFileSync(path))}?X-Amz-Signature=secret`;
    const options = { threads: 0, ...PSNR, preflight: false } as const;
    const local = await score({ reference: png(), distorted: path }, options);
    const remote = await score({ reference: png(), distorted: url }, { ...options, allowUrl: [server.host] });
    expect(remote.frames[0]?.metrics).toEqual(local.frames[0]?.metrics);
  });
});

describe.runIf(hasFfmpeg)(`encoded video from pipes (${needsFfmpeg})`, () => {
  const folder = testFolder();
  const video = () => encode({ codec: 'h264', frames: 12, size: '160x120', extension: 'mkv' });
  const low = () =>
    encode({ codec: 'h264', frames: 12, size: '160x120', extra: ['-crf', '44'], extension: 'mkv' });
  const piped = (path: string) => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>;
  const cut = (path: string, bytes: number) => new Blob([readFileSync(path).subarray(0, bytes)]).stream();

  it('is decoded in order, with the values of a file', async () => {
    const whole = await score({ reference: video(), distorted: low() }, { threads: 0, ...PSNR });
    const request = { reference: piped(video()), distorted: piped(low()) };
    const report = await score(request, { threads: 0, ...PSNR });
    expect(report.frames).toEqual(whole.frames);
    // Both streams have the same name.
    expect(report.warnings).toEqual([
      expect.stringMatching(
        /^the stream was decoded in order by ffmpeg \S+; its frames are paired by number\.$/,
      ),
    ]);
  });

  it('is refused where its size changes, which ffmpeg would hide by scaling', async () => {
    const parts = ['160x120', '320x240'].map((size) =>
      readFileSync(encode({ codec: 'h264', frames: 12, size, extension: 'h264' })),
    );
    const reference = encode({ codec: 'h264', frames: 24, size: '160x120', extension: 'mkv' });
    const run = score({ reference, distorted: new Blob(parts).stream() }, { threads: 0, preflight: false });
    await expect(run).rejects.toThrow(/changes from 160x120 yuv420p to 320x240 yuv420p/);
  });

  it('may be a recording that starts between key frames', async () => {
    const extra = ['-g', '25', '-preset', 'medium'];
    const path = encode({ codec: 'h264', frames: 60, extension: 'ts', extra });
    const reference = file(
      'after-25.mkv',
      '-i',
      path,
      '-vf',
      'trim=start_frame=25,setpts=PTS-STARTPTS',
      '-c:v',
      'ffv1',
    );
    const late = new Blob([readFileSync(path).subarray(100 * 188)]).stream();
    const report = await score({ reference, distorted: late }, { threads: 0, preflight: false, ...PSNR });
    expect(report.frames.length).toBe(35);
    expect(report.pooled_metrics.psnr_y?.min).toBe(60);
    expect(report.warnings.join('\n')).toMatch(
      /the beginning of .* cannot be decoded .* starts between key frames/,
    );
  });

  it.skipIf(process.platform === 'win32')('is decoded in order from a FIFO', async () => {
    const fifo = join(folder, 'live.mkv');
    execFileSync('mkfifo', [fifo]);
    const whole = await score({ reference: video(), distorted: low() }, { threads: 0, ...PSNR });
    const writer = spawn('sh', ['-c', 'cat "$0" > "$1"', low(), fifo], { stdio: 'ignore' });
    const ended = new Promise((resolve) => writer.once('close', resolve));
    const report = await score({ reference: video(), distorted: fifo }, { threads: 0, ...PSNR });
    expect(await ended).toBe(0);
    expect(report.frames).toEqual(whole.frames);
    expect(report.warnings).toEqual([expect.stringMatching(/live\.mkv was decoded in order by/)]);
  });

  it('is refused with the message of ffmpeg if it is cut off', async () => {
    const run = score({ reference: video(), distorted: cut(low(), 1500) }, { threads: 0 });
    const wanted = /^ffmpeg cannot decode the stream without seeking: .*; give encoded video as a file/;
    await expect(run).rejects.toThrow(wanted);
  });

  it('is refused if it is RGB, whose conversion must be stated', async () => {
    const rgb = encode({ codec: 'ffv1', pixelFormat: 'gbrp', frames: 3, size: '160x120' });
    await expect(score({ reference: video(), distorted: piped(rgb) }, { threads: 0 })).rejects.toThrow(/RGB/);
  });

  it('is refused without a decoder', async () => {
    const run = score({ reference: video(), distorted: piped(low()) }, { threads: 0, decoder: 'mediabunny' });
    await expect(run).rejects.toThrow(/is not a Y4M file but a Matroska or WebM file/);
  });

  it('is not read to its end', async () => {
    const report = await score(
      { reference: piped(video()), distorted: piped(low()) },
      { threads: 0, frameCount: 2, ...PSNR },
    );
    expect(report.frames.length).toBe(2);
    const stop = new AbortController();
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(readFileSync(low()).subarray(0, 2000)),
    });
    const run = score({ reference: video(), distorted: endless }, { threads: 0, signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 300);
    await expect(run).rejects.toThrow('enough');
  });
});

describe.runIf(hasFfmpeg)(`sequences of pictures (${needsFfmpeg})`, () => {
  // Characters that are special to ffmpeg.
  const home = join(testFolder(), '100%d [a]{b} ');
  const at = (...parts: string[]) => join(home, ...parts);
  const video = at('video.mkv');
  const run = (...args: string[]) =>
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { cwd: home });

  beforeAll(() => {
    for (const folder of ['shots', 'low', 'mixed', 'empty', 'gap'])
      mkdirSync(at(folder), { recursive: true });
    const source = ['-f', 'lavfi', '-i', 'testsrc2=s=128x96:r=24000/1001', '-frames:v', '6'];
    run(...source, '-c:v', 'ffv1', '-pix_fmt', 'gbrp', 'video.mkv');
    run('-i', 'video.mkv', '-start_number', '4', 'shots/frame_%04d.png');
    run('-i', 'video.mkv', '-q:v', '9', '-start_number', '4', 'low/frame_%d.jpg');
    for (const n of [1, 2, 4]) copyFileSync(at('shots', `frame_000${n + 3}.png`), at('gap', `0${n}.png`));
    copyFileSync(at('shots', 'frame_0004.png'), at('mixed', 'a.png'));
    copyFileSync(at('low', 'frame_4.jpg'), at('mixed', 'a.jpg'));
    writeFileSync(at('empty', 'notes.txt'), 'nothing');
    writeFileSync(at('shots', 'notes.txt'), 'nothing');
    writeFileSync(at('shots', 'frame_0001x.txt'), 'nothing');
  });

  const options = { threads: 0, ...PSNR, rate: '24000/1001', preflight: false } as const;

  it.each([
    ['numbers', () => at('shots', 'frame_%04d.png')],
    ['numbers of a width', () => at('shots', 'frame_%4d.png')],
    ...tier([], [['a pattern', () => at('shots', '*.png')] as const]),
    ['a pattern of letters', () => at('shots', 'frame_00??.png')],
    ['a folder', () => at('shots')],
  ] as const)('are found by %s, and equal the video that they come from', async (_, name) => {
    const report = await score({ reference: video, distorted: name() }, options);
    expect(report.frames.length).toBe(6);
    expect(report.pooled_metrics.psnr_y).toMatchObject({ min: 60, mean: 60 });
    expect(report.pairing?.distorted).toMatchObject({ codec: 'png', frameRate: { num: 24000, den: 1001 } });
    const said = report.pairing?.distorted.conversions[0];
    expect(said).toMatch(/^rgb24 \(RGB\) to yuv444p by the matrix BT\.709/);
    expect(report.distorted.frameCount).toBe(6);
  });

  it('are compared with each other, JPEG with PNG', async () => {
    const report = await score({ reference: at('shots'), distorted: at('low', 'frame_%d.jpg') }, options);
    expect(report.frames.length).toBe(6);
    expect(report.pairing?.distorted.conversions[0]).toBe('colour range full to limited');
    expect(report.pairing?.reference.conversions[0]).toContain('by the matrix BT.601');
    expect(report.pooled_metrics.psnr_y?.mean).toBeGreaterThan(25);
    expect(report.pooled_metrics.psnr_y?.mean).toBeLessThan(50);
  });

  it('keep full range beside a video that declares it', async () => {
    const still = file('full.jpg', '-i', video, '-frames:v', '1', '-q:v', '2', '-pix_fmt', 'yuvj420p');
    const full = file('full.mp4', '-i', still, '-c:v', 'libx264', '-qp', '0', '-pix_fmt', 'yuvj420p');
    const stored = { threads: 0, features: ['psnr'] } as const;
    for (const [reference, distorted] of [
      [still, full],
      [full, still],
    ] as const) {
      const report = await score({ reference, distorted }, stored);
      expect(report.pooled_metrics.psnr_y).toMatchObject({ min: 60 });
      expect(report.preflight?.map(({ code }) => code)).not.toContain('color-range');
      expect(report.pairing?.distorted.conversions).toEqual([]);
    }
  });

  it('are read from any frame on', async () => {
    const range = { unit: 'frames', start: 4 } as const;
    const report = await score({ reference: video, distorted: at('shots') }, { ...options, range });
    expect(report.frames.length).toBe(2);
    expect(report.pooled_metrics.psnr_y).toMatchObject({ min: 60 });
  });

  it.each([
    ['no match', 'shots/picture_%d.png', /no file matches .*picture_%d\.png/],
    ['no folder', 'nowhere/%d.png', /no file matches/],
    ['no match of a pattern', 'shots/*.dpx', /no file matches/],
    ['a gap', 'gap/%02d.png', /03\.png is missing between 02\.png and 04\.png/],
    ['two numbers', 'shots/%d_%d.png', /more than one number/],
    ['several kinds', 'mixed', /holds pictures of several kinds \(\.jpg, \.png\)/],
    ['a folder without any', 'empty', /is a directory|folder/],
  ])('are refused for %s', async (_, name, message) => {
    await expect(score({ reference: video, distorted: at(name) }, options)).rejects.toThrow(message);
  });

  it('take a rate, which videos do not', async () => {
    const run = score({ reference: video, distorted: video }, options);
    await expect(run).rejects.toThrow(/neither video is an image sequence/);
    const fast = { ...options, rate: 'fast' };
    await expect(score({ reference: video, distorted: at('shots') }, fast)).rejects.toThrow(/rate is "fast"/);
    const request = { reference: at('shots'), distorted: at('shots') };
    const report = await score(request, { threads: 0, preflight: false, ...PSNR });
    expect(report.pairing?.reference.frameRate).toEqual({ num: 25, den: 1 });
  });

  it('divide into shards', async () => {
    const request = { reference: at('shots'), distorted: at('shots', 'frame_%04d.png') };
    const whole = await score(request, options);
    expect(comparable(await inParts(request, 2, options))).toEqual(comparable(whole));
  });

  it('are not opened for foreign requests', async () => {
    const origin = { by: 'foreign' as const, folders: [home] };
    for (const name of ['shots', 'shots/frame_%04d.png', 'shots/*.png']) {
      const run = score({ reference: video, distorted: at(name) }, { threads: 0, origin });
      await expect(run).rejects.toThrow();
    }
  });
});
