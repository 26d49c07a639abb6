/**
 * @module scripts/queue-overhead
 * What a queue costs per part: a pair is cut into parts of a few tiny frames, so that nearly all of the time is the queue's,
 * and Redis says which commands it got. Prints the share of a part of ten seconds.
 *
 *   npm run queue:overhead -- [--parts N]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { builtCommand, loadBuilt } from './lib/project.mjs';
import { hasRedis, startRedis } from './lib/redis-server.mjs';

const { values } = parseArgs({ options: { parts: { type: 'string', default: '300' } } });
const parts = Number(values.parts);
/** Of a part. */
const FRAMES = 2;
const PART_SECONDS = 10;

if (!hasRedis()) {
  console.log('redis-server is not installed');
  process.exit(2);
}
const root = mkdtempSync(join(tmpdir(), 'anyvmaf-overhead-'));
const [videos, results, database] = ['videos', 'results', 'redis'].map((name) => {
  mkdirSync(join(root, name));
  return join(root, name);
});
const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mFile } = await loadBuilt('sample/files.js');
const clip = makeSample({ width: 64, height: 64, bitDepth: 8, chroma: '420' }, { seed: 3 });
for (const side of ['reference', 'distorted'])
  writeFileSync(join(videos, `${side}.y4m`), y4mFile(clip, side, parts * FRAMES));
const table = join(videos, 'jobs.csv');
writeFileSync(table, 'reference,distorted\nreference.y4m,distorted.y4m\n');

/** Calls and microseconds of Redis by command, those of scripts included in the scripts. */
async function commands(client) {
  const lines = (await client.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm);
  return new Map([...lines].map(([, name, calls, usec]) => [name, [Number(calls), Number(usec)]]));
}

const redis = await startRedis(database);
const client = new Redis(redis.socket);
const start = (args) =>
  spawn(process.execPath, [builtCommand(), ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
const worker = start([
  'work',
  '--queue',
  redis.url,
  '--allow',
  videos,
  '--results',
  results,
  '-q',
  '--threads',
  '1',
]);
try {
  const batch = start([
    ...['batch', table, '-o', join(root, 'results.jsonl'), '--queue', redis.url, '-q'],
    ...['--part-length', `${FRAMES}f`],
  ]);
  const ended = once(batch, 'exit');
  const there = () =>
    client.keys('{anyvmaf}:parts:*').then(async ([key]) => (key ? (await client.hlen(key)) - 2 : 0));
  const [first, last] = [Math.floor(parts / 10), Math.floor((9 * parts) / 10)];
  while ((await there()) < first) await sleep(5);
  const [begun, before, counted] = [performance.now(), await commands(client), await there()];
  while ((await there()) < last) await sleep(50);
  const [seconds, after] = [(performance.now() - begun) / 1000, await commands(client)];
  const count = (await there()) - counted;
  await ended;
  const rows = [...after].map(([name, [calls, usec]]) => {
    const [earlier = 0, spent = 0] = before.get(name) ?? [];
    return { name, calls: calls - earlier, usec: usec - spent };
  });
  const sent = /^(evalsha|eval|exists|hmget|hget|hkeys|hgetall|mget|set|zadd|bzpopmin|xread|smembers)$/;
  const each = rows
    .filter(({ name, calls }) => sent.test(name) && calls > 0)
    .map(({ name, calls }) => `${name} ${(calls / count).toFixed(2)}`);
  const scripts = rows.filter(({ name }) => name === 'evalsha').reduce((sum, { usec }) => sum + usec, 0);
  const own = seconds / count;
  console.log(
    `${count} parts in ${seconds.toFixed(1)} s: ${(1000 * own).toFixed(1)} ms per part, with opening and measuring it`,
  );
  console.log(`that is ${((100 * own) / PART_SECONDS).toFixed(2)} % of a part of ${PART_SECONDS} s`);
  console.log(
    `commands per part (inside scripts, too): ${each.join(', ')}; ${(scripts / count).toFixed(0)} us of Redis in scripts`,
  );
} finally {
  worker.kill('SIGTERM');
  await once(worker, 'exit');
  client.disconnect();
  await redis.stop('SIGKILL');
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
