/**
 * @module test/node/cli/batch-table
 * Tables of jobs, and jobs from folders, as command lines of scoring.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { encodeLines } from '../../../src/cli/batch/encodes.js';
import { jobsOf, tableLines } from '../../../src/cli/batch/table.js';
import { batchSettings } from '../../../src/cli/commands/batch-options.js';

const jobs = (text: string, name: string, common: Parameters<typeof jobsOf>[1] = []) =>
  jobsOf(tableLines(text, name), common, name, (path) => `/media/${path}`);

describe('a table', () => {
  it('is CSV with an option of scoring per column', () => {
    const text =
      'reference,distorted,subsample,model,no-prediction,fail_under\n' +
      'a.mov,"b, c.mp4",2,path=m.json,,93.5\n\na.mov,d.mp4,,,yes,\n';
    const [first, second] = jobs(text, 'jobs.csv');
    expect(first?.line).toBe(2);
    expect(first?.settings).toMatchObject({
      reference: '/media/a.mov',
      distorted: ['/media/b, c.mp4'],
      options: { subsample: 2, models: ['path=m.json'] },
      failUnder: 93.5,
    });
    expect(second?.line).toBe(4);
    expect(second?.settings).toMatchObject({ options: { noPrediction: true } });
    expect(second?.settings.options.subsample).toBeUndefined();
  });

  it('is JSON lines, where a list repeats an option', () => {
    const text =
      '{"reference":"a.mov","distorted":"b.mp4","feature":["psnr","ciede"],"offset":-3,"strict":true}\n' +
      '{"reference":"a.mov","distorted":"c.mp4","strict":false,"range":null}\n';
    const [first, second] = jobs(text, 'jobs.jsonl');
    expect(first?.settings.options).toEqual({ features: ['psnr', 'ciede'], offset: -3, strict: true });
    expect(second?.settings.options).toEqual({});
  });

  it('has options that replace those of all lines', () => {
    const common = [
      { name: 'model', values: ['version=vmaf_v0.6.1'] },
      { name: 'subsample', values: ['5'] },
    ];
    const [first, second] = jobs('reference,distorted,model\na,b,auto\na,c,\n', 'jobs.csv', common);
    expect(first?.settings.options).toEqual({ models: ['auto'], subsample: 5 });
    expect(second?.settings.options).toEqual({ models: ['version=vmaf_v0.6.1'], subsample: 5 });
  });

  it.each([
    ['jobs.csv', 'reference,distorted\n', 'has no jobs'],
    ['jobs.csv', 'reference,distorted\na,b,c\n', 'line 2 of jobs.csv has 3 fields'],
    ['jobs.csv', 'reference,distorted,modle\na,b,c\n', 'did you mean model?'],
    ['jobs.csv', 'reference,distorted,html\na,b,c\n', '"html", which is no option of a pair'],
    ['jobs.csv', 'reference,distorted,shard\na,b,1/2\n', 'no option of a pair'],
    ['jobs.csv', 'reference,distorted,subsample\na,b,x\n', 'line 2 of jobs.csv: --subsample'],
    ['jobs.csv', 'reference\na\n', 'names no distorted video'],
    ['jobs.csv', 'distorted\na\n', 'line 2 of jobs.csv: '],
    ['jobs.csv', 'reference,distorted,strict\na,b,maybe\n', 'must be true or false'],
    ['jobs.jsonl', 'reference,distorted\na,b\n', 'line 1 of jobs.jsonl is not JSON'],
    ['jobs.jsonl', '[1]\n', 'must be an object'],
    ['jobs.jsonl', '{"distorted":5}\n', 'must be the name of a file'],
    ['jobs.jsonl', '{"reference":"a","distorted":"b","model":{}}\n', 'must be a text or a number'],
  ])('is refused: %s %j', (name, text, why) => {
    expect(() => jobs(text, name)).toThrow(why);
  });

  it('is refused if a line reads standard input', () => {
    const lines = () =>
      jobsOf(tableLines('reference,distorted\n-,b\n', 'j.csv'), [], 'j.csv', (path) => path);
    expect(lines).toThrow('standard input');
  });
});

describe('encodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-encodes-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'film'));
  for (const name of ['film_1080p.mp4', 'film_720p.mkv', 'notes.txt'])
    writeFileSync(join(folder, 'film', name), '');
  const at = (name: string) => join(folder, 'film', name);

  it.each([
    ['masters/{folder}.mov', undefined, 'masters/film.mov'],
    ['{stem}.y4m', undefined, 'film_1080p.y4m'],
    ['masters/{1}.mov', /([^/]+)_[0-9]+p/, 'masters/film.mov'],
    ['same.mov', undefined, 'same.mov'],
  ])('find their reference by the rule %s', async (reference, match, expected) => {
    const lines = await encodeLines([join(folder, 'film')], { reference, match });
    expect(lines.map(({ distorted }) => distorted)).toEqual([at('film_1080p.mp4'), at('film_720p.mkv')]);
    expect(lines[0]?.reference).toBe(expected);
  });

  it('are found by a pattern', async () => {
    const lines = await encodeLines([join(folder, 'film', '*_7?0p*')], { reference: 'x' });
    expect(lines.map(({ distorted }) => distorted)).toEqual([at('film_720p.mkv')]);
  });

  it('are refused if the rule does not fit', async () => {
    const wrong = (reference: string, match?: RegExp) =>
      expect(encodeLines([at('film_720p.mkv')], { reference, match })).rejects;
    await wrong('{what}').toThrow('"{what}"');
    await wrong('{2}', /(film)/).toThrow('"{2}"');
    await wrong('{1}', /(other)/).toThrow('does not match');
    await expect(encodeLines([join(folder, '*.x')], { reference: 'x' })).rejects.toThrow('no videos');
  });
});

describe('the options of a batch', () => {
  it('are its own and those of all jobs', () => {
    const args = [
      'jobs.csv',
      '--out',
      'r.jsonl',
      '--frames',
      '-m',
      'auto',
      '--feature=psnr',
      '--together',
      '3',
      '-n',
    ];
    expect(batchSettings(args)).toMatchObject({
      sources: ['jobs.csv'],
      output: 'r.jsonl',
      frames: true,
      together: 3,
      common: [
        { name: 'model', values: ['auto'] },
        { name: 'feature', values: ['psnr'] },
        { name: 'no_prediction', values: [] },
      ],
    });
  });

  it.each([
    [[], 'no jobs are named'],
    [['jobs.csv'], 'name one: -o results.jsonl'],
    [['jobs.csv', '-o', 'r', '-r', 'x'], 'a table names them'],
    [['folder', '-o', 'r'], 'need a rule for their reference'],
    [['folder', '-o', 'r', '-r', 'x', '--match', '('], 'a regular expression'],
    [['jobs.csv', '-o', 'r', '--together', '0'], 'from 1 to 64'],
    [['jobs.csv', '-o', 'r', '--json'], 'unknown option'],
  ])('are refused: %j', (args, why) => {
    expect(() => batchSettings(args)).toThrow(why);
  });
});
