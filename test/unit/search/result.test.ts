/**
 * @module test/unit/search/result
 * Results of encoding: read back as they were written, refused where they lie, and which of several to ship.
 */
import { describe, expect, it } from 'vitest';
import { curveLine } from '../../../src/cli/commands/curves.js';
import { answerText } from '../../../src/cli/commands/search.js';
import {
  type ComparedPoint,
  decideEncodes,
  formatEncodingResult,
  readEncodingResult,
  type SearchResult,
} from '../../../src/index.js';
import { pool } from '../../../src/report/pool.js';
import type { Report } from '../../../src/report/schema.js';
import { differenceOf } from '../../../src/search/decision.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { COMPARISON, LADDER, rung, SEARCH } from '../../support/report.js';
import { tier } from '../../support/tier.js';

describe('a result of encoding', () => {
  it('is a table, CSV of all points, and a page that loads nothing, whatever names it has', async () => {
    const lines = (await formatEncodingResult(LADDER, 'csv')).trim().split('\n');
    expect(lines).toEqual([
      'width,height,crf,bytes,kbps,quality,frames_per_second,hull,rung',
      expect.stringMatching(/^64,48,20,1000,100,91,25,.*,1$/),
    ]);
    expect(await formatEncodingResult(LADDER, 'text')).toMatch(/^Rungs\n {2}rung +size +crf +vmaf +kb\/s/);
    const page = await formatEncodingResult({ ...LADDER, source: '<script>alert(1)</script>' }, 'html');
    expect(page).not.toContain('<script>');
    expect(page).not.toMatch(/(?:src|href)=/);
    expect(page).toContain('Where each size takes over');
    if (COMPARISON.kind !== 'comparison') throw new Error('no comparison');
    const curves = COMPARISON.curves.map((curve) => ({ ...curve, name: '=1+1,"x"' }));
    const table = await formatEncodingResult({ ...COMPARISON, curves }, 'csv');
    expect(table.split('\n')[1]).toMatch(/^"'=1\+1,""x""",libx264,bitrate,1500000,/);
    expect(await formatEncodingResult(COMPARISON, 'html')).toContain('BD-rate');
    await expect(formatEncodingResult(LADDER, 'pdf' as 'csv')).rejects.toThrow(/format.*pdf.*html/s);
  });

  // An encoder's option may have an empty value.
  const RESULTS = [SEARCH, LADDER, COMPARISON, { ...LADDER, command: ['ffmpeg', ''] }];
  it.each(RESULTS)('of the kind $kind is read as it was written', async (result) => {
    expect(await readEncodingResult(await formatEncodingResult(result, 'json'))).toEqual(result);
    for (const format of ['text', 'csv', 'html'] as const)
      expect((await formatEncodingResult(result, format)).length).toBeGreaterThan(20);
  });

  it('is a table of 80 columns in which long names stay apart', async () => {
    if (COMPARISON.kind !== 'comparison') throw new Error('no comparison');
    const [curve] = COMPARISON.curves;
    for (const names of [
      ['libx264 preset=veryslow tune=film aq-mode=3', 'libx264 preset=medium'],
      ['libx264 tune=film preset=veryfast', 'libx264 tune=film preset=veryslow'],
      ['libx264 preset=slow tune=a', 'libx265 preset=slow tune=a', 'libsvtav1 preset=4'],
    ]) {
      const curves = names.map((name) => ({ ...(curve as NonNullable<typeof curve>), name }));
      const lines = (await formatEncodingResult({ ...COMPARISON, curves }, 'text')).split('\n');
      const first = lines.slice(2, 2 + names.length).map((line) => line.split(/ {2,}/)[1]);
      expect(new Set(first).size).toBe(names.length);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    }
    const point = { ...(curve?.points[0] as ComparedPoint), cached: true };
    expect(curveLine('libx264 preset=veryslow tune=film', point).length).toBeLessThanOrEqual(80);
  });

  it('says where its curve rises, bit rates in kilobits, and targets that were not reached', async () => {
    const text = (...notMonotone: number[]) => answerText({ ...(SEARCH as SearchResult), notMonotone });
    expect(text(24)).toContain('The curve is not monotone: 24 scores better than the next finer value.');
    expect(text(24, 25)).toContain('not monotone: 24, 25 score better than the next finer value.');
    expect(await formatEncodingResult(COMPARISON, 'text')).toMatch(/ 0 kb\/s +91\.00 +100 +missed\n/);
    expect(await formatEncodingResult(COMPARISON, 'html')).toContain('1500 kb/s');
  });

  it.each([
    ['', /not JSON/],
    ['[]', /not an object/],
    ['{}', /kind is not one of search, ladder, comparison/],
    ['{"kind":"toString"}', /kind is not one of search, ladder, comparison/],
    [JSON.stringify({ ...SEARCH, points: [] }), /points is not a list of 1/],
    [JSON.stringify({ ...SEARCH, points: 5 }), /points is not a list/],
    [JSON.stringify({ ...SEARCH, value: 'x' }), /value is not a number/],
    [JSON.stringify({ ...LADDER, hull: [{ ...rung, kbps: 0 }] }), /hull\[0\]\.kbps is not a number above 0/],
    [JSON.stringify({ ...LADDER, statistic: 'best' }), /statistic is not one of mean, /],
    [JSON.stringify({ ...LADDER, command: [1] }), /command\[0\] is not a text/],
    [JSON.stringify({ ...COMPARISON, curves: [null] }), /curves\[0\] is not an object/],
    [JSON.stringify({ ...COMPARISON, source: 'x'.repeat(5000) }), /source is not a text/],
    ['{"kind":"ladder","__proto__":{"source":"a"}}', /source is not a text/],
  ])('that lies is refused: %s', async (text, message) => {
    expect(await refusalOf('usage', () => readEncodingResult(text))).toMatch(message);
  });
});

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
  const size = { width: 100, height: 50 };
  const video = { ...size, frameRate: { num: 25, den: 1 }, frameCount: values.length, skipped: 0 };
  const collection = { collection: { members: members.length, bagging: 'vmaf_bagging' } };
  const model = { name: 'vmaf', source: 'vmaf_v0.6.1', features: [], options: {} };
  return {
    models: [{ ...model, ...(members.length > 0 && collection) }],
    metrics: ['vmaf', ...Object.keys(ofMembers)],
    frames: values.map((vmaf, frameNum) => ({ frameNum, metrics: { vmaf } })),
    pooled_metrics: { vmaf: pool(values) ?? {}, ...ofMembers },
    ...{ aggregate_metrics: {}, distribution: {}, warnings: [], subsample: 1 },
    reference: { name: 'ref', ...video },
    distorted: { name, ...video, ...(bytes !== undefined && { fileSize: bytes }) },
    preflight: untrusted ? [{ code: 'unrelated', severity: 'error', message: 'Other pictures.' }] : [],
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
    const { explanation, ...decision } = await decideEncodes([low, high, waste, middle], { targets: ['88'] });
    expect(decision).toMatchObject({ ship: 3, reason: 'smallest-that-reaches', metric: 'vmaf', ties: [] });
    expect(explanation).toMatch(/^Ship middle \(vmaf 9[01]\.\d\d, 2 kb\/s\): the smallest that reaches/);
    expect((await decideEncodes([low, high], { targets: ['vmaf.min>=99'] })).reason).toBe('none-reaches');
  });

  it('is not one whose samples leave the target undecided', async () => {
    const sampling = {
      ...{
        runs: 4,
        run_frames: 50,
        frames: 200,
        total: 9000,
        seed: 1,
        level: 0.95,
        starts: [0, 90, 900, 990],
      },
      intervals: [{ metric: 'vmaf', statistic: 'mean', low: 80, high: 86 }],
    };
    const sampled = { ...low, sampling };
    expect(await decideEncodes([sampled, high], { targets: ['82'] })).toMatchObject({ ship: 1 });
    const { reason, explanation } = await decideEncodes([sampled], { targets: ['82'] });
    expect([reason, explanation]).toEqual(['none-reaches', expect.stringContaining('is certain to reach')]);
    expect((await decideEncodes([sampled, high], { targets: ['79'] })).ship).toBe(0);
  });

  it('is the best where nothing is to be reached, with what the next smaller one costs', async () => {
    const { ship, reason, front, smaller, encodes } = await decideEncodes([low, high, waste, middle]);
    expect([ship, reason, front]).toEqual([1, 'best', [0, 3, 1]]);
    expect(smaller).toMatchObject({ encode: 3, saves: 0.5 });
    expect(smaller?.loses).toBeCloseTo(4, 0);
    expect(encodes.map(({ onFront }) => onFront)).toEqual([true, true, false, true]);
    // Twice the bytes of low are 8 points, twice those of middle 4.
    const gains = encodes.map(({ perDoubling }) => perDoubling && Math.round(perDoubling));
    expect(gains).toEqual([null, 4, null, 8]);
    // 8 x 4000 bits for 250 frames of 5000 pixels.
    expect(encodes[1]?.bitsPerPixel).toBeCloseTo((8 * 4000) / (250 * 5000), 3);
    expect(encodes[1]?.kbps).toBeCloseTo(3.2, 1);
    const least = Math.min(...high.frames.map(({ metrics }) => metrics.vmaf ?? 0));
    expect(encodes[1]?.moments).toHaveLength(3);
    expect(encodes[1]?.moments[0]?.value).toBe(least);
  });

  it('is the smallest of those that differ by no more than the measurement tells', async () => {
    const same = encode('same', 3000, 95.0);
    const { explanation, ...decision } = await decideEncodes([high, same, low]);
    expect(decision).toMatchObject({ ship: 1, reason: 'smallest-as-good', ties: [[0, 1]], rivals: [] });
    expect(explanation).toContain('Its difference from high is within the error of the measurement.');
    const copy = await decideEncodes([high, { ...high, distorted: { ...high.distorted, name: 'copy' } }]);
    expect(copy).toMatchObject({ ship: 0, rivals: [1], ties: [[0, 1]] });
  });

  it('is smaller than need be where nobody tells it from a better one', async () => {
    const [best, plenty] = [encode('best', 9000, 99), encode('plenty', 5000, 97.5)];
    const decision = await decideEncodes([best, plenty, high]);
    expect(decision).toMatchObject({ ship: 1, reason: 'smallest-as-good', ties: [] });
  });

  it('is none that cannot be trusted, whatever it has', async () => {
    const trusted = await decideEncodes([wrong, low]);
    expect(trusted).toMatchObject({ ship: 1, reason: 'best-and-smallest', front: [1] });
    expect(await decideEncodes([wrong])).toMatchObject({ ship: null, reason: 'none-trusted', front: [] });
  });

  it('needs a report with a metric of quality before the others', async () => {
    const none = decideEncodes([]);
    await expect(none).rejects.toThrow(/^reports is empty; give the report of at least one encode\.$/);
    const bare = { ...low, models: [], metrics: [], pooled_metrics: {} };
    const refusal = await refusalOf('usage', () => decideEncodes([bare, high]));
    expect(refusal).toMatch(/^The report of low, which comes first, has no metric of quality to decide by; /);
    expect(await decideEncodes([high, bare])).toMatchObject({ ship: 0, metric: 'vmaf' });
  });

  it('goes by quality alone where sizes are not known', async () => {
    const raw = [85, 92].map((mean) => made({ name: `${mean}`, values: about(mean) }));
    expect(await decideEncodes(raw)).toMatchObject({ ship: 1, front: [], smaller: null });
  });
});

describe('the difference of two encodes', () => {
  it('has an interval that contains the true one, about as often as it says', () => {
    const pairs = tier(100, 200);
    let inside = 0;
    for (let i = 0; i < pairs; i++) {
      const [a, b] = [made({ name: 'a', values: about(80, 6) }), made({ name: 'b', values: about(80, 6) })];
      const { low: from = 1, high: to = 0 } = differenceOf(a, b, 'vmaf') ?? {};
      if (from <= 0 && to >= 0) inside++;
    }
    expect(inside, `seed ${random.seed}`).toBeGreaterThan(tier(88, 180));
    expect(inside, `seed ${random.seed}`).toBeLessThan(pairs);
  });

  it('goes by the members of a bootstrap collection where there is one, and is not known of a few frames', () => {
    const of = (mean: number, members: number[]) => made({ name: `${mean}`, values: about(mean), members });
    const difference = differenceOf(of(80, [80, 81, 82]), of(70, [79, 81, 83]), 'vmaf');
    expect(difference).toEqual({ low: -0.95, high: 0.95 });
    const few = (mean: number) => made({ name: 'few', values: [mean, mean + 1, mean] });
    expect(differenceOf(few(80), few(81), 'vmaf')).toBeUndefined();
  });
});
