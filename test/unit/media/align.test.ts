/**
 * @module test/unit/media/align
 * The offset between two videos, and frames lost or doubled in their middle: found where the pictures tell, doubted where
 * they do not.
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

/** Distorted frame 0 shows the reference's frame `offset`. */
function shifted(seed: number, offset: number, treatment: Treatment = {}, size: Treatment = {}) {
  const content = moving(seed);
  return [
    video(content, { from: Math.max(0, -offset), ...size }),
    video(content, { from: Math.max(0, offset), ...size, ...treatment }),
  ] as const;
}

describe('align finds the offset of moving content', () => {
  it.each(OFFSETS)('shifted by %i frames', async (offset) => {
    const result = await align(
      ...shifted(offset + 70, offset, { quantiser: 16, noise: 3 }, tier<Treatment>({}, LARGE)),
    );
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
    const result = await align(...shifted(5, 7, treatment));
    expect(result).toMatchObject({ offset: 7, ambiguous: false });
  });

  it('knows that the distorted video has half the frame rate', async () => {
    const content = moving(8);
    const half = video(content, { from: 9, frames: 80, order: (index) => 2 * index });
    const result = await align(video(content, { frames: 200 }), half, { rateRatio: 2 });
    expect(result).toMatchObject({ offset: 9, ambiguous: false });
  });

  it('finds the offset of one picture in forty', async () => {
    const content = moving(8);
    const few: Content = (index, x, y) => content(40 * index + 3, x, y);
    const result = await align(video(content, { frames: 400 }), video(few, { frames: 9 }), { rateRatio: 40 });
    expect(result).toMatchObject({ offset: 3, ambiguous: false, match: { reference: 3, distorted: 0 } });
  });

  it('sees a fade of a still picture', async () => {
    const picture = still(4);
    const fade = (index: number, x: number, y: number) =>
      16 + (picture(0, x, y) - 16) * Math.min(1, index / 60);
    const result = await align(video(fade, LARGE), video(fade, { ...LARGE, from: 8, quantiser: 4 }));
    expect(result).toMatchObject({ offset: 8, ambiguous: false });
  });

  it('sees a single cut between still pictures', async () => {
    const [first, second] = [still(4), still(9)];
    const cut = (index: number, x: number, y: number) => (index < 70 ? first : second)(0, x, y);
    const result = await align(video(cut), video(cut, { from: 20, quantiser: 8, noise: 4 }));
    expect(result).toMatchObject({ offset: 20, ambiguous: false });
  });

  it('works on clips shorter than the window', async () => {
    const content = moving(2);
    const result = await align(video(content, { frames: 30 }), video(content, { from: 5, frames: 20 }));
    expect(result).toMatchObject({ offset: 5, ambiguous: false, compared: 20 });
  });

  it('measures what happened to contrast and brightness', async () => {
    const { levels, similarity } = await align(...shifted(5, 0, { gain: 0.8, bias: 20 }));
    expect(levels.gain).toBeCloseTo(0.8, 2);
    expect(levels.bias).toBeCloseTo(20, 0);
    expect(similarity).toBeGreaterThan(0.99);
  });

  it('counts repeated pictures', async () => {
    // Every fifth picture again, as when 20 frames a second are shown as 25.
    const order = (index: number) => index - Math.floor(index / 5);
    const content = moving(6);
    const result = await align(video(content), video(content, { order }), { window: 10, maxFrames: 40 });
    expect(result.repeated.reference).toBe(0);
    expect(result.repeated.distorted).toBeGreaterThan(3);
  });

  it('counts no repeated pictures in a reference that stands, though coding makes its encode flicker', async () => {
    const content = still(6);
    const flicker: Content = (index, x, y) => content(0, x, y) + (index % 3);
    const result = await align(video(content), video(flicker), { window: 10, maxFrames: 40 });
    expect(result.repeated).toEqual({ reference: 0, distorted: 0 });
  });
});

