/**
 * @module test/node/search/commands
 * The commands `search`, `ladder`, `compare-encoders` and `shots` on recorded curves: tables, result files, exit codes and
 * refusals.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyvmaf, videos } from '../../support/cli.js';
import { type FakeHost, fakeEncoding } from '../../support/encoding-host.js';

const X264 = ['--encoder', 'libx264', '--encoder-arg', 'preset=ultrafast'];

describe('commands that encode', () => {
  const folder = videos();
  const source = folder.put('film.mkv', 'the host knows its frames');
  let host: FakeHost;
  beforeAll(() => {
    host = fakeEncoding({ shots: [{ frames: 12 }, { frames: 9 }, { frames: 11 }] }).install();
  });
  afterAll(() => host[Symbol.dispose]());

  /** Expects that wrong commands are refused with these messages. */
  const refuse = async (cases: readonly (readonly [args: readonly string[], message: RegExp])[]) => {
    for (const [args, message] of cases) {
      const { code, stderr } = await anyvmaf(args);
      expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringMatching(message) });
    }
  };

  it('search: a table during the run, an answer, JSON and exit codes', async () => {
    const args = ['search', source, ...X264, '--cache', 'none'];
    const found = await anyvmaf([...args, '--target', '85', '--values', '20..40']);
    expect(found.code, found.stderr).toBe(0);
    expect(found.stdout).toMatch(/^libx264 crf [\d.]+ reaches vmaf mean of at least 85\.\n/);
    const command =
      /\nffmpeg -i \S+ -map .*-c:v libx264 -crf [\d.]+ -preset ultrafast -pix_fmt yuv420p .*encode\.mkv\n$/;
    expect(found.stdout).toMatch(command);
    expect(found.stderr).toMatch(/^ +crf +vmaf +kb\/s\n +\d/);
    const rates = ['search', source, '--encoder', 'mpeg2video', '--cache', 'none', '--target', '60'];
    expect((await anyvmaf(rates)).stderr).toMatch(/^ +bitrate +vmaf +kb\/s\n +\d+ kb\/s /);
    const file = folder.at('result.json');
    const missed = await anyvmaf([...args, '--target', '100.5', '--values', '30..31', '--json', '-o', file]);
    expect(missed.code).toBe(3);
    const result = JSON.parse(missed.stdout);
    expect(result).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    expect(result).toMatchObject({ parameter: 'crf', shortfall: { reason: 'target' }, encodes: 1 });
    const encoding = [...args, '--target', 'p5>=100.5', '--values', '30..31', '--encode', folder.at('x.mkv')];
    const unwritten = await anyvmaf(encoding);
    expect(unwritten.code).toBe(3);
    expect(unwritten.stdout).toMatch(/x\.mkv was not written.*--encode-missed/);
    const anyway = await anyvmaf([...encoding, '--encode-missed']);
    expect(anyway.stdout).toMatch(/x\.mkv: vmaf p5 [\d.]+, which misses a target or bound; /);
    await refuse([
      [['search'], /takes one source/],
      [['search', source], /needs an encoder/],
      [[...args, '--target', 'best'], /must be a number such as 93/],
      [[...args, '--values', '40-20'], /must be a range such as 18\.\.40/],
      [[...args, '--all', '20..40:5', '--values', '30..31'], /leave --values or --all out/],
      [[...args, '--max-size', 'big'], /must be a share such as 60% or 0\.6/],
      [[...args, '--max-size', '60'], /must be a share such as 60% or 0\.6/],
      [[...args, '--encoder-arg', 'slow'], /must be NAME=VALUE/],
      [[...args, '--values', '60..70'], /the range is 60 to 70, but crf goes from 0 to 51/],
      [[...args, '--max-temp', '-1'], /--max-temp is "-1"/],
      [[...args, '-o', ''], /the output is "", but it must be the name of a file/],
      [[...args, '-o', '-'], /the output is "-", but it must be the name of a file/],
      [['search', '--forget', source], /leave the source out/],
      [['search', '--forget', '--cache', 'none'], /leave --cache none out/],
    ]);
  });

  it('search: Ctrl-C ends it with the best so far, and how to resume', async () => {
    let encodes = 0;
    const bend = (quality: number) => {
      if (++encodes === 2) process.emit('SIGINT');
      return quality;
    };
    using slow = fakeEncoding({}, { bend }).install();
    const args = ['search', source, ...X264, '--cache', 'none', '--target', '85'];
    const stopped = await anyvmaf(args);
    expect(slow.encodes).toHaveLength(2);
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toMatch(/interrupted\n$/);
    expect(stopped.stdout).toMatch(/^Unfinished: /);
    const [, low = '', high = ''] = /--values ([\d.]+)\.\.([\d.]+)\./.exec(stopped.stdout) ?? [];
    const [on, whole] = [await anyvmaf([...args, '--values', `${low}..${high}`]), await anyvmaf(args)];
    expect(on.code).toBe(0);
    expect(on.stdout.split('\n')[0]).toBe(whole.stdout.split('\n')[0]);
  });

  it('ladder: rungs, points during the run, and files by their extensions', async () => {
    const files = ['l.json', 'l.csv', 'l.html'].map((name) => folder.at(name));
    const curve = ['--sizes', '176,160x88', '--values', '14..38:8', '--rungs', '2'];
    const args = ['ladder', source, ...X264, ...curve, '--cache', folder.at('points')];
    const built = await anyvmaf([...args, ...files.flatMap((file) => ['-o', file])]);
    expect(built.code, built.stderr).toBe(0);
    expect(built.stdout).toMatch(/^Rungs\n.*Where each size takes over\n.*\nffmpeg -i /s);
    expect(built.stderr).toMatch(/^size +value +quality +kb\/s\n320x176 +14 /);
    expect(files.map((file) => existsSync(file))).toEqual([true, true, true]);
    expect([...host.stores.keys()]).toContain(folder.at('points'));
    const none = await anyvmaf([...args, '-o', folder.at('l.pdf')]);
    expect(none).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('must end in .json') });
    expect(readdirSync(folder.at('.'))).not.toContain('l.pdf');
    await refuse([
      [['ladder', source, '--encoder', 'libx264'], /needs sizes/],
      [['ladder', source, '--sizes', '96'], /needs an encoder/],
      [['ladder', '--sizes', '96'], /takes one source, but none was given/],
      [['ladder', source, '--sizes', 'big'], /must be heights or sizes/],
      [['ladder', source, '--sizes', '720,0'], /--sizes is "720,0", but it must be heights or sizes/],
      [['ladder', source, '--by', 'a:b:c'], /must be a statistic, a metric, or both/],
    ]);
  });

  it('compare-encoders: a table of all points', async () => {
    const pair = ['--encoder', 'libx264:preset=ultrafast', '--encoder', 'libx264:preset=medium'];
    const args = ['compare-encoders', source, ...pair, '--target', '60', '--csv', '--cache', 'none'];
    const both = await anyvmaf(args);
    expect(both.code, both.stderr).toBe(0);
    expect(both.stdout).toMatch(/^name,encoder,parameter,value,.*\nlibx264 preset=ultrafast,libx264,crf,/);
    expect(both.stdout).toContain('\nlibx264 preset=medium,libx264,crf,');
    await refuse([
      [['compare-encoders', source, '--encoder', 'libx264'], /needs two encoders or more/],
      [['compare-encoders', source, '--encoder', 'libx264:fast'], /such as libx264:preset=slow/],
    ]);
  });

  it('shots: a list, or with an encoder a setting for each, a table and exit codes', async () => {
    const listed = await anyvmaf(['shots', source, '--min-length', '0.2']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toMatch(/\n +2 +12 +9 +0:00\.48 .* cut \(0\.\d\d\)\n/);
    expect(listed.stdout).toMatch(/\n3 shots, 32 frames at 25 per second\.\n$/);
    const args = ['shots', source, ...X264, '--cache', 'none', '--min-length', '0.2', '--values', '34..34'];
    const tuned = await anyvmaf([...args, '--target', '10']);
    expect(tuned.code, tuned.stderr).toBe(0);
    expect(tuned.stdout).toMatch(/^ shot +first +frames +time +crf +vmaf +kb\/s\n +1 +0 +12 +0:00\.00 +34/);
    expect(tuned.stdout).toContain('\nEvery shot reaches vmaf mean of at least 10.\n');
    const missed = await anyvmaf([...args, '--target', '100.5', '--csv']);
    expect(missed.code).toBe(3);
    expect(missed.stdout).toMatch(/^shot,first_frame,frames,start,seconds,begins,crf,bytes,kbps,vmaf_mean,/);
    expect(missed.stdout.trim().split('\n')).toHaveLength(4);
    const csv = folder.at('shots.csv');
    const both = await anyvmaf([...args, '--target', '10', '--json', '-o', csv]);
    expect(JSON.parse(both.stdout)).toMatchObject({ parameter: 'crf', reached: true });
    expect(readFileSync(csv, 'utf8')).toMatch(/^shot,first_frame,/);
    await refuse([
      [['shots', source, '--min-length', '0'], /--min-length is "0"/],
      [['shots'], /takes one source/],
      [['shots', source, '--target', '90'], /needs an encoder/],
      [['shots', source, '--format', 'xml'], /json, csv or shell/],
      [['shots', source, '--goal', 'all', '--encoder', 'libx264'], /each or whole/],
    ]);
  });
});
