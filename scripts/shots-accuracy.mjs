/**
 * @module scripts/shots-accuracy
 * `npm run accuracy:shots`: compares the cuts that anyvmaf and ffmpeg's scdet find in generated films, for docs/shots.md. Needs a
 * build (`npm run build`) and ffmpeg. The films depend only on the version of ffmpeg.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBuilt } from './lib/project.mjs';

const { detectShots } = await loadBuilt('index.js');

const RATE = 25;
const SIZE = '320x180';
const source = (name, options = '') => `${name}=s=${SIZE}:r=${RATE}${options}`;
const SOURCES = {
  test: source('testsrc2'),
  zoom: source('mandelbrot'),
  life: source('life', ':mold=10:ratio=0.3:seed=7:death_color=#406080:life_color=white'),
  bars: source('smptehdbars'),
  colours: source('gradients', ':seed=3:speed=0.02'),
  pan: `mandelbrot=s=1280x720:r=${RATE}:maxiter=300:end_scale=0.2,crop=320:180:n*8:100,noise=alls=8:allf=t:all_seed=3`,
  noise: `${source('testsrc')},noise=alls=40:allf=t:all_seed=5`,
  push: `testsrc2=s=640x360:r=${RATE},zoompan=z=1+on/60:d=1:s=${SIZE}:fps=${RATE}`,
  pulse: `${source('testsrc')},hue=b=sin(t*6)`,
};
const dark = 'lutyuv=y=val/5+16';
const flash = (frames, color = 'white') => `drawbox=color=${color}:t=fill:enable='between(n,${frames})'`;

/** Films: parts of a source, frames and filters. `soft`: parts that begin with a fade from black, which is not a cut. */
const CHOSEN = {
  'plain cuts': [
    ['test', 50],
    ['zoom', 40],
    ['colours', 30],
    ['bars', 45],
    ['pan', 35],
    ['noise', 30],
    ['test', 30],
  ],
  'in the dark': [
    ['zoom', 50, dark],
    ['pan', 60, dark],
    ['test', 40, dark],
    ['bars', 30, dark],
    ['zoom', 40, `${dark},hflip`],
  ],
  'motion and noise': [
    ['pan', 80],
    ['push', 60],
    ['noise', 60],
    ['pan', 60, 'vflip'],
    ['test', 30],
  ],
  flashes: [
    ['test', 80, flash('30,31')],
    ['zoom', 60, flash('25,25')],
    ['pan', 60, flash('20,22', 'black')],
  ],
  fades: [
    ['test', 75, 'fade=out:50:25'],
    ['zoom', 75, 'fade=in:0:25,fade=out:50:25', 'soft'],
    ['pan', 60, 'fade=in:0:12', 'soft'],
    ['colours', 50],
  ],
  'changing light': [
    ['pulse', 100],
    ['test', 50],
    ['noise', 50],
  ],
};

/** Randomly drawn films, on which no constant was chosen. */
function drawn(seed) {
  let state = seed;
  const next = (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const names = Object.keys(SOURCES).filter((name) => name !== 'life');
  const looks = [
    'null',
    'hflip',
    'vflip',
    dark,
    'negate',
    'hue=s=0',
    'boxblur=6',
    flash('9,10'),
    flash('11,11', 'black'),
  ];
  let last = '';
  return Array.from({ length: 8 }, () => {
    let name = last;
    while (name === last) name = names[next(names.length)];
    last = name;
    return [name, 20 + next(50), looks[next(looks.length)]];
  });
}
const FILMS = { ...CHOSEN };
for (let seed = 1; seed <= 8; seed++) FILMS[`drawn by chance ${seed}`] = drawn(seed);

const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-shots-'));
try {
  const sums = { ours: [0, 0], theirs: [0, 0] };
  let all = 0;
  console.log('| film | cuts | anyvmaf: found | false | scdet: found | false |\n|---|---|---|---|---|---|');
  for (const [name, parts] of Object.entries(FILMS)) {
    const { file, cuts } = make(name, parts);
    const { shots } = await detectShots(file);
    const ours = judge(
      shots.filter(({ begins }) => begins === 'cut').map(({ first }) => first),
      cuts,
    );
    const theirs = judge(scdet(file), cuts);
    all += cuts.length;
    for (const [sum, one] of [
      [sums.ours, ours],
      [sums.theirs, theirs],
    ]) {
      sum[0] += one[0];
      sum[1] += one[1];
    }
    console.log(`| ${name} | ${cuts.length} | ${ours.join(' | ')} | ${theirs.join(' | ')} |`);
  }
  const rates = ([found, wrong]) =>
    `recall ${((found / all) * 100).toFixed(1)} %, precision ${((found / Math.max(1, found + wrong)) * 100).toFixed(1)} %`;
  console.log(`\nanyvmaf: ${rates(sums.ours)}; scdet: ${rates(sums.theirs)}.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Makes a film. @returns the file, and its cuts as frames */
function make(name, parts) {
  const chains = parts.map(
    ([from, frames, filter = 'null'], i) =>
      `${SOURCES[from]},trim=end_frame=${frames},setpts=PTS-STARTPTS,${filter},format=yuv420p,setsar=1[v${i}]`,
  );
  const graph = `${chains.join(';')};${parts.map((_, i) => `[v${i}]`).join('')}concat=n=${parts.length}[v]`;
  const file = join(folder, `${name}.mkv`);
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '18'];
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-filter_complex', graph, '-map', '[v]', ...encoder, file]);
  let at = 0;
  const cuts = [];
  for (const [, frames, , soft] of parts) {
    if (at > 0 && soft === undefined) cuts.push(at);
    at += frames;
  }
  return { file, cuts };
}

function scdet(file) {
  const { stderr } = spawnSync('ffmpeg', ['-hide_banner', '-i', file, '-vf', 'scdet', '-f', 'null', '-'], {
    encoding: 'utf8',
  });
  return [...stderr.matchAll(/lavfi\.scd\.time: ([\d.]+)/g)].map(([, time]) =>
    Math.round(Number(time) * RATE),
  );
}

/** How many cuts were found, within a frame, and how many detections are false. */
function judge(found, cuts) {
  const near = (a, b) => Math.abs(a - b) <= 1;
  return [
    cuts.filter((cut) => found.some((shot) => near(shot, cut))).length,
    found.filter((shot) => !cuts.some((cut) => near(shot, cut))).length,
  ];
}
