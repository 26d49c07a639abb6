/**
 * @module test/unit/report/read
 * Reading reports: our own, logs of libvmaf, truncated or broken ones, and files made to stall the reader.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { ranking, summarize } from '../../../src/public.js';
import type { Fields, Kind } from '../../../src/report/kinds.js';
import { isReport, readBaseline, readReport, reportTexts } from '../../../src/report/read/index.js';
import { inputs, models, outcome, preparation, type Report, run } from '../../../src/report/schema.js';
import { formatReport, ndjsonLines } from '../../../src/report/write.js';
import { built, printed, report } from '../../support/report.js';
import { cpuTime, tier } from '../../support/tier.js';

/** A value of a kind with all its keys; the last word of a choice, which is never the default. */
function exampleOf(kind: Kind<unknown> & { readonly fields?: Fields }): unknown {
  const { type, values, item, fields } = kind;
  if (fields) return valuesOf(fields);
  // Words of a list are separated by spaces in XML.
  if (item) return [1, 2].map(() => (item.type === 'text' ? 'auto' : exampleOf(item)));
  if (values) return values.at(-1);
  if (type === 'fraction') return { num: 24000, den: 1001 };
  if (type === 'bounds') return [-1, 110];
  if (type === 'flag' || type === 'set') return true;
  if (type === 'scalar') return 'auto';
  return type === 'text' ? 'a <"&\'> b' : 7;
}

function valuesOf(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, exampleOf(kind)]));
}

describe('a written report is read back', () => {
  /** A report with every key. */
  const whole = (): Report => {
    const keys = [inputs, preparation, models, run, outcome].map(({ fields }) => valuesOf(fields));
    const { version, fps } = report();
    return Object.assign({ ...printed, version, fps }, ...keys);
  };

  test.each(['json', 'ndjson', 'xml'] as const)('%s: every key of the schema', (format) => {
    const { tiny, ...others } = whole();
    // XML holds less of tiny models.
    const original = format === 'xml' ? others : { ...others, tiny };
    const text = formatReport(original, format);
    const read = readReport(text);
    expect(strip(read)).toEqual(original);
    expect(read).toMatchObject({ format, computed: [], notes: [] });
    expect(isReport(read)).toBe(true);
    expect(formatReport(read as Report, format)).toBe(text);
  });

  test.each(['json', 'ndjson', 'xml', 'csv', 'sub'] as const)('%s: values, names and gaps', (format) => {
    const psnr_y = [40, format === 'csv' ? 41 : Number.NaN];
    const names = { vmaf: [90.123456, 1e-7], psnr_y, p95: [1, 2], ['__proto__']: [3, 4] };
    const original = built(names, { frameNumbers: [0, 4], subsample: 4 });
    const text = formatReport(original, format, { precision: 'max' });
    const read = readReport(text);
    expect(read.frames).toEqual(original.frames);
    expect(formatReport({ ...original, ...strip(read) }, format, { precision: 'max' })).toBe(text);
  });

  test.each(['json', 'ndjson', 'xml'] as const)('%s: an empty list is not a missing one', (format) => {
    const empty = readReport(formatReport({ ...printed, preflight: [], withoutGrain: [] }, format));
    expect(empty).toMatchObject({ preflight: [], withoutGrain: [] });
    const absent = readReport(formatReport(printed, format));
    expect([absent.preflight, absent.withoutGrain]).toEqual([undefined, undefined]);
  });

  test.each(['json', 'ndjson', 'xml'] as const)('%s: an interval that is not finite is omitted', (format) => {
    const interval = { metric: 'float_ssim', statistic: 'mean', low: 90, high: 91 };
    const sampling = {
      ...{ runs: 1, run_frames: 9, frames: 9, total: 100, seed: 1, level: 0.95, starts: [3] },
      intervals: [{ ...interval, low: Number.NaN, high: Number.NaN }, interval],
    };
    const text = formatReport({ ...printed, sampling }, format);
    if (format === 'json') expect(JSON.parse(text).sampling.intervals[0].low).toBeNull();
    expect(readReport(text).sampling).toEqual({ ...sampling, intervals: [interval] });
  });

  test('XML: values without film grain that are not finite', () => {
    const withoutGrain = [Number.POSITIVE_INFINITY, Number.NaN].map((value) => ({ metric: 'psnr_y', value }));
    expect(readReport(formatReport({ ...printed, withoutGrain }, 'xml')).withoutGrain).toEqual(withoutGrain);
  });

  test('a tiny model has the usual direction unless the file says otherwise', () => {
    const [tiny] = valuesOf(models.fields).tiny as NonNullable<Report['tiny']>;
    for (const better of ['higher', 'lower'] as const) {
      const text = formatReport({ ...printed, tiny: tiny ? [{ ...tiny, better }] : [] }, 'json');
      expect(text.includes('"better"')).toBe(better === 'lower');
      expect(readReport(text).tiny?.[0]?.better).toBe(better);
    }
  });

  function strip({ format: _f, computed: _c, notes: _n, ...rest }: ReturnType<typeof readReport>) {
    return rest;
  }
});

