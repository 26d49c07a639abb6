/**
 * @module test/unit/media/align
 * The offset between two videos, and frames lost or repeated between them: found where the pictures show it, doubted otherwise.
 */
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/media/align/evidence.js';
import { search } from '../../../src/media/align/index.js';
import { type Displacement, SlipDetector } from '../../../src/media/align/slips.js';
import {
  type LumaFormat,
  PAIR_BYTES,
  SIGNATURE_BYTES,
  Signer,
  Thumbnailer,
} from '../../../src/media/align/thumbnail.js';
import { RecordedThumbs } from '../../../src/media/align/thumbs.js';
import type { LumaReader } from '../../../src/media/pairing/types.js';
import type { FrameSource } from '../../../src/media/types.js';
import {
  align,
  type Content,
  moving,
  repeating,
  still,
  type Treatment,
  upTo,
  video,
} from '../../support/align.js';
import { tier } from '../../support/tier.js';

const OFFSETS = tier(
  [-50, 0, 50],
  Array.from({ length: 11 }, (_, k) => 10 * k - 50),
);

/** Pictures that are larger than thumbnails. */
const LARGE = { width: 128, height: 72 };

/** Moving and still content of most of these videos; each picture is drawn once. */
const [scene, picture] = [moving(5), still(5)];

/** Distorted frame 0 shows the reference's frame `offset`. */
function shifted(content: Content, offset: number, treatment: Treatment = {}, size: Treatment = {}) {
  return [
    video(content, { from: Math.max(0, -offset), ...size }),
    video(content, { from: Math.max(0, offset), ...size, ...treatment }),
  ] as const;
}

const wave =
  (speed: number): Content =>
  (index, x, y) =>
    128 + 60 * Math.sin(5 * x + 3 * y + speed * index);
/** Content whose parts are late by frames that depend on their place and on the frame. */
const late =
  (content: Content, delay: (place: number, index: number) => number): Content =>
  (index, x, y) =>
    content(index - delay(Math.floor(x * 16) * 7 + Math.floor(y * 9) * 13, index), x, y);
const fade =
  (frames: number): Content =>
  (index, x, y) =>
    16 + (picture(0, x, y) - 16) * Math.min(1, index / frames);
/** Still pictures, each for some frames. */
const slides = (frames: number, ...seeds: readonly number[]): Content => {
  const pictures = seeds.map(still);
  return (index, x, y) => pictures[Math.floor(index / frames) % pictures.length]?.(0, x, y) ?? 0;
};

