/**
 * @module test/unit/report/trust
 * The verdict on a score, and every place of a report that shows it.
 */
import { describe, expect, test } from 'vitest';
import type { Finding, FindingCode, Severity } from '../../../src/media/preflight/types.js';
import { remarks } from '../../../src/report/findings.js';
import { flawsOf } from '../../../src/report/flaws.js';
import { summarize } from '../../../src/report/summary.js';
import { encodesTable, writeTableCsv } from '../../../src/report/table.js';
import { causeText, flawOf, trustOf } from '../../../src/report/trust.js';
import type { Report } from '../../../src/report/types.js';
import { formatReport } from '../../../src/report/write.js';
import { frames, pooled, report, vmafModel } from '../../support/report.js';

const finding = (code: FindingCode, severity: Severity, fix?: string): Finding => ({
  code,
  severity,
  message: `About ${code}.`,
  ...(fix !== undefined && { fix }),
});
const OFFSET = finding('offset', 'warning', '--offset 12');

function encode(name: string, value: number, preflight: readonly Finding[] = [], warnings: string[] = []) {
  const base = report({
    models: [vmafModel],
    metrics: ['vmaf'],
    frames: frames('vmaf', [value]),
    pooled_metrics: { vmaf: pooled(value, value, value, value) },
    preflight,
    warnings,
  });
  return { ...base, distorted: { ...base.distorted, name } } satisfies Report;
}

describe('the verdict', () => {
  test('is fine where nothing, or only something worth knowing, was found', () => {
    expect(trustOf({})).toEqual({ verdict: 'fine', codes: [] });
    expect(trustOf({ preflight: [finding('offset-unclear', 'info')], warnings: [] })).toEqual({
      verdict: 'fine',
      codes: [],
    });
  });

  test('is doubtful with a warning, of preflight or of the run', () => {
    expect(
      trustOf({ preflight: [finding('levels', 'warning', '--x'), finding('size', 'warning')], warnings: [] }),
    ).toEqual({ verdict: 'doubtful', codes: ['levels', 'size'], cause: 'About levels.', fix: '--x' });
    expect(trustOf({ warnings: ['It ends early.'] })).toEqual({
      verdict: 'doubtful',
      codes: [],
      cause: 'It ends early.',
    });
  });

  test('counts a warning that repeats a finding once, by the finding', () => {
    const same = { preflight: [finding('size', 'info')], warnings: ['About size.'] };
    expect(trustOf(same).verdict).toBe('fine');
  });

  test('is untrusted with an error of any code, and by its codes alone', () => {
    const { verdict, codes } = trustOf({
      preflight: [finding('duration', 'warning'), finding('interlaced', 'error')],
    });
    expect({ verdict, codes }).toEqual({ verdict: 'untrusted', codes: ['interlaced'] });
  });

  test.each(['offset', 'unrelated', 'swapped'] as const)(
    'is untrusted where preflight warns of %s',
    (code) => {
      expect(trustOf({ preflight: [finding(code, 'warning')] })).toMatchObject({
        verdict: 'untrusted',
        codes: [code],
      });
    },
  );

  test('names first what the other findings follow from', () => {
    const preflight = [
      finding('swapped', 'warning'),
      finding('frame-count', 'warning'),
      OFFSET,
      finding('unrelated', 'warning'),
    ];
    expect(trustOf({ preflight })).toMatchObject({
      codes: ['unrelated', 'offset', 'swapped'],
      cause: 'About unrelated.',
    });
    expect(remarks([{ preflight, warnings: [] }]).map(({ code }) => code)).toEqual([
      'swapped',
      'offset',
      'unrelated',
      'frame-count',
    ]);
  });
});

