/**
 * @module scripts/installation
 * Measures a fresh installation: packs this package, has npm install it with an empty cache, and scores with it;
 * then has it fetch the parts `decoder` and `tiny` when first needed, and scores with these.
 *
 *   node scripts/installation.mjs
 *
 * Compares sizes with limits and with the table of parts; prints times. Needs a build.
 *
 * Exit codes: 0 done, 1 failed, 2 skipped because no registry answers.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBuilt, ROOT } from './lib/project.mjs';

/** Bytes on disk of a fresh installation, all packages together. */
const MOST_BYTES = 30e6;

const SKIPPED = 2;

const { PARTS } = await loadBuilt('parts/table.js');
const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mFile } = await loadBuilt('sample/files.js');

const home = mkdtempSync(join(tmpdir(), 'anyvmaf-installation-'));
const project = join(home, 'project');
const cache = join(home, 'cache');
const none = join(home, 'no-ffmpeg');

/** Environment without npm's variables, whose folders are those of this repository, and with an empty npm cache. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(registry|.*proxy))/i.test(name)),
  ),
  npm_config_cache: join(home, 'npm'),
  ANYVMAF_CACHE: cache,
  ANYVMAF_INSTALL: 'auto',
};

const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1);
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

function run(program, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: project,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
    env: { ...env, ...options.env },
  });
  return { status: status ?? 1, stdout: stdout ?? '', stderr: (stderr ?? '') + (error?.message ?? '') };
}

function must(program, args, options) {
  const done = run(program, args, options);
  assert.equal(done.status, 0, `${program} ${args.join(' ')} failed: ${done.stderr}`);
  return done;
}

/** Bytes and number of files in a folder. */
function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return { bytes, files: files.length };
}

const anyvmaf = (args, options) => must(join(project, 'node_modules/.bin/anyvmaf'), args, options);
const json = (args, options) =>
  JSON.parse(anyvmaf([...args, '--json', '-o', '-', '--quiet'], options).stdout);

function install() {
  const [{ filename, size }] = JSON.parse(
    must('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', home], { cwd: ROOT }).stdout,
  );
  const started = performance.now();
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-save'];
  must('npm', ['install', ...options, join(home, filename)]);
  const modules = join(project, 'node_modules');
  const { bytes, files } = sizeOf(modules);
  console.log(
    `installed with an empty cache: ${megabytes(bytes)} MB in ${files} files, ${seconds(started)} s ` +
      `(the package itself ${megabytes(size)} MB packed)`,
  );
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes on disk, but the limit is ${MOST_BYTES}`);
  for (const name of ['@ffmpeg', 'onnxruntime-web', 'webgpu'])
    assert.ok(!existsSync(join(modules, name)), `${name} came along`);
}

/** Writes a pair of Y4M files. @returns their names */
function pair() {
  const clip = makeSample({ width: 320, height: 240, bitDepth: 8, chroma: '420' }, { seed: 5 });
  return ['reference', 'distorted'].map((side) => {
    writeFileSync(join(project, `${side}.y4m`), y4mFile(clip, side, 8));
    return `${side}.y4m`;
  });
}

/** Checks that a part arrived when needed, complete and of the stated size. */
function arrived(part, started) {
  const { name, size, packages } = PARTS[part];
  const [version] = packages.map((entry) => entry.version);
  const folder = join(cache, 'parts', `${name}@${version}`);
  const { bytes, files } = sizeOf(join(folder, 'node_modules'));
  const fetched = packages.reduce((sum, { packed }) => sum + packed, 0);
  console.log(
    `part ${name}: ${megabytes(fetched)} MB fetched, ${megabytes(bytes)} MB on disk in ${files} files, ` +
      `${seconds(started)} s with scoring`,
  );
  assert.equal(bytes, size, `the part ${name} has ${bytes} bytes`);
}

function scoreEncoded(names) {
  const ffmpeg = process.env.ANYVMAF_FFMPEG || 'ffmpeg';
  const encode = (name, crf) =>
    run(ffmpeg, ['-v', 'error', '-i', name, '-c:v', 'libx264', '-crf', crf, `${name}.mp4`]).status === 0;
  if (!names.every((name, i) => encode(name, i === 0 ? '10' : '30'))) {
    console.log('part decoder: not tried, needs ffmpeg with libx264 to make a video');
    return;
  }
  const without = { env: { ANYVMAF_FFMPEG: none, ANYVMAF_FFPROBE: none } };
  const films = names.map((name) => `${name}.mp4`);
  const started = performance.now();
  const report = json(films, without);
  arrived('decoder', started);
  assert.match(report.pairing.distorted.decoded_by, /ffmpeg\.wasm/);
  // Offline from here on.
  const offline = { env: { ...without.env, ANYVMAF_INSTALL: 'never' } };
  assert.deepEqual(json(films, offline).pooled_metrics.vmaf, report.pooled_metrics.vmaf);
}

function scoreTiny(names) {
  const started = performance.now();
  const report = json([...names, '--tiny-model', 'fr_vmaf_v0.6.1']);
  arrived('tiny', started);
  const [{ runtime, device, metrics }] = report.tiny;
  assert.deepEqual({ runtime, device }, { runtime: 'onnxruntime-web', device: 'cpu' });
  const [tiny, vmaf] = [metrics[0], 'vmaf'].map((name) => report.pooled_metrics[name].mean);
  assert.ok(Math.abs(tiny - vmaf) < 5, `the tiny model gives ${tiny}, VMAF ${vmaf}`);
}

try {
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  const registry = run('npm', ['view', 'zod', 'version', '--fetch-retries=0', '--fetch-timeout=10000']);
  if (registry.status !== 0) {
    console.log(`skipped: npm reaches no registry (${registry.stderr.trim().split('\n').at(-1)})`);
    process.exitCode = SKIPPED;
  } else {
    install();
    const names = pair();
    const { pooled_metrics } = json(names);
    console.log(`scores: VMAF ${pooled_metrics.vmaf.mean.toFixed(6)}`);
    scoreEncoded(names);
    scoreTiny(names);
    const states = JSON.parse(anyvmaf(['setup', '--json']).stdout);
    assert.equal(states.find(({ part }) => part === 'tiny').installed, true);
    anyvmaf(['setup', '--remove']);
    assert.deepEqual(readdirSync(join(cache, 'parts')), []);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
