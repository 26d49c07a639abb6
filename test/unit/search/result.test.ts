/**
 * @module test/unit/search/result
 * Results that are read back: what was written, and files that lie.
 */
import { describe, expect, it } from 'vitest';
import { answerText, curveLine } from '../../../src/cli/encoding-text.js';
import {
  type ComparedPoint,
  formatEncodingResult,
  readEncodingResult,
  type SearchResult,
} from '../../../src/index.js';
import { COMPARISON, LADDER, rung, SEARCH } from '../../support/encoding-results.js';

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

  it.each([SEARCH, LADDER, COMPARISON])('of the kind $kind is read as it was written', async (result) => {
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

  it('says in good grammar where its curve rises', () => {
    const text = (...notMonotone: number[]) => answerText({ ...(SEARCH as SearchResult), notMonotone });
    expect(text(24)).toContain('The curve is not monotone: 24 scores better than the next finer value.');
    expect(text(24, 25)).toContain('not monotone: 24, 25 score better than the next finer value.');
  });

  it('writes bit rates in kilobits, and targets that were not reached', async () => {
    expect(await formatEncodingResult(COMPARISON, 'text')).toMatch(/ 0 kb\/s +91\.00 +100 +missed\n/);
    expect(await formatEncodingResult(COMPARISON, 'html')).toContain('1500 kb/s');
  });

  it.each([
    ['', /not JSON/],
    ['[]', /not an object/],
    ['{}', /its kind is undefined/],
    ['{"kind":"toString"}', /its kind is toString/],
    [JSON.stringify({ ...SEARCH, points: [] }), /points is not a list of 1/],
    [JSON.stringify({ ...SEARCH, points: 5 }), /points is not a list/],
    [JSON.stringify({ ...SEARCH, value: 'x' }), /value is not a number/],
    [JSON.stringify({ ...LADDER, hull: [{ ...rung, kbps: 0 }] }), /hull\[0\]\.kbps is not above 0/],
    [JSON.stringify({ ...LADDER, statistic: 'best' }), /statistic is not a statistic/],
    [JSON.stringify({ ...LADDER, command: [1] }), /command\[0\] is not a text/],
    [JSON.stringify({ ...COMPARISON, curves: [null] }), /curves\[0\] is not an object/],
    [JSON.stringify({ ...COMPARISON, source: 'x'.repeat(5000) }), /source is not a text/],
    ['{"kind":"ladder","__proto__":{"source":"a"}}', /source is not a text/],
  ])('that lies is refused: %s', async (text, message) => {
    await expect(readEncodingResult(text)).rejects.toEqual(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) }),
    );
  });
});