describe('align finds the offset of moving content', () => {
  it.each(OFFSETS)('shifted by %i frames', async (offset) => {
    const coarse = { quantiser: 16, noise: 3 };
    const size = tier<Treatment>({}, LARGE);
    const result = await align(...shifted(tier(scene, moving(offset + 70)), offset, coarse, size));
    expect(result).toMatchObject({ offset, ambiguous: false, reason: 'clear' });
    const [distorted, reference] = [Math.max(0, -offset), Math.max(0, offset)];
    expect(result.explanation).toContain(`Distorted frame ${distorted} shows reference frame ${reference}`);
    expect(result.confidence).toBeGreaterThanOrEqual(0.9);
    expect(result.candidates).toHaveLength(1);
  });

  it.each<[string, Treatment]>([
    ['of another size', { width: 89, height: 61 }],
    ['of 16 bit', { bitDepth: 16 }],
    ['darker and of less contrast', { gain: 0.7, bias: 25 }],
    ['with another tone curve', { gamma: 1.8 }],
    ['coarsely quantised', { quantiser: 60 }],
    ['noisy', { noise: 25 }],
  ])('%s', async (_, treatment) => {
    const found = await align(...shifted(scene, 7, treatment), { window: 20 });
    expect(found).toMatchObject({ offset: 7, ambiguous: false });
  });

  it.each<[string, Parameters<typeof align>, object]>([
    [
      'at half the frame rate',
      [
        video(scene, { frames: 200 }),
        video(scene, { from: 9, frames: 80, order: (n) => 2 * n }),
        { rateRatio: 2 },
      ],
      { offset: 9 },
    ],
    [
      'with each frame shown twice',
      [
        video((n, x, y) => scene(12 * n, x, y), { frames: 80 }),
        video((n, x, y) => scene(12 * Math.floor(n / 2), x, y), { from: 10, frames: 120, quantiser: 4 }),
        { rateRatio: 0.5 },
      ],
      { offset: 5 },
    ],
    [
      'of one picture in forty',
      [
        video(scene, { frames: 400 }),
        video((n, x, y) => scene(40 * n + 3, x, y), { frames: 9 }),
        { rateRatio: 40 },
      ],
      { offset: 3, match: { reference: 3, distorted: 0 } },
    ],
    [
      'that is a fade of a still picture',
      [video(fade(60), LARGE), video(fade(60), { ...LARGE, from: 8, quantiser: 4 }), { window: 20 }],
      { offset: 8 },
    ],
    [
      'with a single cut between still pictures',
      [video(slides(70, 4, 9, 9)), video(slides(70, 4, 9, 9), { from: 20, quantiser: 8, noise: 4 })],
      { offset: 20 },
    ],
    [
      'in clips shorter than the window',
      [video(scene, { frames: 30 }), video(scene, { from: 5, frames: 20 })],
      { offset: 5, compared: 20 },
    ],
  ])('%s', async (_, pair, expected) => {
    expect(await align(...pair)).toMatchObject({ ambiguous: false, ...expected });
  });

  it('and measures changes of contrast and brightness', async () => {
    const { levels, similarity } = await align(...shifted(scene, 0, { gain: 0.8, bias: 20 }), { window: 9 });
    expect(levels.gain).toBeCloseTo(0.8, 2);
    expect(levels.bias).toBeCloseTo(20, 0);
    expect(similarity).toBeGreaterThan(0.99);
  });

  it('and counts repeated pictures', async () => {
    // Every fifth picture is repeated, as if 20 frames a second were shown as 25.
    const order = (index: number) => index - Math.floor(index / 5);
    const few = { window: 10, maxFrames: 40 };
    const { repeated } = await align(video(scene), video(scene, { order }), few);
    expect(repeated.reference).toBe(0);
    expect(repeated.distorted).toBeGreaterThan(3);
    // None in a still reference, even if coding makes its encode flicker.
    const flicker: Content = (index, x, y) => picture(0, x, y) + (index % 3);
    const standing = await align(video(picture), video(flicker), few);
    expect(standing.repeated).toEqual({ reference: 0, distorted: 0 });
  });
});

