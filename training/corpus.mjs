/**
 * @module training/corpus
 * Makes the training corpus: generated scenes and, when given, real clips; each encoded and degraded in many ways. Needs
 * ffmpeg with libx264, libx265, libvpx-vp9 and libsvtav1.
 *
 *     node training/corpus.mjs --out DIR [--clips DIR] [--frames N] [--colour]
 *
 * With --colour it makes the corpus of models that also read chroma: most sources in colour, fewer versions of each, and
 * for colour sources some versions with only luma or only chroma damaged.
 * Writes DIR/references/SOURCE.y4m, DIR/encodes/SOURCE/NAME.mkv and DIR/corpus.json, which lists them with their split.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from '../scripts/lib/project.mjs';
import { clouds, leaves, paint, random, y4m } from './content.mjs';
import { AV1, ffmpeg, filtered, LOSSLESS, MPEG2, once, scaled, VP9, X264, X265 } from './encoders.mjs';

const { values } = readOptions({
  options: {
    out: { type: 'string' },
    clips: { type: 'string' },
    frames: { type: 'string', default: '24' },
    colour: { type: 'boolean', default: false },
  },
});
if (!values.out) {
  console.error('Say where the corpus is to be written: node training/corpus.mjs --out DIR');
  process.exit(1);
}
const OUT = values.out;
const FRAMES = Number(values.frames);
const [WIDTH, HEIGHT] = [640, 360];

/** Synthetic sources of ffmpeg, as filter graphs. */
const GRAPHS = {
  testsrc2: 'testsrc2=s=640x360:r=25',
  'mandelbrot-rim': 'mandelbrot=s=640x360:r=25:start_scale=0.8:end_pts=120',
  'mandelbrot-deep': 'mandelbrot=s=640x360:r=25:start_scale=0.02:start_x=-0.7436:start_y=0.1318:end_pts=200',
  life: 'life=s=320x180:r=25:mold=20:ratio=0.3:seed=7:death_color=#406080:life_color=#e0e0c0,scale=640:360:flags=bicubic',
  cellauto: 'cellauto=s=640x360:r=25:rule=110:seed=9,format=gray,lutyuv=y=val*0.6+40',
  'gradients-slow': 'gradients=s=640x360:r=25:speed=0.01:nb_colors=5:seed=3',
  'gradients-quick': 'gradients=s=640x360:r=25:speed=0.06:nb_colors=8:seed=11',
  'gradients-grain': 'gradients=s=640x360:r=25:speed=0.02:nb_colors=4:seed=5,noise=alls=5:allf=t',
  'carpet-slow': 'sierpinski=s=640x360:r=25:seed=4:jump=20:type=carpet,gblur=sigma=0.7',
  rings:
    "nullsrc=s=640x360:r=25,geq=lum='128+90*sin(((X-320)*(X-320)+(Y-180)*(Y-180))/600-N/3)':cb=128:cr=128",
};

/** Those of them without colour. */
const GREY = new Set(['cellauto', 'carpet-slow', 'rings']);

/** Real clips by file name: decoding options, and a filter that makes moving 640x360 pictures or less of them. */
const pan = (width, height, dx, dy) => `loop=-1:1:0,crop=${width}:${height}:'n*${dx}':'n*${dy}'`;
const raw = (size, format = 'yuv420p') => ['-f', 'rawvideo', '-s', size, '-pix_fmt', format, '-r', '25'];
const CLIPS = {
  seeking: ['Seeking_30_480_1050.mp4', ['-ss', '1'], 'crop=640:360'],
  'seeking-late': ['Seeking_30_480_1050.mp4', ['-ss', '4.5'], 'crop=640:360'],
  anchor: ['akiyo_identity_352x288.yuv', raw('352x288'), pan(320, 256, 1, 1)],
  'blue-sky': ['blue_sky_360p_60f_8b_converted_to_10b.mp4', [], pan(576, 320, 2, 1)],
  'src01-576': ['src01_hrc00_576x324.yuv420p10le.yuv', raw('576x324', 'yuv420p10le'), pan(512, 288, 2, 1)],
  corridor: ['hall_cif_frm_0_frm_0.yuv', raw('352x288'), pan(320, 256, 1, 1)],
  'dark-scene': ['dark_scene_1920x1080_420p_ref.yuv', raw('1920x1080'), pan(640, 360, 9, 5)],
};

