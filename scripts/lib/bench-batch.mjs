/**
 * @module scripts/lib/bench-batch
 * Row `batch` of the benchmark: jobs of a queue with one worker on one core and with two on two, and the queue's cost per part.
 *
 * A worker scores Y4M on one thread, so it needs exactly one core. Each queue has its own workers, which are warmed up. The
 * time between two results is measured, without the start of the next batch.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { statOf } from './project.mjs';
import { measureOverhead, PART_SECONDS } from './queue-overhead.mjs';
import { hasRedis, startRedis } from './redis-server.mjs';

/** Required speed of two workers relative to one. */
const WANTED = 1.8;
/** Maximum share of a part that the queue may take, in percent. */
const MOST_OVERHEAD = 2;
/** Even, because two workers finish two at about the same time. */
const JOBS = 16;
const FRAMES = 28;
/** Frames at which jobs begin, so that no two are equal. */
const STARTS = 12;
/** Frames of the scored pair. */
export const FRAMES_OF_PAIR = FRAMES + STARTS;
const OVERHEAD_PARTS = 150;

/** Pins a process to one core with `taskset`, if available. */
const canPin = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;

/** A table of jobs of about the same length. */
function tableOf(pair, jobs) {
  const lines = Array.from({ length: jobs }, (_, i) => {
    const skip = i % STARTS;
    const frames = FRAMES - Math.floor(i / STARTS);
    return { ...pair, frame_skip_ref: skip, frame_skip_dist: skip, frame_cnt: frames };
  });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Seconds from the second result of a batch to its last. @param workers processes without which it would wait forever */
async function secondsOf(start, { url, table, output, jobs, workers }) {
  rmSync(output, { force: true });
  const batch = start(['batch', table, '-o', output, '--queue', url, '--quiet']);
  const ended = once(batch, 'exit');
  let [begin, seen, size] = [0, 0, 0];
  while (seen < jobs && batch.exitCode === null) {
    await sleep(10);
    if (workers.some(({ exitCode }) => exitCode !== null)) {
      batch.kill();
      throw new Error('a worker has ended');
    }
    const now = performance.now();
    const bytes = statSync(output, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes === size) continue;
    size = bytes;
    seen = readFileSync(output, 'utf8').split('\n').length - 1;
    if (begin === 0 && seen >= 2) begin = now;
  }
  const seconds = (performance.now() - begin) / 1000;
  const [code] = await ended;
  if (code !== 0) throw new Error(`a batch ended with status ${code}`);
  return seconds;
}

/** Processor seconds of a process and its children; NaN off Linux. */
function processorOf(pid) {
  try {
    const fields = statOf(pid);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const own = (Number(fields[11]) + Number(fields[12])) / 100;
    return children.filter(Boolean).reduce((sum, child) => sum + processorOf(child), own);
  } catch {
    return Number.NaN;
  }
}

/** @param tools command, reference, distorted, model, runs, median, report */
export async function benchBatch({ command, reference, distorted, model, runs, median, report }) {
  if (!hasRedis()) {
    report(
      'batch',
      'workers of a queue',
      'not measured: redis-server is not installed',
      `${WANTED} times one`,
    );
    return;
  }
  const root = mkdtempSync(join(tmpdir(), 'anyvmaf-bench-'));
  const database = join(root, 'redis');
  mkdirSync(database);
  const redis = await startRedis(database);
  const running = [];
  const start = (args, core) => {
    const all = [process.execPath, command, ...args];
    const [program, ...rest] = canPin && core !== undefined ? ['taskset', '-c', `${core}`, ...all] : all;
    return spawn(program, rest, { stdio: ['ignore', 'ignore', 'inherit'] });
  };
  try {
    const fleets = [1, 2].map((workers) => {
      const url = `${redis.url}?queue=bench-${workers}`;
      const args = ['work', '--queue', url, '--allow', dirname(reference), '--threads', '1', '-q'];
      const own = Array.from({ length: workers }, (_, core) => start(args, core));
      running.push(...own);
      const processor = () => own.reduce((sum, { pid }) => sum + processorOf(pid), 0);
      const [table, output] = ['jobs', 'results'].map((name) => join(root, `${name}-${workers}.jsonl`));
      return { url, table, output, processor, times: [], taken: [] };
    });
    const run = async ({ url, table, output }, jobs, precision) => {
      writeFileSync(table, tableOf({ reference, distorted, model }, jobs));
      // With another precision, the same pairs are different jobs.
      const job = { url, table, output, jobs, workers: running };
      return secondsOf((args) => start([...args, '--precision', precision]), job);
    };
    console.error('batch    warming up');
    for (const fleet of fleets) await run(fleet, 4, '5');
    // Alternate, so that both meet the same machine.
    for (let i = 0; i < runs; i++) {
      for (const fleet of fleets) {
        const before = fleet.processor();
        fleet.times.push(await run(fleet, JOBS, `${6 + i}`));
        fleet.taken.push(fleet.processor() - before);
      }
      const [one, two] = fleets.map(({ times }) => times[i].toFixed(2));
      console.error(`batch    run ${i + 1} of ${runs}: one worker ${one} s, two ${two} s`);
    }
    const [alone, both] = fleets.map(({ times }) => median(times));
    const [one, two] = fleets.map(({ times }) => times);
    const gain = median(one.map((time, i) => time / two[i]));
    const what = `${JOBS - 2} jobs of ${FRAMES} frames`;
    report('batch', `one worker on one core, ${what}`, `${alone.toFixed(2)} s`);
    report('batch', 'two workers on two cores', `${both.toFixed(2)} s`);
    const [ownOne, ownTwo] = fleets.map(({ taken }) => median(taken));
    // What two cores cost each other; other load hardly changes it.
    report('batch', 'processor time of two workers over that of one', (ownTwo / ownOne).toFixed(2));
    report('batch', 'two workers over one', gain.toFixed(2), `at least ${WANTED}`);
  } finally {
    for (const worker of running) {
      const ended = worker.exitCode === null ? once(worker, 'exit') : undefined;
      worker.kill('SIGTERM');
      await ended;
    }
    await redis.stop('SIGKILL');
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
  const { seconds } = await measureOverhead(OVERHEAD_PARTS);
  report(
    'batch',
    'the queue, with opening and measuring two tiny frames, ms a part',
    (1000 * seconds).toFixed(1),
  );
  const share = ((100 * seconds) / PART_SECONDS).toFixed(2);
  report('batch', `of a part of ${PART_SECONDS} s`, `${share} %`, `below ${MOST_OVERHEAD} %`);
}
