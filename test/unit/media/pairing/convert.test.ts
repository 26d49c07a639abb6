/** Common formats and conversions to them (src/media/pairing/convert.ts, adapt.ts). */
import { describe, expect, it } from 'vitest';
import type { FramePlanes, VideoFormat } from '../../../../src/core/frame.js';
import { adaptSource } from '../../../../src/media/pairing/adapt.js';
import { commonFormat, describeConversion, FormatConverter } from '../../../../src/media/pairing/convert.js';
import type { FrameSource } from '../../../../src/media/types.js';

const format = (chroma: VideoFormat['chroma'], bitDepth: number, width = 4, height = 2): VideoFormat => ({
  width,
  height,
  bitDepth,
  chroma,
});
const words = (...values: number[]) => new Uint8Array(Uint16Array.from(values).buffer);

describe('the common format', () => {
  it.each([
    [format('420', 8), format('420', 10), format('420', 10)],
    [format('444', 8), format('420', 12), format('444', 12)],
    [format('422', 16), format('444', 8), format('444', 16)],
    [format('400', 8), format('420', 8), format('420', 8)],
  ])('is the higher of both', (a, b, common) => {
    expect(commonFormat(a, b)).toEqual(common);
    expect(commonFormat(b, a)).toEqual(common);
  });

  it('is described by what is done', () => {
    expect(describeConversion(format('420', 8), format('420', 8))).toEqual([]);
    expect(describeConversion(format('420', 8), format('444', 10))).toEqual([
      '8 to 10 bit by a shift of 2',
      '4:2:0 to 4:4:4 by repeating chroma samples',
    ]);
  });
});

describe('conversion', () => {
  it('shifts samples up', () => {
    const into = { y: new Uint8Array(16) };
    new FormatConverter(format('400', 8), format('400', 10)).convert(
      { y: Uint8Array.of(0, 1, 2, 3, 16, 128, 235, 255) },
      into,
    );
    expect(into.y).toEqual(words(0, 4, 8, 12, 64, 512, 940, 1020));
  });

  it('repeats chroma across and down', () => {
    const into = { y: new Uint8Array(8), cb: new Uint8Array(8), cr: new Uint8Array(8) };
    const from = { y: new Uint8Array(8), cb: Uint8Array.of(10, 20), cr: Uint8Array.of(30, 40) };
    new FormatConverter(format('420', 8), format('444', 8)).convert(from, into);
    expect([...into.cb]).toEqual([10, 10, 20, 20, 10, 10, 20, 20]);
    expect([...into.cr]).toEqual([30, 30, 40, 40, 30, 30, 40, 40]);
    const half = { y: new Uint8Array(8), cb: new Uint8Array(4) };
    new FormatConverter(format('420', 8), format('422', 8)).convert(from, half);
    expect([...half.cb]).toEqual([10, 20, 10, 20]);
  });

  it('has the last whole chroma sample stand for what odd sizes cut off', () => {
    const into = { y: new Uint8Array(15), cb: new Uint8Array(15) };
    new FormatConverter(format('420', 8, 5, 3), format('444', 8, 5, 3)).convert(
      { y: new Uint8Array(15), cb: Uint8Array.of(1, 2) },
      into,
    );
    expect([...into.cb]).toEqual([1, 1, 2, 2, 2, 1, 1, 2, 2, 2, 1, 1, 2, 2, 2]);
  });

  it('fills absent chroma with grey', () => {
    const into = { y: new Uint8Array(16), cb: new Uint8Array(4) };
    new FormatConverter(format('400', 8), format('420', 10)).convert({ y: new Uint8Array(8) }, into);
    expect(into.cb).toEqual(words(512, 512));
  });
});

describe('an adapted source', () => {
  const info = {
    name: 'x',
    container: 'frames',
    frameCount: 1,
    warnings: [],
    ...format('420', 8, 40, 30),
  } as const;
  const source = (asked: FramePlanes[]): FrameSource => ({
    info,
    seekable: false,
    readFrame(index, into) {
      if (index > 0) return false;
      asked.push(into);
      into.y.fill(100);
      into.cb?.fill(90);
      into.cr?.fill(80);
      return true;
    },
    close() {},
  });

  it('is the source itself where nothing is to be done', () => {
    const own = source([]);
    expect(adaptSource(own, { format: info, filter: 'bicubic' })).toBe(own);
  });

  it('resizes and converts the planes asked for, and no others', async () => {
    const asked: FramePlanes[] = [];
    const target = format('444', 10, 80, 60);
    const adapted = adaptSource(source(asked), { format: target, filter: 'bicubic' });
    expect(adapted.info).toMatchObject(target);
    const y = new Uint8Array(2 * 80 * 60);
    expect(await adapted.readFrame(0, { y })).toBe(true);
    expect(asked[0]?.cb).toBeUndefined();
    // A flat picture stays flat, within the rounding of swscale's vector code.
    for (const sample of new Uint16Array(y.buffer)) expect(Math.abs(sample - 400)).toBeLessThanOrEqual(4);
    const cb = new Uint8Array(2 * 80 * 60);
    await adapted.readFrame(0, { y, cb });
    expect(asked[1]?.cb).toHaveLength(20 * 15);
    for (const sample of new Uint16Array(cb.buffer)) expect(Math.abs(sample - 360)).toBeLessThanOrEqual(4);
    expect(await adapted.readFrame(1, { y })).toBe(false);
  });
});
