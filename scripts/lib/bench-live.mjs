/**
 * @module scripts/lib/bench-live
 * Row `live` of the benchmark: a run on two threads without a server, and with one that 20 clients ask ten times a second each.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';

const CLIENTS = 20;
const PAUSE = 100;

/** Asks for the status until told to stop; returns the number of answers. */
function poll(address) {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'vmaf.status', arguments: {} },
  });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  let answers = 0;
  const ask = () => {
    const asking = request(address, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => answers++);
    });
    asking.on('error', () => {}).end(body);
  };
  const timers = Array.from({ length: CLIENTS }, () => setInterval(ask, PAUSE));
  return () => {
    for (const timer of timers) clearInterval(timer);
    agent.destroy();
    return answers;
  };
}

/** One run: frames per second as its report has them, and answers that clients got. */
function run(command, args, output, live) {
  const all = [...args, '--quiet', '--json', '--output', output, ...(live ? ['--live', 'sse:0'] : [])];
  const child = spawn(process.execPath, [command, ...all], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stop = () => 0;
  child.stderr.on('data', (text) => {
    const address = /http:\/\/\S+/.exec(text)?.[0];
    if (address) stop = poll(address);
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => {
      const answers = stop();
      if (code !== 0) reject(new Error(`a run ended with status ${code}`));
      else resolve({ fps: JSON.parse(readFileSync(output, 'utf8')).fps, answers });
    });
  });
}

/** @param tools command, arguments of a pair, folder, runs, median, report */
export async function benchLive({ command, args, folder, runs, median, report }) {
  const rates = { without: [], live: [] };
  let answers = 0;
  // Turn about, so that both meet the same machine.
  for (let i = 0; i < runs; i++) {
    for (const kind of ['without', 'live']) {
      const one = await run(command, args, join(folder, 'live.json'), kind === 'live');
      rates[kind].push(one.fps);
      answers += one.answers;
    }
  }
  const [without, live] = [median(rates.without), median(rates.live)];
  const loss = (100 * (without - live)) / without;
  report('live', 'without a server', `${without.toFixed(1)} fps`, '');
  report('live', `with ${CLIENTS} clients, ${answers} answers in all`, `${live.toFixed(1)} fps`, '');
  report('live', 'loss', `${loss.toFixed(1)} %`, 'below 2 %');
}
