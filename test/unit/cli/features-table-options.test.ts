/**
 * @module test/unit/cli/features-table-options
 * When `features` lists and when it measures, and what a list of pairs says.
 */
import { describe, expect, it } from 'vitest';
import {
  featuresSettings,
  parsePairs,
  type TableSettings,
} from '../../../src/cli/commands/features-table-options.js';
import { AnyvmafError } from '../../../src/core/errors.js';

function table(line: string): TableSettings {
  const settings = featuresSettings(line.split(' '));
  if (settings.kind !== 'table') throw new Error(`it asked for ${settings.kind}`);
  return settings;
}

function complaint(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof AnyvmafError && error.code === 'usage') return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('features', () => {
  it('lists without --parquet, whatever the name', () => {
    expect(featuresSettings([])).toEqual({ kind: 'list', args: [] });
    expect(featuresSettings(['psnr', '--json'])).toEqual({ kind: 'list', args: ['psnr', '--json'] });
    expect(featuresSettings(['--help'])).toEqual({ kind: 'help' });
  });

  it('measures with it: the reference, then distorted videos', () => {
    expect(table('ref.y4m a.mp4 b.mp4 --parquet out.parquet')).toMatchObject({
      output: 'out.parquet',
      pairs: [
        { reference: 'ref.y4m', distorted: 'a.mp4' },
        { reference: 'ref.y4m', distorted: 'b.mp4' },
      ],
    });
  });

  it('takes key and mos once for all, or once for each', () => {
    const each = table('--parquet o r a b --key K --mos 3.5 --mos 4');
    expect(each.pairs).toMatchObject([
      { key: 'K', mos: 3.5 },
      { key: 'K', mos: 4 },
    ]);
    expect(complaint(() => table('--parquet o r a b c --mos 1 --mos 2'))).toMatch(
      /--mos is given 2 times, but there are 3 distorted videos; give it once, or once for each/,
    );
  });

  it('takes a teacher by name or as a model string, and further features', () => {
    const { options } = table(
      '--parquet o r a --teacher vmaf_v0.6.1 --feature psnr --feature cambi --subsample 5',
    );
    expect(options).toEqual({ teacher: 'version=vmaf_v0.6.1', features: ['psnr', 'cambi'], subsample: 5 });
    expect(table('--parquet o r a --teacher path=m.json').options.teacher).toBe('path=m.json');
  });

  it('says what belongs to --parquet, and what does not go together', () => {
    expect(complaint(() => featuresSettings(['ref.y4m', 'dis.y4m']))).toMatch(
      /"dis\.y4m".*--parquet FILE to measure/,
    );
    expect(complaint(() => featuresSettings(['--key', 'a']))).toMatch(
      /--key belongs to a table.*--parquet FILE/,
    );
    expect(complaint(() => table('--parquet o r'))).toMatch(/only one video given, "r"/);
    expect(complaint(() => table('--parquet o --pairs l r'))).toMatch(/r does not go with --pairs/);
    expect(complaint(() => table('--parquet o --pairs l --mos 3'))).toMatch(/--mos does not go with --pairs/);
  });

  it('takes a list, and the format of raw videos in it', () => {
    expect(table('--parquet o --pairs l -w 8 -h 6 -p 420 -b 8').pairs).toEqual({
      list: 'l',
      raw: { width: 8, height: 6, chroma: '420', bitDepth: 8 },
    });
  });
});

describe('a list of pairs', () => {
  const pairs = (text: string) => parsePairs(text, 'list.csv', (path) => `/at/${path}`, undefined);

  it('is CSV with names in any order; paths start where it is', () => {
    expect(pairs('mos,reference,distorted,key\n3.5,r.y4m,"a, ""b"".mp4",k\r\n4,r.y4m,c.mp4,\n\n')).toEqual([
      { reference: '/at/r.y4m', distorted: '/at/a, "b".mp4', key: 'k', clip: undefined, mos: 3.5 },
      { reference: '/at/r.y4m', distorted: '/at/c.mp4', key: undefined, clip: undefined, mos: 4 },
    ]);
  });

  it.each([
    ['', /must name the columns reference and distorted/],
    ['reference,distorted,dmos\n', /but it has "dmos"/],
    ['reference\nr\n', /must name the columns/],
    ['reference,distorted\n', /names no pair/],
    ['reference,distorted\nr\n', /line 2 of list\.csv has 1 fields, but the first line names 2/],
    ['reference,distorted\nr,\n', /line 2 of list\.csv names no distorted video/],
    ['reference,distorted,mos\nr,d,good\n', /mos in line 2 of list\.csv is "good"/],
    ['reference,distorted\n"r,d\n', /line 2 of list\.csv is not CSV: check its quotation marks/],
  ])('that is wrong is refused: %j', (text, message) => {
    expect(complaint(() => pairs(text))).toMatch(message);
  });
});
