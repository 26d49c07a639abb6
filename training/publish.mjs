/**
 * @module training/publish
 * Publishes trained models to model/tiny: the graph, its sidecar, card and registry entry, from the figures that training wrote
 * beside the graph.
 *
 *     node training/publish.mjs DIR/NAME.onnx…      (DIR/NAME.figures.json beside each)
 *     node training/publish.mjs --cards             (rewrites cards and sidecars from model/tiny/NAME.figures.json)
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadBuilt, ROOT, readOptions, table } from '../scripts/lib/project.mjs';

const { manifestOf } = await loadBuilt('tiny/load.js');
const FOLDER = join(ROOT, 'model/tiny');
const { values, positionals } = readOptions({
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

const CORPUS = `Generated scenes (\`training/content.mjs\`: overlapping textured discs, drifting noise), ffmpeg's synthetic sources,
and seven real clips of the VMAF project (BSD-2-Clause-Patent), 24 frames each at up to 640x360. Each source has 29 versions:
encoded by x264, x265, VP9, AV1 and MPEG-2 at several qualities, scaled down and up, blurred, and with noise
(\`training/corpus.mjs\`).

The SHA-256 of a source's name decides its part, as in \`anyvmaf tiny eval\`: sources of \`test\` were used neither in training nor to
choose the best epoch (by \`val\`).`;

const COLOUR = `Generated scenes in colour and grey (\`training/content.mjs\`: overlapping textured discs, drifting noise),
ffmpeg's synthetic sources, and seven real clips of the VMAF project (BSD-2-Clause-Patent), 4 frames each at up to
640x360; 26 of 36 sources are in colour. Each source has 12 versions: encoded by x264, x265, VP9, AV1 and MPEG-2, scaled, blurred and with
noise. Colour sources have 14 more: 12 with only luma damaged, and 2 with only chroma damaged (\`training/corpus.mjs --colour\`).

The SHA-256 of a source's name decides its part, as in \`anyvmaf tiny eval\`: sources of \`test\` were used neither in training nor to
choose the best epoch (by \`val\`).`;

/** Figures of each kind of damage, beside those of an earlier model where there are any. */
function damages({ damage, before }) {
  if (!damage) return '';
  const cells = (row) => (row ? [row.rmse, row.worst] : []);
  return `
Held-out frames by kind of damage, with the largest error of a frame${before ? ', and the figures of the previous model' : ''}:

${table(
  ['damage', 'n', 'RMSE', 'largest', ...(before ? ['RMSE before', 'largest before'] : [])],
  Object.entries(damage).map(([kind, row]) => [kind, row.n, ...cells(row), ...cells(before?.[kind])]),
)}
`;
}

/** What a teacher does with chroma that compares as untouched. */
const MISSING = `

The teacher treats a chroma distortion of exactly 0 as missing and replaces it with a guess from the detail lost in luma. This makes a
step of up to 20 points between grey video and colour video, whose undamaged chroma has a distortion of 0.00001. The graph
does the same before its scaler, because a perceptron would not learn a step.`;

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

A full-reference regressor that predicts the score of ${teacher} from its features. It adds no information to that model: use
it where you need an ONNX graph instead of an SVR, and as an example of a tiny model.

## Method

A perceptron with two hidden layers of 48 units and tanh, trained with seed ${seed} on the score of ${teacher}
(\`training/fr.py\`). Scaler and clip to 0…100 are in the graph. Besides the frames of the corpus, it was trained on scores of
${teacher} for mixtures of feature rows from the training part, a third of them moved towards complete loss, to cover the space
between and beyond these rows.${colour ? MISSING : ''}

## Data

${colour ? COLOUR : CORPUS}

## Figures

Agreement with ${teacher} per frame, not with viewers.

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

Features far outside the range of real encodes are extrapolated. The model repeats every error of its teacher.
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
All pictures together, compared with simpler methods: the perceptron above, a ridge regression on the natural scene statistics of
BRISQUE (\`training/brisque.py\`, trained on ${brisque.pictures} pictures of ${brisque.sources} sources, fewer than the model), and the constant
${constant.value}, the mean score of those pictures. The last two use one picture of each encode:

${table(
  ['', 'unseen kinds: PLCC', 'SROCC', 'RMSE', 'test: PLCC', 'SROCC', 'RMSE'],
  [
    row('**model**', (set) => model[set].pooled),
    row('statistics of blur and blockiness', (set) => baseline[set].pooled),
    row('BRISQUE-like', (set) => brisque[set].pooled),
    row('constant', (set) => constant[set]),
  ],
)}

As an absolute value, a score errs by about 20 points, not much less than a constant. Use it to rank versions of one scene.
`;
}

