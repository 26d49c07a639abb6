/**
 * @module media/formats
 * File formats: recognises them by their first bytes, and reads headers and frame positions of YUV4MPEG2 and raw
 * planar YUV.
 */
import { type AnyvmafError, mediaError, usageError } from '../core/errors.js';
import {
  describeFormat,
  formatProblem,
  lumaBytes,
  roundedDownChroma,
  storedChromaSize,
  storedFrameBytes,
  type VideoFormat,
} from '../core/frame.js';
import type { Fraction } from '../core/numbers.js';
import { shown } from '../core/printable.js';
import { convertCommand, incompleteFrame, lostFraming, MediaError, quoted } from './errors.js';
import { latin1, readAt } from './readers.js';
import type { ByteReader, FrameLayout, IncompleteFrame, RawVideoFormat, VideoInfo } from './types.js';

const SNIFF_BYTES = 256;

interface Signature {
  readonly name: string;
  readonly at: number;
  readonly magic: string;
  /** A second sequence that must match. */
  readonly also?: { readonly at: number; readonly magic: string };
}

/** Cannot be decoded without the stream's initialisation segment. */
export const SEGMENT = 'a segment of an MP4 stream';

/** Magic numbers as Latin-1 text. */
const SIGNATURES: readonly Signature[] = [
  { name: 'an MP4 or MOV file', at: 4, magic: 'ftyp' },
  { name: 'a MOV file', at: 4, magic: 'moov' },
  { name: 'a MOV file', at: 4, magic: 'wide' },
  { name: 'a MOV file', at: 4, magic: 'mdat' },
  { name: SEGMENT, at: 4, magic: 'styp' },
  { name: SEGMENT, at: 4, magic: 'sidx' },
  { name: SEGMENT, at: 4, magic: 'moof' },
  { name: 'a Matroska or WebM file', at: 0, magic: '\x1aE\xdf\xa3' },
  { name: 'an AVI file', at: 0, magic: 'RIFF', also: { at: 8, magic: 'AVI ' } },
  { name: 'a WebP image', at: 0, magic: 'RIFF', also: { at: 8, magic: 'WEBP' } },
  { name: 'an IVF file', at: 0, magic: 'DKIF' },
  { name: 'an FLV file', at: 0, magic: 'FLV\x01' },
  { name: 'an Ogg file', at: 0, magic: 'OggS' },
  { name: 'an MXF file', at: 0, magic: '\x06\x0e+4' },
  { name: 'a WMV or ASF file', at: 0, magic: '0&\xb2u\x8ef\xcf\x11' },
  { name: 'an MPEG transport stream', at: 0, magic: 'G', also: { at: 188, magic: 'G' } },
  { name: 'an MPEG transport stream (M2TS)', at: 4, magic: 'G', also: { at: 196, magic: 'G' } },
  { name: 'an MPEG program stream', at: 0, magic: '\0\0\x01\xba' },
  { name: 'an MPEG video stream', at: 0, magic: '\0\0\x01\xb3' },
  { name: 'an H.264 or H.265 stream', at: 0, magic: '\0\0\0\x01' },
  { name: 'an AV1 stream', at: 0, magic: '\x12\0\x0a' },
  { name: 'a PNG image', at: 0, magic: '\x89PNG\r\n\x1a\n' },
  { name: 'a JPEG image', at: 0, magic: '\xff\xd8\xff' },
  { name: 'a GIF image', at: 0, magic: 'GIF8' },
];

/** True for a container's magic number of at least four bytes, which rules out raw video. */
export function isContainer(start: Uint8Array): boolean {
  const { magic = '', also } = signatureOf(start) ?? {};
  return magic.length + (also?.magic.length ?? 0) >= 4 && !/^\0\0/.test(magic);
}

/** The file type with its article, such as `an MP4 or MOV file`. */
export function sniffContent(start: Uint8Array): string | undefined {
  return signatureOf(start)?.name;
}

function signatureOf(start: Uint8Array): Signature | undefined {
  const text = latin1(start.subarray(0, SNIFF_BYTES));
  const matches = (run: { at: number; magic: string }): boolean => text.startsWith(run.magic, run.at);
  return SIGNATURES.find((s) => matches(s) && (s.also === undefined || matches(s.also)));
}

/** 255 bytes and the newline. */
export const STREAM_HEADER_MAX = 256;
/** `FRAME`, one byte, and 79 more up to the newline. */
export const FRAME_HEADER_MAX = 85;
/** `FRAME\n`, without parameters. */
const PLAIN_FRAME_HEADER = 6;
const NEWLINE = 0x0a;

