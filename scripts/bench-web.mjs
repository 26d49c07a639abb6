/**
 * @module scripts/bench-web
 * `npm run bench:web`: compares the built page in Chromium with the Node command line on the same H.264 pair, and measures
 * long tasks during scoring, memory over a long clip, time to interactive, the viewer and the chart of a one-hour film, and the
 * curves of many long encodes. Needs ffmpeg and Chromium.
 *
 *   node scripts/bench-web.mjs [--frames N] [--long N] [--hour N] [--encodes N] [--runs N] [--loads N] [--threads N] [--folder DIR]
 *     [--write]
 *
 * --frames   frames of the timed 1080p pair, default 240; rounded up to whole groups of pictures, like --long
 * --long     frames of the long pair, which repeats the same frames, default 2000; 0 skips memory
 * --hour     frames of the film shown in the viewer and in the chart, default 89890; 0 skips them
 * --encodes  encodes of 20,000 frames whose curves are panned and zoomed, default 16; 0 skips them
 * --runs     alternating runs of both, default 3; the median counts; 0 skips them
 * --loads    loads of the page from a warm cache, default 9; the median counts
 * --threads  workers of both, default: one per core
 * --write    writes the table to docs/performance.md
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus, loadavg } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { build } from 'vite';
import { CURVE_FRAMES, curveRows } from './lib/bench-curves.mjs';
import { median, spread, viewerRows } from './lib/bench-viewer.mjs';
import {
  builtCommand,
  childrenTime,
  loadBuilt,
  ROOT,
  readOptions,
  replaceBlock,
  statOf,
  table,
} from './lib/project.mjs';

const { values: flags } = readOptions({
  options: {
    frames: { type: 'string', default: '240' },
    long: { type: 'string', default: '2000' },
    hour: { type: 'string', default: '89890' },
    encodes: { type: 'string', default: '16' },
    runs: { type: 'string', default: '3' },
    loads: { type: 'string', default: '9' },
    threads: { type: 'string', default: String(cpus().length) },
    folder: { type: 'string', default: join(ROOT, '.bench') },
    write: { type: 'boolean', default: false },
  },
});
/** Pictures of a closed group: a file can be cut between groups without decoding. */
const GROUP = 40;
const [RUNS, LOADS, THREADS] = [flags.runs, flags.loads, flags.threads].map(Number);
const [HOUR, ENCODES] = [flags.hour, flags.encodes].map(Number);
const [FRAMES, LONG] = [flags.frames, flags.long].map((frames) => Math.ceil(Number(frames) / GROUP) * GROUP);
const FOLDER = resolve(flags.folder);
const PAGE = join(FOLDER, 'page');
const CLI = builtCommand();
const SECONDS = 1000;
/** Time limit for the page to inspect files or to load, for busy machines. */
const PATIENCE = 300 * SECONDS;
/** Distinct frames; longer clips repeat them. */
const MADE = 3 * GROUP;
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mHeader } = await loadBuilt('core/frame.js');
const { y4mFrame } = await loadBuilt('sample/files.js');

/** The generated 1080p pair as H.264, `frames` long. */
async function pair(frames) {
  const format = { width: 1920, height: 1080, bitDepth: 8, chroma: '420' };
  const groups = ['-x264-params', `keyint=${GROUP}:min-keyint=${GROUP}:scenecut=0`];
  const paths = {};
  for (const [side, crf] of [
    ['reference', '16'],
    ['distorted', '30'],
  ]) {
    const made = join(FOLDER, `page-${side}.mp4`);
    const encode = ['-i', '-', '-c:v', 'libx264', ...groups, '-pix_fmt', 'yuv420p', '-crf', crf];
    await ffmpeg(made, encode, async (stdin) => {
      const clip = makeSample(format, { seed: 7 });
      stdin.write(y4mHeader(format));
      for (let i = 0; i < MADE; i++) if (!stdin.write(y4mFrame(clip, side, i))) await once(stdin, 'drain');
    });
    paths[side] = join(FOLDER, `page-${side}-${frames}.mp4`);
    const loops = String(Math.ceil(frames / MADE) - 1);
    await ffmpeg(paths[side], ['-stream_loop', loops, '-i', made, '-frames:v', String(frames), '-c', 'copy']);
  }
  return paths;
}

