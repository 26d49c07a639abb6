/**
 * @module scripts/mcp-tasks/media
 * The videos of the tasks, made by the sample generator and ffmpeg, and the truth about them by independent means.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { builtCommand, loadBuilt } from '../lib/project.mjs';

const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mHeader } = await loadBuilt('core/frame.js');
const { y4mFrame } = await loadBuilt('sample/files.js');

export const FORMAT = { width: 320, height: 180, bitDepth: 8, chroma: '420' };
const UHD = { width: 3840, height: 2160 };
const FRAMES = 75;
/** The first frame of the second scene, the worst frames, and the frames that the shifted encode lacks. */
export const CUT = 40;
export const BLURRED = { first: 52, last: 55 };
export const SHIFT = 4;
/** Rate factors of the encodes e0.mp4, e1.mp4, ..., best first. */
export const CRFS = [20, 24, 28, 32, 36, 40];

/** The folder of the videos. */
export class Media {
  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  at(name) {
    return join(this.folder, name);
  }

  size(name) {
    return statSync(this.at(name)).size;
  }

  /** @param long recordings take longer than the usual limit of a call */
  make(long = false) {
    this.#generate('master.y4m', FORMAT, 7, FRAMES, CUT);
    const from = (input, ...args) => this.ffmpeg('-i', input, ...args);
    from('master.y4m', '-c:v', 'ffv1', 'master.mkv');
    from('master.y4m', '-f', 'rawvideo', 'master.yuv');
    for (const [i, crf] of CRFS.entries()) this.encode(crf, `e${i}.mp4`);
    from('e2.mp4', '-f', 'rawvideo', 'e2.yuv');
    const blurred = `gblur=sigma=6:enable='between(n,${BLURRED.first},${BLURRED.last})'`;
    from('master.y4m', '-vf', blurred, ...x264(18), 'one-moment.mp4');
    from('master.y4m', '-vf', `select='gte(n,${SHIFT})',setpts=N/25/TB`, ...x264(24), 'shifted.mp4');
    const pq = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'];
    from(
      'master.y4m',
      '-pix_fmt',
      'yuv420p10le',
      ...pq,
      '-c:v',
      'libx265',
      '-x265-params',
      'log-level=none',
      'hdr.mkv',
    );
    // A sky of sixteen levels, dithered like a master, and in bands of one level each.
    const sky = (luma, name) => {
      const filter = `color=black:s=640x360:r=25:d=1,format=yuv420p,geq=lum='${luma}':cb=128:cr=128`;
      this.ffmpeg('-f', 'lavfi', '-i', filter, '-c:v', 'ffv1', name);
    };
    sky('64+X/40+random(0)', 'sky.mkv');
    sky('64+X/40', 'banded.mkv');
    writeFileSync(
      this.at('broken.mp4'),
      readFileSync(this.at('e2.mp4')).subarray(0, Math.floor(this.size('e2.mp4') / 2)),
    );
    copyFileSync(this.at('master.y4m'), this.at('second.y4m'));
    const broken = `gblur=sigma=8:enable='gte(n,${CUT})'`;
    from('master.y4m', '-vf', broken, '-pix_fmt', 'yuv420p', 'bad.y4m');
    this.#makeRecording(long ? 240 : 20);
  }

  /** Encodes the master. @returns the name */
  encode(crf, name) {
    this.ffmpeg('-i', 'master.mkv', ...x264(crf), name);
    return name;
  }

  /** A 4K source of half a second. */
  makeUhd() {
    this.#generate('uhd.y4m', { ...FORMAT, ...UHD }, 5, 12);
    this.ffmpeg('-i', 'uhd.y4m', '-c:v', 'ffv1', 'uhd.mkv');
  }

  /** Mean VMAF of the 4K source encoded by SVT-AV1. */
  vmafOfUhd(preset, crf) {
    this.ffmpeg(
      '-i',
      'uhd.mkv',
      '-c:v',
      'libsvtav1',
      '-preset',
      preset,
      '-crf',
      String(crf),
      'uhd-found.mkv',
    );
    return this.vmaf('uhd.mkv', 'uhd-found.mkv', UHD);
  }

  /** A longer pair, for calls that exceed a limit. */
  #makeRecording(seconds) {
    this.longFrames = 25 * seconds;
    this.#generate('long.y4m', { ...FORMAT, width: 640, height: 360 }, 3, 25);
    const fast = ['-c:v', 'libx264', '-preset', 'ultrafast'];
    this.ffmpeg('-stream_loop', String(seconds - 1), '-i', 'long.y4m', ...fast, '-qp', '0', 'long.mkv');
    this.ffmpeg('-i', 'long.mkv', ...fast, '-crf', '33', 'long.mp4');
  }

  ffmpeg(...args) {
    const { status, stderr } = spawnSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], {
      cwd: this.folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`ffmpeg failed: ${stderr}`);
    return stderr;
  }

  /** Mean luma PSNR by ffmpeg's own filter, each frame capped as libvmaf caps it. */
  psnr(reference, distorted) {
    const log = this.at('psnr.log');
    this.ffmpeg('-i', distorted, '-i', reference, '-lavfi', `psnr=stats_file=${log}`, '-f', 'null', '-');
    const values = [...readFileSync(log, 'utf8').matchAll(/psnr_y:([\d.]+|inf)/g)].map(([, value]) =>
      Math.min(60, Number(value)),
    );
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  }

  /** Mean VMAF by the command line, of frames decoded to raw video by ffmpeg before. */
  vmaf(reference, distorted, { width, height } = FORMAT) {
    const raw = [reference, distorted].map((name, i) => {
      this.ffmpeg('-i', name, '-pix_fmt', 'yuv420p', '-f', 'rawvideo', `truth-${i}.yuv`);
      return this.at(`truth-${i}.yuv`);
    });
    const size = ['-w', String(width), '-h', String(height), '-p', '420', '-b', '8'];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [builtCommand(), ...raw, ...size, '--json', '--quiet'],
      { encoding: 'utf8', maxBuffer: 1 << 26 },
    );
    if (status !== 0) throw new Error(`anyvmaf failed: ${stderr}`);
    return JSON.parse(stdout).pooled_metrics.vmaf.mean;
  }

  #generate(name, format, seed, frames, cut = 0) {
    const clip = makeSample(format, { seed, cut });
    const file = openSync(this.at(name), 'w');
    writeSync(file, y4mHeader(format));
    for (let index = 0; index < frames; index++) writeSync(file, y4mFrame(clip, 'reference', index));
    closeSync(file);
  }
}

function x264(crf) {
  return ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', String(crf), '-threads', '1'];
}
