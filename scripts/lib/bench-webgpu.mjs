/**
 * @module scripts/lib/bench-webgpu
 * The rows `webgpu` of scripts/bench: frames per second of a GPU alone, of the core's workers alone and of both, for frames
 * in memory and H.264 files, and where the GPU's time goes. Needs the package `webgpu`; files need ffmpeg.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { register } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { loadBuilt } from './project.mjs';

const SIZES = { '540p': [960, 540], '1080p': [1920, 1080], '2160p': [3840, 2160] };
const BACKENDS = { webgpu: 'GPU alone', cpu: 'workers alone', hybrid: 'GPU and workers' };
/** Frames of each video, which repeat. */
const DISTINCT = 4;
/** Milliseconds that a timed run should take, so that its start does not count. */
const WORTH_TIMING = 3000;
const MOST_FRAMES = 4000;
/** Pairs for timing upload, kernels and read-back. */
const APART = 50;
/** Loads shaders as text, as the bundle has them. */
const SHADERS = `
  import { readFileSync } from 'node:fs';
  export function load(url, context, next) {
    if (!url.endsWith('.wgsl')) return next(url, context);
    const source = 'export default ' + JSON.stringify(readFileSync(new URL(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  }`;
const SIDES = ['reference', 'distorted'];
const METRICS = ['vif', 'adm', 'motion'];

/**
 * @param bench `{ folder, frames, runs, model, sizes, software, median, report }`: `frames` of the 1080p files, names of
 *   `sizes`, and whether rows of a `software` adapter are wanted
 */
export async function benchWebgpu(bench) {
  const { report, sizes, software } = bench;
  const unknown = sizes.filter((name) => !(name in SIZES));
  if (unknown.length > 0) {
    console.error(`No size is called ${unknown.join(', ')}; choose from ${Object.keys(SIZES).join(', ')}.`);
    process.exit(1);
  }
  register(`data:text/javascript,${encodeURIComponent(SHADERS)}`);
  const { adapter, missing } = await findGpu();
  if (missing !== undefined) {
    report('webgpu', 'left out', missing);
    return;
  }
  const { adapterName } = await loadBuilt('report/facts.js');
  if (adapter.software && !software) {
    const why = `${adapterName(adapter)} is a software adapter, whose times mean nothing`;
    report('webgpu', 'left out', `${why}; --software prints them all the same`);
    return;
  }
  report(
    'webgpu',
    'GPU',
    adapterName(adapter) + (adapter.software ? ', software: its times mean nothing' : ''),
  );
  const tell = (what, value, target = '') =>
    report('webgpu', what, value, adapter.software ? 'meaningless' : target);
  for (const size of sizes) {
    for (const bitDepth of [8, 10]) {
      const [width, height] = SIZES[size];
      const clip = await makeClip({ width, height, bitDepth, chroma: '420' });
      const name = `${size} ${bitDepth} bit`;
      await benchMeasurer({ ...bench, report: tell }, name, clip);
      await benchMemory({ ...bench, report: tell }, name, clip);
      await benchFiles({ ...bench, report: tell }, name, clip);
    }
  }
}

/** The GPU that runs would use, or a sentence on why there is none. */
async function findGpu() {
  const { nodeGpu } = await loadBuilt('platform/node/gpu.js');
  if (!nodeGpu.here) return { missing: `the package webgpu is not installed; ${nodeGpu.advice}` };
  if (!nodeGpu.driver) return { missing: 'there is no driver for Vulkan here, which WebGPU needs on Linux' };
  try {
    const gpu = await nodeGpu.open();
    const { adapter } = gpu;
    gpu.close();
    return { adapter };
  } catch (error) {
    return { missing: error.message };
  }
}

async function makeClip(format) {
  const { makeSample } = await loadBuilt('sample/generator.js');
  const { sampleBytes } = await loadBuilt('sample/files.js');
  const clip = makeSample(format, { seed: 7 });
  const frames = Object.fromEntries(
    SIDES.map((side) => [
      side,
      Array.from({ length: DISTINCT }, (_, index) => clip.frame(side, index).map(sampleBytes)),
    ]),
  );
  return { format, frames };
}

function write(planes, [y, cb, cr]) {
  planes.y.set(y);
  planes.cb?.set(cb);
  planes.cr?.set(cr);
}

