/**
 * @module scripts/queue-endurance
 * A queue with workers that are killed at random moments and restarted, workers that are stopped and wake up late, a
 * batch that is killed too, and a Redis server that is restarted: every job must end once, every report must equal a run on one
 * machine, and no process, file or task may be left. Linux only, since it searches for orphaned processes.
 *
 *   npm run queue:endurance -- [--jobs N] [--workers N] [--kills N] [--restarts N] [--seed N]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { builtCommand, loadBuilt, processesMarked, randomOf, readOptions } from './lib/project.mjs';
import { hasRedis, startRedis } from './lib/redis-server.mjs';

const { values } = readOptions({
  options: {
    jobs: { type: 'string', default: '200' },
    workers: { type: 'string', default: '4' },
    kills: { type: 'string', default: '50' },
    restarts: { type: 'string', default: '2' },
    frames: { type: 'string', default: '48' },
    seed: { type: 'string' },
  },
});
const [jobs, workers, kills, restarts, frames] = ['jobs', 'workers', 'kills', 'restarts', 'frames'].map(
  (name) => Number(values[name]),
);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
/** Seconds after which a silent worker loses its task. */
const LEASE = 3;
/** Milliseconds in which everything must end after the last kill. */
const PATIENCE = 20 * 60_000;

const random = randomOf(seed);
const pick = (list) => list[Math.floor(random() * list.length)];

if (!hasRedis()) {
  console.log('redis-server is not installed');
  process.exit(2);
}
console.log(`seed ${seed}`);
const command = builtCommand();
const root = mkdtempSync(join(tmpdir(), 'anyvmaf-queue-'));
const [videos, results, database] = ['videos', 'results', 'redis'].map((name) => {
  mkdirSync(join(root, name));
  return join(root, name);
});
const env = { ...process.env, ANYVMAF_KILL_TEST: root };

async function makeVideos() {
  const { makeSample } = await loadBuilt('sample/generator.js');
  const { y4mFile } = await loadBuilt('sample/files.js');
  const format = { width: 160, height: 90, bitDepth: 8, chroma: '420' };
  for (const [i, clip] of [7, 8].map((one) => makeSample(format, { seed: one })).entries()) {
    writeFileSync(join(videos, `r${i}.y4m`), y4mFile(clip, 'reference', frames));
    writeFileSync(join(videos, `d${i}.y4m`), y4mFile(clip, 'distorted', frames));
  }
}

/** Distinct jobs; the file of the last one is missing. */
function makeTable() {
  const lines = Array.from({ length: jobs - 1 }, (_, i) => {
    const clip = i % 2;
    const skip = i % 13;
    const pair = { reference: `r${clip}.y4m`, distorted: `d${clip}.y4m` };
    const count = frames - 13 - (Math.floor(i / 13) % 16);
    const feature = i % 3 === 0 ? { feature: ['psnr'] } : {};
    return { ...pair, frame_skip_ref: skip, frame_skip_dist: skip, frame_cnt: count, ...feature };
  });
  lines.push({ reference: 'r0.y4m', distorted: 'missing.y4m' });
  const table = join(videos, 'jobs.jsonl');
  writeFileSync(table, lines.map((line) => JSON.stringify(line)).join('\n'));
  return table;
}

