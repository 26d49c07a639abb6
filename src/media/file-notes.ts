/**
 * @module media/file-notes
 * Reads facts that decoders miss: encryption (ISO/IEC 23001-7) and Dolby Vision in MP4, separate alpha, settings of
 * x264 and x265, and truncation between two frames.
 */
import { boxesOf } from './mp4-times.js';
import { latin1, readAt } from './readers.js';
import type { ByteReader } from './types.js';

/** Box types from the file down to the sample entries of each track. */
const PATH = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'].map((type) => [type]);

/** Video sample entries that may be Dolby Vision. */
const VISUAL = ['hvc1', 'hev1', 'dvh1', 'dvhe', 'avc1', 'avc3', 'dva1', 'dvav', 'av01', 'dav1'];
/** Dolby Vision configuration records, by ranges of profiles. */
const DOLBY_VISION = ['dvcC', 'dvvC', 'dvwC'];

/** Bytes of a box's fields before its child boxes. */
const FIELDS: Readonly<Record<string, number>> = {
  stsd: 8,
  ...Object.fromEntries(VISUAL.map((type) => [type, 78])),
};

/** Per parent box, of which few precede the index of a fragmented file, and in all. */
const MOST_BOXES = 1000;
const MOST_IN_ALL = 20_000;

/** @throws {AnyvmafError} `io` if reading fails */
export async function isEncrypted(reader: ByteReader): Promise<boolean> {
  return (await find(reader, 0, reader.size, [...PATH, ['encv']])) !== undefined;
}

/** @throws {AnyvmafError} `io` if reading fails */
export async function dolbyVisionProfile(reader: ByteReader): Promise<number | undefined> {
  const at = await find(reader, 0, reader.size, [...PATH, VISUAL, DOLBY_VISION]);
  if (at === undefined) return undefined;
  // Two bytes of version, then seven bits of profile.
  const [, , profile] = await readAt(reader, at, 3);
  return profile === undefined ? undefined : profile >> 1;
}

/** Bytes from the start that describe the items of AVIF or HEIF, or the tracks of WebM. */
const DESCRIBED = 4096;
/** Alpha item (ISO/IEC 23008-12), and Matroska's AlphaMode 1. */
const ALPHA_APART = ['urn:mpeg:mpegB:cicp:systems:auxiliary:alpha', '\x53\xc0\x81\x01'];

