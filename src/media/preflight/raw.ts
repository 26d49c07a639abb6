/**
 * @module media/preflight/raw
 * The finding that the declared geometry of raw video is doubtful.
 */

import { describeFormat } from '../../core/frame.js';
import { shown } from '../../core/printable.js';
import { BlockReader } from '../block-reader.js';
import type { ByteReader } from '../platform.js';
import { findWrongGeometry } from '../raw-geometry.js';
import type { RawVideoFormat } from '../types.js';
import { finding } from './text.js';
import type { Finding } from './types.js';

/** Other geometries are tried on thousands of rows, of which each read would take a browser milliseconds. */
const BLOCKS = { bytes: 1 << 16, kept: 256 } as const;

/** A raw video with random access to its bytes. */
export interface RawSide {
  readonly role: 'reference' | 'distorted';
  readonly name: string;
  readonly format: RawVideoFormat;
  readonly reader: ByteReader;
}

/**
 * Samples a few rows of each video.
 * @returns a warning if the pictures of one or both look more like another geometry
 * @throws errors of reading
 */
export async function rawFindings(sides: readonly RawSide[]): Promise<Finding[]> {
  const wrong: {
    readonly side: RawSide;
    readonly found: string;
    readonly fits: RawVideoFormat;
  }[] = [];
  for (const side of sides) {
    const looked = await findWrongGeometry(new BlockReader(side.reader, BLOCKS), side.format);
    if (!looked) continue;
    const { fits } = looked;
    wrong.push({ side, fits, found: describeFormat(fits) });
  }
  const [first, second] = wrong;
  if (!first) return [];
  const { found, fits } = first;
  // The user declares one format for both.
  const both = second?.found === found;
  const who = both ? 'both videos' : `${first.side.role} ${shown(first.side.name)}`;
  const value = (role: RawSide['role']) => wrong.find(({ side }) => side.role === role)?.found ?? null;
  return [
    finding(
      'raw-geometry',
      // A guess: test patterns and smooth pictures look so in their right geometry.
      'warning',
      `${who} may not be ${describeFormat(first.side.format)}: read so, neighbouring rows or frames show unrelated ` +
        `things, but read as ${found} they go together.`,
      [value('reference'), value('distorted')],
      { purpose: 'fix', option: 'raw', value: fits },
    ),
  ];
}
