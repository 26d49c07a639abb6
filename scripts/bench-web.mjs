/**
 * @module scripts/bench-web
 * `npm run bench:web`: the built page in Chromium against the Node command line on the same H.264 pair, tasks that hold
 * the page up while it scores, and memory over a long clip. Needs ffmpeg and Chromium.
 *
 *   node scripts/bench-web.mjs [--frames N] [--long N] [--runs N] [--threads N] [--folder DIR] [--write]
 *
 * --frames   frames of the 1080p pair that is timed, default 240
 * --long     frames of the long pair, the same over and over, default 2000; 0 leaves memory out
 * --runs     how often both are timed, in turns, default 3; the median counts
 * --threads  workers of both, default: as many as cores
 * --write    puts the table into docs/performance.md
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { build } from 'vite';
import { builtPath, loadBuilt, ROOT, replaceBlock, table } from './lib/project.mjs';

const { values: flags } = parseArgs({
  options: {
    frames: { type: 'string', default: '240' },
    long: { type: 'string', default: '2000' },
    runs: { type: 'string', default: '3' },
    threads: { type: 'string', default: String(cpus().length) },
    folder: { type: 'string', default: join(ROOT, '.bench') },
    write: { type: 'boolean', default: false },
  },
});
const [FRAMES, LONG, RUNS, THREADS] = [flags.frames, flags.long, flags.runs, flags.threads].map(Number);
const FOLDER = resolve(flags.folder);
const PAGE = join(FOLDER, 'page');
const CLI = builtPath('cli/main.js');
const SECONDS = 1000;
/** Frames that are made; longer clips repeat them. */
const MADE = 120;
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mFrame, y4mHeader } = await loadBuilt('sample/files.js');

/** The generated 1080p pair as H.264, `frames` long. */
async function pair(frames) {
  const format = { width: 1920, height: 1080, bitDepth: 8, chroma: '420' };
  const paths = {};
  for (const [side, crf] of [
    ['reference', '16'],
    ['distorted', '30'],
  ]) {
    const made = join(FOLDER, `web-${side}.mp4`);
    await ffmpeg(made, ['-i', '-', '-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-crf', crf], async (stdin) => {
      const clip = makeSample(format, { seed: 7 });
      stdin.write(y4mHeader(format));
      for (let i = 0; i < MADE; i++) if (!stdin.write(y4mFrame(clip, side, i))) await once(stdin, 'drain');
    });
    paths[side] = join(FOLDER, `web-${side}-${frames}.mp4`);
    const loops = String(Math.ceil(frames / MADE) - 1);
    await ffmpeg(paths[side], ['-stream_loop', loops, '-i', made, '-frames:v', String(frames), '-c', 'copy']);
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

/** Serves the built page without special headers. */
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

/** Proportional memory of all processes below one, bytes; Linux only. */
function memoryBelow(root) {
  const parents = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const fields = readFileSync(`/proc/${entry}/stat`, 'utf8').split(') ').pop().split(' ');
      parents.set(Number(entry), Number(fields[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = (pid) => pid === root || (parents.has(pid) && below(parents.get(pid)));
  let sum = 0;
  for (const pid of parents.keys()) {
    if (!below(pid)) continue;
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      sum += 1024 * Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}

/** In the page: remembers long tasks, and when the run began and ended. Nothing asks the page while it works. */
function watch() {
  window.bench = { tasks: [] };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) window.bench.tasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(url, options) {
      super(url, options);
      this.addEventListener('message', ({ data }) => {
        if (data?.event?.kind === 'report') window.bench.report = performance.now();
      });
    }
  };
  addEventListener(
    'click',
    ({ target }) => {
      if (target.closest?.('button.primary')) window.bench.start = performance.now();
    },
    true,
  );
}

/** Scores a pair in a fresh page. */
async function inPage(browser, url, files, sample) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  await page.addInitScript(watch);
  await page.goto(`${url}#threads=${THREADS}`);
  await page.setInputFiles('#pick-reference', files.reference);
  await page.setInputFiles('#pick-distorted', files.distorted);
  await page.waitForSelector('#findings .fine, #findings .finding', { timeout: 60_000 });
  await page.waitForTimeout(SECONDS);
  const timer = sample && setInterval(sample, SECONDS);
  await page.evaluate(() => {
    const done = new Promise((ended) => {
      const observer = new MutationObserver(() => {
        if (window.bench.report === undefined) return;
        observer.disconnect();
        // What the page does with the report belongs to the run.
        setTimeout(ended, 2000);
      });
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    document.querySelector('button.primary').click();
    return done;
  });
  clearInterval(timer);
  const { start, report, tasks } = await page.evaluate(() => window.bench);
  await context.close();
  return {
    seconds: (report - start) / SECONDS,
    tasks: tasks.filter(({ startTime }) => startTime >= start).map(({ duration }) => Math.round(duration)),
  };
}

/** The command line on the same pair, seconds. */
function inNode(files) {
  const started = performance.now();
  const args = [CLI, '-r', files.reference, '-d', files.distorted, '--threads', String(THREADS), '-q'];
  const { status, stderr } = spawnSync(
    process.execPath,
    [...args, '--json', '-o', join(FOLDER, 'web.json')],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`anyvmaf failed: ${stderr}`);
  return (performance.now() - started) / SECONDS;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const spread = (values) =>
  `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)} - ${Math.max(...values).toFixed(1)})`;

mkdirSync(FOLDER, { recursive: true });
await build({
  configFile: join(ROOT, 'web/vite.config.ts'),
  logLevel: 'error',
  build: { outDir: PAGE, emptyOutDir: true },
});
const server = await serve();
const url = `http://127.0.0.1:${server.address().port}/`;
const holder = await chromium.launchServer({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run'],
});
const rows = [];
try {
  const browser = await chromium.connect(holder.wsEndpoint());
  const files = await pair(FRAMES);
  const [page, node, tasks] = [[], [], []];
  for (let run = 0; run < RUNS; run++) {
    node.push(FRAMES / inNode(files));
    const there = await inPage(browser, url, files);
    page.push(FRAMES / there.seconds);
    tasks.push(...there.tasks);
    console.error(`run ${run + 1}: node ${node.at(-1).toFixed(1)}, page ${page.at(-1).toFixed(1)} frames/s`);
  }
  rows.push(
    ['command line, frames a second', spread(node), ''],
    ['page, frames a second', spread(page), ''],
    ['page over command line', (median(page) / median(node)).toFixed(2), 'at least 0.85'],
    ['tasks over 50 ms while scoring, all runs', tasks.length ? `${tasks.join(', ')} ms` : 'none', 'none'],
  );
  if (LONG > 0) {
    const samples = [];
    const long = await inPage(browser, url, await pair(LONG), () =>
      samples.push(memoryBelow(holder.process().pid)),
    );
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
      [
        `tasks over 50 ms in these ${LONG} frames`,
        long.tasks.length ? `${long.tasks.join(', ')} ms` : 'none',
        'none',
      ],
    );
  }
  await browser.close();
} finally {
  await holder.close();
  server.close();
  rmSync(PAGE, { recursive: true, force: true });
}
const text = [
  `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.versions.node}; generated 1080p pair as H.264, ` +
    `${FRAMES} frames, ${THREADS} workers. Median of ${RUNS} runs in turns (minimum - maximum). The command line is timed ` +
    'as a whole process, the page from the click to the report.',
  '',
  table(['what', 'measured', 'target'], rows),
].join('\n');
console.log(text);
if (flags.write) replaceBlock('docs/performance.md', 'web', text);
