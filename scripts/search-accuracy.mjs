/**
 * @module scripts/search-accuracy
 * How accurate searches are: against exhaustive grids on short sources, beside the rule of another tool on the same grids; and
 * how well samples of long sources predict the whole. Prints the tables of docs/search.md.
 *
 *   npm run accuracy:search -- [CLIPS] [--record FOLDER] [--encoder NAME] [--real N]    grids; `--real N` encodes every Nth search
 *   npm run accuracy:search -- [CLIPS] [--record FOLDER] [--encoder NAME] --samples [--cases N] [--metric NAME,...]    samples
 *
 * CLIPS is a folder of real clips, `../shared/clips` by default; missing ones are left out. Grids are cached in
 * the folder of --record, and a second run reuses them.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBuilt, ROOT, readOptions, table } from './lib/project.mjs';
import { cutReal, GENERATED, generate, REAL } from './lib/search-clips.mjs';
import { ENCODERS, Grids, installed } from './lib/search-grid.mjs';
import { abAv1Rule, largest, ownRule } from './lib/search-rules.mjs';
import { measureSamples } from './lib/search-samples.mjs';

const { values: flags, positionals } = readOptions({
  options: {
    record: { type: 'string', default: join(tmpdir(), 'anyvmaf-accuracy') },
    encoder: { type: 'string' },
    real: { type: 'string', default: '3' },
    samples: { type: 'boolean', default: false },
    cases: { type: 'string', default: '12' },
    metric: { type: 'string' },
  },
  allowPositionals: true,
});
const clips = positionals[0] ?? join(ROOT, '../shared/clips');

const api = await loadBuilt('bundle/js/index.js');
const { nextStep } = await loadBuilt('search/strategy.js');
const { parameterOf } = await loadBuilt('search/encoders.js');
const { ceilingOf } = await loadBuilt('search/targets.js');

/** Targets lie in the usual range, and within the span of a curve. */
const [LOWEST, HIGHEST] = [50, 98];
/** Shares of that span, from its top. */
const SHARES = [0.1, 0.35, 0.7];

/** Makes all short sources. @returns name and path of each */
function sources(folder) {
  const made = [];
  const pathOf = (name) => join(folder, `${name.replaceAll(' ', '-')}.y4m`);
  for (const [name, source] of Object.entries(GENERATED)) {
    generate(source, pathOf(name));
    made.push({ name, path: pathOf(name) });
  }
  for (const [name, source] of Object.entries(REAL)) {
    if (cutReal(source, clips, pathOf(name))) made.push({ name, path: pathOf(name) });
    else console.log(`Left out: ${source.file} is not there.`);
  }
  return made;
}

/** Three targets within the span of a grid. */
function targetsOf(points) {
  const scores = points.map(({ score }) => score);
  const high = Math.min(HIGHEST, Math.max(...scores));
  const low = Math.max(LOWEST, Math.min(...scores));
  // The curve lies above or below the usual range.
  const [from, to] = high > low ? [high, low] : [Math.max(...scores), Math.min(...scores)];
  return SHARES.map((share) => Number((from - (from - to) * share).toFixed(3)));
}

/** Searches one grid for a target by both rules, and with real encodes if `real`. */
async function judge({ path, name }, encoder, points, target, real) {
  const { options, range } = ENCODERS[encoder];
  const facts = { name: encoder, options: new Map([['crf', range.step < 1 ? 'float' : 'int']]) };
  const { grid } = parameterOf(facts, undefined, range);
  const ceiling = ceilingOf([{ metric: 'vmaf', statistic: 'mean', atLeast: target }]);
  const best = largest(points, target);
  const own = ownRule(points, target, nextStep, { ...grid, ceiling });
  const other = abAv1Rule(points, target);
  const steps = (value) => (value === undefined ? Number.NaN : (value - best) / range.step);
  const out = {
    name,
    encoder,
    target,
    best,
    own,
    other,
    off: steps(own.value),
    otherOff: steps(other.value),
  };
  if (!real) return out;
  const found = await api.searchQuality(path, {
    encoder,
    encoderOptions: options,
    range,
    targets: [{ atLeast: target }],
    full: true,
    cache: false,
    threads: 0,
  });
  const apart = found.points.map((point) => {
    const known = points.find(({ value }) => value === point.value);
    return Math.abs(point.pooled.vmaf.mean - known.score);
  });
  return { ...out, real: { value: found.value, encodes: found.encodes, apart: Math.max(...apart) } };
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) / 2)];

/** A row of the table from all searches of an encoder. */
function rowOf(encoder, cases) {
  const within = (off) => cases.filter((testCase) => Math.abs(off(testCase)) <= 1).length;
  const encodes = cases.map(({ own }) => own.encodes);
  const others = cases.map(({ other }) => other.encodes);
  const lost = cases.filter(({ other }) => other.value === undefined).length;
  return [
    encoder,
    cases.length,
    within(({ off }) => off),
    median(encodes),
    Math.max(...encodes),
    within(({ otherOff }) => otherOff),
    median(others),
    Math.max(...others),
    lost,
  ];
}

const HEAD = [
  'encoder',
  'searches',
  'within a step',
  'encodes, median',
  'most',
  'ab-av1: within a step',
  'encodes, median',
  'most',
  'no answer',
];

async function measureGrids(folder) {
  const grids = new Grids(join(flags.record, 'grids.jsonl'), api.score);
  const every = Math.max(1, Number(flags.real));
  const all = [];
  for (const source of sources(folder)) {
    for (const encoder of installed().filter((name) => name.startsWith(flags.encoder ?? ''))) {
      const recorded = await grids.of(source.path, encoder, folder);
      const points = recorded.map(({ value, vmaf }) => ({
        value,
        score: vmaf.reduce((sum, one) => sum + one, 0) / vmaf.length,
      }));
      for (const target of targetsOf(points))
        all.push(await judge(source, encoder, points, target, all.length % every === 0));
    }
  }
  const encoders = [...new Set(all.map(({ encoder }) => encoder))];
  const rows = encoders.map((name) =>
    rowOf(
      name,
      all.filter(({ encoder }) => encoder === name),
    ),
  );
  console.log(table(HEAD, [...rows, rowOf('all', all)]));
  for (const { name, encoder, target, best, own, off } of all.filter((one) => !(Math.abs(one.off) <= 1)))
    console.log(`${name}, ${encoder}, target ${target}: ${own.value}, the grid says ${best} (${off} steps)`);
  tellReal(all.filter(({ real }) => real));
}

/** Results of real searches, which must equal those of the strategy on the grid. */
function tellReal(cases) {
  const same = cases.filter(({ real, own }) => real.value === own.value && real.encodes === own.encodes);
  const apart = Math.max(0, ...cases.map(({ real }) => real.apart));
  console.log(
    `${cases.length} of them encoded in earnest: ${same.length} found the same value in as many encodes; scores differ ` +
      `from the grid's by at most ${apart.toPrecision(2)}.`,
  );
  for (const { name, encoder, target, own, real } of cases.filter((one) => !same.includes(one)))
    console.log(`${name}, ${encoder}, target ${target}: ${real.value} in place of ${own.value}`);
}

mkdirSync(flags.record, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-accuracy-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
if (flags.samples) await measureSamples(api.searchQuality, clips, folder, flags);
else await measureGrids(folder);
