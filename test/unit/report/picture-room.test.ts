/**
 * @module test/unit/report/picture-room
 * Pictures of a page: their size, which are left out, and the messages about it.
 */
import { describe, expect, it } from 'vitest';
import { type PageLimits, type PictureTry, pagePicturesOf } from '../../../src/report/picture-room.js';

/** Bytes of each of the two pictures of a moment, by side and quality of an attempt. */
type Size = (one: Pick<PictureTry, 'side' | 'quality'>, frame: number) => number;

/** Lossless pictures of a byte a sample, lossy ones of a tenth. */
const usual: Size = ({ side, quality }) => (side * side * (quality === 1 ? 1 : quality / 5)) / 2;

interface Options {
  readonly encodes?: readonly (readonly number[])[];
  readonly size?: Size;
  /** Why files of encodes cannot be read. */
  readonly broken?: Readonly<Record<number, string>>;
  readonly signal?: AbortSignal;
}

async function pictures(
  limits: PageLimits,
  { encodes = [[7]], size = usual, broken = {}, signal = new AbortController().signal }: Options = {},
) {
  const listed = encodes.map((frames, i) => ({ name: `encode ${i}`, frames, i }));
  const tries: string[] = [];
  const done: number[] = [];
  const { pictures, lacking } = await pagePicturesOf(listed, limits, {
    async *momentsOf({ frames, i }) {
      if (broken[i] !== undefined) throw new Error(broken[i]);
      for (const frame of frames.toSorted((a, b) => a - b))
        yield {
          frame,
          aspect: 16 / 9,
          async write({ side, quality, fits }: PictureTry) {
            signal.throwIfAborted();
            if (quality === 1 && !fits(side * side)) return undefined;
            tries.push(`${side} ${quality}`);
            const bytes = Math.round(size({ side, quality }, frame));
            return { reference: new Uint8Array(bytes), distorted: new Uint8Array(bytes) };
          },
        };
    },
    onMoment: (one) => done.push(one),
    reasonOf: (error) => (error as Error).message,
    remedy: 'a larger page',
    signal,
  });
  return {
    tries,
    done,
    lacking,
    shown: pictures.map(({ report, frame }) => `${report}:${frame}`),
    bytes: pictures.map(({ reference, distorted }) => reference.length + distorted.length),
  };
}

describe('pictures of a page', () => {
  it('are lossless if there is room', async () => {
    const expected = { tries: ['960 1'], shown: ['0:7'], bytes: [960 * 960], lacking: [] };
    expect(await pictures({ megabytes: 3 })).toMatchObject(expected);
  });

  it('are compressed to fit, and not tried lossless if that cannot fit', async () => {
    const expected = { tries: ['960 0.9', '960 0.75'], bytes: [960 * 960 * 0.15], lacking: [] };
    expect(await pictures({ megabytes: 0.22 })).toMatchObject(expected);
  });

  it('shrink before they are left out, with a note', async () => {
    expect(await pictures({ megabytes: 0.1 })).toMatchObject({
      tries: ['960 0.9', '960 0.75', '640 0.75'],
      bytes: [640 * 640 * 0.15],
      lacking: [
        'Some pictures are at most 640 pixels wide, to keep the page below 0.1 MB; a larger page allows more.',
      ],
    });
  });

  it('of a moment leave unused room to the others', async () => {
    // The first takes almost nothing, the others share the rest.
    const size: Size = (one, frame) => (frame === 1 ? 10 : usual(one, frame));
    const { bytes } = await pictures({ megabytes: 0.5 }, { encodes: [[1, 2, 3]], size });
    expect(bytes).toEqual([20, 960 * 960 * 0.18, 960 * 960 * 0.18]);
    const alike = await pictures({ megabytes: 0.5 }, { encodes: [[1, 2, 3]] });
    expect(alike.bytes).toEqual([640 * 640 * 0.15, 960 * 960 * 0.15, 960 * 960 * 0.18]);
  });

  it('stay within the size, the worst moment of each encode first', async () => {
    const size: Size = () => 15_000;
    const encodes = [
      [5, 1],
      [8, 2],
    ];
    const { shown, lacking, bytes } = await pictures({ megabytes: 0.13 }, { encodes, size });
    expect(shown).toEqual(['0:5', '1:8', '0:1']);
    expect(bytes.reduce((sum, one) => sum + one)).toBeLessThan(0.74 * 130_000);
    const note =
      '1 of 4 moments have no pictures, to keep the page below 0.13 MB; a larger page allows more.';
    expect(lacking[0]).toBe(note);
  });

  it('are not made for a page that is too large without them', async () => {
    expect(await pictures({ megabytes: 0.1, bytes: 234_000 })).toMatchObject({
      tries: [],
      shown: [],
      lacking: [
        'No pictures: the page has 0.2 MB without them, and the limit is 0.1 MB; a larger page allows more.',
      ],
    });
    expect((await pictures({ megabytes: 0.1, bytes: 234_000 }, { encodes: [[]] })).lacking).toEqual([]);
  });

  it('of unreadable encodes leave their room to the others', async () => {
    const encodes = [[1, 2], [3], [4]];
    const broken = { 0: 'it is gone.', 2: 'it is gone.' };
    // Half of the room holds a lossless moment, a quarter does not.
    expect(await pictures({ megabytes: 2.5 }, { encodes, broken })).toMatchObject({
      shown: ['1:3'],
      tries: ['960 1'],
      lacking: ['No pictures of encode 0, encode 2: it is gone.'],
    });
  });

  it('are counted as they are made, and not made after an abort', async () => {
    expect((await pictures({}, { encodes: [[9, 1, 4], [2]] })).done).toEqual([1, 2, 3, 4]);
    const signal = AbortSignal.abort(new Error('cancelled'));
    await expect(pictures({}, { signal })).rejects.toThrow('cancelled');
  });
});
