/**
 * @module scripts/lib/alignment-clips
 * Generated clips for measuring alignment, their encodes, and their luma in memory.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { loadBuilt } from './project.mjs';

const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mHeader } = await loadBuilt('core/frame.js');
const { y4mFrame } = await loadBuilt('sample/files.js');

const SIZE = 's=640x360:r=25';
const FROZEN = `mandelbrot=${SIZE},loop=-1:1:0`;

/** Frames of each synthetic clip. */
const FRAMES = 200;

/** ffmpeg's synthetic sources by content: the clips on which the constants were chosen. */
export const CONTENTS = {
  'moving, test pattern': `testsrc2=${SIZE}`,
  'moving, zoom into detail': `mandelbrot=${SIZE}`,
  'moving, slow pan': `mandelbrot=s=1280x720:r=25,loop=-1:1:0,crop=640:360:'n*0.5':100`,
  'moving, small object, camera noise': `${FROZEN},format=yuv420p[a];color=white:s=40x40:r=25[b];[a][b]overlay=x='300+20*sin(t*3.1)':y='150+15*cos(t*2.3)',noise=alls=4:allf=t`,
  'fade from black of a still': `${FROZEN},fade=in:0:75`,
  'stills with one cut': `${FROZEN},drawbox=x=100:y=100:w=300:h=100:c=gray:t=fill:enable='gte(n,75)'`,
  'static, camera noise': `${FROZEN},noise=alls=6:allf=t`,
  static: FROZEN,
  'repetitive, period 12': `nullsrc=${SIZE},geq=lum='128+60*sin(X/30+2*PI*N/12)+30*sin(Y/17)':cb=128:cr=128`,
};

/** The default encoder. */
const X264 = ['-c:v', 'libx264', '-preset', 'veryfast'];

export const ENCODES = {
  'x264 CRF 23': [...X264, '-crf', '23'],
  'x264 CRF 45': [...X264, '-crf', '45'],
  'MPEG-2 300 kbit/s': ['-c:v', 'mpeg2video', '-b:v', '300k'],
  'darker and flatter': ['-vf', 'lutyuv=y=val*0.8+25', ...X264, '-crf', '30'],
  'gamma 1.6': ['-vf', 'eq=gamma=1.6', ...X264, '-crf', '30'],
  'scaled to 160x90, CRF 36': ['-vf', 'scale=160:90:flags=bicubic', ...X264, '-crf', '36'],
};

/** Held-out sources. A name starting with `sample` is this package's own generator. */
export const HELD_OUT = {
  'moving, sample, seed 1': 'sample:1',
  'moving, sample, seed 2': 'sample:2',
  'moving, game of life': 'life=s=160x90:r=25:seed=11:mold=10:ratio=0.3,scale=640:360:flags=neighbor',
  'moving, rule 110': 'cellauto=s=640x360:r=25:rule=110:seed=12:scroll=1',
  // A seed chooses the positions of gradients, but not their colours.
  'moving, gradients': `gradients=${SIZE}:seed=13:speed=0.05:c0=0x1a2b8c:c1=0xf0d060`,
  'moving, slow gradient of two colours': `gradients=${SIZE}:seed=13:speed=0.01:n=2:c0=0x803010:c1=0x40a0e0`,
  'moving, clock': `testsrc=${SIZE}`,
  'static, test card': `smptehdbars=${SIZE}`,
  'repetitive, period 20': `nullsrc=${SIZE},geq=lum='128+50*cos(Y/23+2*PI*N/20)+40*sin(X/41)':cb=128:cr=128`,
};

export const HELD_OUT_ENCODES = {
  'HEVC CRF 34': ['-c:v', 'libx265', '-preset', 'ultrafast', '-crf', '34', '-x265-params', 'log-level=error'],
  'VP9 CRF 45': ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-crf', '45', '-b:v', '0'],
  'MJPEG q 20': ['-c:v', 'mjpeg', '-q:v', '20', '-pix_fmt', 'yuvj420p'],
  'half size, CRF 30': ['-vf', 'scale=iw/2:ih/2', ...X264, '-crf', '30'],
  'graded, CRF 28': ['-vf', 'eq=contrast=1.15:brightness=-0.06:gamma=0.9', ...X264, '-crf', '28'],
  'sharpened, noise': ['-vf', 'unsharp=5:5:1,noise=alls=8:allf=t:all_seed=5', ...X264, '-crf', '26'],
};

const run = (command, args) =>
  execFileSync(command, args, { maxBuffer: 2 ** 31 - 1, stdio: ['ignore', 'pipe', 'inherit'] });

/** Runs ffmpeg and returns its output. */
export const ffmpeg = (...args) => run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);

/** The offset found between two videos, as {@link read} gives them, from the given frames on. */
export async function align(reference, distorted, start) {
  const { alignThumbs } = await loadBuilt('media/align/index.js');
  const { RecordedThumbs } = await loadBuilt('media/align/thumbs.js');
  const thumbs = (video, from) =>
    new RecordedThumbs(async () => ({ source: { ...video, close() {} }, start: from })).reader(Infinity);
  return alignThumbs(thumbs(reference, start.reference), thumbs(distorted, start.distorted), {});
}

/**
 * A file's luma in memory.
 * @param size to scale it to; default: its own
 */
export function read(path, size = sizeOf(path)) {
  const [width, height] = size;
  const filter = `extractplanes=y,scale=${width}:${height}:flags=bicubic`;
  const bytes = ffmpeg('-i', path, '-vf', filter, '-f', 'rawvideo', '-pix_fmt', 'gray', '-');
  const samples = width * height;
  const frameCount = bytes.length / samples;
  return {
    info: { width, height, bitDepth: 8, chroma: '400', frameCount },
    readFrame(index, { y }) {
      if (index >= frameCount) return false;
      y.set(bytes.subarray(index * samples, (index + 1) * samples));
      return true;
    },
  };
}

function sizeOf(path) {
  const entries = ['-select_streams', 'v:0', '-show_entries', 'stream=width,height', '-of', 'csv=p=0'];
  return run('ffprobe', ['-v', 'error', ...entries, path])
    .toString()
    .split(',')
    .map(Number);
}

/** A clip of a set as a file. */
export function make(source, path) {
  const lossless = ['-pix_fmt', 'yuv420p', '-c:v', 'ffv1'];
  if (!source.startsWith('sample:')) {
    ffmpeg('-f', 'lavfi', '-i', source, '-frames:v', String(FRAMES), ...lossless, path);
    return;
  }
  const format = { width: 640, height: 360, bitDepth: 8, chroma: '420' };
  const clip = makeSample(format, { seed: Number(source.slice('sample:'.length)) });
  const frames = Array.from({ length: FRAMES }, (_, index) => y4mFrame(clip, 'reference', index));
  const stored = `${path}.y4m`;
  writeFileSync(stored, Buffer.concat([Buffer.from(y4mHeader(format)), ...frames]));
  ffmpeg('-i', stored, ...lossless, path);
  rmSync(stored);
}
