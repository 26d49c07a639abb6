/**
 * @module engine/shards/shard-file
 * Reads and writes shard records (docs/many-machines.md): JSON, with the doubles of all pairs in base64.
 */
import { isObject, requireObject, requireText } from '../../core/arguments.js';
import { fromBase64, toBase64 } from '../../core/bytes.js';
import { CHROMA_FORMATS } from '../../core/choices.js';
import type { ScoredFormat } from '../../core/colour.js';
import { type AnyvmafError, type Hint, ioError, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { PAIR_BYTES } from '../../media/align/thumbnail.js';
import type { Pairing } from '../../media/pairing/types.js';
import type { Finding } from '../../media/preflight/findings.js';
import {
  choice,
  entriesOf,
  flag,
  fraction,
  integer,
  type Kind,
  keyOf,
  kindOf,
  list,
  named,
  nullable,
  number,
  object,
  objectOf,
  openChoice,
  optional,
  set,
  size,
  text,
  type ValueOf,
  verbatim,
} from '../../report/kinds.js';
import type { ReportInput, ReportMeasurer } from '../../report/schema.js';
import { finding, input, measurer, pairing } from '../../report/schema.js';
import { pretty } from '../../report/write.js';
import type { TinySessionFacts } from '../backends/tiny.js';
import type { EndOfPair } from '../contract/platform.js';
import type { ContentIdentity, ScoreOptions } from '../contract/types.js';
import type { ContinuityRules } from '../inputs/frame-observer.js';
import type { PairLengths } from '../pair/pair.js';
import type { EncodedPictures } from '../plan/plan.js';

const FORMAT = 'anyvmaf-shard';
/** Version of the file's layout; others are refused. */
const FORMAT_VERSION = 1;

const PURPOSES: readonly Hint['purpose'][] = ['fix', 'accept', 'omit', 'prepare'];

/** A finding with its hint, which reports omit. */
const found: Kind<Finding> = {
  ...finding,
  json: (value, write) => ({
    map: [
      ...entriesOf(finding.fields, value, write),
      ...(value.hint ? ([['hint', JSON.stringify(value.hint)]] as const) : []),
    ],
  }),
  read: (value) => {
    const known = finding.read(value);
    const hint = isObject(value) ? value.hint : undefined;
    return known && { ...known, ...(isHint(hint) && { hint }) };
  },
};

function isHint(value: unknown): value is Hint {
  return isObject(value) && PURPOSES.some((purpose) => purpose === value.purpose);
}

const identity = objectOf<ContentIdentity>({ size: integer, sha256: text });

const session = objectOf<TinySessionFacts>({
  name: text,
  runtime: openChoice<TinySessionFacts['runtime']>(),
  device: openChoice<TinySessionFacts['device']>(),
  adapter: optional(text),
  threads: optional(integer),
  notes: list(text),
  content: optional(
    objectOf<NonNullable<TinySessionFacts['content']>>({ frames: integer, flat: integer, noise: integer }),
  ),
});

const bothEnds = objectOf<EndOfPair>({ reference: flag, distorted: flag });
const ended = kindOf<EndOfPair | null>('ended', {
  json: (value, write) => (value === null ? 'null' : bothEnds.json(value, write)),
  read: (value) => (value === null ? null : bothEnds.read(value)),
});

const bytes64 = kindOf<Uint8Array<ArrayBuffer>>('base64', {
  json: (value) => `"${toBase64(value)}"`,
  read: (value) => (typeof value === 'string' ? fromBase64(value) : undefined),
});

const doubles64 = kindOf<Float64Array<ArrayBuffer>>('base64', {
  json: (value) => `"${toBase64(bytesOf(value))}"`,
  read: doublesOf,
});

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function doublesOf(value: unknown): Float64Array<ArrayBuffer> | undefined {
  const bytes = typeof value === 'string' ? fromBase64(value) : undefined;
  return bytes && bytes.length % 8 === 0 ? new Float64Array(bytes.buffer) : undefined;
}

// Merging checks them like any options.
const options = kindOf<ShardOptions>('options', {
  json: verbatim.json,
  read: (value) => (isObject(value) ? value : undefined),
});

const lengths = objectOf<PairLengths>({
  left: objectOf<PairLengths['left']>({ reference: nullable(integer), distorted: nullable(integer) }),
  mapped: flag,
  skips: flag,
});

const choiceOfShard = object({
  /** From 1 to {@link count}. */
  number: integer,
  /** Parts in all, 1..100,000. More parts than frames leave some of them empty. */
  count: integer,
});

/** Which part of a run to measure. */
export interface ShardChoice extends ValueOf<typeof choiceOfShard> {}

const pairs = object({
  first: integer,
  /** The pair after the last one to measure. */
  end: integer,
  /** Pairs of the whole run, as far as known before measuring. */
  total: integer,
  /** Pairs measured: fewer than requested if a video ended early. */
  measured: integer,
  /** Which videos had no more frames; `null` if the shard ended as planned. */
  ended,
});

/** Pairs of a shard, numbered from the first pair of the run. */
export interface ShardPairs extends ValueOf<typeof pairs> {}

/** Options that decide the result, all plain data; options that concern a single machine are left out. */
export type ShardOptions = ScoreOptions;

/** All keys of the file after the two of its format. */
const record = object({
  /** Version of anyvmaf that measured. */
  version: text,
  shard: choiceOfShard as Kind<ShardChoice>,
  pairs: pairs as Kind<ShardPairs>,
  options,
  /** Format in which pairs are scored; its colours are those of {@link reference} and {@link distorted}. */
  format: named(
    // The key format names the kind of file.
    'scored_format',
    objectOf<Omit<ScoredFormat, 'colours'>>({
      width: size,
      height: size,
      bitDepth: size,
      chroma: choice(...CHROMA_FORMATS),
      alpha: optional(set),
      frameRate: optional(fraction),
    }),
  ),
  /** The encoded pictures, if they are scaled. */
  encode: optional(objectOf<EncodedPictures>({ width: size, height: size, bitDepth: size })),
  /** SHA-256 of what is measured and of the models that predict. */
  plan: text,
  /** The two files; absent for videos without readable bytes. */
  files: object({ reference: optional(identity), distorted: optional(identity) }),
  reference: input as Kind<ReportInput>,
  distorted: input as Kind<ReportInput>,
  /** Whether frames are paired or converted instead of compared as stored. */
  planned: flag,
  pairing: optional<Kind<Pairing>>(pairing),
  /** How all frames are checked; absent without preflight. */
  continuity: optional(
    objectOf<ContinuityRules>({ prevented: optional(text), byTime: flag, offset: optional(integer) }),
  ),
  /** Defect in taking signatures for that check. */
  defect: optional(found),
  /** From the last shard, which inspects the pair; `findings` without those that need all frames. */
  whole: optional(object({ lengths, findings: optional(list(found)) })),
  /** Full sentences about opening, decoding and measuring. */
  warnings: object({ inputs: list(text), decoders: list(text), backend: list(text) }),
  backend_used: text,
  implementation: text,
  threads: integer,
  measurers: optional(list<ReportMeasurer>(measurer)),
  /** Sessions of picture models. */
  sessions: list<TinySessionFacts>(session),
  /** Seconds spent on measuring. */
  seconds: number,
  /** Doubles per pair, then the doubles of all pairs in order. */
  fields: integer,
  records: doubles64,
  /** Signatures of pairs from the first on, 1152 bytes each; fewer if pictures were not read. */
  signatures: bytes64,
});

/** Record of one shard: raw measurements of its pairs, and facts about the whole run. */
export interface Shard extends ValueOf<typeof record> {}

const HEAD = object({ format: text, formatVersion: integer });

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

export function formatShard(shard: Shard): string {
  requireShard('shard', shard);
  const plain = (value: number) => String(value);
  const map = [
    ...entriesOf(HEAD.fields, { format: FORMAT, formatVersion: FORMAT_VERSION }, plain),
    ...entriesOf(record.fields, shard, plain),
  ];
  return `${pretty({ map })}\n`;
}

/** @param name of the file in messages @throws {AnyvmafError} `io` if the text is not a shard's record, or damaged */
export function readShard(text: string, name = 'The file'): Shard {
  requireText('text', text, 'the text of a shard');
  requireText('name', name, 'a name for messages');
  const refuse = (why: string, cause?: unknown) =>
    ioError(`${shown(name)} is not the record of a shard: ${why}.`, { cause });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    const torn = 'it is cut off or damaged; measure that shard again';
    throw refuse(text.includes(FORMAT) ? torn : 'it is not JSON', cause);
  }
  if (!isObject(json) || json.format !== FORMAT)
    throw refuse('it was not written by a run with the option shard');
  if (json.format_version !== FORMAT_VERSION) {
    throw refuse(
      `its format version is ${shown(String(json.format_version))}, but this anyvmaf reads version ${FORMAT_VERSION}; use the one that wrote it`,
    );
  }
  const shard = record.read(json);
  if (!shard) {
    const lacking = Object.entries(record.fields).find(
      ([name, kind]: [string, Kind<unknown>]) =>
        !kind.optional && kind.take(json, keyOf(name, kind)) === undefined,
    );
    throw refuse(`its ${shown(lacking?.[0] ?? 'content')} is missing or wrong`);
  }
  checkSizes(shard, refuse);
  return shard;
}

/** @throws {AnyvmafError} `io` if numbers contradict each other */
function checkSizes(
  { pairs, shard, fields, records, signatures }: Shard,
  refuse: (why: string) => AnyvmafError,
): void {
  const counts = [pairs.first, pairs.end, pairs.total, pairs.measured, shard.number, shard.count, fields];
  const { first, end, total, measured } = pairs;
  const whole = counts.every((value) => Number.isSafeInteger(value) && value >= 0);
  const ordered = first <= end && end <= total && (measured <= end - first || shard.number === shard.count);
  if (!whole || !ordered) throw refuse('its pairs contradict each other');
  if (records.length !== measured * fields)
    throw refuse(`it has ${records.length} values, but ${measured} pairs of ${fields} values`);
  if (signatures.length % PAIR_BYTES !== 0) throw refuse('its signatures are cut off');
}
