/**
 * @module media/encrypted
 * Whether the video of an MP4 is encrypted (ISO/IEC 23001-7), before a decoder takes the cipher for damage.
 */
import type { ByteReader } from './platform.js';

/** The way to the sample entries of each track. */
const PATH = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'];

/** Bytes of `stsd` before its first entry. */
const ENTRIES = 8;

/** Boxes looked at in one box at most: what comes before the index of a fragmented file is little. */
const MOST_BOXES = 1000;

/** @throws {AnyvmafError} `io` when reading fails */
export function isEncrypted(reader: ByteReader): Promise<boolean> {
  return holds(reader, 0, reader.size, PATH);
}

/** Whether a sample entry of encrypted video is at the end of a path of boxes. */
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
