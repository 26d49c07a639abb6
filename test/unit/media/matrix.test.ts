/**
 * @module test/unit/media/matrix
 * By which matrix luma and chroma of two videos were made, told from their colours.
 */
import { expect, it } from 'vitest';
import { type MatrixFit, matrixFitOf } from '../../../src/media/evidence/matrix.js';

const WEIGHTS = { 601: [0.299, 0.114], 709: [0.2126, 0.0722] } as const;

/** Colours of a picture by a matrix, as ITU-R defines it. */
function colours(matrix: keyof typeof WEIGHTS, saturation: number, noise = 0) {
  const [kr, kb] = WEIGHTS[matrix];
  const boxes = Array.from({ length: 256 }, (_, i) => {
    const grey = 0.2 + (0.6 * ((i * 37) % 256)) / 256;
    const [r = 0, g = 0, b = 0] = [7, 11, 13].map((by) => grey + saturation * Math.sin(i * by));
    const y = kr * r + (1 - kr - kb) * g + kb * b;
    const jitter = noise * Math.sin(i * 97);
    return [
      16 + 219 * y + jitter,
      128 + (112 * (b - y)) / (1 - kb) - jitter,
      128 + (112 * (r - y)) / (1 - kr) + jitter,
    ] as const;
  });
  return { y: boxes.map(([y]) => y), cb: boxes.map(([, cb]) => cb), cr: boxes.map(([, , cr]) => cr) };
}

it.each([
  [601, 601, 'as stored'],
  [709, 709, 'as stored'],
  [601, 709, '601 to 709'],
  [709, 601, '709 to 601'],
] as const)('the colours of BT.%i beside those of BT.%i fit %s', (from, to, fit: MatrixFit) => {
  for (const noise of [0, 1.5]) {
    const pair = { reference: colours(from, 0.15), distorted: colours(to, 0.15, noise) };
    expect(matrixFitOf([pair, pair])).toBe(fit);
  }
});

it('grey pictures, no pictures, and those with nothing in common fit none', () => {
  expect(matrixFitOf([{ reference: colours(601, 0), distorted: colours(709, 0) }])).toBeUndefined();
  expect(matrixFitOf([])).toBeUndefined();
  const other = colours(709, 0.15);
  const turned = { y: [...other.y].reverse(), cb: [...other.cb].reverse(), cr: [...other.cr].reverse() };
  expect(matrixFitOf([{ reference: colours(601, 0.15), distorted: turned }])).toBeUndefined();
});
