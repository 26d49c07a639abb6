/**
 * @module scripts/lib/bench-metrics
 * Rows `metrics` of the benchmark: every extractor, VMAF v1 and the AOM preset alone on one worker, compared with the ffprobe
 * package's libvmaf and an installed `vmaf` if they have the metric. Whole processes of two lengths alternate; the time of an
 * additional frame is the difference, which excludes start-up.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The metrics: options of our command line, those of `vmaf`, and a filter option if 2.3.0 has the metric. */
const METRIC_RUNS = [
  { name: 'psnr', args: ['-n', '--feature', 'psnr'], filter: 'feature=name=psnr' },
  { name: 'float_psnr', args: ['-n', '--feature', 'float_psnr'] },
  { name: 'float_moment', args: ['-n', '--feature', 'float_moment'] },
  { name: 'float_ansnr', args: ['-n', '--feature', 'float_ansnr'] },
  { name: 'float_ssim', args: ['-n', '--feature', 'float_ssim'], filter: 'feature=name=float_ssim' },
  { name: 'float_ssim, scale 1', args: ['-n', '--feature', 'float_ssim=scale=1'] },
  { name: 'float_ms_ssim', args: ['-n', '--feature', 'float_ms_ssim'], filter: 'feature=name=float_ms_ssim' },
  { name: 'psnr_hvs', args: ['-n', '--feature', 'psnr_hvs'], filter: 'feature=name=psnr_hvs' },
  { name: 'ciede', args: ['-n', '--feature', 'ciede'], filter: 'feature=name=ciede' },
  { name: 'cambi', args: ['-n', '--feature', 'cambi'], filter: 'feature=name=cambi' },
  { name: 'float_motion', args: ['-n', '--feature', 'float_motion'] },
  { name: 'float_vif', args: ['-n', '--feature', 'float_vif'] },
  { name: 'float_adm', args: ['-n', '--feature', 'float_adm'] },
  { name: 'speed_chroma', args: ['-n', '--feature', 'speed_chroma'] },
  { name: 'speed_temporal', args: ['-n', '--feature', 'speed_temporal'] },
  { name: 'xpsnr', args: ['-n', '--feature', 'xpsnr'] },
  { name: 'vif', args: ['-n', '--feature', 'vif'] },
  { name: 'adm', args: ['-n', '--feature', 'adm'] },
  { name: 'motion', args: ['-n', '--feature', 'motion'] },
  { name: 'aom_ctc v7.0', args: ['--aom_ctc', 'v7.0'] },
];

/** Milliseconds per 1080p frame up to which a metric is timed on all frames, and the number of frames for slower ones. */
const CHEAP_MS = 20;
const COSTLY_FRAMES = 24;

/** VMAF v1, if its file was pulled or is in ../shared. */
function v1Run(root) {
  const shared = `${root}/../shared/models/vmaf_v1.0.16/vmaf_v1.0.16_3d0h.json`;
  if (!existsSync(shared)) return { name: 'vmaf_v1.0.16_3d0h', args: ['-m', 'version=vmaf_v1.0.16_3d0h'] };
  return { name: 'vmaf_v1.0.16_3d0h', args: ['-m', `path=${shared}`] };
}

/**
 * @param tools the benchmark's root, runs, cli, files (paths of the 1080p pair), packaged (runs a filter of the ffprobe
 *   package for a number of frames, `undefined` if there is none), median, report
 */
export function benchMetrics({ root, folder, runs, cli, files, packaged, frames, median, report }) {
  for (const { name, args, filter } of [...METRIC_RUNS, v1Run(root)]) {
    const programs = {
      ours: (count) => time(process.execPath, [cli, ...inputs(count), ...args, '--threads', '1'], folder),
    };
    if (process.env.VMAF_BIN)
      programs.vmaf = (count) => time(process.env.VMAF_BIN, [...inputs(count), ...args], folder);
    // Subtract the time of the filter's default model, which always runs too.
    if (packaged && filter)
      programs.packaged = (count) => packaged(filter, count) - packaged('n_subsample=1', count);
    const most = framesFor(programs.ours, frames);
    const few = Math.max(2, most >> 3);
    const perFrame = {};
    for (let turn = 0; turn < runs; turn++) {
      for (const [program, run] of Object.entries(programs)) {
        const [short, long] = [run(few), run(most)];
        if (short === undefined || long === undefined) continue;
        perFrame[program] ??= [];
        perFrame[program].push((long - short) / (most - few));
      }
    }
    if (!perFrame.ours) {
      report('metrics', `${name}, one worker`, 'not here');
      continue;
    }
    const ours = median(perFrame.ours);
    report('metrics', `${name}, one worker, ms a 1080p frame`, ours.toFixed(1));
    for (const [program, of] of [
      ['packaged', 'libvmaf 2.3.0 of the ffprobe package'],
      ['vmaf', 'vmaf of VMAF_BIN'],
    ]) {
      if (!perFrame[program]) continue;
      const theirs = median(perFrame[program]);
      report('metrics', `${name}, times as fast as ${of}`, (theirs / ours).toFixed(2), 'at least 1.00');
    }
  }

  function inputs(count) {
    const { reference, distorted } = files;
    const output = ['--json', '--output', 'metrics.json', '--quiet', '--frame_cnt', String(count)];
    return ['-r', reference, '-d', distorted, ...output];
  }
}

/** Frames of a run: cheap metrics need many, because start-up varies by more than a frame takes. */
function framesFor(run, frames) {
  const [short, long] = [run(2), run(COSTLY_FRAMES)];
  const cheap = (long - short) / (COSTLY_FRAMES - 2) < CHEAP_MS;
  return cheap ? frames : Math.min(frames, COSTLY_FRAMES);
}

/** Milliseconds; `undefined` if the program does not have the metric. */
function time(program, args, cwd) {
  const started = performance.now();
  const { status } = spawnSync(program, args, { cwd, stdio: 'ignore' });
  return status === 0 ? performance.now() - started : undefined;
}