export interface Y4mHeader {
  readonly format: VideoFormat;
  /** Newline included. */
  readonly headerBytes: number;
  /** Bytes of one frame's samples, an alpha plane included. */
  readonly frameBytes: number;
  readonly details: Pick<
    VideoInfo,
    'frameRate' | 'sampleAspect' | 'colorRange' | 'chromaLocation' | 'fieldOrder' | 'warnings'
  >;
}

/** Also true for a shorter file that begins like the magic number. */
export function isY4m(start: Uint8Array): boolean {
  const magic = 'YUV4MPEG';
  return start.length > 0 && magic.startsWith(latin1(start.subarray(0, magic.length)));
}

/**
 * @param start the first {@link STREAM_HEADER_MAX} bytes, or all of shorter data
 * @throws {AnyvmafError} `media`
 */
export function parseY4mHeader(start: Uint8Array, name: string): Y4mHeader {
  const warnings: string[] = [];
  const { end, values } = parseTags(start, name, warnings);
  const width = side(values, 'W', 'width', name);
  const height = side(values, 'H', 'height', name);
  const tag = values.get('C') ?? '420';
  const { alpha, ...sampling } = chroma(tag, name);
  const format: VideoFormat = { width, height, ...sampling };
  if (alpha) warnings.push(`${shown(name)} has alpha, which is ignored.`);
  const problem = formatProblem(format);
  if (problem) throw mediaError(`the Y4M header of ${shown(name)} is not usable: ${problem}.`);

  const frameRate = ratio(values, 'F', 'frame rate', name);
  const sampleAspect = values.has('A') ? ratio(values, 'A', 'sample aspect ratio', name) : undefined;
  const order = fieldOrder(values.get('I'), name, warnings);
  const range = values.get('X')?.toLowerCase();
  return {
    format,
    headerBytes: end + 1,
    frameBytes: storedFrameBytes(format) + (alpha ? lumaBytes(format) : 0),
    details: {
      ...(frameRate && { frameRate }),
      ...(sampleAspect && { sampleAspect }),
      ...(order && { fieldOrder: order }),
      ...(range === 'full' || range === 'limited' ? { colorRange: range } : {}),
      ...(tag === '420mpeg2' && { chromaLocation: 'left' }),
      ...(tag === '420paldv' && { chromaLocation: 'topleft' }),
      warnings,
    },
  };
}

function parseTags(start: Uint8Array, name: string, warnings: string[]) {
  const end = start.subarray(0, STREAM_HEADER_MAX).indexOf(NEWLINE);
  if (end < 0) {
    if (start.length < STREAM_HEADER_MAX)
      throw mediaError(
        `${shown(name)} ends within its Y4M header, after ${start.length} bytes; the file is truncated.`,
      );
    throw mediaError(
      `the Y4M header of ${shown(name)} has no end within ${STREAM_HEADER_MAX} bytes; the file is ` +
        'damaged or not Y4M.',
    );
  }
  const [magic = '', ...tags] = latin1(start.subarray(0, end)).split(' ');
  const last = tags.at(-1) ?? magic;
  // A carriage return in an X tag is harmless.
  if (last.endsWith('\r') && !last.startsWith('X'))
    throw mediaError(
      `the Y4M header of ${shown(name)} ends in a carriage return and a line feed instead of a line feed ` +
        'alone; the file was written or copied as text: create it again, or copy it as binary data.',
    );
  if (magic !== 'YUV4MPEG2')
    warnings.push(
      `${shown(name)} starts with ${quoted(magic)} instead of "YUV4MPEG2"; it is read as YUV4MPEG2 anyway.`,
    );
  const values = new Map<string, string>();
  for (const tag of tags) {
    const letter = tag.charAt(0);
    // The last of repeated tags counts. Of the X tags, only the colour range matters.
    if (letter === 'X') {
      if (tag.startsWith('XCOLORRANGE=')) values.set('X', tag.slice('XCOLORRANGE='.length));
    } else if (letter !== '') {
      values.set(letter, tag.slice(1));
    }
  }
  return { end, values };
}

/**
 * @param start the next {@link FRAME_HEADER_MAX} bytes, or all of shorter data
 * @returns its length; `end`: no further frame; `incomplete`: cut short; `lost`: no header; `overlong`: no newline
 */