describe('align doubts', () => {
  /** A quick search: few offsets of the first frames. */
  const near = { window: 20, maxFrames: 90 };

  it.each(tier([17], [0, 17, -30]))('still content shifted by %i, whose offset it keeps', async (offset) => {
    const shown = [video(picture), video(picture, { from: 100 + offset, noise: 2 })] as const;
    for (const assumed of [0, -4]) {
      const result = await align(...shown, { ...near, assumed });
      expect(result).toMatchObject({ ambiguous: true, reason: 'static', offset: assumed });
      expect(result.confidence).toBeLessThan(0.1);
    }
  });

  it('slow motion, but with the confidence that its residuals give', async () => {
    const slow = (noise: number) =>
      align(...shifted(wave(0.03), 20, { noise, quantiser: 4 }), { window: 30 });
    const found = await slow(3);
    expect(found).toMatchObject({ ambiguous: true, reason: 'static', offset: 20 });
    expect(found.candidates.length).toBeGreaterThan(3);
    expect(found.confidence).toBeGreaterThan(0.5);
    // A doubt never has the confidence of a clear answer, however fine the pictures.
    expect(await slow(1)).toMatchObject({ ambiguous: true, offset: 20, confidence: 0.9 });
  });

  it.each(tier([6], [6, 13, 25]))('content that repeats every %i frames, by its offsets', async (period) => {
    const pair = shifted(repeating(7, period), 2, { quantiser: 8 });
    const result = await align(...pair, { window: 30, maxFrames: 90 });
    expect(result).toMatchObject({ ambiguous: true, reason: 'repetitive' });
    const offsets = result.candidates.map((candidate) => candidate.offset);
    expect(offsets).toContain(2);
    for (const offset of offsets) expect((offset - 2) % period).toBeCloseTo(0, 9);
  });

  type Delay = (place: number, index: number) => number;
  it.each<[string, Content, Delay, number]>([
    ['steady motion with late parts, evenly spread', wave(0.004), (at) => (12 * (at % 16)) / 16, 0],
    ['the same, spread exponentially', wave(0.004), (at) => -4 * Math.log(1 - (at % 16) / 16), 0],
    ...tier([8], [2, 5, 8]).flatMap((period) =>
      [wave(0.02), scene].map((content, i): [string, Content, Delay, number] => {
        const delay: Delay = (at, index) => (index + at) % period;
        return [`motion whose parts are refreshed every ${period} frames (${i})`, content, delay, period];
      }),
    ),
  ])('%s', async (_, content, delay, from) => {
    const found = await align(video(content), video(late(content, delay), { from }), near);
    if (!found.ambiguous) expect(found.offset).toBe(from);
  });

  it('an offset beyond the window', async () => {
    const pair = shifted(scene, 12);
    const result = await align(...pair, { window: 10 });
    expect(result).toMatchObject({ ambiguous: true, reason: 'edge' });
    expect(Math.abs(result.offset)).toBeLessThanOrEqual(10);
    expect((await align(...pair, { window: 12 })).offset).toBe(12);
  });

  it.each(tier([11], [11, 12, 13, 14, 15]))('videos of different things (seed %i)', async (seed) => {
    const result = await align(video(moving(seed)), video(moving(seed + 100)), near);
    expect(result.ambiguous).toBe(true);
    expect(result.confidence).toBeLessThan(0.5);
  });

  it.each([1, 2, 3])('clips of %i frames, whose levels it measures', async (frames) => {
    const graded = video(scene, { frames, gain: 0.8, bias: 20 });
    const { levels, ...result } = await align(video(scene, { frames }), graded);
    expect(result).toMatchObject({ offset: 0, confidence: 0, reason: 'short', compared: frames });
    expect(result.similarity).toBeGreaterThan(0.99);
    expect(levels.gain).toBeCloseTo(0.8, 2);
    expect(levels.bias).toBeCloseTo(20, 0);
    const assumed = await align(video(scene, { frames }), graded, { assumed: 1 });
    expect(assumed).toMatchObject({ offset: 1, confidence: 0, reason: 'short', compared: frames - 1 });
  });

  it('the best offset if no other is nearly as likely, but all others together are', () => {
    const fitness = { pairs: 20, similarity: 1, changes: 1, gain: 1, bias: 0, error: 0, rank: 0 };
    const evidence = {
      oneByOne: true,
      frames: { reference: 30, distorted: 30 },
      range: () => [0, 20],
      fitness: (offset: number) => ({ ...fitness, rank: -Math.abs(offset - 3) }),
      // Each is 25 times less likely than offset 3.
      favours: (offset: number) => (offset === 3 ? Math.log(25) : -1),
      tellsApart: () => true,
      repeated: () => ({ reference: 0, distorted: 0 }),
    } as unknown as Evidence;
    const { reason, candidates, explanation } = search(evidence, 5, 3);
    expect({ reason, candidates }).toEqual({ reason: 'static', candidates: [{ offset: 3, similarity: 1 }] });
    expect(explanation).toContain('offset 3 fits best, but not clearly');
  });
});

