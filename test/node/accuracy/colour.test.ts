/**
 * @module test/node/accuracy/colour
 * The colour stage against zimg, by ffmpeg's zscale: random pictures of random formats become the same linear light.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { CURVES, type Light, linearLight } from '../../support/linear-light.js';
import { format, type Picture, picture } from '../../support/metric.js';
import type { ColourNumbers } from '../../support/perceptual.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const SEED = 2084;
const zscale =
  hasFfmpeg &&
  spawnSync('ffmpeg', ['-v', 'quiet', '-filters'], { encoding: 'utf8' }).stdout.includes('zscale');

/** zscale's names, in the order of wasm/include/perceptual.h. Nothing there inverts BT.709's camera curve, and ffmpeg 5.1 takes SMPTE 240M for RGB. */
const MATRICES = ['gbr', 'bt709', 'smpte170m', 'bt2020nc', '', 'fcc', 'ycgco'] as const;
const YCGCO = MATRICES.indexOf('ycgco');
const TRANSFERS = [
  'iec61966-2-1',
  'bt709',
  'bt470m',
  'bt470bg',
  'linear',
  '',
  'smpte2084',
  'arib-std-b67',
] as const;
const SITINGS = ['left', 'center', 'topleft'] as const;
const FILTERS = ['bicubic', 'bilinear', 'point'] as const;
const [CENTRE, NEAREST, SRGB_CURVE, PQ, HLG] = [1, 2, 0, 6, 7] as const;

/** Where an error of R'G'B' in binary32 grows beyond a millionth, and libjxl's quotient for sRGB errs by as much. */
const BOUNDS: Readonly<Record<number, number>> = { [SRGB_CURVE]: 3e-6, [PQ]: 4e-6, [HLG]: 4e-6 };

/**
 * zimg has constants of its own for sRGB, with which the slope has no step at the knee: its curve is up to 5e-6 lower
 * below white, and 1.2e-5 relative above it. This undoes zimg's curve and applies that of IEC 61966-2-1.
 */
function ofStandard(light: number): number {
  const [excess, knee] = [0.055010718947587, 0.003041282560128];
  const signal = light < knee ? light * 12.92 : (1 + excess) * light ** (1 / 2.4) - excess;
  return CURVES[SRGB_CURVE]?.(signal) ?? Number.NaN;
}

/** A format that ffmpeg has, of a size that zscale takes: whole chroma samples, and enough of them for its filters. */
function randomFormat(random: SeededRandom): VideoFormat {
  const chroma = random.pick(['400', '420', '422', '444'] as const);
  const [width, height] = [random.int(17, 70), random.int(17, 70)];
  const across = chroma === '420' || chroma === '422' ? width & ~1 : width;
  return format(across, chroma === '420' ? height & ~1 : height, random.pick([8, 9, 10, 12, 14, 16]), chroma);
}

function randomColour(random: SeededRandom, { chroma }: VideoFormat): ColourNumbers {
  const matrix = random.pick([...(chroma === '444' ? [0] : []), 1, 2, 3, 5, 6]);
  // zscale takes RGB for full range whatever is stated.
  const full = matrix === 0 ? 1 : random.int(0, 1);
  const transfer = random.pick([0, 1, 2, 3, 4, 6, 7]);
  const upsampling = random.int(0, 2);
  // Of two samples that are as near, zimg takes the right one.
  return [matrix, full, transfer, upsampling === NEAREST ? CENTRE : random.int(0, 2), upsampling, 0];
}

/** A grey picture of more than 8 bits is one in 4:4:4 without colour: zscale has no such pixel format. */
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

/**
 * Light by zscale. For PQ it gives R'G'B', of which the standard's curve makes light here: the quotient of the curve cancels
 * in zimg's binary32, which costs 6e-5 near white.
 */
function byZscale(
  video: VideoFormat,
  planes: Picture,
  numbers: ColourNumbers,
): readonly (readonly number[])[] {
  const [matrix, full, transfer, siting, upsampling] = numbers;
  const { width, height } = video;
  const filter = [
    `zscale=matrixin=${MATRICES[matrix]}:rangein=${full ? 'full' : 'limited'}:transferin=${TRANSFERS[transfer]}`,
    `primariesin=bt709:chromalin=${SITINGS[siting]}:filter=${FILTERS[upsampling]}:param_a=0:param_b=0.5`,
    `matrix=gbr:transfer=${transfer === PQ ? 'smpte2084' : 'linear'}:primaries=bt709:range=full:agamma=0:dither=none`,
    'npl=1000,format=gbrpf32le',
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
  const all = [...new Float32Array(new Uint8Array(bytes).buffer)].map((value) => {
    if (transfer === PQ) return CURVES[PQ]?.(Math.max(0, value)) ?? Number.NaN;
    return transfer === SRGB_CURVE ? ofStandard(value) : value;
  });
  const n = width * height;
  return [all.slice(2 * n), all.slice(0, n), all.slice(n, 2 * n)];
}

/**
 * Our light as zscale has it: of HLG it shows what a display of 1,000 cd/m2 makes of the scene's light, by the
 * luminance of BT.709's primaries (BT.2100, table 5).
 */
function shown(light: Light, transfer: number): Light {
  if (transfer !== HLG) return light;
  const [r, g, b] = light;
  const gain = r.map((v, i) => (0.2126 * v + 0.7152 * (g[i] ?? 0) + 0.0722 * (b[i] ?? 0)) ** 0.2);
  const display = (plane: Float32Array) => plane.map((v, i) => v * (gain[i] ?? 0));
  return [display(r), display(g), display(b)];
}

/** The largest difference, relative above white. */
function difference(ours: Light, theirs: readonly (readonly number[])[]): number {
  return ours.reduce(
    (all, plane, p) =>
      plane.reduce((most, v, i) => {
        const expected = theirs[p]?.[i] ?? Number.NaN;
        return Math.max(most, Math.abs(v - expected) / Math.max(1, expected));
      }, all),
    0,
  );
}

describe('linear light', () => {
  it.skipIf(!zscale)(`is zscale's, ${needsFfmpeg} with zscale`, { timeout: 240_000 }, () => {
    const random = seeded(SEED);
    for (let i = 0; i < tier(40, 500); i++) {
      const video = randomFormat(random);
      const numbers = randomColour(random, video);
      const planes = picture(video, () => random.int(0, 2 ** video.bitDepth - 1));
      const ours = linearLight('simd128', video, { picture: planes, colour: numbers });
      const transfer = numbers[2];
      const worst = difference(shown(ours, transfer), byZscale(video, planes, numbers));
      const about = `${JSON.stringify(video)} ${numbers}, case ${i} of seed ${SEED}`;
      // R'G'B' of YCgCo is a sum of three samples, of others of two.
      const usual = numbers[0] === YCGCO ? 2e-6 : 1e-6;
      expect(worst, about).toBeLessThan(BOUNDS[transfer] ?? usual);
    }
  });
});
