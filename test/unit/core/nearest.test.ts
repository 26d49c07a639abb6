/**
 * @module test/unit/core/nearest
 * Likely slips find what was meant; other words find nothing.
 */
import { expect, test } from 'vitest';
import { nearest } from '../../../src/core/nearest.js';

const WORDS = [
  'vmaf_v0.6.1',
  'vmaf_4k_v0.6.1',
  'vmaf_b_v0.6.3',
  'psnr',
  'motion',
  'reference_encoded',
  'no_reference',
];

test.each([
  ['vmaf_v061', 'vmaf_v0.6.1'],
  ['vmaf_4k_v0.6.1neg', 'vmaf_4k_v0.6.1'],
  ['PSNR', 'psnr'],
  ['pnsr', 'psnr'],
  ['moton', 'motion'],
  ['reference', 'reference_encoded'],
  ['vmaf', undefined],
  ['ssim', undefined],
  ['', undefined],
  ['p', undefined],
])('%j -> %j', (typed, meant) => {
  expect(nearest(typed, WORDS)).toBe(meant);
});
