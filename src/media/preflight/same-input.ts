/**
 * @module media/preflight/same-input
 * The finding about one file compared with itself or a copy.
 */
import { shown } from '../../core/printable.js';
import type { ByteReader } from '../platform.js';
import { finding } from './text.js';
import type { Finding } from './types.js';

/** An input with random access to its bytes. */
export interface NamedBytes {
  readonly name: string;
  readonly reader: ByteReader;
}

/** Number of places to compare, including the start and the end, and bytes at each. */
const PLACES = 64;
const BYTES = 16 * 1024;

/**
 * Compares a megabyte of each. For larger files, the message claims equality of that part only.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function sameInputFindings(reference: NamedBytes, distorted: NamedBytes): Promise<Finding[]> {
  if (!(await haveSameBytes(reference.reader, distorted.reader))) return [];
  const { name, reader } = reference;
  const where = reader.size > PLACES * BYTES ? ` at all ${PLACES} places that were compared` : '';
  const what =
    name === distorted.name
      ? `reference and distorted are the same file, ${shown(name)}`
      : `reference ${shown(name)} and distorted ${shown(distorted.name)} are of one size and hold the same bytes${where}`;
  return [
    finding(
      'identical',
      'warning',
      `${what}; the score is what the model gives a video that lost nothing, and says nothing of an encode.`,
      [name, distorted.name],
    ),
  ];
}

async function haveSameBytes(a: ByteReader, b: ByteReader): Promise<boolean> {
  if (a.size !== b.size || a.size === 0) return false;
  const last = Math.max(0, a.size - BYTES);
  const places = Math.min(PLACES, Math.ceil(a.size / BYTES));
  const [first, second] = [new Uint8Array(BYTES), new Uint8Array(BYTES)];
  for (let place = 0; place < places; place++) {
    const from = places === 1 ? 0 : Math.round((place * last) / (places - 1));
    const lengths = [await a.read(from, [first]), await b.read(from, [second])] as const;
    const length = Math.min(...lengths);
    for (let i = 0; i < length; i++) if (first[i] !== second[i]) return false;
  }
  return true;
}
