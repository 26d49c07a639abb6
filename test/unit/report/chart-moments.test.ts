/**
 * @module test/unit/report/chart-moments
 * The name of a mean stands where it covers nothing of the line, as long as there is such a place.
 */
import { describe, expect, it } from 'vitest';
import { placeName } from '../../../src/report/view/chart-moments.js';

const SIZE = { width: 600, height: 200 };
const WIDE = 80;

/** A line through all of the width. */
const line = (y: (x: number) => number) => Array.from({ length: 121 }, (_, i) => ({ x: 5 * i, y: y(5 * i) }));

/** Whether the name lies on the line. */
function covers(place: { x: number; y: number }, drawn: readonly { x: number; y: number }[]): boolean {
  return drawn.some(
    ({ x, y }) => x >= place.x - WIDE && x <= place.x && y >= place.y - 8 && y <= place.y + 8,
  );
}

describe('the name of a mean', () => {
  it('stands at the right above it where nothing is', () => {
    expect(placeName(SIZE, 100, WIDE, [])).toEqual({ x: 600, y: 90 });
    expect(
      placeName(
        SIZE,
        100,
        WIDE,
        line(() => 150),
      ),
    ).toEqual({ x: 600, y: 90 });
  });

  it('stands below it where the line is above, or where there is no room', () => {
    expect(
      placeName(
        SIZE,
        100,
        WIDE,
        line(() => 90),
      ),
    ).toEqual({ x: 600, y: 111 });
    expect(placeName(SIZE, 5, WIDE, [])).toEqual({ x: 600, y: 16 });
  });

  it('goes to the left of what crosses both sides', () => {
    // High on the left, and to and fro at the right.
    const drawn = line((x) => (x < 300 ? 20 : 100 + 60 * Math.sin(x / 9)));
    const place = placeName(SIZE, 100, WIDE, drawn);
    expect(place.x).toBeLessThan(320);
    expect(covers(place, drawn)).toBe(false);
  });

  it('stands just beyond what crosses both sides everywhere', () => {
    const drawn = line((x) => 100 + 22 * Math.sin(x / 9));
    const place = placeName(SIZE, 100, WIDE, drawn);
    expect(place.x).toBe(600);
    expect(place.y).toBeLessThan(78);
    expect(place.y).toBeGreaterThan(52);
    expect(covers(place, drawn)).toBe(false);
    // Near the top there is room below only.
    const low = placeName(
      SIZE,
      25,
      WIDE,
      line((x) => 25 + 22 * Math.sin(x / 9)),
    );
    expect(low.y).toBeGreaterThan(47);
  });

  it('does not stand between two points that a line joins through it', () => {
    const steep = [
      { x: 0, y: 20 },
      { x: 560, y: 20 },
      { x: 570, y: 180 },
      { x: 600, y: 180 },
    ];
    const place = placeName(SIZE, 100, WIDE, steep);
    expect(place.x).toBeLessThan(560);
  });

  it('leaves gaps out, and stays inside whatever is drawn', () => {
    expect(
      placeName(
        SIZE,
        100,
        WIDE,
        line(() => Number.NaN),
      ),
    ).toEqual({ x: 600, y: 90 });
    const full = line((x) => ((x / 5) % 2 === 0 ? 0 : 200));
    expect(placeName(SIZE, 100, WIDE, full)).toEqual({ x: 600, y: 90 });
    for (const width of [10, 79, 80, 81]) {
      const { x } = placeName({ width, height: 200 }, 100, WIDE, full);
      expect(x).toBe(width);
    }
  });
});
