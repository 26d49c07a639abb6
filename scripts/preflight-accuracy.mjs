/**
 * @module scripts/preflight-accuracy
 * `npm run accuracy:preflight`: how many deliberately wrong pairs preflight finds, how often it names the right cause
 * first, what it says about sound ones, and how often an offset of a stated certainty is right, as docs/preflight.md states.
 * Needs a build (`npm run build`) and ffmpeg. All clips are generated from fixed seeds.
 *
 *     node scripts/preflight-accuracy.mjs [--kind KIND] [--from N] [--count N] [--list] [--cache FOLDER]
 *     node scripts/preflight-accuracy.mjs --table | --write
 *
 * --kind    only pairs of this kind (`offset`, `sound`, ...), or `certainty`; default: all
 * --from    the first pair, from 0; --count: how many. Defaults: all: 25, of the sound 100, for certainty 200 encodes
 * --list    name missed and misjudged pairs
 * --cache   keeps clips and results; default: anyvmaf-preflight-accuracy in the system's temporary folder
 * --table   only print the table of cached results; --write: write it to docs/preflight.md
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { align, read } from './lib/alignment-clips.mjs';
import { loadBuilt, readOptions, replaceBlock, table } from './lib/project.mjs';
import { certaintyRecipe, KIND_NAMES, recipe } from './lib/wrong-pairs.mjs';

const { values } = readOptions({
  options: {
    kind: { type: 'string' },
    from: { type: 'string', default: '0' },
    count: { type: 'string' },
    list: { type: 'boolean', default: false },
    cache: { type: 'string', default: join(tmpdir(), 'anyvmaf-preflight-accuracy') },
    table: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const CERTAINTY = 'certainty';
const COUNTS = { sound: 100, [CERTAINTY]: 200 };
const WANTED = 25;
/** Required rates, 0..1. */
const LEAST = { found: 0.98, right: 0.95, falsely: 0.01 };

const run = promisify(execFile);
// Some encoders write messages to stderr.
const ffmpeg = (args) =>
  run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { env: { ...process.env, SVT_LOG: '0' } });

const folder = (name) => {
  const path = join(values.cache, name);
  mkdirSync(path, { recursive: true });
  return path;
};

/** A file of the cache, keyed by everything that goes into it. The first one made is used. */
async function cached(parts, container, make) {
  const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 20);
  const path = join(folder('clips'), `${key}.${container}`);
  if (existsSync(path)) return path;
  const mine = join(folder('clips'), `${key}-${process.pid}.${container}`);
  try {
    await make(mine);
    renameSync(mine, path);
  } finally {
    rmSync(mine, { force: true });
  }
  return path;
}

/** Frames of a source, lossless. */
function clipFile(clip) {
  return cached([clip], 'nut', async (path) => {
    const stored = ['-pix_fmt', 'yuv420p', '-c:v', 'ffv1', path];
    if (!clip.source.startsWith('sample:')) {
      await ffmpeg(['-f', 'lavfi', '-i', clip.source, '-frames:v', `${clip.frames}`, ...stored]);
      return;
    }
    const [{ makeSample }, { y4mFrame }, { y4mHeader }] = await Promise.all([
      loadBuilt('sample/generator.js'),
      loadBuilt('sample/files.js'),
      loadBuilt('core/frame.js'),
    ]);
    const format = { width: clip.width, height: clip.height, bitDepth: 8, chroma: '420' };
    const sample = makeSample(format, { seed: Number(clip.source.slice('sample:'.length)) });
    const raw = `${path}.y4m`;
    const frames = Array.from({ length: clip.frames }, (_, n) => y4mFrame(sample, 'reference', n));
    writeFileSync(raw, Buffer.concat([Buffer.from(y4mHeader(format)), ...frames]));
    try {
      // As an input option, so that the times follow the rate.
      await ffmpeg(['-r', clip.rate, '-i', raw, ...stored]);
    } finally {
      rmSync(raw, { force: true });
    }
  });
}

/** One side of a pair as a file. */
async function sideFile({ clip, container, filters, options }) {
  const source = await clipFile(clip);
  const chain = filters.length > 0 ? ['-vf', filters.join(',')] : [];
  return cached([clip, container, filters, options], container, (path) =>
    ffmpeg(['-i', source, ...chain, '-fps_mode', 'passthrough', ...options, path]),
  );
}

/** The result of one pair. */
async function judge(kind, number) {
  const { score } = await loadBuilt('index.js');
  const { name, text, expect, codec, sides } = recipe(kind, number);
  const reference = await sideFile(sides.reference);
  const distorted = await sideFile(sides.distorted);
  const pair = { kind, name, text, expect, codec, reference, distorted };
  try {
    const report = await score({ reference, distorted }, { models: [], features: ['psnr'], threads: 1 });
    const { verdict, codes } = report.trust ?? (await loadBuilt('index.js')).trustOf(report);
    const said = report.preflight.filter(({ severity }) => severity !== 'info').map(({ message }) => message);
    return { ...pair, verdict, codes, said };
  } catch (error) {
    return { ...pair, verdict: 'refused', codes: [error.code ?? 'failed'], said: [error.message] };
  }
}