/** One side of a clip as a source of the given number of frames. */
function sourceOf({ format, frames }, side, count) {
  return {
    info: { ...format, name: `generated ${side}`, container: 'frames', frameCount: count, warnings: [] },
    seekable: true,
    readFrame(index, into) {
      if (index >= count) return false;
      write(into, frames[side][index % DISTINCT]);
      return true;
    },
    close() {},
  };
}

/** Median and spread of rates. */
function rates(median, values) {
  if (Math.min(...values) === 0) return 'too short to time';
  const text = (value) => value.toFixed(value < 100 ? 1 : 0);
  return `${text(median(values))} (${text(Math.min(...values))} - ${text(Math.max(...values))})`;
}

/** Frames per second of a run from its first progress report on, without its start. */
async function rateOf(request, options) {
  const { score } = await loadBuilt('bundle/js/index.js');
  let first;
  const onProgress = ({ framesDone }) => {
    first ??= { time: performance.now(), frames: framesDone };
  };
  const { frames, measurers = [] } = await score(request, { ...options, preflight: false, onProgress });
  const last = performance.now();
  const wantsGpu = options.backend !== 'cpu';
  if (wantsGpu && !measurers.some(({ backend, frames: some }) => backend === 'webgpu' && some > 0))
    throw new Error(`the GPU measured nothing in a run with the backend ${options.backend}`);
  if (!first || first.frames >= frames.length) return 0;
  return ((frames.length - first.frames) * 1000) / (last - first.time);
}

/** Rates of each backend, alternating. */
async function rateBackends({ runs }, request, options) {
  const values = Object.fromEntries(Object.keys(BACKENDS).map((backend) => [backend, []]));
  for (let turn = 0; turn < runs; turn++) {
    for (const backend of Object.keys(BACKENDS))
      values[backend].push(await rateOf(request(backend), { ...options, backend }));
  }
  return values;
}

function reportRates({ median, report }, what, values, targets = {}) {
  for (const [backend, title] of Object.entries(BACKENDS))
    report(`${what}, ${title}, frames/s`, rates(median, values[backend]), targets[backend]);
  const sum = median(values.webgpu) + median(values.cpu);
  const share = sum > 0 ? (median(values.hybrid) / sum).toFixed(2) : '';
  report(`${what}, GPU and workers over the sum of either alone`, share, 'at least 0.90');
}

/** Whole runs through the API, with frames in memory that the calling thread copies to workers. */
async function benchMemory(bench, name, clip) {
  const { median, model, report, software } = bench;
  const what = `${name} from memory`;
  const options = { models: [model] };
  const request = (count) => Object.fromEntries(SIDES.map((side) => [side, sourceOf(clip, side, count)]));
  const least = software ? 8 : 64;
  const counts = {};
  for (const backend of Object.keys(BACKENDS)) {
    let count = least;
    let rate = await rateOf(request(count), { ...options, backend });
    // A run that ends before its first progress report is too short to time.
    while (rate === 0 && count < MOST_FRAMES) {
      count *= 4;
      rate = await rateOf(request(count), { ...options, backend });
    }
    counts[backend] = Math.min(MOST_FRAMES, Math.max(count, Math.round((rate * WORTH_TIMING) / 1000)));
  }
  const values = await rateBackends(bench, (backend) => request(counts[backend]), options);
  reportRates(bench, what, values);
  const single = await rateOf(request(Math.max(8, Math.round(counts.cpu / 2))), {
    ...options,
    backend: 'cpu',
    threads: 1,
  });
  report(`${what}, one worker, frames/s`, single.toFixed(1));
  const times = single > 0 ? (median(values.webgpu) / single).toFixed(1) : '';
  report(`${what}, GPU over one worker`, times, 'at least 3 on an integrated card');
  const theirs = vmafRates(bench, name, clip);
  if (theirs) report(`${what} as Y4M files, vmaf, all cores, frames/s`, rates(median, theirs));
}

/** The native `vmaf` of VMAF_BIN on files of the same frames; whole processes. */
function vmafRates({ folder, frames, runs, model }, name, clip) {
  const binary = process.env.VMAF_BIN;
  if (!binary) return undefined;
  const count = framesOf(frames, clip);
  const paths = SIDES.map((side) => writeY4m(folder, clip, side, count));
  const threads = String(availableParallelism());
  const output = ['--json', '--output', join(folder, 'theirs.json'), '--quiet', '--threads', threads];
  try {
    return Array.from({ length: runs }, () => {
      const started = performance.now();
      const { status, stderr, error } = spawnSync(
        binary,
        ['-r', paths[0], '-d', paths[1], '-m', model, ...output],
        { encoding: 'utf8' },
      );
      if (status !== 0) throw new Error(`${binary} failed for ${name}: ${error?.message ?? stderr}`);
      return (count * 1000) / (performance.now() - started);
    });
  } finally {
    for (const path of paths) rmSync(path, { force: true });
  }
}

