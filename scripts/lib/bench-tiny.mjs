/**
 * @module scripts/lib/bench-tiny
 * The rows `tiny` of scripts/bench: the cost of tiny models beside scoring and alone. Needs onnxruntime-node.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtCommand, childrenTime, loadBuilt, ROOT } from './project.mjs';

const FR = 'fr_vmaf_v0.6.1';
const NR = 'nr_vmaf_v0.6.1';
const WIDTH = 1920;
const HEIGHT = 1080;
/** Frames per timing of the no-reference model. */
const PICTURES = 20;

/**
 * @param tools the benchmark's `args` of a scoring run without tiny models, folder, runs, median, report
 */
export async function benchTiny(tools) {
  attached(tools);
  const { nodeTiny } = await loadBuilt('platform/node/tiny/platform.js');
  const platform = nodeTiny(() => pathToFileURL(join(ROOT, 'model/')));
  await picture(platform, tools);
  await starting(platform, tools);
}

/** Whole processes with and without the full-reference model, alternately. */
function attached({ args, folder, runs, median, report }) {
  const timed = (more) => {
    const [time, cpu] = [performance.now(), childrenTime()];
    const { status, stderr } = spawnSync(process.execPath, [builtCommand(), ...args, ...more], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return { time: performance.now() - time, cpu: childrenTime() - cpu };
  };
  const [without, beside] = [[], []];
  for (let turn = 0; turn < runs; turn++) {
    without.push(timed([]));
    beside.push(timed(['--tiny-model', FR]));
  }
  for (const [key, what] of [
    ['time', 'time over without'],
    ['cpu', 'CPU time over without'],
  ]) {
    const ratio = median(beside.map((run) => run[key])) / median(without.map((run) => run[key]));
    report('tiny', `1080p 8 bit, one worker, ${FR} beside VMAF, ${what}`, ratio.toFixed(3), 'below 1.03');
  }
}

/** The no-reference model on frames in memory, one thread, from luma bytes to the score. */
async function picture(platform, { runs, median, report }) {
  const [{ loadTinyModel }, { bindTinyModel }, { TinyPictureScorer }] = await Promise.all(
    ['tiny/load.js', 'tiny/bind.js', 'tiny/scorers.js'].map(loadBuilt),
  );
  const model = await loadTinyModel(NR, platform);
  const binding = bindTinyModel(model, { model: NR, resize: 'bilinear' });
  const session = await platform.runtimes.open(model, { device: 'cpu', threads: 1, fp16: false });
  const format = { width: WIDTH, height: HEIGHT, bitDepth: 8, chroma: '420' };
  const scorer = new TinyPictureScorer(binding, session, format);
  const planes = { y: Uint8Array.from({ length: WIDTH * HEIGHT }, (_, i) => (i * 7 + (i >> 8)) & 255) };
  const into = new Float64Array(binding.outputs.length);
  const [times, cpu] = [[], []];
  try {
    // The runtime allocates its memory in the first timing.
    for (let run = 0; run <= runs; run++) {
      const [started, used] = [performance.now(), process.cpuUsage()];
      for (let frame = 0; frame < PICTURES; frame++) {
        scorer.take(planes, planes);
        await scorer.score(frame, into, 0);
      }
      const { user, system } = process.cpuUsage(used);
      if (run === 0) continue;
      times.push((performance.now() - started) / PICTURES);
      cpu.push((user + system) / 1000 / PICTURES);
    }
  } finally {
    await scorer.close();
  }
  const spread = `(${Math.min(...times).toFixed(1)} - ${Math.max(...times).toFixed(1)})`;
  const what = `${NR} on a 1080p frame, one core`;
  report('tiny', `${what}, ms`, `${median(times).toFixed(1)} ${spread}`, 'below 20');
  report('tiny', `${what}, ms of CPU time`, median(cpu).toFixed(1));
}

/** The start-up of each worker. */
async function starting(platform, { runs, median, report }) {
  const { loadTinyModel } = await loadBuilt('tiny/load.js');
  for (const id of [FR, NR]) {
    const times = [];
    for (let run = 0; run <= runs; run++) {
      const started = performance.now();
      const model = await loadTinyModel(id, platform);
      const session = await platform.runtimes.open(model, { device: 'cpu', threads: 1, fp16: false });
      if (run > 0) times.push(performance.now() - started);
      await session.close();
    }
    report('tiny', `${id}, read, checked and started, ms once a worker`, median(times).toFixed(1));
  }
}
