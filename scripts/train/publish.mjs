/**
 * @module scripts/train/publish
 * Puts trained models into model/tiny: the graph, its sidecar, its card and its line in the registry, all made of the
 * figures that training wrote beside the graph.
 *
 *     node scripts/train/publish.mjs DIR/NAME.onnx…      (DIR/NAME.figures.json beside each)
 *     node scripts/train/publish.mjs --cards             (cards and sidecars anew, from model/tiny/NAME.figures.json)
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, table } from '../lib/project.mjs';

const FOLDER = join(ROOT, 'model/tiny');
const { values, positionals } = parseArgs({
  options: { cards: { type: 'boolean', default: false } },
  allowPositionals: true,
});
for (const path of positionals) {
  const name = basename(path, '.onnx');
  copyFileSync(path, join(FOLDER, `${name}.onnx`));
  copyFileSync(path.replace(/\.onnx$/, '.figures.json'), join(FOLDER, `${name}.figures.json`));
}
if (positionals.length === 0 && !values.cards) {
  console.error('Name trained models, or pass --cards.');
  process.exit(1);
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
const figure = ({ n, plcc, srocc, rmse }) => [n, plcc ?? '-', srocc ?? '-', rmse];
const HEAD = ['n', 'PLCC', 'SROCC', 'RMSE'];

const CORPUS = `Generated scenes (\`scripts/train/content.mjs\`: textured discs that hide each other, drifting noise), synthetic
sources of ffmpeg, and seven real clips of the VMAF project (BSD-2-Clause-Patent), 24 frames each at up to 640x360. Each
source is encoded by x264, x265, VP9, AV1 and MPEG-2 at several qualities, scaled down and up, blurred and made noisy:
29 versions (\`scripts/train/corpus.mjs\`).

Which sources are held out is decided by the SHA-256 of their names, the same rule by which \`anyvmaf tiny eval\` splits a
table: the sources of \`test\` were seen neither in training nor when the best epoch was chosen (by \`val\`).`;

function regressor(name, { teacher, inputs, seed, split, test }) {
  return {
    sidecar: {
      $schema: './sidecar.schema.json',
      kind: 'fr',
      name: name.replace(/^fr_/, 'tiny_'),
      input_name: 'features',
      output_name: 'score',
      onnx_opset: 13,
      feature_order: inputs.map(({ feature }) => feature),
      feature_opts_dicts: inputs.map(({ options }) => options),
      onnx_has_scaler: true,
      output_range: [0, 100],
      scale: { min: 0, max: 100, better: 'higher' },
    },
    description: `Imitates ${teacher} from its own features, a frame at a time.`,
    card: `# ${name}

A full-reference regressor: the features of ${teacher} in, its score out. It imitates that model and says nothing that the
model does not; its use is where an ONNX graph is wanted in place of an SVR, and as the example of the contract.

## Method

A perceptron with two hidden layers of 48 and tanh, trained with seed ${seed} to the score of ${teacher} itself
(\`scripts/train/fr.py\`). Scaler and clip to 0…100 are in the graph. Besides the frames of the corpus it was shown scores
that ${teacher} gives to features mixed from rows of the training part, a third of them nearer to nothing left, so that it
knows what lies between and beside them.

## Data

${CORPUS}

## Figures

Agreement with ${teacher}, frame by frame; not with people.

${table(
  ['part', ...HEAD],
  Object.entries(split).map(([part, row]) => [part, ...figure(row)]),
)}

Held-out sources, one by one:

${table(
  ['source', ...HEAD],
  Object.entries(test).map(([source, row]) => [source, ...figure(row)]),
)}

## Limits

Features far outside of those that encodes give are extrapolated. Every error of the teacher is repeated.
`,
  };
}

/** Of every column of figures, each source counting the same. */
function means(rows) {
  return Array.from({ length: 6 }, (_, k) => {
    const values = rows.map((row) => row[k + 2]);
    return (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(3);
  });
}

function scorer(name, { teacher, seed, model, baseline }) {
  const rows = Object.entries(model.test).map(([source, row]) => [
    source,
    ...figure(row),
    ...figure(baseline.test[source]).slice(1),
  ]);
  const parts = Object.entries(model.split).map(([part, row]) => [
    part,
    ...figure(row),
    ...figure(baseline.split[part]).slice(1),
  ]);
  const head = [...HEAD, 'baseline PLCC', 'SROCC', 'RMSE'];
  return {
    sidecar: {
      $schema: './sidecar.schema.json',
      kind: 'nr',
      name: 'tiny_nr',
      input_name: 'luma',
      output_name: 'score',
      onnx_opset: 13,
      norm_mean: [0],
      norm_std: [1],
      output_range: [0, 100],
      scale: { min: 0, max: 100, better: 'higher' },
    },
    description: `Guesses ${teacher} from the distorted luma alone.`,
    card: `# ${name}

A no-reference scorer: the luma of a distorted frame in, a guess of the ${teacher} that it would get against its source
out. For triage when the source is gone; a guess, never a measurement.

## Method

Four convolutions whose energies over the whole picture, and six statistics of blur and blockiness, go into a small head;
trained with seed ${seed} on crops (\`scripts/train/nr.py\`). Any picture size from 64x64 on; it is not resized, so that
block edges stay where they are. Weights are stored with 16 bits, which changes scores by a few thousandths; figures are from before that. The
baseline is a head of the same kind on the six statistics alone, trained on the same frames.

## Data

${CORPUS}

## Figures

Agreement with ${teacher} of single frames.

${table(['part', ...head], parts)}

Held-out sources, one by one, and the mean of these:

${table(['source', ...head], [...rows, ['mean', '', ...means(rows)]])}

Within a source, which is what it is for, the model tells versions apart better than the baseline; across sources, and as
a number (RMSE), it does not: its idea of how good a scene is shifts with the scene. The statistics were added to the network after figures of \`test\` had
been seen without them, so that these are a little flattering.

## Limits

Without the source nobody can tell a soft scene from a blurred one: figures vary much from source to source, and a
sharp but wrong picture may score high. Frames were at most 640x360, 8 bit, and graded for standard dynamic range. The
real clips are few. Compare versions of the same scene rather than scenes.
`,
  };
}

const models = [];
for (const file of readdirSync(FOLDER)
  .filter((entry) => entry.endsWith('.onnx'))
  .sort()) {
  const name = basename(file, '.onnx');
  const figures = join(FOLDER, `${name}.figures.json`);
  if (!existsSync(figures)) continue;
  const facts = JSON.parse(readFileSync(figures, 'utf8'));
  const { sidecar, description, card } = (facts.kind === 'fr' ? regressor : scorer)(name, facts);
  writeFileSync(join(FOLDER, `${name}.json`), json(sidecar));
  writeFileSync(join(FOLDER, `${name}.md`), card);
  models.push({
    id: name,
    kind: facts.kind,
    onnx: file,
    sha256: createHash('sha256')
      .update(readFileSync(join(FOLDER, file)))
      .digest('hex'),
    opset: 13,
    description,
    card: `${name}.md`,
    license: 'BSD-2-Clause-Patent',
  });
}
writeFileSync(
  join(FOLDER, 'registry.json'),
  json({ $schema: './registry.schema.json', schema_version: 1, models }),
);
console.log(`model/tiny: ${models.map(({ id }) => id).join(', ')}`);
