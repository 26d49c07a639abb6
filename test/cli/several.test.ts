/**
 * @module test/cli/several
 * The results of several encodes in one stream, and small things beside them.
 */
import { expect, test } from 'vitest';
import { progressSum } from '../../src/cli/progress-sum.js';
import { commandLine } from '../../src/cli/quote.js';
import { plainResults, writeReports } from '../../src/cli/several.js';
import type { Progress } from '../../src/score/types.js';
import { frames, pooled, report, vmafModel } from '../report/sample.js';
import { run } from './run.js';

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
