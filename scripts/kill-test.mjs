/**
 * @module scripts/kill-test
 * Kills commands at random moments and restarts them: output files must be complete or absent, and leftovers of a killed
 * command must be gone when the next one ends. Linux only, since it searches for orphaned processes.
 *
 *   npm run kills -- [--runs N] [--seed N] [--only NAME]    40 runs by default; prints the seed, so that a failure can be
 *                                                          repeated; NAME is that of a scenario: search
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { builtCommand, loadBuilt, processesMarked, randomOf, readOptions } from './lib/project.mjs';

const SIGNALS = ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGINT'];
const FRAMES = 8;
/** Milliseconds within which processes of a killed command must end, and a server must clean up. */
const PATIENCE = 10_000;

const { values } = readOptions({
  options: { runs: { type: 'string', default: '40' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const runs = Number(values.runs);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));

const random = randomOf(seed);
const command = builtCommand();
const root = mkdtempSync(join(tmpdir(), 'anyvmaf-kill-test-'));
const [videos, out, tmp] = ['videos', 'out', 'tmp'].map((name) => {
  mkdirSync(join(root, name));
  return join(root, name);
});
const [reference, distorted, other] = ['r.y4m', 'd.y4m', 'e.y4m'].map((name) => join(videos, name));

const table = join(videos, 'jobs.csv');
writeFileSync(
  table,
  ['reference,distorted,frame_cnt', 'r.y4m,d.y4m,', 'r.y4m,e.y4m,', 'r.y4m,d.y4m,4', ''].join('\n'),
);

const hasFfmpeg =
  spawnSync('ffmpeg', ['-version']).status === 0 && spawnSync('ffprobe', ['-version']).status === 0;

/** Commands, and the file names that they write to `out`. */
const ALL_SCENARIOS = [
  { name: 'report', args: [reference, distorted, '--json', '-o', join(out, 'report.json')] },
  { name: 'page', args: [reference, distorted, '--html', join(out, 'page.html')] },
  { name: 'batch', args: [reference, distorted, other, '--csv', '-o', join(out, 'table.csv')] },
  { name: 'one picture', args: ['heatmap', reference, distorted, '-o', join(out, 'lost.png')] },
  {
    name: 'pictures',
    args: ['heatmap', reference, distorted, '--frame', '0,1,2,3,4,5', '-o', join(out, 'maps')],
  },
  {
    name: 'cambi heatmaps',
    args: [
      reference,
      distorted,
      '--feature',
      `cambi=heatmaps_path=${join(out, 'cambi')}`,
      '-o',
      join(out, 'report.xml'),
    ],
  },
  {
    name: 'features',
    args: ['features', reference, distorted, '--key', 'a', '--parquet', join(out, 'features.parquet')],
  },
  {
    name: 'table',
    args: [
      ...['batch', table, '-o', join(out, 'results.jsonl'), '--frames'],
      ...['--html', join(out, 'jobs.html'), '--together', '2'],
    ],
  },
  {
    name: 'part',
    args: [reference, distorted, '--shard', '2/3', '-o', join(out, 'part.json')],
  },
  {
    name: 'search',
    args: [
      ...['search', reference, '--encoder', 'libx264', '--encoder-arg', 'preset=veryfast', '--target', '90'],
      ...['--cache', 'none', '-q', '--encode', join(out, 'encode.mkv')],
    ],
    needs: hasFfmpeg,
  },
  { name: 'bench', args: ['bench', '--shape', '576x324', '--backend', 'cpu'], endless: true },
  { name: 'server', args: ['mcp', '--allow', videos], endless: true, serves: true },
];

const SCENARIOS = ALL_SCENARIOS.filter(
  ({ name, needs = true }) => needs && (values.only === undefined || name === values.only),
);
if (SCENARIOS.length === 0) {
  console.error(`There is no scenario ${values.only}, or it needs ffmpeg.`);
  process.exit(1);
}

/** Messages that make a server score and publish results. */
const MESSAGES = [
  {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'kills', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 1, method: 'resources/read', params: { uri: 'anyvmaf://samples/reference_576x324.yuv' } },
  {
    id: 2,
    method: 'tools/call',
    params: {
      name: 'vmaf_score_encoded',
      arguments: {
        ref: 'anyvmaf://samples/reference_576x324.y4m',
        dis: 'anyvmaf://samples/distorted_576x324.y4m',
      },
    },
  },
];

async function makeVideos() {
  const { makeSample } = await loadBuilt('sample/generator.js');
  const { y4mHeader } = await loadBuilt('core/frame.js');
  const { y4mFrame } = await loadBuilt('sample/files.js');
  const format = { width: 320, height: 216, bitDepth: 8, chroma: '420' };
  const clip = makeSample(format, { seed: 7 });
  for (const [path, side] of [
    [reference, 'reference'],
    [distorted, 'distorted'],
    [other, 'distorted'],
  ]) {
    const file = openSync(path, 'w');
    writeSync(file, y4mHeader(format));
    for (let i = 0; i < FRAMES; i++) writeSync(file, y4mFrame(clip, side, i));
    closeSync(file);
  }
}

/** Starts a command with the test's own folder for temporary files. */
function start({ args, serves }) {
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...process.env, TMPDIR: tmp, ANYVMAF_KILL_TEST: root },
    stdio: [serves ? 'pipe' : 'ignore', 'ignore', 'pipe'],
  });
  const output = [];
  child.stderr.on('data', (text) => output.push(text));
  child.stdin?.on('error', () => {});
  for (const message of serves ? MESSAGES : [])
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, text: output.join('') }));
  return { child, ended };
}

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

async function until(condition) {
  for (const begun = performance.now(); !condition(); await sleep(50))
    if (performance.now() - begun > PATIENCE) return false;
  return true;
}

