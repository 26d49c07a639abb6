/**
 * @module test/unit/media/framing
 * Whether one of two pictures shows a part of the other (found by rows and columns if sizes differ, by zooming if not), what
 * preflight makes of it, and which of its findings are causes and which only consequences.
 */
import { describe, expect, it } from 'vitest';
import type { BothOf } from '../../../src/core/frame.js';
import { framingOf, ZOOM_PICTURE, zoomOf } from '../../../src/media/evidence/framing.js';
import type { AlignResult } from '../../../src/media/pairing/types.js';
import type {
  Finding,
  FindingCode,
  SideFacts,
  SideMeasurements,
} from '../../../src/media/preflight/findings.js';
import { preflight } from '../../../src/media/preflight/index.js';
import { judge } from '../../../src/media/preflight/judge.js';
import { ALIGNED } from '../../support/align.js';

/** Detail that moves and does not repeat. */
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

type Shot = readonly [width: number, height: number, draw: Draw];
/** The decision of two moments, with the first picture as the reference. */
const decided = (one: Shot, other: Shot, noise = 0) => {
  const noisy: Draw = (x, y, at) => other[2](x, y, at) + noise * ((x * 7 + y * 13) % 3) - noise;
  const pairs = [0, 1].map((moment) => ({
    reference: picture(...one, moment),
    distorted: picture(other[0], other[1], noisy, moment),
  }));
  return framingOf(shape(one[0], one[1]), shape(other[0], other[1]), pairs);
};

const { width, height } = SIZE;
const whole: Shot = [width, height, detail];
const padded: Draw = (x, y, at) => detail(x, Math.min(y, 89), at);
const black: Draw = (x, y, at) => (y < 90 ? detail(x, y, at) : 16);
const scaled = (to: readonly [number, number]): Shot => [
  ...to,
  (x, y, at) => detail(((x + 0.5) * width) / to[0] - 0.5, ((y + 0.5) * height) / to[1] - 0.5, at),
];

describe('one of two pictures of different sizes', () => {
  it.each<[string, Draw]>([
    ['repeated edge rows', padded],
    ['black rows', black],
  ])('%s are padding, whichever video has them', (_, draw) => {
    const padded: Shot = [width, 96, draw];
    const area = { width: 160, height: 90, x: 0, y: 0 };
    expect(decided(whole, padded)).toEqual({ whole: 'distorted', area, padding: true });
    expect(decided(padded, whole, 2)).toEqual({ whole: 'reference', area, padding: true });
  });

  it.each([
    [160, 60, 0, 20],
    [100, 90, 14, 0],
    [152, 86, 2, 4],
  ])('a part of %i x %i is located, and is not called padded', (across, down, x, y) => {
    const part: Shot = [across, down, (u, v, at) => detail(u + x, v + y, at)];
    const area = { width: across, height: down, x, y };
    expect(decided(whole, part, 2)).toEqual({ whole: 'reference', area, padding: false });
  });

  it('a scaled part is located in samples of the other picture', () => {
    const part: Shot = [80, 40, (x, y, at) => detail(2 * x + 0.5, 2 * y + 4.5, at)];
    expect(decided(whole, part)).toMatchObject({ area: { width: 160, height: 80, x: 0, y: 4 } });
  });

  it.each([
    ['a little smaller', scaled([160, 88])],
    ['a little larger', scaled([160, 96])],
    ['smaller in both directions', scaled([152, 84])],
    ['stretched', scaled([120, 90])],
  ] as const)('the whole picture, scaled to be %s, is not a part', (_, other) => {
    expect(decided(whole, other)).toBeUndefined();
    expect(decided(whole, other, 4)).toBeUndefined();
  });

  it.each([
    ['has no detail', () => 90],
    ['is smooth', (x: number, y: number) => 60 + (x + y) / 40],
  ] as const)('a picture that %s decides nothing', (_, draw) => {
    expect(decided([width, height, draw], [width, 96, draw])).toBeUndefined();
  });

  it('samples of more than 8 bits are compared with those of 8 bits', () => {
    const pair = { reference: picture(width, height, detail, 0, 10), distorted: picture(width, 96, padded) };
    const found = framingOf(shape(width, height), shape(width, 96), [pair]);
    expect(found).toMatchObject({ whole: 'distorted', padding: true });
  });
});

/** Detail over the unit square that moves and does not repeat. */
const scene: Draw = (x, y, moment) =>
  128 +
  40 * Math.sin(15 * x + 9 * y + moment) +
  30 * Math.sin(40 * x * x + 8 * y) +
  30 * Math.cos(37 * y * y + moment + 5 * x);
const other: Draw = (x, y, moment) =>
  128 + 60 * Math.sin(23 * y - 11 * x * x + moment) + 20 * Math.cos(31 * x);