describe('align finds that no offset fits all of the first seconds', () => {
  const with8 = (order: (index: number) => number) => video(scene, { order, quantiser: 8 });
  const doubled = with8((i) => (i <= 30 ? i : Math.max(30, i - 4)));
  const added = '4 frames are added';

  it.each<[string, LumaReader, number, object, string]>([
    ['frames are doubled', doubled, 0, { by: -4, ahead: -4 }, added],
    ['the offset after doubled frames is assumed', doubled, -4, { by: -4, ahead: 0 }, added],
    ...[1, 6].map((count): [string, LumaReader, number, object, string] => {
      const missing = `${count} ${count === 1 ? 'frame is' : 'frames are'} missing at distorted frame 50,`;
      const slip = { frame: 50, by: count, ahead: count };
      return [`${count} lost`, with8((i) => (i < 50 ? i : i + count)), 0, slip, missing];
    }),
  ])('where %s', async (_, distorted, assumed, slip, explanation) => {
    const found = await align(video(scene), distorted, { window: 20, assumed });
    expect(found).toMatchObject({ offset: 0, reason: 'clear', slip });
    expect(found.explanation).toContain(`, but ${explanation}`);
    expect(found.explanation).toContain('so no single offset fits');
  });

  it('but not if nothing moves before both show the same', async () => {
    const leader: Content = (index, x, y) => scene(Math.max(40, index), x, y);
    const found = await align(...shifted(leader, 6, { quantiser: 8 }));
    expect(found).toMatchObject({ offset: 6, reason: 'clear' });
    expect(found.slip).toBeUndefined();
  });
});

describe('align finds no offset in compression artefacts', () => {
  /** Content with different artefacts in every picture. */
  const traced =
    (content: Content): Content =>
    (index, x, y) =>
      content(index, x, y) + 0.9 * Math.sin(1e4 * (x + 1) * (y + 2) + index * index);

  it.each<[string, Content, number, string]>([
    ['in a still', traced(picture), -1, 'static'],
    ['in a loop', traced(repeating(7, 12)), 12, 'repetitive'],
  ])('%s', async (_, content, offset, reason) => {
    const found = await align(...shifted(content, offset), { window: 20, maxFrames: 90 });
    expect(found).toMatchObject({ offset: 0, ambiguous: true, reason });
    expect(found.confidence).toBeLessThanOrEqual(0.5);
    expect(found.candidates.map((one) => one.offset)).toContain(offset);
  });

  it('when slides change a frame later', async () => {
    expect(await align(...shifted(slides(60, 4, 9, 14), -1))).toMatchObject({ offset: 0, ambiguous: true });
  });
});

it('align stops when it is aborted', async () => {
  const clip = video(scene);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(align(clip, clip, { signal })).rejects.toThrow('enough');
});

it('align reads frames in ascending order, each once, and no more than needed', async () => {
  const read: number[] = [];
  const clip = video(scene, { frames: 1000 });
  const readFrame: typeof clip.readFrame = (index, into) => {
    read.push(index);
    return clip.readFrame(index, into);
  };
  await align({ ...clip, readFrame }, clip);
  expect(read).toEqual(upTo(100));
});

describe('a thumbnail', () => {
  const thumbnail = (luma: Uint8Array, format: LumaFormat, width: number, height: number) =>
    new Thumbnailer(format, width, height).shrink(luma);

  it('averages the boxes of a small picture exactly, to 8-bit levels at any depth', () => {
    const luma = Uint8Array.from([0, 4, 100, 200, 8, 12, 100, 200]);
    expect([...thumbnail(luma, { width: 4, height: 2, bitDepth: 8 }, 2, 1)]).toEqual([6, 150]);
    const deep = Uint8Array.from([0x00, 0x02, 0xff, 0x03]); // 512 and 1023 of 10 bit
    expect([...thumbnail(deep, { width: 2, height: 1, bitDepth: 10 }, 2, 1)]).toEqual([128, 255.75]);
  });

  it('uses both fields of an interlaced picture', () => {
    for (const height of [480, 576, 720, 1080, 2160]) {
      const luma = new Uint8Array(64 * height).map((_, at) => (Math.floor(at / 64) % 2 === 0 ? 0 : 200));
      const thumb = thumbnail(luma, { width: 64, height, bitDepth: 8 }, 64, 36);
      expect(Math.max(...thumb.map((value) => Math.abs(value - 100))), `height ${height}`).toBeLessThan(60);
    }
  });

  it('is the same for a gradient in any size', () => {
    const gradient = (width: number) =>
      Uint8Array.from({ length: width }, (_, x) => (200 * (x + 0.5)) / width);
    for (const width of [200, 640, 1919]) {
      const thumb = thumbnail(gradient(width), { width, height: 1, bitDepth: 8 }, 8, 1);
      for (const [k, value] of thumb.entries())
        expect(Math.abs(value - 200 * ((k + 0.5) / 8))).toBeLessThan(1.5);
    }
  });
});

