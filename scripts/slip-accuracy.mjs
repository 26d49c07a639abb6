/**
 * @module scripts/slip-accuracy
 * `npm run accuracy:slips`: measures the rates of detected and of falsely reported slips (frames lost or doubled in the middle of
 * an encode), for docs/alignment.md. Needs a build (`npm run build`) and ffmpeg. All clips are generated from fixed seeds, except
 * clips of ../shared, if present.
 *
 *     node scripts/slip-accuracy.mjs [--set chosen|held-out] [--only TEXT] [--list] [--keep FOLDER] [CLIP...]
 *
 * --set     only the clips on which the constants were chosen, or only the others
 * --only    only the clips with TEXT in their name
 * --list    name missed slips and false reports
 * --keep    store signatures in FOLDER, and use those present
 * CLIP      additional clips for either set
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CONTENTS, ENCODES, HELD_OUT, HELD_OUT_ENCODES, make, read } from './lib/alignment-clips.mjs';
import { loadBuilt, ROOT, readOptions } from './lib/project.mjs';

const { PAIR_BYTES, SIGNATURE_BYTES, Signer } = await loadBuilt('media/align/thumbnail.js');
const { SlipDetector } = await loadBuilt('media/align/slips.js');

const { values, positionals } = readOptions({
  options: {
    set: { type: 'string' },
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
  allowPositionals: true,
});

/** Tolerance of a slip's position in frames. */
const NEAR = 3;

/** Frames [first, first + count) are lost. */
const lost = (first, count) => (n) => (n < first ? n : n + count);
/** Frame `first` is shown `count` more times, which delays the following frames. */
const doubled = (first, count) => (n) => (n <= first ? n : Math.max(first, n - count));

/** Changes to the order of frames, and the resulting slips. The last frame is repeated up to the end. */
const FAULTS = {
  none: { order: (n) => n, slips: [] },
  '10 lost': { order: lost(60, 10), slips: [[60, 10]] },
  '1 lost': { order: lost(60, 1), slips: [[60, 1]] },
  '40 lost': { order: lost(50, 40), slips: [[50, 40]] },
  '1 doubled': { order: doubled(60, 1), slips: [[61, -1]] },
  '12 times again': { order: doubled(60, 12), slips: [[61, -12]] },
  '5 lost, 3 doubled': {
    order: (n) => lost(40, 5)(doubled(90, 3)(n)),
    slips: [
      [40, 5],
      [91, -3],
    ],
  },
  'frozen for 10': { order: (n) => (n > 60 && n <= 70 ? 60 : n), slips: [] },
};

/** Clips without motion, in which no slip is visible. */
const STILL = /^(static|repetitive|stills|fade)/;

const SETS = {
  chosen: { contents: CONTENTS, encodes: ENCODES, shared: 'Seeking_30_480_1050.mp4' },
  'held-out': { contents: HELD_OUT, encodes: HELD_OUT_ENCODES, shared: 'Seeking_10_288_375.mp4' },
};
if (values.set !== undefined && !(values.set in SETS)) {
  console.error(`There is no set ${values.set}; choose from ${Object.keys(SETS).join(', ')}.`);
  process.exit(1);
}

/** Samples across and down at which clips are encoded. */
const SIZE = [320, 180];

const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-slips-'));

/** Signatures of all frames of a clip, one after another. */
function signatures(key, open) {
  const cache = values.keep && join(values.keep, `${key.replace(/[^\w-]+/g, '_')}.sig`);
  if (cache && existsSync(cache)) return readFileSync(cache);
  const { info, readFrame } = open();
  const signer = new Signer(info);
  const y = new Uint8Array(info.width * info.height);
  const all = new Uint8Array(info.frameCount * SIGNATURE_BYTES);
  for (let n = 0; n < info.frameCount && readFrame(n, { y }); n++) signer.sign(y, all, n * SIGNATURE_BYTES);
  if (cache) {
    mkdirSync(values.keep, { recursive: true });
    writeFileSync(cache, all);
  }
  return all;
}

