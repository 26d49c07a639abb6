/**
 * @module scripts/lib/bench-perceptual
 * Rows `perceptual` of the benchmark: XPSNR, SSIMULACRA2, Butteraugli and ColorVideoVDP of 1080p pairs in one worker's
 * module, as ratios to VMAF's features and to the authors' programs, which alternate with them in the same run; and the
 * memory of that module.
 *
 * Environment variables name the programs:
 *
 *   SSIMULACRA2_BIN, BUTTERAUGLI_BIN   take two PNG files without compression; the time of a tiny pair is subtracted
 *   CVVDP_PY                           a Python that imports pycvvdp; PyTorch on one thread, without loading
 *   XPSNR_BIN                          an ffmpeg with the xpsnr filter; the time of an additional frame
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from 'fast-png';

const SIZE = { width: 1920, height: 1080 };
const TINY = { width: 16, height: 16 };
const COLOUR = {
  matrix: 'bt709',
  range: 'limited',
  transfer: 'srgb',
  siting: 'left',
  upsampling: 'bicubic',
};
/** Maximum memory of a worker's module. */
const MOST_MB = 250;

/** Runs: features, pairs per turn, and the authors' program with the required ratio to it. */
const RUNS = [
  { name: 'VMAF (vmaf_v0.6.1)', features: ['vif', 'adm', 'motion'], pairs: 12 },
  { name: 'xpsnr', features: ['xpsnr'], pairs: 40, program: 'XPSNR_BIN', least: 1.5 },
  { name: 'ssimulacra2', features: ['ssimulacra2'], pairs: 4, program: 'SSIMULACRA2_BIN', least: 1.5 },
  {
    ...{ name: 'ssimulacra2, mode exact', features: ['ssimulacra2=mode=exact'], pairs: 4 },
    ...{ program: 'SSIMULACRA2_BIN', least: 1 },
  },
  { name: 'butteraugli', features: ['butteraugli'], pairs: 3, program: 'BUTTERAUGLI_BIN', least: 1.5 },
  { name: 'cvvdp of stills', features: ['cvvdp'], pairs: 3, program: 'CVVDP_PY', least: 4 },
  {
    ...{ name: 'cvvdp at 30 fps', features: ['cvvdp'], pairs: 3, rate: 30 },
    ...{ program: 'CVVDP_PY', least: 4, clip: true },
  },
];
const [VMAF, ...METRICS] = RUNS;

/** @param tools the benchmark's root, folder, runs, load (imports a built module), median, report */
export async function benchPerceptual(tools) {
  const { runs, folder, median, report } = tools;
  mkdirSync(folder, { recursive: true });
  const clip = await makeClip(tools);
  const opened = await openMeasurers(tools, clip);
  const programs = findPrograms(tools, clip);
  for (const name of Object.keys(programs))
    if (!process.env[name]) report('perceptual', `${name} is not set: its ratio is left out`, 'skipped');
  const times = new Map();
  const timed = (name, ms) => times.set(name, [...(times.get(name) ?? []), ms]);
  for (let turn = 0; turn < runs; turn++) {
    for (const run of RUNS) timed(run.name, opened.get(run.name).time(run.pairs));
    for (const [name, measure] of Object.entries(programs))
      if (process.env[name]) for (const [what, ms] of Object.entries(measure())) timed(what, ms);
  }
  const of = (name) => median(times.get(name));
  report('perceptual', `${VMAF.name}, one worker, ms a 1080p pair`, of(VMAF.name).toFixed(1));
  for (const { name, program, least, clip: moving } of METRICS) {
    report('perceptual', `${name}, one worker, ms a 1080p pair`, of(name).toFixed(1));
    report('perceptual', `${name}, time over a VMAF frame's`, (of(name) / of(VMAF.name)).toFixed(2));
    const theirs = moving ? `${program} clip` : program;
    if (times.has(theirs)) {
      report('perceptual', `${name}, ${program}, ms a pair`, of(theirs).toFixed(1));
      const ratio = (of(theirs) / of(name)).toFixed(2);
      report('perceptual', `${name}, times as fast as ${program}`, ratio, `at least ${least.toFixed(2)}`);
    }
    const megabytes = (opened.get(name).bytes() / 1e6).toFixed(0);
    report('perceptual', `${name}, memory of the module`, `${megabytes} MB`, `below ${MOST_MB} MB`);
  }
}

async function makeClip({ load }) {
  const { makeSample } = await load('sample/generator.js');
  const { toRgb } = await load('pictures/rgb.js');
  const format = { ...SIZE, bitDepth: 8, chroma: '420' };
  const sample = makeSample(format, { seed: 7 });
  const frames = [0, 1, 2, 3].map((index) =>
    ['reference', 'distorted'].map((side) => sample.frame(side, index).map(({ samples }) => samples)),
  );
  const rgb = (side) =>
    frames.map((pair) => {
      const [y, cb, cr] = pair[side];
      return toRgb({ y, cb, cr }, format, { matrix: 'bt709', range: 'limited' }).data;
    });
  return { format, frames, rgb: [rgb(0), rgb(1)] };
}

