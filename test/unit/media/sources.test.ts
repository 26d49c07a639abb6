/**
 * @module test/unit/media/sources
 * Reading frames from every kind of input, and bytes in blocks (src/media/open.ts, random.ts, sequential.ts, planes.ts,
 * block-reader.ts).
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { MediaError } from '../../../src/media/errors.js';
import { openVideo, reopen } from '../../../src/media/open.js';
import { BlockReader, bytesReader } from '../../../src/media/readers.js';
import type { FrameSource, RawVideoFormat, VideoInput } from '../../../src/media/types.js';
import {
  ascii,
  blankPlanes,
  concat,
  expectedPlanes,
  noFiles,
  plane,
  rawVideo,
  readAll,
  streamOf,
  y4mVideo,
} from '../../support/media.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const open = (input: VideoInput, raw?: RawVideoFormat, name?: string): Promise<FrameSource> =>
  openVideo(input, { platform: noFiles, raw, name });

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** The same bytes as every kind of input without a file system. */
const KINDS: readonly [string, (bytes: Uint8Array<ArrayBuffer>) => VideoInput][] = [
  ['bytes', (bytes) => bytes],
  ['shared bytes', (bytes) => shared(bytes)],
  ['a Blob', (bytes) => new Blob([bytes])],
  ['a File', (bytes) => new File([bytes], 'clip.y4m')],
  ['a stream in one chunk', (bytes) => streamOf(bytes, () => bytes.length)],
  ['a stream byte by byte', (bytes) => streamOf(bytes, () => 1)],
  ['a stream in chunks of 1000', (bytes) => streamOf(bytes, () => 1000)],
];

type TaggedFormat = readonly [VideoFormat, string];

const PLAIN: TaggedFormat = [{ width: 20, height: 18, bitDepth: 8, chroma: '420' }, '420jpeg'];

const FORMATS: readonly TaggedFormat[] = [
  PLAIN,
  [{ width: 20, height: 18, bitDepth: 10, chroma: '420' }, '420p10'],
  [{ width: 20, height: 18, bitDepth: 16, chroma: '422' }, '422p16'],
  [{ width: 20, height: 18, bitDepth: 12, chroma: '444' }, '444p12'],
  [{ width: 20, height: 18, bitDepth: 8, chroma: '400' }, 'mono'],
  // Odd sizes: files round chroma up, planes round it down.
  [{ width: 21, height: 19, bitDepth: 8, chroma: '420' }, '420'],
  [{ width: 20, height: 19, bitDepth: 8, chroma: '420' }, '420'],
  [{ width: 21, height: 18, bitDepth: 10, chroma: '420' }, '420p10'],
  [{ width: 21, height: 19, bitDepth: 12, chroma: '422' }, '422p12'],
  [{ width: 21, height: 19, bitDepth: 8, chroma: '444' }, '444'],
  [{ width: 1, height: 1, bitDepth: 8, chroma: '420' }, '420'],
];

/** Planes as text, because typed arrays are slow to compare. */
const hex = (planes: object | undefined) =>
  planes && Object.entries(planes).map(([name, plane]) => `${name} ${Buffer.from(plane).toString('hex')}`);

/** Expects the samples of a frame. */
async function holds(source: FrameSource, index: number, format: VideoFormat): Promise<void> {
  expect(hex(await readAll(source, index))).toEqual(hex(expectedPlanes(format, index)));
}

/** All formats for bytes, a Blob and small chunks; other inputs share their code and take a few. */
const formatsOf = (kind: string) =>
  tier(/^bytes|Blob|byte by byte/.test(kind) ? FORMATS : [PLAIN, ...FORMATS.slice(7, 8)], FORMATS);