/** A long film of small pictures: repeats its groups instead of encoding them again. */
async function film(total, size) {
  const paths = {};
  for (const [side, crf] of [
    ['reference', '34'],
    ['distorted', '42'],
  ]) {
    const made = join(FOLDER, `film-${side}-${size}.mp4`);
    const source = ['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=25`, '-frames:v', String(MADE)];
    const groups = ['-x264-params', `keyint=${GROUP}:min-keyint=${GROUP}:scenecut=0`];
    await ffmpeg(made, [...source, '-c:v', 'libx264', ...groups, '-pix_fmt', 'yuv420p', '-crf', crf]);
    paths[side] = join(FOLDER, `film-${side}-${size}-${total}.mp4`);
    const loops = String(Math.ceil(total / MADE) - 1);
    await ffmpeg(paths[side], ['-stream_loop', loops, '-i', made, '-frames:v', String(total), '-c', 'copy']);
  }
  return paths;
}

async function ffmpeg(path, args, feed = async () => {}) {
  if (existsSync(path)) return;
  console.error(`making ${path}`);
  const part = path.replace(/\.mp4$/, '.part.mp4');
  const child = spawn('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, part], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = once(child, 'exit');
  await feed(child.stdin);
  child.stdin.end();
  const [code] = await ended;
  if (code !== 0) throw new Error(`ffmpeg ended with code ${code}`);
  renameSync(part, path);
}

async function serve() {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const file = join(PAGE, pathname === '/' ? 'index.html' : pathname);
    if (!file.startsWith(PAGE) || !existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    return response.end(readFileSync(file));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

/** A process and its descendants; Linux only. */
function processesBelow(root) {
  const parents = new Map();
  for (const entry of readdirSync('/proc')) {
    if (/^\d+$/.test(entry)) parents.set(Number(entry), Number(statOf(entry)[1]));
  }
  const below = (pid) => pid === root || (parents.has(pid) && below(parents.get(pid)));
  return [...parents.keys()].filter(below);
}

/** Proportional memory of a process and its descendants, bytes. */
function memoryBelow(root) {
  let sum = 0;
  for (const pid of processesBelow(root)) {
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      sum += 1024 * Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    } catch {
      // The process has ended.
    }
  }
  return sum;
}

/** Seconds of processor time, user and system, of a process and its descendants so far. */
function timeBelow(root) {
  // Fields 14 and 15, in hundredths.
  const times = processesBelow(root).map(statOf);
  return times.reduce((sum, fields) => sum + Number(fields[11] ?? 0) + Number(fields[12] ?? 0), 0) / 100;
}

/** In the page: records long tasks and the start and end of the run; calls back at the end, so there is no polling. */
function observe() {
  window.bench = { tasks: [] };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) window.bench.tasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(url, options) {
      super(url, options);
      this.addEventListener('message', ({ data }) => {
        if (data?.event?.kind === 'report') {
          window.bench.report = performance.now();
          window.benchEnded(null);
        }
        if (data?.failure) window.benchEnded(data.failure.message);
      });
    }
  };
}

/** Scores a pair in a fresh page. */
async function inPage({ browser, pid, url }, files, sample) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  try {
    const page = await context.newPage();
    const ended = new Promise((done, failed) => {
      page.once('crash', () => failed(new Error('the page crashed')));
      page.once('close', () => failed(new Error('the page was closed')));
      page.exposeFunction('benchEnded', (failure) =>
        failure === null ? done() : failed(new Error(failure)),
      );
    });
    ended.catch(() => {});
    await page.addInitScript(observe);
    await page.goto(`${url}#threads=${THREADS}`);
    await page.setInputFiles('#pick-reference', files.reference);
    await page.setInputFiles('#pick-distorted', files.distorted);
    await page.waitForSelector('#findings .fine, #findings .finding', { timeout: PATIENCE });
    await pause(SECONDS);
    const timer = sample && setInterval(sample, SECONDS);
    const before = timeBelow(pid);
    try {
      await page.evaluate(() => {
        window.bench.start = performance.now();
        document.querySelector('button.primary').click();
      });
      await ended;
    } finally {
      clearInterval(timer);
    }
    const used = timeBelow(pid) - before;
    // What the page does with the report counts as a task of the run.
    await pause(2 * SECONDS);
    const { start, report, tasks } = await page.evaluate(() => window.bench);
    return {
      seconds: (report - start) / SECONDS,
      used,
      tasks: tasks.filter(({ startTime }) => startTime >= start).map(({ duration }) => Math.round(duration)),
    };
  } finally {
    await context.close();
  }
}

/** In the page: records when it is usable: the file picker works and no task runs. */
function watchStart() {
  new MutationObserver((_, observer) => {
    const pick = document.querySelector('#pick-reference');
    if (!pick || pick.disabled) return;
    observer.disconnect();
    // The picker exists together with its handlers. Wait for running and pending tasks, which delay input, and for the
    // paint.
    requestAnimationFrame(() =>
      setTimeout(() => {
        window.usable = performance.now();
      }),
    );
  }).observe(document, { childList: true, subtree: true });
}

/** Milliseconds from the start of navigation until the page is usable, loaded from a service worker's cache. */
async function loads({ browser, url }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  try {
    await context.addInitScript(watchStart);
    const first = await context.newPage();
    await first.goto(url);
    await first.waitForFunction(() => navigator.serviceWorker.controller !== null, undefined, {
      timeout: PATIENCE,
    });
    await first.close();
    const times = [];
    for (let load = 0; load < LOADS; load++) {
      const page = await context.newPage();
      await page.goto(url);
      await page.waitForFunction(() => window.usable !== undefined, undefined, { timeout: PATIENCE });
      times.push(await page.evaluate(() => window.usable));
      await page.close();
    }
    return times;
  } finally {
    await context.close();
  }
}

