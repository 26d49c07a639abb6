/**
 * @module scripts/lib/search-long-clips
 * Sources of three minutes: a sequence of very different scenes, generated and from real clips.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf } from './project.mjs';
import { ffmpeg } from './search-clips.mjs';

const [WIDTH, HEIGHT, RATE] = [160, 90, 25];
const SIZE = `s=${WIDTH}x${HEIGHT}:r=${RATE}`;
const SECONDS = 180;

/** Graphs of one scene, by kind; random numbers make scenes differ. */
const KINDS = {
  chart: (next) => `testsrc2=${SIZE},noise=alls=${whole(next, 1, 14)}:all_seed=${whole(next, 1, 999)}`,
  fractal: (next) =>
    `mandelbrot=${SIZE}:start_scale=${(0.02 + next()).toFixed(3)}:start_x=-0.74${whole(next, 10, 99)}`,
  life: (next) =>
    `life=s=40x22:r=${RATE}:seed=${whole(next, 1, 999)}:ratio=0.3:mold=${whole(next, 5, 40)}:life_color=#40e060:` +
    `death_color=#a03020,scale=${WIDTH}:${HEIGHT}`,
  automaton: (next) =>
    `cellauto=s=80x45:r=${RATE}:rule=110:seed=${whole(next, 1, 999)},scale=${WIDTH}:${HEIGHT}`,
  gradients: (next) =>
    `gradients=${SIZE}:c0=0x1a2b8c:c1=0xf0d0${whole(next, 16, 99)}:seed=${whole(next, 1, 999)}:speed=${(0.005 + 0.05 * next()).toFixed(4)}`,
  turning: (next) =>
    `smptehdbars=${SIZE},rotate=a=t*${(0.1 + next()).toFixed(2)},noise=alls=${whole(next, 1, 30)}:allf=t:all_seed=3`,
  still: (next) => `mandelbrot=${SIZE}:start_scale=${(0.05 + next()).toFixed(3)},loop=loop=-1:size=1`,
  digits: (next) =>
    `testsrc=s=320x180:r=${RATE}:decimals=3,crop=${WIDTH}:${HEIGHT}:x=mod(n*${whole(next, 1, 4)}\\,150):y=60`,
  noise: (next) =>
    `color=gray:${SIZE},noise=alls=${whole(next, 10, 60)}:allf=t:all_seed=${whole(next, 1, 999)}`,
  carpet: (next) => `sierpinski=${SIZE}:seed=${whole(next, 1, 999)}`,
};

/** Some scenes are softened, flattened or faded, which makes them cheaper. */
const LOOKS = ['', '', ',gblur=sigma=1.2', ',eq=contrast=0.5', ',hflip', ',fade=in:0:30'];

function whole(next, from, to) {
  return from + Math.floor(next() * (to - from + 1));
}

function pick(next, list) {
  return list[Math.floor(next() * list.length)];
}

const X264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '12'];
const SHORT_GOP = [...X264, '-g', '25', '-bf', '0'];
const INTRA = ['-c:v', 'mjpeg', '-q:v', '3', '-pix_fmt', 'yuvj420p'];
const MPEG2 = ['-c:v', 'mpeg2video', '-q:v', '3'];
const LOSSLESS = ['-c:v', 'ffv1'];
const ALL = Object.keys(KINDS);

/** By name: shortest and longest scene in seconds, kinds of scenes or real clips, and how the source is encoded. */
export const LONG = {
  'short scenes': { seed: 1, scene: [2, 6], kinds: ALL, codec: X264 },
  'short scenes, short GOPs': { seed: 2, scene: [2, 6], kinds: ALL, codec: SHORT_GOP },
  'scenes, intra coded': { seed: 3, scene: [4, 10], kinds: ALL, codec: INTRA },
  'scenes, MPEG-2': { seed: 4, scene: [4, 12], kinds: ALL, codec: MPEG2 },
  'long scenes': { seed: 5, scene: [15, 30], kinds: ALL, codec: X264 },
  'easy, then hard': {
    seed: 6,
    scene: [5, 10],
    kinds: ['still', 'gradients'],
    later: ['noise', 'chart'],
    codec: X264,
  },
  slides: { seed: 7, scene: [6, 14], kinds: ['still', 'still', 'digits'], codec: X264 },
  'one kind, lossless': { seed: 8, scene: [8, 16], kinds: ['fractal'], codec: LOSSLESS },
  'street, cut short': { seed: 9, scene: [1, 4], clips: ['Seeking_10_288_375.mp4'], codec: X264 },
  'seeking, cut': { seed: 10, scene: [2, 5], clips: ['Seeking_30_480_1050.mp4'], codec: SHORT_GOP },
  'both clips': {
    seed: 11,
    scene: [1, 5],
    clips: ['Seeking_10_288_375.mp4', 'Seeking_30_480_1050.mp4'],
    codec: X264,
  },
  'clips and scenes': {
    seed: 12,
    scene: [2, 6],
    kinds: ALL,
    clips: ['Seeking_10_288_375.mp4', 'Seeking_30_480_1050.mp4'],
    codec: X264,
  },
};

/**
 * Makes a long source.
 * @param clips folder of real clips
 * @returns whether the required clips exist
 */
export function makeLong({ seed, scene: [least, most], kinds = [], later, clips = [], codec }, path, folder) {
  if (clips.some((name) => !existsSync(join(folder, name)))) return false;
  const next = randomOf(seed);
  const inputs = [];
  const graphs = [];
  for (let at = 0; at < SECONDS; ) {
    const seconds = Math.min(SECONDS - at, least + (most - least) * next());
    const frames = Math.max(1, Math.round(seconds * RATE));
    const now = later && at >= SECONDS / 2 ? later : kinds;
    const look = pick(next, LOOKS);
    const count = inputs.length;
    const end = `,trim=end_frame=${frames},setpts=PTS-STARTPTS,format=yuv420p,setsar=1[s${count}]`;
    if (now.length === 0 || (clips.length > 0 && next() < 0.5)) {
      inputs.push(['-stream_loop', '-1', '-i', join(folder, pick(next, clips))]);
      const skip = whole(next, 0, 120);
      graphs.push(
        `[${count}:v]trim=start_frame=${skip}:end_frame=${skip + frames},setpts=N/${RATE}/TB,${crop(next)}${look}${end}`,
      );
    } else {
      inputs.push(['-f', 'lavfi', '-i', KINDS[pick(next, now)](next)]);
      graphs.push(`[${count}:v]null${look}${end}`);
    }
    at += seconds;
  }
  const all = `${graphs.join(';')};${graphs.map((_, i) => `[s${i}]`).join('')}concat=n=${graphs.length}[all]`;
  ffmpeg([
    ...['-filter_complex_threads', '1', ...inputs.flat(), '-filter_complex', all, '-map', '[all]'],
    ...['-r', String(RATE), '-frames:v', String(SECONDS * RATE), '-pix_fmt', 'yuv420p', ...codec, path],
  ]);
  return true;
}

/** A part of a clip's picture, in one of several sizes. */
function crop(next) {
  const [width, height] = pick(next, [
    [320, 180],
    [240, 135],
    [160, 90],
  ]);
  return `crop=${width}:${height}:${whole(next, 0, 60)}:${whole(next, 0, 80)},scale=${WIDTH}:${HEIGHT}`;
}
