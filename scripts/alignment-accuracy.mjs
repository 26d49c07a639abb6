/**
 * @module scripts/alignment-accuracy
 * How often alignment finds the offset of encodes shifted by -50…50 frames, as docs/alignment.md states it. Needs a
 * build (`npm run build`) and ffmpeg; clips given as arguments join the synthetic ones.
 *
 *     node scripts/alignment-accuracy.mjs [--step N] [CLIP...]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { align } from '../dist/media/align.js';

const { values, positionals } = parseArgs({
  options: { step: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const STEP = Number(values.step);
const WINDOW = 50;
const SIZE = 's=640x360:r=25';
const FROZEN = `mandelbrot=${SIZE},loop=-1:1:0`;

/** ffmpeg's synthetic sources by what they are like. */
const CONTENTS = {
  'moving, test pattern': `testsrc2=${SIZE}`,
  'moving, zoom into detail': `mandelbrot=${SIZE}`,
  'moving, slow pan': `mandelbrot=s=1280x720:r=25,loop=-1:1:0,crop=640:360:'n*0.5':100`,
  'moving, small object, camera noise': `${FROZEN},format=yuv420p[a];color=white:s=40x40:r=25[b];[a][b]overlay=x='300+20*sin(t*3.1)':y='150+15*cos(t*2.3)',noise=alls=4:allf=t`,
  'fade from black of a still': `${FROZEN},fade=in:0:75`,
  'stills with one cut': `${FROZEN},drawbox=x=100:y=100:w=300:h=100:c=gray:t=fill:enable='gte(n,75)'`,
  'static, camera noise': `${FROZEN},noise=alls=6:allf=t`,
  static: FROZEN,
  'repetitive, period 12': `nullsrc=${SIZE},geq=lum='128+60*sin(X/30+2*PI*N/12)+30*sin(Y/17)':cb=128:cr=128`,
};

const X264 = ['-c:v', 'libx264', '-preset', 'veryfast'];

/** What is done to them. */
const ENCODES = {
  'x264 CRF 23': [...X264, '-crf', '23'],
  'x264 CRF 45': [...X264, '-crf', '45'],
  'MPEG-2 300 kbit/s': ['-c:v', 'mpeg2video', '-b:v', '300k'],
  'darker and flatter': ['-vf', 'lutyuv=y=val*0.8+25', ...X264, '-crf', '30'],
  'gamma 1.6': ['-vf', 'eq=gamma=1.6', ...X264, '-crf', '30'],
  'scaled to 160x90, CRF 36': ['-vf', 'scale=160:90:flags=bicubic', ...X264, '-crf', '36'],
};

const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-alignment-'));
const run = (command, args) =>
  execFileSync(command, args, { maxBuffer: 2 ** 31 - 1, stdio: ['ignore', 'pipe', 'inherit'] });
const ffmpeg = (...args) => run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);

/** A file's luma in memory. */
function read(path) {
  const probe = [
    '-v',
    'error',
    '-select_streams',
    'v:0',
    '-show_entries',
    'stream=width,height',
    '-of',
    'csv=p=0',
  ];
  const [width, height] = run('ffprobe', [...probe, path])
    .toString()
    .split(',')
    .map(Number);
  const bytes = ffmpeg('-i', path, '-vf', 'extractplanes=y', '-f', 'rawvideo', '-pix_fmt', 'gray', '-');
  const size = width * height;
  const frameCount = bytes.length / size;
  return {
    info: { width, height, bitDepth: 8, chroma: '400', frameCount },
    readFrame(index, { y }) {
      if (index >= frameCount) return false;
      y.set(bytes.subarray(index * size, (index + 1) * size));
      return true;
    },
  };
}

/** Offsets tried on one pair, and what came of them. */
async function measure(reference, distorted) {
  const result = { right: 0, doubted: 0, wrong: 0, near: 0, total: 0, milliseconds: 0 };
  for (let offset = -WINDOW; offset <= WINDOW; offset += STEP) {
    const start = { reference: Math.max(0, -offset), distorted: Math.max(0, offset) };
    const before = performance.now();
    const { ambiguous, offset: found, candidates } = await align(reference, distorted, { start });
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

try {
  const clips = Object.entries(CONTENTS).map(([name, source], k) => {
    const path = join(folder, `${k}.mkv`);
    ffmpeg('-f', 'lavfi', '-i', source, '-frames:v', '200', '-pix_fmt', 'yuv420p', '-c:v', 'ffv1', path);
    return { name, path };
  });
  for (const path of positionals) clips.unshift({ name: basename(path), path });
  console.log('| content | encode | right | doubted | wrong | ms |\n|---|---|---|---|---|---|');
  const sum = { right: 0, doubted: 0, wrong: 0, total: 0 };
  for (const { name, path } of clips) {
    const reference = read(path);
    for (const [encode, options] of Object.entries(ENCODES)) {
      const encoded = join(folder, 'encode.mkv');
      ffmpeg('-i', path, ...options, encoded);
      const { right, doubted, wrong, near, total, milliseconds } = await measure(reference, read(encoded));
      const among = doubted > 0 ? `${doubted} (${near} name it)` : '0';
      console.log(
        `| ${name} | ${encode} | ${right} of ${total} | ${among} | ${wrong} | ${Math.round(milliseconds / total)} |`,
      );
      sum.right += right;
      sum.doubted += doubted;
      sum.wrong += wrong;
      sum.total += total;
    }
  }
  console.log(`\n${sum.right} of ${sum.total} right, ${sum.doubted} doubted, ${sum.wrong} wrong.`);
  process.exitCode = sum.wrong > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
