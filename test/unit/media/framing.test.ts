/**
 * @module test/unit/media/framing
 * Whether the smaller of two pictures is a part of the larger one or all of it, by their rows and columns.
 */
import { expect, it } from 'vitest';
import { framingOf } from '../../../src/media/evidence/framing.js';

/** A picture of detail that moves, and repeats nowhere. */
const detail = (x: number, y: number, moment: number) =>
  128 +
  40 * Math.sin(x / 5 + y / 7 + moment) +
  30 * Math.sin((x * x) / 900 + y / 11) +
  30 * Math.cos((y * y) / 700 + moment + x / 13);

type Draw = (x: number, y: number, moment: number) => number;

function picture(width: number, height: number, draw: Draw, moment = 0, bitDepth = 8) {
  const samples = Array.from({ length: width * height }, (_, i) =>
    Math.round(draw(i % width, Math.floor(i / width), moment) * 2 ** (bitDepth - 8)),
  );
  const luma = bitDepth === 8 ? Uint8Array.from(samples) : new Uint8Array(Uint16Array.from(samples).buffer);
  return { luma, width, height, bitDepth };
}

const SIZE = { width: 160, height: 90 };
const shape = (width: number, height: number, chroma: '420' | '444' = '420') => ({ width, height, chroma });

/** The decision of two moments, the first picture the reference. */
const decided = (one: readonly [number, number, Draw], other: readonly [number, number, Draw], noise = 0) => {
  const pairs = [0, 1].map((moment) => ({
    reference: picture(...one, moment),
    distorted: picture(
      other[0],
      other[1],
      (x, y, at) => other[2](x, y, at) + noise * ((x * 7 + y * 13) % 3) - noise,
      moment,
    ),
  }));
  return framingOf(shape(one[0], one[1]), shape(other[0], other[1]), pairs);
};

const { width, height } = SIZE;
const whole = [width, height, detail] as const;
const scaled = (to: readonly [number, number]) =>
  [
    ...to,
    (x: number, y: number, at: number) =>
      detail(((x + 0.5) * width) / to[0] - 0.5, ((y + 0.5) * height) / to[1] - 0.5, at),
  ] as const;

it.each([
  [
    'edge rows that are repeated',
    [width, 96, (x: number, y: number, at: number) => detail(x, Math.min(y, 89), at)],
  ],
  ['black rows', [width, 96, (x: number, y: number, at: number) => (y < 90 ? detail(x, y, at) : 16)]],
] as const)('%s are padding, whichever video has them', (_, padded) => {
  const area = { width: 160, height: 90, x: 0, y: 0 };
  expect(decided(whole, padded)).toEqual({ whole: 'distorted', area, padding: true });
  expect(decided(padded, whole, 2)).toEqual({ whole: 'reference', area, padding: true });
});

it.each([
  [160, 60, 0, 20],
  [100, 90, 14, 0],
  [152, 86, 2, 4],
])('a part of %i x %i is found where it lies, and is not called padded', (across, down, x, y) => {
  const part = [across, down, (u: number, v: number, at: number) => detail(u + x, v + y, at)] as const;
  expect(decided(whole, part, 2)).toEqual({
    whole: 'reference',
    area: { width: across, height: down, x, y },
    padding: false,
  });
});

it('a part that was scaled is found in samples of the other picture', () => {
  const part = [80, 40, (x: number, y: number, at: number) => detail(2 * x + 0.5, 2 * y + 4.5, at)] as const;
  expect(decided(whole, part)).toMatchObject({ area: { width: 160, height: 80, x: 0, y: 4 } });
});

it.each([
  ['a little smaller', scaled([160, 88])],
  ['a little larger', scaled([160, 96])],
  ['smaller in both directions', scaled([152, 84])],
  ['stretched', scaled([120, 90])],
] as const)('all of the picture, scaled to be %s, is no part', (_, other) => {
  expect(decided(whole, other)).toBeUndefined();
  expect(decided(whole, other, 4)).toBeUndefined();
});

it.each([
  ['has no detail', () => 90],
  ['is smooth', (x: number, y: number) => 60 + (x + y) / 40],
] as const)('a picture that %s decides nothing', (_, draw) => {
  expect(decided([width, height, draw], [width, 96, draw])).toBeUndefined();
});

it('without a moment nothing is decided', () => {
  expect(framingOf(shape(160, 90), shape(160, 96), [])).toBeUndefined();
});

it('samples of more than 8 bits are those of 8 bits', () => {
  const padded: Draw = (x, y, at) => detail(x, Math.min(y, 89), at);
  const pair = { reference: picture(width, height, detail, 0, 10), distorted: picture(width, 96, padded, 0) };
  expect(framingOf(shape(width, height), shape(width, 96), [pair])).toMatchObject({
    whole: 'distorted',
    padding: true,
  });
});