describe('align doubts', () => {
  it.each(tier([17], [0, 17, -30]))(
    'still content, whatever the shift (%i), and stays at 0',
    async (offset) => {
      const content = still(5);
      const result = await align(video(content), video(content, { from: 100 + offset, noise: 2 }));
      expect(result).toMatchObject({ ambiguous: true, reason: 'static', offset: 0 });
      expect(result.confidence).toBeLessThan(0.1);
    },
  );

  it('slow motion, but states what its residuals tell: more than an equal chance of each that fits', async () => {
    const wave = (index: number, x: number, y: number) => 128 + 60 * Math.sin(5 * x + 3 * y + 0.03 * index);
    const found = await align(video(wave), video(wave, { from: 20, noise: 3, quantiser: 4 }));
    expect(found).toMatchObject({ ambiguous: true, reason: 'static', offset: 20 });
    expect(found.candidates.length).toBeGreaterThan(3);
    expect(found.confidence).toBeGreaterThan(0.5);
    // No doubt is as certain as a clear answer, however fine the pictures.
    const fine = await align(video(wave), video(wave, { from: 20, noise: 1, quantiser: 4 }));
    expect(fine).toMatchObject({ ambiguous: true, offset: 20, confidence: 0.9 });
  });

  it('stays at the assumed offset where the pictures do not tell', async () => {
    const content = still(5);
    expect((await align(video(content), video(content), { assumed: -4 })).offset).toBe(-4);
  });

  it.each(tier([6], [6, 13, 25]))(
    'content that repeats every %i frames, and names the offsets',
    async (period) => {
      const content = repeating(7, period);
      const result = await align(video(content), video(content, { from: 2, quantiser: 8 }));
      expect(result).toMatchObject({ ambiguous: true, reason: 'repetitive' });
      const offsets = result.candidates.map((candidate) => candidate.offset);
      expect(offsets).toContain(2);
      for (const offset of offsets) expect((offset - 2) % period).toBeCloseTo(0, 9);
    },
  );

  it('steady motion of which parts are shown late, be the delays spread evenly or exponentially', async () => {
    const wave = (index: number, x: number, y: number) => 128 + 60 * Math.sin(5 * x + 3 * y + 0.004 * index);
    for (const spread of [(u: number) => 12 * u, (u: number) => -4 * Math.log(1 - u)]) {
      const delay = (x: number, y: number) =>
        spread(((Math.floor(x * 16) * 7 + Math.floor(y * 9) * 13) % 16) / 16);
      const late = (index: number, x: number, y: number) => wave(index - delay(x, y), x, y);
      const found = await align(video(wave), video(late));
      if (!found.ambiguous) expect(found.offset).toBe(0);
    }
  });

  it.each(tier([8], [2, 5, 8]))(
    'motion of which each part is refreshed every %i frames only',
    async (period) => {
      const wave = (index: number, x: number, y: number) => 128 + 60 * Math.sin(5 * x + 3 * y + 0.02 * index);
      for (const content of [wave, moving(5)]) {
        const stale = (index: number, x: number, y: number) =>
          content(index - ((index + Math.floor(x * 16) * 7 + Math.floor(y * 9) * 13) % period), x, y);
        const found = await align(video(content), video(stale, { from: period }));
        if (!found.ambiguous) expect(found.offset).toBe(period);
      }
    },
  );

  it('an offset beyond the window', async () => {
    const result = await align(...shifted(5, 12), { window: 10 });
    expect(result).toMatchObject({ ambiguous: true, reason: 'edge' });
    expect((await align(...shifted(5, 12), { window: 12 })).offset).toBe(12);
    expect(Math.abs(result.offset)).toBeLessThanOrEqual(10);
  });

  it.each(tier([11], [11, 12, 13, 14, 15]))('videos of different things (seed %i)', async (seed) => {
    const result = await align(video(moving(seed)), video(moving(seed + 100)));
    expect(result.ambiguous).toBe(true);
    expect(result.confidence).toBeLessThan(0.5);
  });

  it.each([1, 2, 3])('clips of %i frames', async (frames) => {
    const content = moving(1);
    const result = await align(video(content, { frames }), video(content, { frames }), { assumed: 1 });
    expect(result).toMatchObject({ offset: 1, confidence: 0, reason: 'short', compared: frames - 1 });
  });

  it.each([1, 3])('whose levels differ, of %i frames', async (frames) => {
    const content = moving(1);
    const graded = video(content, { frames, gain: 0.8, bias: 20 });
    const { reason, similarity, levels } = await align(video(content, { frames }), graded);
    expect(reason).toBe('short');
    expect(similarity).toBeGreaterThan(0.99);
    expect(levels.gain).toBeCloseTo(0.8, 2);
    expect(levels.bias).toBeCloseTo(20, 0);
  });
});

