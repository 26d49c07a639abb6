/**
 * @module test/node/accuracy/filters
 * Filters of both videos against ffmpeg's own: the same conversion, written as Y4M and scored by a native libvmaf, gives
 * the same values to six decimals.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type ScoreOptions, score } from '../../../src/index.js';
import { joined } from '../../support/decoded.js';
import { ffmpeg } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { copyFfprobe, nativeIsAbsent, nativeVmaf } from '../../support/programs.js';
import { exhaustive, tier } from '../../support/tier.js';

const absent = nativeIsAbsent();

const folder = testFolder();
const ffprobe = absent ? '' : copyFfprobe(folder);

/** A video by its name and ffmpeg's arguments, or by the two recordings that follow each other in it; made once. */
interface Made {
  readonly name: string;
  readonly args: readonly string[];
  readonly joins?: readonly [Made, Made];
}

const made = new Set<string>();

function file({ name, args, joins }: Made): string {
  const path = join(folder, name);
  if (made.has(name)) return path;
  if (joins) {
    const [first, second] = joins.map((part) => readFileSync(file(part)));
    if (first && second) writeFileSync(path, joined(first, second));
  } else
    ffmpeg(
      path,
      args.map((arg) => (made.has(arg) ? join(folder, arg) : arg)),
    );
  made.add(name);
  return path;
}

