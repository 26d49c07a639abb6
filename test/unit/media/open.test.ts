/**
 * @module test/unit/media/open
 * Which inputs are videos, and which two videos can be compared (src/media/open.ts, sniff.ts, pair.ts).
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError, type ErrorCode, type InputRole } from '../../../src/core/errors.js';
import type { VideoFormat } from '../../../src/core/frame.js';
import { quoted, shown, withoutAccess } from '../../../src/core/printable.js';
import { checkOptions } from '../../../src/engine/contract/options.js';
import type { Platform } from '../../../src/engine/contract/platform.js';
import { identifyPair } from '../../../src/engine/inputs/open.js';
import { dolbyVisionProfile, isEncrypted } from '../../../src/media/file-notes.js';
import { sniffContent } from '../../../src/media/formats.js';
import { openInput, openInputs, openVideo, requireVideo } from '../../../src/media/open.js';
import { checkPair } from '../../../src/media/pair.js';
import { bytesReader } from '../../../src/media/readers.js';
import type {
  ByteReader,
  FilePlatform,
  FrameSource,
  RawVideoFormat,
  VideoInfo,
  VideoInput,
} from '../../../src/media/types.js';
import { browserFiles } from '../../../src/platform/browser/files.js';
import { ascii, concat, noFiles, rawVideo, readAll, streamOf, y4mVideo } from '../../support/media.js';
import { refusalOf } from '../../support/refusals.js';

const open = (input: VideoInput, raw?: RawVideoFormat, name?: string): Promise<FrameSource> =>
  openVideo(input, { platform: noFiles, raw, name });

const refused = (code: ErrorCode, ...input: Parameters<typeof open>): Promise<string> =>
  refusalOf(code, () => open(...input));

const small: VideoFormat = { width: 32, height: 20, bitDepth: 8, chroma: '420' };

describe('not a video', () => {
  it.each([
    ['an MP4 or MOV file', '\0\0\0\x20ftypisom'],
    ['a Matroska or WebM file', '\x1a\x45\xdf\xa3\x9f\x42'],
    ['an AVI file', 'RIFF\x10\0\0\0AVI LIST'],
    ['an IVF file', 'DKIF\0\0\x20\0AV01'],
    ['an MPEG transport stream', `G${'x'.repeat(187)}G`],
    ['an MPEG program stream', '\0\0\x01\xba'],
    ['an H.264 or H.265 stream', '\0\0\0\x01\x67'],
    ['a PNG image', '\x89PNG\r\n\x1a\n'],
  ])('recognises %s', async (what, start) => {
    expect(sniffContent(ascii(start))).toBe(what);
    expect(await refused('media', ascii(start), undefined, 'my clip.bin')).toBe(
      `my clip.bin is not a Y4M file but ${what}; pass encoded video as a file, which a decoder can read, or ` +
        "convert it first: ffmpeg -i 'my clip.bin' -strict -1 OUTPUT.y4m",
    );
  });

  it('is quoted in commands as a shell needs it', async () => {
    const named = async (name: string) => refused('media', ascii('\0\0\0\0ftyp'), undefined, name);
    expect(await named("it's.mp4")).toContain("ffmpeg -i 'it'\\''s.mp4' -strict");
    expect(await named('-x.mp4')).toContain("ffmpeg -i './-x.mp4' -strict");
    expect(await named('a/b-c_1.mp4')).toContain('ffmpeg -i a/b-c_1.mp4 -strict');
  });

  it.each([
    [
      'x264 - core 164 r3095 baee400 - H.264/MPEG-4 AVC codec - options: cabac=1 ref=5 me=hex subme=8 threads=3 rc=crf crf=20.0\0',
      'x264 subme=8 ref=5 me=hex cabac=1',
    ],
    [
      'x265 (build 199) - 3.5:[Linux] - options: cpuid=1 frame-threads=1 input-res=320x180 ref=3 no-rect rd=2 sao crf=30.0\0',
      'x265 rd=2 ref=3 sao',
    ],
    ['Lavc59 libsvtav1', undefined],
  ])('has encoder settings in its first bytes: %s', async (note, encoderSettings) => {
    const bytes = ascii(`\0\0\0\x20ftypisom\0\0\0\x08mdat${note}`);
    const opened = await openInput(bytes, { platform: noFiles, decoding: { urls: false } });
    expect(opened).toMatchObject({ kind: 'encoded' });
    expect('encoderSettings' in opened ? opened.encoderSettings : undefined).toBe(encoderSettings);
  });

  it('needs raw geometry, frames and bytes', async () => {
    for (const input of [ascii('hello'), new Uint8Array(5000)]) {
      const message = await refused('media', input, undefined, 'x.yuv');
      expect(message).toContain('width, height, chroma and bitDepth of raw');
    }
    for (const input of [new Uint8Array(0), new Blob([]), streamOf(new Uint8Array(0), () => 1)]) {
      expect(await refused('io', input, undefined, 'x')).toBe('x is empty.');
      if (!(input instanceof ReadableStream))
        expect(await refused('io', input, small, 'x')).toBe('x is empty.');
    }
    const header = ascii('YUV4MPEG2 W32 H20 F25:1 Ip\n');
    expect(await refused('media', header, undefined, 'x.y4m')).toContain('holds no frames');
  });

  it('may be another object, or a path in a browser', async () => {
    expect(await refused('usage', {} as unknown as Blob)).toContain('not Object');
    expect(await refused('usage', null as unknown as Blob)).toContain('not null');
    expect(await refused('usage', new ArrayBuffer(3) as unknown as Blob)).toContain('not ArrayBuffer');
    const run = () => openVideo('x.y4m', { platform: browserFiles });
    expect(await refusalOf('usage', run)).toContain('"x.y4m" cannot be opened by name in a browser');
  });
});

describe('raw format', () => {
  it('must be possible for a video, and fit at least once into the file', async () => {
    for (const [change, said] of [
      [{ width: 0 }, 'width 0'],
      [{ height: Number.NaN }, 'height NaN'],
      [{ width: 16385 }, 'width 16385'],
      [{ height: 20.5 }, 'height 20.5'],
      [{ bitDepth: 7 }, 'bit depth 7'],
      [{ bitDepth: 17 }, 'bit depth 17'],
      [{ chroma: '411' as '420' }, "chroma format '411'"],
      [{ chroma: 'toString' as '420' }, "chroma format 'toString'"],
    ] as const)
      expect(await refused('usage', new Uint8Array(9), { ...small, ...change })).toContain(said);
    expect(await refused('media', new Uint8Array(959), small, 'x.yuv')).toBe(
      'x.yuv has 959 bytes, less than one frame of 32x20 4:2:0 8 bit (960 bytes); check width, height, chroma and bitDepth of raw.',
    );
  });

  it('must agree with a Y4M header', async () => {
    const y4m = y4mVideo(small, '420', 2);
    expect((await open(y4m, small)).info).toMatchObject({ container: 'y4m', frameCount: 2 });
    expect(await refused('mismatch', y4m, { ...small, width: 34 }, 'x.y4m')).toContain(
      'x.y4m is a Y4M file of 32x20 4:2:0 8 bit, but the given raw format is 34x20 4:2:0 8 bit',
    );
  });

  it('causes a warning if raw video looks like another format', async () => {
    const mp4 = concat(ascii('\0\0\0\x20ftypisom'), new Uint8Array(2000));
    expect((await open(mp4, small, 'x.mp4')).info.warnings.join()).toContain('looks like an MP4 or MOV file');
    expect((await open(rawVideo(small, 1), small)).info.warnings).toEqual([]);
  });
});

describe('names', () => {
  it('come from the caller, the File, or the kind of input', async () => {
    const y4m = y4mVideo(small, '420', 1);
    const name = async (input: VideoInput, given?: string) => (await open(input, undefined, given)).info.name;
    expect(await name(y4m, 'ref')).toBe('ref');
    expect(await name(new File([y4m], 'a b.y4m'))).toBe('a b.y4m');
    expect(await name(y4m)).toBe('the byte array');
    expect(await name(new Blob([y4m]))).toBe('the Blob');
    expect(await name(streamOf(y4m, () => 100))).toBe('the stream');
  });

  it('stay on one line', async () => {
    const message = await refused('media', ascii('hello'), undefined, 'a\nb\x1b[31m\u2028.yuv');
    expect(message).toContain('a\\x0ab\\x1b[31m\\u2028.yuv is not a Y4M file');
  });
});

it("the caller's own frames are read if their facts and results are possible", async () => {
  const info = { ...small, name: 'mine', container: 'frames', frameCount: 1, warnings: [] } as const;
  const source: FrameSource = { info, seekable: true, readFrame: () => true, close() {} };
  const into = { y: new Uint8Array(640) };
  expect((await open(source)).readFrame(0, into)).toBe(true);
  const same = await openInputs({ reference: source, distorted: source }, { platform: noFiles });
  expect(same.reference).toBe(same.distorted);
  for (const [found, told] of [
    [undefined, 'undefined'],
    [Promise.resolve(1), '1'],
  ]) {
    const odd = await open({ ...source, readFrame: () => found as never });
    expect(await refusalOf('usage', () => odd.readFrame(0, into))).toBe(
      `readFrame of mine gave ${told}, but it must give true, or false after the last frame.`,
    );
  }
  const telling = (facts: object) => ({ ...source, info: { ...info, ...facts } });
  expect((await open(telling({ frameCount: undefined }))).info.frameCount).toBeNull();
  for (const frameCount of [undefined, null, 0]) requireVideo('distorted', telling({ frameCount }));
  requireVideo('distorted', telling({ frameRate: { num: 25, den: 1 } }));
  for (const [fault, message] of [
    [{ ...source, close: undefined }, 'close is undefined, but it must be a function.'],
    ...[3.5, Number.NaN, -1, Number.POSITIVE_INFINITY].map((frameCount) => [
      telling({ frameCount }),
      `info.frameCount is ${frameCount}, but it must be a whole number, or null if it is not known.`,
    ]),
    ...[25, { num: 25 }].map((frameRate) => [
      telling({ frameRate }),
      `info.frameRate is ${typeof frameRate === 'number' ? 25 : '25/undefined'}, but it must be a fraction above 0, such as ` +
        '{ num: 30000, den: 1001 }; leave it out if it is not known.',
    ]),
  ] as const) {
    const run = async () => requireVideo('distorted', fault as FrameSource);
    expect(await refusalOf('usage', run)).toBe(`distorted.${message}`);
  }
  const odd: FrameSource = { ...source, info: { ...info, bitDepth: 32 } };
  expect(await refused('usage', odd)).toContain('the frames of mine are not usable: bit depth 32');
});

const base: VideoInfo = {
  ...{ name: 'ref.y4m', container: 'y4m', frameCount: 10, warnings: [] },
  ...{ width: 1920, height: 1080, bitDepth: 8, chroma: '420' },
};
const dis: VideoInfo = { ...base, name: 'dis.y4m' };

describe('checkPair', () => {
  it('accepts equal formats, and names every difference and the fix in one message', async () => {
    expect(checkPair(base, { ...dis, frameCount: 3, container: 'yuv' })).toEqual([]);
    const other = { ...dis, width: 1280, height: 720, chroma: '422', bitDepth: 10 } as const;
    expect(await refusalOf('mismatch', () => checkPair(base, other))).toBe(
      'distorted is 1280x720 but reference is 1920x1080; distorted is 4:2:2 but reference is 4:2:0; distorted is 10 ' +
        "bit but reference is 8 bit (dis.y4m against ref.y4m); convert the distorted video to the reference's format " +
        'first: ffmpeg -i dis.y4m -vf scale=1920:1080:flags=bicubic -pix_fmt yuv420p -strict -1 OUTPUT.y4m',
    );
    const gray = { ...base, chroma: '400', bitDepth: 12 } as const;
    const message = await refusalOf('mismatch', () => checkPair(gray, { ...dis, bitDepth: 12 }));
    expect(message).toContain('distorted is 4:2:0 but reference is 4:0:0 (');
    expect(message).toContain('-pix_fmt gray12le -strict -1 OUTPUT.y4m');
  });

  it('refuses sides below 17 and warns up to 32', async () => {
    const sized = (width: number, height: number) =>
      checkPair({ ...base, width, height }, { ...dis, width, height });
    expect(await refusalOf('media', () => sized(16, 100))).toContain('16x100, too small');
    expect(await refusalOf('media', () => sized(100, 16))).toContain('at least 17');
    expect(sized(17, 100).join()).toContain('17x100');
    expect(sized(100, 32)).toHaveLength(1);
    expect(sized(33, 33)).toEqual([]);
  });

  it('warns of different rates, aspect ratios and ranges, and passes on the warnings of containers once', () => {
    const rate = (num: number, den: number) => ({ num, den });
    const a: VideoInfo = { ...base, frameRate: rate(25, 1), sampleAspect: rate(1, 1), colorRange: 'limited' };
    const b: VideoInfo = { ...dis, frameRate: rate(50, 2), sampleAspect: rate(2, 2), colorRange: 'limited' };
    const others = { frameRate: rate(30000, 1001), sampleAspect: rate(4, 3), colorRange: 'full' } as const;
    expect(checkPair(a, b)).toEqual([]);
    expect(checkPair(a, dis)).toEqual([]);
    expect(checkPair(a, { ...dis, ...others })).toEqual([
      expect.stringContaining('Distorted has 30000/1001 frames per second but reference has 25;'),
      expect.stringContaining('Distorted has the sample aspect ratio 4/3 but reference has 1;'),
      expect.stringContaining('Distorted has full colour range but reference has limited;'),
    ]);
    const found = checkPair({ ...base, warnings: ['a.', 'b.'] }, { ...dis, warnings: ['b.', 'c.'] });
    expect(found).toEqual(['a.', 'b.', 'c.']);
  });
});

describe('openInputs', () => {
  type Options = Parameters<typeof openInputs>[1];
  const openBoth = async (reference: VideoInput, distorted: VideoInput, options: Options) =>
    (await openInputs({ reference, distorted }, options)) as Record<InputRole, FrameSource>;
  const clip = y4mVideo({ width: 40, height: 36, bitDepth: 8, chroma: '420' }, '420', 2);
  const other = y4mVideo({ width: 40, height: 38, bitDepth: 8, chroma: '420' }, '420', 2);
  const nothing = () => streamOf(ascii('nothing'), () => 7);
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

  it('opens one file twice', async () => {
    const { closed, platform } = closable();
    const { reference, distorted } = await openBoth('a', 'a', { platform });
    expect(await readAll(distorted, 1)).toEqual(await readAll(reference, 1));
    expect(closed).toEqual([]);
  });

  it('closes both if they do not match, and the other if one does not open', async () => {
    const { closed, platform } = closable();
    const checked = checkOptions({ preflight: false }, 'score');
    const { signal } = new AbortController();
    const context = { platform: { files: platform } as Platform, checked, signal };
    await refusalOf('mismatch', () => identifyPair({ reference: 'a', distorted: 'other' }, context));
    expect(new Set(closed)).toEqual(new Set(['a', 'other']));
    closed.length = 0;
    await expect(openBoth('missing', 'a', { platform })).rejects.toThrow('missing');
    await new Promise((done) => setTimeout(done));
    expect(new Set(closed)).toEqual(new Set(['a']));
  });

  it('refuses an input for both that can be read only once', async () => {
    const { platform } = closable();
    const twice = (input: VideoInput) => refusalOf('usage', () => openBoth(input, input, { platform }));
    expect(await twice('-')).toContain('standard input (-)');
    expect(await twice(streamOf(clip, () => 99))).toContain('the same stream');
    const info: VideoInfo = { ...base, container: 'frames' };
    const pushed: FrameSource = { info, seekable: false, readFrame: () => false, close() {} };
    expect(await twice(pushed)).toContain('read only once');
  });

  it('opens both at once, so that one producer can feed two pipes', async () => {
    let feedReference: (bytes: Uint8Array) => void = () => {};
    const reference = new ReadableStream<Uint8Array>({
      start(controller) {
        feedReference = (bytes) => controller.enqueue(bytes);
      },
    });
    // The producer writes the reference only when the distorted video is read.
    const distorted = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          feedReference(clip);
          controller.enqueue(clip);
        },
      },
      { highWaterMark: 0 },
    );
    const pair = await openBoth(reference, distorted, { platform: noFiles });
    expect(await readAll(pair.reference, 0)).toEqual(await readAll(pair.distorted, 0));
  });

  it('does not wait for a silent stream if the other is not a video or the caller aborts', async () => {
    let cancelled = 0;
    const silent = () => new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ });
    await refusalOf('media', () => openBoth(silent(), nothing(), { platform: noFiles }));
    expect(cancelled).toBe(1);
    const controller = new AbortController();
    const opening = openBoth(silent(), silent(), { platform: noFiles, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 5);
    await expect(opening).rejects.toThrow('enough');
    expect(cancelled).toBe(3);
    const late = openBoth(clip, clip, { platform: noFiles, signal: controller.signal });
    await expect(late).rejects.toThrow('enough');
    await refusalOf('media', () => openBoth(nothing(), nothing(), { platform: noFiles }));
  });
});

it('a browser does not fetch URLs', async () => {
  const url = 'https://media.example.com/a.mp4?sig=SECRET';
  const open = (urls: boolean | readonly string[]) =>
    openInput(url, { platform: browserFiles, decoding: { urls } });
  await expect(open(['media.example.com'])).rejects.toThrow(
    'https://media.example.com/a.mp4?... is a URL, but nothing can be fetched here; download the video',
  );
  await expect(open(false)).rejects.toThrow('which is not fetched by default');
});

it('credentials and queries of URLs are not shown', () => {
  const cases = [
    ['https://a.com/x.mp4?X-Amz-Signature=1&b=2', 'https://a.com/x.mp4?...'],
    ['http://me:pw@a.com/x', 'http://a.com/x'],
    ['http://me:p@w@a.com/x#y', 'http://a.com/x#y'],
    ['--reference=HTTPS://a.com/x?t=1', '--reference=HTTPS://a.com/x?...'],
    [
      'read "https://a.com/x?t=1" and <http://b.com?u=2>',
      'read "https://a.com/x?..." and <http://b.com?...>',
    ],
    ['https://a.com/x', 'https://a.com/x'],
    ['why? because', 'why? because'],
  ] as const;
  for (const [text, wanted] of cases) expect(withoutAccess(text)).toBe(wanted);
  const long = `https://a.com/x.mp4?X-Amz-Signature=${'5'.repeat(900)}SECRET`;
  for (const text of [shown(long), quoted(long)]) expect(text).not.toMatch(/SECRET|555/);
  expect(new AnyvmafError('io', `${long} is gone`).message).not.toMatch(/SECRET|555/);
});

function box(type: string, ...body: Uint8Array[]): Uint8Array {
  const content = concat(...body);
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, 8 + content.length);
  return concat(head, ascii(type), content);
}

/** An MP4 whose only sample entry is `entry`. */
const mp4Of = (entry: Uint8Array): Uint8Array => {
  const media = box('mdia', box('minf', box('stbl', box('stsd', new Uint8Array(8), entry))));
  return concat(box('ftyp', ascii('isom')), box('moov', box('mvhd'), box('trak', box('tkhd'), media)));
};

