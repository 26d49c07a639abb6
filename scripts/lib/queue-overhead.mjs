/**
 * @module scripts/lib/queue-overhead
 * What a queue costs per part: a pair is split into parts of a few tiny frames, so that nearly all time is the queue's,
 * and Redis reports the commands it got.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { builtCommand, loadBuilt } from './project.mjs';
import { startRedis } from './redis-server.mjs';

/** Frames of a part. */
const FRAMES = 2;
/** Seconds of the part whose share is reported. */
export const PART_SECONDS = 10;

/** Calls and microseconds of Redis by command; those of scripts are included in the scripts. */
async function commands(client) {
  const lines = (await client.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm);
  return new Map([...lines].map(([, name, calls, usec]) => [name, [Number(calls), Number(usec)]]));
}

function start(args) {
  return spawn(process.execPath, [builtCommand(), ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Writes the pair and its table. */
async function makeJobs(videos, parts) {
  const { makeSample } = await loadBuilt('sample/generator.js');
  const { y4mFile } = await loadBuilt('sample/files.js');
  const clip = makeSample({ width: 64, height: 64, bitDepth: 8, chroma: '420' }, { seed: 3 });
  for (const side of ['reference', 'distorted'])
    writeFileSync(join(videos, `${side}.y4m`), y4mFile(clip, side, parts * FRAMES));
  const table = join(videos, 'jobs.csv');
  writeFileSync(table, 'reference,distorted\nreference.y4m,distorted.y4m\n');
  return table;
}

/**
 * Needs a redis-server.
 * @returns seconds and calls of each command per part, and microseconds of Redis in scripts
 */
export async function measureOverhead(parts) {
  const root = mkdtempSync(join(tmpdir(), 'anyvmaf-overhead-'));
  const [videos, results, database] = ['videos', 'results', 'redis'].map((name) => {
    mkdirSync(join(root, name));
    return join(root, name);
  });
  const table = await makeJobs(videos, parts);
  const redis = await startRedis(database);
  const client = new Redis(redis.socket);
  const queue = ['--queue', redis.url, '--results', results, '-q'];
  const worker = start(['work', ...queue, '--allow', videos, '--threads', '1']);
  const started = [worker];
  try {
    const batch = start([
      ...['batch', table, '-o', join(root, 'results.jsonl'), ...queue],
      ...['--part-length', `${FRAMES}f`],
    ]);
    started.push(batch);
    const ended = once(batch, 'exit');
    const partsDone = async () => {
      if (worker.exitCode !== null || batch.exitCode !== null)
        throw new Error('a worker or the batch has ended');
      const [key] = await client.keys('{anyvmaf}:parts:*');
      return key ? (await client.hlen(key)) - 2 : 0;
    };
    const [first, last] = [Math.floor(parts / 10), Math.floor((9 * parts) / 10)];
    while ((await partsDone()) < first) await sleep(5);
    const [begun, before, counted] = [performance.now(), await commands(client), await partsDone()];
    while ((await partsDone()) < last) await sleep(50);
    const [seconds, after] = [(performance.now() - begun) / 1000, await commands(client)];
    const count = (await partsDone()) - counted;
    await ended;
    const rows = [...after].map(([name, [calls, usec]]) => {
      const [earlier = 0, spent = 0] = before.get(name) ?? [];
      return { name, calls: (calls - earlier) / count, usec: (usec - spent) / count };
    });
    const scripts = rows.filter(({ name }) => name === 'evalsha').reduce((sum, { usec }) => sum + usec, 0);
    return { count, total: seconds, seconds: seconds / count, rows, scripts };
  } finally {
    for (const child of started) {
      const end = child.exitCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGTERM');
      await end;
    }
    client.disconnect();
    await redis.stop('SIGKILL');
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}
