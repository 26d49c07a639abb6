/**
 * @module scripts/accuracy
 * `npm run accuracy`: compares all values with libvmaf's and writes the tables of docs/accuracy.md, for generated clips
 * (test/fixtures) and, if ../shared is present, real clips and the perceptual metrics. Environment variables name the
 * metrics' authors' programs (lib/accuracy-film); without them, that table is not updated.
 *
 *   node scripts/accuracy.mjs [--print]    --print: print without changing docs/accuracy.md
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filmAccuracy } from './lib/accuracy-film.mjs';
import { perceptualAccuracy } from './lib/accuracy-perceptual.mjs';
import { loadBuilt, ROOT, readOptions, replaceBlock, table } from './lib/project.mjs';
import { loadSupport } from './lib/support.mjs';

const { values: flags } = readOptions({ options: { print: { type: 'boolean' } } });
const { score } = await loadBuilt('index.js');
const { sampleSource } = await loadBuilt('sample/files.js');

const support = await loadSupport('fixtures');

function total(comparisons) {
  return comparisons.reduce(
    (sum, { compared, equal, worst, wrong }) => ({
      compared: sum.compared + compared,
      equal: sum.equal + equal,
      worst: Math.max(sum.worst, worst),
      wrong: [...sum.wrong, ...wrong],
    }),
    { compared: 0, equal: 0, worst: 0, wrong: [] },
  );
}

const worstText = ({ worst }) => (worst === 0 ? '0' : worst.toExponential(1));
const cell = (comparison) => (comparison ? `${comparison.equal} / ${comparison.compared}` : '');
const groups = { real: [], generated: [], divided: [] };

/** Separates runs with float_adm, where libvmaf's results depend on the processor. */
const groupOf = (usual, requests) =>
  requests.some((text) => /^float_adm|vmaf_float_/.test(text)) ? groups.divided : groups[usual];

const shared = new URL('../shared/', pathToFileURL(`${ROOT}/`));

/** Real clips: one row per configuration, one column per clip. */
async function realClips() {
  if (!existsSync(new URL('golden/features.json', shared))) return undefined;
  const results = new Map();
  const clips = [];
  for (const entry of support.goldenCases(shared)) {
    const { clip, config, request, options } = entry;
    const comparison = support.compareWithGolden(await score(request, { ...options, threads: 0 }), entry);
    groupOf('real', [...(options.models ?? []), ...(options.features ?? [])]).push(comparison);
    if (!clips.includes(clip)) clips.push(clip);
    const row = results.get(config) ?? new Map();
    results.set(config, row.set(clip, comparison));
  }
  const rows = [...results].map(([config, row]) => [
    `\`${config}\``,
    ...clips.map((clip) => cell(row.get(clip))),
    worstText(total([...row.values()])),
  ]);
  const columns = clips.map((clip) => total([...results.values()].flatMap((row) => row.get(clip) ?? [])));
  rows.push(['all', ...columns.map(cell), worstText(total(columns))]);
  return table(['run', ...clips, 'worst relative difference'], rows);
}

/** Generated clips: one row per fixture file and clip. */
async function generatedClips() {
  const rows = [];
  const files = readdirSync(join(ROOT, 'test/fixtures')).filter(
    (name) => name.endsWith('.json') && !['reports.json', 'mcp-tools.json', 'printf.json'].includes(name),
  );
  for (const file of files.sort()) {
    for (const entry of support.readFixture(file.replace('.json', ''))) {
      const pair = support.fixtureClip(entry.clip);
      const comparisons = [];
      for (const run of entry.runs) {
        const { models, features, noPrediction, subsample, compat } = run;
        const options = { models, features, noPrediction, subsample, compat, threads: 0 };
        const side = (name) => sampleSource(pair, name, entry.clip.frames);
        const report = await score(
          { reference: side('reference'), distorted: side('distorted') },
          Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
        );
        const comparison = support.compareWithFixture(report, run);
        comparisons.push(comparison);
        groupOf('generated', [...(models ?? []), ...(features ?? [])]).push(comparison);
      }
      const sum = total(comparisons);
      const title = support.clipTitle(entry.clip);
      rows.push([file.replace('.json', ''), title, String(entry.runs.length), cell(sum), worstText(sum)]);
    }
  }
  return table(['fixture', 'clip', 'runs', 'equal / compared', 'worst relative difference'], rows);
}

const perceptual = await perceptualAccuracy(score, shared);
const scratch = mkdtempSync(join(tmpdir(), 'anyvmaf-accuracy-'));
const film = await filmAccuracy(score, shared, scratch).finally(() => rmSync(scratch, { recursive: true }));
const real = await realClips();
const generated = await generatedClips();
const sum = total(Object.values(groups).flat());
const summary =
  `${sum.compared} values compared, ${sum.equal} equal doubles, worst relative difference ${worstText(sum)}, ` +
  `${sum.wrong.length} outside the promise.`;
for (const text of [perceptual?.text, film, real, generated, summary])
  if (text !== undefined) console.log(`${text}\n`);
const wrong = [...sum.wrong, ...(perceptual?.wrong ?? [])];
for (const line of wrong.slice(0, 50)) console.error(line);
if (wrong.length > 0) process.exitCode = 1;
if (!flags.print) {
  const row = (what, comparisons) => {
    const { compared, equal, ...rest } = total(comparisons);
    return [what, String(compared), String(equal), worstText(rest)];
  };
  const exactness = [
    row('generated clips, `test/fixtures`', groups.generated),
    row('runs with `float_adm` of both, see docs/accuracy.md', groups.divided),
  ];
  if (real !== undefined) exactness.unshift(row("real clips, libvmaf's test material", groups.real));
  const head = [
    'compared with libvmaf 3.2.0 (17 digits)',
    'values',
    'equal doubles',
    'worst relative difference',
  ];
  replaceBlock('docs/accuracy.md', 'summary', summary);
  replaceBlock('README.md', 'exactness', table(head, exactness));
  replaceBlock('docs/accuracy.md', 'generated clips', generated);
  if (real === undefined) console.error('../shared is not there: the table of real clips stays as it is');
  else replaceBlock('docs/accuracy.md', 'real clips', real);
  if (perceptual === undefined)
    console.error('../shared is not there: the table of perceptual metrics stays as it is');
  else replaceBlock('docs/accuracy.md', 'perceptual metrics', perceptual.text);
  if (film !== undefined) replaceBlock('docs/accuracy.md', 'film', film);
}