const log = (format: string) =>
  readFileSync(new URL(`../../fixtures/reports/pair.${format}`, import.meta.url), 'utf8').replace(
    'FPS',
    '14.02',
  );
/** What libvmaf's tool wrote for three frames in every format. */
const LIBVMAF = ['xml', 'json', 'csv', 'sub'].map((format) => [format, log(format)] as const);
const WRITTEN: Pick<Report, 'frames' | 'pooled_metrics' | 'aggregate_metrics'> = JSON.parse(log('json'));

describe("libvmaf's logs", () => {
  test.each(LIBVMAF)('%s: frames and pooled values as in the file, others computed', (format, text) => {
    const read = readReport(text);
    expect(read.format).toBe(format);
    expect(read.metrics).toEqual(Object.keys(WRITTEN.frames[0]?.metrics ?? {}));
    expect(read.frames).toEqual(WRITTEN.frames);
    expect(isReport(read)).toBe(false);
    expect(read.reference).toBeUndefined();
    expect(read.models).toBeUndefined();
    const { min, max } = WRITTEN.pooled_metrics.psnr_y ?? {};
    if (format === 'xml' || format === 'json') {
      const { pooled_metrics, aggregate_metrics } = WRITTEN;
      expect(read).toMatchObject({ pooled_metrics, aggregate_metrics, computed: ['distribution'] });
      expect(read).toMatchObject({ version: 'VERSION', fps: 14.02 });
    } else {
      expect(read.computed).toEqual(['pooled_metrics', 'distribution']);
      expect(read.pooled_metrics.psnr_y).toMatchObject({ min, max });
      expect(read.version).toBeUndefined();
    }
    expect(read.distribution.psnr_y?.percentiles.p50).toBe(WRITTEN.frames[1]?.metrics.psnr_y);
  });

  test('a byte order mark, Windows line ends and surrounding spaces do not matter', () => {
    for (const [, text] of LIBVMAF)
      expect(readReport(`\uFEFF${text.replaceAll('\n', '\r\n')}`).frames).toEqual(readReport(text).frames);
  });

  test('values may be infinite, and text unescaped', () => {
    const csv = readReport('Frame,a,b,\n0,inf,-nan,\n');
    expect(csv.frames[0]?.metrics).toEqual({ a: Infinity, b: Number.NaN });
    expect(readReport('{"frames":[{"frameNum":0,"metrics":{"a":null}}]}').frames[0]?.metrics.a).toBeNaN();
    // libvmaf before 2.1: not JSON.
    const old = readReport('{"fps": inf,"frames":[{"frameNum":0,"metrics":{"a": -nan(ind), "b": 1}}]}');
    expect(old.frames[0]?.metrics.b).toBe(1);
    const read = readReport('<VMAF version="x"><frames><frame frameNum="3" a&b="1" /></frames></VMAF>');
    expect(read.frames).toEqual([{ frameNum: 3, metrics: { 'a&b': 1 } }]);
  });
});

