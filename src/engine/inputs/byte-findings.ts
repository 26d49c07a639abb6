/**
 * @module engine/inputs/byte-findings
 * Findings from the bytes of two inputs before decoding: a file compared with itself or a copy, or wrong raw geometry.
 */
import { describeFormat } from '../../core/frame.js';
import { shown } from '../../core/printable.js';
import type { OpenedInput } from '../../media/open.js';
import { bytesOfInput } from '../../media/open.js';
import type { Finding } from '../../media/preflight/findings.js';
import { finding } from '../../media/preflight/make.js';
import { findWrongGeometry } from '../../media/raw-geometry.js';
import { BlockReader } from '../../media/readers.js';
import type { ByteReader, FilePlatform, RawVideoFormat, VideoInfo } from '../../media/types.js';

/** An input with random access to its bytes. */
interface ReadableInput {
  readonly name: string;
  readonly reader: ByteReader;
  readonly raw?: VideoInfo;
}

/** Reads a few megabytes at most, more for equal files and doubtful raw video. @throws {AnyvmafError} `io` */
export async function findingsOfBytes(
  inputs: readonly [OpenedInput, OpenedInput],
  files: FilePlatform,
): Promise<readonly Finding[]> {
  const opened: (ReadableInput | undefined)[] = [];
  try {
    for (const input of inputs) opened.push(await openBytes(input, files));
    const [reference, distorted] = opened;
    const same = reference && distorted ? await sameInputFindings(reference, distorted) : [];
    const sides = (['reference', 'distorted'] as const).flatMap((role, i) => {
      const input = opened[i];
      return input?.raw ? { role, name: input.name, reader: input.reader, format: input.raw } : [];
    });
    return [...same, ...(await rawFindings(sides))];
  } finally {
    for (const each of opened) each?.reader.close();
  }
}

async function openBytes(input: OpenedInput, files: FilePlatform): Promise<ReadableInput | undefined> {
  const bytes = await bytesOfInput(input, files);
  if (!bytes || 'kind' in input || input.info.container !== 'yuv') return bytes;
  return { ...bytes, raw: input.info };
}

/** Places to compare, including start and end, and bytes at each. */
const PLACES = 64;
const BYTES = 16 * 1024;

/** Compares at most a megabyte of each; for larger files, the finding claims equality of that part only. */
async function sameInputFindings(reference: ReadableInput, distorted: ReadableInput): Promise<Finding[]> {
  if (!(await haveSameBytes(reference.reader, distorted.reader))) return [];
  const { name, reader } = reference;
  const where = reader.size > PLACES * BYTES ? ` at all ${PLACES} places that were compared` : '';
  const what =
    name === distorted.name
      ? `reference and distorted are the same file, ${shown(name)}`
      : `reference ${shown(name)} and distorted ${shown(distorted.name)} have the same size and content${where}`;
  return [
    finding('identical', 'warning', [name, distorted.name])`
      ${what}; the score is that of a lossless copy and says nothing about an encode.`,
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

/** Read in blocks: the search tries thousands of rows, and a browser takes milliseconds per read. */
const BLOCKS = { bytes: 1 << 16, kept: 256 } as const;

interface RawSide {
  readonly role: 'reference' | 'distorted';
  readonly name: string;
  readonly format: VideoInfo;
  readonly reader: ByteReader;
}

/** Samples a few rows of each video; warns if one or both look more like another geometry. */
async function rawFindings(sides: readonly RawSide[]): Promise<Finding[]> {
  const wrong: { readonly side: RawSide; readonly found: string; readonly fits: RawVideoFormat }[] = [];
  for (const side of sides) {
    const better = await findWrongGeometry(new BlockReader(side.reader, BLOCKS), side.format);
    if (better) wrong.push({ side, fits: better.fits, found: describeFormat(better.fits) });
  }
  const [first, second] = wrong;
  if (!first) return [];
  const { found, fits } = first;
  // Both videos have the one declared format.
  const both = second?.found === found;
  const who = both ? 'both videos' : `${first.side.role} ${shown(first.side.name)}`;
  const value = (role: RawSide['role']) => wrong.find(({ side }) => side.role === role)?.found ?? null;
  const hint = { purpose: 'fix', option: 'raw', value: fits } as const;
  return [
    // A guess: test patterns and smooth pictures look like this in their right geometry.
    finding('raw-geometry', 'warning', [value('reference'), value('distorted')], hint)`
      ${who} may not be ${describeFormat(first.side.format)}: neighbouring rows or frames do not match;
      as ${found} they do.`,
  ];
}
