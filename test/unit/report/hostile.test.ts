/**
 * @module test/unit/report/hostile
 * Reports that somebody made to stop the reader: deep, long, or full of what one pass over the text does not mind.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { formatReport, ranking, readReport, summarize } from '../../../src/public.js';

/** A machine under load included; what goes back over the text takes minutes. */
const MOST = 5000;

function timed<T>(work: () => T): { result: T | undefined; error: unknown } {
  const start = performance.now();
  let result: T | undefined;
  let error: unknown;
  try {
    result = work();
  } catch (thrown) {
    error = thrown;
  }
  expect(performance.now() - start).toBeLessThan(MOST);
  return { result, error };
}

function refusal(text: string): string {
  const { error } = timed(() => readReport(text, 'x'));
  expect(error).toBeInstanceOf(AnyvmafError);
  return (error as AnyvmafError).message;
}

const DIGITS = `${'1'.repeat(400_000)}x`;

describe('a report', () => {
  it.each([
    ['CSV', `Frame,psnr_y,\n0,${DIGITS},\n`],
    ['SUB', `{0}{1}frame: 0|psnr_y: ${DIGITS}|\n`],
    ['XML', `<VMAF><frames><frame frameNum="0" psnr_y="${DIGITS}"/></frames></VMAF>`],
    ['XML frame number', `<VMAF><frames><frame frameNum="${DIGITS}"/></frames></VMAF>`],
  ])('of %s with a number of 400,000 digits that is none is refused at once', (_, text) => {
    expect(refusal(text).length).toBeLessThan(500);
  });

  it('reads a number of 400,000 digits', () => {
    const { result } = timed(() => readReport(`Frame,psnr_y,\n0,0.${'3'.repeat(400_000)},\n`));
    expect(result?.frames[0]?.metrics.psnr_y).toBe(1 / 3);
  });

  it.each([
    ['elements 20,000 deep', '<a>'.repeat(20_000), 'at most 32 deep'],
    ['a name of 2 MB', `<VMAF ${'a'.repeat(2_000_000)}`, 'expected an element'],
    ['attributes without end', `<VMAF ${'a = '.repeat(500_000)}`, 'expected an element'],
    ['an open comment', `<VMAF>${'<!-- '.repeat(500_000)}`, 'expected what ends with -->'],
  ])('of XML with %s is refused at once', (_, text, why) => {
    expect(refusal(text)).toContain(why);
  });

  it('of XML reads 20 MB of text between elements', () => {
    const text = `<VMAF>${'text '.repeat(4 << 20)}<frames><frame frameNum="0" a="1"/></frames></VMAF>`;
    expect(timed(() => readReport(text)).result?.frames).toHaveLength(1);
  });

  it('of JSON with a string of 20 MB is told where it breaks', () => {
    expect(refusal(`{"frames": "${'a'.repeat(20 << 20)}" x`)).toContain('expected "," or "}"');
  });

  it('of XML takes no name of an object’s own members for an entity', () => {
    const { warnings } = readReport(
      '<VMAF><frames/><anyvmaf><warning>&constructor; &amp;</warning></anyvmaf></VMAF>',
    );
    expect(warnings).toEqual(['&constructor; &']);
  });

  it('with metrics named as members of objects is read, ranked and refused like the rest', () => {
    const read = readReport('Frame,__proto__,constructor,psnr_y,\n0,1,2,30,\n');
    expect(Object.keys(read.frames[0]?.metrics ?? {})).toEqual(['__proto__', 'constructor', 'psnr_y']);
    expect(ranking(read)).toEqual({ metric: 'psnr_y', worse: 'low' });
    expect(() => summarize(read as never)).toThrow('report has no models, warnings, reference, distorted');
    expect(formatReport(read as never, 'csv')).toContain('30.000000');
  });
});
