/**
 * @module test/unit/report/views
 * The output of commands: inspections and alignments, text in a terminal, doubtful limits, and jobs of a batch as JUnit XML and
 * Markdown, also of hostile and of very many lines.
 */
import { describe, expect, it } from 'vitest';
import { alignmentAdvice } from '../../../src/cli/exit.js';
import type { AlignResult } from '../../../src/media/pairing/types.js';
import type { SideFacts } from '../../../src/media/preflight/findings.js';
import { batchRow } from '../../../src/report/batch.js';
import { encodesTable } from '../../../src/report/brief.js';
import { writeBatchJunit, writeBatchSummary, writeStepSummary } from '../../../src/report/ci.js';
import { writeHtml } from '../../../src/report/html/document.js';
import { batchPage } from '../../../src/report/html/markup.js';
import { alignmentText, inspectionData, inspectionText } from '../../../src/report/inspection.js';
import type { Report } from '../../../src/report/schema.js';
import { clock, columns, cut, formatProgress, wrap } from '../../../src/report/sections.js';
import { doubtOf, type LimitResult } from '../../../src/report/verdict.js';
import { ALIGNED } from '../../support/align.js';
import { built } from '../../support/report.js';

const aligned: AlignResult = {
  ...ALIGNED,
  ...{ offset: 12, confidence: 0.97, candidates: [{ offset: 12, similarity: 0.99 }], compared: 84 },
  ...{ explanation: 'One offset fits better than all others.', similarity: 0.99 },
};

describe('alignmentText', () => {
  it('shows the offset, draws it, and says how to use it', () => {
    const text = alignmentText(aligned, { rate: 25, advice: alignmentAdvice(aligned) });
    expect(text).toBe(`offset 12 frames (0.480 s)  confidence 0.97
One offset fits better than all others.

reference  ░░░░░░██████████████████████████████████████████
distorted        ██████████████████████████████████████████

To score with it: --offset 12
`);
    const negative = alignmentText({ ...aligned, offset: -12 });
    expect(negative).toMatch(/^reference {8}█+$/m);
    expect(negative).toMatch(/^distorted {2}░{6}█+$/m);
  });

  it('does not advise an offset at the edge of the search', () => {
    const edge = { ...aligned, offset: 26, ambiguous: true, reason: 'edge' } as const;
    const text = alignmentText(edge, { advice: alignmentAdvice(edge) });
    expect(text).toContain('To look further: --window');
    expect(text).not.toContain('--offset');
  });

  it('lists equally good offsets if it is uncertain', () => {
    const candidates = [5, 17].map((offset) => ({ offset, similarity: 0.98765 }));
    const text = alignmentText({ ...aligned, offset: 5, ambiguous: true, reason: 'repetitive', candidates });
    expect(text).toContain('uncertain');
    expect(text).toContain('       5      0.9877\n      17      0.9877\n');
  });
});

const side: SideFacts = {
  ...{ name: 'ref.mov', width: 1920, height: 1080, bitDepth: 10, chroma: '422', frameCount: 250 },
  ...{ frameRate: { num: 24000, den: 1001 }, colorRange: 'limited', codec: 'prores' },
  fieldOrder: 'progressive',
};

