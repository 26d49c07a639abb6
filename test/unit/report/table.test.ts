/**
 * @module test/unit/report/table
 * Tables of several encodes, and trust in tables and single reports.
 */
import { describe, expect, it, test } from 'vitest';
import type { Finding, FindingCode, Severity } from '../../../src/media/preflight/findings.js';
import { encodesTable, flawsOf, writeTableCsv } from '../../../src/report/brief.js';
import type { ReportParts } from '../../../src/report/build.js';
import type { Report } from '../../../src/report/schema.js';
import { columns } from '../../../src/report/sections.js';
import { summarize } from '../../../src/report/summary.js';
import { causeText, flawOf, remarks, trustOf } from '../../../src/report/trust.js';
import { formatReport } from '../../../src/report/write.js';
import { built, called, paired, vmafModel } from '../../support/report.js';

describe('tables', () => {
  type Parts = Partial<ReportParts>;
  function encode(name: string, values: readonly number[], bitrate?: number, parts: Parts = {}): Report {
    const pairing = bitrate === undefined ? undefined : paired({ bitrate, fileSize: bitrate / 8 });
    return called(built({ vmaf: values }, { models: [vmafModel], pairing, ...parts }), name);
  }

  describe('encodesTable', () => {
    it('marks the best in the direction of the metric, without the Q of ColorVideoVDP', () => {
      const best = (reports: readonly Report[]) =>
        // biome-ignore lint/suspicious/noControlCharactersInRegex: bold text
        /\u001b\[1m(.*)\u001b\[22m/.exec(encodesTable(reports, { color: true }))?.[1];
      const butteraugli = (name: string, value: number) => called(built({ butteraugli: [value] }), name);
      expect(best([butteraugli('a.mp4', 3), butteraugli('b.mp4', 1.5)])).toMatch(/^b\.mp4 .*1\.5/);
      const cvvdp = (name: string, q: number, jod: number) =>
        called(built({ cvvdp_q: [q] }, { aggregates: { cvvdp: jod } }), name);
      expect(best([cvvdp('a.mp4', 3, 9), cvvdp('b.mp4', 1, 9.5)])).toMatch(/^b\.mp4 .*9\.5/);
    });

    it('has score, worst percent, bit rate and size of every encode, in order, in 80 columns', () => {
      const text = encodesTable([
        encode('out/a.mp4', [90, 92], 1_840_000),
        encode('out/b.mp4', [70, 71.5], 812_345),
        encode('out/c.mp4', [95, 95]),
      ]);
      expect(text).toBe(`reference  ref.yuv  576x324  4:2:0  10 bit  2 frames

distorted       vmaf  worst 1 %   bit rate    size
a.mp4      91.000000      90.02  1.84 Mb/s  230 kB
b.mp4      70.750000      70.02   812 kb/s  102 kB
c.mp4      95.000000      95.00          -       -

2 frames each  vmaf_v0.6.1
`);
    });

    it('shows whole paths if their last parts are equal', () => {
      const text = encodesTable([encode('a/x.mp4', [90]), encode('b/x.mp4', [90])]);
      expect(text).toContain('\na/x.mp4 ');
      expect(text).toContain('\nb/x.mp4 ');
    });

    it('notes once what all share, and names the encodes of other notes', () => {
      const message = 'Sizes differ.';
      const preflight = [{ code: 'size', severity: 'warning', message, fix: '--scale none' } as const];
      const text = encodesTable([
        encode('a.mp4', [90], 1, { preflight, warnings: ['It is short.'] }),
        encode('b.mp4', [90], 1, { preflight }),
      ]);
      expect(text).toContain(
        'Preflight\n  ! Sizes differ.\n    [size]  fix: --scale none\n  ! a.mp4: It is short.\n',
      );
      const silent = encodesTable([encode('a.mp4', [90], 1, { preflight })], { notes: 'none' });
      expect(silent).not.toContain('Sizes');
    });

    it('shows the fix of the root cause of each marked encode, in at most five lines', () => {
      const flawed = (name: string, code: FindingCode, fix: string) => {
        const message = `${name} has a flaw. `.repeat(9).trim();
        return encode(name, [50], 1e6, { preflight: [{ code, severity: 'warning', message, fix }] });
      };
      const causes = (reports: Report[]) =>
        encodesTable(reports, { notes: 'causes' }).split('\n\n')[2]?.split('\n') ?? [];
      const [fine, late] = [encode('fine.mp4', [90], 1e6), flawed('late.mp4', 'offset', '--offset auto')];
      const one = causes([fine, late]);
      expect(one).toHaveLength(5);
      expect(one[0]).toMatch(/^ {2}× late\.mp4: do not trust this score: late\.mp4 has a flaw\. /);
      expect(one.at(-1)).toBe('    fix: --offset auto');
      // The most severe first; encodes with one cause share a line.
      const two = [flawed('bars.mp4', 'display-aspect', '--crop-dis 1:2:3:4'), late, { ...late }];
      expect(causes(two)).toEqual([
        '  × late.mp4, late.mp4: do not trust this score [offset]; fix: --offset auto',
        '  ! bars.mp4: doubtful [display-aspect]; fix: --crop-dis 1:2:3:4',
      ]);
      const many = Array.from({ length: 11 }, (_, i) => flawed(`${i}.mp4`, 'offset', `--offset ${i}`));
      expect(causes(many)).toHaveLength(5);
      expect(causes(many).at(-1)).toBe('  and 7 more, marked above');
      expect(causes(many.slice(0, 5)).at(-1)).toContain('4.mp4');
    });

    it('keeps to the width with long and hostile names', () => {
      const text = encodesTable([encode(`${'long '.repeat(60)}\u001b[31m.mp4`, [90], 1e6)], { width: 80 });
      for (const line of text.split('\n')) expect(columns(line)).toBeLessThanOrEqual(80);
      expect(text).not.toContain('\u001b');
    });
  });

  describe('writeTableCsv', () => {
    it('has one record each, with names quoted as necessary', () => {
      const encodes = [encode('a, "b".mp4', [90, 92], 1_840_000), encode('c.mp4', [50, 50])];
      const text = [...writeTableCsv(encodes)].join('');
      expect(text).toBe(
        'reference,distorted,vmaf_mean,vmaf_harmonic_mean,vmaf_min,vmaf_p1,vmaf_p5,codec,kbps,offset,frames,bitrate,size,trust,trust_codes\n' +
          'ref.yuv,"a, ""b"".mp4",91.000000,90.989130,90.000000,90.020000,90.100000,,1840,0,2,1840000,230000,fine,\n' +
          'ref.yuv,c.mp4,50.000000,50.000000,50.000000,50.000000,50.000000,,,,2,,,fine,\n',
      );
    });

    it('has codec, rate and offset, and every requested metric, but not the features of models', () => {
      const pairing = paired({ codec: 'av1', bitrate: 812_345, fileSize: 1000 });
      const series = {
        ...{ vmaf: [90, 92], integer_adm2: [0.9, 0.9], VMAF_integer_feature_motion2_score: [0, 1] },
        ...{ psnr_y: [30, 40], cambi: [1, 3], ssimulacra2: [-3, 70] },
      };
      const offset = { ...pairing, frames: { ...pairing.frames, offset: -12 } };
      const scored = built(series, { models: [vmafModel], pairing: offset });
      const lines = [...writeTableCsv([scored, encode('narrow.mp4', [1, 2])])];
      const [head = '', row = ''] = lines.map((text) => text.trimEnd());
      const names = head.split(',');
      const means = names.filter((name) => name.endsWith('_mean') && !name.endsWith('harmonic_mean'));
      expect(means).toEqual(['vmaf_mean', 'psnr_y_mean', 'cambi_mean', 'ssimulacra2_mean']);
      const cell = (name: string) => row.split(',')[names.indexOf(name)];
      const cells = ['codec', 'kbps', 'offset', 'psnr_y_mean', 'psnr_y_min', 'cambi_mean'].map(cell);
      expect(cells).toEqual(['av1', '812.345', '-12', '35.000000', '30.000000', '2.000000']);
      expect(['ssimulacra2_mean', 'ssimulacra2_harmonic_mean'].map(cell)).toEqual(['33.500000', '']);
    });
  });
});

describe('trust', () => {
  const finding = (code: FindingCode, severity: Severity, fix?: string): Finding => ({
    ...{ code, severity, message: `About ${code}.`, ...(fix !== undefined && { fix }) },
  });
  const OFFSET = finding('offset', 'warning', '--offset 12');

  function encode(name: string, value: number, preflight: readonly Finding[] = [], warnings: string[] = []) {
    return called(built({ vmaf: [value] }, { models: [vmafModel], preflight, warnings }), name);
  }

  describe('the verdict', () => {
    test('is fine without findings, or with notes only', () => {
      const fine = { verdict: 'fine', codes: [] };
      expect(trustOf({})).toEqual(fine);
      expect(trustOf({ preflight: [finding('offset-unclear', 'info')], warnings: [] })).toEqual(fine);
      const same = { preflight: [finding('size', 'info')], warnings: ['About size.'] };
      expect(trustOf(same).verdict).toBe('fine');
    });

    test('is doubtful with a warning, of preflight or of the run', () => {
      const preflight = [finding('levels', 'warning', '--x'), finding('size', 'warning')];
      const levels = { codes: ['levels', 'size'], cause: 'About levels.', fix: '--x' };
      expect(trustOf({ preflight, warnings: [] })).toEqual({ verdict: 'doubtful', ...levels });
      const early = { verdict: 'doubtful', codes: [], cause: 'It ends early.' };
      expect(trustOf({ warnings: ['It ends early.'] })).toEqual(early);
    });

    test('is untrusted with an error of any code, by its codes alone', () => {
      const preflight = [finding('duration', 'warning'), finding('interlaced', 'error')];
      const { verdict, codes } = trustOf({ preflight });
      expect({ verdict, codes }).toEqual({ verdict: 'untrusted', codes: ['interlaced'] });
    });

    const bad = [
      ...(['offset', 'unrelated', 'swapped', 'black-borders', 'framing'] as const),
      ...(['dynamic-range', 'dolby-vision', 'lost-frames'] as const),
    ];
    test.each(bad)('is untrusted with a warning of %s', (code) => {
      const trust = trustOf({ preflight: [finding(code, 'warning')] });
      expect(trust).toMatchObject({ verdict: 'untrusted', codes: [code] });
    });

    test('has a doubtful raw geometry, a guess, as the cause of unrelated pictures only', () => {
      const guess = finding('raw-geometry', 'warning', '--width 360');
      expect(trustOf({ preflight: [guess] }).verdict).toBe('doubtful');
      const wrong = trustOf({ preflight: [guess, finding('unrelated', 'warning')] });
      expect(wrong).toMatchObject({ verdict: 'untrusted', codes: ['raw-geometry'], fix: '--width 360' });
    });

    test('names only the cause of other findings', () => {
      const warning = (code: FindingCode) => finding(code, 'warning');
      const preflight = [warning('swapped'), warning('frame-count'), OFFSET, warning('unrelated')];
      expect(trustOf({ preflight })).toMatchObject({ codes: ['unrelated'], cause: 'About unrelated.' });
      const codes = remarks([{ preflight, warnings: [] }]).map(({ code }) => code);
      expect(codes).toEqual(['swapped', 'offset', 'unrelated', 'frame-count']);
    });
  });

  describe('the root cause', () => {
    test('of unrelated pictures is their frame, if that differs and can be fixed', () => {
      const unrelated = finding('unrelated', 'warning', '--offset auto');
      const turned = finding('display-aspect', 'warning', '--vf-dis transpose=cclock');
      const preflight = [unrelated, finding('size', 'warning'), turned];
      const fix = '--vf-dis transpose=cclock';
      expect(trustOf({ preflight })).toMatchObject({ verdict: 'untrusted', codes: ['display-aspect'], fix });
      // Not if it cannot be fixed, or frames are known to be displaced.
      const { fix: _, ...unmended } = turned;
      expect(trustOf({ preflight: [unrelated, unmended] }).codes).toEqual(['unrelated']);
      expect(trustOf({ preflight: [OFFSET, turned] }).codes).toEqual(['offset']);
    });

    test('is named with its fix, and acceptance is never called a fix', () => {
      const size: Finding = {
        ...finding('size', 'warning', 'to accept, pass --scale bicubic'),
        hint: { purpose: 'accept', option: 'scale', value: 'bicubic' },
      };
      const accepted = '[size] About size. (to accept, pass --scale bicubic)';
      expect(causeText(flawOf({ preflight: [size] }))).toBe(accepted);
      expect(causeText(flawOf({ preflight: [OFFSET] }))).toBe('[offset] About offset. (fix: --offset 12)');
      expect(causeText(flawOf({ warnings: ['It ends early.'] }))).toBe('It ends early.');
    });

    test('is named once for all reports with the same flaw, with the finding at its root', () => {
      const other: Finding = { ...OFFSET, fix: '--offset 5' };
      const flaws = flawsOf([{ preflight: [OFFSET] }, {}, { preflight: [other] }, { preflight: [OFFSET] }]);
      expect(flaws.map(({ of, root }) => [of, root])).toEqual([
        [[0, 3], OFFSET],
        [[2], other],
      ]);
      expect(flawOf({ warnings: ['It ends early.'] }).root).toBeUndefined();
    });
  });

  describe('is shown', () => {
    const wrong = encode('wrong.mp4', 17, [finding('duration', 'warning'), OFFSET]);
    const doubtful = encode('doubtful.mp4', 80, [finding('size', 'warning')]);
    const fine = encode('fine.mp4', 70);

    test('in the summary beside the score, with the cause in the next line and without a rating', () => {
      const lines = summarize(wrong).split('\n');
      const at = lines.indexOf('Score');
      expect(lines[at + 1]).toBe('  vmaf  17.000000 ×  vmaf_v0.6.1');
      expect(lines[at + 2]).toBe('  × do not trust this score: [offset] About offset. (fix: --offset 12)');
      expect(lines[at + 3]).toBe('');
      expect(summarize(doubtful)).toContain('80.000000 !');
      expect(summarize(fine)).not.toMatch(/[×!]/);
      const { models: _, ...features } = wrong;
      expect(summarize({ ...features, models: [] })).toContain('× do not trust this score: [offset]');
    });

    test('in the table beside the row, with the meaning of the mark, and such a row is never the best', () => {
      const best = encode('best.mp4', 99, [OFFSET]);
      const text = encodesTable([best, doubtful, fine], { color: true, notes: 'none' });
      expect(text).toContain('99.000000 ×');
      expect(text).toContain('80.000000 !');
      expect(text).toContain('70.000000  ');
      expect(text).toContain('× best.mp4: do not trust this score [offset]');
      expect(text).toContain('! doubtful.mp4: check the warnings before you trust this score [size]');
      const bold = (name: string) => `\u001b[1m${name}`;
      expect(text).toContain(bold('doubtful.mp4'));
      expect(text).not.toContain(bold('best.mp4'));
      for (const line of encodesTable([best, doubtful, fine]).split('\n'))
        expect(line.length).toBeLessThan(81);
    });

    test('in the CSV of several encodes, by verdict and codes', () => {
      const names = { version: '1', reference: 'ref.yuv', distorted: 'x' };
      const failed = { ...names, code: 'media', message: 'No.' } as const;
      const [head = '', ...rows] = [...writeTableCsv([wrong, fine, failed])].map((row) => row.trimEnd());
      const [trust, codes] = ['trust', 'trust_codes'].map((name) => head.split(',').indexOf(name));
      expect(rows.map((row) => row.split(',')[trust ?? -1])).toEqual(['untrusted', 'fine', '']);
      expect(rows.map((row) => row.split(',')[codes ?? -1])).toEqual(['offset', '', '']);
    });

    test('in JSON and the last line of NDJSON as data, at the end', () => {
      const cause = 'About offset.';
      const expected = { verdict: 'untrusted', codes: ['offset'], cause, fix: '--offset 12' };
      const json = JSON.parse(formatReport(wrong, 'json'));
      expect(json.trust).toEqual(expected);
      expect(Object.keys(json).at(-1)).toBe('trust');
      const last = formatReport(wrong, 'ndjson').trimEnd().split('\n').at(-1) ?? '';
      expect(JSON.parse(last).trust).toEqual(expected);
    });
  });
});
