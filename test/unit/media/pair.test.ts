/** Which videos can be compared (src/media/pair.ts). */
import { describe, expect, it } from 'vitest';
import { checkPair, openPair } from '../../../src/media/pair.js';
import type { FilePlatform } from '../../../src/media/platform.js';
import { bytesReader } from '../../../src/media/readers.js';
import type { FrameSource, VideoInfo } from '../../../src/media/types.js';
import { ascii, failure, noFiles, readAll, streamOf, y4mVideo } from '../../support/media.js';

const base: VideoInfo = {
  name: 'ref.y4m',
  container: 'y4m',
  width: 1920,
  height: 1080,
  bitDepth: 8,
  chroma: '420',
  frameCount: 10,
  warnings: [],
};
const dis: VideoInfo = { ...base, name: 'dis.y4m' };

describe('checkPair', () => {
  it('has nothing to say about equal formats', () => {
    expect(checkPair(base, { ...dis, frameCount: 3, container: 'yuv' })).toEqual([]);
  });

  it('names every difference and the remedy in one message', async () => {
    const other = { ...dis, width: 1280, height: 720, chroma: '422', bitDepth: 10 } as const;
    expect(await failure(() => checkPair(base, other), 'mismatch')).toBe(
      'distorted is 1280x720 but reference is 1920x1080; distorted is 4:2:2 but reference is 4:2:0; ' +
        'distorted is 10 ' +
        'bit but reference is 8 bit (dis.y4m against ref.y4m); convert the distorted video to the ' +
        "reference's format " +
        'first: ffmpeg -i dis.y4m -vf scale=1920:1080:flags=bicubic -pix_fmt yuv420p -strict -1 OUTPUT.y4m',
    );
  });

  it('compares sizes exactly, not rounded to blocks', async () => {
    const odd = { ...dis, width: 191 };
    expect(await failure(() => checkPair({ ...base, width: 192 }, odd), 'mismatch')).toContain('191x1080');
  });

  it('tells luma-only from 4:2:0', async () => {
    const gray = { ...base, chroma: '400', bitDepth: 12 } as const;
    const message = await failure(() => checkPair(gray, { ...dis, bitDepth: 12 }), 'mismatch');
    expect(message).toContain('distorted is 4:2:0 but reference is 4:0:0 (');
    expect(message).toContain('-pix_fmt gray12le -strict -1 OUTPUT.y4m');
  });

  it('refuses sides below 17 and warns up to 32', async () => {
    const sized = (width: number, height: number) =>
      checkPair({ ...base, width, height }, { ...dis, width, height });
    expect(await failure(() => sized(16, 100), 'media')).toContain('16x100, too small');
    expect(await failure(() => sized(100, 16), 'media')).toContain('at least 17');
    expect(sized(17, 100).join()).toContain('17x100');
    expect(sized(100, 32)).toHaveLength(1);
    expect(sized(33, 33)).toEqual([]);
  });

  it('refuses sizes that the core cannot take', async () => {
    const huge = { width: 16385 };
    expect(await failure(() => checkPair({ ...base, ...huge }, { ...dis, ...huge }), 'media')).toContain(
      '16385',
    );
  });

  it('warns of different rates, aspect ratios and ranges, and only of differences', () => {
    const rate = (num: number, den: number) => ({ num, den });
    const a: VideoInfo = { ...base, frameRate: rate(25, 1), sampleAspect: rate(1, 1), colorRange: 'limited' };
    const b: VideoInfo = { ...dis, frameRate: rate(50, 2), sampleAspect: rate(2, 2), colorRange: 'limited' };
    const c: VideoInfo = {
      ...dis,
      frameRate: rate(30000, 1001),
      sampleAspect: rate(4, 3),
      colorRange: 'full',
    };
    expect(checkPair(a, b)).toEqual([]);
    expect(checkPair(a, dis)).toEqual([]);
    expect(checkPair(a, c)).toEqual([
      expect.stringContaining('Distorted has 30000/1001 frames per second but reference has 25;'),
      expect.stringContaining('Distorted has the sample aspect ratio 4/3 but reference has 1;'),
      expect.stringContaining('Distorted has full colour range but reference has limited;'),
    ]);
  });

  it('passes on what the containers warn of, each once', () => {
    expect(checkPair({ ...base, warnings: ['a.', 'b.'] }, { ...dis, warnings: ['b.', 'c.'] })).toEqual([
      'a.',
      'b.',
      'c.',
    ]);
  });
});

