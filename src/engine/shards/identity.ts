/**
 * @module engine/shards/identity
 * Identifies a video file without reading all of it: by size, and a digest of head, tail and places between.
 */
import { AnyvmafError } from '../../core/errors.js';
import { bytesOfInput } from '../../media/open.js';
import { nameOf, type Side } from '../../media/pairing/prepare.js';
import type { ByteReader, FilePlatform } from '../../media/platform.js';
import type { ContentIdentity } from '../contract/types.js';
import type { RunPlan } from '../plan/plan.js';

/** Bytes read at the head and at the tail. */
const ENDS = 64 * 1024;
/** Places between them, and bytes read at each. */
const PLACES = 14;
const PLACE = 4096;

/** Identifies a side's file; `undefined` without readable bytes, as behind a URL. @throws {AnyvmafError} `io` */
export async function contentOf(side: Side, files: FilePlatform): Promise<ContentIdentity | undefined> {
  const input =
    side.kind === 'frames'
      ? side.source
      : { kind: 'encoded' as const, name: nameOf(side), input: side.video.input };
  const bytes = await bytesOfInput(input, files);
  if (!bytes) return undefined;
  try {
    return await identify(bytes.reader);
  } finally {
    bytes.reader.close();
  }
}

async function identify(reader: ByteReader): Promise<ContentIdentity> {
  const { size } = reader;
  const parts: Uint8Array[] = [];
  for (const [start, end] of placesOf(size)) {
    const part = new Uint8Array(end - start);
    parts.push(part.subarray(0, await reader.read(start, [part])));
  }
  return { size, sha256: await sha256(joinBytes(parts)) };
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Parts of a file to read, in order and without overlap. */
function placesOf(size: number): [start: number, end: number][] {
  if (size <= 2 * ENDS + PLACES * PLACE) return [[0, size]];
  const step = Math.floor((size - 2 * ENDS) / (PLACES + 1));
  const between = Array.from({ length: PLACES }, (_, i): [number, number] => {
    const start = Math.max(ENDS, ENDS + (i + 1) * step - PLACE / 2);
    return [start, Math.min(size - ENDS, start + PLACE)];
  });
  return [[0, ENDS], ...between, [size - ENDS, size]];
}

/** Hexadecimal. @throws {AnyvmafError} `usage` in pages without a secure context, which have no digests */
async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!globalThis.crypto?.subtle) {
    throw new AnyvmafError(
      'usage',
      'shards need SHA-256 digests, which browsers compute on https pages only; open this page over https.',
    );
  }
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Equal for runs whose records mean the same and whose models are the same. */
export async function planDigest({ features, models, tiny, metrics }: RunPlan): Promise<string> {
  const { extraction, layout, compat } = features;
  const plain = {
    extraction,
    layout,
    compat,
    metrics,
    models: models.map(({ name, disableClip, enableTransform, members }) => ({
      name,
      disableClip,
      enableTransform,
      members: members.map(({ definition }) => definition),
    })),
    tiny: tiny?.attached.map(({ model }) => [model.sha256, model.manifestSha256]),
  };
  const text = JSON.stringify(plain, (_, value: unknown) =>
    ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value,
  );
  return sha256(new TextEncoder().encode(text));
}
