/**
 * @module test/unit/media/y4m
 * Y4M headers and frame headers, and streams: any pieces give what the whole gives (src/media/formats.ts). `npm run fuzz` and
 * its test damage videos.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { badFrameHeader, isY4m, parseFrameHeader, parseY4mHeader } from '../../../src/media/formats.js';
import { openVideo } from '../../../src/media/open.js';
import type { FrameSource, VideoInput } from '../../../src/media/types.js';
import { ascii, concat, noFiles, readAll, storedFrame, streamOf } from '../../support/media.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const parse = (header: string) => parseY4mHeader(ascii(header), 'x.y4m');
const withTag = (tag: string) => parse(`YUV4MPEG2 W64 H32 F25:1 Ip C${tag}\n`);

describe('stream header', () => {
  it('has the size, rates and format of a typical video', () => {
    const header = parse(
      'YUV4MPEG2 W1920 H1080 F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED\n',
    );
    expect(header.format).toEqual({ width: 1920, height: 1080, bitDepth: 8, chroma: '420' });
    expect(header.headerBytes).toBe(86);
    expect(header.frameBytes).toBe(3110400);
    const [frameRate, sampleAspect] = [
      { num: 30000, den: 1001 },
      { num: 1, den: 1 },
    ];
    expect(header.details).toEqual({ frameRate, sampleAspect, colorRange: 'limited', warnings: [] });
  });

  it.each([
    // Bytes of a 64x32 frame: luma 2048 samples, chroma 2 x 512, 2 x 1024 or 2 x 2048.
    ['420', '420', 8, 3072],
    ['420jpeg', '420', 8, 3072],
    ['420mpeg2', '420', 8, 3072],
    ['420paldv', '420', 8, 3072],
    ['422', '422', 8, 4096],
    ['444', '444', 8, 6144],
    ['444alpha', '444', 8, 8192],
    ['mono', '400', 8, 2048],
    ['420p9', '420', 9, 6144],
    ['420p16', '420', 16, 6144],
    ['422p10', '422', 10, 8192],
    ['444p12', '444', 12, 12288],
    ['mono14', '400', 14, 4096],
  ])('reads C%s as %s at %i bit', (tag, chroma, bitDepth, bytes) => {
    const { format, frameBytes } = withTag(tag);
    expect(format).toEqual({ width: 64, height: 32, chroma, bitDepth });
    expect(frameBytes).toBe(bytes);
  });

  const unknown = ['420p8', '420p17', '420p1', '440', 'mono8', '444p10alpha', '420P10', ''];
  it.each(unknown)('does not know C%s', async (tag) => {
    expect(await refusalOf('media', () => withTag(tag))).toContain(`unknown chroma tag "C${tag}"`);
  });

  it.each([
    [
      '4:1:1, with the command that converts it',
      'YUV4MPEG2 W64 H32 F25:1 Ip C411\n',
      'ffmpeg -i x.y4m -pix_fmt yuv422p',
    ],
    ['an unknown interlacing letter', 'YUV4MPEG2 W64 H32 F25:1 Ix\n', '"Ix"'],
    ['no end in what there is', 'YUV4MPEG2 W64 H3', 'ends within its Y4M header, after 16 bytes'],
    ['no end at all', `YUV4MPEG2 W64 H32 F25:1 Ip X${'a'.repeat(300)}\n`, 'no end within 256 bytes'],
    ['no width', 'YUV4MPEG2 H32 F25:1 Ip\n', 'no width (tag W)'],
    ['no height', 'YUV4MPEG2 W64 F25:1 Ip\n', 'no height (tag H)'],
    ['no frame rate', 'YUV4MPEG2 W64 H32 Ip\n', 'no frame rate (tag F)'],
    ['a zero width', 'YUV4MPEG2 W0 H32 F25:1 Ip\n', 'width 0 is not a whole number from 1 to 16384'],
    ['a negative height', 'YUV4MPEG2 W64 H-32 F25:1 Ip\n', 'height as "-32"'],
    ['a fraction', 'YUV4MPEG2 W64.5 H32 F25:1 Ip\n', 'width as "64.5"'],
    ['not a number', 'YUV4MPEG2 WNaN H32 F25:1 Ip\n', 'width as "NaN"'],
    ['a huge side', 'YUV4MPEG2 W16385 H32 F25:1 Ip\n', 'width 16385 is not'],
    ['a gigantic side', `YUV4MPEG2 W64 H${'9'.repeat(100)} F25:1 Ip\n`, 'height 1e+100 is not'],
    ['a rate without denominator', 'YUV4MPEG2 W64 H32 F25 Ip\n', 'frame rate as "25"'],
    ['a bad aspect ratio', 'YUV4MPEG2 W64 H32 F25:1 Ip A1\n', 'sample aspect ratio as "1"'],
    ['nothing but magic', 'YUV4MPEG2\n', 'no width'],
    ['control characters', 'YUV4MPEG2 W6\x1b[2J4 H32 F25:1\n', 'width as "6\\x1b[2J4"'],
  ])('refuses a header with %s', async (_, header, message) => {
    expect(await refusalOf('media', () => parse(header))).toContain(message);
  });

  it('names the line ends of another system', async () => {
    for (const header of ['W64 H32 F25:1 Ip C420jpeg', 'H32 F25:1 Ip W64', 'W64 H32 F25:1 Ip']) {
      const message = await refusalOf('media', () => parse(`YUV4MPEG2 ${header}\r\n`));
      expect(message).toContain('ends in a carriage return and a line feed');
    }
    expect(parse('YUV4MPEG2 W64 H32 F25:1 Ip XYSCSS=420JPEG\r\n').headerBytes).toBe(43);
  });

  it('may have the largest side, unknown rates, aspect ratios and tags, and another version', () => {
    const header = parse('YUV4MPEG2  W16384 H1  F0:0 Ip A0:0 Z9 Xanything C420\n');
    expect(header.format).toMatchObject({ width: 16384, height: 1 });
    expect(header.details).toEqual({ warnings: [] });
    expect(parse('YUV4MPEG3 W64 H32 F25:1 Ip\n').details.warnings.join()).toContain('"YUV4MPEG3"');
  });

  it('means the last of a repeated tag, and 4:2:0 without a tag', () => {
    const { format } = parse('YUV4MPEG2 W64 W48 H32 F25:1 Ip\n');
    expect(format).toEqual({ width: 48, height: 32, chroma: '420', bitDepth: 8 });
  });

  const UNSTATED = 'x.y4m does not state whether it is interlaced; progressive is assumed.';
  it.each<[string, string | undefined, string?]>([
    [' Ip', undefined],
    [' It', 'top-first'],
    [' Ib', 'bottom-first'],
    [' Im', undefined, 'x.y4m mixes interlaced and progressive frames (Im), which are compared as stored.'],
    ...['', ' I?', ' I'].map((tag): [string, undefined, string] => [tag, undefined, UNSTATED]),
  ])('names the first field, or warns (%j)', (tag, fieldOrder, warning) => {
    const { details } = parse(`YUV4MPEG2 W64 H32 F25:1${tag}\n`);
    expect(details.fieldOrder).toBe(fieldOrder);
    expect(details.warnings).toEqual(warning === undefined ? [] : [warning]);
  });

  it('may have 255 bytes before the newline, not one more', async () => {
    const fill = (n: number) => 'YUV4MPEG2 W64 H32 F25:1 Ip X'.padEnd(n, 'a');
    expect(parse(`${fill(255)}\n`).headerBytes).toBe(256);
    await refusalOf('media', () => parse(`${fill(256)}\n`));
  });
});

it.each([
  ['YUV4MPEG2 W1', true],
  ['YUV4', true],
  ['', false],
  ['YUV5MPEG2', false],
  ['yuv4mpeg2', false],
])('%j is Y4M: %s', (text, expected) => {
  expect(isY4m(ascii(text))).toBe(expected);
});

describe('frame header', () => {
  it.each([
    ['FRAME\n....', 6],
    ['FRAME Ip\n...', 9],
    // The line ends at the newline, whatever its sixth byte.
    ['FRAMEX\n', 7],
    [`FRAME ${'a'.repeat(78)}\n`, 85],
    [`FRAME ${'a'.repeat(79)}\n`, 'overlong'],
    ['FRAME abc', 'incomplete'],
    ['FRA', 'incomplete'],
    ['FRAME', 'incomplete'],
    ['', 'end'],
    ['\n\n', 'end'],
    ['FRAMF\n', 'lost'],
    ['\0FRAME\n', 'lost'],
  ])('%j gives %s', (text, expected) => {
    expect(parseFrameHeader(ascii(text).subarray(0, 85))).toBe(expected);
  });

  it('is reported with its frame, place and content', () => {
    const { message } = badFrameHeader('lost', 'x.y4m', 7, 1234, ascii('\0abcdef'));
    const expected = 'frame 7 of x.y4m should start with "FRAME" at byte 1234, found "\\x00abcd" instead';
    expect(message).toContain(expected);
  });
});

describe('10-bit frames of odd width', () => {
  /** As ffmpeg up to 5.1 writes it: each row of chroma lacks its last byte. */
  function video(frames: number, narrow: boolean, width = 17): Uint8Array<ArrayBuffer> {
    const format = { width, height: 16, chroma: '420', bitDepth: 10 } as const;
    const whole = storedFrame(format, 1);
    const luma = 2 * format.width * format.height;
    const row = format.width + 1;
    const start = (i: number) => luma + i * row;
    const rows = Array.from({ length: 16 }, (_, i) => whole.subarray(start(i), start(i + 1) - 1));
    const frame = narrow ? concat(whole.subarray(0, luma), ...rows) : whole;
    const parts = Array.from({ length: frames }, () => [ascii('FRAME\n'), frame]).flat();
    return concat(ascii(`YUV4MPEG2 W${width} H16 F25:1 Ip C420p10\n`), ...parts);
  }

  it.each([1, 2, 3])('of %d frames that lack bytes of chroma are refused with advice', async (frames) => {
    const bytes = video(frames, true);
    const advice = /lack a byte in each row of chroma, which ffmpeg up to 5\.1 drops .* "-f rawvideo"/;
    for (const input of [bytes, new Blob([bytes]).stream()])
      expect((await outcome(input)).at(-1)).toMatch(advice);
  });

  it('are read if they are whole', async () => {
    for (const input of [video(3, false), new Blob([video(3, false)]).stream()])
      expect(await outcome(input)).toHaveLength(5);
  });
});