describe.each(KINDS)('from %s', (kind, wrap) => {
  it.each(formatsOf(kind))('reads Y4M: %j as C%s', async (format, tag) => {
    const source = await open(wrap(y4mVideo(format, tag, 3)));
    expect(source.info).toMatchObject({ ...format, container: 'y4m' });
    for (let i = 0; i < 3; i++) await holds(source, i, format);
    expect(await readAll(source, 3)).toBeUndefined();
    await source.close();
  });

  it.each(formatsOf(kind))('reads raw video: %j', async (format) => {
    const source = await open(wrap(rawVideo(format, 2)), format);
    expect(source.info).toMatchObject({ ...format, container: 'yuv' });
    for (let i = 0; i < 2; i++) await holds(source, i, format);
    expect(await readAll(source, 2)).toBeUndefined();
    await source.close();
  });

  it('skips planes that are not requested', async () => {
    for (const [format, tag] of FORMATS) {
      const source = await open(wrap(y4mVideo(format, tag, 3)));
      const expected = [0, 1, 2].map((i) => expectedPlanes(format, i));
      const { y, cb, cr } = blankPlanes(format);
      expect(await source.readFrame(0, { y })).toBe(true);
      expect(y).toEqual(expected[0]?.y);
      expect(await source.readFrame(1, { y, cr })).toBe(true);
      expect([y, cr]).toEqual([expected[1]?.y, expected[1]?.cr]);
      expect(await source.readFrame(2, { y, cb })).toBe(true);
      expect([y, cb]).toEqual([expected[2]?.y, expected[2]?.cb]);
    }
  });

  it('can skip frames going forward, and ends at stray bytes after the last frame', async () => {
    const [format, tag] = PLAIN;
    const source = await open(wrap(y4mVideo(format, tag, 6)));
    for (const i of [1, 4]) await holds(source, i, format);
    expect(await readAll(source, 9)).toBeUndefined();
    const stray = await open(wrap(concat(y4mVideo(format, tag, 2), ascii('\n\n'))));
    await holds(stray, 1, format);
    expect(await readAll(stray, 2)).toBeUndefined();
    if (stray.seekable) expect(stray.info.warnings.join()).toContain('2 bytes after its last frame');
  });

  it('reads frames whose headers have parameters, all the same or not', async () => {
    const format: VideoFormat = { width: 18, height: 17, bitDepth: 8, chroma: '420' };
    const headers = [
      () => 'FRAME Ip\n',
      (i: number) => (i === 2 ? 'FRAME Xa=b\n' : 'FRAME\n'),
      (i: number) => `FRAME ${'x'.repeat(i * 19)}\n`,
      (i: number) => (i === 4 ? 'FRAME I?\n' : 'FRAME\n'),
    ];
    for (const header of headers) {
      const source = await open(wrap(y4mVideo(format, '420', 5, header)));
      if (source.seekable) expect(source.info.frameCount).toBe(5);
      for (let i = 0; i < 5; i++) await holds(source, i, format);
      expect(await readAll(source, 5)).toBeUndefined();
    }
  });

  it('skips the alpha plane of 444alpha with a warning', async () => {
    const format: VideoFormat = { width: 18, height: 17, bitDepth: 8, chroma: '444' };
    const frame = (i: number) => {
      const { y, cb, cr } = expectedPlanes(format, i);
      return concat(ascii('FRAME\n'), y, cb, cr, plane(18, 17, 8, 99));
    };
    const bytes = concat(ascii('YUV4MPEG2 W18 H17 F25:1 Ip C444alpha\n'), frame(0), frame(1));
    const source = await open(wrap(bytes));
    for (let i = 0; i < 2; i++) await holds(source, i, format);
    expect(await readAll(source, 2)).toBeUndefined();
    expect(source.info.warnings).toEqual([expect.stringMatching(/ has alpha, which is ignored\.$/)]);
  });

  it('names the frame in which a Y4M file is cut off, after the frames before it', async () => {
    // 20x18 4:2:0: 540 bytes a frame. The last of three frames keeps 0..539 of them, or a part of its header.
    const [format, tag] = PLAIN;
    const whole = y4mVideo(format, tag, 3);
    for (const missing of [1, 200, 540, 541, 545]) {
      const found = Math.max(0, 540 - missing);
      const source = await open(wrap(whole.slice(0, whole.length - missing)), undefined, 'x.y4m');
      await holds(source, 1, format);
      const error = await thrown(() => readAll(source, 2));
      expect(error).toBeInstanceOf(MediaError);
      const message =
        `frame 2 of x.y4m is incomplete: 540 bytes expected, ${found} found; the video is truncated; ` +
        'pass allowDamaged to score the whole frames.';
      expect(error).toMatchObject({ code: 'media', reason: 'incomplete', frame: 2, message });
      if (source.seekable) {
        expect(source.info.frameCount).toBe(2);
        expect(source.info.incompleteFrame).toEqual({ index: 2, expectedBytes: 540, foundBytes: found });
        expect(await readAll(source, 3)).toBeUndefined();
      }
    }
  });

  it('names the geometry that leaves a partial frame of a raw file', async () => {
    const format: RawVideoFormat = { width: 20, height: 18, bitDepth: 8, chroma: '420' };
    const source = await open(wrap(rawVideo(format, 3).slice(0, 1100)), format, 'x.yuv');
    await holds(source, 1, format);
    expect(await refusalOf('media', () => readAll(source, 2))).toBe(
      'frame 2 of x.yuv is incomplete: 540 bytes expected, 20 found; 1100 bytes hold 2 whole frames of ' +
        '20x18 4:2:0 8 bit (540 bytes each), so the video is truncated or the declared format is wrong; check ' +
        'width, height, chroma and bitDepth of raw, or pass allowDamaged to score the whole frames.',
    );
  });

  it('recognises a raw file of odd size whose chroma is rounded down', async () => {
    // 21x19: luma 399; chroma 11x10 rounded up, 10x9 rounded down: 619 or 579 bytes a frame.
    const format: RawVideoFormat = { width: 21, height: 19, bitDepth: 8, chroma: '420' };
    const sentence =
      'bytes are N with chroma rounded down to 10x9, as the vmaf tool of libvmaf 3.2 reads odd sizes; here chroma is ' +
      'rounded up, as ffmpeg writes it: write the file with ffmpeg, or crop both videos to an even size.';
    const last = (source: FrameSource) => refusalOf('media', () => readAll(source, 2));
    const source = await open(wrap(new Uint8Array(3 * 579)), format, 'x.yuv');
    const cut = `619 bytes expected, 499 found; 1737 ${sentence.replace('N', '3 whole frames')}`;
    expect(await last(source)).toContain(cut);
    const single = await refusalOf('media', () => open(new Uint8Array(579), format, 'x.yuv'));
    expect(single).toContain(`(619 bytes); 579 ${sentence.replace('N', '1 whole frame')}`);
    const other = await open(wrap(new Uint8Array(3 * 579 + 1)), format, 'x.yuv');
    expect(await last(other)).toContain('check width, height, chroma and bitDepth of raw');
  });

  it('names the place at which frames are lost', async () => {
    const [format, tag] = PLAIN;
    // One more byte in frame 1 moves frame 2.
    const header = 'YUV4MPEG2 W20 H18 F25:1 Ip A1:1 C420jpeg\n';
    const whole = y4mVideo(format, tag, 4);
    const cut = header.length + 2 * 546;
    const bytes = concat(whole.subarray(0, cut), ascii('?'), whole.subarray(cut));
    const message = await refusalOf('media', async () => {
      const source = await open(wrap(bytes), undefined, 'x.y4m');
      for (let i = 0; i < 4; i++) await readAll(source, i);
    });
    const lost = `frame 2 of x.y4m should start with "FRAME" at byte ${cut}, found "?FRAM" instead`;
    expect(message).toContain(lost);
  });

  it('refuses planes of a wrong size', async () => {
    const [format, tag] = PLAIN;
    const source = await open(wrap(y4mVideo(format, tag, 1)));
    const message = await refusalOf('usage', () => source.readFrame(0, { y: new Uint8Array(359) }));
    expect(message).toContain('the luma plane has 359 bytes, but this format needs 360');
  });
});

