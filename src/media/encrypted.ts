/**
 * @module media/encrypted
 * Detects encrypted MP4 video (ISO/IEC 23001-7) before a decoder reports it as damaged.
 */
import type { ByteReader } from './platform.js';

/** Path of boxes to the sample entries of each track. */
const PATH = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'];

/** Bytes of `stsd` before its first entry. */
const ENTRIES = 8;

/** Most boxes to visit in one box; few precede the index of a fragmented file. */
const MOST_BOXES = 1000;

/** @throws {AnyvmafError} `io` if reading fails */
export function isEncrypted(reader: ByteReader): Promise<boolean> {
  return holds(reader, 0, reader.size, PATH);
}

/** True if an encrypted sample entry exists at the end of a path of boxes. */
async function holds(
  reader: ByteReader,
  from: number,
  end: number,
  [wanted = 'encv', ...further]: readonly string[],
): Promise<boolean> {
  let at = from;
  for (let count = 0; count < MOST_BOXES && at + 8 <= end; count++) {
    const head = new Uint8Array(16);
    const got = await reader.read(at, [head]);
    const view = new DataView(head.buffer);
    const long = view.getUint32(0) === 1;
    const length = long ? Number(view.getBigUint64(8)) : view.getUint32(0) || end - at;
    if (got < 8 || length < 8) return false;
    if (String.fromCharCode(...head.subarray(4, 8)) === wanted) {
      if (wanted === 'encv') return true;
      const body = at + (long ? 16 : 8) + (wanted === 'stsd' ? ENTRIES : 0);
      if (await holds(reader, body, Math.min(at + length, end), further)) return true;
    }
    at += length;
  }
  return false;
}