/** A visual sample entry with a configuration record of Dolby Vision. */
const entry = (type: string, record: string, profile: number) =>
  box(
    type,
    new Uint8Array(78),
    box('hvcC', new Uint8Array(23)),
    box(record, Uint8Array.of(1, 0, profile << 1, 0)),
  );

describe('the profile of Dolby Vision', () => {
  it.each([
    ['dvh1', 'dvcC', 5],
    ['hev1', 'dvcC', 7],
    ['hvc1', 'dvvC', 8],
    ['av01', 'dvvC', 10],
  ])('is that of the entry %s with %s: %i', async (type, record, profile) => {
    const reader = bytesReader(mp4Of(entry(type, record, profile)));
    expect(await dolbyVisionProfile(reader)).toBe(profile);
    expect(await isEncrypted(reader)).toBe(false);
  });

  it('is searched for in a limited number of boxes, however they are nested', async () => {
    const nested = ['mdia', 'trak', 'moov'].reduce(
      (inner, type) => box(type, ...Array.from({ length: 60 }, () => inner)),
      box('free'),
    );
    const bytes = bytesReader(nested);
    let reads = 0;
    const reader: ByteReader = {
      ...bytes,
      read(position, parts) {
        reads++;
        return bytes.read(position, parts);
      },
    };
    expect(await dolbyVisionProfile(reader)).toBeUndefined();
    expect(reads).toBeLessThan(30_000);
  });

  it.each([
    ['without a record', mp4Of(box('hvc1', new Uint8Array(78), box('hvcC', new Uint8Array(23))))],
    ['of sound', mp4Of(box('mp4a', new Uint8Array(90)))],
    ['that is cut off', mp4Of(entry('dvh1', 'dvcC', 5)).subarray(0, -3)],
    ['that is noise', Uint8Array.from({ length: 400 }, (_, i) => (i * 131) % 256)],
  ])('is undefined for a file %s', async (_, bytes) => {
    expect(await dolbyVisionProfile(bytesReader(bytes))).toBeUndefined();
  });
});