export function parseFrameHeader(start: Uint8Array): number | 'end' | 'incomplete' | 'lost' | 'overlong' {
  if (start.length < PLAIN_FRAME_HEADER) {
    // A few stray bytes count as the end unless they begin a frame header.
    return start.length > 0 && isFrame(start) ? 'incomplete' : 'end';
  }
  if (!isFrame(start)) return 'lost';
  const end = start.subarray(0, FRAME_HEADER_MAX).indexOf(NEWLINE);
  if (end >= 0) return end + 1;
  return start.length < FRAME_HEADER_MAX ? 'incomplete' : 'overlong';
}

/** @param position byte at which the header begins, from the start of the data */
export function badFrameHeader(
  kind: 'lost' | 'overlong',
  name: string,
  index: number,
  position: number,
  start: Uint8Array,
): MediaError {
  if (kind === 'lost') return lostFraming(name, index, position, start);
  return new MediaError(
    'damaged',
    index,
    `the header of frame ${index} of ${shown(name)} at byte ${position} has no end within ${FRAME_HEADER_MAX} bytes; ` +
      'the file is damaged.',
  );
}

interface FrameIndex {
  readonly layout: FrameLayout;
  readonly frameCount: number;
  readonly incompleteFrame?: IncompleteFrame;
  /** Bytes after the last frame that are not a frame. */
  readonly strayBytes: number;
}

/**
 * Finds the frames without reading samples. Nearly all writers make frame headers of equal length: a few probes
 * confirm that, and reading a frame verifies its header. Otherwise reads every header.
 * @throws {AnyvmafError} `media` if a frame header is missing
 */
export async function indexFrames(reader: ByteReader, header: Y4mHeader, name: string): Promise<FrameIndex> {
  const start = header.headerBytes;
  const first = await readAt(reader, start, FRAME_HEADER_MAX);
  const frameHeader = parseFrameHeader(first);
  if (typeof frameHeader === 'number') {
    const lost = lostChromaBytes(header.format);
    const next = start + frameHeader + header.frameBytes - lost;
    const found = lost > 0 ? latin1(await readAt(reader, next, Math.min(6, lost))) : '';
    if (lost > 0 && (reader.size === next || (found !== '' && 'FRAME\n'.startsWith(found))))
      throw lostChroma(name, header.format);
    const stride = frameHeader + header.frameBytes;
    const frameCount = Math.floor((reader.size - start) / stride);
    const rest = (reader.size - start) % stride;
    const expected = first.subarray(0, frameHeader);
    if (await equallySpaced(reader, start, stride, frameCount, expected))
      return {
        layout: { start, frameHeader, frameBytes: header.frameBytes },
        frameCount,
        ...(rest > 0 ? { incompleteFrame: partial(frameCount, header, rest - frameHeader) } : {}),
        strayBytes: 0,
      };
  }
  return scanFrames(reader, header, name);
}

/** Bytes missing per frame of Y4M by ffmpeg up to 5.1: one per chroma row above 8 bit with odd widths. */
export function lostChromaBytes(format: VideoFormat): number {
  const { width, bitDepth, chroma } = format;
  if (bitDepth === 8 || width % 2 === 0 || chroma === '444' || chroma === '400') return 0;
  return 2 * storedChromaSize(format).height;
}

export function lostChroma(name: string, { width, bitDepth }: VideoFormat): AnyvmafError {
  return mediaError(
    `the frames of ${shown(name)} lack a byte in each row of chroma, which ffmpeg up to 5.1 drops from ${bitDepth}-bit Y4M of ` +
      `odd width (${width}); write it again with "-f rawvideo" and pass its format, with a newer ffmpeg, or with an even width.`,
  );
}

/** Frames to probe for equal distances, besides the last one and the one after. */
const PROBES = 6;

async function equallySpaced(
  reader: ByteReader,
  start: number,
  stride: number,
  frameCount: number,
  expected: Uint8Array,
): Promise<boolean> {
  // Also probe a truncated frame after the last complete one.
  const probes = new Set([frameCount - 1, frameCount]);
  for (let i = 1; i <= PROBES; i++) probes.add(Math.floor((i * frameCount) / (PROBES + 1)));
  for (const index of probes) {
    if (index < 0) continue;
    const found = await readAt(reader, start + index * stride, expected.length);
    if (found.some((byte, i) => byte !== expected[i])) return false;
  }
  return true;
}