describe('a file', () => {
  it('counts a single whole frame in the singular', async () => {
    const format: RawVideoFormat = { width: 20, height: 18, bitDepth: 8, chroma: '420' };
    const source = await open(rawVideo(format, 2).slice(0, 560), format, 'x.yuv');
    const message = await refusalOf('media', () => readAll(source, 1));
    expect(message).toContain('560 bytes hold 1 whole frame of 20x18');
  });

  it('ends with a warning before appended bytes, but not if frames continue behind a damaged header', async () => {
    const [format, tag] = PLAIN;
    const whole = y4mVideo(format, tag, 2);
    const junk = ascii('appended by something that is not a video');
    const source = await open(concat(whole, junk), undefined, 'x.y4m');
    expect(source.info.frameCount).toBe(2);
    await holds(source, 1, format);
    expect(await readAll(source, 2)).toBeUndefined();
    const warning = `x.y4m has ${junk.length} bytes after its last frame, which were ignored.`;
    expect(source.info.warnings).toEqual([warning]);
    for (const [what, rest] of [
      ['a frame begins in it', concat(junk, ascii('FRAME\n'))],
      ['it has the size of a frame', new Uint8Array(546)],
    ] as const) {
      const message = await refusalOf('media', () => open(concat(whole, rest), undefined, 'x.y4m'));
      expect(message, what).toContain('frame 2 of x.y4m should start with "FRAME"');
    }
    const header = ascii('YUV4MPEG2 W20 H18 F25:1 Ip\n');
    const none = await refusalOf('media', () => open(concat(header, junk), undefined, 'x.y4m'));
    expect(none).toContain('frame 0 of x.y4m');
  });
});

