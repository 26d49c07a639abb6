/**
 * @module scripts/alignment-accuracy
 * `npm run accuracy:alignment`: measures how often alignment finds the offset of encodes shifted by -50…50 frames, for
 * docs/alignment.md. Needs a build (`npm run build`) and ffmpeg. All clips are generated from fixed seeds, except two
 * clips of ../shared, if present.
 *
 *     node scripts/alignment-accuracy.mjs [--set chosen|held-out] [--step N] [--only TEXT] [CLIP...]
 *
 * --set     only the clips on which the search's constants were chosen, or only the others
 * --step    frames between shifts; default: 10 for the chosen, 11 for the held-out
 * --only    only the clips with TEXT in their name
 * CLIP      additional clips for either set
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  align,
  CONTENTS,
  ENCODES,
  ffmpeg,
  HELD_OUT,
  HELD_OUT_ENCODES,
  make,
  read,
} from './lib/alignment-clips.mjs';
import { ROOT, readOptions } from './lib/project.mjs';

const { values, positionals } = readOptions({
  options: { set: { type: 'string' }, step: { type: 'string' }, only: { type: 'string', default: '' } },
  allowPositionals: true,
});
const WINDOW = 50;

const SETS = {
  chosen: { contents: CONTENTS, encodes: ENCODES, shared: 'Seeking_30_480_1050.mp4', step: 10 },
  'held-out': {
    contents: HELD_OUT,
    encodes: HELD_OUT_ENCODES,
    shared: 'Seeking_10_288_375.mp4',
    step: 11,
  },
};
if (values.set !== undefined && !(values.set in SETS)) {
  console.error(`There is no set ${values.set}; choose from ${Object.keys(SETS).join(', ')}.`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-alignment-'));
/** Offsets tried on one pair, and the results. */
async function measure(reference, distorted, step) {
  const result = { right: 0, doubted: 0, wrong: 0, near: 0, total: 0, milliseconds: 0 };
  for (let offset = -WINDOW; offset <= WINDOW; offset += step) {
    const start = { reference: Math.max(0, -offset), distorted: Math.max(0, offset) };
    const before = performance.now();
    const { ambiguous, offset: found, candidates } = await align(reference, distorted, start);
    result.milliseconds += performance.now() - before;
    result.total++;
    if (!ambiguous) result[found === offset ? 'right' : 'wrong']++;
    else {
      result.doubted++;
      if (candidates.some((candidate) => Math.abs(candidate.offset - offset) <= 1)) result.near++;
    }
  }
  return result;
}

/** Measures all clips of a set, and prints a table. */
async function measureSet(name, { contents, encodes, shared, step }) {
  const clips = positionals.map((path) => ({ name: basename(path), path }));
  const natural = join(ROOT, '../shared/clips', shared);
  if (existsSync(natural)) clips.push({ name: `natural video (${basename(shared, '.mp4')})`, path: natural });
  else console.log(`Left out: ../shared/clips/${shared} is not there.`);
  for (const [content, source] of Object.entries(contents)) {
    const path = join(folder, `${name}-${clips.length}.mkv`);
    if (content.includes(values.only)) make(source, path);
    clips.push({ name: content, path });
  }
  console.log(`\n| ${name} | encode | right | doubted | wrong | ms |\n|---|---|---|---|---|---|`);
  const sum = { right: 0, doubted: 0, wrong: 0, total: 0 };
  for (const { name: content, path } of clips.filter((clip) => clip.name.includes(values.only))) {
    const reference = read(path);
    for (const [encode, options] of Object.entries(encodes)) {
      const encoded = join(folder, 'encode.mkv');
      ffmpeg('-i', path, '-an', ...options, encoded);
      const outcome = await measure(reference, read(encoded), Number(values.step ?? step));
      const { right, doubted, wrong, near, total, milliseconds } = outcome;
      const among = doubted > 0 ? `${doubted} (${near} name it)` : '0';
      console.log(
        `| ${content} | ${encode} | ${right} of ${total} | ${among} | ${wrong} | ${Math.round(milliseconds / total)} |`,
      );
      for (const key of Object.keys(sum)) sum[key] += outcome[key];
    }
  }
  console.log(`\n${name}: ${sum.right} of ${sum.total} right, ${sum.doubted} doubted, ${sum.wrong} wrong.`);
  if (sum.wrong > 0) process.exitCode = 1;
}

try {
  for (const [name, set] of Object.entries(SETS)) {
    if (values.set === undefined || values.set === name) await measureSet(name, set);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
