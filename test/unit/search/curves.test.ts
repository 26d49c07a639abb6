/**
 * @module test/unit/search/curves
 * Curves of quality: the next value to try, convex hulls against all pairs, rising curves, and where one takes over from another.
 */
import { describe, expect, it } from 'vitest';
import { measuredManifest, measuredMaster } from '../../../src/report/bandwidth.js';
import {
  bestAt,
  type CurvePoint,
  cheapestAt,
  convexHull,
  type Grid,
  nextStep,
  type RateQuality,
  type RisingCurve,
  rateBetween,
  risingCurve,
  takeovers,
} from '../../../src/search/strategy.js';
import { ceilingOf } from '../../../src/search/targets.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const grid = (max: number, step: number): Grid => ({
  values: Array.from({ length: Math.floor(max / step) + 1 }, (_, i) => i * step),
  start: Math.round(max / 2 / step),
  slope: (51 / max) * 1.6 * step,
});

/** Runs a search. */
function search(quality: (value: number) => number, target: number, on: Grid) {
  const points: CurvePoint[] = [];
  for (;;) {
    const next = nextStep(points, on);
    if (next.kind !== 'try') return { ...next, encodes: points.length };
    expect(points.map(({ value }) => value)).not.toContain(next.value);
    points.push({ value: next.value, margin: quality(next.value) - target });
  }
}

/** The last value of a grid that reaches the target, by trying all. */
function exhaustive(quality: (value: number) => number, target: number, { values }: Grid) {
  return values.filter((value) => quality(value) >= target).at(-1);
}
/** A falling curve of quality. */
const logistic =
  (middle: number, width: number, top = 100) =>
  (value: number) =>
    top / (1 + Math.exp((value - middle) / width));