const isFound = ({ verdict }) => verdict !== 'fine';
const isRight = ({ codes, expect }) => expect.includes(codes[0]);

/** Stated certainties of the offsets of an encode, and whether they were right. */
async function certainties(number) {
  const { name, clip, encoder, offsets } = certaintyRecipe(number);
  const source = await clipFile(clip);
  const encode = await cached([clip, encoder], 'mkv', (path) => ffmpeg(['-i', source, ...encoder, path]));
  const [reference, distorted] = [read(source), read(encode)];
  const answers = [];
  for (const offset of offsets) {
    const start = { reference: Math.max(0, -offset), distorted: Math.max(0, offset) };
    // Not from the middle of the window, which would favour staying there.
    const { offset: found, confidence, reason } = await align(reference, distorted, start);
    answers.push({ name, offset, found, confidence, reason });
  }
  return answers;
}

const stored = (kind) => join(folder('results'), `${kind}.json`);
const results = (kind) => (existsSync(stored(kind)) ? JSON.parse(readFileSync(stored(kind), 'utf8')) : {});

async function measure(kind) {
  const from = Number(values.from);
  const until = from + Number(values.count ?? COUNTS[kind] ?? WANTED);
  const all = results(kind);
  for (let number = from; number < until; number++) {
    const outcome = kind === CERTAINTY ? await certainties(number) : await judge(kind, number);
    all[number] = outcome;
    // A stopped run keeps its measurements.
    writeFileSync(stored(kind), JSON.stringify(all));
    if (!values.list) continue;
    if (kind === CERTAINTY) {
      for (const guess of outcome)
        if (guess.found !== guess.offset)
          console.log(
            `${guess.name}: ${guess.offset}, found ${guess.found}, ${guess.confidence.toFixed(3)}, ${guess.reason}`,
          );
    } else if (kind === 'sound' ? isFound(outcome) : !isRight(outcome)) {
      console.log(
        `${outcome.name}: ${outcome.text}\n  ${outcome.verdict} [${outcome.codes.join(', ')}]\n${outcome.said.map((one) => `    ${one}`).join('\n')}\n    ${outcome.reference} ${outcome.distorted}`,
      );
    }
  }
}

const percent = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : '-');

/** Both tables, of all results in the cache. */
function tables() {
  const rows = [];
  const sum = { pairs: 0, found: 0, right: 0 };
  let missed = false;
  for (const kind of KIND_NAMES.filter((name) => name !== 'sound')) {
    const all = Object.values(results(kind));
    if (all.length === 0) continue;
    const [found, right] = [all.filter(isFound).length, all.filter(isRight).length];
    sum.pairs += all.length;
    sum.found += found;
    sum.right += right;
    rows.push([kind, all.length, found, right]);
  }
  rows.push([
    '**all**',
    sum.pairs,
    `${sum.found} (${percent(sum.found, sum.pairs)})`,
    `${sum.right} (${percent(sum.right, sum.pairs)})`,
  ]);
  const sound = Object.values(results('sound'));
  const falsely = sound.filter(isFound);
  const untrusted = falsely.filter(({ verdict }) => verdict !== 'doubtful').length;
  missed ||= sum.found < LEAST.found * sum.pairs || sum.right < LEAST.right * sum.pairs;
  missed ||= untrusted > 0 || falsely.length > LEAST.falsely * sound.length;
  const answers = Object.values(results(CERTAINTY)).flat();
  const bins = [0, 0.1, 0.3, 0.6, 0.9, 0.985, 1];
  const certain = bins.slice(1).flatMap((high, k) => {
    const low = bins[k];
    const among = answers.filter(({ confidence }) => confidence > (k === 0 ? 0 : low) && confidence <= high);
    if (among.length === 0) return [];
    const right = among.filter(({ found, offset }) => found === offset).length;
    const mean = among.reduce((total, { confidence }) => total + confidence, 0) / among.length;
    return [[`${low} to ${high}`, among.length, percent(mean, 1), percent(right, among.length)]];
  });
  const text = [
    table(['pairs made wrong by', 'pairs', 'found', 'right cause first'], rows),
    `Of ${sound.length} sound pairs ${falsely.length - untrusted} were called doubtful and ${untrusted} untrusted.`,
    table(['certainty stated of an offset', 'pairs', 'mean', 'right'], certain),
  ].join('\n\n');
  return { text, missed };
}

if (values.kind !== undefined && ![...KIND_NAMES, CERTAINTY].includes(values.kind)) {
  console.error(`There is no kind ${values.kind}; choose from ${[...KIND_NAMES, CERTAINTY].join(', ')}.`);
  process.exit(1);
}
if (!values.table && !values.write) {
  for (const kind of values.kind === undefined ? [...KIND_NAMES, CERTAINTY] : [values.kind])
    await measure(kind);
}
const { text, missed } = tables();
console.log(text);
if (values.write) replaceBlock('docs/preflight.md', 'accuracy', text);
if (missed) process.exitCode = 1;