/** Seconds, and seconds of processor time, of the command line on the same pair. */
function inNode(files) {
  const started = performance.now();
  const before = childrenTime();
  const args = [CLI, '-r', files.reference, '-d', files.distorted, '--threads', String(THREADS), '-q'];
  const { status, stderr } = spawnSync(
    process.execPath,
    [...args, '--json', '-o', join(FOLDER, 'web.json')],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`anyvmaf failed: ${stderr}`);
  return { seconds: (performance.now() - started) / SECONDS, used: childrenTime() - before };
}

const longTasks = (tasks) =>
  tasks.length > 0
    ? `${tasks.length} (${tasks.join(', ')} ms), the longest ${Math.max(...tasks)} ms`
    : 'none';

/** The full browser first, as users have it; `npm test` installs the headless shell. */
const CHROMIUMS = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'];
const [load] = loadavg();
mkdirSync(FOLDER, { recursive: true });
await build({
  configFile: join(ROOT, 'web/vite.config.ts'),
  logLevel: 'error',
  build: { outDir: PAGE, emptyOutDir: true },
});
const server = await serve();
const url = `http://127.0.0.1:${server.address().port}/`;
const holder = await chromium.launchServer({
  executablePath: process.env.CHROMIUM ?? CHROMIUMS.find(existsSync),
  args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run'],
});
const rows = [];
try {
  const browser = await chromium.connect(holder.wsEndpoint());
  const { pid } = holder.process();
  const place = { browser, pid, url, used: () => timeBelow(pid) };
  const files = await pair(FRAMES);
  const [page, node, tasks] = [[], [], []];
  for (let run = 0; run < RUNS; run++) {
    node.push(inNode(files));
    const inChromium = await inPage(place, files);
    page.push(inChromium);
    tasks.push(...inChromium.tasks);
    const text = ({ seconds, used }) =>
      `${(FRAMES / seconds).toFixed(1)} frames/s (CPU ${used.toFixed(1)} s)`;
    console.error(`run ${run + 1}: node ${text(node.at(-1))}, page ${text(inChromium)}`);
  }
  const rates = (runs) => runs.map(({ seconds }) => FRAMES / seconds);
  const used = (runs) => median(runs.map(({ used }) => used));
  if (RUNS > 0)
    rows.push(
      ['command line, frames a second', spread(rates(node), 1), ''],
      ['page, frames a second', spread(rates(page), 1), ''],
      ['page over command line', (median(rates(page)) / median(rates(node))).toFixed(2), 'at least 0.85'],
      ['CPU time of the command line over that of the page', (used(node) / used(page)).toFixed(2), ''],
      ['tasks over 50 ms while scoring, all runs', longTasks(tasks), 'none'],
    );
  if (LOADS > 0) {
    rows.push(['time to interactive on a warm cache, ms', spread(await loads(place)), 'below 1000']);
  }
  if (LONG > 0) {
    const samples = [];
    const long = await inPage(place, await pair(LONG), () => samples.push(memoryBelow(place.pid)));
    const megabytes = (part) => (median(part) / 1e6).toFixed(0);
    const quarter = samples.length >> 2;
    rows.push(
      [
        `${LONG} frames, memory of all of Chromium in the second quarter, MB`,
        megabytes(samples.slice(quarter, 2 * quarter)),
        '',
      ],
      ['the same in the last quarter', megabytes(samples.slice(-quarter)), 'the same'],
      ['most', (Math.max(...samples) / 1e6).toFixed(0), ''],
      [`tasks over 50 ms in these ${LONG} frames`, longTasks(long.tasks), 'none'],
    );
  }
  if (HOUR > 0) {
    const report = join(FOLDER, 'hour.json');
    const long = await film(HOUR, '1920x1080');
    rows.push(...(await viewerRows(place, { film: long, short: files, report, total: HOUR })));
  }
  if (ENCODES > 0) {
    const small = await film(CURVE_FRAMES, '320x180');
    rows.push(...(await curveRows(place, { encodes: ENCODES, film: small, folder: FOLDER })));
  }
  await browser.close();
} finally {
  await holder.close();
  server.close();
  rmSync(PAGE, { recursive: true, force: true });
}
const busy = load > 0.5 ? ` The machine was not quiet: its load was ${load.toFixed(1)} when this began.` : '';
const text = [
  `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.versions.node}; generated 1080p pair as H.264, ` +
    `${FRAMES} frames, ${THREADS} workers. Median of ${RUNS} runs in turns (minimum - maximum). The command line is timed ` +
    `as a whole process, the page from the click to the report.${busy}`,
  '',
  table(['what', 'measured', 'target'], rows),
].join('\n');
console.log(text);
if (flags.write) replaceBlock('docs/performance.md', 'web', text);
