/**
 * @module scripts/fuzz
 * `npm run fuzz`: feeds damaged and random inputs to every entry point for untrusted bytes, and reports inputs that break the
 * contract of scripts/fuzz/contract: a correct result, or one of our errors in one line, in time; no hang, no crash, no
 * unbounded growth.
 *
 *   node scripts/fuzz.mjs [--seconds N | --inputs N | --short] [--seed S] [--jobs N] [TARGET...]
 *   node scripts/fuzz.mjs --seed S --show I TARGET       prints input I and its outcome
 *   node scripts/fuzz.mjs --list                         names the targets
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PATIENCE } from './fuzz/contract.mjs';
import { showInput } from './fuzz/show.mjs';
import { TARGETS } from './fuzz/targets.mjs';
import { readOptions } from './lib/project.mjs';

const WORKER = fileURLToPath(new URL('./fuzz/worker.mjs', import.meta.url));
const { values: options, positionals } = readOptions({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    inputs: { type: 'string' },
    short: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now()) },
    jobs: { type: 'string', default: String(Math.max(1, availableParallelism())) },
    show: { type: 'string' },
  },
});

const names = Object.keys(TARGETS);
if (options.list) {
  console.log(names.join('\n'));
  process.exit(0);
}
const wanted = positionals.length > 0 ? positionals : names;
const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`there is no target ${unknown}; there are ${names.join(', ')}`);
  process.exit(1);
}
if (options.show !== undefined) {
  await showInput(wanted[0], options.seed, Number(options.show));
  process.exit(0);
}

const places = mkdtempSync(join(tmpdir(), 'anyvmaf-fuzz-'));
process.on('exit', () => rmSync(places, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

/** Seconds of each target, of which `jobs` run at a time. */
const seconds = Number(options.seconds) / Math.max(1, Math.ceil(wanted.length / Number(options.jobs)));
const counted = options.short || options.inputs !== undefined;
const until = counted ? Number.POSITIVE_INFINITY : seconds * 1000;

/** Maximum inputs of a target. */
function mostOf(name) {
  if (options.short) return TARGETS[name].short;
  return options.inputs === undefined ? Number.MAX_SAFE_INTEGER : Number(options.inputs);
}

/** Factor by which wall time may exceed the limit of processor time, for busy machines. */
const IDLE = 10;

/** Milliseconds of processor time of a process, if the system reports it; Linux counts in hundredths of a second. */
function cpuTime(pid) {
  try {
    const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const fields = rest.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return performance.now();
  }
}

/** Feeds inputs `from` to `to` in one process, until all are done, time is up or an input hangs. */
function feed(name, from, to, deadline, record) {
  return new Promise((resolve) => {
    const place = join(places, `${name}-${from}`);
    const none = Buffer.alloc(8);
    none.writeDoubleLE(-1);
    writeFileSync(place, none);
    const child = fork(WORKER, [name, options.seed, String(from), String(to), place], {
      execArgv: ['--max-old-space-size=1024'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let complaint = '';
    child.stderr.on('data', (data) => {
      complaint = (complaint + data).slice(-2000);
    });
    const current = () => readFileSync(place).readDoubleLE(0);
    let last = -1;
    let since = performance.now();
    let spent = 0;
    let ready = false;
    let stopped;
    const timer = setInterval(() => {
      const now = performance.now();
      const index = current();
      if (index !== last) {
        last = index;
        since = now;
        spent = cpuTime(child.pid);
      }
      if (ready && now > deadline) stopped ??= { reason: 'time' };
      else if (ready && (cpuTime(child.pid) - spent > PATIENCE || now - since > IDLE * PATIENCE))
        stopped ??= { reason: 'hang' };
      if (stopped) child.kill('SIGKILL');
    }, 50);
    child.on('message', (message) => {
      if (message.kind === 'ready') {
        ready = true;
        since = performance.now();
        spent = cpuTime(child.pid);
      } else record(message);
    });
    child.on('exit', (code, signal) => {
      clearInterval(timer);
      const index = current();
      rmSync(place);
      if (stopped) resolve({ ...stopped, index });
      else if (code === 0) resolve({ reason: 'done', index });
      else resolve({ reason: 'crash', index, text: `${signal ?? `exit ${code}`}: ${complaint.trim()}` });
    });
  });
}

/** Whether a slow input is slow again; the machine may have been busy. */
async function hangsAgain(name, index) {
  for (let attempt = 0; attempt < 2; attempt++) {
    const { reason } = await feed(name, index, index + 1, Number.POSITIVE_INFINITY, () => {});
    if (reason !== 'hang') return false;
  }
  return true;
}

async function fuzz(name) {
  const result = { name, inputs: 0, accepted: 0, refused: 0, faults: [] };
  const started = performance.now();
  const note = (index, fault) => {
    result.faults.push({ index, fault });
    console.log(`${name} input ${index}: ${fault}`);
    console.log(`  again: node scripts/fuzz.mjs --seed ${options.seed} --show ${index} ${name}`);
  };
  const record = (message) => {
    if (message.kind === 'fault') note(message.index, message.fault);
    else {
      result.accepted += message.accepted;
      result.refused += message.refused;
    }
  };
  let from = 0;
  const most = mostOf(name);
  // Restart processes, so that one input does not affect the others.
  while (from < most && performance.now() - started < until) {
    const to = Math.min(most, from + (TARGETS[name].inputs ?? 20_000));
    const { reason, index, text } = await feed(name, from, to, started + until, record);
    if (reason === 'crash') note(index, `the process ended: ${text}`);
    if (reason === 'hang' && (await hangsAgain(name, index)))
      note(index, `it takes more than ${PATIENCE} ms`);
    result.inputs += (reason === 'done' ? to : Math.max(from, index)) - from;
    if (reason === 'time') break;
    from = reason === 'done' ? to : Math.max(from, index) + 1;
    if (result.faults.length >= 20) break;
  }
  const time = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${name}: ${result.inputs} inputs in ${time} s, ${result.accepted} accepted, ${result.refused} refused, ` +
      `${result.faults.length} faults`,
  );
  return result;
}

console.log(`seed ${options.seed}`);
const queue = [...wanted];
const results = [];
await Promise.all(
  Array.from({ length: Math.min(queue.length, Number(options.jobs)) }, async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) results.push(await fuzz(name));
  }),
);
const inputs = results.reduce((sum, result) => sum + result.inputs, 0);
const faults = results.reduce((sum, result) => sum + result.faults.length, 0);
console.log(`${inputs} inputs over ${results.length} targets, ${faults} faults`);
process.exitCode = faults > 0 ? 1 : 0;
