/**
 * @module media/sample-entry
 * What the sample entries of an MP4 say of its tracks before anything is decoded: encryption (ISO/IEC 23001-7), which decoders
 * report as damage, and Dolby Vision, which they do not report.
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