/** Runs to the end; a server, until it has removed leftovers and published again. */
async function complete(scenario) {
  const before = new Set(readdirSync(tmp));
  const { child, ended } = start(scenario);
  if (!scenario.endless) return ended;
  await until(() => readdirSync(tmp).some((name) => !before.has(name)));
  await until(() => !readdirSync(tmp).some((name) => before.has(name)));
  if (scenario.serves) child.stdin.end();
  else child.kill('SIGTERM');
  return ended;
}

/** Files below the output folder, by their path in it. */
function outputs() {
  return readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** File sizes of a complete run, for files without times. */
const sizes = new Map();

/** What is wrong with an output file; `undefined` if it is complete. */
function flaw(path) {
  const bytes = readFileSync(path);
  const end = bytes.subarray(-64).toString('latin1').trimEnd();
  if (path.endsWith('.json')) {
    try {
      JSON.parse(bytes.toString('utf8'));
      return undefined;
    } catch {
      return 'is cut off';
    }
  }
  if (path.endsWith('.jsonl')) {
    // A kill may leave an incomplete last line, which the next start drops.
    const lines = bytes.toString('utf8').split('\n').slice(0, -1);
    const ids = lines.map((line) => JSON.parse(line).job.id);
    return new Set(ids).size === ids.length ? undefined : 'has a job twice';
  }
  const endings = { '.html': '</html>', '.xml': '</VMAF>', '.parquet': 'PAR1' };
  const ending = Object.entries(endings).find(([name]) => path.endsWith(name))?.[1];
  if (ending !== undefined) return end.endsWith(ending) ? undefined : 'is cut off';
  if (path.endsWith('.png')) return end.includes('IEND') ? undefined : 'is cut off';
  if (path.endsWith('.csv')) return bytes.toString().split('\n').length === 4 ? undefined : 'is cut off';
  const size = sizes.get(basename(path));
  return size === bytes.length ? undefined : `has ${bytes.length} bytes in place of ${size}`;
}

const problems = [];
function complain(what, scenario, detail) {
  problems.push(what);
  console.log(`FAILED: ${scenario.name}, ${detail}: ${what}`);
}

/** Every file must be complete, and of files that belong together all or none must exist. */
function checkOutputs(scenario, detail) {
  const found = outputs();
  for (const path of found.filter((name) => !basename(name).startsWith('.anyvmaf-'))) {
    const problem = flaw(path);
    if (problem) complain(`${path} ${problem}`, scenario, detail);
  }
  const pictures = found.filter((name) => /maps\/[^.]*\.png$/.test(name)).length;
  if (pictures !== 0 && pictures !== 6) complain(`${pictures} of 6 pictures are there`, scenario, detail);
}

function checkNothingLeft(scenario, detail) {
  const left = [...readdirSync(tmp), ...outputs().filter((name) => basename(name).startsWith('.'))];
  if (left.length > 0) complain(`left ${left.join(', ')}`, scenario, detail);
}

async function killOnce(scenario, time, number) {
  for (const path of outputs()) rmSync(path);
  const signal = SIGNALS[Math.floor(random() * SIGNALS.length)];
  const delay = random() * time * 1.1;
  const detail = `run ${number}, ${signal} after ${delay.toFixed(0)} ms`;
  const { child, ended } = start(scenario);
  await sleep(delay);
  child.kill(signal);
  const { code, text } = await ended;
  checkOutputs(scenario, detail);
  // A command that handled the signal leaves nothing; a signal before that acts like SIGKILL.
  const noticed = code === 130 || code === 143;
  if (noticed) checkNothingLeft(scenario, `${detail}, exit ${code}`);
  if (code === 70 || /\bat .*\.js:\d+/.test(text)) complain(`said ${text}`, scenario, detail);
  if (!(await until(() => processesMarked(`ANYVMAF_KILL_TEST=${root}`).length === 0)))
    complain(
      `left the processes ${processesMarked(`ANYVMAF_KILL_TEST=${root}`).join(', ')}`,
      scenario,
      detail,
    );
  const left = readdirSync(tmp).length + outputs().filter((name) => basename(name).startsWith('.')).length;
  const again = await complete(scenario);
  if (!scenario.endless && again.code !== 0)
    complain(`the next start ended with ${again.code}: ${again.text}`, scenario, detail);
  checkOutputs(scenario, `${detail}, started again`);
  const results = outputs().find((name) => name.endsWith('.jsonl'));
  if (results && readFileSync(results, 'utf8').split('\n').length !== 4)
    complain('the table of results is not complete', scenario, detail);
  checkNothingLeft(scenario, `${detail}, started again`);
  return left;
}

let [killed, withLeftovers] = [0, 0];
try {
  if (!existsSync('/proc/self/environ')) throw new Error('the test needs Linux');
  console.log(`seed ${seed}`);
  await makeVideos();
  const times = new Map();
  for (const scenario of SCENARIOS.slice(0, runs)) {
    const begun = performance.now();
    const { code, text } = await complete(scenario);
    if (!scenario.endless && code !== 0) throw new Error(`${scenario.name} ends with ${code}: ${text}`);
    times.set(scenario, scenario.endless ? 2500 : performance.now() - begun);
    for (const path of outputs()) sizes.set(basename(path), statSync(path).size);
  }
  for (let i = 0; i < runs; i++) {
    const scenario = SCENARIOS[i % SCENARIOS.length];
    if ((await killOnce(scenario, times.get(scenario), i)) > 0) withLeftovers++;
    killed++;
    if (killed % 50 === 0)
      console.log(`${killed} kills, ${withLeftovers} with something left, ${problems.length} problems`);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
console.log(
  `${killed} kills, ${withLeftovers} left something that the next start removed, ${problems.length} problems`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