/**
 * True for alpha in an item of AVIF, or in extra blocks of VP8 and VP9 in WebM.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function hasAlphaApart(reader: ByteReader): Promise<boolean> {
  const text = latin1(await readAt(reader, 0, DESCRIBED));
  return ALPHA_APART.some((sign) => text.includes(sign));
}

/** Position of the content of the first box on a path, which allows several types at each step. */
async function find(
  reader: ByteReader,
  from: number,
  end: number,
  [wanted = [], ...further]: readonly (readonly string[])[],
  left = { boxes: MOST_IN_ALL },
): Promise<number | undefined> {
  for await (const { type, at, length, head } of boxesOf(reader, from, end, MOST_BOXES)) {
    if (--left.boxes < 0) return undefined;
    if (!wanted.includes(type)) continue;
    const content = at + head;
    if (further.length === 0) return content;
    const body = content + (FIELDS[type] ?? 0);
    const found = await find(reader, body, Math.min(at + length, end), further, left);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Bytes from the start to search: the settings come before the first picture, after an index at most. */
const LOOKED_AT = 512 * 1024;

/** Options that presets and tunes decide, most significant first; none that depend on rate, size or machine. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
  x264: [
    ...['subme', 'ref', 'me', 'trellis', 'bframes', 'b_adapt', 'rc_lookahead', 'weightp'],
    ...['8x8dct', 'cabac', 'psy_rd', 'aq', 'deblock', 'keyint'],
  ],
  x265: [
    ...['rd', 'subme', 'ref', 'me', 'bframes', 'b-adapt', 'rc-lookahead', 'ctu', 'limit-refs', 'max-merge'],
    ...['rdoq-level', 'rect', 'amp', 'sao', 'psy-rd', 'psy-rdoq', 'aq-mode', 'aq-strength'],
    ...['deblock', 'keyint'],
  ],
};

/**
 * Settings that determine the rate-quality curve: `x264 subme=8 ref=5 ...`; `undefined` if not recorded.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function encoderSettings(reader: ByteReader): Promise<string | undefined> {
  const text = latin1(await readAt(reader, 0, Math.min(LOOKED_AT, reader.size)));
  const [, encoder = '', options] = /(x26[45]) [-(][ -~]{1,300}? options: ([ -~]+)/.exec(text) ?? [];
  const given = new Map(options?.split(' ').map((option) => [option.split('=', 1)[0], option]));
  const known = TELLING[encoder]?.flatMap((name) => given.get(name) ?? []) ?? [];
  return known.length > 0 ? [encoder, ...known].join(' ') : undefined;
}

/** Most boxes, elements or chunks to skip; live recordings have many. */
const MOST_STEPS = 20_000;
/** Bytes of an MP4's segment index. */
const MOST_INDEX = 1 << 20;
const OGG_PAGE = 65_307;

/**
 * Checks the end of MP4, MOV, Matroska, WebM, AVI, Ogg and MPEG transport streams.
 * @returns what is missing, such as `found only 1024 of 4096 bytes of the mdat box`
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function findCutOff(reader: ByteReader): Promise<string | undefined> {
  const start = await readAt(reader, 0, 400);
  const text = latin1(start);
  if (text.startsWith('\x1aE\xdf\xa3')) return matroska(reader);
  if (/^(?:ftyp|moov|wide|mdat|styp)/.test(text.slice(4))) return boxes(reader);
  if (text.startsWith('RIFF') && text.startsWith('AVI ', 8)) return riff(reader);
  if (text.startsWith('OggS')) return ogg(reader);
  if (text[0] === 'G' && text[188] === 'G' && text[376] === 'G') return packets(reader, 188, 0);
  if (text[4] === 'G' && text[196] === 'G' && text[388] === 'G') return packets(reader, 192, 4);
  return undefined;
}

/** ISO/IEC 14496-12: a sequence of boxes. Segment indexes state the size of the segments after them. */
async function boxes(reader: ByteReader): Promise<string | undefined> {
  const { size } = reader;
  for await (const { type, at, length } of boxesOf(reader, 0, size, MOST_STEPS)) {
    // Boxes have printable types.
    if (!/^[\w \xa9-]{4}$/.test(type)) return undefined;
    if (at + length > size) return missing(`the ${type} box`, length, size - at);
    if (type !== 'sidx') continue;
    const named = at + length + indexed(await readAt(reader, at, Math.min(length, MOST_INDEX)));
    if (named > size) return missing('the segments in its index', named, size);
  }
  return undefined;
}

/** Bytes of the segments in a segment index; 0 if unreadable. */
function indexed(box: Uint8Array): number {
  const view = viewOf(box);
  const version = box[8];
  const fields = version === 0 ? 20 : 20 + 4;
  const table = fields + (version === 0 ? 8 : 12) + 4;
  if (box.length < table) return 0;
  const count = view.getUint16(table - 2);
  if (box.length < table + 12 * count) return 0;
  let bytes = version === 0 ? view.getUint32(24) : Number(view.getBigUint64(28));
  for (let i = 0; i < count; i++) bytes += view.getUint32(table + 12 * i) & 0x7fffffff;
  return bytes;
}

const EBML = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
/** Children of a segment, and of a cluster of unknown size. */
const ELEMENTS = new Set([
  ...[CLUSTER, 0x114d9b74, 0x1549a966, 0x1654ae6b, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367],
  ...[0xec, 0xbf, 0xe7, 0xa3, 0xa0, 0xab, 0xa7, 0x5854],
]);

/** RFC 8794 and 9559: checks the segment if its size is known, else (in live recordings) the last element. */
async function matroska(reader: ByteReader): Promise<string | undefined> {
  const { size } = reader;
  let at = 0;
  for (let step = 0; step < MOST_STEPS && at < size; step++) {
    const head = await readAt(reader, at, 12);
    const id = variable(head, 0, true);
    const length = id && variable(head, id.bytes, false);
    // A complete file ends with a complete element.
    if (!id || !length)
      return at + head.length === size && head.length < 12 ? 'it ends within an element' : undefined;
    if (id.value !== EBML && id.value !== SEGMENT && !ELEMENTS.has(id.value)) return undefined;
    at += id.bytes + length.bytes;
    const unbounded = length.value === 2 ** (7 * length.bytes) - 1;
    if (unbounded && id.value !== SEGMENT && id.value !== CLUSTER) return undefined;
    if (unbounded) continue;
    if (at + length.value > size) {
      const element =
        id.value === SEGMENT ? 'its segment' : id.value === CLUSTER ? 'its last cluster' : 'its last element';
      return missing(element, length.value, size - at);
    }
    at += length.value;
  }
  return undefined;
}

/** An EBML integer of one to eight bytes; `marked` keeps the length marker, as identifiers do. */
function variable(bytes: Uint8Array, at: number, marked: boolean) {
  const first = bytes[at];
  if (first === undefined || first === 0) return undefined;
  const count = Math.clz32(first) - 23;
  if (at + count > bytes.length) return undefined;
  let value = marked ? first : first & (0xff >> count);
  for (const byte of bytes.subarray(at + 1, at + count)) value = value * 256 + byte;
  return { value, bytes: count };
}

/** RIFF chunks; long AVI files have several. Interrupted recorders leave no valid size. */
async function riff(reader: ByteReader): Promise<string | undefined> {
  const { size } = reader;
  let at = 0;
  for (let step = 0; step < MOST_STEPS && at + 12 <= size; step++) {
    const head = await readAt(reader, at, 12);
    if (latin1(head.subarray(0, 4)) !== 'RIFF') return undefined;
    const length = viewOf(head).getUint32(4, true);
    if (length < 4 || length >= 0xfffffff0) return undefined;
    if (at + 8 + length > size) return missing('the RIFF chunk', length, size - at - 8);
    at += 8 + length + (length & 1);
  }
  return undefined;
}

/** RFC 3533: checks the last page, whose header states its length. */
async function ogg(reader: ByteReader): Promise<string | undefined> {
  const from = Math.max(0, reader.size - OGG_PAGE);
  const tail = await readAt(reader, from, reader.size - from);
  const page = tail.subarray(Math.max(0, latin1(tail).lastIndexOf('OggS')));
  const segments = page[26];
  if (segments === undefined || page.length < 27 + segments) return 'it ends within a page header';
  const length = page.subarray(27, 27 + segments).reduce((sum, bytes) => sum + bytes, 27 + segments);
  return length > page.length ? missing('its last page', length, page.length) : undefined;
}

/** ISO/IEC 13818-1: packets of fixed length that begin with a sync byte; their number is unknown. */
async function packets(reader: ByteReader, length: number, sync: number): Promise<string | undefined> {
  const rest = reader.size % length;
  if (rest === 0) return undefined;
  // After lost packets or foreign data, the remainder proves nothing.
  const [last] = await readAt(reader, reader.size - rest - length + sync, 1);
  return last === 0x47 ? missing('its last packet', length, rest) : undefined;
}

function missing(what: string, expected: number, found: number): string {
  return `found only ${found} of ${expected} bytes of ${what}`;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