/** Frames of files: the same number of bytes in each size and depth. */
function framesOf(frames, { format: { width, height, bitDepth } }) {
  const pixels = (1920 * 1080) / (width * height);
  return Math.max(DISTINCT, Math.round(frames * pixels * (bitDepth > 8 ? 0.5 : 1)));
}

/** Writes a Y4M file. @returns its path */
function writeY4m(folder, { format, frames }, side, count) {
  mkdirSync(folder, { recursive: true });
  const { width, height, bitDepth } = format;
  const path = join(folder, `webgpu-${width}x${height}-${bitDepth}-${side}.y4m`);
  const file = openSync(path, 'w');
  const colour = bitDepth > 8 ? `420p${bitDepth}` : '420jpeg';
  writeSync(file, `YUV4MPEG2 W${width} H${height} F25:1 Ip A1:1 C${colour}\n`);
  for (let index = 0; index < count; index++) {
    writeSync(file, 'FRAME\n');
    for (const plane of frames[side][index % DISTINCT]) writeSync(file, plane);
  }
  closeSync(file);
  return path;
}

/** Whole runs of two H.264 files, which ffmpeg decodes. */
async function benchFiles(bench, name, clip) {
  const what = `${name} from H.264 files`;
  if (spawnSync('ffmpeg', ['-version']).status !== 0) {
    bench.report(what, 'left out: there is no ffmpeg on PATH');
    return;
  }
  const [reference, distorted] = SIDES.map((side) => encode(bench, clip, side));
  const values = await rateBackends(bench, () => ({ reference, distorted }), { models: [bench.model] });
  reportRates(bench, what, values);
}

/** A side of a clip as H.264, repeated; cached for the next run. */
function encode({ folder, frames }, clip, side) {
  const { width, height, bitDepth } = clip.format;
  const count = framesOf(frames, clip) * 2;
  const path = join(folder, `webgpu-${width}x${height}-${bitDepth}-${count}-${side}.mp4`);
  if (existsSync(path)) return path;
  console.error(`making ${path}`);
  const source = writeY4m(folder, clip, side, DISTINCT);
  const part = path.replace('.mp4', '.part.mp4');
  const pixels = bitDepth > 8 ? `yuv420p${bitDepth}le` : 'yuv420p';
  const looped = ['-stream_loop', '-1', '-i', source, '-frames:v', String(count)];
  const x264 = [
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-pix_fmt',
    pixels,
    '-crf',
    side === 'reference' ? '16' : '30',
  ];
  const made = spawnSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...looped, ...x264, part], {
    encoding: 'utf8',
  });
  rmSync(source);
  if (made.status !== 0) throw new Error(`ffmpeg failed: ${made.error?.message ?? made.stderr}`);
  renameSync(part, path);
  return path;
}

/** The GPU's measurer alone on frames in memory, in this thread: its rate, and where the time of a pair goes. */
async function benchMeasurer(bench, name, clip) {
  const { median, report, runs, software } = bench;
  const { nodeGpu } = await loadBuilt('platform/node/gpu.js');
  const { parseFeature } = await loadBuilt('metrics/options.js');
  const { planFeatures } = await loadBuilt('engine/backends/features.js');
  const { extraction } = planFeatures(METRICS.map(parseFeature), clip.format, 'libvmaf-3.2');
  const gpu = await nodeGpu.open();
  try {
    const measurer = await gpu.open(extraction);
    const pairs = new Pairs(measurer, clip);
    await pairs.run(software ? 2 : 20);
    const started = performance.now();
    await pairs.run(4);
    const count = Math.min(MOST_FRAMES, Math.round((4 * WORTH_TIMING) / (performance.now() - started)));
    const values = [];
    for (let turn = 0; turn < runs; turn++) {
      const before = performance.now();
      await pairs.run(Math.max(4, count));
      values.push((Math.max(4, count) * 1000) / (performance.now() - before));
    }
    const target = name === '1080p 8 bit' ? 'at least 1000 on a data-centre card' : '';
    report(`${name} from memory, the GPU's measurer alone, frames/s`, rates(median, values), target);
    await reportApart(bench, name, measurer, pairs, software ? 2 : APART);
    measurer.close();
  } finally {
    gpu.close();
  }
}