describe('inspectionText', () => {
  it('shows facts side by side and marks those that differ', () => {
    const text = inspectionText({
      reference: side,
      distorted: { ...side, name: 'dis.mp4', codec: 'h264', bitDepth: 8, chroma: '420', colorRange: 'full' },
      findings: [],
      alignment: { ...aligned, offset: 0 },
    });
    expect(text).toBe(`            reference               distorted
file        ref.mov                 dis.mp4
codec       prores                  h264
size        1920x1080               1920x1080
samples     10 bit 4:2:2         ≠  8 bit 4:2:0
range       limited              ≠  full
scan        progressive             progressive
frame rate  23.976 fps              23.976 fps
frames      250                     250

alignment  the videos start together, confidence 0.97

No problems found.
`);
  });

  it.each([
    ['offset', 'warning', '× A score of this pair cannot be trusted.', 'untrusted'],
    ['levels', 'warning', '! A score of this pair may be misleading.', 'doubtful'],
    ['bit-depth', 'info', 'No problems found.', 'fine'],
  ] as const)('judges %s (%s) as a score of the pair would be', (code, severity, ends, verdict) => {
    const found = { reference: side, distorted: side, findings: [{ code, severity, message: 'So it is.' }] };
    expect(inspectionText(found)).toMatch(new RegExp(`\n${ends}\n$`));
    expect(inspectionData(found)).toMatchObject({ trust: { verdict } });
  });

  it('keeps to 80 columns and harmless characters, whatever files declare', () => {
    const hostile = `\u001b[2J${'very long '.repeat(30)}`;
    const text = inspectionText({
      reference: { ...side, name: hostile, container: hostile, codec: hostile },
      distorted: { ...side, name: hostile, primaries: hostile },
      findings: [{ code: 'size', severity: 'error', message: hostile, fix: hostile }],
    });
    expect(text).not.toContain('\u001b');
    for (const line of text.split('\n')) expect(columns(line)).toBeLessThanOrEqual(80);
  });
});

it('inspectionData has snake_case keys and fractions as text', () => {
  const data = JSON.parse(JSON.stringify(inspectionData({ reference: side, distorted: side, findings: [] })));
  const expected = { bit_depth: 10, frame_rate: '24000/1001', field_order: 'progressive' };
  expect(data.reference).toMatchObject(expected);
  expect(data).toMatchObject({ preflight: [], trust: { verdict: 'fine' } });
});

describe('a terminal', () => {
  it('has two columns for East Asian characters and emoji, none for combining marks', () => {
    expect(['abc', '映像', 'e\u0301', '👍', 'ｱ'].map(columns)).toEqual([3, 4, 1, 2, 1]);
  });

  it('shows the end of a long path, both ends of a name, and lines broken at spaces', () => {
    expect(cut('/videos/reference.y4m', 12, 'end')).toBe('…ference.y4m');
    expect(cut('abcdefghij', 7, 'both')).toBe('abc…hij');
    expect(cut('short', 5, 'end')).toBe('short');
    expect(cut('映像映像', 6, 'end')).toBe('…映像');
    expect(cut('abc', 0, 'end')).toBe('');
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a muchtoolong b', 5)).toEqual(['a', 'muchtoolong', 'b']);
  });

  it.each([
    [0, 0, '0:00'],
    [7.4, 0, '0:07'],
    [59.6, 0, '1:00'],
    [754, 0, '12:34'],
    [3723, 0, '1:02:03'],
    [1.6, 2, '0:01.60'],
    [59.999, 2, '1:00.00'],
  ])('shows %d s with %d decimals as %s', (seconds, decimals, text) => {
    expect(clock(seconds, decimals)).toBe(text);
  });

  describe('formatProgress', () => {
    const halfway = { framesDone: 420, framesTotal: 1000, fps: 35.24, secondsLeft: 16.4 };

    it('shows a bar, percentage, frames, speed and time left, with colour on request', () => {
      const bar = `${'█'.repeat(13)}${'░'.repeat(18)}`;
      expect(formatProgress(halfway)).toBe(` 42%  ${bar}   420/1000 frames    35.2 fps    0:16 left`);
      expect(formatProgress(halfway)).not.toContain('\u001b');
      expect(formatProgress(halfway, { color: true })).toContain('\u001b[32m█');
    });

    it('never exceeds the width, and shows the share before all else', () => {
      for (let width = 0; width <= 200; width++) {
        const line = formatProgress(halfway, { width });
        expect(columns(line), `width ${width}`).toBeLessThanOrEqual(width);
        if (width >= 4) expect(line.startsWith(' 42%')).toBe(true);
      }
    });

    it('keeps its length while frames are done', () => {
      const after = (framesDone: number) => ({ ...halfway, framesDone, secondsLeft: framesDone / 10 });
      const lengths = [0, 9, 10, 99, 500, 999, 1000].map((done) => formatProgress(after(done)).length);
      expect(new Set(lengths).size).toBe(1);
    });

    it('shows 100 % only at the end', () => {
      const at = (framesDone: number) => formatProgress({ ...halfway, framesDone }).slice(0, 4);
      expect([0, 999, 1000, 1001].map(at)).toEqual(['  0%', ' 99%', '100%', '100%']);
      expect(formatProgress({ ...halfway, framesDone: 1000 })).not.toContain('░');
    });

    it('needs no total, speed or estimate', () => {
      const open = { framesDone: 1, framesTotal: null, fps: 8.25, secondsLeft: null };
      expect(formatProgress(open)).toBe('1 frame     8.2 fps');
      expect(formatProgress({ ...open, framesDone: 2, fps: Number.NaN })).toBe('2 frames');
      expect(formatProgress({ ...open, framesTotal: 10, fps: 0 })).not.toContain('left');
      expect(formatProgress({ ...open, framesDone: 0, framesTotal: 0 })).toContain('100%');
    });
  });
});