/** A part of a picture, from one edge to the other. */
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

const small = (draw: Draw, moment: number) => {
  const place = (at: number) => ((at % ZOOM_PICTURE) + 0.5) / ZOOM_PICTURE;
  return Float32Array.from({ length: ZOOM_PICTURE ** 2 }, (_, at) =>
    draw(place(at), place(Math.floor(at / ZOOM_PICTURE)), moment),
  );
};
const MOMENTS = [0, 1, 2];
const pairsOf = (reference: Draw, distorted: Draw): BothOf<Float32Array>[] =>
  MOMENTS.map((moment) => ({ reference: small(reference, moment), distorted: small(distorted, moment) }));

const cropped = partOf(scene, [0.05, 0.93], [0, 0.9]);

describe('a part that is scaled back to the size of the whole', () => {
  it.each([
    ['an exact one', cropped, 0.004],
    ['an encode of it', worse(cropped, 12), 0.01],
  ])('is found with its edges, whichever video shows it: %s', (_, part, within) => {
    for (const whole of ['reference', 'distorted'] as const) {
      const found = zoomOf(whole === 'reference' ? pairsOf(scene, part) : pairsOf(part, scene));
      expect(found?.whole).toBe(whole);
      const edges = [found?.part.left, found?.part.right, found?.part.top, found?.part.bottom];
      for (const [i, edge] of [0.05, 0.93, 0, 0.9].entries())
        expect(Math.abs((edges[i] ?? 9) - edge)).toBeLessThan(within);
    }
  });

  it.each<[string, Draw, Draw]>([
    ['an encode', scene, worse(scene, 40)],
    ['another moment', scene, later(scene, 1.5)],
    ['another video', scene, other],
    ['pictures that are hardly recognisable', scene, worse(cropped, 120)],
    ['one colour', scene, () => 90],
  ])('is not found in %s', (_, reference, distorted) => {
    expect(zoomOf(pairsOf(reference, distorted))).toBeUndefined();
  });

  it('is not found without pictures, nor any part', () => {
    expect(zoomOf([])).toBeUndefined();
    expect(framingOf(shape(160, 90), shape(160, 96), [])).toBeUndefined();
  });
});

