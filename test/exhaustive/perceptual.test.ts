/**
 * @module test/exhaustive/perceptual
 * The perceptual metrics of random files against independent programs for the recipes of ../shared/spec/perceptual: RGB stills
 * as PNG, clips in RGB and Y'CbCr. Linear light of random formats against zimg, by ffmpeg's zscale.
 */

import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { type VideoFormat, y4mHeader } from '../../src/core/frame.js';
import { type Report, score } from '../../src/index.js';
import { ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { testFolder } from '../support/folders.js';
import { format, type Picture, picture } from '../support/metric.js';
import { type ColourNumbers, definition, difference, linearLight } from '../support/perceptual.js';
import { type SeededRandom, seeded } from '../support/random.js';
import { needsShared, sharedPath } from '../support/tier.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261126);
const PAIRS = 200;
const CLIPS = 40;
/** Range of widths and heights. */
const [LEAST, MOST] = [17, 400];

const programs = sharedPath('spec/perceptual');
const folder = testFolder();

const execute = promisify(execFile);

/** Output of an independent program. */
async function printed(
  program: string,
  args: readonly (string | number)[],
  precision = 'f64',
): Promise<string> {
  const file = join(programs ?? '', `${program}.mjs`);
  const env = { ...process.env, PREC: precision };
  return (await execute(process.execPath, [file, ...args.map(String)], { env })).stdout;
}

/** Numbers in a text, in their order. */
const numbersIn = (text: string): number[] => (text.match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).map(Number);
const first = (text: string): number => numbersIn(text)[0] ?? Number.NaN;

interface Size {
  readonly width: number;
  readonly height: number;
}
const KINDS = ['noise', 'flat', 'saturated', 'gradient', 'waves'] as const;

/** Interleaved samples of a moving pattern. */
function draw(random: SeededRandom, { width, height }: Size, planes: number, top: number) {
  const kind = random.pick(KINDS);
  const level = Array.from({ length: planes }, () => random.int(0, top));
  const [a, b, c] = [random.int(1, 9), random.int(1, 9), random.int(2, 40)];
  const value = (x: number, y: number, plane: number, frame: number): number => {
    if (kind === 'noise') return random.int(0, top);
    if (kind === 'flat') return level[plane] ?? 0;
    if (kind === 'saturated') return (Math.floor((x + frame) / c) + Math.floor(y / a) + plane) & 1 ? top : 0;
    if (kind === 'gradient') return (((x + frame) * a + y * b) * (plane + 1) * top) / 512;
    return (Math.sin((x + frame) / a) * Math.cos((y * (plane + 1)) / c) + 1) * 0.5 * top;
  };
  const samples = (frame: number): number[] =>
    Array.from({ length: width * height * planes }, (_, i) => {
      const pixel = Math.floor(i / planes);
      return Math.floor(value(pixel % width, Math.floor(pixel / width), i % planes, frame)) % (top + 1);
    });
  return { kind, samples };
}

/** The samples with noise, or quantized. */
function worsened(
  random: SeededRandom,
  samples: readonly number[],
  top: number,
  coarse: boolean,
  by: number,
) {
  const step = coarse ? by * 2 : 1;
  const reach = coarse ? 0 : by;
  return samples.map((v) =>
    Math.min(top, Math.max(0, v - (v % step) + (step >> 1) + random.int(-reach, reach))),
  );
}

/** Frames of both sides; `about` describes them. */
function pairOf(random: SeededRandom, size: Size, planes: number, frames: number, top = 255) {
  const { kind, samples } = draw(random, size, planes, top);
  const [coarse, by] = [random.int(0, 1) === 0, random.pick([1, 4, 30])];
  const reference = Array.from({ length: frames }, (_, frame) => samples(frame));
  const distorted = reference.map((plane) => worsened(random, plane, top, coarse, by));
  const about = `${kind} ${size.width}x${size.height}, ${coarse ? 'levels' : 'noise'} of ${by}, seed ${SEED}`;
  return { reference, distorted, about };
}

const sizeOf = (random: SeededRandom): Size => ({
  width: random.int(LEAST, MOST),
  height: random.int(LEAST, MOST),
});

/** Collects the largest differences, and those above their limit. */
class Differences {
  readonly #worst = new Map<string, readonly [number, string]>();
  readonly #wrong: string[] = [];

  add(name: string, difference: number, most: number, about: string): void {
    if (!(difference <= (this.#worst.get(name)?.[0] ?? 0))) this.#worst.set(name, [difference, about]);
    if (!(difference <= most)) this.#wrong.push(`${name} differs by ${difference}: ${about}`);
  }

  /** Prints the largest ones, and fails if one exceeds its limit. */
  check(): void {
    process.stdout.write(`${JSON.stringify(Object.fromEntries(this.#worst), null, 1)}\n`);
    expect(this.#wrong).toEqual([]);
  }
}

const measure = (reference: string, distorted: string, ...features: string[]): Promise<Report> =>
  score({ reference, distorted }, { features, noPrediction: true, threads: 0, preflight: false });

async function valuesOf(reference: string, distorted: string, ...features: string[]) {
  return (await measure(reference, distorted, ...features)).frames[0]?.metrics ?? {};
}

const DISPLAYS = ['standard_fhd', 'standard_4k'] as const;
const jodKey = (display: (typeof DISPLAYS)[number]): string =>
  display === 'standard_4k' ? 'cvvdp' : `cvvdp_display_${display}`;

const samplesAsBytes = (samples: readonly number[], bitDepth: number): Uint8Array =>
  bitDepth === 8 ? Uint8Array.from(samples) : new Uint8Array(Uint16Array.from(samples).buffer);

const away = (value: number | undefined, expected: number): number =>
  Math.abs((value ?? Number.NaN) - expected);

/** Relative error; below 1, where differences are invisible, absolute. */
const relative = (value: number | undefined, expected: number): number =>
  away(value, expected) / Math.max(1, expected);

describe.skipIf(!programs || !hasFfmpeg)(
  `random pairs against independent programs (${needsShared}, ${needsFfmpeg})`,
  () => {
    it(`${PAIRS} stills`, { timeout: 3_600_000 }, async () => {
      const random = seeded(SEED);
      const found = new Differences();
      const [reference, distorted] = ['r.png', 'd.png'].map((name) => join(folder, name)) as [string, string];
      for (let n = 0; n < PAIRS; n++) {
        const size = sizeOf(random);
        const pair = pairOf(random, size, 3, 1);
        for (const [path, [data = []]] of [
          [reference, pair.reference],
          [distorted, pair.distorted],
        ] as const)
          writeFileSync(path, encode({ ...size, data: Uint8Array.from(data), channels: 3, depth: 8 }));
        const display = random.pick(DISPLAYS);
        const both = [reference, distorted] as const;
        const [single, double, visible, jod] = await Promise.all([
          printed('ssimulacra2', [...both, 'f32']),
          printed('ssimulacra2', [...both, 'f64']),
          printed('butteraugli', both),
          printed('cvvdp', [...both, display]),
        ]);
        const features = ['ssimulacra2', 'butteraugli', `cvvdp=display=${display}`];
        const [fast, exact] = [
          await valuesOf(...both, ...features),
          await valuesOf(...both, 'ssimulacra2=mode=exact'),
        ];
        const { about } = pair;
        const [maximum = 0, , norm = 0] = numbersIn(visible);
        const eightDigits = (value: number | undefined) => Number(value?.toFixed(8));
        found.add('ssimulacra2 exact', away(eightDigits(exact.ssimulacra2), first(single)), 0, about);
        found.add('ssimulacra2', away(fast.ssimulacra2, first(double)), 0.03, about);
        // Single precision, also libjxl's, differs that much from double precision on artificial pictures.
        found.add('butteraugli', relative(fast.butteraugli, maximum), 5e-4, about);
        found.add('butteraugli_3norm', relative(fast.butteraugli_3norm, norm), 5e-4, about);
        found.add('cvvdp', away(fast[jodKey(display)], first(jod)), 1e-4, `${display}, ${about}`);
      }
      found.check();
    });

    it(`cvvdp of ${CLIPS} clips of RGB`, { timeout: 3_600_000 }, async () => {
      const random = seeded(SEED);
      const found = new Differences();
      for (let n = 0; n < CLIPS; n++) {
        const { width, height } = sizeOf(random);
        const [rate, frames, display] = [random.pick([24, 30, 60]), 4, random.pick(DISPLAYS)];
        const pair = pairOf(random, { width, height }, 3, frames);
        const [reference, distorted] = [pair.reference, pair.distorted].map((side, i) => {
          const raw = join(folder, `${i}.rgb`);
          writeFileSync(raw, Uint8Array.from(side.flat()));
          const input = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${width}x${height}`, '-r', `${rate}`];
          return ffmpeg(join(folder, `${i}.mkv`), [...input, '-i', raw, '-c:v', 'png']);
        }) as [string, string];
        const size = [width, height, frames];
        const jod = await printed('cvvdp', [reference, distorted, display, rate, ...size]);
        const { aggregate_metrics } = await measure(reference, distorted, `cvvdp=display=${display}`);
        const value = aggregate_metrics[jodKey(display)];
        found.add('cvvdp of clips', away(value, first(jod)), 1e-4, `${display}, ${rate} fps, ${pair.about}`);
      }
      found.check();
    });

    it(`xpsnr of ${PAIRS} clips, digit for digit`, { timeout: 3_600_000 }, async () => {
      const random = seeded(SEED);
      const found = new Differences();
      for (let n = 0; n < PAIRS; n++) {
        const format = { ...sizeOf(random), bitDepth: random.pick([8, 10, 12]), chroma: '420' as const };
        const [rate, frames, top] = [random.pick([25, 50]), 3, 2 ** format.bitDepth - 1];
        // Chroma sizes round up.
        const half = { width: (format.width + 1) >> 1, height: (format.height + 1) >> 1 };
        const planes = [format, half, half].map((size) => pairOf(random, size, 1, frames, top));
        const [reference, distorted] = (['reference', 'distorted'] as const).map((side) => {
          const path = join(folder, `${side}.y4m`);
          const bytes = Array.from({ length: frames }, (_, frame) => [
            Buffer.from('FRAME\n'),
            ...planes.map((plane) => samplesAsBytes(plane[side][frame] ?? [], format.bitDepth)),
          ]);
          writeFileSync(path, Buffer.concat([Buffer.from(y4mHeader(format, `${rate}:1`)), ...bytes.flat()]));
          return path;
        }) as [string, string];
        const lines = (await printed('xpsnr', [reference, distorted])).split('\n').slice(0, frames);
        const report = await measure(reference, distorted, 'xpsnr');
        // At odd sizes, the last column or row of chroma is not measured here.
        const even = format.width % 2 === 0 && format.height % 2 === 0;
        for (const [frame, line] of lines.entries())
          for (const plane of even ? ['y', 'u', 'v'] : ['y']) {
            const text = new RegExp(`xpsnr\\.${plane}":"(.*?)"`).exec(line)?.[1];
            const value = report.frames[frame]?.metrics[`xpsnr_${plane}`] ?? Number.NaN;
            const digits = Number(Math.fround(value).toFixed(6));
            // Equal planes have a finite value in our reports.
            const off = text === 'inf' ? 0 : away(digits, Number(text));
            found.add('xpsnr', off, 0, `${plane} of ${JSON.stringify(format)}, ${rate} fps, seed ${SEED}`);
          }
      }
      found.check();
    });
  },
);

const LIGHT_SEED = 2084;
const zscale =
  hasFfmpeg &&
  spawnSync('ffmpeg', ['-v', 'quiet', '-filters'], { encoding: 'utf8' }).stdout.includes('zscale');

/**
 * zscale's names, in the order of wasm/include/perceptual.h. zscale does not invert BT.709's camera curve; the empty name is
 * SMPTE 240M, which ffmpeg 5.1 treats as RGB.
 */
const MATRICES = ['gbr', 'bt709', 'smpte170m', 'bt2020nc', '', 'fcc', 'ycgco', 'bt2020c', 'ictcp'] as const;
const TRANSFERS = [
  'iec61966-2-1',
  'bt709',
  'bt470m',
  'bt470bg',
  'linear',
  'bt2020-10',
  'smpte2084',
  'arib-std-b67',
] as const;
const PRIMARIES = ['bt709', 'bt2020', 'smpte432', 'smpte431', 'bt470m', 'bt470bg', 'smpte170m'] as const;
const SITINGS = ['left', 'center', 'topleft'] as const;
const FILTERS = ['bicubic', 'bilinear', 'point'] as const;
const [YCGCO, BT2020_CL, ICTCP] = [6, 7, 8] as const;
const [CENTRE, NEAREST, SRGB_CURVE, CAMERA, PQ, HLG] = [1, 2, 0, 5, 6, 7] as const;

/** A format of ffmpeg with a size for zscale: whole chroma samples, and enough for its filters. */
function randomFormat(random: SeededRandom): VideoFormat {
  const chroma = random.pick(['400', '420', '422', '444'] as const);
  const [width, height] = [random.int(17, 70), random.int(17, 70)];
  const across = chroma === '420' || chroma === '422' ? width & ~1 : width;
  return format(across, chroma === '420' ? height & ~1 : height, random.pick([8, 9, 10, 12, 14, 16]), chroma);
}

function randomColour(random: SeededRandom, { chroma }: VideoFormat): ColourNumbers {
  const coded = chroma === '400' ? [] : [BT2020_CL, ICTCP];
  const matrix = random.pick([...(chroma === '444' ? [0] : []), 1, 2, 3, 5, YCGCO, ...coded]);
  // zscale treats RGB as full range.
  const full = matrix === 0 ? 1 : random.int(0, 1);
  const transfer = random.pick(
    matrix === ICTCP ? [PQ, HLG] : matrix === BT2020_CL ? [CAMERA] : [0, 1, 2, 3, 4, PQ, HLG],
  );
  const upsampling = random.int(0, 2);
  // Of two equally near samples, zimg takes the right one.
  const siting = upsampling === NEAREST ? CENTRE : random.int(0, 2);
  // zimg has its own luminance weights for HLG with other white points, and rounded ones for BT.709.
  const whites = transfer === HLG ? [1, 2, 5, 6] : [0, 1, 2, 3, 4, 5, 6];
  return [matrix, full, transfer, siting, upsampling, matrix >= BT2020_CL ? 1 : random.pick(whites)];
}

/** Samples of all codes, or near grey if few codes are valid colours. */
function randomPicture(random: SeededRandom, video: VideoFormat, [matrix]: ColourNumbers): Picture {
  const top = 2 ** video.bitDepth - 1;
  if (matrix < BT2020_CL) return picture(video, () => random.int(0, top));
  return picture(video, (_x, _y, plane) =>
    Math.round(top * (plane === 0 ? 0.3 + 0.4 * random.next() : 0.47 + 0.06 * random.next())),
  );
}

/** Grey above 8 bits becomes 4:4:4 without colour, as zscale lacks such pixel formats. */
function forZscale({ chroma, bitDepth }: VideoFormat, planes: Picture): Picture {
  const [luma] = planes;
  if (chroma !== '400' || bitDepth === 8 || !luma) return planes;
  const middle = luma.map(() => 2 ** (bitDepth - 1));
  return [luma, middle, middle];
}

function pixelFormat({ chroma, bitDepth }: VideoFormat, matrix: number): string {
  const grey = bitDepth === 8 ? 'gray' : 'yuv444p';
  const layout = chroma === '400' ? grey : matrix === 0 ? 'gbrp' : `yuv${chroma}p`;
  return bitDepth === 8 ? layout : `${layout}${bitDepth}le`;
}

/** Linear light by zscale: BT.709 primaries (BT.2020 for constant luminance), HLG for a display of 1,000 cd/m2. */
function byZscale(video: VideoFormat, planes: Picture, numbers: ColourNumbers): number[][] {
  const [matrix, full, transfer, siting, upsampling, primaries] = numbers;
  const { width, height } = video;
  const filter = [
    `zscale=matrixin=${MATRICES[matrix]}:rangein=${full ? 'full' : 'limited'}:transferin=${TRANSFERS[transfer]}`,
    `primariesin=${PRIMARIES[primaries]}:chromalin=${SITINGS[siting]}:filter=${FILTERS[upsampling]}:param_a=0:param_b=0.5`,
    `matrix=gbr:transfer=linear:primaries=${PRIMARIES[matrix === BT2020_CL ? 1 : 0]}:range=full:agamma=0:dither=none`,
    `npl=${transfer === PQ ? 10000 : 1000},format=gbrpf32le`,
  ].join(':');
  const bytes = execFileSync(
    'ffmpeg',
    [
      ...['-nostdin', '-v', 'error', '-f', 'rawvideo', '-pix_fmt', pixelFormat(video, matrix)],
      ...['-s', `${width}x${height}`, '-i', 'pipe:0', '-vf', filter, '-f', 'rawvideo', 'pipe:1'],
    ],
    {
      input: Buffer.concat(
        forZscale(video, planes).map((p) => Buffer.from(p.buffer, p.byteOffset, p.byteLength)),
      ),
    },
  );
  const all = [...new Float32Array(new Uint8Array(bytes).buffer)];
  const n = width * height;
  return [all.slice(2 * n), all.slice(0, n), all.slice(n, 2 * n)];
}

/** Planes without the pixels in which one of `own` reaches the end of PQ, which zimg's curve exceeds. */
function below(end: number, own: readonly (readonly number[])[], planes: readonly ArrayLike<number>[]) {
  const inside = (i: number) => own.every((plane) => (plane[i] ?? 0) < end);
  return planes.map((plane) => Array.from(plane).filter((_, i) => inside(i)));
}

/** Bounds by transfer: errors of R'G'B' in binary32 grow in steep curves; libjxl's rational sRGB curve errs by as much. */
const BOUNDS: Readonly<Record<number, number>> = { [SRGB_CURVE]: 3e-6, [PQ]: 4e-6, [HLG]: 1e-5 };
/**
 * Errors of zimg against double precision: its sRGB constants have no kink, its PQ is a quotient of differences, its ICtCp uses
 * PQ.
 */
const ZIMG_BOUNDS: Readonly<Record<number, number>> = { [SRGB_CURVE]: 3e-5, [PQ]: 1e-4, [HLG]: 2e-5 };

describe('linear light', () => {
  it.skipIf(!zscale)(`is as defined, and zscale's, ${needsFfmpeg} with zscale`, { timeout: 240_000 }, () => {
    const random = seeded(LIGHT_SEED);
    const found = new Differences();
    for (let n = 0; n < 500; n++) {
      const video = randomFormat(random);
      const numbers = randomColour(random, video);
      const [matrix, , transfer] = numbers;
      const planes = randomPicture(random, video, numbers);
      const shown = matrix !== BT2020_CL;
      const own = transfer === PQ ? definition(video, planes, numbers) : [];
      const [ours, exact, theirs] = [
        linearLight('simd128', video, { picture: planes, colour: numbers }, shown),
        definition(video, planes, numbers, shown),
        byZscale(video, planes, numbers),
      ].map((light) => below(1, own, light)) as [number[][], number[][], number[][]];
      const name = `${TRANSFERS[transfer]}${matrix >= YCGCO ? ` of ${MATRICES[matrix]}` : ''}`;
      const about = `${JSON.stringify(video)} ${numbers}, case ${n} of seed ${LIGHT_SEED}`;
      // R'G'B' of YCgCo is a sum of three samples, of other matrices of two.
      const bound = BOUNDS[transfer] ?? (matrix === YCGCO ? 2e-6 : 1e-6);
      found.add(`${name}, from double precision`, difference(ours, exact), bound, about);
      if (matrix === ICTCP && transfer === HLG) continue;
      const most = ZIMG_BOUNDS[transfer] ?? bound;
      found.add(`${name}, from zscale`, difference(ours, theirs), most, about);
      found.add(`${name}, zscale from double precision`, difference(theirs, exact), most, about);
    }
    found.check();
  });
});