describe('a search along a curve', () => {
  it('is within a step of the full grid, in five encodes at the median and rarely more than eight', () => {
    const { next } = seeded(20261122);
    const counts: number[] = [];
    let short = 0;
    for (let round = 0; round < tier(450, 6000); round++) {
      const step = [0.5, 1, 0.25][round % 3] as number;
      const max = step === 0.5 ? 51 : 63;
      const middle = max * (0.6 + 0.5 * next());
      const width = max * (0.08 + 0.1 * next());
      const noise = round % 2 ? 0.03 : 0;
      const quality = logistic(middle, width, 101);
      const rough = (value: number) =>
        [value, Math.min(100, quality(value) + noise * (2 * next() - 1))] as const;
      const curve = new Map(grid(max, step).values.map(rough));
      const qualityOf = (value: number) => curve.get(value) as number;
      const target = 80 + 18 * next();
      const on = { ...grid(max, step), ceiling: 100 - target };
      const found = search(qualityOf, target, on);
      const best = exhaustive(qualityOf, target, on);
      counts.push(found.encodes);
      if (best === undefined) expect(found.kind).toBe('missed');
      else expect(Math.abs(found.value - best), `round ${round}`).toBeLessThanOrEqual(step);
      if (found.kind === 'found') expect(qualityOf(found.value)).toBeGreaterThanOrEqual(target);
      if (best !== undefined && found.value < best) short++;
    }
    counts.sort((a, b) => a - b);
    expect(counts[Math.floor(counts.length / 2)]).toBeLessThanOrEqual(5);
    expect(counts[Math.floor(counts.length * 0.99)]).toBeLessThanOrEqual(8);
    expect(counts.at(-1)).toBeLessThanOrEqual(9);
    // A value short of the target costs bytes.
    expect(short / counts.length).toBeLessThan(0.03);
  });

  it('is nearly as good on curves as rough as those of encoders', () => {
    const { next } = seeded(20261123);
    const counts: number[] = [];
    const rounds = tier(150, 1000);
    let near = 0;
    for (let round = 0; round < rounds; round++) {
      const middle = 51 * (0.55 + 0.3 * next());
      const width = 51 * (0.1 + 0.06 * next());
      const target = 70 + 27 * next();
      const on = { ...grid(51, 0.5), ceiling: 100 - target };
      // Each value is off by the cost of up to 0.6 steps there.
      const shift = new Map(on.values.map((value) => [value, value + 0.3 * (2 * next() - 1)]));
      const smooth = logistic(middle, width);
      const quality = (value: number) => smooth(shift.get(value) as number);
      const found = search(quality, target, on);
      counts.push(found.encodes);
      expect(quality(found.value)).toBeGreaterThanOrEqual(target);
      if (Math.abs(found.value - (exhaustive(quality, target, on) as number)) <= 0.5) near++;
    }
    counts.sort((a, b) => a - b);
    expect(near).toBeGreaterThanOrEqual(0.99 * rounds);
    expect(counts[counts.length / 2]).toBeLessThanOrEqual(5);
    expect(counts.at(-1)).toBeLessThanOrEqual(8);
  });

  it('ends at the ends of the range if all values pass, or none', () => {
    const on = grid(51, 1);
    expect(search(() => 99, 90, on)).toMatchObject({ kind: 'found', value: 51 });
    expect(search((value) => 80 - value / 10, 90, on)).toMatchObject({ kind: 'missed', value: 0 });
    const single: Grid = { values: [23], start: 0, slope: 1 };
    expect(search(() => 95, 90, single)).toEqual({ kind: 'found', value: 23, encodes: 1 });
    expect(search(() => 85, 90, single)).toEqual({ kind: 'missed', value: 23, encodes: 1 });
  });

  it('continues past a failure within noise, because the curve may rise again', () => {
    const on = grid(51, 0.5);
    const quality = (value: number) =>
      95 - (value - 25) + (value === 25.5 ? -0.2 + 0.5 : 0) + (value === 26 ? 1.1 : 0);
    const points = [25, 25.5].map((value) => ({ value, margin: value === 25.5 ? -0.1 : 0.2 }));
    expect(nextStep(points, on)).toEqual({ kind: 'try', value: 26 });
    expect(nextStep([...points, { value: 26, margin: quality(26) - 95 }], on).kind).not.toBe('missed');
  });

  it('tries the last step between a passing and a failing value, unless it is sure to fail', () => {
    const points = [
      { value: 34, margin: 4.2 },
      { value: 37, margin: 1.3 },
      { value: 39, margin: -0.9 },
    ];
    const on = { ...grid(63, 1), ceiling: 10 };
    expect(nextStep(points, on)).toEqual({ kind: 'try', value: 38 });
    const sure = [
      { value: 36, margin: 2 },
      { value: 37, margin: 0.004 },
      { value: 39, margin: -4 },
    ];
    expect(nextStep([...sure, { value: 35, margin: 4 }], on)).toEqual({ kind: 'found', value: 37 });
  });

  it('is mostly near the full grid for targets at the end of the scale, which cuts curves off', () => {
    const { next } = seeded(20261129);
    const rounds = tier(100, 1000);
    let near = 0;
    for (let round = 0; round < rounds; round++) {
      const [top, from, steep] = [100 + 4 * next(), 5 + 15 * next(), 0.01 + 0.05 * next()];
      const quality = (value: number) => Math.min(100, top - steep * Math.max(0, value - from) ** 1.7);
      const atLeast = [99.8, 99.95, 100][round % 3] as number;
      const ceiling = ceilingOf([{ metric: 'vmaf', statistic: 'mean', atLeast }]);
      const on = { ...grid(51, 0.5), ...(ceiling !== undefined && { ceiling }) };
      const best = exhaustive(quality, atLeast, on) as number;
      if (Math.abs(search(quality, atLeast, on).value - best) <= 1) near++;
    }
    expect(near).toBeGreaterThan(0.7 * rounds);
  });

  it('ends soon on noise, and if no value reaches the target', () => {
    const { next } = seeded(7);
    for (let round = 0; round < tier(60, 200); round++) {
      const on = grid(63, 1);
      const curve = new Map(on.values.map((value) => [value, 80 + 20 * next()]));
      const found = search((value) => curve.get(value) as number, 90, on);
      expect(found.encodes).toBeLessThanOrEqual(9);
      if (found.kind === 'found') expect(curve.get(found.value)).toBeGreaterThanOrEqual(90);
    }
    // Noise that no setting preserves, and black, whose score has a lower ceiling.
    const noise = (value: number) => 99.97 - 0.012 * value;
    expect(search(noise, 100, { ...grid(51, 0.5), ceiling: 0 })).toMatchObject({ kind: 'missed', value: 0 });
    for (const quality of [noise, () => 99.4, (value: number) => 97.4 + 0.02 * Math.sin(value)]) {
      for (const step of [0.5, 1]) {
        const target = quality === noise ? 100 : 99.5;
        const found = search(quality, target, { ...grid(51, step), ceiling: 100 - target });
        expect(found.kind).toBe('missed');
        expect(found.encodes).toBeLessThanOrEqual(8);
      }
    }
  });
});

