/**
 * @module media/preflight/same-input
 * The finding about one file that was given twice, or two copies of it.
 */
import { shown } from '../../printable.js';
import type { ByteReader } from '../platform.js';
import { finding } from './text.js';
import type { Finding } from './types.js';

/** An input whose bytes can be read anywhere. */
export interface NamedBytes {
  readonly name: string;
  readonly reader: ByteReader;
}

/** Places over a file that are compared, the beginning and the end among them, and bytes at each. */
const PLACES = 64;
const BYTES = 16 * 1024;

/**
 * Compares a megabyte of each at most.
 * @throws {AnyvmafError} `io` when reading fails
 */
export async function sameInputFindings(reference: NamedBytes, distorted: NamedBytes): Promise<Finding[]> {
  if (!(await haveSameBytes(reference.reader, distorted.reader))) return [];
  const { name } = reference;
  const what =
    name === distorted.name
      ? `reference and distorted are the same file, ${shown(name)}`
      : `reference ${shown(name)} and distorted ${shown(distorted.name)} hold the same bytes`;
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
  const step = Math.max(BYTES, (a.size - BYTES) / (PLACES - 1));
  const [first, second] = [new Uint8Array(BYTES), new Uint8Array(BYTES)];
  for (let at = 0; at < a.size; at += step) {
    const from = Math.floor(at);
    const lengths = [await a.read(from, [first]), await b.read(from, [second])] as const;
    const length = Math.min(...lengths);
    for (let i = 0; i < length; i++) if (first[i] !== second[i]) return false;
  }
  return true;
}
