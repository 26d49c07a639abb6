/**
 * @module scripts/fuzz/targets/videos
 * Videos: Y4M and raw YUV by our own readers, containers by each decoder.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBuilt } from '../../lib/project.mjs';
import { damageBytes } from '../mutate.mjs';

const FORMATS = [
  { width: 32, height: 24, bitDepth: 8, chroma: '420' },
  { width: 17, height: 19, bitDepth: 10, chroma: '422' },
  { width: 24, height: 32, bitDepth: 12, chroma: '444' },
  { width: 40, height: 17, bitDepth: 8, chroma: '400' },
];

/** Scores without a model: every frame is read, little is measured. */
const CHEAP = { noPrediction: true, features: ['psnr=enable_chroma=false'], threads: 0, preflight: false };

async function samples() {
  const { makeSample } = await loadBuilt('sample/generator.js');
  const { y4mFile, yuvFile } = await loadBuilt('sample/files.js');
  return { clips: FORMATS.map((format) => makeSample(format)), y4mFile, yuvFile };
}

export async function y4m() {
  const { score } = await loadBuilt('index.js');
  const { clips, y4mFile } = await samples();
  const corpus = clips.map((clip) => y4mFile(clip, 'distorted', 2));
  const references = clips.map((clip) => y4mFile(clip, 'reference', 2));
  return {
    make(random) {
      const which = random.int(0, corpus.length - 1);
      // Damage the header most.
      const bytes = corpus[which];
      const head = damageBytes(random, bytes.subarray(0, 60));
      const damaged = random.oneIn(3)
        ? damageBytes(random, bytes)
        : new Uint8Array([...head, ...bytes.subarray(60)]);
      return { which, bytes: damaged, streamed: random.oneIn(2) };
    },
    async run({ which, bytes, streamed }) {
      const report = await score(
        { reference: references[which], distorted: streamed ? new Blob([bytes]).stream() : bytes },
        { ...CHEAP, decoder: 'none' },
      );
      if (report.frames.length > 2) return `${report.frames.length} frames of at most 2`;
    },
  };
}

export async function raw() {
  const { score } = await loadBuilt('index.js');
  const { clips, yuvFile } = await samples();
  return {
    make: (random) => {
      // One in three has the format that it claims, complete or not.
      if (random.oneIn(3)) {
        const which = random.int(0, FORMATS.length - 1);
        const whole = yuvFile(clips[which], 'distorted', 2);
        const bytes = random.oneIn(2) ? whole : damageBytes(random, whole);
        return { bytes, raw: FORMATS[random.oneIn(4) ? random.int(0, FORMATS.length - 1) : which] };
      }
      return {
        bytes: random.bytes(random.int(0, 3000)),
        raw: {
          width: random.pick([0, 1, 16, 17, 32, 33, -1, 1.5, 8192, 1e9, Number.NaN, random.int(1, 64)]),
          height: random.pick([0, 1, 16, 18, 24, 31, -1, 4320, 2 ** 31, random.int(1, 64)]),
          bitDepth: random.pick([8, 10, 12, 16, 7, 9, 0, -8, '8']),
          chroma: random.pick(['420', '422', '444', '400', '411', '', 420]),
        },
      };
    },
    run: async ({ bytes, raw: format }) =>
      void (await score({ reference: bytes, distorted: bytes, raw: format }, { ...CHEAP, decoder: 'none' })),
  };
}

const H264 = ['-c:v', 'libx264', '-crf', '35', '-g', '4'];

/** Encodes of the containers, with codecs that every decoder knows: mediabunny refuses MPEG-2 unread. */
const ENCODE = {
  mp4: H264,
  mkv: H264,
  webm: ['-c:v', 'libvpx', '-b:v', '50k', '-g', '4'],
  ts: H264,
};

/** @param {keyof ENCODE} container @param decoder name of `--decoder` */
export async function encoded(container, decoder) {
  const { score } = await loadBuilt('index.js');
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-fuzz-videos-'));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  process.on('exit', clean);
  const whole = join(folder, `whole.${container}`);
  const source = ['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=25:d=0.32'];
  execFileSync('ffmpeg', ['-v', 'error', ...source, '-pix_fmt', 'yuv420p', ...ENCODE[container], whole]);
  const bytes = readFileSync(whole);
  const file = join(folder, `damaged.${container}`);
  // One-time loading, such as of ffmpeg.wasm, is not the time of an input.
  await score({ reference: whole, distorted: whole }, { ...CHEAP, decoder });
  return {
    make: (random) => damageBytes(random, bytes),
    async run(input) {
      writeFileSync(file, input);
      await score({ reference: whole, distorted: file }, { ...CHEAP, decoder });
    },
    close: clean,
  };
}
