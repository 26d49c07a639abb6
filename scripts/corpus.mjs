/**
 * @module scripts/corpus
 * `npm run corpus`: makes awkward pairs of videos with ffmpeg, scores each as a user would, and compares score, findings and
 * verdict with those of a careful person; exits with 1 if one differs. Needs a build (`npm run build`) and ffmpeg. Made files
 * are kept in node_modules/.cache.
 *
 *     node scripts/corpus.mjs [--only TEXT] [--list] [--decoders]
 *
 * --only      only cases with TEXT in kind or name
 * --list      print descriptions, and run nothing
 * --decoders  also compare the other decoders with ffmpeg
 */
import { CASES } from './corpus/cases.mjs';
import { corpusFiles } from './corpus/make.mjs';
import { preparer, runCase } from './corpus/run.mjs';
import { loadBuilt, readOptions, table } from './lib/project.mjs';
import { loadSupport } from './lib/support.mjs';

const { values } = readOptions({
  options: {
    only: { type: 'string', default: '' },
    list: { type: 'boolean' },
    decoders: { type: 'boolean' },
  },
});
const chosen = CASES.filter(({ kind, name }) => `${kind} ${name}`.includes(values.only));
if (values.list) {
  console.log(
    table(
      ['kind', 'case', 'what'],
      chosen.map(({ kind, name, what }) => [kind, name, what]),
    ),
  );
  process.exit();
}

const { score, trustOf } = await loadBuilt('index.js');
const { encodeFolder, ffmpeg } = await loadSupport('encode');
const host = {
  score,
  trustOf,
  files: corpusFiles({ ffmpeg, folder: encodeFolder() }),
  prepare: preparer(encodeFolder()),
  otherDecoders: values.decoders,
};

console.log(`| case | score | right | after fixes | verdict | found |\n|---|---|---|---|---|---|`);
const shown = (score) => score?.toFixed(2) ?? '';
/** A case that cannot be run counts as a miss. */
const resultOf = (testCase) =>
  runCase(testCase, host).catch((error) => ({
    fixes: [],
    findings: [],
    misses: [`did not run: ${error.message}`],
  }));
let wrong = 0;
for (const testCase of chosen) {
  const { score, right, fixed, fixes, verdict = 'refused', findings, misses } = await resultOf(testCase);
  const after = fixes.length > 0 ? `${shown(fixed)} ${fixes.join(', ')}` : '';
  console.log(
    `| ${testCase.kind}: ${testCase.name} | ${shown(score)} | ${shown(right)} | ${after} | ${verdict} | ${findings.join(', ')} |`,
  );
  for (const miss of misses) console.log(`    MISS ${miss}`);
  if (misses.length > 0) wrong++;
}
console.log(`\n${chosen.length - wrong} of ${chosen.length} as they should be.`);
if (wrong > 0) process.exitCode = 1;
