/**
 * @module media/file-notes
 * What a file says of its video before anything is decoded. The sample entries of an MP4: encryption (ISO/IEC 23001-7), which
 * decoders report as damage, and Dolby Vision, which they do not report. Alpha that is coded apart from the pictures, which
 * decoders leave out. A stream: how x264 and x265 encoded it.
 */
import type { ByteReader } from './platform.js';

/** Path of boxes to the sample entries of each track. */
const PATH = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'].map((type) => [type]);

/** Sample entries of video that may be Dolby Vision. */
const VISUAL = ['hvc1', 'hev1', 'dvh1', 'dvhe', 'avc1', 'avc3', 'dva1', 'dvav', 'av01', 'dav1'];

/** Its configuration record, by profile. */
const DOLBY_VISION = ['dvcC', 'dvvC', 'dvwC'];

/** Bytes of fields in a box before the boxes in it. */
const FIELDS: Readonly<Record<string, number>> = {
  stsd: 8,
  ...Object.fromEntries(VISUAL.map((type) => [type, 78])),
};

/** Most boxes to visit in one box; few precede the index of a fragmented file. */
const MOST_BOXES = 1000;

/** @throws {AnyvmafError} `io` if reading fails */
export async function isEncrypted(reader: ByteReader): Promise<boolean> {
  return (await find(reader, 0, reader.size, [...PATH, ['encv']])) !== undefined;
}

/**
 * The profile of Dolby Vision; `undefined` of other video.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function dolbyVisionProfile(reader: ByteReader): Promise<number | undefined> {
  const at = await find(reader, 0, reader.size, [...PATH, VISUAL, DOLBY_VISION]);
  if (at === undefined) return undefined;
  const record = new Uint8Array(3);
  // Two bytes of a version, then seven bits of the profile.
  return (await reader.read(at, [record])) === 3 ? (record[2] ?? 0) >> 1 : undefined;
}

/** The items of an AVIF or HEIF file, or the tracks of a WebM file, are described within so many bytes. */
const DESCRIBED = 4096;
/** What an item of alpha is called (ISO/IEC 23008-12), and Matroska's AlphaMode 1. */
const ALPHA_APART = ['urn:mpeg:mpegB:cicp:systems:auxiliary:alpha', '\x53\xc0\x81\x01'];

/**
 * Whether a file has alpha in an item or in blocks of its own: AVIF, or VP8 and VP9 in WebM.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function hasAlphaApart(reader: ByteReader): Promise<boolean> {
  const start = new Uint8Array(DESCRIBED);
  const text = String.fromCharCode(...start.subarray(0, await reader.read(0, [start])));
  return ALPHA_APART.some((sign) => text.includes(sign));
}

/** Where the content of the first box at the end of a path lies, of which each step may be one of several types. */
async function find(
  reader: ByteReader,
  from: number,
  end: number,
  [wanted = [], ...further]: readonly (readonly string[])[],
): Promise<number | undefined> {
  let at = from;
  for (let count = 0; count < MOST_BOXES && at + 8 <= end; count++) {
    const head = new Uint8Array(16);
    const got = await reader.read(at, [head]);
    const view = new DataView(head.buffer);
    const long = view.getUint32(0) === 1;
    const length = long ? Number(view.getBigUint64(8)) : view.getUint32(0) || end - at;
    if (got < 8 || length < 8) return undefined;
    const type = String.fromCharCode(...head.subarray(4, 8));
    if (wanted.includes(type)) {
      const content = at + (long ? 16 : 8);
      if (further.length === 0) return content;
      const body = content + (FIELDS[type] ?? 0);
      const found = await find(reader, body, Math.min(at + length, end), further);
      if (found !== undefined) return found;
    }
    at += length;
  }
  return undefined;
}

/** Bytes at the start of a file to look at: the note stands before the first picture, behind an index at most. */
const LOOKED_AT = 512 * 1024;

/** What presets and tunes decide on, the most telling first; not what follows from rate, picture size or machine. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
  x264: [
    ...['subme', 'ref', 'me', 'trellis', 'bframes', 'b_adapt', 'rc_lookahead', 'weightp'],
    ...['8x8dct', 'cabac', 'psy_rd', 'aq', 'deblock', 'keyint'],
  ],
  x265: [
    ...['rd', 'subme', 'ref', 'me', 'bframes', 'b-adapt', 'rc-lookahead', 'ctu', 'limit-refs', 'max-merge'],
    ...[
      'rdoq-level',
      'rect',
      'amp',
      'sao',
      'psy-rd',
      'psy-rdoq',
      'aq-mode',
      'aq-strength',
      'deblock',
      'keyint',
    ],
  ],
};

/**
 * The settings of an encode that decide on its curve of quality over rate: `x264 subme=8 ref=5 ...`.
 * @returns `undefined` where the file does not say
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function encoderSettings(reader: ByteReader): Promise<string | undefined> {
  const buffer = new Uint8Array(Math.min(LOOKED_AT, reader.size));
  const start = buffer.subarray(0, await reader.read(0, [buffer]));
  return settingsIn(new TextDecoder('latin1').decode(start));
}

/** @param text bytes as Latin-1 */
function settingsIn(text: string): string | undefined {
  const [, encoder = '', options] = /(x26[45]) [-(][ -~]{1,300}? options: ([ -~]+)/.exec(text) ?? [];
  const given = new Map(options?.split(' ').map((one) => [one.split('=', 1)[0], one]));
  const known = TELLING[encoder]?.flatMap((name) => given.get(name) ?? []) ?? [];
  return known.length > 0 ? [encoder, ...known].join(' ') : undefined;
}
