/**
 * @module media/sniff
 * Recognises file types by their first bytes.
 */
import { latin1 } from './readers.js';

const SNIFF_BYTES = 256;

interface Signature {
  readonly name: string;
  readonly at: number;
  readonly magic: string;
  /** Another sequence that must match too. */
  readonly also?: { readonly at: number; readonly magic: string };
}

/** Cannot be decoded without the stream's initialisation segment. */
export const SEGMENT = 'a segment of an MP4 stream';

/** Magic numbers as Latin-1 text. */
const SIGNATURES: readonly Signature[] = [
  { name: 'an MP4 or MOV file', at: 4, magic: 'ftyp' },
  { name: 'a MOV file', at: 4, magic: 'moov' },
  { name: 'a MOV file', at: 4, magic: 'wide' },
  { name: 'a MOV file', at: 4, magic: 'mdat' },
  { name: SEGMENT, at: 4, magic: 'styp' },
  { name: SEGMENT, at: 4, magic: 'sidx' },
  { name: SEGMENT, at: 4, magic: 'moof' },
  { name: 'a Matroska or WebM file', at: 0, magic: '\x1aE\xdf\xa3' },
  { name: 'an AVI file', at: 0, magic: 'RIFF', also: { at: 8, magic: 'AVI ' } },
  { name: 'a WebP image', at: 0, magic: 'RIFF', also: { at: 8, magic: 'WEBP' } },
  { name: 'an IVF file', at: 0, magic: 'DKIF' },
  { name: 'an FLV file', at: 0, magic: 'FLV\x01' },
  { name: 'an Ogg file', at: 0, magic: 'OggS' },
  { name: 'an MXF file', at: 0, magic: '\x06\x0e+4' },
  { name: 'a WMV or ASF file', at: 0, magic: '0&\xb2u\x8ef\xcf\x11' },
  { name: 'an MPEG transport stream', at: 0, magic: 'G', also: { at: 188, magic: 'G' } },
  { name: 'an MPEG transport stream (M2TS)', at: 4, magic: 'G', also: { at: 196, magic: 'G' } },
  { name: 'an MPEG program stream', at: 0, magic: '\0\0\x01\xba' },
  { name: 'an MPEG video stream', at: 0, magic: '\0\0\x01\xb3' },
  { name: 'an H.264 or H.265 stream', at: 0, magic: '\0\0\0\x01' },
  { name: 'an AV1 stream', at: 0, magic: '\x12\0\x0a' },
  { name: 'a PNG image', at: 0, magic: '\x89PNG\r\n\x1a\n' },
  { name: 'a JPEG image', at: 0, magic: '\xff\xd8\xff' },
  { name: 'a GIF image', at: 0, magic: 'GIF8' },
];

/** True for a container's magic number of at least four bytes, which rules out raw video. */
export function isContainer(start: Uint8Array): boolean {
  const found = signatureOf(start);
  return (
    found !== undefined &&
    found.magic.length + (found.also?.magic.length ?? 0) >= 4 &&
    !/^\0\0/.test(found.magic)
  );
}

/** The file type with its article (`an MP4 or MOV file`), or `undefined`. */
export function sniffContent(start: Uint8Array): string | undefined {
  return signatureOf(start)?.name;
}

function signatureOf(start: Uint8Array): Signature | undefined {
  const text = latin1(start.subarray(0, SNIFF_BYTES));
  const matches = (run: { at: number; magic: string }): boolean => text.startsWith(run.magic, run.at);
  return SIGNATURES.find((s) => matches(s) && (s.also === undefined || matches(s.also)));
}
