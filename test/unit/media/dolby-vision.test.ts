/**
 * @module test/unit/media/dolby-vision
 * Dolby Vision and film grain: found in a file, and what preflight and the verdict make of it.
 */
import { describe, expect, it } from 'vitest';
import { dolbyVisionProfile, isEncrypted } from '../../../src/media/file-notes.js';
import { preflight } from '../../../src/media/preflight/index.js';
import type { SideFacts } from '../../../src/media/preflight/types.js';
import { bytesReader } from '../../../src/media/readers.js';
import { trustOf } from '../../../src/report/trust.js';
import { ascii, concat } from '../../support/media.js';

function box(type: string, ...body: Uint8Array[]): Uint8Array {
  const content = concat(...body);
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, 8 + content.length);
  return concat(head, ascii(type), content);
}

/** An index whose only sample entry is `entry`. */
function file(entry: Uint8Array): Uint8Array {
  const stsd = box('stsd', new Uint8Array(8), entry);
  return concat(
    box('ftyp', ascii('isom')),
    box('moov', box('mvhd'), box('trak', box('tkhd'), box('mdia', box('minf', box('stbl', stsd))))),
  );
}

/** A visual sample entry with a configuration record of Dolby Vision. */
const entry = (type: string, record: string, profile: number) =>
  box(
    type,
    new Uint8Array(78),
    box('hvcC', new Uint8Array(23)),
    box(record, Uint8Array.of(1, 0, profile << 1, 0)),
  );

describe('the profile of Dolby Vision', () => {
  it.each([
    ['dvh1', 'dvcC', 5],
    ['hev1', 'dvcC', 7],
    ['hvc1', 'dvvC', 8],
    ['av01', 'dvvC', 10],
  ])('is read from the entry %s with %s: %i', async (type, record, profile) => {
    const reader = bytesReader(file(entry(type, record, profile)));
    expect(await dolbyVisionProfile(reader)).toBe(profile);
    expect(await isEncrypted(reader)).toBe(false);
  });

  it.each([
    ['without a record', file(box('hvc1', new Uint8Array(78), box('hvcC', new Uint8Array(23))))],
    ['of sound', file(box('mp4a', new Uint8Array(90)))],
    ['that is cut off', file(entry('dvh1', 'dvcC', 5)).subarray(0, -3)],
    ['that is noise', Uint8Array.from({ length: 400 }, (_, i) => (i * 131) % 256)],
  ])('is none of a file %s', async (_, bytes) => {
    expect(await dolbyVisionProfile(bytesReader(bytes))).toBeUndefined();
  });
});

const side: SideFacts = {
  name: 'a.mp4',
  width: 1920,
  height: 1080,
  bitDepth: 10,
  chroma: '420',
  frameCount: 50,
  codec: 'hevc',
  colorRange: 'limited',
};
const found = (reference: Partial<SideFacts>, distorted: Partial<SideFacts>) => {
  const findings = preflight({ ...side, ...reference }, { ...side, ...distorted });
  return [findings.map(({ code }) => code), trustOf({ preflight: findings }).verdict];
};

describe('a pair', () => {
  const pq = { transfer: 'smpte2084' };
  const five = { dolbyVision: 5 };
  const eight = { ...pq, dolbyVision: 8 };

  it.each<[string, Partial<SideFacts>, Partial<SideFacts>, string[], string]>([
    ['profile 5 against PQ', five, pq, ['dolby-vision'], 'untrusted'],
    ['standard dynamic range against profile 5', { transfer: 'bt709' }, five, ['dolby-vision'], 'untrusted'],
    ['profile 5 against profile 8', five, eight, ['dolby-vision'], 'untrusted'],
    ['profile 5 against itself', five, five, ['hdr'], 'doubtful'],
    ['profile 8 against its base layer', eight, pq, ['hdr'], 'doubtful'],
  ])('of %s', (_, reference, distorted, codes, verdict) => {
    expect(found(reference, distorted)).toEqual([codes, verdict]);
  });

  it('whose encode has its grain added is told so', () => {
    const plain = { transfer: 'bt709', codec: 'av1' };
    expect(found(plain, { ...plain, filmGrain: 'added' as const })).toEqual([['film-grain'], 'fine']);
    expect(found({ ...plain, filmGrain: 'added' as const }, plain)).toEqual([[], 'fine']);
  });
});