describe('incomplete reports', () => {
  test('a CSV row without a value is left out with a note', () => {
    const read = readReport('Frame,a,b,\n0,1,2,\n1,3,\n2,5,6,\n');
    expect(read.frames.map(({ frameNum }) => frameNum)).toEqual([0, 2]);
    expect(read.notes).toEqual([expect.stringMatching(/^Line 3 has 1 values for 2 metrics/)]);
  });

  test('a truncated line is left out with a note', () => {
    expect(readReport('Frame,a,b,\n0,1,2,\n1,3,4').notes).toEqual(['Line 3 is cut off and was ignored.']);
    const whole = formatReport(printed, 'ndjson');
    const cut = readReport(whole.slice(0, whole.indexOf('"frameNum":1') + 20));
    expect(cut.frames.map(({ frameNum }) => frameNum)).toEqual([0]);
    expect(cut.notes).toEqual(['Line 3 is cut off and was ignored.', expect.stringMatching(/no summary/)]);
    expect(cut.metrics).toEqual(printed.metrics);
    expect(cut.computed).toEqual(['pooled_metrics', 'distribution']);
  });

  test('NDJSON of a running measurement is read up to its last line', () => {
    const lines = formatReport(printed, 'ndjson').split('\n');
    const read = readReport(`${lines.slice(0, 2).join('\n')}\n`);
    expect(read.frames).toHaveLength(1);
    expect(read.reference?.name).toBe('ref.yuv');
    expect(isReport(read)).toBe(false);
  });

  test('NDJSON of several encodes is read encode by encode, without those that failed', () => {
    const one = formatReport(printed, 'ndjson');
    const version = '1';
    const failed = { version, reference: 'r', distorted: 'd', code: 'io', message: 'gone' } as const;
    const failure = ndjsonLines().failure(failed);
    const begun = one.slice(0, one.indexOf('{"type":"summary"'));
    const all = failure + one + begun + failure + one;
    expect(reportTexts(all, 'all.ndjson')).toEqual([one, one]);
    expect(reportTexts(`${all}${begun}`, 'all.ndjson')).toEqual([one, one, begun]);
    expect(reportTexts(failure, 'all.ndjson')).toEqual([]);
    expect(reportTexts(one, 'all.ndjson')).toEqual([one]);
    expect(() => readBaseline(failure, 'all.ndjson')).toThrow('has no report');
    const onWindows = (text: string) => text.replaceAll('\n', '\r\n');
    expect(reportTexts(onWindows(all), 'all.ndjson')).toEqual([onWindows(one), onWindows(one)]);
    expect(readReport(onWindows(one)).frames).toEqual(readReport(one).frames);
  });

  test('frames in another order are sorted; a repeated frame is refused', () => {
    expect(readReport('Frame,a,\n2,1,\n0,2,\n').frames.map(({ frameNum }) => frameNum)).toEqual([0, 2]);
    expect(() => readReport('Frame,a,\n2,1,\n2,2,\n')).toThrow('frame 2 occurs twice');
  });
});

describe('broken reports are refused with the place', () => {
  test.each([
    ['', 'r.json is not a report: it is empty'],
    ['hello', 'r.json, line 1, column 1: expected a report, found "hello"'],
    ['[1]', 'its JSON is a list'],
    ['{"a":1}', 'its JSON has no list "frames"'],
    ['<html><body>', 'it is an HTML page'],
    ['reference,distorted,vmaf_mean\na,b,9\n', 'it is a comparison without frames; open the JSON comparison'],
    [
      '{\n  "frames": [\n    {"frameNum": 0 "metrics": {}}\n]}',
      'line 3, column 20: expected "," or "}", found ""metrics": {}}"',
    ],
    ['{"frames": [', 'line 1, column 13: expected a value, the file ends here'],
    ['{"frames": [01]}', 'column 14: expected "," or "]", found "1]}"'],
    ['{"frames": [1,]}', 'column 15: expected a value, found "]}"'],
    ['{"frames": ["a\\x"]}', 'column 13: expected a value'],
    ['{"frames": []} x', 'column 16: expected the end, found "x"'],
    ['{"frames": [{"frameNum": 0, "metrics": {"a": "1"}}]}', 'frames[0] has no number for "a"'],
    ['{"frames": [{"frameNum": -1, "metrics": {}}]}', 'frames[0] has no frame number'],
    [
      '<VMAF>\n <frames>\n  <frame frameNum="0" a="x" />',
      'line 3, column 3: expected a number as a, not "x"',
    ],
    ['<VMAF>\n <frames>\n  <frame a="1" />', 'line 3, column 3: expected a frame with a frameNum'],
    ['<VMAF>\n <frames>\n  <frame frameNum="0" a="1"', 'line 3, column 3: expected an element'],
    ['<VMAF>\n <frames>\n  <frame frameNum="0" a="1" />\n', 'expected </frames>, the file ends here'],
    ['<VMAF>\n</frames>', 'line 2, column 1: expected no </frames>'],
    ['<VMAF></VMAF>', 'its XML has no element <frames>'],
    ['Frame,a,\n0,1,2,\n', 'line 2, column 1: expected 1 values, not 2'],
    ['Frame,a,b,\n0,1,x,\n', 'line 2, column 5: expected a number for b, found "x,"'],
    ['Frame,a,\nx,1,\n', 'line 2, column 1: expected a frame number'],
    ['{0}{1}frame: 0|a: 1|\n{1}frame', 'line 2, column 1: expected {N}{N+1}frame: N|'],
    ['{0}{1}frame: 0|a: 1|b|', 'line 1, column 21: expected a metric and its number, found "b|"'],
  ])('%j', (text, message) => {
    expect(() => readReport(text, 'r.json')).toThrow(message);
  });
});

