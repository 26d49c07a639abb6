/**
 * @module training/evaluate
 * Computes the figures of a trained no-reference model, as shipped, and of its baseline, on held-out sources.
 * Needs a build (`npm run build`) and onnxruntime-node.
 *
 *     node training/evaluate.mjs --model DIR/NAME.onnx --data DIR/measured…  [--teacher vmaf]
 *
 *     node training/evaluate.mjs --model DIR/NAME.onnx --offset PATTERN DIR/measured…
 *
 * With --offset it writes DIR/NAME.offset.json instead: the mean error of the scores over matching sources, each weighted
 * equally.
 *
 * Reads the same data as training/nr, but only the pictures of the splits `test` and `unseen`. Writes
 * DIR/NAME.figures.json for training/publish.
 */
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { loadBuilt, readOptions } from '../scripts/lib/project.mjs';

const { values, positionals } = readOptions({
  options: {
    model: { type: 'string' },
    data: { type: 'string', multiple: true, default: [] },
    teacher: { type: 'string', default: 'vmaf' },
    offset: { type: 'string' },
  },
  allowPositionals: true,
});
if (!values.model) {
  console.error('Name a model: node training/evaluate.mjs --model NAME.onnx --data DIR/measured…');
  process.exit(1);
}
const { agreementOf, sampleOf } = await loadBuilt('evaluate/correlation.js');

const SETS = ['test', 'unseen'];
const options = { intraOpNumThreads: 1, interOpNumThreads: 1 };
const files = { model: values.model };
if (!values.offset) files.baseline = values.model.replace(/\.onnx$/, '.baseline.onnx');
const sessions = {};
for (const [key, file] of Object.entries(files)) sessions[key] = await InferenceSession.create(file, options);
const learned = new Set();
const rows = [];
let teacher;
for (const path of [...values.data, ...positionals]) {
  const { models, pictures } = JSON.parse(readFileSync(`${path}.json`, 'utf8'));
  teacher = models.find(({ key }) => key === values.teacher).source;
  const file = openSync(`${path}.gray`, 'r');
  for (const picture of pictures) {
    const { source, split, width, height, offset } = picture;
    if (values.offset ? !new RegExp(values.offset).test(source) : !SETS.includes(split)) {
      learned.add(source);
      continue;
    }
    const bytes = new Uint8Array(width * height);
    readSync(file, bytes, 0, bytes.length, offset);
    const luma = new Tensor(
      'float32',
      Float32Array.from(bytes, (byte) => byte / 255),
      [1, 1, height, width],
    );
    const row = { source, split, wanted: picture[values.teacher] };
    for (const [key, session] of Object.entries(sessions))
      row[key] = (await session.run({ luma })).score.data[0];
    rows.push(row);
  }
  closeSync(file);
}

/** What scores are off in the mean of sources, with the standard error of that. */
function offsetOf(part) {
  const names = [...new Set(part.map(({ source }) => source))];
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const off = names.map((name) =>
    mean(part.filter(({ source }) => source === name).map(({ model, wanted }) => wanted - model)),
  );
  const offset = mean(off);
  const variance = mean(off.map((value) => (value - offset) ** 2)) / (off.length - 1);
  return { offset, error: Math.sqrt(variance), pictures: part.length, sources: names.length };
}

if (values.offset) {
  const found = offsetOf(rows);
  writeFileSync(values.model.replace(/\.onnx$/, '.offset.json'), `${JSON.stringify(found)}\n`);
  console.log(found);
  process.exit(0);
}

const round = (value, digits) => value && Number(value.toFixed(digits));

/** Agreement of some rows. */
function agreement(part, key) {
  const [predicted, wanted] = [key, 'wanted'].map((name) => Float64Array.from(part, (row) => row[name]));
  const { n, plcc, srocc, rmse } = agreementOf(sampleOf(predicted, wanted));
  return { n, plcc: round(plcc, 4), srocc: round(srocc, 4), rmse: round(rmse, 3) };
}

/** Figures of one model: of each set together and of each of its sources. */
function figures(key) {
  return Object.fromEntries(
    SETS.filter((set) => rows.some(({ split }) => split === set)).map((set) => {
      const part = rows.filter(({ split }) => split === set);
      const names = [...new Set(part.map(({ source }) => source))].sort();
      const sources = names.map((name) => [
        name,
        agreement(
          part.filter(({ source }) => source === name),
          key,
        ),
      ]);
      return [set, { pooled: agreement(part, key), sources: Object.fromEntries(sources) }];
    }),
  );
}

const result = {
  kind: 'nr',
  teacher,
  sources: learned.size,
  model: figures('model'),
  baseline: figures('baseline'),
};
writeFileSync(values.model.replace(/\.onnx$/, '.figures.json'), `${JSON.stringify(result, null, 1)}\n`);
for (const key of ['model', 'baseline']) {
  for (const set of SETS.filter((name) => result[key][name])) {
    const { pooled, sources } = result[key][set];
    const each = Object.values(sources);
    const mean = (name) => (each.reduce((sum, row) => sum + (row[name] ?? 0), 0) / each.length).toFixed(3);
    const means = `mean of sources ${mean('plcc')} ${mean('srocc')} ${mean('rmse')}`;
    console.log(`${key} ${set}: pooled ${pooled.plcc} ${pooled.srocc} ${pooled.rmse}, ${means}`);
  }
}
