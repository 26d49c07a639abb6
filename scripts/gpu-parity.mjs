/**
 * @module scripts/gpu-parity
 * `npm run gpu:parity`: compares every number that a GPU measures with the core's, to the last bit: records of random pairs
 * (test/support/gpu-parity), then whole runs of fixtures and, if ../shared is present, real clips.
 *
 *   node scripts/gpu-parity.mjs [--pairs 500] [--seed S]
 *
 * Uses the machine's GPU, else Chromium's software adapter. Exits with 1 at any difference.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadBuilt, ROOT, readOptions } from './lib/project.mjs';
import { loadSupport } from './lib/support.mjs';

const { values: flags } = readOptions({
  options: {
    pairs: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
const { scorePair } = await loadBuilt('engine/score.js');
const { nodePlatform } = await loadBuilt('platform/node/platform.js');
const { score } = await loadBuilt('bundle/js/index.js');
const { makeSample } = await loadBuilt('sample/generator.js');
const { sampleSource, y4mFile } = await loadBuilt('sample/files.js');
const support = await loadSupport(
  ...['fixtures', 'gpu', 'gpu-parity', 'random'],
  '../../src/engine/backends/webgpu/measurer',
);

if (!nodePlatform.gpu.driver && existsSync(support.SWIFTSHADER))
  process.env.VK_ICD_FILENAMES = support.SWIFTSHADER;
const { create } = await import('webgpu');
const kind = await support.openWebgpu(create([]));
console.log(`seed ${flags.seed}, ${process.platform}, ${JSON.stringify(kind.adapter)}`);

/** Node with this GPU for every run in this thread; shaders are compiled once. */
const platform = {
  ...nodePlatform,
  gpu: {
    ...{ here: true, driver: true, advice: '' },
    open: async () => ({
      adapter: kind.adapter,
      problem: (call, format) => kind.problem(call, format),
      open: (plan) => kind.open(plan),
      close() {},
    }),
  },
};

/** Differences found so far in all groups. */
let failures = 0;

/** A group of comparisons. */
class Group {
  #name;
  #runs = 0;
  #values = 0;
  #different = 0;
  #started = performance.now();

  constructor(name) {
    this.#name = name;
  }

  /** Counts the comparisons of a run, and prints its differences. */
  add(title, values, differences) {
    this.#runs++;
    this.#values += values;
    this.#different += differences.length;
    for (const line of differences.slice(0, 10)) console.error(`${this.#name}: ${title}: ${line}`);
  }

  end() {
    failures += this.#different + Number(this.#values === 0);
    this.print();
  }