// At this width the x86 code of that libvmaf gives the portable code's values.
const source = (size = '512x288', rate = '25', seconds = 0.16) => [
  ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${rate},trim=duration=${seconds},noise=alls=6`],
];
const FFV1 = ['-c:v', 'ffv1', '-level', '3'];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-crf', '30'];

const video = (name: string, ...args: string[]): Made => ({ name, args });
/** An encode of a file made before. */
const encode = (name: string, of: Made, filter: string, ...more: string[]) =>
  video(name, '-i', of.name, '-vf', filter, ...X264, ...more);

const master = video('master.mkv', ...source(), '-pix_fmt', 'yuv420p', ...FFV1);
const boxed = encode('boxed.mp4', master, 'pad=512:328:0:20');
const TO_FULL = 'scale=in_range=limited:out_range=full,format=yuv420p';
const full = encode('full.mp4', master, TO_FULL, '-color_range', 'pc');
const stored = video('stored.y4m', ...source(), '-pix_fmt', 'yuv420p');
const BOXED = ['-vf', 'noise=alls=9,pad=512:328:0:20', '-pix_fmt', 'yuv420p'];
const storedBoxed = video('stored-boxed.y4m', '-i', 'stored.y4m', ...BOXED);
const TO_601 = 'scale=in_color_matrix=bt709:out_color_matrix=bt601,format=yuv420p';
const bt601 = encode('bt601.mp4', master, TO_601, '-colorspace', 'smpte170m');
const tagged = video('tagged.mkv', ...source(), '-vf', 'format=yuv420p', '-colorspace', 'bt709', ...FFV1);
const fields = video(
  'fields.mkv',
  ...source('512x288', '50', 0.4),
  ...['-vf', 'format=yuv420p,tinterlace=interleave_top', '-flags', '+ilme+ildct', '-c:v', 'mpeg2video'],
  ...['-q:v', '6', '-top', '1', '-r', '25'],
);
const film = video('film.mkv', ...source('512x288', '24000/1001'), '-pix_fmt', 'yuv420p', ...FFV1);
const upright = encode('upright.mp4', master, 'transpose=clock');
const turned = video('turned.mp4', '-i', 'upright.mp4', '-c', 'copy', '-metadata:s:v:0', 'rotate=90');
const PQ = ['-color_trc', 'smpte2084', '-color_primaries', 'bt2020', '-colorspace', 'bt2020nc'];
const pq = video(
  'pq.mkv',
  ...source(),
  ...['-vf', 'format=yuv420p10le,setparams=color_trc=smpte2084:color_primaries=bt2020:colorspace=bt2020nc'],
  ...['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error', '-crf', '20', ...PQ],
);

/** Two recordings joined as `cat` does it: the clock of the second starts over. */
function recording(crf: number): Made {
  const part = (name: string, of: string) => {
    const input = ['-f', 'lavfi', '-i', `${of},trim=duration=0.4`, '-pix_fmt', 'yuv420p'];
    return video(`${name}-${crf}.ts`, ...input, ...X264, '-crf', `${crf}`);
  };
  const first = part('first', 'mandelbrot=size=512x288:rate=25');
  const second = part('second', 'testsrc2=size=512x288:rate=25');
  return { name: `joined-${crf}.ts`, args: [], joins: [first, second] };
}

const rgb = video('rgb.mkv', ...source(), '-pix_fmt', 'gbrp', ...FFV1);
const rgbLow = video('rgb-low.mkv', '-i', 'rgb.mkv', '-vf', 'boxblur=2', '-pix_fmt', 'gbrp', ...FFV1);
const picture = video('picture.png', ...source(), '-frames:v', '1', '-pix_fmt', 'rgb24');
const photo = video('photo.jpg', '-i', 'picture.png', '-q:v', '9');
const FADING = 'format=rgba,geq=r=r(X\\,Y):g=g(X\\,Y):b=b(X\\,Y):a=X/2,format=yuva420p';
const layer = video('layer.mkv', ...source(), '-vf', FADING, ...FFV1);
const layerLow = video('layer-low.mkv', '-i', 'layer.mkv', '-vf', 'boxblur=2,format=yuva420p', ...FFV1);
const EXACT = ':flags=bicubic+accurate_rnd+full_chroma_int';
const FROM_RGB = `scale=out_color_matrix=bt709:out_range=limited${EXACT},format=yuv444p`;
const TONE =
  'zscale=t=linear:npl=100,format=gbrpf32le,tonemap=hable,zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p';
const DECODERS = ['ffmpeg', 'mediabunny', 'wasm'] as const;

interface Case {
  readonly what: string;
  readonly pair: readonly [reference: Made, distorted: Made];
  /** Files that these are made of. */
  readonly from?: readonly Made[];
  readonly options?: ScoreOptions;
  /** ffmpeg's filters that do the same. */
  readonly filters: readonly [reference: string, distorted: string];
  readonly said?: readonly string[];
  /** Frames per second that libvmaf, which pairs by time, is to see. */
  readonly rate?: string;
}

const CASES: readonly Case[] = [
  ...tier<readonly (typeof DECODERS)[number][]>(['ffmpeg'], DECODERS).map((decoder) => ({
    what: `a crop, ${decoder}`,
    pair: [encode('same.mp4', master, 'null', '-crf', '10'), boxed] as const,
    from: [master],
    options: { decoder, cropDistorted: '512:288:0:20' },
    filters: ['null', 'crop=512:288:0:20'] as const,
    said: ['cropped to 512x288 at 0,20 of 512x328'],
  })),
  ...tier<readonly (typeof DECODERS)[number][]>(['mediabunny', 'wasm'], DECODERS).map((decoder) => ({
    what: `full range, ${decoder}`,
    pair: [encode('same.mp4', master, 'null', '-crf', '10'), full] as const,
    from: [master],
    options: { decoder, colorRange: 'limited' as const },
    filters: ['null', `scale=in_range=full:out_range=limited${EXACT},format=yuv420p`] as const,
    said: ['colour range full to limited'],
  })),
  {
    what: 'a crop of stored video, by this package',
    pair: [stored, storedBoxed],
    options: { cropDistorted: '512:288', threads: 2 },
    filters: ['null', 'crop=512:288'],
    said: ['cropped to 512x288 at 0,20 of 512x328'],
  },
  {
    what: 'borders that are looked for',
    pair: [master, boxed],
    options: { crop: 'auto' },
    filters: ['null', 'crop=512:288:0:20'],
    said: ['cropped to 512x288 at 0,20 of 512x328'],
  },
  {
    what: 'stored video lifted to 10 bit',
    pair: [stored, storedBoxed],
    options: { pixelFormat: 'yuv420p10le', cropDistorted: '512:288' },
    filters: ['format=yuv420p10le', 'crop=512:288,format=yuv420p10le'],
    said: ['cropped to 512x288 at 0,20 of 512x328', 'yuv420p to yuv420p10le, as requested'],
  },
  {
    what: 'stored video of another chroma, which ffmpeg reads for it',
    pair: [stored, storedBoxed],
    options: { pixelFormat: 'yuv444p', cropDistorted: '512:288' },
    filters: ['format=yuv444p', 'crop=512:288,format=yuv444p'],
  },
  {
    what: 'BT.601',
    pair: [tagged, bt601],
    from: [master],
    options: { matrix: 'bt709' },
    filters: ['null', `scale=in_color_matrix=bt601:out_color_matrix=bt709${EXACT},format=yuv420p`],
    said: ['matrix bt601 to bt709'],
  },
  {
    what: 'fields',
    pair: [master, fields],
    options: { deinterlace: true, frameCount: 4 },
    filters: ['trim=end_frame=4', 'bwdif=mode=send_frame,trim=end_frame=4'],
    said: ['deinterlaced by bwdif=mode=send_frame'],
  },
  {
    what: 'a picture that players turn',
    pair: [master, turned],
    from: [upright],
    options: { cropReference: '480:270', cropDistorted: '480:270', scaleTo: 'dis' },
    filters: ['crop=480:270', 'crop=480:270'],
  },
  {
    what: 'PQ brought to BT.709',
    pair: [pq, encode('pq-low.mkv', pq, 'noise=alls=6', '-pix_fmt', 'yuv420p10le', ...PQ)],
    options: { vfReference: TONE, vfDistorted: TONE },
    filters: [TONE, TONE],
  },
  {
    what: '23.976 against 24, the same frames',
    pair: [
      film,
      video('at24.mkv', ...'-r 24 -i film.mkv -vf noise=alls=8 -fps_mode passthrough'.split(' '), ...FFV1),
    ],
    filters: ['null', 'null'],
    rate: '24000/1001',
  },
  ...tier<readonly ('ffmpeg' | 'wasm')[]>(['ffmpeg'], ['ffmpeg', 'wasm']).map((decoder) => ({
    what: `two recordings in one transport stream, ${decoder}`,
    pair: [recording(8), recording(36)] as const,
    options: { decoder },
    filters: ['null', 'null'] as const,
  })),
  {
    what: 'RGB',
    pair: [rgb, rgbLow],
    filters: [FROM_RGB, FROM_RGB],
    said: [
      `bgr0 (RGB) to yuv444p by the matrix BT.709 in limited range (scale=out_color_matrix=bt709:out_range=limited${EXACT})`,
    ],
  },
  {
    what: 'alpha',
    pair: [layer, layerLow],
    filters: ['format=yuv420p', 'format=yuv420p'],
    said: ['alpha left out'],
  },
  {
    what: 'JPEG against PNG, one picture each',
    pair: [picture, photo],
    filters: [
      FROM_RGB.replace('bt709', 'bt601'),
      `scale=in_range=full:out_range=limited${EXACT},format=yuv444p`,
    ],
    said: ['colour range full to limited'],
  },
];

/** Cases that show more of what others show: only in the exhaustive run. */
const MORE: readonly string[] = [
  'borders that are looked for',
  'full range, wasm',
  'stored video of another chroma, which ffmpeg reads for it',
];

it.skipIf(absent !== undefined).each(CASES.filter(({ what }) => exhaustive || !MORE.includes(what)))(
  `filters give the values of ffmpeg and libvmaf: $what (${absent ?? 'both are here'})`,
  async ({ pair, from = [], options, filters, said, rate }) => {
    for (const one of from) file(one);
    const [reference, distorted] = [file(pair[0]), file(pair[1])];
    for (const [i, [side, path]] of Object.entries({ reference, distorted }).entries()) {
      const format = options?.pixelFormat ? ['-pix_fmt', options.pixelFormat] : [];
      const input = [...(rate ? ['-r', rate] : []), '-i', path, '-vf', filters[i] ?? '', ...format];
      ffmpeg(join(folder, `${side}.y4m`), [...input, '-fps_mode', 'passthrough', '-strict', '-1']);
    }
    const native = nativeVmaf(ffprobe, folder, 'vmaf_v0.6.1');
    // Preflight has its own tests.
    const settings = { ...options, compat: 'libvmaf-3.0', preflight: false } as const;
    const report = await score({ reference, distorted }, settings);
    expect(report.frames.length).toBe(native.frames.length);
    for (const [n, { metrics }] of native.frames.entries()) {
      const others = ['adm2', 'motion2', 'vif_scale0', 'vif_scale3'].map((name) => `integer_${name}`);
      for (const name of ['vmaf', ...others]) {
        const off = (report.frames[n]?.metrics[name] ?? Number.NaN) - (metrics[name] ?? Number.NaN);
        expect(Math.abs(off), `${name} of frame ${n}`).toBeLessThan(1.01e-6);
      }
    }
    if (said) expect(report.pairing?.distorted.conversions).toEqual(expect.arrayContaining([...said]));
  },
);