/** Flat frames, each as bright as its number, with a log of reads. */
function watched(frames: number) {
  const log = { opened: [] as [number, number][], read: [] as number[], open: 0 };
  const thumbs = new RecordedThumbs(async (first, end) => {
    log.opened.push([first, end]);
    log.open++;
    let next = first;
    const source: FrameSource = {
      info: { ...video(() => 0, LARGE).info, name: 'v', container: 'frames', warnings: [] },
      seekable: false,
      async readFrame(index, { y }) {
        await new Promise((resolve) => setImmediate(resolve));
        expect(first + index).toBe(next);
        if (next >= Math.min(frames, end)) return false;
        log.read.push(next);
        y.fill(next++);
        return true;
      },
      close: () => void log.open--,
    };
    return { source, start: 0 };
  });
  return { thumbs, log };
}

/** Reads `frames` more. @returns their numbers */
async function take(reader: ReturnType<RecordedThumbs['reader']>, frames: number): Promise<number[]> {
  const found: number[] = [];
  await reader.readTo(frames, (thumb) => found.push(Math.round(thumb[100] ?? -1)));
  return found;
}

describe('recorded thumbnails', () => {
  it('are read once for concurrent readers', async () => {
    const { thumbs, log } = watched(50);
    const readers = [thumbs.reader(40), thumbs.reader(40)];
    expect(await Promise.all(readers.map((reader) => take(reader, 20)))).toEqual([upTo(20), upTo(20)]);
    expect(await take(readers[0] as (typeof readers)[0], 30)).toEqual(upTo(10, 20));
    for (const reader of readers) await reader.close();
    expect(log).toEqual({ opened: [[0, 40]], read: upTo(30), open: 0 });
  });

  it('continue where they stopped for a later or longer reader', async () => {
    const { thumbs, log } = watched(50);
    const first = thumbs.reader(10);
    expect(await take(first, 10)).toEqual(upTo(10));
    const more = thumbs.reader(25);
    expect(await take(more, 12)).toEqual(upTo(12));
    await Promise.all([first.close(), more.close()]);
    expect(log.open).toBe(0);
    const late = thumbs.reader(100);
    expect(await take(late, 60)).toEqual(upTo(50));
    expect(late.ended).toBe(true);
    await late.close();
    expect(log).toMatchObject({ read: upTo(50), open: 0 });
    expect(log.opened.map(String)).toEqual(['0,10', '10,25', '12,100']);
  });

  it('pass a failure on to every reader', async () => {
    const thumbs = new RecordedThumbs(() => Promise.reject(new Error('cannot be opened')));
    for (const reader of [thumbs.reader(10), thumbs.reader(10)]) {
      await expect(take(reader, 5)).rejects.toThrow('cannot be opened');
      await reader.close();
    }
  });
});

const SIZE = { width: 64, height: 36 };

/** The displacement between two videos. */
function watchBoth(reference: Content, distorted: Content, treatment: Treatment, frames = 160): Displacement {
  const readers = [
    video(reference, { ...SIZE, frames }),
    video(distorted, { ...SIZE, frames, ...treatment }),
  ];
  const signer = new Signer({ ...SIZE, bitDepth: 8 });
  const slips = new SlipDetector();
  const y = new Uint8Array(SIZE.width * SIZE.height);
  for (let n = 0; n < frames; n++) {
    const pair = new Uint8Array(PAIR_BYTES);
    for (const [i, reader] of readers.entries()) {
      reader.readFrame(n, { y });
      signer.sign(y, pair, i * SIGNATURE_BYTES);
    }
    slips.add(pair);
  }
  return slips.finish();
}

const watch = (content: Content, treatment: Treatment, frames?: number) =>
  watchBoth(content, content, treatment, frames);

const lost = (first: number, count: number) => (n: number) => (n < first ? n : n + count);
const doubled = (first: number, count: number) => (n: number) =>
  n <= first ? n : Math.max(first, n - count);
