/**
 * @module scripts/lib/bench-live
 * Row `live` of the benchmark: runs without a server, and with one that 20 clients ask ten times a second each. On one thread a
 * machine of two cores has a core for the server and the clients; on two threads it has none.
 *
 * The clients are a process of their own, but on two cores their time is also lost to what is measured. So besides the rate,
 * which they take part in, the row gives the processor's time of the measuring threads, and that of all else in their process:
 * what this gains with the server, times the questions of a second, is what the server takes of two cores.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAUSE, startClients } from './live-clients.mjs';

const CLIENTS = 20;
const THREADS = [1, 2];
/** Milliseconds between two looks at the threads. */
const LOOK = 50;

/** Notes what each thread of a process has taken so far, in milliseconds; nothing off Linux. */
function lookAt(pid, times) {
  const folder = `/proc/${pid}/task`;
  try {
    for (const thread of readdirSync(folder))
      times.set(thread, Number(readFileSync(join(folder, thread, 'schedstat'), 'utf8').split(' ')[0]) / 1e6);
  } catch {
    // A thread or the process has ended, and what was noted stands.
  }
}

/**
 * One run: frames per second as its report has them, processor milliseconds of the measuring threads a frame and of all else,
 * answers that clients got, and the clients' own processor milliseconds a second.
 */
async function run({ command, args, folder, threads, live }) {
  const output = join(folder, 'live.json');
  const all = [...args, '--threads', String(threads), '--quiet', '--json', '--output', output];
  const child = spawn(process.execPath, [command, ...all, ...(live ? ['--live', 'sse:0'] : [])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let clients;
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
    const address = /http:\/\/\S+(?=\n)/.exec(said)?.[0];
    if (address) clients ??= startClients({ address, clients: CLIENTS });
  });
  const times = new Map();
  const looking = setInterval(() => lookAt(child.pid, times), LOOK);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(looking);
  const counts = await clients?.stop();
  if (code !== 0) throw new Error(`a run ended with status ${code}: ${said}`);
  const { fps, frames } = JSON.parse(readFileSync(output, 'utf8'));
  const sorted = [...times.values()].sort((a, b) => b - a);
  const sum = (list) => (times.size === 0 ? Number.NaN : list.reduce((total, one) => total + one, 0));
  return {
    fps,
    measuring: sum(sorted.slice(0, threads)) / frames.length,
    beside: sum(sorted.slice(threads)),
    answers: counts?.answers ?? 0,
    theirs: counts?.seconds ?? 0,
  };
}

/** @param tools command, arguments of a pair, folder, runs, median, report */
export async function benchLive({ command, args, folder, runs, median, report }) {
  for (const threads of THREADS) {
    const without = [];
    const live = [];
    // Turn about, and each first in half of them, so that both meet the same machine.
    for (let i = 0; i < runs; i++) {
      const kinds = [without, live];
      for (const kind of i % 2 ? kinds.reverse() : kinds)
        kind.push(await run({ command, args, folder, threads, live: kind === live }));
    }
    const of = (kind, what) => median(kind.map((one) => one[what]));
    // Each run is compared with its neighbour, as machines change their speed.
    const more = (what) => 100 * (median(live.map((one, i) => one[what] / without[i][what])) - 1);
    const each = median(live.map((one, i) => (1000 * (one.beside - without[i].beside)) / one.answers));
    const theirs = median(live.map((one) => (1e6 * one.theirs) / one.answers));
    /** Microseconds a question as percent of two cores. */
    const ofTwo = (time) => percent((100 * time * CLIENTS * (1000 / PAUSE)) / 1e6 / 2);
    const percent = (value) => `${value.toFixed(1)} %`;
    const say = (what, value, target = '') =>
      report('live', `${threads === 1 ? 'one thread' : `${threads} threads`}, ${what}`, value, target);
    say('without a server', `${of(without, 'fps').toFixed(2)} fps`);
    say(`with ${CLIENTS} clients, ${of(live, 'answers')} answers a run`, `${of(live, 'fps').toFixed(2)} fps`);
    say('loss of the rate, to the clients too', percent(-more('fps')), 'below 2 %');
    say('more time of the measuring threads a frame', percent(more('measuring')), 'below 2 %');
    say('time of all other threads an answer', `${each.toFixed(0)} us`);
    say('the same, of two cores', ofTwo(each), 'below 2 %');
    say('the clients, of two cores', ofTwo(theirs));
  }
}
