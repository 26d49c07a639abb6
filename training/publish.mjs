/**
 * @module training/publish
 * Puts trained models into model/tiny: the graph, its sidecar, its card and its line in the registry, all made of the
 * figures that training wrote beside the graph.
 *
 *     node training/publish.mjs DIR/NAME.onnx…      (DIR/NAME.figures.json beside each)
 *     node training/publish.mjs --cards             (cards and sidecars anew, from model/tiny/NAME.figures.json)
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadBuilt, ROOT, table } from '../scripts/lib/project.mjs';

const { manifestOf } = await loadBuilt('tiny/load.js');
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

const CORPUS = `Generated scenes (\`training/content.mjs\`: textured discs that hide each other, drifting noise), synthetic
sources of ffmpeg, and seven real clips of the VMAF project (BSD-2-Clause-Patent), 24 frames each at up to 640x360. Each
source is encoded by x264, x265, VP9, AV1 and MPEG-2 at several qualities, scaled down and up, blurred and made noisy:
29 versions (\`training/corpus.mjs\`).

Which sources are held out is decided by the SHA-256 of their names, the same rule by which \`anyvmaf tiny eval\` splits a
table: the sources of \`test\` were seen neither in training nor when the best epoch was chosen (by \`val\`).`;

const COLOUR = `Generated scenes in colour and grey (\`training/content.mjs\`: textured discs that hide each other, drifting
noise), synthetic sources of ffmpeg, and seven real clips of the VMAF project (BSD-2-Clause-Patent), 4 frames each at up to
640x360; 26 of 36 sources are in colour. Each is encoded by x264, x265, VP9, AV1 and MPEG-2, scaled, blurred and made noisy:
12 versions. Of each source in colour there are 14 more: 12 of which luma alone is damaged, chroma as it was, and 2 of which
chroma alone is (\`training/corpus.mjs --colour\`).

Which sources are held out is decided by the SHA-256 of their names, the same rule by which \`anyvmaf tiny eval\` splits a
table: the sources of \`test\` were seen neither in training nor when the best epoch was chosen (by \`val\`).`;

/** Figures of each kind of damage, beside those of an earlier model where there are any. */
function damages({ damage, before }) {
  if (!damage) return '';
  const cells = (row) => (row ? [row.rmse, row.worst] : []);
  return `
Held-out frames by what was done to them, with the largest error of a frame${before ? ', beside those of the model that this one replaces' : ''}:

${table(
  ['damage', 'n', 'RMSE', 'largest', ...(before ? ['RMSE before', 'largest before'] : [])],
  Object.entries(damage).map(([kind, row]) => [kind, row.n, ...cells(row), ...cells(before?.[kind])]),
)}
`;
}

/** What a teacher does with chroma that compares as untouched. */
const MISSING = `

The teacher takes a chroma distortion of exactly 0 for missing and puts a guess from the detail lost in luma in its place: a
step of up to 20 points between grey video and video in colour, whose chroma compares as 0.00001 where nothing touched it.
The graph does the same before its scaler, as no perceptron would learn a step.`;