describe('the root cause', () => {
  test('of pictures that look unrelated is their frame, where that is known to differ and can be mended', () => {
    const unrelated = finding('unrelated', 'warning', '--offset auto');
    const turned = finding('display-aspect', 'warning', '--vf-dis transpose=cclock');
    expect(trustOf({ preflight: [unrelated, finding('size', 'warning'), turned] })).toMatchObject({
      verdict: 'untrusted',
      codes: ['display-aspect', 'unrelated'],
      fix: '--vf-dis transpose=cclock',
    });
    // Not where nothing mends it, nor where frames are known to be displaced.
    const { fix: _, ...unmended } = turned;
    expect(trustOf({ preflight: [unrelated, unmended] }).codes).toEqual(['unrelated']);
    expect(trustOf({ preflight: [OFFSET, turned] }).codes).toEqual(['offset']);
  });

  test('says what resolves it, and never calls it a fix to accept it', () => {
    const size: Finding = {
      ...finding('size', 'warning', 'to accept, pass --scale bicubic'),
      hint: { purpose: 'accept', option: 'scale', value: 'bicubic' },
    };
    expect(causeText(flawOf({ preflight: [size] }))).toBe(
      '[size] About size. (to accept, pass --scale bicubic)',
    );
    expect(causeText(flawOf({ preflight: [OFFSET] }))).toBe('[offset] About offset. (fix: --offset 12)');
    expect(causeText(flawOf({ warnings: ['It ends early.'] }))).toBe('It ends early.');
  });

  test('is said once of all reports that have the same flaw, with the finding at its root', () => {
    const other: Finding = { ...OFFSET, fix: '--offset 5' };
    const flaws = flawsOf([{ preflight: [OFFSET] }, {}, { preflight: [other] }, { preflight: [OFFSET] }]);
    expect(flaws.map(({ of, root }) => [of, root])).toEqual([
      [[0, 3], OFFSET],
      [[2], other],
    ]);
    expect(flawOf({ warnings: ['It ends early.'] }).root).toBeUndefined();
  });
});

describe('where the number is read', () => {
  const wrong = encode('wrong.mp4', 17, [finding('duration', 'warning'), OFFSET]);
  const doubtful = encode('doubtful.mp4', 80, [finding('size', 'warning')]);
  const fine = encode('fine.mp4', 70);

  test('the summary marks the score, names the cause in the next line, and gives no word of viewers', () => {
    const lines = summarize(wrong).split('\n');
    const at = lines.indexOf('Score');
    expect(lines[at + 1]).toBe('  vmaf  17.000000 ×  vmaf_v0.6.1');
    expect(lines[at + 2]).toBe('  × do not trust this score: [offset] About offset. (fix: --offset 12)');
    expect(lines[at + 3]).toBe('');
    expect(summarize(doubtful)).toContain('80.000000 !');
    expect(summarize(fine)).not.toMatch(/[×!]/);
  });

  test('a run of features alone names the cause too', () => {
    const { models: _, ...features } = wrong;
    expect(summarize({ ...features, models: [] })).toContain('× do not trust this score: [offset]');
  });

  test('the table marks the row, says what the mark means, and calls no such row the best', () => {
    const best = encode('best.mp4', 99, [OFFSET]);
    const text = encodesTable([best, doubtful, fine], { color: true, notes: 'none' });
    expect(text).toContain('99.000000 ×');
    expect(text).toContain('80.000000 !');
    expect(text).toContain('70.000000  ');
    expect(text).toContain('× best.mp4: do not trust this score [offset]');
    expect(text).toContain('! doubtful.mp4: read the warnings before you believe this score [size]');
    const bold = (name: string) => `\u001b[1m${name}`;
    expect(text).toContain(bold('doubtful.mp4'));
    expect(text).not.toContain(bold('best.mp4'));
    for (const line of encodesTable([best, doubtful, fine]).split('\n')) expect(line.length).toBeLessThan(81);
  });

  test('the CSV of several encodes has a column for the verdict and one for its codes', () => {
    const failed = {
      version: '1',
      reference: 'ref.yuv',
      distorted: 'x',
      code: 'media',
      message: 'No.',
    } as const;
    const [head = '', ...rows] = [...writeTableCsv([wrong, fine, failed])].map((row) => row.trimEnd());
    const [trust, codes] = ['trust', 'trust_codes'].map((name) => head.split(',').indexOf(name));
    expect(rows.map((row) => row.split(',')[trust ?? -1])).toEqual(['untrusted', 'fine', '']);
    expect(rows.map((row) => row.split(',')[codes ?? -1])).toEqual(['offset', '', '']);
  });

  test('JSON and the last line of NDJSON have it as data, after all else', () => {
    const expected = { verdict: 'untrusted', codes: ['offset'], cause: 'About offset.', fix: '--offset 12' };
    const json = JSON.parse(formatReport(wrong, 'json'));
    expect(json.trust).toEqual(expected);
    expect(Object.keys(json).at(-1)).toBe('trust');
    expect(JSON.parse(formatReport(wrong, 'ndjson').trimEnd().split('\n').at(-1) ?? '').trust).toEqual(
      expected,
    );
  });

  test("libvmaf's CSV and subtitles of one pair stay as they are", () => {
    for (const format of ['csv', 'sub'] as const) {
      expect(formatReport(wrong, format)).toBe(
        formatReport({ ...wrong, preflight: [], warnings: [] }, format),
      );
    }
  });
});