class Pairs {
  #measurer;
  #clip;
  #next = 0;

  constructor(measurer, clip) {
    this.#measurer = measurer;
    this.#clip = clip;
  }

  /** Measures pairs, as many at a time as there are slots. */
  async run(count) {
    const inFlight = [];
    for (let done = 0; done < count; done++) {
      if (inFlight.length >= this.#measurer.slots) await inFlight.shift();
      inFlight.push(this.measure(this.fill()));
    }
    await Promise.all(inFlight);
  }

  fill() {
    const slot = this.#measurer.slot(this.#next++);
    for (const side of SIDES) write(slot[side], this.#clip.frames[side][slot.index % DISTINCT]);
    return slot;
  }

  measure(slot) {
    return this.#measurer.measure(slot, new Float64Array(this.#measurer.layout.length), true);
  }
}

/** Upload, kernels and read-back of one pair at a time, by device timestamps if available. */
async function reportApart({ median, report }, name, measurer, pairs, count) {
  const { device } = measurer;
  const clock = device.features.has('timestamp-query') ? new Clock(device) : undefined;
  const parts = { submitting: [], upload: [], kernels: [], rest: [] };
  for (let index = 0; index < count; index++) {
    const slot = pairs.fill();
    clock?.begin();
    const started = performance.now();
    const measured = pairs.measure(slot);
    const submitting = performance.now() - started;
    await measured;
    const whole = performance.now() - started;
    const { upload = submitting, kernels = 0 } = (await clock?.read()) ?? {};
    parts.submitting.push(submitting);
    parts.upload.push(upload);
    parts.kernels.push(kernels);
    parts.rest.push(Math.max(0, whole - upload - kernels));
  }
  clock?.close();
  const row = (what, values) => report(`${name}, one pair at a time, ${what}, ms`, median(values).toFixed(2));
  row('until it is submitted (samples copied to staging memory, commands)', parts.submitting);
  if (!clock) {
    row('kernels and read-back together (this GPU has no timestamp queries)', parts.rest);
    return;
  }
  row("upload until kernels start, by the GPU's timestamps", parts.upload);
  row("kernels, by the GPU's timestamps", parts.kernels);
  row('read-back and the rest until the record is complete', parts.rest);
}

/** Device timestamps before a pair is uploaded, and before and after the kernels that are submitted next. */
class Clock {
  #device;
  #queries;
  #resolved;
  #readback;
  #createCommandEncoder;

  constructor(device) {
    this.#device = device;
    this.#queries = device.createQuerySet({ type: 'timestamp', count: 4 });
    // GPUBufferUsage: QUERY_RESOLVE and COPY_SRC, MAP_READ and COPY_DST.
    this.#resolved = device.createBuffer({ size: 32, usage: 0x200 | 0x4 });
    this.#readback = device.createBuffer({ size: 32, usage: 0x1 | 0x8 });
    this.#createCommandEncoder = device.createCommandEncoder.bind(device);
    device.createCommandEncoder = (...args) => {
      const encoder = this.#createCommandEncoder(...args);
      const beginComputePass = encoder.beginComputePass.bind(encoder);
      encoder.beginComputePass = () => beginComputePass({ timestampWrites: this.#writes(2) });
      return encoder;
    };
  }

  #writes(first) {
    return {
      querySet: this.#queries,
      beginningOfPassWriteIndex: first,
      endOfPassWriteIndex: first + 1,
    };
  }

  /** Submits an empty pass that takes a timestamp. */
  begin() {
    const encoder = this.#createCommandEncoder();
    encoder.beginComputePass({ timestampWrites: this.#writes(0) }).end();
    this.#device.queue.submit([encoder.finish()]);
  }

  async read() {
    const encoder = this.#createCommandEncoder();
    encoder.resolveQuerySet(this.#queries, 0, 4, this.#resolved, 0);
    encoder.copyBufferToBuffer(this.#resolved, 0, this.#readback, 0, 32);
    this.#device.queue.submit([encoder.finish()]);
    await this.#readback.mapAsync(1);
    const times = [...new BigUint64Array(this.#readback.getMappedRange())];
    this.#readback.unmap();
    const between = (from, to) => Number(times[to] - times[from]) / 1e6;
    return { upload: between(1, 2), kernels: between(2, 3) };
  }

  close() {
    delete this.#device.createCommandEncoder;
    this.#queries.destroy();
    this.#resolved.destroy();
    this.#readback.destroy();
  }
}
