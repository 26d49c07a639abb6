/**
 * @module queue/store
 * State of jobs in Redis. Each call is one command, script or transaction: a Redis that loses its last second loses
 * whole steps.
 */
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import {
  type Begun,
  checkJob,
  checkOutcome,
  checkStored,
  type Outcome,
  type PutPart,
  parsed,
  type QueueJob,
  type Stored,
} from './job.js';

/** Seconds that results wait for their submitter, and parts for other parts. */
const KEPT = 14 * 24 * 3600;
/** Seconds to remember that a submitter has a result, so that a late one does not count. */
const REMEMBERED = 24 * 3600;
const AT_ONCE = 100;
/** Fields of {@link RedisStore}'s hashes besides the numbered parts. */
const [COUNT, JOB] = ['count', 'job'] as const;

/** Keeps a part unless its job is settled or forgotten. Returns kept, settled, parts present and parts in all. */
const PUT_PART = `
if redis.call('EXISTS', KEYS[1]) == 1 then return {0, 1, 0, 0} end
local count = redis.call('HGET', KEYS[2], '${COUNT}')
if not count then return {0, 0, 0, 0} end
local kept = redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
return {kept, 0, redis.call('HLEN', KEYS[2]) - 2, tonumber(count)}
`;

/** Settles a job once and forgets its parts, except those of a failed job, for a retry. */
const SETTLE = `
local first = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2])
if ARGV[4] == '1' then redis.call('DEL', KEYS[2], KEYS[4]) end
redis.call('SREM', KEYS[3], ARGV[3])
if first then return 1 else return 0 end
`;

/** Records once into how many parts a pair is cut. */
const CUT = `
if redis.call('EXISTS', KEYS[1]) == 1 then return tonumber(ARGV[2]) end
if redis.call('HSETNX', KEYS[2], '${COUNT}', ARGV[2]) == 1 then
  redis.call('HSET', KEYS[2], '${JOB}', ARGV[3])
  redis.call('EXPIRE', KEYS[2], ARGV[4])
end
redis.call('SADD', KEYS[3], ARGV[1])
return tonumber(redis.call('HGET', KEYS[2], '${COUNT}'))
`;

/** Forgets the outcome of a job; one with parts is open again. */
const REOPEN = `
redis.call('DEL', KEYS[1], KEYS[4])
if ARGV[2] == '1' then redis.call('DEL', KEYS[2]) end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('SADD', KEYS[3], ARGV[1]) else redis.call('SREM', KEYS[3], ARGV[1]) end
`;

/** Redis, or a fake in tests. */
export type JobStore = Omit<RedisStore, 'elected'>;

/** All keys of a queue are in one hash slot. */
export class RedisStore {
  readonly #redis: Redis;
  readonly #prefix: string;

