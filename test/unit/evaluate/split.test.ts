/**
 * @module test/unit/evaluate/split
 * Keys fall where the reference's training code puts them.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { keyPosition, keyText, parseSplit, splitOf } from '../../../src/evaluate/split.js';

describe('the split of a key', () => {
  it.each([
    ['clip_0000', 0.066456, 'test'],
    ['clip_0019', 0.016092, 'test'],
    ['clip_0029', 0.060968, 'test'],
    ['clip_0007', 0.115194, 'val'],
    ['clip_0023', 0.165783, 'val'],
    ['clip_0001', 0.538128, 'train'],
    ['2', 0.171059503, 'val'],
    ['0', 0.994099, 'train'],
    ['BigBuckBunny_25fps', 0.733085088, 'train'],
    ['BirdsInCage_30fps', 0.500808573, 'train'],
    ['CrowdRun_25fps', 0.780607509, 'train'],
    ['ElFuente1_30fps', 0.666612641, 'train'],
    ['ElFuente2_30fps', 0.434729206, 'train'],
    ['FoxBird_25fps', 0.482635548, 'train'],
    ['OldTownCross_25fps', 0.86442408, 'train'],
    ['Seeking_25fps', 0.95314897, 'train'],
    ['Tennis_24fps', 0.254146571, 'train'],
  ] as const)('%s is at %d: %s', async (key, position, split) => {
    expect(await keyPosition(key)).toBeCloseTo(position, 6);
    expect(await splitOf(key)).toBe(split);
  });

  it('is test for 24, and 100 test, 99 val and 801 train of the keys 0 to 999', async () => {
    expect(await splitOf('24')).toBe('test');
    const counts = { test: 0, val: 0, train: 0 };
    for (let key = 0; key < 1000; key++) counts[await splitOf(String(key))]++;
    expect(counts).toEqual({ test: 100, val: 99, train: 801 });
  });

  it('hashes keys beyond ASCII as UTF-8', async () => {
    const digest = createHash('sha256').update('vmaf-train-splits-v1:Fußball-寿司-🏟', 'utf8').digest();
    const position = Number(digest.readBigUInt64BE()) / 2 ** 64;
    expect(await keyPosition('Fußball-寿司-🏟')).toBe(position);
  });
});

describe('a key of a column', () => {
  it.each([
    ['clip_0000', false, 'clip_0000'],
    [2, false, '2'],
    [9007199254740993n, false, '9007199254740993'],
    [-7n, false, '-7'],
    [true, false, 'True'],
    // Python: str(2.0), str(0.1), str(1e16), str(123456789012345680.0), str(0.0001), str(0.00001), str(-2.5e-7).
    [2, true, '2.0'],
    [0.1, true, '0.1'],
    [1e15, true, '1000000000000000.0'],
    [1e16, true, '1e+16'],
    [123456789012345680, true, '1.2345678901234568e+17'],
    [0.0001, true, '0.0001'],
    [0.00001, true, '1e-05'],
    [-2.5e-7, true, '-2.5e-07'],
    [1e100, true, '1e+100'],
    [-0, true, '-0.0'],
  ] as const)('%s (floating: %s) is the text %s', (key, floating, text) => {
    expect(keyText(key, floating)).toBe(text);
  });

  it.each([null, undefined, Number.NaN])('%s is missing', (key) => {
    expect(keyText(key)).toBeUndefined();
    expect(keyText(key, true)).toBeUndefined();
  });
});

describe('the name of a split', () => {
  it('is one of four, and a near miss is told', () => {
    expect(['train', 'val', 'test', 'all'].map(parseSplit)).toEqual(['train', 'val', 'test', 'all']);
    expect(() => parseSplit('tset')).toThrow(/"tset".*train, val, test, all; did you mean test\?/);
    expect(() => parseSplit('foo')).toThrow(/"foo", but it must be one of train, val, test, all/);
  });
});