/** Encodes a clip's frames in another order, and scales the result back to the clip's size. */
function encode(clip, order, options) {
  const { width, height, frameCount } = clip.info;
  const frames = Array.from({ length: frameCount }, (_, n) => Math.min(frameCount - 1, order(n)));
  const chroma = Buffer.alloc(2 * Math.ceil(width / 2) * Math.ceil(height / 2), 128);
  const y = Buffer.alloc(width * height);
  const input = Buffer.concat(
    frames.flatMap((frame) => {
      clip.readFrame(frame, { y });
      return [Buffer.from(y), chroma];
    }),
  );
  const path = join(folder, 'encode.mkv');
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${width}x${height}`, '-r', '25', '-i', '-'];
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...raw, ...options, path], {
    input,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  return read(path, SIZE);
}

/** Compares the slips found in a pair with the actual ones. */
function judge(reference, distorted, expected) {
  const detector = new SlipDetector();
  const pairs = Math.min(reference.length, distorted.length) / SIGNATURE_BYTES;
  const pair = new Uint8Array(PAIR_BYTES);
  for (let n = 0; n < pairs; n++) {
    const of = (all) => all.subarray(n * SIGNATURE_BYTES, (n + 1) * SIGNATURE_BYTES);
    pair.set(of(reference));
    pair.set(of(distorted), SIGNATURE_BYTES);
    detector.add(pair);
  }
  const { slips, freezes } = detector.finish();
  // Padding at the end realigns a clip, which may be reported or not.
  const inside = slips.filter(({ frame }) => frame < pairs - 45);
  const right = expected.filter(([frame, by]) =>
    // While a picture repeats, the delay is still growing.
    inside.some((slip) => slip.by === by && Math.abs(slip.frame - frame) <= NEAR + Math.max(0, -by)),
  );
  return {
    right: right.length,
    missed: expected.length - right.length,
    false: inside.length - right.length,
    slips,
    freezes,
  };
}

/** Measures all clips of a set, and prints a table. */
function measureSet(name, { contents, encodes, shared }) {
  const clips = positionals.map((path) => ({ name: basename(path), path }));
  const natural = join(ROOT, '../shared/clips', shared);
  if (existsSync(natural)) clips.push({ name: `natural video (${basename(shared, '.mp4')})`, path: natural });
  else console.log(`Left out: ../shared/clips/${shared} is not there.`);
  for (const [content, source] of Object.entries(contents)) clips.push({ name: content, source });
  const faults = Object.keys(FAULTS);
  console.log(`\n| ${name} | ${faults.join(' | ')} | false |\n|---|${faults.map(() => '---|').join('')}---|`);
  const sum = { right: 0, missed: 0, false: 0, pairs: 0 };
  for (const clip of clips.filter((clip) => clip.name.includes(values.only))) {
    let opened;
    const open = () => {
      const path = clip.path ?? join(folder, 'source.mkv');
      if (!clip.path && !opened) make(clip.source, path);
      opened ??= read(path, SIZE);
      return opened;
    };
    const reference = signatures(`${clip.name}`, open);
    const row = [];
    let wrong = 0;
    for (const [fault, { order, slips: there }] of Object.entries(FAULTS)) {
      const expected = STILL.test(clip.name) ? [] : there;
      let [right, missed] = [0, 0];
      for (const [encoded, options] of Object.entries(encodes)) {
        const key = `${clip.name} ${fault} ${encoded}`;
        const distorted = signatures(key, () => encode(open(), order, options));
        const outcome = judge(reference, distorted, expected);
        right += outcome.right;
        missed += outcome.missed;
        wrong += outcome.false;
        sum.pairs++;
        if (values.list && (outcome.missed > 0 || outcome.false > 0)) {
          const found = outcome.slips.map(({ frame, by }) => `${by} at ${frame}`).join(', ') || 'nothing';
          console.log(`${key}: ${found}; there: ${JSON.stringify(expected)}`);
        }
        if (values.list && fault.startsWith('frozen') !== outcome.freezes.some(({ frame }) => frame < 150)) {
          console.log(`${key}: frozen ${JSON.stringify(outcome.freezes)}`);
        }
      }
      sum.right += right;
      sum.missed += missed;
      row.push(right + missed > 0 ? `${right} of ${right + missed}` : '-');
    }
    sum.false += wrong;
    console.log(`| ${clip.name} | ${row.join(' | ')} | ${wrong} |`);
  }
  console.log(
    `\n${name}: of ${sum.right + sum.missed} slips ${sum.right} found and ${sum.missed} missed; ${sum.false} false in ${sum.pairs} pairs.`,
  );
  if (sum.false > 0) process.exitCode = 1;
}

try {
  for (const [name, set] of Object.entries(SETS)) {
    if (values.set === undefined || values.set === name) measureSet(name, set);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