const coarse: Treatment = { quantiser: 16, noise: 3 };
const SEEDS = tier([5], [1, 2, 3, 5, 8]);

describe('a comparison of all frames finds', () => {
  it.each(SEEDS)('lost frames and their number: seed %i', (seed) => {
    for (const count of tier([1, 60], [1, 2, 10, 60])) {
      const { slips } = watch(tier(scene, moving(seed)), { ...coarse, order: lost(60, count) });
      expect(slips, `${count} lost`).toEqual([{ frame: 60, by: count, ahead: count }]);
    }
  });

  it.each(SEEDS)('repeated frames and their number: seed %i', (seed) => {
    for (const count of tier([1, 12], [1, 2, 12])) {
      const { slips } = watch(tier(scene, moving(seed)), { ...coarse, order: doubled(60, count) });
      expect(slips, `${count} doubled`).toHaveLength(1);
      expect(slips[0]).toMatchObject({ by: -count, ahead: -count });
      expect(Math.abs((slips[0]?.frame ?? 0) - 61)).toBeLessThanOrEqual(count);
    }
  });

  it('one slip after another, and the return to the start', () => {
    const order = (n: number) => (n < 50 ? n : n < 90 ? n + 5 : n < 120 ? n - 3 : n);
    const { slips } = watch(scene, { ...coarse, order });
    expect(slips).toEqual([
      { frame: 50, by: 5, ahead: 5 },
      { frame: 90, by: -8, ahead: -3 },
      { frame: 120, by: 3, ahead: 0 },
    ]);
  });

  const LATE = tier(700, 2400);
  it('a slip late in a long video, in the memory of a short one', () => {
    const { slips } = watch(scene, { ...coarse, order: lost(LATE, 7) }, LATE + 200);
    expect(slips).toEqual([{ frame: LATE, by: 7, ahead: 7 }]);
  }, 60_000);

  it('a frozen picture while the reference moves', () => {
    const { slips, freezes } = watch(scene, { order: (n) => (n > 60 && n <= 70 ? 60 : n) });
    expect(freezes).toEqual([{ frame: 61, frames: 10 }]);
    expect(slips).toEqual([]);
  });

  it('at most one slip that only a cut shows', () => {
    // The second scene is still too, so nothing shows that it stays late.
    const { slips } = watch(slides(80, 1, 2, 2), { ...coarse, order: lost(60, 10) });
    expect(slips.length).toBeLessThanOrEqual(1);
  });
});

describe('a comparison of all frames finds nothing', () => {
  const nothing = { slips: [], freezes: [] };

  it.each<[string, Content, Treatment]>([
    ['moving content, coarsely quantised', scene, { quantiser: 60 }],
    ['moving content under noise', scene, { noise: 25 }],
    ['moving content, darker, of another tone curve', scene, { gain: 0.7, bias: 20, gamma: 1.6 }],
    ['still content', picture, { noise: 4 }],
    ['still content with lost frames', picture, { noise: 4, order: lost(60, 10) }],
    ['repeating content with a lost period', repeating(5, 12), { order: lost(60, 12) }],
    ['a fade of a still picture', fade(100), { quantiser: 8, noise: 2 }],
    ['a black video', () => 16, { noise: 1 }],
    ['flashes', (n, x, y) => (n % 40 === 7 ? 235 : picture(0, x, y)), { quantiser: 8 }],
    ['cuts between still pictures', slides(25, 0, 1, 2, 3, 4, 5, 6), { quantiser: 16, noise: 3 }],
  ])('in %s', (_, content, treatment) => {
    expect(watch(content, treatment)).toEqual(nothing);
  });

  it('in videos of different things, or if an encoder leaves parts of the picture unchanged', () => {
    expect(watchBoth(scene, moving(77), {}).slips).toEqual([]);
    // Every second column of blocks is up to three frames old.
    const late: Content = (n, x, y) => scene(Math.floor(x * 16) % 2 === 0 ? n - (n % 4) : n, x, y);
    expect(watchBoth(scene, late, {})).toEqual(nothing);
  });
});
