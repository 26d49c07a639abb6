/**
 * @module training/films
 * Makes films of many short generated scenes, each film encoded and degraded differently, from which the no-reference model
 * learns content. Needs ffmpeg like training/corpus.
 *
 *     node training/films.mjs --out DIR --films N [--first NUMBER] [--unseen]
 *
 * Every film has one scene of each kind of training/scenes, of a few frames; with --unseen, of the kinds that are not used in
 * training. Writes the input of training/measure, like training/corpus.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from '../scripts/lib/project.mjs';
import { random, y4m } from './content.mjs';
import { AV1, ffmpeg, filtered, LOSSLESS, MPEG2, once, scaled, VP9, X264, X265 } from './encoders.mjs';
import { filmed, KINDS, UNSEEN } from './scenes.mjs';

const { values } = readOptions({
  options: {
    out: { type: 'string' },
    films: { type: 'string' },
    first: { type: 'string', default: '1' },
    unseen: { type: 'boolean', default: false },
  },
});
if (!values.out || !values.films) {
  console.error('Say where and how much: node training/films.mjs --out DIR --films N');
  process.exit(1);
}
const OUT = values.out;
/** A frame that others refer to, one between and one more. */
const EACH = 3;
const SIZES = [
  [640, 360],
  [480, 272],
  [640, 360],
  [480, 272],
  [960, 540],
];
const [kinds, split] = values.unseen ? [UNSEEN, 'unseen'] : [KINDS, 'train'];
const [first, last] = [Number(values.first), Number(values.first) + Number(values.films) - 1];

/** The versions of one film: of every codec at several qualities, scaled, blurred, noisy, and as it is. */
function versions(film) {
  const rand = random(film * 7919 + 13);
  const between = (low, high) => low + (high - low) * rand();
  const whole = (low, high) => Math.floor(between(low, high + 1));
  const one = (list) => list[Math.floor(rand() * list.length)];
  const codecs = {
    x264: () => X264(whole(14, 48), one(['ultrafast', 'veryfast', 'medium'])),
    x265: () => X265(whole(16, 48)),
    vp9: () => VP9(whole(18, 62)),
    av1: () => AV1(whole(20, 62)),
    mpeg2: () => MPEG2(whole(2, 30)),
  };
  const kernel = () => one(['bicubic', 'bilinear', 'lanczos', 'area']);
  const blur = (most) => `gblur=sigma=${between(0.3, most).toFixed(2)}`;
  const noise = (most) => `noise=alls=${whole(2, most)}:allf=t`;
  const list = { copy: LOSSLESS };
  const add = (name, count, make) => {
    // Every part of the range once, so that no film has only good versions.
    for (let i = 1; i <= count; i++) list[`${name}-${i}`] = make(i);
  };
  add('x264', 5, (i) => X264(whole(8 + i * 7, 14 + i * 7), one(['ultrafast', 'veryfast', 'medium'])));
  add('x265', 3, (i) => X265(whole(6 + i * 10, 15 + i * 10)));
  add('vp9', 2, (i) => VP9(whole(i * 20, 20 + i * 20)));
  add('av1', 3, (i) => AV1(whole(6 + i * 14, 19 + i * 14)));
  add('mpeg2', 2, (i) => MPEG2(whole(i * 14 - 11, i * 14 + 2)));
  add('scaled', 3, () => {
    const codec = one(Object.keys(codecs));
    return scaled(one(['3/4', '2/3', '1/2', '1/2', '1/3']), codecs[codec](), kernel());
  });
  add('small', 1, () => scaled(between(0.3, 0.9).toFixed(2), LOSSLESS, kernel()));
  add('blur', 2, (i) => filtered(blur(i * 1.3)));
  add('noise', 1, () => filtered(noise(30)));
  add('noise-x264', 1, () => filtered(noise(16), codecs.x264()));
  add('blur-x264', 1, () => filtered(blur(1.5), codecs.x264()));
  return list;
}

mkdirSync(join(OUT, 'references'), { recursive: true });
const sources = [];
for (let number = first; number <= last; number++) {
  const name = `film-${number}`;
  const [width, height] = SIZES[number % SIZES.length];
  const seed = (kind) => number * 64 + Object.keys(kinds).indexOf(kind);
  const reference = join('references', `${name}.y4m`);
  once(join(OUT, reference), (path) => {
    const scenes = Object.entries(kinds).map(([kind, make]) => filmed(make, seed(kind), width, height));
    const play = (index) => scenes[Math.floor(index / EACH)](index % EACH);
    writeFileSync(path, y4m(play, width, height, EACH * scenes.length));
  });
  const scenes = Object.keys(kinds).map((kind) => `${kind}-${seed(kind)}`);
  const source = { name, split, reference, scenes, each: EACH, encodes: [] };
  mkdirSync(join(OUT, 'encodes', name), { recursive: true });
  for (const [version, args] of Object.entries(versions(number))) {
    const file = join('encodes', name, `${version}.mkv`);
    const keys = ['-g', `${EACH}`, '-threads', '1'];
    once(join(OUT, file), (path) => ffmpeg('-i', join(OUT, source.reference), ...args, ...keys, '-an', path));
    source.encodes.push({ name: version, file });
  }
  sources.push(source);
  console.error(`${name}: ${width}x${height}, ${scenes.length} scenes, ${source.encodes.length} encodes`);
}
writeFileSync(join(OUT, 'corpus.json'), `${JSON.stringify({ frames: EACH, sources }, null, 1)}\n`);