describe('preflight of videos of one size', () => {
  const side = (draw: Draw, facts: Partial<SideFacts> = {}): SideFacts => {
    const none = { left: 0, top: 0, right: 0, bottom: 0 };
    const measured: SideMeasurements = {
      frames: MOMENTS,
      sharpness: [0.1, 0.1, 0.1],
      borders: { certain: none, possible: none },
      pictures: MOMENTS.map((moment) => small(draw, moment)),
    };
    const format = { width: 320, height: 180, bitDepth: 8, chroma: '420' } as const;
    return { name: 'x', ...format, frameCount: 3, measured, ...facts };
  };
  const unrelated = { confidence: 0, ambiguous: true, reason: 'unrelated', similarity: 0.7 } as const;
  const alignment = { ...ALIGNED, ...unrelated };
  const seen = (distorted: SideFacts, seenAs: Partial<AlignResult> = {}, offset = 0) =>
    preflight(side(scene), distorted, { alignment: { ...alignment, ...seenAs }, models: [], offset });

  const encode = side(worse(cropped, 12));

  it('names a part that is scaled back, with the area to crop, before labels of shape and unlike pictures', () => {
    const [first, ...more] = seen(side(cropped, { sampleAspect: { num: 41, den: 40 } }));
    expect(first).toMatchObject({ code: 'framing', severity: 'warning' });
    expect(first?.hint).toMatchObject({ instead: [{ option: 'cropReference', value: '282:162:16:0' }] });
    expect(more.filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(first?.message).toContain('distorted is only the area of 282x162 at 16,0 in reference');
    const [larger] = seen(side(cropped, { width: 640, height: 360 }));
    expect(larger?.message).toContain('only the area of 282x162');
    expect(seen(encode)[0]?.code).toBe('framing');
  });

  it.each<[string, Partial<AlignResult>, number]>([
    ['another moment fits better', { reason: 'clear', ambiguous: false, offset: 9, similarity: 0.999 }, 0],
    ['a moment beyond the searched ones may fit better', { reason: 'edge' }, 0],
    ['the measured frames are not the compared ones', {}, 5],
    ['frames slip', { slip: { frame: 9, by: 2, ahead: 2 } }, 0],
  ])('does not if %s', (_, seenAs, offset) => {
    const codes = seen(encode, seenAs, offset).map(({ code }) => code);
    expect(codes).not.toContain('framing');
  });

  it('leaves bars of one video to the finding about borders', () => {
    const bars = { left: 0, top: 20, right: 0, bottom: 20 };
    const { measured } = side(cropped);
    const borders = { certain: bars, possible: bars };
    const barred = side(cropped, { measured: { ...measured, borders } as SideMeasurements });
    expect(seen(barred)[0]?.code).toBe('black-borders');
  });
});

const found = (code: FindingCode, more: Partial<Finding> = {}): Finding => ({
  code,
  severity: code === 'slip' ? 'error' : 'warning',
  message: `About ${code}.`,
  fix: `for ${code}`,
  ...more,
});

const slip = (frame: number, frames: number) => found('slip', { places: [{ frame, frames }] });
const offset = (reference: number, distorted: number) => found('offset', { reference, distorted });
const rates = (reference: string, distorted: string) => found('frame-rate', { reference, distorted });

const aligned = (similarity: number, gain = 1) => ({
  alignment: { ...ALIGNED, similarity, levels: { gain, bias: 0 } },
});

const borders = found('black-borders');

/** `cause: consequences`, each finding by its code. */
const story = (findings: readonly Finding[]) =>
  findings
    .map(({ code, follows }, i) => {
      if (!follows) return `, ${code}`;
      const before = findings[i - 1];
      return before?.code === follows
        ? `: ${code}`
        : before?.follows === follows
          ? ` ${code}`
          : ` > ${follows}: ${code}`;
    })
    .join('')
    .slice(2);

describe('a judgement of all findings', () => {
  /** Title, findings, and the causes with their consequences. */
  it.each<[string, Finding[], string, ReturnType<typeof aligned>?]>([
    ['a slip explains its offset', [offset(0, 4), slip(30, -4)], 'slip: offset'],
    ['not another offset', [offset(0, 12), slip(30, -4)], 'slip, offset'],
    ['nor one outside of the searched frames', [offset(0, 4), slip(400, -4)], 'slip, offset'],
    [
      'borders explain unrelated pictures',
      [found('size'), found('unrelated'), found('swapped'), borders],
      'black-borders: size unrelated swapped',
    ],
    ['and an offset of unlike pictures', [offset(3, 0), borders], 'black-borders: offset', aligned(0.6)],
    ['not one of alike pictures', [offset(3, 0), borders], 'black-borders, offset', aligned(0.98)],
    [
      'a dynamic range explains levels and labels',
      [found('levels'), found('primaries'), found('hdr'), found('dynamic-range')],
      'dynamic-range: levels primaries hdr',
    ],
    ['fields explain half a rate', [rates('50', '25'), found('interlaced')], 'interlaced: frame-rate'],
    ['and telecine', [rates('24000/1001', '30000/1001'), found('interlaced')], 'interlaced: frame-rate'],
    [
      'and the offset of their second field',
      [offset(1, 0), rates('50', '25'), found('interlaced')],
      'interlaced: offset frame-rate',
    ],
    [
      'not a larger one',
      [offset(2, 0), rates('50', '25'), found('interlaced')],
      'offset, interlaced: frame-rate',
    ],
    ['not any other rate', [rates('60', '50'), found('interlaced')], 'interlaced, frame-rate'],
    [
      'a matrix explains some contrast',
      [found('levels'), found('matrix')],
      'matrix: levels',
      aligned(0.99, 0.92),
    ],
    ['not that of another grade', [found('levels'), found('matrix')], 'matrix, levels', aligned(0.99, 0.4)],
    [
      'lost frames explain counts, times and an average rate',
      [found('frame-rate'), found('duration'), found('frame-count'), found('lost-frames')],
      'lost-frames: frame-rate duration frame-count',
    ],
    ['findings without a cause stay', [found('size'), found('chroma')], 'size, chroma'],
    ['a label explains levels', [found('levels'), found('color-range')], 'color-range: levels'],
    [
      'causes come in order',
      [found('chroma'), found('transfer'), found('interlaced')],
      'interlaced, transfer, chroma',
    ],
    [
      'notes cause nothing',
      [found('frame-rate', { severity: 'info' }), found('duration')],
      'duration, frame-rate',
    ],
  ])('%s', (_, findings, expected, evidence) => {
    expect(story(judge(findings, evidence))).toBe(expected);
  });

  it('leaves consequences without severity and fix', () => {
    const [, second] = judge([found('offset'), found('swapped')]);
    const { code, message } = found('swapped');
    expect(second).toEqual({ code, severity: 'info', message, follows: 'offset' });
  });

  it('is revised once the whole run has been seen, and never hides an error behind another finding', () => {
    const first = judge([found('frame-count'), offset(0, 4)]);
    expect(story(first)).toBe('offset: frame-count');
    const whole = judge([...first, slip(30, -4)]);
    expect(story(whole)).toBe('slip: offset: frame-count');
    expect(judge(whole)).toEqual(whole);
    const refused = found('frame-rate', { severity: 'error' });
    expect(story(judge([refused, found('interlaced')]))).toBe('frame-rate, interlaced');
  });
});
