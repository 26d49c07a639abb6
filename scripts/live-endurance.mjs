/**
 * @module scripts/live-endurance
 * A live measurement of fast frames for as long as asked, watched by 20 clients and attacked all the while: prints the memory
 * of the process every ten seconds, and what the last half gained over the first.
 *
 *     npm run live:endurance -- --minutes 120
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadBuilt } from './lib/project.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '120' }, hangups: { type: 'string', default: '1000' } },
});
const end = Date.now() + 60_000 * Number(values.minutes);

const { createEmbeddedServer, createScorer } = await loadBuilt('bundle/js/index.js');
const { makeSample } = await loadBuilt('sample/generator.js');
const { sampleBytes } = await loadBuilt('sample/files.js');

const format = { width: 64, height: 64, bitDepth: 8, chroma: '420' };
const clip = makeSample(format, { seed: 1 });
const frames = Array.from({ length: 25 }, (_, i) =>
  ['reference', 'distorted'].map((side) => ({ y: sampleBytes(clip.frame(side, i)[0]) })),
);
const scorer = await createScorer(format, { threads: 1, keep: { frames: 250 } });
const server = await createEmbeddedServer(scorer, { keepFrames: 250 });
const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-endurance-'));
const path = join(folder, 'live.sock');
const { address } = await server.listen({ transport: 'sse', port: 0 });
await server.listen({ transport: 'unix', path });

let running = true;
let asked = 0;
let hungUp = 0;

async function poll() {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'vmaf.status', arguments: {} },
  });
  while (running) {
    await (await fetch(address, { method: 'POST', body })).text();
    asked++;
    await sleep(100);
  }
}

/** Connects, says half of something or too much, and hangs up. */
async function attack() {
  const texts = [
    '',
    '{"jsonrpc":',
    `${'x'.repeat(5 << 20)}\n`,
    'garbage\n'.repeat(100),
    '{"id":1,"method":"ping"}\n',
  ];
  while (running && hungUp < Number(values.hangups)) {
    const socket = connect(path).on('error', () => {});
    socket.write(texts[hungUp % texts.length]);
    await sleep(20);
    socket.destroy();
    hungUp++;
  }
}

async function measure() {
  while (Date.now() < end) {
    for (let i = 0; i < 50; i++) await scorer.push(...frames[scorer.pushed % frames.length]);
    await sleep(0);
  }
}

const samples = [];
async function watch() {
  while (running) {
    await sleep(10_000, undefined, { ref: false });
    const megabytes = process.memoryUsage().rss / 2 ** 20;
    samples.push(megabytes);
    console.log(`${scorer.pushed} frames, ${asked} answers, ${hungUp} hang-ups, ${megabytes.toFixed(1)} MB`);
  }
}

const clients = Array.from({ length: 20 }, poll);
void watch();
const attacking = attack();
await measure();
running = false;
await Promise.all([...clients, attacking]);
const report = await scorer.finish();
await server.close();
const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
const half = Math.floor(samples.length / 2);
console.log(
  `${report.frameCount} frames, ${report.frames.length} kept, ${asked} answers, ${hungUp} hang-ups; memory: first half ` +
    `${mean(samples.slice(0, half)).toFixed(1)} MB, second half ${mean(samples.slice(half)).toFixed(1)} MB, socket left: ${existsSync(path)}`,
);
rmSync(folder, { recursive: true });
