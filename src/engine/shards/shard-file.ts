/**
 * @module engine/shards/shard-file
 * Reads and writes the record of a shard (docs/many-machines.md): JSON, with the doubles of all pairs in base64.
 */
import { isObject, requireText } from '../../core/arguments.js';
import { CHROMA_FORMATS } from '../../core/choices.js';
import { AnyvmafError, type Hint } from '../../core/errors.js';
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
  verbatim,
} from '../../report/kinds.js';
import {
  finding,
  input,
  measurer,
  pairing,
  type ReportInput,
  type ReportMeasurer,
} from '../../report/schema.js';
import { pretty } from '../../report/write.js';
import type { TinySessionFacts } from '../backends/tiny.js';
import type { EndOfPair } from '../contract/platform.js';
import type { ContentIdentity } from '../contract/types.js';
import type { ContinuityRules } from '../inputs/frame-observer.js';
import type { PairLengths } from '../pair/pair.js';
import type { EncodedPictures } from '../plan/plan.js';
import type { Shard, ShardChoice, ShardOptions, ShardPairs, WholeFacts } from './shard.js';
import { requireShard } from './shard.js';

const FORMAT = 'anyvmaf-shard';
/** Version of the file's layout; no other version is read. */
const FORMAT_VERSION = 1;

const PURPOSES: readonly Hint['purpose'][] = ['fix', 'accept', 'omit', 'prepare'];

/** A finding with its hint, which reports do not keep. */
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

const sha = text;
const identity = objectOf<ContentIdentity>({ size: integer, sha256: sha });

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

// Merging checks them like the options of any call.
const options = kindOf<ShardOptions>('options', {
  json: verbatim.json,
  read: (value) => (isObject(value) ? value : undefined),
});

const lengths = objectOf<PairLengths>({
  left: objectOf<PairLengths['left']>({ reference: nullable(integer), distorted: nullable(integer) }),
  mapped: flag,
  skips: flag,
});

const format = objectOf<Shard['format']>({
  width: size,
  height: size,
  bitDepth: size,
  chroma: choice(...CHROMA_FORMATS),
  alpha: optional(set),
  frameRate: optional(fraction),
});

/** All keys of the file after the two that state its format. */
const FIELDS = objectOf<Shard>({
  version: text,
  shard: objectOf<ShardChoice>({ number: integer, count: integer }),
  pairs: objectOf<ShardPairs>({ first: integer, end: integer, total: integer, measured: integer, ended }),
  options,
  // The key format names the kind of file.
  format: named('scored_format', format),
  encode: optional(objectOf<EncodedPictures>({ width: size, height: size, bitDepth: size })),
  plan: sha,
  files: objectOf<Shard['files']>({ reference: optional(identity), distorted: optional(identity) }),
  reference: input as Kind<ReportInput>,
  distorted: input as Kind<ReportInput>,
  planned: flag,
  pairing: optional<Kind<Pairing>>(pairing),
  continuity: optional(
    objectOf<ContinuityRules>({ prevented: optional(text), byTime: flag, offset: optional(integer) }),
  ),
  defect: optional(found),
  whole: optional(objectOf<WholeFacts>({ lengths, findings: optional(list(found)) })),
  warnings: objectOf<Shard['warnings']>({ inputs: list(text), decoders: list(text), backend: list(text) }),
  backend_used: text,
  implementation: text,
  threads: integer,
  measurers: optional(list<ReportMeasurer>(measurer)),
  sessions: list<TinySessionFacts>(session),
  seconds: number,
  fields: integer,
  records: doubles64,
  signatures: bytes64,
});

const HEAD = object({ format: text, formatVersion: integer });

export function formatShard(shard: Shard): string {
  requireShard('shard', shard);
  const plain = (value: number) => String(value);
  const map = [
    ...entriesOf(HEAD.fields, { format: FORMAT, formatVersion: FORMAT_VERSION }, plain),
    ...entriesOf(FIELDS.fields, shard, plain),
  ];
  return `${pretty({ map })}\n`;
}

/** @param name of the file in messages @throws {AnyvmafError} `io` if the text is no shard's record, or is damaged */
export function readShard(text: string, name = 'The file'): Shard {
  requireText('text', text, 'the text of a shard');
  requireText('name', name, 'a name for messages');
  const refuse = (why: string) =>
    new AnyvmafError('io', `${shown(name)} is not the record of a shard: ${why}.`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    const torn = text.includes(FORMAT)
      ? 'it is cut off or damaged; measure that shard again'
      : 'it is not JSON';
    throw new AnyvmafError('io', `${shown(name)} is not the record of a shard: ${torn}.`, { cause });
  }
  if (!isObject(json) || json.format !== FORMAT) {
    throw refuse('it was not written by a run with the option shard');
  }
  if (json.format_version !== FORMAT_VERSION) {
    throw refuse(
      `its format version is ${shown(String(json.format_version))}, but this anyvmaf reads version ${FORMAT_VERSION}; use the one that wrote it`,
    );
  }
  const source = json;
  const shard = FIELDS.read(source);
  const lacking = shard
    ? undefined
    : Object.entries(FIELDS.fields).find(([key, kind]) => isLacking(kind, key, source));
  if (!shard) throw refuse(`its ${shown(lacking?.[0] ?? 'content')} is missing or wrong`);
  checkSizes(shard, refuse);
  return shard;
}

function isLacking(kind: Kind<unknown>, key: string, source: Readonly<Record<string, unknown>>): boolean {
  const own = kind.key ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return !kind.optional && kind.take(source, own) === undefined;
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
  if (records.length !== measured * fields) {
    throw refuse(`it has ${records.length} values, but ${measured} pairs of ${fields} values`);
  }
  if (signatures.length % PAIR_BYTES !== 0) throw refuse('its signatures are cut off');
}

/** Bytes turned into characters per call, whose arguments are limited. */
const PORTION = 0x6000;

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  // A multiple of three, so that the pieces join without padding.
  for (let at = 0; at < bytes.length; at += PORTION) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PORTION))));
  }
  return pieces.join('');
}

/** @returns `undefined` for text that is not standard base64 with padding */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const step = (PORTION / 3) * 4;
  for (let at = 0, to = 0; at < text.length; at += step) {
    const portion = atob(text.slice(at, at + step));
    for (let i = 0; i < portion.length; i++) bytes[to++] = portion.charCodeAt(i);
  }
  return bytes;
}
