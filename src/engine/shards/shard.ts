/**
 * @module engine/shards/shard
 * Shards, parts of a run that are measured apart, on any machine, and merged to its report: their types, how a run is cut
 * into them, and their checks.
 */

import { isObject, requireObject } from '../../core/arguments.js';
import type { ScoredFormat } from '../../core/colour.js';
import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';
import type { Pairing } from '../../media/pairing/types.js';
import type { Finding } from '../../media/preflight/types.js';
import type { ReportInput, ReportMeasurer } from '../../report/types.js';
import type { TinySessionFacts } from '../backends/tiny.js';
import type { EndOfPair } from '../contract/protocol.js';
import type { ContentIdentity, ScoreOptions } from '../contract/types.js';
import type { ContinuityRules } from '../inputs/continuity.js';
import type { PairLengths } from '../pair/pair.js';
import type { EncodedPictures } from '../plan/model-texts.js';

/** Which part of a run. */
export interface ShardChoice {
  /** From 1 to {@link count}. */
  readonly number: number;
  /** Parts in all, 1..100,000. More parts than frames leave some of them empty. */
  readonly count: number;
}

/** Those options that decide what a run gives, all plain data; the others are each machine's own, and are left out. */
export type ShardOptions = ScoreOptions;

/** Options of measuring a shard. */
export type ScoreShardOptions = Omit<ScoreOptions, 'onStart' | 'onFrame' | 'keep'>;

/** Pairs of a shard, numbered from the first pair of the run. */
export interface ShardPairs {
  readonly first: number;
  /** The pair after the last one that it was to measure. */
  readonly end: number;
  /** Pairs of the whole run, as far as known before it. */
  readonly total: number;
  /** Pairs measured: fewer than asked if a video ended early. */
  readonly measured: number;
  /** Which videos had no more frames; `null` if it stopped where it was to. */
  readonly ended: EndOfPair | null;
}

/** What the shard that inspects the pair knows of the whole run; the last one. */
export interface WholeFacts {
  readonly lengths: PairLengths;
  /** Findings about the pair, without those that need all frames; absent without preflight. */
  readonly findings?: readonly Finding[];
}

/** The partial record of one shard: raw measurements of its pairs, and what belongs to the whole. */
export interface Shard {
  /** Version of anyvmaf that measured. */
  readonly version: string;
  readonly shard: ShardChoice;
  readonly options: ShardOptions;
  /** The format in which pairs are scored; colours are those of {@link reference} and {@link distorted}. */
  readonly format: Omit<ScoredFormat, 'colours'>;
  /** What was encoded, where its pictures are scaled. */
  readonly encode?: EncodedPictures;
  /** SHA-256 of what is measured and of the models that predict. */
  readonly plan: string;
  /** The two files; absent for videos without bytes to look at. */
  readonly files: { readonly reference?: ContentIdentity; readonly distorted?: ContentIdentity };
  readonly reference: ReportInput;
  readonly distorted: ReportInput;
  /** Whether frames are paired or converted, and not compared as stored. */
  readonly planned: boolean;
  readonly pairing?: Pairing;
  readonly pairs: ShardPairs;
  /** Seconds of measuring. */
  readonly seconds: number;
  /** How all frames are checked; absent without preflight. */
  readonly continuity?: ContinuityRules;
  /** What went wrong in looking at the frames for that check. */
  readonly defect?: Finding;
  /** Of the last shard. */
  readonly whole?: WholeFacts;
  /** Full sentences: of opening, of decoding, and of measuring. */
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
  /** Doubles per pair, and those of all pairs in order. */
  readonly fields: number;
  readonly records: Float64Array<ArrayBuffer>;
  /** Signatures of pairs from the first on: 1152 bytes each. Fewer where pictures were not read. */
  readonly signatures: Uint8Array<ArrayBuffer>;
}

/** Options of merging. */
export type MergeOptions = Pick<ScoreOptions, 'origin' | 'signal' | 'onFrame'>;

/** More parts than this are a mistake. */
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
  requireObject(name, value, 'what scoreShard or readShard gives');
  const {
    version,
    shard,
    pairs,
    files,
    reference,
    distorted,
    warnings,
    records,
    signatures,
    sessions,
    options,
  } = value;
  const objects = [shard, pairs, files, reference, distorted, warnings, options];
  const whole =
    typeof version === 'string' &&
    objects.every(isObject) &&
    records instanceof Float64Array &&
    signatures instanceof Uint8Array &&
    Array.isArray(sessions);
  if (!whole)
    throw usageError(
      `${name} is an object, but not the record of a shard; pass what scoreShard or readShard gives.`,
    );
}
