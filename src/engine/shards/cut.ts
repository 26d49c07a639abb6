/**
 * @module engine/shards/cut
 * Which pairs belong to which shard.
 */
import { requireObject } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';
import type { ShardChoice } from './types.js';

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
