/**
 * @module training/measure
 * Scores every encode of a corpus (training/corpus) with one or more models and stores the training data of small models.
 * Needs a build (`npm run build`) and ffmpeg.
 *
 *     node training/measure.mjs --corpus DIR --out NAME --model KEY=MODEL… [--imagined COUNT] [--pictures STEP]
 *
 * Writes DIR/NAME.json: a row per frame with source, encode, split, frame number and the values of `columns` (features,
 * then a score per model, under its key). With --imagined also COUNT synthetic rows for each model: its scores of features
 * mixed from rows of `train`, to cover the space between and beyond them. With --pictures also DIR/NAME.gray: the luma
 * of every STEP-th distorted frame as it was scored, and its position.
 */
import { execFileSync } from 'node:child_process';
import { openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadBuilt, readOptions } from '../scripts/lib/project.mjs';
import { random } from './content.mjs';

const { values } = readOptions({
  options: {
    corpus: { type: 'string' },
    model: { type: 'string', multiple: true, default: ['vmaf=version=vmaf_v0.6.1'] },
    out: { type: 'string', default: 'measured' },
    pictures: { type: 'string' },
    imagined: { type: 'string', default: '0' },
  },
});
if (!values.corpus) {
  console.error('Say where the corpus is: node training/measure.mjs --corpus DIR');
  process.exit(1);
}
const { openModel, score } = await loadBuilt('index.js');
const { sources } = JSON.parse(readFileSync(join(values.corpus, 'corpus.json'), 'utf8'));
const models = await Promise.all(
  values.model.map(async (text) => {
    const [key, ...model] = text.split('=');
    const opened = await openModel(model.join('='));
    return { key, text: model.join('='), opened, features: opened.inputs.map(({ logName }) => logName) };
  }),
);
const features = [...new Set(models.flatMap((model) => model.features))];
const columns = [...features, ...models.map(({ key }) => key)];
const rows = [];
const pictures = [];
const gray = values.pictures ? openSync(join(values.corpus, `${values.out}.gray`), 'w') : undefined;
let written = 0;

/** What a frame shows: of a film its scene, a source of its own. */
function shown({ name, split, scenes, each }, frame) {
  return { source: scenes === undefined ? name : scenes[Math.floor(frame / each)], split };
}

/** Luma of every STEP-th frame at the reference's size, as the scorer sees it. */
function keepPictures(source, encode, { width, height }, frames) {
  const step = Number(values.pictures);
  const select = `select=not(mod(n-${step >> 1}\\,${step}))`;
  const filter = `${select},scale=${width}:${height}:flags=bicubic,format=yuv420p,extractplanes=y`;
  const input = ['-nostdin', '-v', 'error', '-i', join(values.corpus, encode.file), '-vf', filter];
  const bytes = execFileSync('ffmpeg', [...input, '-vsync', '0', '-f', 'rawvideo', '-pix_fmt', 'gray', '-'], {
    maxBuffer: 2 ** 30,
  });
  const size = width * height;
  for (let at = 0; (at + 1) * size <= bytes.length; at++) {
    const frame = (step >> 1) + at * step;
    writeSync(gray, bytes, at * size, size);
    const scores = Object.fromEntries(models.map(({ key }) => [key, frames[frame]?.metrics[key]]));
    pictures.push({
      ...shown(source, frame),
      encode: encode.name,
      frame,
      width,
      height,
      offset: written,
      ...scores,
    });
    written += size;
  }
}

/**
 * Rows that no encode gave. Of every four, in turn: each feature between those of two rows, or somewhat beyond; the same,
 * all nearer to nothing left; each feature of a row of its own, so that chroma and luma do not hang together; the same,
 * one of them beyond.
 */
function imagine(count, model) {
  const rand = random(20);
  const places = model.features.map((name) => 4 + columns.indexOf(name));
  const train = rows.filter(([, , split]) => split === 'train');
  const pick = () => train[Math.floor(rand() * train.length)];
  const between = (a, b) => Math.max(0, a + (b - a) * (rand() * 1.2 - 0.1));
  const mixes = [
    () => {
      const [a, b] = [pick(), pick()];
      return places.map((k) => between(a[k], b[k]));
    },
    () => {
      const [a, b, left] = [pick(), pick(), rand()];
      return places.map((k) => left * between(a[k], b[k]));
    },
    () => places.map((k) => pick()[k]),
    () => {
      const beyond = Math.floor(rand() * places.length);
      return places.map((k, i) => (i === beyond ? between(pick()[k], pick()[k]) : pick()[k]));
    },
  ];
  return Array.from({ length: count }, (_, i) => {
    const mixed = mixes[i % mixes.length]();
    const named = Object.fromEntries(model.features.map((name, k) => [name, mixed[k]]));
    return [...mixed, model.opened.predict(named)];
  });
}

for (const source of sources) {
  for (const encode of source.encodes) {
    const report = await score(
      { reference: join(values.corpus, source.reference), distorted: join(values.corpus, encode.file) },
      { models: models.map(({ key, text }) => `${text}:name=${key}`), preflight: false, threads: 1 },
    );
    for (const { frameNum, metrics } of report.frames) {
      const { source: name, split } = shown(source, frameNum);
      rows.push([name, encode.name, split, frameNum, ...columns.map((column) => metrics[column])]);
    }
    if (gray !== undefined) keepPictures(source, encode, report.reference, report.frames);
  }
  console.error(`${source.name}: ${source.encodes.length} encodes, ${rows.length} rows so far`);
}
const described = models.map((model) => ({
  key: model.key,
  source: basename(model.opened.source, '.json'),
  features: model.features,
  inputs: model.opened.inputs.map(({ feature, options }) => ({ feature, options })),
  imagined: imagine(Number(values.imagined), model),
}));
writeFileSync(
  join(values.corpus, `${values.out}.json`),
  JSON.stringify({ models: described, columns, rows, pictures }),
);
