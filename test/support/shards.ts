/**
 * @module test/support/shards
 * Measures a pair in parts, takes every part through its file, and merges them.
 */
import { formatShard, mergeShards, readShard, scoreShard } from '../../src/index.js';
import type { Report, ScoreOptions, ScoreRequest } from '../../src/public.js';

/** The report of a pair that is measured in `count` parts. */
export async function inParts(request: ScoreRequest, count: number, options: ScoreOptions): Promise<Report> {
  const { onFrame, ...own } = options;
  const shards = [];
  for (let number = 1; number <= count; number++) {
    const shard = await scoreShard(request, { number, count }, own);
    shards.push(await readShard(await formatShard(shard), `part ${number}`));
  }
  return mergeShards(shards.reverse(), onFrame ? { onFrame } : {});
}

/** A report without what is about the machines that measured. */
export function comparable({ fps: _, threads: __, ...rest }: Report): Omit<Report, 'fps' | 'threads'> {
  return rest;
}
