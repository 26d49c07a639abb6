/**
 * @module engine/shards/shard
 * Shards: parts of a run that are measured on any machine and merged into its report. Types, cutting, checks, and the identity
 * of their videos and plans. A file is identified without reading all of it: by size, and a digest of head, tail and places
 * between.
 */
import { isObject, requireObject } from '../../core/arguments.js';
import type { ScoredFormat } from '../../core/colour.js';
import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';
import { bytesOfInput } from '../../media/open.js';
import { nameOf, type Side } from '../../media/pair.js';
import type { Pairing } from '../../media/pairing/types.js';
import type { Finding } from '../../media/preflight/findings.js';
import type { ByteReader, FilePlatform } from '../../media/types.js';
import type { ReportInput, ReportMeasurer } from '../../report/schema.js';
import type { TinySessionFacts } from '../backends/tiny.js';
import type { EndOfPair } from '../contract/platform.js';
import type { ContentIdentity, ScoreOptions } from '../contract/types.js';
import type { ContinuityRules } from '../inputs/frame-observer.js';
import type { PairLengths } from '../pair/pair.js';
import type { EncodedPictures, RunPlan } from '../plan/plan.js';

/** Which part of a run to measure. */
export interface ShardChoice {
  /** From 1 to {@link count}. */
  readonly number: number;
  /** Parts in all, 1..100,000. More parts than frames leave some of them empty. */
  readonly count: number;
}

/** Options that decide the result, all plain data; options that concern a single machine are left out. */
export type ShardOptions = ScoreOptions;

/** Options for measuring a shard. */
export type ScoreShardOptions = Omit<ScoreOptions, 'onStart' | 'onFrame' | 'keep'>;

/** Pairs of a shard, numbered from the first pair of the run. */
export interface ShardPairs {
  readonly first: number;
  /** The pair after the last one to measure. */
  readonly end: number;
  /** Pairs of the whole run, as far as known before measuring. */
  readonly total: number;
  /** Pairs measured: fewer than requested if a video ended early. */
  readonly measured: number;
  /** Which videos had no more frames; `null` if the shard ended as planned. */
  readonly ended: EndOfPair | null;
}

/** Facts about the whole run, from the last shard, which inspects the pair. */
export interface WholeFacts {
  readonly lengths: PairLengths;
  /** Findings about the pair, without those that need all frames; absent without preflight. */
  readonly findings?: readonly Finding[];
}

/** Record of one shard: raw measurements of its pairs, and facts about the whole run. */
export interface Shard {
  /** Version of anyvmaf that measured. */
  readonly version: string;
  readonly shard: ShardChoice;
  readonly options: ShardOptions;
  /** Format in which pairs are scored; its colours are those of {@link reference} and {@link distorted}. */
  readonly format: Omit<ScoredFormat, 'colours'>;
  /** The encoded pictures, if they are scaled. */
  readonly encode?: EncodedPictures;
  /** SHA-256 of what is measured and of the models that predict. */
  readonly plan: string;
  /** The two files; absent for videos without readable bytes. */
  readonly files: { readonly reference?: ContentIdentity; readonly distorted?: ContentIdentity };
  readonly reference: ReportInput;
  readonly distorted: ReportInput;
  /** Whether frames are paired or converted instead of compared as stored. */
  readonly planned: boolean;
  readonly pairing?: Pairing;
  readonly pairs: ShardPairs;
  /** Seconds spent on measuring. */
  readonly seconds: number;
  /** How all frames are checked; absent without preflight. */
  readonly continuity?: ContinuityRules;
  /** Defect in taking signatures for that check. */
  readonly defect?: Finding;
  /** Last shard only. */
  readonly whole?: WholeFacts;
  /** Full sentences about opening, decoding and measuring. */
  readonly warnings: {
    readonly inputs: readonly string[];
    readonly decoders: readonly string[];
    readonly backend: readonly string[];
  };
  readonly backend_used: string;
  readonly implementation: string;
  readonly threads: number;
  readonly measurers?: readonly ReportMeasurer[];
  /** Sessions of picture models. */
  readonly sessions: readonly TinySessionFacts[];
  /** Doubles per pair, then the doubles of all pairs in order. */
  readonly fields: number;
  readonly records: Float64Array<ArrayBuffer>;
  /** Signatures of pairs from the first on, 1152 bytes each; fewer if pictures were not read. */
  readonly signatures: Uint8Array<ArrayBuffer>;
}

/** Options for merging. */
export type MergeOptions = Pick<ScoreOptions, 'origin' | 'signal' | 'onFrame'>;

/** Larger counts are taken as a mistake. */
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

/** @throws {AnyvmafError} `usage` */
export function requireShard(name: string, value: Shard): void {
  requireObject(name, value, 'a shard from scoreShard or readShard');
  const { version, records, signatures, sessions } = value;
  const objects = ['shard', 'pairs', 'files', 'reference', 'distorted', 'warnings', 'options'] as const;
  const whole =
    typeof version === 'string' &&
    objects.every((key) => isObject(value[key])) &&
    records instanceof Float64Array &&
    signatures instanceof Uint8Array &&
    Array.isArray(sessions);
  if (!whole)
    throw usageError(
      `${name} is an object, but not the record of a shard; pass a shard from scoreShard or readShard.`,
    );
}

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
    throw usageError(
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
