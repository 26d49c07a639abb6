/**
 * @module scripts/lib/bench-batch
 * Row `batch` of the benchmark: a table of pairs by one process on one core, and in two halves by two processes on two cores.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What two processes have to reach of one. */
const WANTED = 1.8;
const JOBS = 8;

/** Has `taskset` keep a process on one core; a machine without it leaves the choice to its system. */
const canPin = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;

/** Scores a table to its end on one core. */
function work(command, { table, output, model, core }) {
  rmSync(output, { force: true });
  const args = [command, 'batch', table, '-o', output, '-m', model, '--together', '1', '--quiet'];
  const all = canPin
    ? ['taskset', '-c', String(core), process.execPath, ...args]
    : [process.execPath, ...args];
  const child = spawn(all[0], all.slice(1), { stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`a batch ended with status ${code}`)),
    );
  });
}

/** Seconds of some processes at once. */
async function seconds(command, works) {
  const began = performance.now();
  await Promise.all(works.map((one) => work(command, one)));
  return (performance.now() - began) / 1000;
}

/** @param tools command, reference, distorted, model, folder, runs, median, report */
export async function benchBatch({ command, reference, distorted, model, folder, runs, median, report }) {
  const line = JSON.stringify({ reference, distorted, threads: 0 });
  const jobs = Array.from({ length: JOBS }, (_, i) =>
    line.replace('}', `,"frame_skip_ref":${i},"frame_skip_dist":${i}}`),
  );
  const put = (name, lines) => {
    const table = join(folder, name);
    writeFileSync(table, `${lines.join('\n')}\n`);
    return table;
  };
  const of = (name, lines, core) => ({
    table: put(`${name}.jsonl`, lines),
    output: join(folder, `${name}.results.jsonl`),
    model,
    core,
  });
  const one = [of('batch-all', jobs, 0)];
  const two = [of('batch-first', jobs.slice(0, JOBS / 2), 0), of('batch-second', jobs.slice(JOBS / 2), 1)];
  const times = { one: [], two: [] };
  // Turn about, so that both meet the same machine.
  for (let i = 0; i < runs; i++) {
    times.one.push(await seconds(command, one));
    times.two.push(await seconds(command, two));
  }
  const scored = [...one, ...two].map(
    ({ output }) => readFileSync(output, 'utf8').trimEnd().split('\n').length,
  );
  if (scored[0] !== JOBS || scored[1] + scored[2] !== JOBS)
    throw new Error('a batch has not scored its table');
  for (const { output, table } of [...one, ...two])
    for (const file of [output, table]) rmSync(file, { force: true });
  const [alone, both] = [median(times.one), median(times.two)];
  const gain = alone / both;
  report('batch', `one process, ${JOBS} jobs on one core`, `${alone.toFixed(2)} s`, '');
  report(
    'batch',
    'two processes, half of them each, on two cores',
    `${both.toFixed(2)} s`,
    `${gain.toFixed(2)} times one`,
  );
  report(
    'batch',
    'wanted on a machine with nothing else to do',
    `${WANTED} times`,
    gain >= WANTED ? 'reached' : 'not reached',
  );
}