async function scanFrames(reader: ByteReader, header: Y4mHeader, name: string): Promise<FrameIndex> {
  const { headerBytes, frameBytes } = header;
  // Read many small frames at once, but only the headers of large ones.
  const windowBytes = frameBytes < 65536 ? 65536 : FRAME_HEADER_MAX;
  let window = new Uint8Array(0);
  let windowStart = 0;
  const offsets: number[] = [];
  let position = headerBytes;
  let incomplete: IncompleteFrame | undefined;
  let strayBytes = 0;
  for (;;) {
    if (position < windowStart || position + FRAME_HEADER_MAX > windowStart + window.length) {
      window = await readAt(reader, position, windowBytes);
      windowStart = position;
    }
    const bytes = window.subarray(position - windowStart, position - windowStart + FRAME_HEADER_MAX);
    const frameHeader = parseFrameHeader(bytes);
    const left = Math.max(0, reader.size - position);
    if (frameHeader === 'lost' || frameHeader === 'overlong') {
      const mayBeStray = frameHeader === 'lost' && offsets.length > 0;
      if (mayBeStray && (await isStray(reader, position, left, frameBytes))) {
        strayBytes = left;
        break;
      }
      throw badFrameHeader(frameHeader, name, offsets.length, position, bytes);
    }
    if (frameHeader === 'end') {
      strayBytes = left;
      break;
    }
    if (frameHeader === 'incomplete' || left < frameHeader + frameBytes) {
      incomplete = partial(offsets.length, header, frameHeader === 'incomplete' ? 0 : left - frameHeader);
      break;
    }
    offsets.push(position + frameHeader);
    position += frameHeader + frameBytes;
  }
  return {
    layout: { start: headerBytes, frameHeader: 0, frameBytes, offsets: Float64Array.from(offsets) },
    frameCount: offsets.length,
    ...(incomplete ? { incompleteFrame: incomplete } : {}),
    strayBytes,
  };
}

/** True if the last `left` bytes are shorter than a frame and contain no frame header. */
async function isStray(reader: ByteReader, position: number, left: number, frameBytes: number) {
  if (left >= PLAIN_FRAME_HEADER + frameBytes) return false;
  for (let at = 0; at < left; at += SEARCHED - 4) {
    if (latin1(await readAt(reader, position + at, Math.min(SEARCHED, left - at))).includes('FRAME'))
      return false;
  }
  return true;
}

const SEARCHED = 1 << 16;

function partial(index: number, { frameBytes }: Y4mHeader, foundBytes: number): IncompleteFrame {
  return { index, expectedBytes: frameBytes, foundBytes: Math.max(0, foundBytes) };
}

/** @param index absent for a stream */
export function y4mInfo(header: Y4mHeader, name: string, index?: FrameIndex): VideoInfo {
  const warnings = [...header.details.warnings];
  if (index && index.strayBytes > 0)
    warnings.push(`${shown(name)} has ${index.strayBytes} bytes after its last frame, which were ignored.`);
  const info: VideoInfo = {
    name,
    container: 'y4m',
    ...header.format,
    ...header.details,
    frameCount: index ? index.frameCount : null,
    ...(index?.incompleteFrame ? { incompleteFrame: index.incompleteFrame } : {}),
    warnings,
  };
  if (info.frameCount === 0) {
    if (info.incompleteFrame) throw incompleteFrame(info, info.incompleteFrame, []);
    throw mediaError(`${shown(name)} ends after its Y4M header; it holds no frames.`);
  }
  return info;
}

type Sampling = Pick<VideoFormat, 'chroma' | 'bitDepth'> & { alpha?: true };

/** Tags of 8 bits. The first four differ only in chroma siting; ffmpeg writes 420jpeg for unknown siting. */
const CHROMA: ReadonlyMap<string, Sampling> = new Map<string, Sampling>([
  ['420', { chroma: '420', bitDepth: 8 }],
  ['420jpeg', { chroma: '420', bitDepth: 8 }],
  ['420mpeg2', { chroma: '420', bitDepth: 8 }],
  ['420paldv', { chroma: '420', bitDepth: 8 }],
  ['422', { chroma: '422', bitDepth: 8 }],
  ['444', { chroma: '444', bitDepth: 8 }],
  ['444alpha', { chroma: '444', bitDepth: 8, alpha: true }],
  ['mono', { chroma: '400', bitDepth: 8 }],
]);

function chroma(tag: string, name: string): Sampling {
  const known = CHROMA.get(tag);
  if (known) return known;
  if (tag === '411')
    throw mediaError(
      `${shown(name)} is 4:1:1, which is not supported; convert it, which keeps luma unchanged: ` +
        convertCommand(name, '-pix_fmt yuv422p'),
    );
  const [, base, depth] = /^(420p|422p|444p|mono)(9|1[0-6])$/.exec(tag) ?? [];
  const deep = CHROMA.get(base?.replace('p', '') ?? '');
  if (deep) return { ...deep, bitDepth: Number(depth) };
  throw mediaError(
    `${shown(name)} has the unknown chroma tag ${quoted(`C${tag}`)}; supported: 420, 420jpeg, 420mpeg2, ` +
      '420paldv, 422, 444, 444alpha, mono, and 420pN, 422pN, 444pN, monoN with N from 9 to 16. ' +
      `Convert it: ${convertCommand(name, '-pix_fmt yuv420p')}`,
  );
}