describe('hostile files', () => {
  /** Milliseconds of processor time; backtracking over the text would take minutes. */
  const MOST = 5000;

  function timed<T>(work: () => T): { result: T | undefined; error: unknown } {
    let result: T | undefined;
    let error: unknown;
    const took = cpuTime(() => {
      try {
        result = work();
      } catch (thrown) {
        error = thrown;
      }
    });
    expect(took).toBeLessThan(MOST);
    return { result, error };
  }

  function refusal(text: string): string {
    const { error } = timed(() => readReport(text, 'x'));
    expect(error).toBeInstanceOf(AnyvmafError);
    return (error as AnyvmafError).message;
  }

  const DIGITS = `${'1'.repeat(400_000)}x`;

  it.each([
    ['CSV', `Frame,psnr_y,\n0,${DIGITS},\n`],
    ['SUB', `{0}{1}frame: 0|psnr_y: ${DIGITS}|\n`],
    ['XML', `<VMAF><frames><frame frameNum="0" psnr_y="${DIGITS}"/></frames></VMAF>`],
    ['XML frame number', `<VMAF><frames><frame frameNum="${DIGITS}"/></frames></VMAF>`],
  ])('%s with an invalid number of 400,000 digits is refused at once', (_, text) => {
    expect(refusal(text).length).toBeLessThan(500);
  });

  it('a number of 400,000 digits, and megabytes of text between XML elements, are read', () => {
    const { result } = timed(() => readReport(`Frame,psnr_y,\n0,0.${'3'.repeat(400_000)},\n`));
    expect(result?.frames[0]?.metrics.psnr_y).toBe(1 / 3);
    const text = `<VMAF>${'text '.repeat(tier(1, 4) << 20)}<frames><frame frameNum="0" a="1"/></frames></VMAF>`;
    expect(timed(() => readReport(text)).result?.frames).toHaveLength(1);
  });

  it.each([
    ['XML elements 20,000 deep', '<a>'.repeat(20_000), 'at most 32 deep'],
    ['an XML name of 2 MB', `<VMAF ${'a'.repeat(2_000_000)}`, 'expected an element'],
    ['XML attributes without end', `<VMAF ${'a = '.repeat(500_000)}`, 'expected an element'],
    ['an open XML comment', `<VMAF>${'<!-- '.repeat(500_000)}`, 'expected a closing -->'],
    ['a JSON string of megabytes', `{"frames": "${'a'.repeat(tier(4, 20) << 20)}" x`, 'expected "," or "}"'],
  ])('%s is refused at once', (_, text, why) => {
    expect(refusal(text)).toContain(why);
  });

  it('names of members of Object are read, ranked and refused like others', () => {
    const text = '<VMAF><frames/><anyvmaf><warning>&constructor; &amp;</warning></anyvmaf></VMAF>';
    expect(readReport(text).warnings).toEqual(['&constructor; &']);
    const read = readReport('Frame,__proto__,constructor,psnr_y,\n0,1,2,30,\n');
    expect(Object.keys(read.frames[0]?.metrics ?? {})).toEqual(['__proto__', 'constructor', 'psnr_y']);
    expect(ranking(read)).toEqual({ metric: 'psnr_y', worse: 'low' });
    expect(() => summarize(read as never)).toThrow('report has no models, warnings, reference, distorted');
    expect(formatReport(read as never, 'csv')).toContain('30.000000');
  });
});
