/** Thumbnails for several searches (src/media/align/recorded.ts). */
import { describe, expect, it } from 'vitest';
import { RecordedThumbs } from '../../../src/media/align/recorded.js';
import type { FrameSource } from '../../../src/media/types.js';

/** A video of flat frames, each as bright as its number; keeps account of how it is read. */
function video(frames: number) {
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
const upTo = (first: number, end: number) => Array.from({ length: end - first }, (_, n) => first + n);

describe('recorded thumbnails', () => {
  it('are read once, however many ask at the same time', async () => {
    const { thumbs, log } = video(50);
    const readers = [thumbs.reader(40), thumbs.reader(40)];
    expect(await Promise.all(readers.map((reader) => take(reader, 20)))).toEqual([upTo(0, 20), upTo(0, 20)]);
    expect(await take(readers[0] as (typeof readers)[0], 30)).toEqual(upTo(20, 30));
    for (const reader of readers) await reader.close();
    expect(log).toEqual({ opened: [[0, 40]], read: upTo(0, 30), open: 0 });
  });

  it('go on where they stopped, for one who comes later or wants more', async () => {
    const { thumbs, log } = video(50);
    const first = thumbs.reader(10);
    expect(await take(first, 10)).toEqual(upTo(0, 10));
    const more = thumbs.reader(25);
    expect(await take(more, 12)).toEqual(upTo(0, 12));
    await Promise.all([first.close(), more.close()]);
    expect(log.open).toBe(0);
    const late = thumbs.reader(100);
    expect(await take(late, 60)).toEqual(upTo(0, 50));
    expect(late.ended).toBe(true);
    await late.close();
    expect(log).toEqual({
      opened: [
        [0, 10],
        [10, 25],
        [12, 100],
      ],
      read: upTo(0, 50),
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
