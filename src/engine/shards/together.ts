/**
 * @module engine/shards/together
 * Checks that shards are all there and belong to one run, and puts them in order.
 */
import { AnyvmafError } from '../../core/errors.js';
import { counted, shown } from '../../core/printable.js';
import { version } from '../../core/version.js';
import type { Shard } from './shard.js';
import { cutShard } from './shard.js';

/** Most numbers that a sentence lists. */
const LISTED = 10;

/**
 * The shards of one run in order, each once.
 * @throws {AnyvmafError} `mismatch` if some are missing, or do not belong together: the message says which
 */
export function inOrder(shards: readonly Shard[]): readonly [Shard, ...Shard[]] {
  const [first] = shards;
  if (!first) throw new AnyvmafError('usage', 'there are no shards to merge; give those of a whole run.');
  if (first.version !== version) {
    throw new AnyvmafError(
      'mismatch',
      `the shards were measured by anyvmaf ${shown(first.version)}, but this is ${version}; merge them with the version ` +
        'that measured them.',
    );
  }
  for (const other of shards) refuseStranger(first, other);
  const byNumber = new Map<number, Shard>();
  for (const shard of shards) {
    const { number } = shard.shard;
    const earlier = byNumber.get(number);
    if (earlier && !isSame(earlier, shard)) {
      throw new AnyvmafError(
        'mismatch',
        `shard ${number} is there twice with different measurements, so one of the two machines measures wrong; measure ` +
          'it again on a third one, and leave out the record that differs.',
      );
    }
    byNumber.set(number, earlier ?? shard);
  }
  refuseMissing(byNumber, first.shard.count);
  const ordered = [...byNumber.values()].sort((a, b) => a.shard.number - b.shard.number);
  return [ordered[0] ?? first, ...ordered.slice(1)];
}

function isSame(a: Shard, b: Shard): boolean {
  const bits = ({ records }: Shard) => new BigUint64Array(records.buffer, records.byteOffset, records.length);
  const [one, other] = [bits(a), bits(b)];
  return one.length === other.length && one.every((value, i) => value === other[i]);
}

function refuseMissing(there: ReadonlyMap<number, Shard>, count: number): void {
  const missing: number[] = [];
  for (let number = 1; number <= count; number++) if (!there.has(number)) missing.push(number);
  if (missing.length === 0) return;
  const listed = missing.slice(0, LISTED).join(', ');
  const more = missing.length > LISTED ? ` and ${missing.length - LISTED} more` : '';
  throw new AnyvmafError(
    'mismatch',
    `${counted(missing.length, 'shard')} of ${count} ${missing.length === 1 ? 'is' : 'are'} missing: ${listed}${more}; ` +
      'measure what is missing and merge again.',
  );
}

/** What all shards of a run have in common, with words for it. */
const COMMON: readonly (readonly [what: string, of: (shard: Shard) => unknown])[] = [
  ['the version of anyvmaf', (shard) => shard.version],
  ['the number of shards', (shard) => shard.shard.count],
  ['the content of the reference', (shard) => shard.files.reference],
  ['the content of the distorted video', (shard) => shard.files.distorted],
  ['the options', (shard) => shard.options],
  ['the size and format of the pictures', (shard) => shard.format],
  ['the number of pairs', (shard) => shard.pairs.total],
  ['a model, or what is measured', (shard) => [shard.plan, shard.fields]],
  ['what is known of the reference', (shard) => ({ ...shard.reference, name: '' })],
  ['what is known of the distorted video', (shard) => ({ ...shard.distorted, name: '' })],
  ['the implementation', (shard) => shard.implementation],
  ['the checks of the pair', (shard) => shard.continuity],
];

/** What shards that have pairs have in common. */
const DECODED: typeof COMMON = [
  ['how the videos were decoded and paired', (shard) => shard.pairing],
  [
    'what ran a tiny model',
    (shard) => shard.sessions.map(({ name, runtime, device }) => [name, runtime, device]),
  ],
];

/** @throws {AnyvmafError} `mismatch` */
function refuseStranger(first: Shard, other: Shard): void {
  const { number, count } = other.shard;
  const range = cutShard(other.shard, other.pairs.total);
  const misplaced = range.first !== other.pairs.first || range.end !== other.pairs.end;
  if (number < 1 || number > count || misplaced) {
    throw new AnyvmafError(
      'mismatch',
      `the record of shard ${number} of ${count} does not have the pairs of that shard.`,
    );
  }
  const measured = first.pairs.measured > 0 && other.pairs.measured > 0;
  for (const [what, of] of measured ? [...COMMON, ...DECODED] : COMMON) {
    const [one, two] = [of(first), of(other)].map(canonical);
    if (one === two) continue;
    const values = (one ?? '').length + (two ?? '').length < 200 ? ` (${two} against ${one})` : '';
    throw new AnyvmafError(
      'mismatch',
      `shard ${number} of ${count} and shard ${first.shard.number} of ${first.shard.count} do not belong to one run, which has one of ` +
        `each: ${what}${shown(values)}.`,
    );
  }
}

/** JSON with the keys of objects in order. */
function canonical(value: unknown): string {
  const sorted = (_: string, member: unknown): unknown =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member;
  return JSON.stringify(value ?? null, sorted);
}
