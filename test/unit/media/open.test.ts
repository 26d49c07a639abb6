/** What is a video and what is not (src/media/open.ts, sniff.ts, yuv.ts). */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { openVideo } from '../../../src/media/open.js';
import { sniffContent } from '../../../src/media/sniff.js';
import type { FrameSource, RawVideoFormat, VideoInput } from '../../../src/media/types.js';
import { browserFiles } from '../../../src/platform/browser/files.js';
import { ascii, concat, failure, noFiles, rawVideo, streamOf, y4mVideo } from '../../support/media.js';

const open = (input: VideoInput, raw?: RawVideoFormat, name?: string): Promise<FrameSource> =>
  openVideo(input, { platform: noFiles, raw, name });

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
    expect(await failure(() => open(ascii(start), undefined, 'my clip.bin'), 'media')).toBe(
      `my clip.bin is not a Y4M file but ${what}; give encoded video as a file, which a decoder can read, or ` +
        "convert it first: ffmpeg -i 'my clip.bin' -strict -1 OUTPUT.y4m",
    );
  });

  it('quotes names in commands so that a shell takes them as they are', async () => {
    const named = async (name: string) =>
      failure(() => open(ascii('\0\0\0\0ftyp'), undefined, name), 'media');
    expect(await named("it's.mp4")).toContain("ffmpeg -i 'it'\\''s.mp4' -strict");
    expect(await named('-x.mp4')).toContain("ffmpeg -i './-x.mp4' -strict");
    expect(await named('a/b-c_1.mp4')).toContain('ffmpeg -i a/b-c_1.mp4 -strict');
  });

  it('asks for the geometry of anything else', async () => {
    for (const input of [ascii('hello'), new Uint8Array(5000)]) {
      expect(await failure(() => open(input, undefined, 'x.yuv'), 'media')).toContain(
        'width, height, chroma and bitDepth of raw',
      );
    }
  });

  it('may be empty', async () => {
    for (const input of [new Uint8Array(0), new Blob([]), streamOf(new Uint8Array(0), () => 1)]) {
      expect(await failure(() => open(input, undefined, 'x'), 'io')).toBe('x is empty.');
      if (!(input instanceof ReadableStream))
        expect(await failure(() => open(input, small, 'x'), 'io')).toBe('x is empty.');
    }
  });

  it('may be a Y4M header without frames', async () => {
    const header = ascii('YUV4MPEG2 W32 H20 F25:1 Ip\n');
    expect(await failure(() => open(header, undefined, 'x.y4m'), 'media')).toContain('holds no frames');
    const cut = concat(header, ascii('FRAME\nabc'));
    expect(await failure(() => open(cut, undefined, 'x.y4m'), 'media')).toContain(
      'frame 0 of x.y4m is incomplete: 960 bytes expected, 3 found',
    );
  });

  it('may be a header cut short', async () => {
    expect(await failure(() => open(ascii('YUV4'), undefined, 'x.y4m'), 'media')).toContain('after 4 bytes');
  });

  it('may be something else altogether', async () => {
    expect(await failure(() => open({} as unknown as Blob), 'usage')).toContain('not Object');
    expect(await failure(() => open(null as unknown as Blob), 'usage')).toContain('not null');
    expect(await failure(() => open(new ArrayBuffer(3) as unknown as Blob), 'usage')).toContain(
      'not ArrayBuffer',
    );
  });

  it('has no path in a browser', async () => {
    const run = () => openVideo('x.y4m', { platform: browserFiles });
    expect(await failure(run, 'usage')).toContain('"x.y4m" cannot be opened by name in a browser');
  });
});

describe('raw format', () => {
  it('must be one that a video can have', async () => {
    const bad = (change: object) => failure(() => open(new Uint8Array(9), { ...small, ...change }), 'usage');
    expect(await bad({ width: 0 })).toContain('width 0');
    expect(await bad({ height: Number.NaN })).toContain('height NaN');
    expect(await bad({ width: 16385 })).toContain('width 16385');
    expect(await bad({ height: 20.5 })).toContain('height 20.5');
    expect(await bad({ bitDepth: 7 })).toContain('bit depth 7');
    expect(await bad({ bitDepth: 17 })).toContain('bit depth 17');
    expect(await bad({ chroma: '411' })).toContain("chroma format '411'");
    expect(await bad({ chroma: 'toString' })).toContain("chroma format 'toString'");
  });

  it('must fit at least once into the file', async () => {
    expect(await failure(() => open(new Uint8Array(959), small, 'x.yuv'), 'media')).toBe(
      'x.yuv has 959 bytes, less than one frame of 32x20 4:2:0 8 bit (960 bytes); check width, height, chroma and bitDepth of raw.',
    );
  });

  it('counts whole frames and knows of a partial one', async () => {
    const source = await open(new Uint8Array(960 * 3 + 7), small);
    expect(source.info.frameCount).toBe(3);
    expect(source.info.incompleteFrame).toEqual({ index: 3, expectedBytes: 960, foundBytes: 7 });
    expect((await open(new Uint8Array(960 * 3), small)).info.incompleteFrame).toBeUndefined();
  });

  it('gives way to a Y4M header that agrees and not to one that does not', async () => {
    const y4m = y4mVideo(small, '420', 2);
    expect((await open(y4m, small)).info).toMatchObject({ container: 'y4m', frameCount: 2 });
    expect(await failure(() => open(y4m, { ...small, width: 34 }, 'x.y4m'), 'mismatch')).toContain(
      'x.y4m is a Y4M file of 32x20 4:2:0 8 bit, but the format given for raw video is 34x20 4:2:0 8 bit',
    );
  });

  it('warns when raw video looks like something else', async () => {
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

  it('with control characters stay on one line', async () => {
    expect(await failure(() => open(ascii('hello'), undefined, 'a\nb\x1b[31m\u2028.yuv'), 'media')).toContain(
      'a\\x0ab\\x1b[31m\\u2028.yuv is not a Y4M file',
    );
  });
});

describe("the caller's own frames", () => {
  it('pass through when their format is possible', async () => {
    const info = { ...small, name: 'mine', container: 'frames', frameCount: 1, warnings: [] } as const;
    const source: FrameSource = { info, seekable: true, readFrame: () => true, close() {} };
    expect(await open(source)).toBe(source);
    const odd: FrameSource = { ...source, info: { ...info, bitDepth: 32 } };
    expect(await failure(() => open(odd), 'usage')).toContain(
      'the frames of mine are not usable: bit depth 32',
    );
  });
});
