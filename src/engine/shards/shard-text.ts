/**
 * @module engine/shards/shard-text
 * Records of shards as texts, as the public API has them: what writes and reads them is loaded when it is asked for.
 */
import type { Shard } from './shard.js';

/**
 * The record of a shard as the text of a file.
 * @throws {AnyvmafError} `usage` for what is no record
 */
export async function formatShard(shard: Shard): Promise<string> {
  const file = await import('./shard-file.js');
  return file.formatShard(shard);
}

/**
 * Reads a record back.
 * @param name what messages call it
 * @throws {AnyvmafError} `io` if it is not the record of a shard, or is damaged
 */
export async function readShard(text: string, name?: string): Promise<Shard> {
  const file = await import('./shard-file.js');
  return file.readShard(text, name);
}