/** A point is on the hull if no mixture of two others, nor one alone, gives as much for as little. */
function bruteForce(points: readonly RateQuality[]): RateQuality[] {
  const beaten = (p: RateQuality) =>
    points.some((a) => a !== p && a.kbps <= p.kbps && a.quality >= p.quality) ||
    points.some((a) =>
      points.some((b) => {
        if (a === p || b === p || !(a.kbps < p.kbps && b.kbps > p.kbps)) return false;
        const share = (p.kbps - a.kbps) / (b.kbps - a.kbps);
        return a.quality + share * (b.quality - a.quality) >= p.quality;
      }),
    );
  return points.filter((point) => !beaten(point)).sort((a, b) => a.kbps - b.kbps);
}

describe('the bandwidth of streams', () => {
  const media = (...segments: readonly (readonly [name: string, seconds: number])[]) => {
    const entries = segments.map(([name, seconds]) => `#EXTINF:${seconds},\n${name}\n`).join('');
    return `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI="init.m4s"\n${entries}#EXT-X-ENDLIST`;
  };
  const TEXTS: Readonly<Record<string, string>> = {
    'media_0.m3u8': media(['a1', 4], ['a2', 4], ['a3', 0.5]),
    'media_1.m3u8': media(['b1', 4], ['b2', 4]),
  };
  const BYTES: Readonly<Record<string, number>> = { a1: 1000, a2: 3000, a3: 900, b1: 500, b2: 400 };
  const files = {
    text: async (name: string) => TEXTS[name] ?? '',
    bytes: async (name: string) => BYTES[name] ?? Number.NaN,
  };
  const MASTER = [
    '#EXTM3U',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="group_A1",NAME="audio_1",URI="media_1.m3u8"',
    '#EXT-X-STREAM-INF:BANDWIDTH=17,RESOLUTION=192x128,CODECS="avc1.64,mp4a.40.2",AUDIO="group_A1"',
    'media_0.m3u8',
    '',
  ].join('\n');

  it('is that of the peak segment and the average, with sound and without a short last segment', async () => {
    const { text, peaks } = await measuredMaster('m.m3u8', MASTER, files);
    // 3000 bytes in 4 s are less than 3900 in 4.5 s; 900 bytes in 0.5 s are too short to count.
    const peak = Math.ceil((3900 * 8) / 4.5 + (500 * 8) / 4);
    const average = Math.ceil((4900 * 8) / 8.5 + (900 * 8) / 8);
    expect(text.split('\n')[2]).toBe(
      `#EXT-X-STREAM-INF:BANDWIDTH=${peak},AVERAGE-BANDWIDTH=${average},RESOLUTION=192x128,` +
        'CODECS="avc1.64,mp4a.40.2",AUDIO="group_A1"',
    );
    expect(await measuredMaster('m.m3u8', text, files)).toEqual({ text, peaks });
    const manifest = (kbps: number) =>
      `<Representation id="0" bandwidth="${kbps}" width="192"><Representation id="7" bandwidth="5">`;
    expect(measuredManifest(manifest(17), peaks)).toBe(manifest(Math.ceil((3900 * 8) / 4.5)));
  });

  it.each([
    ['#EXTM3U\n', 'it lists no streams'],
    ['<MPD>', 'does not begin with #EXTM3U'],
    [MASTER.replace('media_0.m3u8', '../media_0.m3u8'), 'not a file in the same folder'],
    [MASTER.replace('media_0.m3u8', 'media_9.m3u8'), 'no segments'],
  ])('%j is refused', async (text, why) => {
    const message = await refusalOf('io', () => measuredMaster('m.m3u8', text, files));
    expect(message).toMatch(/^m\.m3u8 is not an HLS master playlist of files in one folder: /);
    expect(message).toContain(why);
  });
});

