/**
 * @module engine/inputs/byte-findings
 * Findings from the bytes of two inputs before decoding: equal files, or raw video of another geometry.
 */
import { bytesOfInput } from '../../media/open.js';
import type { OpenedInput } from '../../media/pair.js';
import type { ByteReader, FilePlatform } from '../../media/platform.js';
import type { Finding } from '../../media/preflight/types.js';
import type { VideoInfo } from '../../media/types.js';

/** An input with random access to its bytes. */
interface Lent {
  readonly name: string;
  readonly reader: ByteReader;
  /** Format of raw video. */
  readonly raw?: VideoInfo;
}

/**
 * Reads a few megabytes of each at most, and more only of equal files and raw video whose geometry is doubtful.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function findingsOfBytes(
  inputs: readonly [OpenedInput, OpenedInput],
  files: FilePlatform,
): Promise<readonly Finding[]> {
  const lent: (Lent | undefined)[] = [];
  try {
    for (const input of inputs) lent.push(await lend(input, files));
    const [reference, distorted] = lent;
    const findings: Finding[] = [];
    if (reference && distorted && reference.reader.size === distorted.reader.size) {
      const { sameInputFindings } = await import('../../media/preflight/same-input.js');
      findings.push(...(await sameInputFindings(reference, distorted)));
    }
    if (reference?.raw || distorted?.raw) {
      const { rawFindings } = await import('../../media/preflight/raw.js');
      const sides = [rawSide('reference', reference), rawSide('distorted', distorted)];
      findings.push(...(await rawFindings(sides.filter((side) => side !== undefined))));
    }
    return findings;
  } finally {
    for (const each of lent) each?.reader.close();
  }
}

async function lend(input: OpenedInput, files: FilePlatform): Promise<Lent | undefined> {
  const bytes = await bytesOfInput(input, files);
  if (!bytes || 'kind' in input || input.info.container !== 'yuv') return bytes;
  return { ...bytes, raw: input.info };
}

function rawSide(role: 'reference' | 'distorted', lent: Lent | undefined) {
  if (!lent?.raw) return undefined;
  const { name, reader, raw } = lent;
  const { width, height, bitDepth, chroma } = raw;
  return { role, name, format: { width, height, bitDepth, chroma }, reader };
}
