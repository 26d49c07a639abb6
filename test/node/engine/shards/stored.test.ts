/** Shards of stored videos: merged, they equal a run in one piece to the last bit, whatever is measured and wherever they are cut. */
import { describe, expect, it } from 'vitest';
import { score } from '../../../../src/index.js';
import { METRICS } from '../../../../src/metrics/index.js';
import type { ScoreOptions, ScoreRequest } from '../../../../src/public.js';
import { y4mFile } from '../../../../src/sample/files.js';
import { makeSample } from '../../../../src/sample/generator.js';
import { file, SMALL, scratchFolder, y4mPair } from '../../../support/clips.js';
import { seeded } from '../../../support/random.js';
import { comparable, inParts } from '../../../support/shards.js';

const folder = scratchFolder();
const FRAMES = 9;

/** Large enough for every extractor. */
const LARGE = { width: 224, height: 192, bitDepth: 8, chroma: '420' } as const;

function pairOf(
  name: string,
  format: Parameters<typeof y4mPair>[0],
  frames = FRAMES,
  seed = 1,
): ScoreRequest {
  const { reference, distorted } = y4mPair(format, frames, seed);
  return {
    reference: file(folder, `${name}-ref.y4m`, reference),
    distorted: file(folder, `${name}-dis.y4m`, distorted),
  };
}

const pairs = {
  small: pairOf('small', SMALL),
  deep: pairOf('deep', { ...SMALL, bitDepth: 10 }),
  large: pairOf('large', LARGE, 5),
  single: pairOf('single', SMALL, 1),
  short: {
    reference: file(folder, 'short-ref.y4m', y4mPair(SMALL, FRAMES).reference),
    distorted: file(folder, 'short-dis.y4m', y4mPair(SMALL, FRAMES - 2).distorted),
  },
  sizes: {
    reference: file(folder, 'sizes-ref.y4m', y4mPair(SMALL, FRAMES).reference),
    distorted: file(folder, 'sizes-dis.y4m', y4mFile(makeSample(LARGE), 'distorted', FRAMES)),
  },
} satisfies Record<string, ScoreRequest>;

const CASES: readonly (readonly [string, keyof typeof pairs, ScoreOptions])[] = [
  ['the default model', 'small', {}],
  ['chunks of one frame on workers', 'small', { threads: 2, chunkFrames: 1 }],
  ['all extractors', 'large', { features: METRICS.map(({ spec }) => spec.name), noPrediction: true }],
  [
    'motion of five frames',
    'small',
    { features: ['motion=motion_five_frame_window=true:motion_moving_average=true'] },
  ],
  ['libvmaf 3.0', 'small', { compat: 'libvmaf-3.0', features: ['motion=debug=true'] }],
  ['a bootstrap model', 'small', { models: ['version=vmaf_b_v0.6.3'] }],
  ['several models', 'small', { models: ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=neg'] }],
  [
    'values of the whole run',
    'small',
    { features: ['psnr=enable_apsnr=true', 'float_psnr'], noPrediction: true },
  ],
  ['subsampling', 'small', { subsample: 3 }],
  ['subsampling in parts of another size', 'small', { subsample: 4 }],
  ['frames left out', 'small', { skipReference: 2, skipDistorted: 1, frameCount: 5 }],
  ['an offset', 'small', { offset: 2 }],
  ['a range', 'small', { range: { unit: 'frames', start: 2, end: 8 } }],
  ['a range on workers', 'deep', { range: { unit: 'frames', start: 2, end: 8 }, threads: 2 }],
  ['ten bits', 'deep', {}],
  ['one frame', 'single', { features: ['motion=debug=true'] }],
  ['a shorter encode', 'short', {}],
  ['another size', 'sizes', { scale: 'bilinear' }],
  ['another size on workers', 'sizes', { scale: 'bilinear', threads: 2 }],
  ['no preflight', 'small', { preflight: false }],
  ['preflight that looks at the pictures', 'deep', { preflight: true, threads: 1 }],
  ['strictness about the same thing', 'small', { strict: true, features: ['psnr'] }],
  ['a tiny model on features', 'small', { tiny: [{ model: 'fr_vmaf_v0.6.1' }] }],
  [
    'a tiny model without a reference',
    'large',
    { noReference: true, tiny: [{ model: 'nr_vmaf_v0.6.1', resize: 'bicubic' }] },
  ],
];

describe('shards of stored videos, merged,', () => {
  it.each(CASES)('equal one run: %s', async (_, name, options) => {
    const whole = await score(pairs[name], options);
    for (const count of name === 'small' ? [2, 3, 7] : [3]) {
      const merged = await inParts(pairs[name], count, options);
      expect(comparable(merged), `${count} parts`).toEqual(comparable(whole));
    }
  });

  it('equal one run with more parts than frames', async () => {
    const whole = await score(pairs.small);
    const merged = await inParts(pairs.small, FRAMES + 4, {});
    expect(comparable(merged)).toEqual(comparable(whole));
  });

  it('equal one run in every number of parts, with options at random', async () => {
    const seed = Number(process.env.ANYVMAF_SEED ?? 20_26);
    const random = seeded(seed);
    for (let round = 0; round < 6; round++) {
      const options: ScoreOptions = {
        threads: random.pick([0, 0, 2]),
        subsample: random.pick([1, 1, 2, 5]),
        skipReference: random.pick([0, 0, 1]),
        skipDistorted: random.pick([0, 0, 2]),
        frameCount: random.pick([0, 4, 100]),
        compat: random.pick(['libvmaf-3.2', 'libvmaf-3.0']),
        features: random.pick([[], ['psnr', 'motion=debug=true'], ['motion=motion_five_frame_window=true']]),
      };
      const name = random.pick(['small', 'deep', 'short'] as const);
      const count = random.int(1, 10);
      const where = `seed ${seed}, round ${round}: ${name} in ${count}, ${JSON.stringify(options)}`;
      const whole = await score(pairs[name], options);
      expect(comparable(await inParts(pairs[name], count, options)), where).toEqual(comparable(whole));
    }
  });

  it('give each frame in order', async () => {
    const frames: number[] = [];
    await inParts(pairs.small, 3, { onFrame: ({ frameNum }) => frames.push(frameNum) });
    expect(frames).toEqual(Array.from({ length: FRAMES }, (_, i) => i));
  });
});
