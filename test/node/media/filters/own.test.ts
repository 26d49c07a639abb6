/**
 * @module test/node/media/filters/own
 * Filters of this package on frames of known samples: parts cut out, ranges, more bits.
 */
import { describe, expect, it } from 'vitest';
import { FilteredSource, filteredFormat } from '../../../../src/media/filters/own.js';
import type { OwnFilters } from '../../../../src/media/filters/types.js';
import { openVideo } from '../../../../src/media/open.js';
import type { RawVideoFormat } from '../../../../src/media/types.js';
import { nodeFiles } from '../../../../src/platform/node/files.js';

async function first(bytes: Uint8Array, raw: RawVideoFormat, filters: OwnFilters) {
  const stored = await openVideo(bytes, { raw, platform: nodeFiles });
  const source = new FilteredSource(stored, filters);
  const { width, height, bitDepth, chroma } = filteredFormat(raw, filters);
  expect(source.info).toMatchObject({ width, height, bitDepth, chroma });
  const unit = bitDepth > 8 ? 2 : 1;
  const y = new Uint8Array(width * height * unit);
  const cb = new Uint8Array((y.length / 4) | 0);
  const cr = new Uint8Array(cb.length);
  expect(await source.readFrame(0, { y, cb, cr })).toBe(true);
  expect(await source.readFrame(1, { y, cb, cr })).toBe(false);
  await source.close();
  const samples = (plane: Uint8Array) => [...(unit === 2 ? new Uint16Array(plane.buffer) : plane)];
  return { y: samples(y), cb: samples(cb), cr: samples(cr) };
}

const RAW = { width: 4, height: 4, bitDepth: 8, chroma: '420' } as const;
const FRAME = Uint8Array.from([
  ...[0, 1, 2, 3, 16, 17, 126, 127, 128, 129, 234, 235, 236, 253, 254, 255],
  ...[0, 128, 16, 255],
  ...[1, 127, 240, 129],
]);

describe('filters of this package', () => {
  it('cut a part out of every plane', async () => {
    const found = await first(FRAME, RAW, { crop: { width: 2, height: 2, x: 2, y: 2 } });
    expect(found).toEqual({ y: [234, 235, 254, 255], cb: [255], cr: [129] });
  });

  it('reduce full range to limited', async () => {
    const found = await first(FRAME, RAW, { range: { from: 'full', to: 'limited' } });
    expect(found.y).toEqual([16, 17, 18, 19, 30, 31, 124, 125, 126, 127, 217, 218, 219, 233, 234, 235]);
    expect(found.cb).toEqual([16, 128, 30, 240]);
  });

  it('expand limited range to full, and end at its ends', async () => {
    const found = await first(FRAME, RAW, { range: { from: 'limited', to: 'full' } });
    expect(found.y).toEqual([0, 0, 0, 0, 0, 1, 128, 129, 130, 132, 254, 255, 255, 255, 255, 255]);
    expect(found.cb).toEqual([0, 128, 0, 255]);
    expect(found.cr).toEqual([0, 127, 255, 129]);
  });

  it('lift to more bits: by a shift, in full range to the same white', async () => {
    const format = { bitDepth: 10, chroma: '420' } as const;
    const shifted = await first(FRAME, RAW, { format });
    expect(shifted.y).toEqual([...FRAME.subarray(0, 16)].map((sample) => sample << 2));
    const full = await first(FRAME, RAW, { format, range: { from: 'limited', to: 'full' } });
    expect(full.y.at(-1)).toBe(1023);
    expect(full.cb).toEqual([0, 512, 0, 1020]);
  });
});