function fieldOrder(interlacing: string | undefined, name: string, warnings: string[]) {
  switch (interlacing) {
    case 'p':
      return undefined;
    case undefined:
    case '':
    case '?':
      warnings.push(`${shown(name)} does not state whether it is interlaced; progressive is assumed.`);
      return undefined;
    case 't':
      return 'top-first';
    case 'b':
      return 'bottom-first';
    case 'm':
      warnings.push(
        `${shown(name)} mixes interlaced and progressive frames (Im), which are compared as stored.`,
      );
      return undefined;
    default:
      throw mediaError(
        `${shown(name)} has the unknown interlacing tag ${quoted(`I${interlacing}`)}; expected Ip, It, Ib or Im.`,
      );
  }
}

type Tags = ReadonlyMap<string, string>;

function required(tags: Tags, letter: string, what: string, name: string): string {
  const text = tags.get(letter);
  if (text !== undefined) return text;
  throw mediaError(`the Y4M header of ${shown(name)} has no ${what} (tag ${letter}).`);
}

function side(tags: Tags, letter: string, what: string, name: string): number {
  const text = required(tags, letter, what, name);
  if (/^\d+$/.test(text)) return Number(text);
  throw mediaError(
    `the Y4M header of ${shown(name)} gives the ${what} as ${quoted(text)}, which is not a whole number.`,
  );
}

/** `undefined` for 0:0, which means unknown. */
function ratio(tags: Tags, letter: string, what: string, name: string): Fraction | undefined {
  const text = required(tags, letter, what, name);
  const match = /^(\d{1,10}):(\d{1,10})$/.exec(text);
  if (!match)
    throw mediaError(
      `the Y4M header of ${shown(name)} gives the ${what} as ${quoted(text)}; expected two numbers like ` +
        `${letter === 'F' ? '30000:1001' : '1:1'}.`,
    );
  const [num, den] = [Number(match[1]), Number(match[2])];
  return num > 0 && den > 0 ? { num, den } : undefined;
}

function isFrame(start: Uint8Array): boolean {
  return 'FRAME'.startsWith(latin1(start.subarray(0, 5)));
}

/** @throws {AnyvmafError} `usage` */
export function checkRawFormat(raw: RawVideoFormat): void {
  const problem = formatProblem(raw);
  if (problem) throw usageError(`the given raw format is not usable: ${problem}.`);
}

export function rawLayout(raw: RawVideoFormat): FrameLayout {
  return { start: 0, frameHeader: 0, frameBytes: storedFrameBytes(raw) };
}

/**
 * @param size file size in bytes; `null` for a stream
 * @param start the first bytes, to recognise files that are not raw video
 * @throws {AnyvmafError} `media` if the file is smaller than one frame
 */
export function rawInfo(
  raw: RawVideoFormat,
  name: string,
  size: number | null,
  start: Uint8Array,
): VideoInfo {
  const { width, height, bitDepth, chroma } = raw;
  const looksLike = sniffContent(start);
  const warnings = looksLike
    ? [`${shown(name)} was read as raw YUV as requested, but it looks like ${looksLike}.`]
    : [];
  const info = { name, container: 'yuv', width, height, bitDepth, chroma, warnings } as const;
  if (size === null) return { ...info, frameCount: null };
  const expectedBytes = storedFrameBytes(raw);
  const frameCount = Math.floor(size / expectedBytes);
  const foundBytes = size % expectedBytes;
  if (frameCount === 0) {
    const problem = `${shown(name)} has ${size} bytes, less than one frame of ${describeFormat(raw)} (${expectedBytes} bytes)`;
    const why = looksLike ? `it looks like ${looksLike}, not raw YUV` : roundedDownChroma(raw, size);
    const hint = why ?? ({ purpose: 'check', option: 'raw' } as const);
    throw mediaError(problem, { hints: [hint], file: name });
  }
  return {
    ...info,
    frameCount,
    ...(foundBytes > 0 ? { incompleteFrame: { index: frameCount, expectedBytes, foundBytes } } : {}),
  };
}