function start(args) {
  const child = spawn(process.execPath, [command, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const output = [];
  child.stderr.on('data', (text) => output.push(text));
  const ended = once(child, 'close').then(([code]) => ({ code, text: output.join('') }));
  return { child, ended, output };
}

const startWorker = (url) =>
  start([
    'work',
    '--queue',
    url,
    '--allow',
    videos,
    '--results',
    results,
    '--lease',
    `${LEASE}`,
    '--threads',
    '1',
  ]);

/** Result lines by job, without machine-dependent parts. */
function readLines(path) {
  const byId = new Map();
  const texts = readFileSync(path, 'utf8').split('\n');
  if (texts.pop() !== '') problems.push(`${path} ends with a torn line`);
  for (const text of texts) {
    const { fps: _, threads: __, ...line } = JSON.parse(text);
    if (byId.has(line.job.id)) problems.push(`the job of line ${line.job.line} is there twice`);
    byId.set(line.job.id, line);
  }
  return byId;
}

const problems = [];
const done = { kills: 0, stops: 0, restarts: 0, batches: 0 };
const fleet = [];
let redis;
const begun = performance.now();
const seconds = () => ((performance.now() - begun) / 1000).toFixed(0);
try {
  await makeVideos();
  const table = makeTable();
  const local = join(root, 'local.jsonl');
  const queued = join(root, 'queue.jsonl');
  const alone = await start(['batch', table, '-o', local, '--precision', 'max']).ended;
  if (alone.code !== 2) throw new Error(`the local batch ended with ${alone.code}: ${alone.text}`);
  console.log(`scored here: ${seconds()} s`);
  redis = await startRedis(database);
  const submit = () =>
    start([
      ...['batch', table, '-o', queued, '--precision', 'max', '--queue', redis.url, '--results', results],
      ...['--part-length', '12f', '--attempts', '3'],
    ]);
  let batch = submit();
  for (let i = 0; i < workers; i++) fleet.push(startWorker(redis.url));
  const restartAt = Array.from({ length: restarts }, (_, i) =>
    Math.floor(((i + 1) * kills) / (restarts + 1)),
  );
  const wedgeAt = new Set([Math.floor(kills / 3), Math.floor((2 * kills) / 3)]);
  const woken = [];
  for (let i = 0; done.kills < kills; i++) {
    await sleep(300 + random() * 3000);
    const at = Math.floor(random() * fleet.length);
    const old = fleet[at];
    if (wedgeAt.has(i)) {
      // Only this process: its measuring child continues, and finishes late.
      old.child.kill('SIGSTOP');
      done.stops++;
      woken.push(
        sleep(3 * LEASE * 1000).then(() => {
          old.child.kill('SIGCONT');
          return sleep(1000).then(() => old.child.kill('SIGTERM'));
        }),
      );
    } else {
      old.child.kill('SIGKILL');
      await old.ended;
      done.kills++;
    }
    fleet[at] = startWorker(redis.url);
    if (restartAt.includes(i)) {
      await redis.restart(done.restarts % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      done.restarts++;
    }
    if (i % Math.ceil(kills / 3) === 1) {
      batch.child.kill(pick(['SIGKILL', 'SIGTERM']));
      await batch.ended;
      batch = submit();
      done.batches++;
    }
  }
  console.log(
    `${done.kills} kills of workers, ${done.stops} stops, ${done.batches} kills of the batch, ` +
      `${done.restarts} restarts of Redis: ${seconds()} s`,
  );
  await Promise.all(woken);
  const late = sleep(PATIENCE, { code: 'late', text: '' }, { ref: false });
  const ended = await Promise.race([batch.ended, late]);
  if (ended.code !== 2) problems.push(`the batch ended with ${ended.code}: ${ended.text}`);
  console.log(`all jobs ended: ${seconds()} s`);
  const [expected, found] = [readLines(local), readLines(queued)];
  for (const [id, line] of expected) {
    const other = found.get(id);
    const { error } = line;
    const same = error ? other?.error?.code === error.code : JSON.stringify(other) === JSON.stringify(line);
    if (same) continue;
    problems.push(`the job of line ${line.job.line} is ${other ? 'another' : 'missing'}`);
    if (other && problems.length < 3) console.log(JSON.stringify(line), '\n', JSON.stringify(other));
  }
  if (found.size !== expected.size) problems.push(`${found.size} jobs in place of ${expected.size}`);

  for (const { child } of fleet) child.kill('SIGTERM');
  const codes = await Promise.all(fleet.map(({ ended: end }) => end));
  for (const { code, text } of codes) if (code !== 0) problems.push(`a worker ended with ${code}: ${text}`);
  for (let i = 0; i < 100 && processesMarked(`ANYVMAF_KILL_TEST=${root}`).length > 0; i++) await sleep(100);
  if (processesMarked(`ANYVMAF_KILL_TEST=${root}`).length > 0)
    problems.push(`left the processes ${processesMarked(`ANYVMAF_KILL_TEST=${root}`).join(', ')}`);

  const client = new Redis(redis.socket);
  const key = (name) => `{anyvmaf}:${name}`;
  const open = await client.scard(key('cut'));
  const waiting = (await client.zcard(key('tasks:prioritized'))) + (await client.llen(key('tasks:active')));
  const dead = await client.zrange(key('tasks:failed'), 0, -1);
  const parts = (await client.keys(key('parts:*'))).length;
  client.disconnect();
  if (open > 0 || waiting > 0 || parts > 0)
    problems.push(`left ${open} cut pairs, ${waiting} tasks and the parts of ${parts} pairs in Redis`);
  if (dead.length !== 1) problems.push(`${dead.length} dead tasks in place of one: ${dead.join(', ')}`);
  // The next start removes the file of a killed writer.
  const files = readdirSync(results, { recursive: true });
  if (files.length > 0) problems.push(`left the files ${files.join(', ')}`);
} finally {
  for (const { child } of fleet) child.kill('SIGKILL');
  for (const pid of processesMarked(`ANYVMAF_KILL_TEST=${root}`)) process.kill(Number(pid), 'SIGKILL');
  await redis?.stop('SIGKILL');
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
for (const problem of problems) console.log(`FAILED: ${problem}`);
console.log(
  `${jobs} jobs, ${workers} workers, ${done.kills} kills, ${done.restarts} restarts of Redis: ${problems.length} problems`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
