/**
 * @module test/unit/pictures/heatmap/heatmap
 * The picture of a map: what is drawn where, and the legend.
 */
import { expect, it } from 'vitest';
import { FramePicture } from '../../../../src/pictures/frame-pair.js';
import { drawHeatmap } from '../../../../src/pictures/heatmap/draw.js';
import { addLegend } from '../../../../src/pictures/heatmap/legend.js';
import { dotsOf } from '../../../../src/pictures/heatmap/letters.js';

/** A grey frame of limited range: code 126 is light 128.1. */
function grey(width: number, height: number, bitDepth: number): FramePicture {
  const y =
    bitDepth > 8
      ? new Uint8Array(new Uint16Array(width * height).fill(126 * 4).buffer)
      : new Uint8Array(width * height).fill(126);
  const format = { width, height, bitDepth, chroma: '400' } as const;
  return new FramePicture(
    { frame: 0, time: 0 },
    format,
    { y },
    { matrix: 'bt709', range: 'limited', assumed: [] },
  );
}

it('leaves the picture dim and grey where nothing is lost, or less than nothing', () => {
  for (const bitDepth of [8, 10]) {
    const grid = { width: 2, height: 1, blockSize: 16, values: Float64Array.of(0, -3) };
    const { data } = drawHeatmap(grey(32, 16, bitDepth), grid, 1);
    // (126 - 16) * 255 / 219 * 0.62
    expect(new Set(data)).toEqual(new Set([79]));
  }
});

it('draws each cell in its place, the strongest colour from `full` on', () => {
  const values = new Float64Array(12);
  values[1 * 4 + 2] = 0.8;
  const grid = { width: 4, height: 3, blockSize: 16, values };
  const { width, data } = drawHeatmap(grey(60, 40, 8), grid, 0.4);
  const at = (x: number, y: number) => [...data.subarray(3 * (y * width + x), 3 * (y * width + x) + 3)];
  // In the middle of cell (2, 1): 79.4 * 0.15 + the last tint * 0.85.
  expect(at(40, 24)).toEqual([226, 229, 151]);
  expect(at(8, 8)).toEqual([79, 79, 79]);
  expect(at(40, 5)).toEqual([79, 79, 79]);
});

it('adds a strip without touching the picture, and leaves out a title without room', () => {
  const image = { width: 400, height: 10, data: new Uint8Array(3 * 400 * 10).fill(77) };
  const wide = addLegend(image, { title: 'ADM LOSS DENSITY  MEAN 0.310', full: 0.5 });
  expect([wide.width, wide.height]).toEqual([400, 25]);
  expect([...wide.data.subarray(0, image.data.length)]).toEqual([...image.data]);
  const ink = ({ width, data }: typeof wide, from: number, to: number) => {
    let dots = 0;
    for (let y = 10; y < 25; y++)
      for (let x = from; x < to; x++) if (data[3 * (y * width + x)] === 235) dots++;
    return dots;
  };
  expect(ink(wide, 0, 180)).toBeGreaterThan(100);
  const narrow = addLegend(
    { width: 100, height: 10, data: new Uint8Array(3000) },
    { title: 'ADM LOSS DENSITY', full: 2 },
  );
  expect(ink(narrow, 0, 15)).toBe(0);
  expect(ink(narrow, 85, 100)).toBeGreaterThan(10);
  expect(
    addLegend({ width: 17, height: 2, data: new Uint8Array(102) }, { title: 'VIF', full: 0.02 }).height,
  ).toBe(17);
});

it('has a letter for everything that a legend says', () => {
  const said = 'VIF AND ADM SCALE LOSS DENSITY MEAN 0123456789.+';
  for (const character of new Set(said.replaceAll(' ', '')))
    expect(dotsOf(character).length, character).toBeGreaterThan(3);
  expect(dotsOf('L')).toHaveLength(11);
});