  print() {
    const seconds = ((performance.now() - this.#started) / 1000).toFixed(0);
    const counts = `${this.#runs} comparisons, ${this.#values} values, ${this.#different} differences`;
    console.log(`${this.#name}: ${counts}, ${seconds} s`);
  }
}

/** The numbers of a report by their names. */
function numbersOf({ frames, pooled_metrics, aggregate_metrics }) {
  const flat = (value, path) =>
    value && typeof value === 'object'
      ? Object.entries(value).flatMap(([name, inner]) => flat(inner, `${path}/${name}`))
      : [[path, value]];
  return new Map(flat({ frames, pooled_metrics, aggregate_metrics }, ''));
}

/** Scores a request with the core and with a GPU, and compares all numbers of the reports. */
async function compareRuns(group, title, run, request, options, backend = 'webgpu') {
  const expected = numbersOf(await run(request, { ...options, backend: 'cpu' }));
  const report = await run(request, { ...options, backend });
  const found = numbersOf(report);
  const wrong = [...expected].flatMap(([path, value]) =>
    Object.is(found.get(path), value) ? [] : `${path}: GPU ${found.get(path)}, core ${value}`,
  );
  if (found.size !== expected.size) wrong.push(`${found.size} values, not ${expected.size}`);
  const onGpu = report.measurers?.find((measurer) => measurer.backend === 'webgpu')?.frames ?? 0;
  if (report.backend_used !== backend || onGpu === 0) wrong.push(`the GPU measured ${onGpu} frames`);
  group.add(title, expected.size, wrong);
  return report;
}

const inThread = (request, options) => scorePair(platform, request, { ...options, threads: 0 });

/** Whether a GPU can measure part of a run. */
const hasShaders = ({ models = [], features = [] }) =>
  models.some((name) => !name.includes('vmaf_float_')) ||
  features.some((name) => /^(vif|adm|psnr|motion)(=|$)/.test(name) && !name.includes('force_zero'));

/** Random plans and pictures, record by record. */
async function randomPairs(count) {
  const random = support.seeded(Number(flags.seed));
  const group = new Group('random pairs');
  for (let i = 0; i < count; i++) {
    const { plan, pairs, run, title } = support.drawCase(random, { width: 400, height: 300 });
    const measurer = await kind.open(plan);
    const found = await support.recordsOf(measurer, pairs, run);
    const expected = await support.coreRecords(plan, pairs, run);
    const wrong = support.differences(plan, found, expected);
    const { length, excess } = measurer.layout;
    const fields = expected.flatMap((record) => [...record.subarray(0, excess < 0 ? length : excess)]);
    if (measurer.dispatches === 0 && !fields.every(Number.isNaN)) wrong.push('the GPU did nothing');
    group.add(`case ${i}: ${title}`, expected.length * length, wrong);
    measurer.close();
    if ((i + 1) % 50 === 0 && i + 1 < count) group.print();
  }
  group.end();
}

const pairOf = (clip, frames) => ({
  reference: sampleSource(clip, 'reference', frames),
  distorted: sampleSource(clip, 'distorted', frames),
});

/** Generated clips: values of the core and of libvmaf. */
async function fixtures() {
  const group = new Group('fixtures');
  for (const file of ['compat', 'extremes', 'formats', 'models', 'options']) {
    for (const { clip, runs } of support.readFixture(file)) {
      for (const run of runs.filter(hasShaders)) {
        const { models, features, noPrediction, subsample, compat } = run;
        const given = Object.entries({ models, features, noPrediction, subsample, compat });
        const options = Object.fromEntries(given.filter(([, value]) => value !== undefined));
        const pair = pairOf(support.fixtureClip(clip), clip.frames);
        const title = `${support.clipTitle(clip)}, ${support.requestTitle(run)}`;
        const report = await compareRuns(group, title, inThread, pair, options);
        const { compared, wrong } = support.compareWithFixture(report, run);
        group.add(`${title}, libvmaf`, compared, wrong);
      }
    }
  }
  group.end();
}

const shared = new URL('../shared/', pathToFileURL(`${ROOT}/`));

/** Real clips: values of the core and of libvmaf. All models of a clip are one run. */
async function realClips() {
  if (!existsSync(new URL('golden/features.json', shared))) return;
  const group = new Group('real clips');
  const cases = support.goldenCases(shared).filter(({ options }) => hasShaders(options));
  const check = (report, entry) => {
    const { compared, wrong } = support.compareWithGolden(report, entry);
    group.add(`${entry.clip}, ${entry.config}, libvmaf`, compared, wrong);
  };
  for (const clip of new Set(cases.map((test) => test.clip))) {
    const ofClip = cases.filter((test) => test.clip === clip);
    const ofModels = ofClip.filter(({ options }) => options.models);
    const models = ofModels.map(({ options }, i) => options.models[0].replace(/(:name=.*)?$/, `:name=m${i}`));
    const all = await compareRuns(group, `${clip}, all models`, inThread, ofModels[0].request, { models });
    for (const [i, entry] of ofModels.entries()) check(renamed(all, `m${i}`), entry);
    for (const entry of ofClip.filter(isQuick)) {
      const title = `${clip}, ${entry.config}`;
      check(await compareRuns(group, title, inThread, entry.request, entry.options), entry);
    }
  }
  group.end();
}

/** Feature runs that a software adapter finishes quickly. */
function isQuick({ config, request: { raw }, options, expected }) {
  const samples = raw.width * raw.height * expected.frames;
  return options.features !== undefined && (samples < 2e5 || /^(motion|psnr)/.test(config));
}

/** A report in which the model of the given name is `vmaf`. */
function renamed(report, name) {
  const ofModel = new RegExp(`^${name}(?=_|$)`);
  const rename = (metrics) =>
    Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key.replace(ofModel, 'vmaf'), value]));
  const frames = report.frames.map((frame) => ({ ...frame, metrics: rename(frame.metrics) }));
  const [pooled_metrics, aggregate_metrics] = [report.pooled_metrics, report.aggregate_metrics].map(rename);
  return { ...report, frames, pooled_metrics, aggregate_metrics };
}

/** The public interface with workers: files, chunks with priming frames, scaling, frame rates, encodes. */
async function workers() {
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-parity-'));
  const group = new Group('workers');
  // Without a model, compiling shaders is quick; each worker compiles them.
  const usual = { features: ['psnr', 'motion', 'float_ssim'], noPrediction: true };
  try {
    const write = (name, { size: [width, height], bitDepth = 8, frames = 24 }) => {
      const clip = makeSample({ width, height, bitDepth, chroma: '420' }, { seed: 7 });
      return ['reference', 'distorted'].map((side) => {
        const path = join(folder, `${name}-${side}.y4m`);
        writeFileSync(path, y4mFile(clip, side, frames));
        return path;
      });
    };
    const compare = (title, [reference, distorted], options, backend) =>
      compareRuns(group, title, score, { reference, distorted }, { ...usual, ...options }, backend);
    const deep = write('deep', { size: [322, 182], bitDepth: 10 });
    await compare('10 bit', deep, { threads: 1, chunkFrames: 5 });
    const model = { threads: 2, chunkFrames: 3, noPrediction: false };
    await compare('hybrid, the default model, 10 bit', deep, model, 'hybrid');
    await compare('subsampled', deep, { threads: 1, subsample: 3 });
    const encode = (path, ...args) => {
      const to = path.replace('.y4m', '.mp4');
      const x264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', ...args];
      execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-i', path, ...x264, to]);
      return to;
    };
    if (spawnSync('ffmpeg', ['-version']).status !== 0) {
      console.log('workers: encodes are left out: there is no ffmpeg on PATH');
      return;
    }
    const [large, small] = write('encoded', { size: [320, 180] });
    const encoded = [encode(large, '-crf', '16'), encode(small, '-vf', 'scale=240:136', '-crf', '32')];
    await compare('H.264, scaled', encoded, { threads: 2 });
    await compare('H.264, hybrid', encoded, { threads: 2, chunkFrames: 4 }, 'hybrid');
    const slower = encode(small, '-r', '12.5', '-crf', '28');
    await compare('H.264, half the frame rate', [encoded[0], slower], { threads: 1 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    group.end();
  }
}

if (Number(flags.pairs) > 0) await randomPairs(Number(flags.pairs));
for (const compare of [fixtures, realClips, workers]) await compare();
kind.close();
if (failures > 0) process.exitCode = 1;
