/**
 * @module scripts/bench
 * `npm run bench`: measures speed and size as ratios from one run on this machine. The sample generator makes the content
 * (moving texture, edges, grain; blurred, quantised, noisy), and .bench keeps it for the next run.
 *
 *   node scripts/bench.mjs [NAME...] [--rows NAME,...] [--frames N] [--runs N] [--write] [--folder DIR]
 *     [--sizes NAME,...] [--software]
 *
 * --rows    any of native, depth, workers, size, inside, stages, memory, module, start, decode, evaluation, tiny, metrics, perceptual,
 *           webgpu, live, batch; default: all but metrics, perceptual and webgpu, which take several minutes, and live and batch,
 *           which need an idle machine
 * --frames  frames of the 1080p pairs, default 144 (2160p: a quarter of that)
 * --runs    runs of each timing, default 3; the median counts, the spread is min to max
 * --write   writes the tables to docs/performance.md and README.md; needs all rows of the default, or perceptual alone
 * --sizes   of webgpu: any of 540p, 1080p, 2160p; default: all
 * --software  also webgpu on a software adapter, whose times are meaningless
 *
 * Compared runs alternate, so that changes of the machine's speed affect all of them. If VMAF_BIN names a native `vmaf`,
 * the benchmark compares with it as well. Variables for the programs of other metrics: ./lib/bench-perceptual.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, totalmem } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { benchBatch, FRAMES_OF_PAIR } from './lib/bench-batch.mjs';
import { benchDecode } from './lib/bench-decode.mjs';
import { benchEvaluation } from './lib/bench-evaluation.mjs';
import { benchLive } from './lib/bench-live.mjs';
import { benchMetrics } from './lib/bench-metrics.mjs';
import { benchPerceptual } from './lib/bench-perceptual.mjs';
import { benchTiny } from './lib/bench-tiny.mjs';
import { benchWebgpu } from './lib/bench-webgpu.mjs';
import { builtCommand, loadBuilt, ROOT, readOptions, replaceBlock, table } from './lib/project.mjs';

const ALL_ROWS = [
  'native',
  'depth',
  'workers',
  'size',
  'inside',
  'stages',
  'memory',
  'module',
  'start',
  'decode',
  'evaluation',
  'tiny',
  'metrics',
  'perceptual',
  'webgpu',
  'live',
  'batch',
];
const DEFAULT_ROWS = ALL_ROWS.filter(
  (name) => !['metrics', 'perceptual', 'webgpu', 'live', 'batch'].includes(name),
);
const { values: flags, positionals } = readOptions({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: DEFAULT_ROWS.join(',') },
    frames: { type: 'string', default: '144' },
    runs: { type: 'string', default: '3' },
    folder: { type: 'string', default: join(ROOT, '.bench') },
    write: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '540p,1080p,2160p' },
    software: { type: 'boolean', default: false },
  },
});
const rows = positionals.length > 0 ? positionals : flags.rows.split(',');
const unknown = rows.filter((name) => !ALL_ROWS.includes(name));
if (unknown.length > 0) {
  console.error(`No row is called ${unknown.join(', ')}; choose from ${ALL_ROWS.join(', ')}.`);
  process.exit(1);
}
const missing = DEFAULT_ROWS.filter((name) => !rows.includes(name));
const perceptualOnly = rows.length === 1 && rows[0] === 'perceptual';
if (flags.write && !perceptualOnly && missing.length > 0) {
  console.error(
    `--write replaces whole tables, but ${missing.join(', ')} would not run; leave out the rows or --write.`,
  );
  process.exit(1);
}
const FRAMES = Number(flags.frames);
const RUNS = Number(flags.runs);
const FOLDER = resolve(flags.folder);
const CLI = builtCommand();
const MODEL = 'version=vmaf_v0.6.1';

const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mHeader } = await loadBuilt('core/frame.js');
const { y4mFrame } = await loadBuilt('sample/files.js');
const { score } = await loadBuilt('index.js');

const PAIRS = {
  hd: { width: 1920, height: 1080, bitDepth: 8, chroma: '420', frames: FRAMES },
  hd10: { width: 1920, height: 1080, bitDepth: 10, chroma: '420', frames: FRAMES },
  uhd: { width: 3840, height: 2160, bitDepth: 8, chroma: '420', frames: Math.max(2, FRAMES >> 2) },
  queued: { width: 1280, height: 720, bitDepth: 8, chroma: '420', frames: FRAMES_OF_PAIR },
  sd: { width: 576, height: 324, bitDepth: 8, chroma: '420', frames: 2 },
};

/** Makes a pair of files unless they exist. @returns their paths */
function files(name) {
  const { frames, ...format } = PAIRS[name];
  mkdirSync(FOLDER, { recursive: true });
  const paths = {};
  for (const side of ['reference', 'distorted']) {
    const path = join(FOLDER, `${name}-${frames}-${side}.y4m`);
    paths[side] = path;
    if (existsSync(path)) continue;
    console.error(`making ${path}`);
    const clip = makeSample(format, { seed: 7 });
    const part = `${path}.part`;
    const file = openSync(part, 'w');
    writeSync(file, y4mHeader(format));
    for (let index = 0; index < frames; index++) writeSync(file, y4mFrame(clip, side, index));
    closeSync(file);
    copyFileSync(part, path);
    rmSync(part);
  }
  return paths;
}

