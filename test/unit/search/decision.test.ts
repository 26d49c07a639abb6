/**
 * @module test/unit/search/decision
 * Which of several encodes to ship: by bytes and quality, with and without a target, and what the measurement does not tell apart.
 */
import { describe, expect, it } from 'vitest';
import { decideEncodes } from '../../../src/index.js';
import { pool } from '../../../src/report/pool.js';
import type { Report } from '../../../src/report/types.js';
import { differenceOf } from '../../../src/search/decision.js';
import { seeded } from '../../support/random.js';

interface Made {
  readonly name: string;
  readonly bytes?: number;
  readonly values: readonly number[];
  readonly untrusted?: boolean;
  readonly members?: readonly number[];
}

/** A report of frames at 25 a second. */
function made({ name, bytes, values, untrusted = false, members = [] }: Made): Report {
  const ofMembers = Object.fromEntries(members.map((mean, i) => [`vmaf_000${i + 1}`, { mean }]));
  const video = {
    width: 100,
    height: 50,
    frameRate: { num: 25, den: 1 },
    frameCount: values.length,
    skipped: 0,
  };
  const collection = members.length > 0 ? { members: members.length, bagging: 'vmaf_bagging' } : undefined;
  return {
    models: [
      { name: 'vmaf', source: 'vmaf_v0.6.1', features: [], options: {}, ...(collection && { collection }) },
    ],
    metrics: ['vmaf', ...Object.keys(ofMembers)],
    frames: values.map((vmaf, frameNum) => ({ frameNum, metrics: { vmaf } })),
    pooled_metrics: { vmaf: pool(values) ?? {}, ...ofMembers },
    aggregate_metrics: {},
    distribution: {},
    reference: { name: 'ref', ...video },
    distorted: { name, ...video, ...(bytes !== undefined && { fileSize: bytes }) },
    preflight: untrusted ? [{ code: 'unrelated', severity: 'error', message: 'Other pictures.' }] : [],
    warnings: [],
    subsample: 1,
  } as unknown as Report;
}

const random = seeded(33);
/** Ten seconds whose frames are about a mean. */
const about = (mean: number, spread = 0.5) =>
  Array.from({ length: 250 }, () => mean + spread * (random.next() - 0.5));
const film = about(0, 4);
/** Encodes of one film, which is easier here and harder there for all of them. */
const encode = (name: string, bytes: number, mean: number, more: Partial<Made> = {}) =>
  made({ name, bytes, values: about(mean, 0.2).map((value, i) => value + (film[i] ?? 0)), ...more });

const high = encode('high', 4000, 95);
const middle = encode('middle', 2000, 91);
const low = encode('low', 1000, 83);
const waste = encode('waste', 2500, 90);
const wrong = encode('wrong', 10, 96, { untrusted: true });