/** How far scores are off in the mean, and why that is left as it is. */
function offsetText(bias) {
  if (!bias) return '';
  const { offset, error, pictures, sources, corrected } = bias;
  return `
Bias: on ${pictures} pictures of ${sources} further scenes, used neither in training nor in the figures here, scores were ${(-offset).toFixed(2)} too high
on average over scenes, with a standard error of ${error.toFixed(2)} (\`training/evaluate.mjs --offset\`). It is not corrected: a correction gave a
total RMSE of ${corrected.test} on \`test\` but ${corrected.unseen} on unseen kinds. No factor is applied either: the best one is 0.8 on one
set of scenes and 1.4 on another. Within a scene it is about 1.7, so real differences are larger than those of the scores.
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

A no-reference model that guesses the ${teacher} score of a frame from its luma. Use it for triage when the source is gone. It is a guess, not a
measurement. **Experimental**: good for ranking versions of one scene at one size, not as absolute quality.

## Method

The features are fixed. For each 32x32 cell at three scales, the model computes the energies of 32 small filters (horizontal and vertical
cosines, differences, Laplacians) and their evenness; over the whole picture, how much steeper steps are on the grid of 8x8 and 4x4
blocks (\`training/measures.py\`). Mean and deviation over the cells feed three small perceptrons whose mean is the score
(\`training/nr.py\`). All of this is in the graph. Pictures of at least 64x64 are used at their own size, to keep block edges in place.

The baseline is a perceptron on six statistics of blur and blockiness, trained on the same pictures of the same ${sources} sources. Averaging
three such perceptrons changes little (total PLCC on unseen kinds: at most 0.35). The model was chosen among a few variants
(linear, more or less dropout) by cross-validation that leaves out whole kinds of scenes, only on training sources and on half of the films.
${offsetText(bias)}
## Data

The corpus of the other models, and films of short generated scenes of twelve kinds (discs, clouds, terrain, houses, pages, tiles,
waves, portraits, landscapes, shades, Julia sets, cartoons), each with its own simulated camera: focus, sharpening, grain, contrast, bars
(\`training/scenes.mjs\`). Each film has 25 versions: encoded by x264, x265, VP9, AV1 and MPEG-2 at several qualities, scaled down
with several kernels, blurred and with noise (\`training/films.mjs\`).

The corpus: ${CORPUS}

This model is also trained on \`val\`. Two sets are held out: the sources of \`test\`, and scenes of six other kinds (marble, ferns,
mazes, weaves, lamps, charts), which were not evaluated before the model was finished.

## Figures

Agreement of the shipped file with ${teacher} per frame (\`training/evaluate.mjs\`). Unseen kinds:

${beside(model.unseen, baseline.unseen)}

Sources of \`test\`:

${beside(model.test, baseline.test)}
${simpler(facts)}
The RMSE is below the baseline's on ${better(model.unseen, baseline.unseen)} unseen sources and on ${better(model.test, baseline.test)} of \`test\`.
Results of an earlier model on \`test\` were known when this one was designed, so the figures of \`test\` are slightly optimistic; those of the
unseen kinds are the first that were taken. A baseline trained only on the corpus did better on \`test\` than the one above (PLCC, SROCC, RMSE
0.558, 0.504, 20.6 together; 0.597, 0.552, 18.3 as the mean of sources); the model is better than that one too.

## Limits

Without the source, no model can tell a soft scene from a blurred one: figures vary greatly between sources, and a sharp but wrong picture may score
high. Compare versions of the same scene rather than scenes. A blur far stronger than in training (a deviation of 2.6 pixels) scores low, but not
always lower than a weaker one. Training frames were at most 960x540, 8 bit, SDR, with few real clips.

Pictures below 64x64 are refused. Flat or black frames and noise score about 80; runs count such frames and warn. The model cannot detect scaling: for
files scored at a reduced size, its values are unrelated to VMAF (PLCC 0.05 in an independent trial). That trial, on 1,452 real clips, used
the file that ships, whose bias is not corrected: its RMSE was 17.9, that of the best constant 18.1, and SROCC within a scene 0.72.
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