/** The part of the corpus a source is in, by the hash that evaluation uses for keys. */
function bucket(key) {
  const digest = createHash('sha256').update(`vmaf-train-splits-v1:${key}`).digest();
  const place = Number(digest.readBigUInt64BE(0)) / 2 ** 64;
  return place < 0.1 ? 'test' : place < 0.2 ? 'val' : 'train';
}

function references() {
  mkdirSync(join(OUT, 'references'), { recursive: true });
  const sources = [];
  const add = (name, write, grey = false) => {
    const reference = join('references', `${name}.y4m`);
    once(join(OUT, reference), write);
    sources.push({ name, split: bucket(name), reference, grey, encodes: [] });
  };
  const scenes = (name, make, seed, count) => {
    for (let i = 1; i <= count; i++) {
      const scene = make(seed + i, WIDTH, HEIGHT);
      add(`${name}-${i}`, (path) => writeFileSync(path, y4m(scene, WIDTH, HEIGHT, FRAMES)), true);
    }
  };
  const painted = (name, make, seed, count) => {
    for (let i = 1; i <= count; i++) {
      const [scene, colours] = [make, (...all) => paint(make, ...all)].map((f) => f(seed + i, WIDTH, HEIGHT));
      add(`${name}-${i}`, (path) => writeFileSync(path, y4m(scene, WIDTH, HEIGHT, FRAMES, colours)));
    }
  };
  scenes('leaves', leaves, 1000, values.colour ? 4 : 28);
  scenes('clouds', clouds, 2000, values.colour ? 3 : 8);
  if (values.colour) {
    painted('painted-leaves', leaves, 3000, 8);
    painted('painted-clouds', clouds, 4000, 4);
  }
  const take = ['-frames:v', String(FRAMES), '-pix_fmt', 'yuv420p', '-strict', '-1', '-f', 'yuv4mpegpipe'];
  for (const [name, graph] of Object.entries(GRAPHS))
    add(name, (path) => ffmpeg('-f', 'lavfi', '-i', graph, ...take, path), GREY.has(name));
  if (values.clips) {
    for (const [name, [file, options, filter]] of Object.entries(CLIPS))
      add(name, (path) => ffmpeg(...options, '-i', join(values.clips, file), '-vf', filter, ...take, path));
  }
  return sources;
}

/** How one source is degraded: a ladder of each codec, with a shift of its own so that no two sources share one. */
function degradations(source) {
  const rand = random(source.length * 7919 + [...source].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 0));
  const near = (value, spread) => value + Math.round((rand() * 2 - 1) * spread);
  const close = (value) => (value * (0.75 + 0.5 * rand())).toFixed(2);
  const list = {};
  for (const crf of [18, 24, 29, 34, 39, 45]) list[`x264-${crf}`] = X264(near(crf, 2));
  list['x264-fast'] = X264(near(33, 5), 'ultrafast');
  for (const crf of [22, 29, 36, 43]) list[`x265-${crf}`] = X265(near(crf, 3));
  for (const crf of [30, 42, 54]) list[`vp9-${crf}`] = VP9(near(crf, 5));
  for (const crf of [28, 42, 56]) list[`av1-${crf}`] = AV1(near(crf, 5));
  list['mpeg2-low'] = MPEG2(near(22, 6));
  list['mpeg2-high'] = MPEG2(near(6, 3));
  list['scaled-2/3-x264'.replace('/', 'of')] = scaled('2/3', X264(near(26, 5)));
  list['scaled-1of2-x264'] = scaled('1/2', X264(near(24, 5)));
  list['scaled-1of3-x265'] = scaled('1/3', X265(near(24, 4)));
  list['scaled-1of2'] = scaled('1/2', LOSSLESS);
  list['blur-weak'] = filtered(`gblur=sigma=${close(0.6)}`);
  list['blur-strong'] = filtered(`gblur=sigma=${close(1.8)}`);
  list['noise-weak'] = filtered(`noise=alls=${near(7, 3)}:allf=t`);
  list['noise-strong'] = filtered(`noise=alls=${near(24, 8)}:allf=t`);
  list['noise-x264'] = filtered(`noise=alls=${near(10, 4)}:allf=t`, X264(near(30, 4)));
  list.copy = LOSSLESS;
  return list;
}

