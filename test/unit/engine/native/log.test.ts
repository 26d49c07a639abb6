/**
 * @module test/unit/engine/native/log
 * libvmaf's JSON log, as every version of it writes it.
 */
import { describe, expect, it } from 'vitest';
import { parseLog } from '../../../../src/engine/backends/native/log.js';

const parse = (text: string) => parseLog(text, 'vmaf');

describe('a log', () => {
  it('is read with its order, gaps and nulls', () => {
    // The layout of version 3.2: after a null per frame there is no line feed.
    const log = parse(`{
  "version": "f85a8536",
  "fps": null,
  "frames": [
    { "frameNum": 0, "metrics": { "b": 34.786288,        "a": null, "vmaf": 1.0000002530090364 } },
    { "frameNum": 5, "metrics": { "b": -0.000000, "late": 2 } }
  ],
  "pooled_metrics": {
    "b": { "min": -0.0, "max": 34.786288, "mean": 17.393144, "harmonic_mean": 0.9 },
    "a": {
    }
  },
  "aggregate_metrics": { "apsnr_y": 33.113422, "apsnr_cb": null }
}`);
    expect(log.version).toBe('f85a8536');
    expect(log.frameNumbers).toEqual([0, 5]);
    expect(log.series.map(({ name }) => name)).toEqual(['b', 'a', 'vmaf', 'late']);
    expect(log.series.map(({ values }) => [...values])).toEqual([
      [34.786288, -0],
      [Number.NaN, Number.NaN],
      [1.0000002530090364, Number.NaN],
      [Number.NaN, 2],
    ]);
    expect(log.series.map(({ present }) => [...present])).toEqual([
      [1, 1],
      [1, 0],
      [1, 0],
      [0, 1],
    ]);
    expect([...log.pooled.keys()]).toEqual(['b']);
    expect(log.pooled.get('b')?.mean).toBe(17.393144);
    expect(log.aggregates).toEqual({ apsnr_y: 33.113422, apsnr_cb: Number.NaN });
  });

  it('is read from versions that wrote nan and inf, which are no JSON', () => {
    const log = parse('{"frames":[{"frameNum":0,"metrics":{"a": -nan, "b": inf, "nan": 1}}]}');
    expect(log.series.map(({ name, values }) => [name, values[0]])).toEqual([
      ['a', Number.NaN],
      ['b', Number.NaN],
      ['nan', 1],
    ]);
  });

  it('keeps a metric that someone named __proto__', () => {
    const log = parse('{"frames":[{"frameNum":0,"metrics":{"__proto__": 7}}]}');
    expect(log.series.map(({ name }) => name)).toEqual(['__proto__']);
  });

  it.each([
    ['', /is not JSON/],
    ['[]', /is not JSON/],
    ['<VMAF/>', /is not JSON/],
    ['{}', /has no frames/],
    ['{"frames":{}}', /has no frames/],
    ['{"frames":[{"frameNum":0}]}', /no sound frame 0/],
    ['{"frames":[{"frameNum":1,"metrics":{}},{"frameNum":1,"metrics":{}}]}', /no sound frame 1/],
    ['{"frames":[{"frameNum":0,"metrics":{"a":"1"}}]}', /no number as "a"/],
  ])('is refused: %s', (text, expected) => {
    expect(() => parse(text)).toThrow(expected);
  });
});
