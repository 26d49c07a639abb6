/** Frames lost, doubled or frozen in the middle of a video (src/media/align/slips.ts): found where the pictures tell, and only there. */
import { describe, expect, it } from 'vitest';
import { PAIR_BYTES, SIGNATURE_BYTES, Signer } from '../../../src/media/align/signature.js';
import { type Displacement, SlipDetector } from '../../../src/media/align/slips.js';
import { type Content, moving, repeating, still, type Treatment, video } from '../../support/align.js';

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
const SEEDS = [1, 2, 3, 5, 8];

describe('a watch over all frames finds', () => {
  it.each(SEEDS)('frames that were lost, and how many: seed %i', (seed) => {
    for (const count of [1, 2, 10, 60]) {
      const { slips } = watch(moving(seed), { ...coarse, order: lost(60, count) });
      expect(slips, `${count} lost`).toEqual([{ frame: 60, by: count, ahead: count }]);
    }
  });

  it.each(SEEDS)('frames that were doubled, and how many: seed %i', (seed) => {
    for (const count of [1, 2, 12]) {
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

  it('a slip late in a long video, with the memory of a short one', () => {
    const { slips } = watch(moving(6), { ...coarse, order: lost(2400, 7) }, 2600);
    expect(slips).toEqual([{ frame: 2400, by: 7, ahead: 7 }]);
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
      (n, x, y) => 16 + (still(6)(0, x, y) - 16) * Math.min(1, n / 100),
      { quantiser: 8, noise: 2 },
    ],
    ['a black video', () => 16, { noise: 1 }],
    ['flashes', (n, x, y) => (n % 40 === 7 ? 235 : still(8)(0, x, y)), { quantiser: 8 }],
    [
      'cuts between still pictures',
      (n, x, y) => still(Math.floor(n / 25))(0, x, y),
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