describe('which encode to ship', () => {
  it('is the smallest that reaches the target', async () => {
    const decision = await decideEncodes([low, high, waste, middle], { targets: ['88'] });
    expect(decision).toMatchObject({ ship: 3, reason: 'smallest-that-reaches', metric: 'vmaf', ties: [] });
    expect(decision.explanation).toMatch(
      /^Ship middle \(vmaf 9[01]\.\d\d, 2 kb\/s\): the smallest that reaches/,
    );
    expect((await decideEncodes([low, high], { targets: ['vmaf.min>=99'] })).reason).toBe('none-reaches');
  });

  it('is the best where nothing is to be reached, with what the next smaller one costs', async () => {
    const { ship, reason, front, smaller, encodes } = await decideEncodes([low, high, waste, middle]);
    expect([ship, reason, front]).toEqual([1, 'best', [0, 3, 1]]);
    expect(smaller).toMatchObject({ encode: 3, saves: 0.5 });
    expect(smaller?.loses).toBeCloseTo(4, 0);
    expect(encodes.map(({ onFront }) => onFront)).toEqual([true, true, false, true]);
    // Twice the bytes of low are 8 points, twice those of middle 4.
    expect(encodes.map(({ perDoubling }) => perDoubling && Math.round(perDoubling))).toEqual([
      null,
      4,
      null,
      8,
    ]);
    // 8 x 4000 bits for 250 frames of 5000 pixels.
    expect(encodes[1]?.bitsPerPixel).toBeCloseTo((8 * 4000) / (250 * 5000), 3);
    expect(encodes[1]?.kbps).toBeCloseTo(3.2, 1);
    const least = Math.min(...high.frames.map(({ metrics }) => metrics.vmaf ?? 0));
    expect(encodes[1]?.moments).toHaveLength(3);
    expect(encodes[1]?.moments[0]?.value).toBe(least);
  });

  it('is the smallest of those that differ by no more than the measurement tells', async () => {
    const same = encode('same', 3000, 95.0);
    const decision = await decideEncodes([high, same, low]);
    expect(decision).toMatchObject({ ship: 1, reason: 'smallest-as-good', ties: [[0, 1]], rivals: [] });
    expect(decision.explanation).toContain(
      'Its difference from high is within the error of the measurement.',
    );
    const copy = await decideEncodes([high, { ...high, distorted: { ...high.distorted, name: 'copy' } }]);
    expect(copy).toMatchObject({ ship: 0, rivals: [1], ties: [[0, 1]] });
  });

  it('is smaller than need be where nobody tells it from a better one', async () => {
    const [best, plenty] = [encode('best', 9000, 99), encode('plenty', 5000, 97.5)];
    expect(await decideEncodes([best, plenty, high])).toMatchObject({
      ship: 1,
      reason: 'smallest-as-good',
      ties: [],
    });
  });

  it('is none that cannot be trusted, whatever it has', async () => {
    expect(await decideEncodes([wrong, low])).toMatchObject({
      ship: 1,
      reason: 'best-and-smallest',
      front: [1],
    });
    expect(await decideEncodes([wrong])).toMatchObject({ ship: null, reason: 'none-trusted', front: [] });
  });

  it('needs a report with a metric of quality before the others', async () => {
    await expect(decideEncodes([])).rejects.toThrow(
      /^reports is empty; give the report of at least one encode\.$/,
    );
    const bare = { ...low, models: [], metrics: [], pooled_metrics: {} };
    await expect(decideEncodes([bare, high])).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(
        /^The report of low, which comes first, has no metric of quality to decide by; /,
      ),
    });
    expect(await decideEncodes([high, bare])).toMatchObject({ ship: 0, metric: 'vmaf' });
  });

  it('goes by quality alone where sizes are not known', async () => {
    const raw = [85, 92].map((mean) => made({ name: `${mean}`, values: about(mean) }));
    expect(await decideEncodes(raw)).toMatchObject({ ship: 1, front: [], smaller: null });
  });
});

describe('the difference of two encodes', () => {
  it('has an interval that contains the true one, about as often as it says', () => {
    let inside = 0;
    for (let i = 0; i < 200; i++) {
      const [a, b] = [made({ name: 'a', values: about(80, 6) }), made({ name: 'b', values: about(80, 6) })];
      const { low: from = 1, high: to = 0 } = differenceOf(a, b, 'vmaf') ?? {};
      if (from <= 0 && to >= 0) inside++;
    }
    expect(inside, `seed ${random.seed}`).toBeGreaterThan(180);
    expect(inside, `seed ${random.seed}`).toBeLessThan(200);
  });

  it('goes by the members of a bootstrap collection where there is one', () => {
    const [a, b] = [
      made({ name: 'a', values: about(80), members: [80, 81, 82] }),
      made({ name: 'b', values: about(70), members: [79, 81, 83] }),
    ];
    expect(differenceOf(a, b, 'vmaf')).toEqual({ low: -0.95, high: 0.95 });
  });

  it('is not known of a few frames', () => {
    const few = (mean: number) => made({ name: 'few', values: [mean, mean + 1, mean] });
    expect(differenceOf(few(80), few(81), 'vmaf')).toBeUndefined();
  });
});