function run(program, args, options = {}) {
  const { status, stderr, error } = spawnSync(program, args, { cwd: FOLDER, encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}

/** Arguments of our command line with a report. */
function oursArguments(name, threads) {
  const { reference, distorted } = files(name);
  const report = ['--json', '--output', join(FOLDER, 'ours.json'), '--quiet', '--threads', String(threads)];
  return ['-r', reference, '-d', distorted, '-m', MODEL, ...report];
}

/** Times our command line: the whole process, with a report. */
function ours(name, threads) {
  const args = oursArguments(name, threads);
  return () => run(process.execPath, [CLI, ...args]);
}

/** A native `vmaf`, one thread. */
function theirs(binary, name) {
  const { reference, distorted } = files(name);
  const report = ['--json', '--output', join(FOLDER, 'theirs.json'), '--quiet', '--threads', '1'];
  return () => run(binary, ['-r', reference, '-d', distorted, '-m', MODEL, ...report]);
}

/**
 * libvmaf inside the ffprobe package, one thread; `undefined` on platforms without it.
 * @param what options of the filter, and number of frames
 */
function packaged(name, { option = `model=${MODEL}`, frames } = {}) {
  let source;
  try {
    source = createRequire(import.meta.url)('@ffprobe-installer/ffprobe').path;
  } catch {
    return undefined;
  }
  const { reference, distorted } = files(name);
  const ffprobe = join(FOLDER, 'ffprobe');
  if (!existsSync(ffprobe)) copyFileSync(source, ffprobe);
  chmodSync(ffprobe, 0o755);
  // Pass names without their folder: a filter graph splits a path at a colon.
  const cut = frames === undefined ? '' : `,trim=end_frame=${frames}`;
  const inputs = `movie=${basename(reference)}${cut}[r];movie=${basename(distorted)}${cut}[d];`;
  const filter = `${inputs}[d][r]libvmaf=log_fmt=json:log_path=packaged.json:n_threads=1:${option}`;
  const args = ['-v', 'error', '-f', 'lavfi', '-i', filter, '-show_entries', 'frame=pts', '-of', 'csv'];
  return () => run(ffprobe, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Times several actions alternately: results by name. */
async function takeTurns(actions) {
  const times = Object.fromEntries(Object.keys(actions).map((name) => [name, []]));
  for (let turn = 0; turn < RUNS; turn++) {
    for (const [name, action] of Object.entries(actions)) {
      const started = performance.now();
      await action();
      times[name].push((performance.now() - started) / 1000);
    }
  }
  return times;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median and spread in milliseconds a frame. */
function perFrame(times, frames) {
  const ms = times.map((time) => (time * 1000) / frames);
  return `${median(ms).toFixed(1)} (${Math.min(...ms).toFixed(1)} - ${Math.max(...ms).toFixed(1)})`;
}

const ratio = (a, b) => (median(a) / median(b)).toFixed(2);
const results = [];
function report(row, what, value, target = '') {
  results.push([row, what, value, target]);
  console.log(`${row.padEnd(8)} ${what}: ${value}${target === '' ? '' : `   [${target}]`}`);
}

async function native() {
  const actions = { ours: ours('hd', 1) };
  const other = packaged('hd');
  if (other) actions.packaged = other;
  if (process.env.VMAF_BIN) actions.vmaf = theirs(process.env.VMAF_BIN, 'hd');
  const times = await takeTurns(actions);
  const { frames } = PAIRS.hd;
  report('native', '1080p 8 bit, anyvmaf, one worker, ms a frame', perFrame(times.ours, frames));
  if (times.packaged) {
    report(
      'native',
      'the same, libvmaf 2.3.0 of the ffprobe package, n_threads=1',
      perFrame(times.packaged, frames),
    );
    report(
      'native',
      'times as fast as libvmaf 2.3.0',
      ratio(times.packaged, times.ours),
      'at least 1.40, goal 2.00',
    );
  }
  if (times.vmaf) {
    report('native', `the same, ${vmafVersion()}, one thread`, perFrame(times.vmaf, frames));
    report('native', `times as fast as ${vmafVersion()}`, ratio(times.vmaf, times.ours));
  }
}

async function depth() {
  const times = await takeTurns({ eight: ours('hd', 1), ten: ours('hd10', 1) });
  report('depth', '1080p 10 bit, one worker, ms a frame', perFrame(times.ten, PAIRS.hd10.frames));
  report('depth', '10-bit time over 8-bit time', ratio(times.ten, times.eight), 'at most 1.35');
}

async function workers() {
  const times = await takeTurns({ one: ours('hd', 1), two: ours('hd', 2) });
  report('workers', '1080p 8 bit, two workers, ms a frame', perFrame(times.two, PAIRS.hd.frames));
  report('workers', 'two workers over one', ratio(times.one, times.two), 'at least 1.85');
}

async function size() {
  const times = await takeTurns({ hd: ours('hd', 1), uhd: ours('uhd', 1) });
  const perPixel = (time, { width, height, frames }) => time / (width * height * frames);
  const hd = perPixel(median(times.hd), PAIRS.hd);
  const uhd = perPixel(median(times.uhd), PAIRS.uhd);
  report('size', '2160p 8 bit, one worker, ms a frame', perFrame(times.uhd, PAIRS.uhd.frames));
  report('size', '2160p time a pixel over 1080p', (uhd / hd).toFixed(2), 'at most 1.15');
}

/** The API in this process, warm: no start of Node, no compilation. */
async function inside() {
  const request = files('hd');
  const through = (threads) => async () => void (await score(request, { models: [MODEL], threads }));
  await through(0)();
  const times = await takeTurns({ worker: through(1), here: through(0) });
  report(
    'inside',
    '1080p 8 bit through the API, one worker, ms a frame',
    perFrame(times.worker, PAIRS.hd.frames),
  );
  report(
    'inside',
    '1080p 8 bit through the API, calling thread, ms a frame',
    perFrame(times.here, PAIRS.hd.frames),
  );
}

/** Time of each stage: the extractor alone, one metric at a time. */
async function stages() {
  const { wasmMeasurers } = await loadBuilt('engine/backends/core/extractor.js');
  const { compileCore } = await loadBuilt('core/compile.js');
  const module = await compileCore(readFileSync(join(ROOT, 'wasm/anyvmaf.wasm')));
  const { frames: _, ...format } = PAIRS.hd;
  const clip = makeSample(format, { seed: 7 });
  const pairs = [0, 1].map((index) => ({
    reference: clip.frame('reference', index).map((plane) => plane.samples),
    distorted: clip.frame('distorted', index).map((plane) => plane.samples),
  }));
  const { parseFeature } = await loadBuilt('metrics/options.js');
  const { planFeatures } = await loadBuilt('engine/backends/features.js');
  const plan = (features, compat = 'libvmaf-3.2') =>
    planFeatures(features.map(parseFeature), format, compat).extraction;
  const plans = {
    'vif, all scales': plan(['vif']),
    'vif, scales 1 to 3 and all decimation': plan(['vif=vif_skip_scale0=true']),
    'adm, all scales': plan(['adm']),
    'adm, all scales, without aim': plan(['adm=adm_skip_aim=true']),
    'adm, scales 1 to 3 and low band of scale 0': plan(['adm=adm_skip_scale0=true']),
    motion: plan(['motion']),
    'motion of libvmaf up to 3.0': plan(['motion'], 'libvmaf-3.0'),
    'psnr, three planes': plan(['psnr']),
    'vif, adm and motion': plan(['vif', 'adm', 'motion']),
  };
  const actions = {};
  for (const [name, plan] of Object.entries(plans)) {
    const measurer = wasmMeasurers(module, 'simd128').open(plan);
    const record = new Float64Array(measurer.layout.length);
    const measureAt = (index) => {
      const { reference, distorted } = pairs[index & 1];
      const slot = measurer.slot(index);
      for (const [planes, samples] of [
        [slot.reference, reference],
        [slot.distorted, distorted],
      ]) {
        planes.y.set(samples[0]);
        planes.cb?.set(samples[1]);
        planes.cr?.set(samples[2]);
      }
      measurer.measure(slot, record, true);
    };
    let next = 0;
    const measure = (frames) => {
      for (let i = 0; i < frames; i++) measureAt(next++);
    };
    measure(10);
    actions[name] = () => measure(20);
  }
  const times = await takeTurns(actions);
  for (const [name, values] of Object.entries(times))
    report('stages', `${name}, ms a 1080p frame`, perFrame(values, 20));
}

/** Peak resident memory of a Node process in MB, which the process writes when it ends. */
function peakMemory(args) {
  const file = join(FOLDER, 'peak');
  // On Linux, maxRSS includes the parent's memory before `exec`; the high-water mark of the new image does not.
  const hook = `
    import { existsSync, readFileSync, writeFileSync } from 'node:fs';
    process.on('exit', () => {
      const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
      const peak = /^VmHWM:\\s*(\\d+) kB/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS;
      writeFileSync(${JSON.stringify(file)}, String(peak));
    });`;
  run(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, ...args]);
  return Number(readFileSync(file, 'utf8')) / 1024;
}

async function memory() {
  const cli = (name, threads) => {
    const { reference, distorted } = files(name);
    const output = ['--json', '--output', join(FOLDER, 'ours.json'), '--quiet', '--threads', String(threads)];
    return [CLI, '-r', reference, '-d', distorted, '-m', MODEL, ...output];
  };
  const peaks = { idle: [], one: [], two: [], ten: [] };
  for (let turn = 0; turn < RUNS; turn++) {
    peaks.idle.push(peakMemory(['-e', '0']));
    peaks.one.push(peakMemory(cli('hd', 1)));
    peaks.two.push(peakMemory(cli('hd', 2)));
    peaks.ten.push(peakMemory(cli('hd10', 1)));
  }
  const mb = (values) => `${median(values).toFixed(1)} MB`;
  const beyond = (a, b) => `${(median(a) - median(b)).toFixed(1)} MB`;
  report('memory', 'idle Node process, peak resident', mb(peaks.idle));
  report(
    'memory',
    '1080p 8 bit, one worker, beyond an idle Node process',
    beyond(peaks.one, peaks.idle),
    'below 48 MB',
  );
  report('memory', '1080p 10 bit, one worker, beyond an idle Node process', beyond(peaks.ten, peaks.idle));
  report('memory', '1080p 8 bit, each further worker', beyond(peaks.two, peaks.one));
}

function moduleSize() {
  for (const [name, limit, zippedLimit] of [
    ['anyvmaf', 300_000, 110_000],
    ['perceptual', 250_000, 100_000],
  ]) {
    const bytes = readFileSync(join(ROOT, `wasm/${name}.wasm`));
    const zipped = gzipSync(bytes, { level: 9 });
    report('module', `${name}.wasm, bytes`, String(bytes.length), `below ${limit}`);
    report('module', `${name}.wasm, gzip, bytes`, String(zipped.length), `below ${zippedLimit}`);
  }
}

async function start() {
  const times = await takeTurns({ idle: () => run(process.execPath, ['-e', '0']), first: ours('sd', 1) });
  const more = await takeTurns({ first: ours('sd', 1) });
  const ms = [...times.first, ...more.first].map((time) => time * 1000);
  report('start', 'two frames of 576x324, whole process', `${median(ms).toFixed(0)} ms`, 'below 300 ms');
  report('start', 'of that, Node itself', `${(median(times.idle) * 1000).toFixed(0)} ms`);
}

/** Each metric by itself; see lib/bench-metrics. */
function metrics() {
  const timed = (option, frames) => {
    const action = packaged('hd', { option, frames });
    const started = performance.now();
    action?.();
    return performance.now() - started;
  };
  benchMetrics({
    root: ROOT,
    folder: FOLDER,
    runs: RUNS,
    cli: CLI,
    files: files('hd'),
    packaged: packaged('hd') ? timed : undefined,
    frames: FRAMES,
    median,
    report,
  });
}

/** The metrics of perceptual.wasm, and XPSNR; see lib/bench-perceptual. */
function perceptual() {
  return benchPerceptual({ root: ROOT, folder: FOLDER, runs: RUNS, load: loadBuilt, median, report });
}

function decode() {
  const { reference } = files('hd');
  return benchDecode({
    folder: FOLDER,
    frames: FRAMES,
    runs: RUNS,
    model: MODEL,
    source: reference,
    median,
    report,
  });
}

async function evaluation() {
  const measured = await benchEvaluation({ folder: FOLDER, runs: RUNS, load: loadBuilt, median });
  for (const [what, value] of measured) report('evaluation', what, value, 'below 2 s');
}

function tiny() {
  const args = oursArguments('hd', 1);
  return benchTiny({ args, folder: FOLDER, runs: RUNS, median, report });
}

/** A live run with clients; see lib/bench-live. */
function live() {
  return benchLive({ model: MODEL, runs: RUNS, median, report });
}

/** Queue workers; see lib/bench-batch. */
function batch() {
  return benchBatch({ command: CLI, ...files('queued'), model: MODEL, runs: RUNS, median, report });
}

/** WebGPU; see lib/bench-webgpu. */
function webgpu() {
  return benchWebgpu({
    folder: FOLDER,
    frames: FRAMES,
    runs: RUNS,
    model: MODEL,
    sizes: flags.sizes.split(','),
    software: flags.software,
    median,
    report,
  });
}

function vmafVersion() {
  const { stderr, stdout } = spawnSync(process.env.VMAF_BIN, ['--version'], { encoding: 'utf8' });
  return `vmaf ${(stderr || stdout).trim()}`;
}

function machine() {
  const [cpu] = cpus();
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  const extensions = existsSync('/proc/cpuinfo')
    ? ['avx2', 'avx512bw'].filter((name) => readFileSync('/proc/cpuinfo', 'utf8').includes(` ${name} `))
    : [];
  return (
    `${cpu?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores${extensions.length ? ` (${extensions.join(', ')})` : ''}, ` +
    `${memory} GB, ${process.platform} ${release()}, Node ${process.versions.node} (V8 ${process.versions.v8})`
  );
}

const about = perceptualOnly
  ? `${machine()}. Median of ${RUNS} runs, 1920x1080, 8 bits, 4:2:0, generated content.`
  : `${machine()}. Median of ${RUNS} runs (minimum - maximum), ${FRAMES} frames of generated content, ` +
    `model vmaf_v0.6.1, Y4M files in the page cache; whole processes with start, reading, features, prediction and report ` +
    'unless a row says otherwise.';
console.log(`${about}\n`);

const ACTIONS = {
  native,
  depth,
  workers,
  size,
  inside,
  stages,
  memory,
  module: moduleSize,
  start,
  decode,
  evaluation,
  tiny,
  metrics,
  perceptual,
  webgpu,
  live,
  batch,
};
for (const name of ALL_ROWS) if (rows.includes(name)) await ACTIONS[name]();

const text = `${about}\n\n${table(['group', 'what', 'measured', 'target'], results)}`;
if (flags.write && perceptualOnly) replaceBlock('docs/performance.md', 'perceptual', text);
else if (flags.write) {
  replaceBlock('docs/performance.md', 'bench', text);
  const chosen = results.filter(([, what]) =>
    /^(times as fast as vmaf 3|two workers over one|two frames of 576x324)/.test(what),
  );
  replaceBlock(
    'README.md',
    'speed',
    table(
      ['what', 'measured', 'target'],
      chosen.map(([, ...cells]) => cells),
    ),
  );
}