  /** @param prefix of all keys, such as `{anyvmaf}` */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async outcomes(keys: readonly string[]): Promise<readonly (Outcome | undefined)[]> {
    const found: (Outcome | undefined)[] = [];
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      const some = keys.slice(at, at + AT_ONCE);
      const values = await this.#redis.mget(some.map((key) => this.#key('outcome', key)));
      found.push(...values.map((value) => (value === null ? undefined : parsed(value, checkOutcome))));
    }
    return found;
  }

  /** The first outcome counts. @returns whether this was the first */
  async settle(key: string, outcome: Outcome): Promise<boolean> {
    const value = JSON.stringify(outcome);
    const mayRetry = outcome.kind === 'failed' && outcome.code !== 'aborted';
    return (await this.#script(SETTLE, key, [value, KEPT, key, mayRetry ? '0' : '1'])) === 1;
  }

  /** Marks outcomes as being on a submitter's disk. */
  async take(keys: readonly string[]): Promise<void> {
    const value = JSON.stringify({ kind: 'taken' } satisfies Outcome);
    await Promise.all(
      keys.map((key) => this.#redis.set(this.#key('outcome', key), value, 'EX', REMEMBERED, 'XX')),
    );
  }

  /** Forgets outcomes; with `parts` also measured parts. */
  async reopen(keys: readonly string[], parts: boolean): Promise<void> {
    await Promise.all(keys.map((key) => this.#script(REOPEN, key, [key, parts ? '1' : '0'])));
  }

  /** Reads whether the job has ended, how it was cut, and whether the part is measured. */
  async begin(key: string, number?: number): Promise<Begun> {
    const fields = [COUNT, ...(number === undefined ? [] : [String(number)])];
    const [settled, [count, part]] = await Promise.all([
      this.#redis.exists(this.#key('outcome', key)),
      this.#redis.hmget(this.#key('parts', key), ...fields),
    ]);
    return {
      settled: settled === 1,
      ...(count != null && { count: Number(count) }),
      part: part !== undefined && part !== null,
    };
  }

  /** The first number of parts counts. @returns the number that counts */
  async cut(job: QueueJob, count: number): Promise<number> {
    return Number(await this.#script(CUT, job.key, [job.key, count, JSON.stringify(job), KEPT]));
  }

  /** The first part counts. */
  async putPart(key: string, number: number, part: Stored): Promise<PutPart> {
    const answer = await this.#script(PUT_PART, key, [number, JSON.stringify(part)]);
    const [kept, settled, present, count] = Array.isArray(answer) ? answer.map(Number) : [];
    return {
      kept: kept === 1,
      settled: settled === 1,
      present: present ?? 0,
      ...(count !== undefined && count > 0 && { count }),
    };
  }

  async parts(key: string): Promise<{ count?: number; parts: ReadonlyMap<number, Stored> }> {
    const fields = Object.entries(await this.#redis.hgetall(this.#key('parts', key)));
    const count = fields.find(([name]) => name === COUNT)?.[1];
    const parts = fields.flatMap(([name, value]) =>
      isNumber(name) ? [[Number(name), parsed(value, checkStored)] as const] : [],
    );
    return { parts: new Map(parts), ...(count !== undefined && { count: Number(count) }) };
  }

  async present(key: string): Promise<{ count?: number; numbers: ReadonlySet<number> }> {
    const [names, count] = await Promise.all([
      this.#redis.hkeys(this.#key('parts', key)),
      this.#redis.hget(this.#key('parts', key), COUNT),
    ]);
    const numbers = new Set(names.filter(isNumber).map(Number));
    return { numbers, ...(count !== null && { count: Number(count) }) };
  }

  /** The job of a pair that was cut. */
  async cutJob(key: string): Promise<QueueJob | undefined> {
    const value = await this.#redis.hget(this.#key('parts', key), JOB);
    return value === null ? undefined : parsed(value, checkJob);
  }

  /** Forgets unreadable parts. @returns how often that has happened to this job */
  async dropParts(key: string, numbers: readonly number[]): Promise<number> {
    const lost = this.#key('lost', key);
    const [times] = await Promise.all([
      this.#redis.incr(lost),
      this.#redis.expire(lost, KEPT),
      this.#redis.hdel(this.#key('parts', key), ...numbers.map(String)),
    ]);
    return times;
  }

  /** Jobs that are cut and have not ended. */
  cutJobs(): Promise<readonly string[]> {
    return this.#redis.smembers(this.#open());
  }

  /** True for the one process that acts for all during these milliseconds. */
  async elected(what: string, milliseconds: number): Promise<boolean> {
    return (await this.#redis.set(`${this.#prefix}:${what}`, '1', 'PX', milliseconds, 'NX')) === 'OK';
  }

  async #script(script: string, key: string, args: readonly (string | number)[]): Promise<unknown> {
    const keys = [this.#key('outcome', key), this.#key('parts', key), this.#open(), this.#key('lost', key)];
    try {
      const digest = createHash('sha1').update(script).digest('hex');
      return await this.#redis.evalsha(digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.#redis.eval(script, keys.length, ...keys, ...args);
    }
  }

  #key(of: 'outcome' | 'parts' | 'lost', key: string): string {
    return `${this.#prefix}:${of}:${key}`;
  }

  #open(): string {
    return `${this.#prefix}:cut`;
  }
}

const isNumber = (name: string): boolean => /^[1-9]\d{0,4}$/.test(name);