describe('search', () => {
  it('names the best offset if no other is nearly as likely, but all others together are', () => {
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

describe('align finds that no offset holds for all of the first seconds', () => {
  const content = moving(12);
  const doubled = video(content, { order: (i) => (i <= 30 ? i : Math.max(30, i - 4)), quantiser: 8 });
  const lost = video(content, { order: (i) => (i < 50 ? i : i + 6), quantiser: 8 });
  const one = video(content, { order: (i) => (i < 50 ? i : i + 1), quantiser: 8 });

  it.each([
    ['frames are doubled', doubled, 0, { by: -4, ahead: -4 }, '4 frames are added'],
    ['the offset after doubled frames is assumed', doubled, -4, { by: -4, ahead: 0 }, '4 frames are added'],
    [
      'frames are lost',
      lost,
      0,
      { frame: 50, by: 6, ahead: 6 },
      '6 frames are missing at distorted frame 50,',
    ],
    ['a frame is lost', one, 0, { frame: 50, by: 1, ahead: 1 }, '1 frame is missing at distorted frame 50,'],
  ])('where %s', async (_, distorted, assumed, slip, what) => {
    const found = await align(video(content), distorted, { assumed });
    expect(found).toMatchObject({ offset: 0, reason: 'clear', slip });
    expect(found.explanation).toContain(`, but ${what}`);
    expect(found.explanation).toContain('so no single offset fits');
  });

  it('but not where nothing moves before both show the same', async () => {
    const leader: Content = (index, x, y) => content(Math.max(40, index), x, y);
    const found = await align(video(leader), video(leader, { from: 6, quantiser: 8 }));
    expect(found).toMatchObject({ offset: 6, reason: 'clear' });
    expect(found.slip).toBeUndefined();
  });
});

describe('align believes no offset of traces of compression', () => {
  /** Content whose pictures all bear traces of their own. */
  const traced =
    (content: Content): Content =>
    (index, x, y) =>
      content(index, x, y) + 0.9 * Math.sin(1e4 * (x + 1) * (y + 2) + index * index);

  it.each<[string, Content, number, string]>([
    ['in a still', still(5), -1, 'static'],
    ['in a loop', repeating(7, 12), 12, 'repetitive'],
  ])('%s', async (_, content, offset, reason) => {
    const [reference, distorted] = shiftedBy(traced(content), offset);
    const found = await align(reference, distorted);
    expect(found).toMatchObject({ offset: 0, ambiguous: true, reason });
    expect(found.confidence).toBeLessThanOrEqual(0.5);
    expect(found.candidates.map((one) => one.offset)).toContain(offset);
  });

  it('where slides change a frame later', async () => {
    const slides = [still(4), still(9), still(14)];
    const shown: Content = (index, x, y) => (slides[Math.floor(index / 60)] ?? still(4))(0, x, y);
    const [reference, distorted] = shiftedBy(shown, -1);
    expect(await align(reference, distorted)).toMatchObject({ offset: 0, ambiguous: true });
  });

  function shiftedBy(content: Content, offset: number) {
    return [
      video(content, { from: Math.max(0, -offset) }),
      video(content, { from: Math.max(0, offset) }),
    ] as const;
  }
});

it('align stops when told to', async () => {
  const stop = new AbortController();
  stop.abort(new Error('enough'));
  const clip = video(moving(1));
  await expect(align(clip, clip, { signal: stop.signal })).rejects.toThrow('enough');
});

describe('align reads', () => {
  it('frames in ascending order, each once, and no further than needed', async () => {
    const read: number[] = [];
    const source = video(moving(1), { frames: 1000 });
    const spy = {
      info: source.info,
      readFrame(index: number, into: { readonly y: Uint8Array }) {
        read.push(index);
        return source.readFrame(index, into);
      },
    };
    await align(spy, video(moving(1), { frames: 1000 }));
    expect(read).toEqual(upTo(100));
  });
});

describe('thumbnail', () => {
  const thumbnail = (luma: Uint8Array, format: LumaFormat, width: number, height: number) =>
    new Thumbnailer(format, width, height).shrink(luma);

  it('averages the boxes of a small picture exactly', () => {
    const luma = Uint8Array.from([0, 4, 100, 200, 8, 12, 100, 200]);
    expect([...thumbnail(luma, { width: 4, height: 2, bitDepth: 8 }, 2, 1)]).toEqual([6, 150]);
  });

  it('gives 8-bit levels whatever the depth', () => {
    const luma = Uint8Array.from([0x00, 0x02, 0xff, 0x03]); // 512 and 1023 of 10 bit
    expect([...thumbnail(luma, { width: 2, height: 1, bitDepth: 10 }, 2, 1)]).toEqual([128, 255.75]);
  });

  it('looks at both fields of an interlaced picture', () => {
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
      thumb.forEach((value, k) => {
        expect(Math.abs(value - 200 * ((k + 0.5) / 8))).toBeLessThan(1.5);
      });
    }
  });
});

/** A watched of flat frames, each as bright as its number; keeps account of how it is read. */
function watched(frames: number) {
  const log = { opened: [] as [number, number][], read: [] as number[], open: 0 };
  const thumbs = new RecordedThumbs(async (first, end) => {
    log.opened.push([first, end]);
    log.open++;
    let next = first;
    const source: FrameSource = {
      info: {
        name: 'v',
        container: 'frames',
        width: 128,
        height: 72,
        bitDepth: 8,
        chroma: '420',
        frameCount: null,
        warnings: [],
      },
      seekable: false,
      async readFrame(index, { y }) {
        await new Promise((resolve) => setImmediate(resolve));
        expect(first + index).toBe(next);
        if (next >= Math.min(frames, end)) return false;
        log.read.push(next);
        y.fill(next++);
        return true;
      },
      close() {
        log.open--;
      },
    };
    return { source, start: 0 };
  });
  return { thumbs, log };
}

/** Reads so many more, as their numbers. */
async function take(reader: ReturnType<RecordedThumbs['reader']>, frames: number): Promise<number[]> {
  const found: number[] = [];
  await reader.readTo(frames, (thumb) => found.push(Math.round(thumb[100] ?? -1)));
  return found;
}

describe('recorded thumbnails', () => {
  it('are read once, however many ask at the same time', async () => {
    const { thumbs, log } = watched(50);
    const readers = [thumbs.reader(40), thumbs.reader(40)];
    expect(await Promise.all(readers.map((reader) => take(reader, 20)))).toEqual([upTo(20), upTo(20)]);
    expect(await take(readers[0] as (typeof readers)[0], 30)).toEqual(upTo(10, 20));
    for (const reader of readers) await reader.close();
    expect(log).toEqual({ opened: [[0, 40]], read: upTo(30), open: 0 });
  });

  it('go on where they stopped, for one who comes later or wants more', async () => {
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
    expect(log).toEqual({
      opened: [
        [0, 10],
        [10, 25],
        [12, 100],
      ],
      read: upTo(50),
      open: 0,
    });
  });

  it('tell everybody who asks of a failure', async () => {
    const thumbs = new RecordedThumbs(() => Promise.reject(new Error('cannot be opened')));
    for (const reader of [thumbs.reader(10), thumbs.reader(10)]) {
      await expect(take(reader, 5)).rejects.toThrow('cannot be opened');
      await reader.close();
    }
  });
});

const SIZE = { width: 64, height: 36 };

/** What is found in two videos. */
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

/** The same of some content and what became of it. */
function watch(content: Content, treatment: Treatment, frames?: number): Displacement {
  return watchBoth(content, content, treatment, frames);
}

const lost = (first: number, count: number) => (n: number) => (n < first ? n : n + count);
const doubled = (first: number, count: number) => (n: number) =>
  n <= first ? n : Math.max(first, n - count);
const coarse: Treatment = { quantiser: 16, noise: 3 };
/** Seeds of content. */
const SEEDS = tier([1, 5], [1, 2, 3, 5, 8]);

describe('a watch over all frames finds', () => {
  it.each(SEEDS)('frames that were lost, and how many: seed %i', (seed) => {
    for (const count of tier([1, 60], [1, 2, 10, 60])) {
      const { slips } = watch(moving(seed), { ...coarse, order: lost(60, count) });
      expect(slips, `${count} lost`).toEqual([{ frame: 60, by: count, ahead: count }]);
    }
  });

  it.each(SEEDS)('frames that were doubled, and how many: seed %i', (seed) => {
    for (const count of tier([1, 12], [1, 2, 12])) {
      const { slips } = watch(moving(seed), { ...coarse, order: doubled(60, count) });
      expect(slips, `${count} doubled`).toHaveLength(1);
      expect(slips[0]).toMatchObject({ by: -count, ahead: -count });
      expect(Math.abs((slips[0]?.frame ?? 0) - 61)).toBeLessThanOrEqual(count);
    }
  });

  it('one slip after another, and the return', () => {
    const order = (n: number) => (n < 50 ? n : n < 90 ? n + 5 : n < 120 ? n - 3 : n);
    const { slips } = watch(moving(4), { ...coarse, order });
    expect(slips).toEqual([
      { frame: 50, by: 5, ahead: 5 },
      { frame: 90, by: -8, ahead: -3 },
      { frame: 120, by: 3, ahead: 0 },
    ]);
  });

  const LATE = tier(700, 2400);
  it('a slip late in a long video, with the memory of a short one', () => {
    const { slips } = watch(moving(6), { ...coarse, order: lost(LATE, 7) }, LATE + 200);
    expect(slips).toEqual([{ frame: LATE, by: 7, ahead: 7 }]);
  }, 60_000);

  it('a picture that stands still while the reference moves on', () => {
    const { slips, freezes } = watch(moving(7), { order: (n) => (n > 60 && n <= 70 ? 60 : n) });
    expect(freezes).toEqual([{ frame: 61, frames: 10 }]);
    expect(slips).toEqual([]);
  });

  it('a slip that only a cut shows', () => {
    const scenes = [still(1), still(2)];
    const cut: Content = (n, x, y) => (n < 80 ? scenes[0] : scenes[1])?.(0, x, y) ?? 0;
    // Where the second scene stands still too, nothing says that it is late for good.
    expect(watch(cut, { ...coarse, order: lost(60, 10) }).slips.length).toBeLessThanOrEqual(1);
  });
});

/** Pictures that stand still, by seed. */
const SCENES = new Map([0, 1, 2, 3, 4, 5, 6, 8].map((seed) => [seed, still(seed)]));
const scene = (seed: number): Content => SCENES.get(seed) ?? still(seed);

describe('a watch over all frames finds nothing', () => {
  const nothing = { slips: [], freezes: [] };

  it.each<[string, Content, Treatment]>([
    ['moving content, coarsely quantised', moving(1), { quantiser: 60 }],
    ['moving content under noise', moving(2), { noise: 25 }],
    ['moving content, darker, of another tone curve', moving(3), { gain: 0.7, bias: 20, gamma: 1.6 }],
    ['content that stands still', still(4), { noise: 4 }],
    ['content that stands still, of which frames are lost', still(4), { noise: 4, order: lost(60, 10) }],
    ['content that repeats itself, a period of which is lost', repeating(5, 12), { order: lost(60, 12) }],
    [
      'a fade of a still picture',
      (n, x, y) => 16 + (scene(6)(0, x, y) - 16) * Math.min(1, n / 100),
      { quantiser: 8, noise: 2 },
    ],
    ['a black video', () => 16, { noise: 1 }],
    ['flashes', (n, x, y) => (n % 40 === 7 ? 235 : scene(8)(0, x, y)), { quantiser: 8 }],
    [
      'cuts between still pictures',
      (n, x, y) => scene(Math.floor(n / 25))(0, x, y),
      { quantiser: 16, noise: 3 },
    ],
  ])('in %s', (_, content, treatment) => {
    expect(watch(content, treatment)).toEqual(nothing);
  });

  it('in a video that shows something else', () => {
    expect(watchBoth(moving(9), moving(77), {}).slips).toEqual([]);
  });

  it('where an encoder leaves parts of the picture as they were', () => {
    const content = moving(10);
    // Every second column of blocks shows what was there up to three frames before.
    const late: Content = (n, x, y) => content(Math.floor(x * 16) % 2 === 0 ? n - (n % 4) : n, x, y);
    expect(watchBoth(content, late, {})).toEqual(nothing);
  });
});
