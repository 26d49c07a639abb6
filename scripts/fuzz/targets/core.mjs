/**
 * @module scripts/fuzz/targets/core
 * The core: SIMD against the portable functions that define the result, on pictures of any content and size.
 */
import { isDeepStrictEqual } from 'node:util';
import { loadBuilt } from '../../lib/project.mjs';

const FEATURES = [
  'vif',
  'adm',
  'motion',
  'psnr',
  'float_vif',
  'float_adm',
  'float_motion',
  'float_psnr',
  'float_ssim',
  'ciede',
  'psnr_hvs',
  'cambi',
  'float_moment',
  'float_ansnr',
  'speed_chroma',
  'speed_temporal',
  'xpsnr',
  'xpsnr=fps=60',
];

export async function simd() {
  const { score } = await loadBuilt('index.js');
  return {
    make(random) {
      const bitDepth = random.pick([8, 8, 10, 12, 16]);
      const chroma = random.pick(['420', '422', '444', '400']);
      const width = random.int(17, random.oneIn(6) ? 600 : 90);
      const height = random.int(17, random.oneIn(6) ? 200 : 90);
      const features = Array.from({ length: random.int(1, 3) }, () => random.pick(FEATURES));
      return {
        width,
        height,
        bitDepth,
        chroma,
        features: [...new Set(features)],
        noise: random.int(0, 3),
        seed: random.int(0, 2 ** 31),
      };
    },
    async run({ width, height, bitDepth, chroma, features, noise, seed }) {
      const raw = { width, height, bitDepth, chroma };
      const [reference, distorted] = [seed, seed + 1].map((start) => pictures(raw, noise, start));
      const options = { noPrediction: true, features, threads: 0, preflight: false };
      const [fast, exact] = await Promise.all(
        ['simd128', 'portable'].map((implementation) =>
          score({ reference, distorted, raw }, { ...options, implementation }),
        ),
      );
      if (!isDeepStrictEqual(fast.frames, exact.frames)) return 'SIMD and portable functions differ';
    },
  };
}

/** Two frames of raw video: gradients, noise, extremes, or blocks. */
function pictures({ width, height, bitDepth, chroma }, kind, seed) {
  const across = chroma === '420' || chroma === '422' ? (width + 1) >> 1 : width;
  const down = chroma === '420' ? (height + 1) >> 1 : height;
  const samples = 2 * (width * height + (chroma === '400' ? 0 : 2 * across * down));
  const most = 2 ** bitDepth - 1;
  const data = bitDepth === 8 ? new Uint8Array(samples) : new Uint16Array(samples);
  let state = seed >>> 0;
  for (let i = 0; i < samples; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const noise = state >>> 16;
    if (kind === 0) data[i] = ((i % width) + (noise % 8)) & most;
    else if (kind === 1) data[i] = noise & most;
    else if (kind === 2) data[i] = noise & 1 ? most : 0;
    else data[i] = ((((i % width) >> 4) * 37 + (noise % 3)) * 4) & most;
  }
  return new Uint8Array(data.buffer);
}
