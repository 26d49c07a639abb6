/**
 * @module test/node/accuracy/colour
 * The colour stage against zimg, by ffmpeg's zscale: random pictures of random formats become the same linear light.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { type Light, linearLight } from '../../support/linear-light.js';
import { format, type Picture, picture } from '../../support/metric.js';
import type { ColourNumbers } from '../../support/perceptual.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const SEED = 2084;
const zscale =
  hasFfmpeg &&
  spawnSync('ffmpeg', ['-v', 'quiet', '-filters'], { encoding: 'utf8' }).stdout.includes('zscale');

/** zscale's names, in the order of wasm/include/perceptual.h. Nothing there inverts BT.709's camera curve. */
const MATRICES = ['gbr', 'bt709', 'smpte170m', 'bt2020nc'] as const;
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

/**
 * Where zimg is less exact than a millionth: it smooths the knee of sRGB, which moves the curve by 5e-6 up to white
 * and by 1.4e-5 above, and the quotient of PQ cancels in its binary32.
 */
const BOUNDS: Readonly<Record<number, number>> = { [SRGB_CURVE]: 1.5e-5, [PQ]: 1e-4, [HLG]: 4e-6 };

/** A format that ffmpeg has, of a size that zscale takes: whole chroma samples, and enough of them for its filters. */
function randomFormat(random: SeededRandom): VideoFormat {
  const chroma = random.pick(['400', '420', '422', '444'] as const);
  const [width, height] = [random.int(17, 70), random.int(17, 70)];
  const across = chroma === '420' || chroma === '422' ? width & ~1 : width;
  return format(across, chroma === '420' ? height & ~1 : height, random.pick([8, 9, 10, 12, 14, 16]), chroma);
}

function randomColour(random: SeededRandom, { chroma }: VideoFormat): ColourNumbers {
  const matrix = random.int(chroma === '444' ? 0 : 1, 3);
  // zscale takes RGB for full range whatever is stated.
  const full = matrix === 0 ? 1 : random.int(0, 1);
  const transfer = random.pick([0, 1, 2, 3, 4, 6, 7]);
  const upsampling = random.int(0, 2);
  // Of two samples that are as near, zimg takes the right one.
  return [matrix, full, transfer, upsampling === NEAREST ? CENTRE : random.int(0, 2), upsampling];
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

/** Planes R, G and B by zscale. */
function byZscale(video: VideoFormat, planes: Picture, numbers: ColourNumbers): Light {
  const [matrix, full, transfer, siting, upsampling] = numbers;
  const { width, height } = video;
  const filter = [
    `zscale=matrixin=${MATRICES[matrix]}:rangein=${full ? 'full' : 'limited'}:transferin=${TRANSFERS[transfer]}`,
    `primariesin=bt709:chromalin=${SITINGS[siting]}:filter=${FILTERS[upsampling]}:param_a=0:param_b=0.5`,
    `matrix=gbr:transfer=linear:primaries=bt709:range=full:agamma=0:dither=none`,
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
  const all = new Float32Array(new Uint8Array(bytes).buffer);
  const n = width * height;
  return [all.subarray(2 * n), all.subarray(0, n), all.subarray(n, 2 * n)];
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

/** The largest difference, relative above white; theirs of PQ, which goes on beyond 10,000 cd/m2, only up to there. */
function difference(ours: Light, theirs: Light, transfer: number): number {
  return ours.reduce(
    (all, plane, p) =>
      plane.reduce((most, v, i) => {
        const expected = Math.min(
          theirs[p]?.[i] ?? Number.NaN,
          transfer === PQ ? 1 : Number.POSITIVE_INFINITY,
        );
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
      const worst = difference(shown(ours, transfer), byZscale(video, planes, numbers), transfer);
      const about = `${JSON.stringify(video)} ${numbers}, case ${i} of seed ${SEED}`;
      expect(worst, about).toBeLessThan(BOUNDS[transfer] ?? 1e-6);
    }
  });
});
