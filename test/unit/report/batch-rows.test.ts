/**
 * @module test/unit/report/batch-rows
 * What JUnit XML and Markdown say of the jobs of a batch, of hostile and of very many lines too.
 */
import { describe, expect, it } from 'vitest';
import { writeBatchJunit } from '../../../src/report/junit.js';
import { writeBatchSummary } from '../../../src/report/step-summary.js';

const scored = (line: number, more = {}) =>
  JSON.stringify({
    job: { id: 'x', line, args: [] },
    fps: 50,
    frame_count: 100,
    pooled_metrics: { vmaf: { mean: 93.4567 } },
    models: [{ name: 'vmaf' }],
    reference: { name: 'r.mp4' },
    distorted: { name: 'd.mp4' },
    ...more,
  });
const failed = (line: number, message: string) =>
  JSON.stringify({
    job: { id: 'y', line, args: [] },
    reference: { name: 'r.mp4' },
    distorted: { name: 'x.mp4' },
    error: { code: 'io', message },
  });
const below = { gate: { passed: false, notes: ['the mean is 93.4567, below --fail-under 95'] } };

describe('jobs of a batch', () => {
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

  it('are rows in Markdown, what failed first, and no more than a summary holds', () => {
    const lines = Array.from({ length: 1200 }, (_, i) => scored(i + 2));
    const text = [...writeBatchSummary([...lines, failed(1202, 'gone')])].join('');
    const rows = text.split('\n').filter((row) => /^\| [✅❌]/u.test(row));
    expect(rows).toHaveLength(1000);
    expect(rows[0]).toBe('| ❌ | 1202 | <code>x.mp4</code> | <code>r.mp4</code> | – | – | – | gone |');
    expect(rows[1]).toBe(
      '| ✅ | 2 | <code>d.mp4</code> | <code>r.mp4</code> | <code>vmaf</code> | 93.46 | – |  |',
    );
    expect(text).toContain('\n201 more are not listed.\n');
    expect(text.startsWith('## ❌ anyvmaf: 1 of 1201 jobs failed\n')).toBe(true);
  });

  it('bring nothing along but text', () => {
    const message = '</error><a href="x">\n| @someone ![x](http://h/)\u0000';
    const xml = [...writeBatchJunit('<j>', [failed(2, message)])].join('');
    expect(xml.match(/<(?!\/?(testsuites?|testcase|error|\?xml)\b)/)).toBe(null);
    expect(xml.match(/<error /g)).toHaveLength(1);
    const text = [...writeBatchSummary([failed(2, message)])].join('');
    expect(text).not.toMatch(/<a |!\[|@someone|http:\/\//);
    expect(text.split('\n').filter((row) => row.startsWith('| ❌'))).toHaveLength(1);
  });
});
