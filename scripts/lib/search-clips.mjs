/**
 * @module scripts/lib/search-clips
 * Short sources for searches: generated with ffmpeg's own sources, and parts of real clips.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FRAMES = 32;
const SIZE = '224x126';
const RATE = 25;

const source = (name, options = '') => `${name}=s=${SIZE}:r=${RATE}${options}`;

/** Colours of gradients, which the seed does not choose. */
const COLOURS = ':c0=0x1a2b8c:c1=0xf0d060';

/** ffmpeg filter graphs by name, and the pixel format if not 8 bit 4:2:0. */
export const GENERATED = {
  chart: { graph: `${source('testsrc2')},noise=alls=6:all_seed=1` },
  fractal: { graph: source('mandelbrot') },
  life: {
    graph: `life=s=56x32:r=${RATE}:seed=3:ratio=0.3:mold=12:life_color=#40e060:death_color=#a03020,scale=224:126`,
  },
  automaton: { graph: `cellauto=s=112x64:r=${RATE}:rule=110:seed=5,scale=224:126,boxblur=1` },
  'grain and turning': { graph: `${source('smptehdbars')},rotate=a=t/2,noise=alls=24:allf=t:all_seed=7` },
  gradients: { graph: `${source('gradients', `${COLOURS}:seed=11:speed=0.03`)}` },
  fades: { graph: `${source('testsrc2')},fade=in:0:12,fade=out:18:14` },
  digits: { graph: `testsrc=s=448x252:r=${RATE}:decimals=3,crop=224:126:x=n*3:y=100` },
  cuts: {
    graph:
      `${source('testsrc2')},trim=end_frame=8[a];${source('mandelbrot')},trim=end_frame=8[b];` +
      `${source('gradients', `${COLOURS}:seed=2`)},trim=end_frame=8[c];${source('smptebars')},noise=alls=10:all_seed=4,trim=end_frame=8[d];` +
      '[a][b][c][d]concat=n=4',
  },
  'still picture': { graph: `${source('mandelbrot')},loop=loop=-1:size=1` },
  '10 bit': {
    graph: `${source('gradients', `${COLOURS}:seed=21`)},format=yuv420p10le,noise=alls=5:allf=t:all_seed=9`,
    format: 'yuv420p10le',
  },
  'uneven size': { graph: `sierpinski=s=186x106:r=${RATE}:seed=13,eq=saturation=0.6` },
};

/** Parts of real clips: their files, and ffmpeg options to read them. */
export const REAL = {
  'street 1': { file: 'Seeking_10_288_375.mp4', graph: 'trim=start_frame=10,scale=224:168' },
  'street 2': { file: 'Seeking_10_288_375.mp4', graph: 'trim=start_frame=100,scale=224:168' },
  'seeking 30': { file: 'Seeking_30_480_1050.mp4', graph: 'trim=start_frame=60,scale=240:160' },
  src01: {
    file: 'src01_hrc00_160x90.yuv',
    input: ['-f', 'rawvideo', '-s', '160x90', '-pix_fmt', 'yuv420p', '-r', '25'],
    graph: 'null',
  },
};

export function generate({ graph, format = 'yuv420p' }, path, frames = FRAMES) {
  ffmpeg(['-f', 'lavfi', '-i', graph, ...y4m(format, frames, path)]);
}

/** Writes a part of a real clip as Y4M. @returns whether the clip exists */
export function cutReal({ file, input = [], graph }, folder, path, frames = FRAMES) {
  const clip = join(folder, file);
  if (!existsSync(clip)) return false;
  ffmpeg([...input, '-i', clip, '-vf', `${graph},setpts=PTS-STARTPTS`, ...y4m('yuv420p', frames, path)]);
  return true;
}

function y4m(format, frames, path) {
  return ['-frames:v', String(frames), '-pix_fmt', format, '-strict', '-1', '-f', 'yuv4mpegpipe', path];
}

export function ffmpeg(args) {
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, SVT_LOG: '0' },
  });
}

export function digest(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
}
