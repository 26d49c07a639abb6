/**
 * @module test/unit/media/zoom
 * Whether one of two pictures of one size shows a part of the other, and what preflight makes of it.
 */
import { describe, expect, it } from 'vitest';
import type { AlignResult } from '../../../src/media/align/types.js';
import { type SmallPair, ZOOM_PICTURE, zoomOf } from '../../../src/media/evidence/zoom.js';
import { preflight, type SideFacts } from '../../../src/media/preflight/index.js';
import type { SideMeasurements } from '../../../src/media/preflight/types.js';

type Draw = (x: number, y: number, moment: number) => number;

/** Detail over the unit square that moves and repeats nowhere. */
const detail: Draw = (x, y, moment) =>
  128 +
  40 * Math.sin(15 * x + 9 * y + moment) +
  30 * Math.sin(40 * x * x + 8 * y) +
  30 * Math.cos(37 * y * y + moment + 5 * x);
const other: Draw = (x, y, moment) =>
  128 + 60 * Math.sin(23 * y - 11 * x * x + moment) + 20 * Math.cos(31 * x);

/** What a part of a picture shows, from one edge to the other. */
const partOf =
  (draw: Draw, [left, right]: readonly [number, number], [top, bottom]: readonly [number, number]): Draw =>
  (x, y, moment) =>
    draw(left + x * (right - left), top + y * (bottom - top), moment);
const later =
  (draw: Draw, by: number): Draw =>
  (x, y, moment) =>
    draw(x, y, moment + by);
const worse =
  (draw: Draw, by: number): Draw =>
  (x, y, moment) =>
    0.9 * draw(x, y, moment) + by * Math.sin(7919 * x * y + 97 * x);

const picture = (draw: Draw, moment: number) =>
  Float32Array.from({ length: ZOOM_PICTURE ** 2 }, (_, at) =>
    draw(
      ((at % ZOOM_PICTURE) + 0.5) / ZOOM_PICTURE,
      (Math.floor(at / ZOOM_PICTURE) + 0.5) / ZOOM_PICTURE,
      moment,
    ),
  );
const MOMENTS = [0, 1, 2];
const pairsOf = (reference: Draw, distorted: Draw): SmallPair[] =>
  MOMENTS.map((moment) => ({ reference: picture(reference, moment), distorted: picture(distorted, moment) }));

const cropped = partOf(detail, [0.05, 0.93], [0, 0.9]);

describe('a part that was scaled back to the size of the whole', () => {
  it.each([
    ['an exact one', cropped, 0.004],
    ['an encode of it', worse(cropped, 12), 0.01],
  ])('is found with its edges, whichever video shows it: %s', (_, part, within) => {
    for (const whole of ['reference', 'distorted'] as const) {
      const found = zoomOf(whole === 'reference' ? pairsOf(detail, part) : pairsOf(part, detail));
      expect(found?.whole).toBe(whole);
      const edges = [found?.part.left, found?.part.right, found?.part.top, found?.part.bottom];
      for (const [i, edge] of [0.05, 0.93, 0, 0.9].entries())
        expect(Math.abs((edges[i] ?? 9) - edge)).toBeLessThan(within);
    }
  });

  it.each<[string, Draw, Draw]>([
    ['an encode', detail, worse(detail, 40)],
    ['another moment', detail, later(detail, 1.5)],
    ['another video', detail, other],
    ['what is hardly a picture any more', detail, worse(cropped, 120)],
    ['one colour', detail, () => 90],
  ])('is not seen in %s', (_, reference, distorted) => {
    expect(zoomOf(pairsOf(reference, distorted))).toBeUndefined();
  });

  it('is not told without pictures', () => {
    expect(zoomOf([])).toBeUndefined();
  });
});

describe('preflight of videos of one size', () => {
  const side = (draw: Draw, facts: Partial<SideFacts> = {}): SideFacts => {
    const none = { left: 0, top: 0, right: 0, bottom: 0 };
    const measured: SideMeasurements = {
      frames: MOMENTS,
      sharpness: [0.1, 0.1, 0.1],
      borders: { certain: none, possible: none },
      pictures: MOMENTS.map((moment) => picture(draw, moment)),
    };
    return {
      name: 'x',
      width: 320,
      height: 180,
      bitDepth: 8,
      chroma: '420',
      frameCount: 3,
      measured,
      ...facts,
    };
  };
  const alignment: AlignResult = {
    offset: 0,
    confidence: 0,
    candidates: [],
    compared: 3,
    ambiguous: true,
    reason: 'unrelated',
    explanation: 'No offset makes them look alike.',
    similarity: 0.7,
    levels: { gain: 1, bias: 0 },
    repeated: { reference: 0, distorted: 0 },
  };
  const seen = (distorted: SideFacts, seenAs: Partial<AlignResult> = {}, offset = 0) =>
    preflight(side(detail), distorted, { alignment: { ...alignment, ...seenAs }, models: [], offset });

  it('names the part that was scaled back, with the area to cut, before labels of shape and unlike pictures', () => {
    const [first, ...more] = seen(side(cropped, { sampleAspect: { num: 41, den: 40 } }));
    expect(first).toMatchObject({ code: 'framing', severity: 'warning' });
    expect(first?.hint).toMatchObject({ instead: [{ option: 'cropReference', value: '282:162:16:0' }] });
    expect(more.filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(first?.message).toContain("distorted is 282x162 of reference's picture");
    expect(seen(side(cropped, { width: 640, height: 360 }))[0]?.message).toContain('is 282x162 of');
  });

  it.each<[string, Partial<AlignResult>, number]>([
    ['another moment fits better', { reason: 'clear', ambiguous: false, offset: 9, similarity: 0.999 }, 0],
    ['a moment beyond those that were tried may fit better', { reason: 'edge' }, 0],
    ['the measured frames are of other moments than the compared ones', {}, 5],
    ['frames slip', { slip: { frame: 9, by: 2, ahead: 2 } }, 0],
  ])('does not where %s', (_, seenAs, offset) => {
    const encode = side(worse(cropped, 12));
    expect(seen(encode)[0]?.code).toBe('framing');
    const codes = seen(encode, seenAs, offset).map(({ code }) => code);
    expect(codes).not.toContain('framing');
  });

  it('leaves bars of one video to the finding about these', () => {
    const bars = { left: 0, top: 20, right: 0, bottom: 20 };
    const { measured } = side(cropped);
    const barred = side(cropped, {
      measured: { ...measured, borders: { certain: bars, possible: bars } } as SideMeasurements,
    });
    expect(seen(barred)[0]?.code).toBe('black-borders');
  });
});