describe('random access', () => {
  const format: VideoFormat = { width: 19, height: 17, bitDepth: 8, chroma: '420' };

  it('knows its frame count and reads in any order, also from copies opened by another thread', async () => {
    for (const header of [() => 'FRAME\n', (i: number) => `FRAME${' '.repeat(i)}\n`]) {
      for (const wrap of [KINDS[0]?.[1], KINDS[1]?.[1], KINDS[2]?.[1]]) {
        const source = await open(wrap?.(y4mVideo(format, '420', 7, header)) ?? '');
        expect(source.seekable).toBe(true);
        expect(source.info.frameCount).toBe(7);
        if (!source.descriptor) throw new Error('no descriptor');
        const again = reopen(structuredClone(source.descriptor), noFiles);
        expect(again.info).toEqual(source.info);
        for (const i of [6, 0, 3, 3]) {
          await holds(source, i, format);
          await holds(again, i, format);
        }
      }
    }
  });

  it('verifies the header of every frame it reads', async () => {
    const bytes = y4mVideo(format, '420', 40);
    const source = await open(bytes, undefined, 'x.y4m');
    // Damage after opening.
    const headerBytes = bytes.indexOf(10) + 1;
    const frameBytes = 19 * 17 + 2 * 10 * 9 + 6;
    bytes[headerBytes + 22 * frameBytes] = 0;
    await holds(source, 21, format);
    expect(await thrown(() => readAll(source, 22))).toMatchObject({ reason: 'damaged', frame: 22 });
  });

  it('finds frames of different lengths by their headers, without reading samples', async () => {
    // 30 frames of 180000 bytes.
    const header = (i: number) => (i === 29 ? 'FRAME x\n' : 'FRAME\n');
    const bytes = y4mVideo({ ...format, width: 400, height: 300 }, '420', 30, header);
    let read = 0;
    const blob = new Blob([bytes]);
    const slice = blob.slice.bind(blob);
    blob.slice = (start, end, type) => {
      read += (end ?? 0) - (start ?? 0);
      return slice(start, end, type);
    };
    const source = await open(blob);
    expect(source.info.frameCount).toBe(30);
    expect(read).toBeLessThan(40 * 100);
  });
});