/** A warm measurer with its own module for each run. */
async function openMeasurers({ root, load }, { format, frames }) {
  const { wasmMeasurers } = await load('engine/backends/core/extractor.js');
  const { compileCore } = await load('core/compile.js');
  const { parseFeature } = await load('metrics/options.js');
  const { planFeatures } = await load('engine/backends/features.js');
  const compiled = async (name) => compileCore(readFileSync(join(root, `wasm/${name}.wasm`)));
  const [core, perceptual] = [await compiled('anyvmaf'), await compiled('perceptual')];
  const open = ({ features, rate }) => {
    const scored = {
      ...{ ...format, colours: { reference: COLOUR, distorted: COLOUR } },
      ...(rate && { frameRate: { num: rate, den: 1 } }),
    };
    const plan = planFeatures(features.map(parseFeature), scored, 'libvmaf-3.2').extraction;
    const module = plan.calls.some((call) => call.module === 'perceptual') ? perceptual : core;
    const measurer = wasmMeasurers(module, 'simd128').open(plan);
    const record = new Float64Array(measurer.layout.length);
    let [next, bytes] = [0, 0];
    const measure = () => {
      const slot = measurer.slot(next);
      const [reference, distorted] = frames[next++ % frames.length];
      for (const [planes, samples] of [
        [slot.reference, reference],
        [slot.distorted, distorted],
      ])
        ['y', 'cb', 'cr'].forEach((name, i) => void planes[name]?.set(samples[i]));
      measurer.measure(slot, record, true);
    };
    const time = (pairs) => {
      const started = performance.now();
      for (let i = 0; i < pairs; i++) measure();
      return (performance.now() - started) / pairs;
    };
    // The first frames of a clip have fewer predecessors than later ones.
    time(rate ? 10 : 3);
    bytes = measurer.slot(next).reference.y.buffer.byteLength;
    return { time, bytes: () => bytes };
  };
  return new Map(RUNS.map((run) => [run.name, open(run)]));
}

/** Programs that measure milliseconds per pair, by their variables. */
function findPrograms({ folder }, clip) {
  const of = (size, name) =>
    ['reference', 'distorted'].map((side, i) => {
      const path = join(folder, `perceptual-${name}-${side}.png`);
      const data = clip.rgb[i][0].subarray(0, 3 * size.width * size.height);
      writeFileSync(path, encode({ ...size, data, channels: 3, depth: 8 }, { zlib: { level: 0 } }));
      return path;
    });
  const [large, tiny] = [of(SIZE, 'large'), of(TINY, 'tiny')];
  const stills = (name) => () => {
    const program = process.env[name];
    return { [name]: timeOf(program, large) - timeOf(program, tiny) };
  };
  return {
    XPSNR_BIN: () => ({ XPSNR_BIN: timeXpsnr(folder, clip) }),
    SSIMULACRA2_BIN: stills('SSIMULACRA2_BIN'),
    BUTTERAUGLI_BIN: stills('BUTTERAUGLI_BIN'),
    CVVDP_PY: () => timeCvvdp(folder, clip),
  };
}

function timeOf(program, args, options = {}) {
  const started = performance.now();
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', ...options });
  if (status !== 0)
    throw new Error(
      `${program} ${args.join(' ').slice(0, 200)} failed: ${error?.message ?? stderr}; unset its variable to leave it out.`,
    );
  return performance.now() - started;
}

/** Milliseconds per additional frame of the xpsnr filter, on one thread. */
function timeXpsnr(folder, { frames, format }) {
  const [few, many] = [4, 44];
  const paths = ['reference', 'distorted'].map((side, i) => {
    const path = join(folder, `perceptual-${side}.yuv`);
    writeFileSync(path, Buffer.concat(frames.flatMap((pair) => pair[i])));
    return path;
  });
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${format.width}x${format.height}`, '-r', '25'];
  const input = (path) => ['-stream_loop', '-1', ...raw, '-i', path];
  const time = (count) =>
    timeOf(process.env.XPSNR_BIN, [
      ...[
        '-v',
        'error',
        '-nostdin',
        '-threads',
        '1',
        '-filter_complex_threads',
        '1',
        ...paths.flatMap(input),
      ],
      ...['-lavfi', '[0:v][1:v]xpsnr', '-frames:v', String(count), '-f', 'null', '-'],
    ]);
  return (time(many) - time(few)) / (many - few);
}

/** Times a still and a frame of a clip in PyTorch, on one thread, after a warm-up; prints milliseconds. */
const CVVDP_SCRIPT = `
import sys, time, numpy, torch, pycvvdp
torch.set_num_threads(1)
reference, distorted, width, height = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
read = lambda path: numpy.fromfile(path, numpy.uint8).reshape(-1, height, width, 3)
r, d = read(reference), read(distorted)
metric = pycvvdp.cvvdp(display_name='standard_4k', device=torch.device('cpu'), quiet=True)
def measure(frames, rate):
    started = time.perf_counter()
    if rate == 0:
        metric.predict(d[0], r[0], dim_order='HWC')
    else:
        metric.predict(d[:frames], r[:frames], dim_order='FHWC', frames_per_second=rate)
    return 1000 * (time.perf_counter() - started)
measure(1, 0)
still = measure(1, 0)
one = measure(2, 30)
print(still, (measure(len(r), 30) - one) / (len(r) - 2))
`;

function timeCvvdp(folder, { rgb, format }) {
  const paths = ['reference', 'distorted'].map((side, i) => {
    const path = join(folder, `perceptual-${side}.rgb`);
    writeFileSync(path, Buffer.concat(rgb[i]));
    return path;
  });
  const { status, stdout, stderr, error } = spawnSync(
    process.env.CVVDP_PY,
    ['-c', CVVDP_SCRIPT, ...paths, String(format.width), String(format.height)],
    { encoding: 'utf8', env: { ...process.env, OMP_NUM_THREADS: '1' } },
  );
  if (status !== 0)
    throw new Error(`CVVDP_PY cannot run pycvvdp: ${error?.message ?? stderr}; unset it to leave it out.`);
  const [still, clip] = stdout.trim().split(/\s+/).slice(-2).map(Number);
  return { CVVDP_PY: still, 'CVVDP_PY clip': clip };
}