describe('the convex hull', () => {
  it('equals that of all pairs on random points', () => {
    const { next: random } = seeded(7);
    for (let run = 0; run < tier(150, 500); run++) {
      const count = 1 + Math.floor(random() * 30);
      const draw = () => ({ kbps: 50 + 5000 * random() ** 2, quality: 100 * random() });
      const points = Array.from({ length: count }, draw);
      expect(convexHull(points)).toEqual(bruteForce(points));
    }
  });

  it('has corners only: no points on a line between others or of equal cost', () => {
    const at = (kbps: number, quality: number) => ({ kbps, quality });
    expect(convexHull([at(1, 1), at(2, 2), at(3, 3)])).toEqual([at(1, 1), at(3, 3)]);
    expect(convexHull([at(1, 1), at(1, 2), at(2, 2)])).toEqual([at(1, 2)]);
    expect(convexHull([])).toEqual([]);
  });
});

describe('rising curves', () => {
  const line = (low: number, high: number, quality: (log: number) => number) =>
    risingCurve(
      Array.from({ length: 9 }, (_, i) => {
        const kbps = Math.exp(Math.log(low) + ((Math.log(high) - Math.log(low)) * i) / 8);
        return { kbps, quality: quality(Math.log(kbps)), value: 40 - i };
      }),
    ) as RisingCurve;

  it('skip points that a cheaper one equals, and need two points', () => {
    expect(risingCurve([{ kbps: 100, quality: 50, value: 1 }])).toBeUndefined();
    const level = [
      { kbps: 100, quality: 50, value: 2 },
      { kbps: 200, quality: 50, value: 1 },
    ];
    expect(risingCurve(level)).toBeUndefined();
    const curve = risingCurve([
      { kbps: 100, quality: 50, value: 30 },
      { kbps: 150, quality: 45, value: 29 },
      { kbps: 200, quality: 60, value: 28 },
    ]) as RisingCurve;
    expect(curve.qualityAt(100)).toBe(50);
    expect(curve.qualityAt(200)).toBe(60);
    expect(curve.valueAt(200)).toBe(28);
    expect(curve.kbpsAt(curve.qualityAt(140))).toBeCloseTo(140, 9);
    // Rounding of logarithms leaves the ends on the curve.
    for (let kbps = 100; kbps < 200; kbps++) {
      const own = line(kbps, 2000, (log) => 9 * log);
      const lowest = own.kbpsAt(own.low.quality);
      expect(bestAt([['own', own]], rateBetween(lowest, own.high.kbps, 0))).toBeDefined();
      expect(takeovers([['own', own]])).toEqual([{ ...own.low, value: undefined, name: 'own' }]);
    }
    // Beyond its ends a curve is constant.
    expect([curve.qualityAt(10), curve.qualityAt(900)]).toEqual([50, 60]);
  });

  it('take over from each other where they cross', () => {
    const small = line(50, 800, (log) => 20 + 8 * log);
    const large = line(200, 4000, (log) => -10 + 13 * log);
    const [first, second, ...more] = takeovers([
      ['large', large],
      ['small', small],
    ]);
    expect(first).toMatchObject({ name: 'small', kbps: expect.closeTo(50, 6) });
    expect(second).toMatchObject({ name: 'large', kbps: expect.closeTo(Math.exp(6), 6) });
    expect(more).toEqual([]);
    const curves = [['small', small] as const, ['large', large] as const];
    expect(bestAt(curves, 300)?.name).toBe('small');
    expect(bestAt(curves, 500)?.name).toBe('large');
    expect(bestAt(curves, 10)).toBeUndefined();
    expect(cheapestAt(curves, 20 + 8 * 5)?.kbps).toBeCloseTo(Math.exp(5), 6);
    expect(cheapestAt(curves, 99)).toBeUndefined();
  });
});
