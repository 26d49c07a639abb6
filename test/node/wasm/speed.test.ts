/**
 * @module test/node/wasm/speed
 * SpEED in the core: planes that say nothing, sizes it refuses, and that both implementations agree.
 */
import { describe, expect, it } from 'vitest';
import { score } from '../../../src/index.js';
import { disturbed, format, picture, runMetric, runTwins } from '../../support/metric.js';
import { seeded } from '../../support/random.js';
import { needsShared, sharedPath } from '../../support/shared.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261126);

const DEFAULTS = {
  kernelscale: 1,
  prescale: 1,
  prescaleMethod: 0,
  sigmaNn: 0.29,
  nnFloor: 0,
  weightVarMode: 0,
  useRefDiff: 0,
};

/** The options in the core's order. */
function options(changed: Partial<typeof DEFAULTS> = {}): number[] {
  return Object.values({ ...DEFAULTS, ...changed });
}

describe('speed_chroma', () => {
  const video = format(640, 480, 8, '420');
  const random = seeded(SEED);
  const noise = picture(video, () => random.int(0, 255));

  it('gives exactly 0 where a plane is flat, and leaves it out of uv', () => {
    const flat = picture(video, () => 128);
    expect(
      runMetric('simd128', video, { reference: flat, distorted: noise }, 'speed_chroma', options()),
    ).toEqual([0, 0, 0, 1, 1]);
    const half = noise.map((plane, i) => (i === 1 ? plane.map(() => 128) : plane));
    const distorted = disturbed(random, noise, 8, 60);
    const [u, v, uv, badU, badV] = runMetric(
      'simd128',
      video,
      { reference: half, distorted },
      'speed_chroma',
      options(),
    );
    expect({ u, badU, badV }).toEqual({ u: 0, badU: 1, badV: 0 });
    expect(uv).toBe(v);
    expect(v).toBeGreaterThan(0);
  });

  it('gives 0 for equal pictures, but hardly more than 0 where the weights are rounded differently', () => {
    const pair = { reference: noise, distorted: noise };
    expect(runMetric('simd128', video, pair, 'speed_chroma', options())).toEqual([0, 0, 0, 0, 0]);
    const [u = 0] = runMetric('simd128', video, pair, 'speed_chroma', options({ weightVarMode: 5 }));
    expect(u).toBeGreaterThan(0);
    expect(u).toBeLessThan(1e-4);
  });

  it('refuses planes below 80 samples, after prescaling', () => {
    const small = format(158, 300, 8, '420');
    const flat = picture(small, () => 128);
    const pair = { reference: flat, distorted: flat };
    expect(() => runMetric('simd128', small, pair, 'speed_chroma', options())).toThrow(/no \w+ for these/);
    expect(runMetric('simd128', small, pair, 'speed_chroma', options({ prescale: 1.1 }))).toEqual([
      0, 0, 0, 1, 1,
    ]);
    expect(() => runMetric('simd128', video, pair, 'speed_chroma', options({ prescale: 0.3 }))).toThrow(
      /no \w+ for these/,
    );
  });
});

describe('speed_temporal', () => {
  it('is 0 without an earlier pair', () => {
    const random = seeded(SEED);
    const video = format(160, 96, 8, '400');
    const noise = picture(video, () => random.int(0, 255));
    const pair = { reference: noise, distorted: noise };
    expect(runMetric('simd128', video, pair, 'speed_temporal', options())).toEqual([0, 0]);
  });

  it('takes the distorted difference to the reference on request', () => {
    const random = seeded(SEED);
    const video = format(320, 240, 8, '400');
    const noise = () => picture(video, () => random.int(0, 255));
    const earlier = noise();
    const reference = noise();
    // What was before is the same in both, so that the difference to the reference is the reference's own.
    const pictures = { reference, distorted: noise(), earlierReference: earlier, earlierDistorted: earlier };
    expect(runMetric('simd128', video, pictures, 'speed_temporal', options({ useRefDiff: 1 }))).toEqual([
      0, 0,
    ]);
    expect(runMetric('simd128', video, pictures, 'speed_temporal', options())[0]).toBeGreaterThan(0);
  });
});

describe(`both implementations of SpEED (seed ${SEED})`, () => {
  it('give the same', () => {
    const random = seeded(SEED);
    const rounds: readonly [number, Partial<typeof DEFAULTS>][] = [
      [8, {}],
      [10, { weightVarMode: 5, nnFloor: 0.1, sigmaNn: 0.19 }],
      [12, { prescale: 1.3, prescaleMethod: 2 }],
      [16, { kernelscale: 1.5, weightVarMode: 3 }],
    ];
    for (const [bitDepth, changed] of rounds) {
      const video = format(random.int(420, 500), random.int(380, 420), bitDepth, '444');
      const top = 2 ** bitDepth - 1;
      const reference = picture(video, () => random.int(0, top));
      const distorted = disturbed(random, reference, bitDepth, top >> 2);
      const pictures = { reference, distorted, earlierReference: distorted, earlierDistorted: reference };
      for (const metric of ['speed_chroma', 'speed_temporal'] as const) {
        const [portable, simd] = runTwins(video, pictures, metric, options(changed));
        expect(simd, `${metric} ${JSON.stringify({ video, changed })}, seed ${SEED}`).toEqual(portable);
      }
    }
  });
});

const clip = sharedPath('clips/src01_hrc00_576x324.yuv420p10le.yuv');

it.skipIf(clip === undefined)(`speed_chroma ends where its stage vectors end (${needsShared})`, async () => {
  const report = await score(
    {
      reference: clip ?? '',
      distorted: (clip ?? '').replace('hrc00', 'hrc01'),
      raw: { width: 576, height: 324, bitDepth: 10, chroma: '420' },
    },
    { models: [], features: ['speed_chroma'], frameCount: 1, threads: 0 },
  );
  // libvmaf 3.2.0, binary32, printed with fourteen digits.
  expect(report.frames[0]?.metrics.speed_chroma_u).toBeCloseTo(6.1211256980896, 12);
});