/** Versions that are enough where luma and chroma are damaged apart as well. */
const FEWER = ['x264-24', 'x264-34', 'x264-45', 'x265-29', 'x265-43', 'vp9-54', 'av1-42', 'mpeg2-low'];
FEWER.push('scaled-1of2-x264', 'blur-strong', 'noise-weak', 'copy');

/** Versions with luma or chroma as it was: through a filter of the others, or with planes of an encode that is there. */
function halves(source) {
  const rand = random(source.length * 104729 + [...source].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 0));
  const between = (low, high) => (low + (high - low) * rand()).toFixed(2);
  const list = {};
  for (const encode of ['x264-34', 'x264-45', 'x265-29', 'vp9-54', 'av1-42', 'mpeg2-low'])
    list[`luma-${encode}`] = { planes: '0x100102', encode };
  list['luma-blur-weak'] = { filter: `gblur=sigma=${between(0.4, 1)}:planes=1` };
  list['luma-blur-strong'] = { filter: `gblur=sigma=${between(1.2, 4)}:planes=1` };
  list['luma-noise-weak'] = { filter: `noise=c0s=${Math.round(between(4, 12))}:c0f=t` };
  list['luma-noise-strong'] = { filter: `noise=c0s=${Math.round(between(16, 40))}:c0f=t` };
  list['luma-dim'] = { filter: `lutyuv=y=16+(val-16)*${between(0.5, 0.9)}` };
  const step = Math.round(between(6, 20));
  list['luma-steps'] = { filter: `lutyuv=y=floor(val/${step}+0.5)*${step}` };
  list['chroma-x264-45'] = { planes: '0x001112', encode: 'x264-45' };
  list['chroma-noise'] = {
    filter: `noise=c1s=${Math.round(between(6, 30))}:c2s=${Math.round(between(6, 30))}:allf=t`,
  };
  return list;
}

const sources = references();
for (const source of sources) {
  const reference = join(OUT, source.reference);
  const place = (name) => join('encodes', source.name, `${name}.mkv`);
  const keep = (name, ...args) => {
    once(join(OUT, place(name)), (path) => ffmpeg('-i', reference, ...args, '-an', path));
    source.encodes.push({ name, file: place(name) });
  };
  mkdirSync(join(OUT, 'encodes', source.name), { recursive: true });
  for (const [name, args] of Object.entries(degradations(source.name)))
    if (!values.colour || FEWER.includes(name)) keep(name, ...args);
  if (values.colour && !source.grey) {
    for (const [name, { filter, planes, encode }] of Object.entries(halves(source.name))) {
      if (filter) keep(name, ...filtered(filter));
      else {
        // The filter refuses planes whose stated pixel shapes differ.
        const merge = `[0:v]setsar=1[a];[1:v]setsar=1[b];[a][b]mergeplanes=${planes}:yuv420p`;
        keep(name, '-i', join(OUT, place(encode)), '-filter_complex', merge, ...LOSSLESS);
      }
    }
  }
  console.error(`${source.name} (${source.split}): ${source.encodes.length} encodes`);
}
writeFileSync(join(OUT, 'corpus.json'), `${JSON.stringify({ frames: FRAMES, sources }, null, 1)}\n`);