const SEED = 20460805;
const RUNS = tier(150, 3000);

/** A small valid video, with or without frame parameters. */
function validVideo(random: SeededRandom): { bytes: Uint8Array<ArrayBuffer>; frames: number } {
  const width = random.int(1, 24);
  const height = random.int(1, 24);
  const [tag, chroma, bitDepth] = random.pick([
    ['420', '420', 8],
    ['422p12', '422', 12],
    ['444', '444', 8],
    ['mono', '400', 8],
    ['420p10', '420', 10],
  ] as const);
  const frames = random.int(1, 6);
  const parameters = random.int(0, 2);
  const parts: Uint8Array[] = [ascii(`YUV4MPEG2 W${width} H${height} F25:1 Ip C${tag}\n`)];
  for (let i = 0; i < frames; i++) {
    const text = parameters === 0 ? '' : ` ${'x'.repeat(parameters === 1 ? 5 : random.int(0, 77))}`;
    parts.push(ascii(`FRAME${text}\n`), storedFrame({ width, height, chroma, bitDepth }, i));
  }
  return { bytes: concat(...parts), frames };
}

/** All results of reading: the frames as text, then the end. */
async function outcome(input: VideoInput): Promise<string[]> {
  const seen: string[] = [];
  let source: FrameSource | undefined;
  try {
    source = await openVideo(input, { platform: noFiles, name: 'x' });
    const { width, height } = source.info;
    seen.push(`${width}x${height}`);
    for (let i = 0; ; i++) {
      const planes = await readAll(source, i);
      if (!planes) break;
      seen.push(
        Object.values(planes)
          .map((plane) => Buffer.from(plane).toString('hex'))
          .join('|'),
      );
    }
    seen.push('end');
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    seen.push(`${error.code}: ${error.message}`);
    expect(error.message).not.toMatch(/[\n\r]/);
  } finally {
    await source?.close();
  }
  return seen;
}

it('random Y4M reads the same from the whole, a Blob and any chunks', async () => {
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const random = seeded(seed);
    const { bytes, frames } = validVideo(random);
    const whole = await outcome(bytes);
    expect(whole, `seed ${seed}`).toHaveLength(frames + 2);
    expect(whole.at(-1), `seed ${seed}`).toBe('end');
    const most = random.pick([1, 7, 100, 5000]);
    const chunks = streamOf(bytes, () => random.int(1, most));
    for (const input of [chunks, new Blob([bytes])])
      expect(await outcome(input), `seed ${seed}`).toEqual(whole);
  }
});