it('a limit on a sampled video is in doubt where the interval reaches beyond it', () => {
  const sampled: Pick<Report, 'sampling'> = {
    sampling: {
      ...{ runs: 8, run_frames: 100, frames: 800, total: 9000, seed: 1, level: 0.95, starts: [0] },
      intervals: [{ metric: 'vmaf', statistic: 'mean', low: 91, high: 93 }],
    },
  };
  const result = (overrides: Partial<LimitResult>): LimitResult => ({
    ...{ name: 'vmaf.mean', metric: 'vmaf', value: 92, relation: '>=', bound: 90, passed: true },
    ...overrides,
  });
  const interval = { low: 91, high: 93 };
  expect(doubtOf(sampled, result({ bound: 91.5 }))).toEqual(interval);
  expect(doubtOf(sampled, result({ relation: '<=', bound: 92.5 }))).toEqual(interval);
  // Not where the whole interval passes, nor where the samples fail.
  expect(doubtOf(sampled, result({}))).toBeUndefined();
  expect(doubtOf(sampled, result({ relation: '<=', bound: 93 }))).toBeUndefined();
  expect(doubtOf(sampled, result({ bound: 95, passed: false }))).toBeUndefined();
  expect(doubtOf({}, result({ bound: 92 }))).toBeUndefined();
  // Unknown for a statistic without an interval.
  expect(doubtOf(sampled, result({ name: 'vmaf.min' }))).toBeNull();
});