describe('openPair', () => {
  const clip = y4mVideo({ width: 40, height: 36, bitDepth: 8, chroma: '420' }, '420', 2);
  const other = y4mVideo({ width: 40, height: 38, bitDepth: 8, chroma: '420' }, '420', 2);
  const closable = () => {
    const closed: string[] = [];
    const platform: FilePlatform = {
      async open(file) {
        const path = String(file);
        if (path === 'missing') throw new Error('missing');
        const reader = { ...bytesReader(path === 'other' ? other : clip), close: () => closed.push(path) };
        return { kind: 'random', reader, path };
      },
      reopen: noFiles.reopen,
    };
    return { closed, platform };
  };

  it('opens the same file twice', async () => {
    const { closed, platform } = closable();
    const { reference, distorted, warnings } = await openPair('a', 'a', { platform });
    expect(await readAll(distorted, 1)).toEqual(await readAll(reference, 1));
    expect(warnings).toEqual([]);
    expect(closed).toEqual([]);
  });

  it('closes both when they do not match, and the other when one does not open', async () => {
    const { closed, platform } = closable();
    await failure(() => openPair('a', 'other', { platform }), 'mismatch');
    await new Promise((done) => setTimeout(done));
    expect(new Set(closed)).toEqual(new Set(['a', 'other']));
    closed.length = 0;
    await expect(openPair('missing', 'a', { platform })).rejects.toThrow('missing');
    await new Promise((done) => setTimeout(done));
    expect(new Set(closed)).toEqual(new Set(['a']));
  });

  it('refuses what can be read only once for both', async () => {
    const { platform } = closable();
    expect(await failure(() => openPair('-', '-', { platform }), 'usage')).toContain('standard input (-)');
    const stream = streamOf(clip, () => 99);
    expect(await failure(() => openPair(stream, stream, { platform }), 'usage')).toContain('the same stream');
    const info: VideoInfo = { ...base, container: 'frames' };
    const pushed: FrameSource = { info, seekable: false, readFrame: () => false, close() {} };
    expect(await failure(() => openPair(pushed, pushed, { platform }), 'usage')).toContain('read only once');
  });

  it('opens both at once, so that one producer may feed two pipes', async () => {
    let feedReference: (bytes: Uint8Array) => void = () => {};
    const reference = new ReadableStream<Uint8Array>({
      start(controller) {
        feedReference = (bytes) => controller.enqueue(bytes);
      },
    });
    // Its producer writes the reference only when the distorted video is being read.
    const distorted = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          feedReference(clip);
          controller.enqueue(clip);
        },
      },
      { highWaterMark: 0 },
    );
    const pair = await openPair(reference, distorted, { platform: noFiles });
    expect(await readAll(pair.reference, 0)).toEqual(await readAll(pair.distorted, 0));
  });

  it('does not wait for a silent stream when the other is no video or the caller gives up', async () => {
    let cancelled = 0;
    const silent = () =>
      new ReadableStream<Uint8Array>({
        cancel() {
          cancelled++;
        },
      });
    await failure(() => openPair(silent(), ascii('nothing'), { platform: noFiles }), 'media');
    expect(cancelled).toBe(1);
    const controller = new AbortController();
    const opening = openPair(silent(), silent(), { platform: noFiles, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 5);
    await expect(opening).rejects.toThrow('enough');
    expect(cancelled).toBe(3);
    await expect(openPair(clip, clip, { platform: noFiles, signal: controller.signal })).rejects.toThrow(
      'enough',
    );
  });

  it('reports that neither is a video only once', async () => {
    await failure(() => openPair(ascii('nothing'), ascii('nothing'), { platform: noFiles }), 'media');
  });
});
