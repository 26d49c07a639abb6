/**
 * @module engine/shards/shard
 * Shards: parts of a run, measured on any machines and merged into one report. Cutting, checks, and the identity of videos and
 * plans. A file's identity is its size and a digest of head, tail and places between.
 */
import { requireObject } from '../../core/arguments.js';
import { hexDigest, joinBytes } from '../../core/bytes.js';
import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';
import { bytesOfInput } from '../../media/open.js';
import { nameOf, type Side } from '../../media/pair.js';
import type { ByteReader, FilePlatform } from '../../media/types.js';
import type { ContentIdentity, ScoreOptions } from '../contract/types.js';
import type { RunPlan } from '../plan/plan.js';
import type { ShardChoice } from './shard-file.js';

/** Options for measuring a shard. */
export type ScoreShardOptions = Omit<ScoreOptions, 'onStart' | 'onFrame' | 'keep'>;

/** Options for merging. */
export type MergeOptions = Pick<ScoreOptions, 'origin' | 'signal' | 'onFrame'>;

/** Larger counts are probably mistakes. */
const MAX_SHARDS = 100_000;

/** @throws {AnyvmafError} `usage` */
export function checkShard(shard: ShardChoice): void {
  requireObject('shard', shard, 'an object such as { number: 2, count: 7 }');
  const { number, count } = shard;
  const whole = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 1;
  if (whole(count) && whole(number) && number <= count && count <= MAX_SHARDS) return;
  throw usageError(
    `shard is ${showValue(shard)}, but it must be a number and a count, such as { number: 2, count: 7 }: the number from ` +
      `1 to the count, which is at most ${MAX_SHARDS}.`,
  );
}

/** The pairs of a shard. Sizes differ by one at most; the last shard is never empty. */
export function cutShard({ number, count }: ShardChoice, total: number): { first: number; end: number } {
  const cut = (n: number) => Number((BigInt(n) * BigInt(total)) / BigInt(count));
  return { first: cut(number - 1), end: cut(number) };
}

/** Bytes to read at the head and at the tail. */
const ENDS = 64 * 1024;
/** Places between them, and bytes to read at each. */
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
  return { size, sha256: await digestOf(joinBytes(parts)) };
}

/** Parts of a file to read, in order, without overlap. */
function placesOf(size: number): [start: number, end: number][] {
  if (size <= 2 * ENDS + PLACES * PLACE) return [[0, size]];
  const step = Math.floor((size - 2 * ENDS) / (PLACES + 1));
  const between = Array.from({ length: PLACES }, (_, i): [number, number] => {
    const start = Math.max(ENDS, ENDS + (i + 1) * step - PLACE / 2);
    return [start, Math.min(size - ENDS, start + PLACE)];
  });
  return [[0, ENDS], ...between, [size - ENDS, size]];
}

/** @throws {AnyvmafError} `usage` in pages without a secure context, where digests are missing */
function digestOf(data: string | Uint8Array): Promise<string> {
  const needs =
    'shards need SHA-256 digests, which browsers compute on https pages only; open this page over https.';
  return hexDigest(data, usageError(needs));
}

/** Equal for runs with the same models and the same meaning of records. */
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
  return digestOf(text);
}
