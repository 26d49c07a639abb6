/**
 * @module scripts/lib/bench-live
 * Row `live` of the benchmark: what a server with 20 clients that send ten requests per second each costs a measurement. On
 * one thread, a machine of two cores has a free core for the server and the clients; on two threads it has none.
 *
 * Two scorers of one process alternate every few seconds on the same frames, one without a server and one with a server and
 * its clients, and each turn is compared with its neighbours, because the speed of machines drifts. The clients are a
 * separate process, but on two cores they still slow down the measurement. So the row also gives the processor time
 * of the measuring threads and of all other threads of their process: the increase with the server, times the requests
 * per second, is the server's share of two cores.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { PAUSE, startClients } from './live-clients.mjs';
import { loadBuilt } from './project.mjs';

const CLIENTS = 20;
const THREADS = [1, 2];
/** Frames that repeat, and frames that a scorer keeps. */
const [PERIOD, KEPT] = [6, 250];
/** Milliseconds of a turn, of its start that does not count, and until threads have started and code is compiled. */
const [TURN, SETTLING, START] = [1200, 300, 12_000];
/** Turns of each kind per run of the benchmark. */
const TURNS = 16;
const FORMAT = { width: 1920, height: 1080, bitDepth: 8, chroma: '420' };

/** Milliseconds that each thread of this process has used so far; empty off Linux. */
function lookAtThreads() {
  const times = new Map();
  try {
    for (const thread of readdirSync('/proc/self/task'))
      times.set(
        thread,
        Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
      );
  } catch {
    // The thread has ended, or this is not Linux.
  }
  return times;
}

/** Runs a scorer for one turn. @returns per second: frames, processor milliseconds of its threads and of all others */
async function turn(scorer, frames, threads, settling = SETTLING) {
  const push = async (until) => {
    while (performance.now() < until) await scorer.push(...frames[scorer.pushed % frames.length]);
  };
  await push(performance.now() + settling);
  const [begin, before, first] = [performance.now(), lookAtThreads(), scorer.pushed];
  await push(begin + TURN - SETTLING);
  const seconds = (performance.now() - begin) / 1000;
  const taken = [...lookAtThreads()].map(([thread, time]) => time - (before.get(thread) ?? 0));
  taken.sort((a, b) => b - a);
  const sum = (list) => (list.length === 0 ? Number.NaN : list.reduce((total, one) => total + one, 0));
  const pushed = scorer.pushed - first;
  return {
    rate: pushed / seconds,
    measuring: sum(taken.slice(0, threads)) / pushed,
    beside: sum(taken.slice(threads)) / seconds,
  };
}

/** @returns turns without a server and with one, in pairs, and the clients' counts */
async function compare(api, { frames, threads, model, turns }) {
  const options = { threads, models: [model], keep: { frames: KEPT } };
  const plain = await api.createScorer(FORMAT, options);
  const watched = await api.createScorer(FORMAT, options);
  const server = await api.createEmbeddedServer(watched, { keepFrames: KEPT });
  const { address } = await server.listen({ transport: 'sse', port: 0 });
  const clients = startClients({ address, clients: CLIENTS });
  const pairs = [];
  const counted = { answers: 0, failures: 0, seconds: 0, wall: 0 };
  try {
    await turn(plain, frames, threads);
    await turn(watched, frames, threads, START);
    for (let i = 0; i < turns; i++) {
      const before = await clients.counts();
      const begin = performance.now();
      const live = await turn(watched, frames, threads);
      const after = await clients.rest();
      const wall = (performance.now() - begin) / 1000;
      const without = await turn(plain, frames, threads);
      clients.go();
      pairs.push({ live, without });
      for (const key of ['answers', 'failures', 'seconds']) counted[key] += after[key] - before[key];
      counted.wall += wall;
    }
  } finally {
    await clients.stop();
    await watched.finish();
    await server.close();
    await plain.finish();
  }
  return { pairs, counted };
}

/** @param tools model, runs, median, report */
export async function benchLive({ model, runs, median, report }) {
  const api = await loadBuilt('bundle/js/index.js');
  const { makeSample } = await loadBuilt('sample/generator.js');
  const { sampleBytes } = await loadBuilt('sample/files.js');
  const clip = makeSample(FORMAT, { seed: 1 });
  const frames = Array.from({ length: PERIOD }, (_, i) =>
    ['reference', 'distorted'].map((side) => ({ y: sampleBytes(clip.frame(side, i)[0]) })),
  );
  for (const threads of THREADS) {
    const { pairs, counted } = await compare(api, { frames, threads, model, turns: TURNS * runs });
    const of = (kind, what) => median(pairs.map((pair) => pair[kind][what]));
    const more = (what) => 100 * (median(pairs.map(({ live, without }) => live[what] / without[what])) - 1);
    const { answers, failures, seconds, wall } = counted;
    if (failures > 0) throw new Error(`${failures} questions were not answered`);
    const answerRate = answers / wall;
    const beside = median(pairs.map(({ live, without }) => live.beside - without.beside));
    const percent = (value) => `${value.toFixed(1)} %`;
    const say = (what, value, target = '') =>
      report('live', `${threads === 1 ? 'one thread' : `${threads} threads`}, ${what}`, value, target);
    say('without a server', `${of('without', 'rate').toFixed(2)} fps`);
    say(
      `with ${CLIENTS} clients that get ${answerRate.toFixed(0)} of ${CLIENTS * (1000 / PAUSE)} answers a second`,
      `${of('live', 'rate').toFixed(2)} fps`,
    );
    say(
      'loss of the rate, to the clients too',
      percent(-more('rate')),
      threads === 1 ? 'below 1 %' : 'below 5 %',
    );
    say('more time of the measuring threads a frame', percent(more('measuring')), 'below 2 %');
    say('time of all other threads an answer', `${((1000 * beside) / answerRate).toFixed(0)} us`);
    say('the same, of two cores', percent(beside / 20), 'below 2 %');
    say('the clients, of two cores', percent((100 * seconds) / wall / 2));
  }
}
