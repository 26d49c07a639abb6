/**
 * @module scripts/live-endurance
 * A long live measurement of fast frames, watched by 20 clients and attacked over its Unix socket
 * and HTTP: prints the memory of the process every ten seconds. Exits with 1 if the second half uses a tenth more memory than
 * the first, if a score differs from a run without a server, or if a socket or port is left.
 *
 *     npm run live:endurance -- --minutes 120 [--hangups 20000] [--rate 500]
 *
 * --hangups  number of hang-ups, spread over the time; at least half of the ways use HTTP
 * --rate     frames per second. Memory follows the pace, so keep it steady to see growth: late frames are not
 *            made up for, and the last line prints the rate of both halves
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startClients } from './lib/live-clients.mjs';
import { loadBuilt, readOptions } from './lib/project.mjs';

const { values } = readOptions({
  options: {
    minutes: { type: 'string', default: '120' },
    hangups: { type: 'string', default: '20000' },
    rate: { type: 'string', default: '500' },
  },
});
const minutes = Number(values.minutes);
// The memory of two halves is compared, sampled every ten seconds.
if (!(minutes >= 1)) throw new Error(`--minutes is ${values.minutes}, but it must be at least 1.`);
const duration = 60_000 * minutes;
const rate = Number(values.rate);
const CLIENTS = 20;
/** Frames that the clip repeats, and frames that are kept. */
const [PERIOD, KEPT] = [25, 250];

const { createEmbeddedServer, createScorer } = await loadBuilt('bundle/js/index.js');
const { makeSample } = await loadBuilt('sample/generator.js');
const { sampleBytes } = await loadBuilt('sample/files.js');

const format = { width: 64, height: 64, bitDepth: 8, chroma: '420' };
const clip = makeSample(format, { seed: 1 });
const frames = Array.from({ length: PERIOD }, (_, i) =>
  ['reference', 'distorted'].map((side) => ({ y: sampleBytes(clip.frame(side, i)[0]) })),
);
const push = (scorer) => scorer.push(...frames[scorer.pushed % PERIOD]);

/** Scores of one period, far from the ends, without a server. */
async function expectedScores() {
  const scorer = await createScorer(format, { threads: 0 });
  while (scorer.pushed < 3 * PERIOD) await push(scorer);
  const report = await scorer.finish();
  return report.frames.slice(PERIOD, 2 * PERIOD).map(({ metrics }) => metrics);
}

const expected = await expectedScores();
const scorer = await createScorer(format, { threads: 1, keep: { frames: KEPT } });
const server = await createEmbeddedServer(scorer, { keepFrames: KEPT });
const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-endurance-'));
const path = join(folder, 'live.sock');
const { address } = await server.listen({ transport: 'sse', port: 0 });
await server.listen({ transport: 'unix', path });

const begin = performance.now();
/** Milliseconds between two bursts of frames. */
const BEAT = 50;

async function measure() {
  for (let due = begin; ; due = Math.max(due + BEAT, performance.now() - BEAT)) {
    if (performance.now() - begin >= duration) return;
    await sleep(Math.max(0, due - performance.now()));
    for (let i = 0; i < (rate * BEAT) / 1000; i++) await push(scorer);
  }
}

const clients = startClients({
  address,
  path,
  clients: CLIENTS,
  every: duration / Number(values.hangups),
});
const samples = [];
const watch = setInterval(async () => {
  const { rss, heapUsed, external } = process.memoryUsage();
  const megabytes = [rss, heapUsed, external].map((bytes) => (bytes / 2 ** 20).toFixed(1));
  samples.push({ memory: rss / 2 ** 20, time: performance.now(), frames: scorer.pushed });
  const { answers, failures, hangUps, overHttp, dropped } = await clients.counts();
  console.log(
    `${((performance.now() - begin) / 60_000).toFixed(1)} min: ${scorer.pushed} frames, ${answers} answers, ${failures} ` +
      `failures, ${hangUps} hang-ups (${overHttp} over HTTP), ${dropped} dropped; RSS ${megabytes[0]} MB, heap of this ` +
      `thread ${megabytes[1]} MB, buffers ${megabytes[2]} MB`,
  );
}, 10_000);

await measure();
clearInterval(watch);
const { answers, failures, hangUps, dropped } = await clients.stop();
const report = await scorer.finish();
await server.close();

const wrong = report.frames
  // The last frame has no successor, which its motion depends on.
  .slice(0, -1)
  .filter(({ frameNum, metrics }) => metrics.vmaf !== expected[frameNum % PERIOD].vmaf);
const portLeft = await new Promise((resolve) => {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
});
const mean = (list) => list.reduce((sum, { memory }) => sum + memory, 0) / list.length;
const pace = (list) => (1000 * (list.at(-1).frames - list[0].frames)) / (list.at(-1).time - list[0].time);
// Threads start and the heap settles within the first tenth.
const settled = samples.slice(Math.ceil(samples.length / 10));
const half = Math.floor(settled.length / 2);
const halves = [settled.slice(0, half), settled.slice(half)];
const [first, second] = halves.map(mean);
const [early, late] = halves.map(pace);
console.log(
  `${report.frameCount} frames, ${report.frames.length} kept, ${wrong.length} wrong; ${answers} answers, ${failures} failures, ` +
    `${hangUps} hang-ups, ${dropped} dropped; memory: first half ${first.toFixed(1)} MB at ${early.toFixed(0)} frames a second, ` +
    `second half ${second.toFixed(1)} MB at ${late.toFixed(0)}; socket left: ${existsSync(path)}, port left: ${portLeft}`,
);
if (wrong.length > 0 || second > 1.1 * first || existsSync(path) || portLeft) process.exitCode = 1;
rmSync(folder, { recursive: true });
