/**
 * @module engine/shards/shard
 * Shards: parts of a run that are measured on any machine and merged into its report. Types, cutting and checks.
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
      `${name} is an object, but not the record of a shard; pass a shard from scoreShard or readShard.`,
    );
}
