/**
 * @module test/node/cli/score-many
 * The results of several encodes in one stream, and small things beside them.
 */
import { describe, expect, test } from 'vitest';
import { complainOfFailures } from '../../../src/cli/complaints.js';
import { commandLine } from '../../../src/cli/options.js';
import { progressSum } from '../../../src/cli/progress-bar.js';
import { plainResults, writeReports } from '../../../src/cli/score-many.js';
import { openTerminal } from '../../../src/cli/terminal.js';
import type { Progress } from '../../../src/engine/contract/types.js';
import { run } from '../../support/cli.js';
import { frames, pooled, report, vmafModel } from '../../support/report.js';

const encode = (name: string, value: number) => {
  const base = report({
    models: [vmafModel],
    metrics: ['vmaf'],
    frames: frames('vmaf', [value]),
    pooled_metrics: { vmaf: pooled(value, value, value, value) },
  });
  return { ...base, distorted: { ...base.distorted, name } };
};
const pair = [encode('a.mp4', 90), encode('b.mp4', 80)];
const text = (format: 'json' | 'csv' | 'ndjson') => [...writeReports(pair, format, 'legacy')].join('');

test('JSON is an array of whole reports', () => {
  const list = JSON.parse(text('json'));
  expect(list.map((one: { distorted: { name: string } }) => one.distorted.name)).toEqual(['a.mp4', 'b.mp4']);
  expect(list[1].pooled_metrics.vmaf.mean).toBe(80);
});

test('JSON lines follow each other, each report begun by its header', () => {
  const lines = text('ndjson').trimEnd().split('\n');
  const types = lines.map((line) => JSON.parse(line).type);
  expect(types).toEqual(['header', 'frame', 'summary', 'header', 'frame', 'summary']);
});

test('CSV has a row per encode', () => {
  expect(text('csv').trimEnd().split('\n')).toHaveLength(3);
});

describe('an encode that could not be scored', () => {
  const failed = {
    version: '1.2.3',
    reference: 'r.mov',
    distorted: 'x.mp4',
    code: 'media',
    message: 'x.mp4 is not a "video".',
  } as const;
  const [first, second] = pair;
  if (!first || !second) throw new Error('there are two');
  const written = (format: 'json' | 'csv' | 'ndjson') => [
    ...writeReports([first, failed, second], format, 'legacy'),
  ];

  test('has a record in its place in JSON', () => {
    const list = JSON.parse(written('json').join(''));
    expect(list.map((one: { distorted: { name: string } }) => one.distorted.name)).toEqual([
      'a.mp4',
      'x.mp4',
      'b.mp4',
    ]);
    expect(list[1]).toEqual({
      version: '1.2.3',
      reference: { name: 'r.mov' },
      distorted: { name: 'x.mp4' },
      error: { code: 'media', message: 'x.mp4 is not a "video".' },
    });
  });

  test('has a line in its place in JSON lines', () => {
    const lines = written('ndjson').join('').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual([
      ...['header', 'frame', 'summary', 'failure', 'header', 'frame', 'summary'],
    ]);
  });

  test('adds a column to CSV that says why, and has no values', () => {
    const lines = written('csv').join('').trimEnd().split('\n');
    const columns = (text('csv').split('\n')[0] ?? '').split(',').length;
    expect(lines[0]).toMatch(/,size,trust,trust_codes,error$/);
    expect(lines[1]).toMatch(/^[^,]*,a\.mp4,.*,$/);
    expect(lines[2]).toBe(`r.mov,x.mp4${','.repeat(columns - 1)}"x.mp4 is not a ""video""."`);
    expect(lines).toHaveLength(4);
  });

  test('is complained of once for each reason, which names it', () => {
    const said: string[] = [];
    const terminal = { ...openTerminal(process), complain: (line: string) => said.push(line) };
    const other = { ...failed, distorted: 'in/y.mp4', message: 'Too small.' };
    complainOfFailures([failed, other, { ...other, distorted: 'z.mp4' }], 4, terminal);
    expect(said).toEqual([
      'x.mp4 is not a "video".',
      'y.mp4, z.mp4: Too small.',
      '3 of 4 encodes could not be scored: x.mp4, y.mp4, z.mp4',
    ]);
    said.length = 0;
    complainOfFailures([other, { ...other, distorted: 'z.mp4' }], 2, terminal);
    expect(said).toEqual(['Too small.']);
  });

  test('does not keep the progress of the others from adding up', () => {
    const seen: Progress[] = [];
    const show = progressSum(3, (progress) => seen.push(progress));
    show(null, 2);
    show({ framesDone: 1, framesTotal: 10, fps: 5, secondsLeft: 2 }, 0);
    show({ framesDone: 2, framesTotal: 20, fps: 6, secondsLeft: 3 }, 1);
    show(null, 1);
    expect(seen.map(({ framesDone, framesTotal }) => [framesDone, framesTotal])).toEqual([
      [1, null],
      [3, 30],
      [1, 10],
    ]);
  });
});

test('plain lines name the file', () => {
  expect(plainResults(pair, 'legacy')).toBe('a.mp4: vmaf_v0.6.1: 90.000000\nb.mp4: vmaf_v0.6.1: 80.000000\n');
});

test('progress of several runs adds up once all totals are known', () => {
  const seen: Progress[] = [];
  const show = progressSum(2, (progress) => seen.push(progress));
  show({ framesDone: 1, framesTotal: 10, fps: 5, secondsLeft: 2 }, 0);
  show({ framesDone: 2, framesTotal: 20, fps: 6, secondsLeft: 3 }, 1);
  expect(seen).toEqual([
    { framesDone: 1, framesTotal: null, fps: 5, secondsLeft: null },
    { framesDone: 3, framesTotal: 30, fps: 11, secondsLeft: 3 },
  ]);
});

test('a command line reads back in a shell as it was', async () => {
  const args = ['a b.mp4', "it's", '$HOME', '--x=1', '', 'a"b', '-', '*', 'über', 'a\nb'];
  const line = commandLine('printf', ['%s|', ...args]);
  const { stdout } = await run('sh', ['-c', line]);
  expect(stdout).toBe(`${args.join('|')}|`);
});