describe('jobs of a batch', () => {
  const scored = (line: number, more = {}) =>
    JSON.stringify({
      ...{ job: { id: 'x', line, args: [] }, fps: 50, frame_count: 100, models: [{ name: 'vmaf' }] },
      pooled_metrics: { vmaf: { mean: 93.4567 } },
      ...{ reference: { name: 'r.mp4' }, distorted: { name: 'd.mp4' }, ...more },
    });
  const failed = (line: number, message: string) =>
    JSON.stringify({
      job: { id: 'y', line, args: [] },
      ...{ reference: { name: 'r.mp4' }, distorted: { name: 'x.mp4' }, error: { code: 'io', message } },
    });
  const below = { gate: { passed: false, notes: ['the mean is 93.4567, below --fail-under 95'] } };

  it('are cases of one suite in JUnit XML, with the seconds of measuring', () => {
    const xml = [...writeBatchJunit('jobs.csv', [scored(2), scored(3, below), failed(4, 'gone')])].join('');
    expect(xml).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<testsuites name="anyvmaf" tests="3" failures="1" errors="1">\n' +
        '  <testsuite name="jobs.csv" tests="3" failures="1" errors="1" time="4.000">\n' +
        '    <testcase classname="r.mp4" name="line 2: d.mp4" time="2.000" />\n' +
        '    <testcase classname="r.mp4" name="line 3: d.mp4" time="2.000">\n' +
        '      <failure type="gate" message="the mean is 93.4567, below --fail-under 95" />\n' +
        '    </testcase>\n' +
        '    <testcase classname="r.mp4" name="line 4: x.mp4" time="0.000">\n' +
        '      <error type="io" message="gone" />\n' +
        '    </testcase>\n' +
        '  </testsuite>\n' +
        '</testsuites>\n',
    );
  });

  it('are rows in Markdown, failures first, limited to the size of a summary', () => {
    const lines = Array.from({ length: 1200 }, (_, i) => scored(i + 2));
    const text = [...writeBatchSummary([...lines, failed(1202, 'gone')])].join('');
    const rows = text.split('\n').filter((row) => /^\| [✅❌]/u.test(row));
    expect(rows).toHaveLength(1000);
    expect(rows.slice(0, 2)).toEqual([
      '| ❌ | 1202 | <code>x.mp4</code> | <code>r.mp4</code> | – | – | – | – | gone |',
      '| ✅ | 2 | <code>d.mp4</code> | <code>r.mp4</code> | <code>vmaf</code> | 93.46 | – | 100 |  |',
    ]);
    expect(text).toContain('\n201 more are not listed.\n');
    expect(text.startsWith('## ❌ anyvmaf: 1 of 1201 jobs failed\n')).toBe(true);
  });

  it('show the worst percent of a metric of which high values are worse', () => {
    const percentiles = { p1: 0.5, p99: 4 };
    const row = scored(2, {
      ...{ models: [], pooled_metrics: { butteraugli: { mean: 1 } } },
      distribution: { butteraugli: { percentiles, stddev: 1 } },
    });
    expect(batchRow(row)).toMatchObject({ metric: 'butteraugli', mean: '1.000', low: '4.000' });
    expect(batchPage([row], 'anyvmaf batch')).not.toContain('1st percentile');
  });

  it('have as many digits as the size of their values needs', () => {
    const percentiles = { p1: 0.9958, p99: 0.9991 };
    const row = scored(2, {
      ...{ models: [], pooled_metrics: { float_ssim: { mean: 0.9962 } } },
      distribution: { float_ssim: { percentiles, stddev: 0 } },
    });
    expect(batchRow(row)).toMatchObject({ mean: '0.9962', low: '0.9958' });
    const report = built({ float_ssim: [0.9962, 0.9972] });
    const text = [...writeStepSummary([{ report, checks: [] }], () => undefined)].join('');
    expect(text).toContain('| 0.9967 | 0.9962 | 0.9962 | frame 0 |');
    expect(text).toContain('<code>float_ssim</code> 0.9962 |');
    expect(encodesTable([report, report])).toMatch(/ 0\.996700 +0\.9962 /);
    expect([...writeHtml(report)].join('')).toContain('<title>float_ssim 0.9967 · ');
  });

  it('add only text to their formats', () => {
    const message = '</error><a href="x">\n| @someone ![x](http://h/)\u0000';
    const xml = [...writeBatchJunit('<j>', [failed(2, message)])].join('');
    expect(xml.match(/<(?!\/?(testsuites?|testcase|error|\?xml)\b)/)).toBe(null);
    expect(xml.match(/<error /g)).toHaveLength(1);
    const text = [...writeBatchSummary([failed(2, message)])].join('');
    expect(text).not.toMatch(/<a |!\[|@someone|http:\/\//);
    expect(text.split('\n').filter((row) => row.startsWith('| ❌'))).toHaveLength(1);
    const page = batchPage([scored(1), failed(2, message)], 'anyvmaf batch <jobs>');
    expect(page).not.toMatch(/<(?:a|img|script)\b/);
    expect(page).toContain('<pre><code>anyvmaf batch &lt;jobs&gt;</code></pre>');
    const row = '<tr class="warn"><th scope="row">2</th><td class="text"><code>x.mp4</code></td>';
    expect(page).toContain(row);
    expect(page).toContain('<tr class="good"><th scope="row">1</th>');
  });
});
