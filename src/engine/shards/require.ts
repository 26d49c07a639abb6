/**
 * @module engine/shards/require
 * Checks at the door of the API that something is the record of a shard.
 */
import { isObject, requireObject } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
import type { Shard } from './types.js';

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