function regressor(name, facts) {
  const { teacher, inputs, seed, split, test, corpus } = facts;
  const colour = corpus === 'colour';
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
(\`training/fr.py\`). Scaler and clip to 0…100 are in the graph. Besides the frames of the corpus it was shown scores
that ${teacher} gives to features mixed from rows of the training part, a third of them nearer to nothing left, so that it
knows what lies between and beside them.${colour ? MISSING : ''}

## Data

${colour ? COLOUR : CORPUS}

## Figures

Agreement with ${teacher}, frame by frame; not with people.

${table(
  ['part', ...HEAD],
  Object.entries(split).map(([part, row]) => [part, ...figure(row)]),
)}
${damages(facts)}
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
    const values = rows.map((row) => Number(row[k + 2]) || 0);
    return (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(3);
  });
}

/** Figures of the model beside those of its baseline: of each source of a set, their mean, and all pictures together. */
function beside(model, baseline) {
  const row = (name, own, simple) => [name, ...figure(own), ...figure(simple).slice(1)];
  const rows = Object.keys(model.sources).map((name) =>
    row(name, model.sources[name], baseline.sources[name]),
  );
  const all = row('**together**', model.pooled, baseline.pooled);
  return table(
    ['source', ...HEAD, 'baseline PLCC', 'SROCC', 'RMSE'],
    [...rows, ['**mean of these**', '', ...means(rows)], all],
  );
}

/** On how many sources of a set the model errs less. */
function better(model, baseline) {
  const names = Object.keys(model.sources);
  const won = names.filter((name) => model.sources[name].rmse < baseline.sources[name].rmse);
  return `${won.length} of the ${names.length}`;
}

/** The model beside simpler answers to the same pictures. */
function simpler({ model, baseline, brisque, constant }) {
  if (!brisque || !constant) return '';
  const row = (what, of) => [what, ...['unseen', 'test'].flatMap((set) => figure(of(set)).slice(1))];
  return `
All pictures together, beside simpler answers: the perceptron above, a ridge regression on the natural scene statistics of
BRISQUE (\`training/brisque.py\`; it learned from ${brisque.pictures} pictures of ${brisque.sources} sources, fewer than the model), and the constant
${constant.value}, the mean score of those pictures; the last two on one picture of each encode:

${table(
  ['', 'never seen: PLCC', 'SROCC', 'RMSE', 'test: PLCC', 'SROCC', 'RMSE'],
  [
    row('**model**', (set) => model[set].pooled),
    row('statistics of blur and blockiness', (set) => baseline[set].pooled),
    row('BRISQUE-like', (set) => brisque[set].pooled),
    row('constant', (set) => constant[set]),
  ],
)}

Taken at its word a score errs by about 20 points, not much less than a constant does. What it is good for is order within
one scene.
`;
}

/** How far scores are off in the mean, and why that is left as it is. */
function offsetText(bias) {
  if (!bias) return '';
  const { offset, error, pictures, sources, corrected } = bias;
  return `
Bias: on ${pictures} pictures of ${sources} further scenes, which neither training nor the figures here use, scores were ${(-offset).toFixed(2)} too high
in the mean of scenes, with a standard error of ${error.toFixed(2)} (\`training/evaluate.mjs --offset\`). It is not taken off: that made
the RMSE together ${corrected.test} on \`test\`, but ${corrected.unseen} on kinds never seen. Nor is there a factor to apply: the best one is 0.8 on one
set of scenes and 1.4 on another. Within a scene it is about 1.7: differences there are larger than the scores say.
`;
}

function scorer(name, facts) {
  const { teacher, sources, model, baseline, bias } = facts;
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
      min_size: [64, 64],
      needs_scene: true,
      output_range: [0, 100],
      scale: { min: 0, max: 100, better: 'higher' },
    },
    description: `Guesses ${teacher} from the distorted luma alone.`,
    experimental: 'good for the order of versions of one scene at one size, not as absolute quality',
    card: `# ${name}

A no-reference scorer: the luma of a distorted frame in, a guess of the ${teacher} that it would get against its source
out. For triage when the source is gone; a guess, never a measurement. **Experimental**: it is good for the order of
versions of one scene at one size, not as absolute quality.

## Method

What it looks at is fixed: in each cell of 32x32 pixels, at three scales, the energies that 32 small filters find
(cosines along and across, differences, Laplacians) and how evenly they lie; and over the picture how much steeper steps
are on the grid of 8x8 and 4x4 blocks (\`training/measures.py\`). Mean and deviation of the cells go into three
small perceptrons whose mean is the score (\`training/nr.py\`). All of it is in the graph. Any picture size from
64x64 on; it is not resized, so that block edges stay where they are.

The baseline is a perceptron on six statistics of blur and blockiness, trained on the same pictures of the same
${sources} sources; a mean of three of them changes its figures little (PLCC together on kinds never seen: 0.35 at most).
The model was chosen among a few (linear ones, more and less dropout) by cross-validation that leaves out whole kinds of
scenes, within sources of training alone and on the half of the films that was ready.
${offsetText(bias)}
## Data

Besides the corpus that the other models are trained on, films of short generated scenes of twelve kinds (discs, clouds,
terrain, houses, pages, tiles, waves, portraits, landscapes, shades, Julia sets, cartoons), each through a camera of its
own: focus, sharpening, grain, contrast, bars (\`training/scenes.mjs\`). Each film is encoded by x264, x265, VP9, AV1
and MPEG-2 at several qualities, scaled down with several kernels, blurred and made noisy: 25 versions
(\`training/films.mjs\`).

The corpus: ${CORPUS}

Here \`val\` is trained on too. Held out twice: the sources of \`test\`, and scenes of six other kinds (marble, ferns,
mazes, weaves, lamps, charts), of which no figure was taken before the model was done.

## Figures

Agreement with ${teacher} of single frames, of the file as it ships (\`training/evaluate.mjs\`). Kinds that were
never seen:

${beside(model.unseen, baseline.unseen)}

Sources of \`test\`:

${beside(model.test, baseline.test)}
${simpler(facts)}
The RMSE is below that of the baseline on ${better(model.unseen, baseline.unseen)} sources never seen and on
${better(model.test, baseline.test)} of \`test\`. Figures of an earlier model on \`test\` had been seen when this one was designed, so that those are
a little flattering; those of the kinds never seen are the first that were taken. A baseline that
was trained on the corpus alone did better on \`test\` than this one (0.558, 0.504, 20.6 together; 0.597, 0.552, 18.3 in
the mean of sources); the model is ahead of it too.

## Limits

Without the source nobody can tell a soft scene from a blurred one: figures vary much from source to source, and a
sharp but wrong picture may score high. A blur far stronger than those of training (a deviation of 2.6 pixels) scores low,
but not always lower than a weaker one. Frames were at most 960x540, 8 bit, and graded for standard dynamic range. The
real clips are few. Compare versions of the same scene rather than scenes.

It was made for pictures from 64x64 on; smaller ones are refused. Flat frames, black ones and noise it scores like any
other, at about 80: runs count such frames and warn. A file that was made smaller or larger it cannot tell from one that was
not: on files scored at the size they were made smaller to, its values have nothing to do with VMAF (PLCC 0.05 in a trial
by others). In that trial, on 1,452 real clips and before its bias was taken out, its RMSE was 17.9, that of the best
constant 18.1, and SROCC within a scene 0.72.
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
  const { sidecar, description, experimental, card } = (facts.kind === 'fr' ? regressor : scorer)(
    name,
    facts,
  );
  const part = { name: `${name}.json`, bytes: Buffer.from(json(sidecar)) };
  const graph = { bytes: readFileSync(join(FOLDER, file)), external: [] };
  writeFileSync(join(FOLDER, part.name), part.bytes);
  writeFileSync(join(FOLDER, `${name}.md`), card);
  models.push({
    id: name,
    kind: facts.kind,
    onnx: file,
    sha256: createHash('sha256').update(graph.bytes).digest('hex'),
    manifest_sha256: (await manifestOf(graph, file, part)).sha256,
    opset: 13,
    description,
    experimental,
    card: `${name}.md`,
    license: 'BSD-2-Clause-Patent',
  });
}
writeFileSync(
  join(FOLDER, 'registry.json'),
  json({ $schema: './registry.schema.json', schema_version: 1, models }),
);
console.log(`model/tiny: ${models.map(({ id }) => id).join(', ')}`);