describe('streams', () => {
  const format: VideoFormat = { width: 64, height: 64, bitDepth: 8, chroma: '420' };

  it('do not know their frame count and cannot go back', async () => {
    const source = await open(streamOf(y4mVideo(format, '420', 3), () => 999));
    expect(source.seekable).toBe(false);
    expect(source.descriptor).toBeUndefined();
    expect(source.info.frameCount).toBeNull();
    await readAll(source, 1);
    expect(await refusalOf('usage', () => readAll(source, 0))).toContain('read in order');
  });

  it('read at most one chunk beyond the requested frame', async () => {
    const bytes = y4mVideo(format, '420', 50);
    let given = 0;
    const chunk = 512;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      controller.enqueue(bytes.slice(given, given + chunk));
      given += chunk;
    };
    const stream = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const source = await open(stream);
    await readAll(source, 0);
    expect(given).toBeLessThanOrEqual(bytes.indexOf(10) + 1 + 6150 + chunk);
    await source.close();
  });

  it('cancel the producer when closed, then end', async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(y4mVideo(format, '420', 1)),
      cancel() {
        cancelled = true;
      },
    });
    const source = await open(stream);
    expect(await readAll(source, 0)).toBeDefined();
    const pending = readAll(source, 1);
    await source.close();
    await source.close();
    expect(await pending).toBeUndefined();
    expect(cancelled).toBe(true);
  });

  it('name themselves in errors of the producer', async () => {
    const dead = new Error('the line\nwent dead');
    const stream = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(dead) });
    const message = await refusalOf('io', () => open(stream, undefined, 'net'));
    expect(message).toBe('reading net failed: the line\\x0awent dead.');
  });

  it('must not be locked, and yield bytes', async () => {
    const locked = streamOf(y4mVideo(format, '420', 1), () => 10);
    locked.getReader();
    expect(await refusalOf('usage', () => open(locked))).toContain('locked');
    const text = new ReadableStream({ start: (controller) => controller.enqueue('YUV4MPEG2') });
    expect(await refusalOf('usage', () => open(text))).toContain('Uint8Array chunks, not string');
  });
});

async function thrown(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

const content = Uint8Array.from({ length: 1000 }, (_, i) => (i * 89 + (i >> 3)) & 255);

describe('a reader of blocks', () => {
  it('fills any parts with available bytes, fewer at the end', async () => {
    const random = seeded(tier(20261125, Date.now()));
    const plain = bytesReader(content);
    const blocks = new BlockReader(bytesReader(content), { bytes: 64, kept: 3 });
    for (let i = 0; i < tier(100, 500); i++) {
      const position = random.int(0, 1050);
      const lengths = [random.int(0, 200), random.int(0, 200)];
      const parts = () => lengths.map((length) => new Uint8Array(length));
      const [wanted, got] = [parts(), parts()];
      const count = await blocks.read(position, got);
      expect(count, `seed ${random.seed}, ${position}: ${lengths}`).toBe(await plain.read(position, wanted));
      expect(got).toEqual(wanted);
    }
  });

  it('reads each block once while it is kept', async () => {
    const fetched: number[] = [];
    const note = (block: number) => fetched.push(block);
    const blocks = new BlockReader(bytesReader(content), { bytes: 100, kept: 2 }, note);
    const read = (position: number) => blocks.read(position, [new Uint8Array(10)]);
    for (const position of [0, 50, 95, 0, 150, 250, 10]) await read(position);
    // 95 reaches into the second; the third replaces the first, which was used before the second.
    expect(fetched).toEqual([0, 1, 2, 0]);
  });
});
