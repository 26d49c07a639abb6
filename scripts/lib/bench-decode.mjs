/**
 * @module scripts/lib/bench-decode
 * The rows `decode` of scripts/bench: the cost of decoding, alone and beside scoring. Needs ffmpeg on PATH.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtCommand, childrenTime, loadBuilt } from './project.mjs';

const CLI = builtCommand();
const SELF = fileURLToPath(import.meta.url);
/** Frames for ffmpeg.wasm, which is slow. */
const FEW = 30;

/** Runs commands concurrently and waits for all. */
function together(...commands) {
  return Promise.all(
    commands.map(
      ([program, ...args]) =>
        new Promise((resolve, reject) => {
          const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
          child.once('error', reject);
          child.once('exit', (code) =>
            code === 0
              ? resolve()
              : reject(new Error(`${program} ${args.join(' ')} ended with code ${code}`)),
          );
        }),
    ),
  );
}

/** Seconds until a command's first output. */
function firstOutput([program, ...args]) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    let first;
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', () => {
      first ??= (performance.now() - started) / 1000;
    });
    child.once('error', reject);
    child.once('close', () => resolve(first));
  });
}

/** The pair as H.264, and the same frames as Y4M. */
function encodes(folder, source, frames) {
  const ffmpeg = (path, ...args) => {
    if (existsSync(path)) return path;
    console.error(`making ${path}`);
    const part = path.replace(/(\.\w+)$/, '.part$1');
    const made = spawnSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, part], { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`ffmpeg failed: ${made.error?.message ?? made.stderr}`);
    renameSync(part, path);
    return path;
  };
  const pair = {};
  for (const [side, crf] of [
    ['reference', 16],
    ['distorted', 30],
  ]) {
    const at = (extension) => join(folder, `h264-${frames}-${side}.${extension}`);
    const x264 = ['-c:v', 'libx264', '-preset', 'medium', '-pix_fmt', 'yuv420p'];
    const encoded = ffmpeg(at('mp4'), '-i', source, ...x264, '-crf', String(crf));
    pair[side] = { encoded, stored: ffmpeg(at('y4m'), '-i', encoded) };
  }
  return pair;
}

/** Decodes files concurrently with one of our decoders, without scoring. @returns seconds */
async function decode(id, paths, frames) {
  const { nodePlatform } = await loadBuilt('platform/node/platform.js');
  const { lumaBytes, chromaSize } = await loadBuilt('core/frame.js');
  const decoder = (await nodePlatform.decoders({ urls: false })).find((known) => known.id === id);
  const { usable, reason } = await decoder.availability();
  if (!usable) return { missing: reason };
  const facts = await Promise.all(paths.map((path) => decoder.probe(path)));
  const started = performance.now();
  const counts = await Promise.all(
    paths.map(async (path, k) => {
      const request = frames === undefined ? {} : { frames: { start: 0, end: frames } };
      const source = await decoder.open(path, facts[k], request);
      const { width, height } = chromaSize(source.info);
      const [cb, cr] = [new Uint8Array(width * height), new Uint8Array(width * height)];
      const planes = { y: new Uint8Array(lumaBytes(source.info)), cb, cr };
      let count = 0;
      while (await source.readFrame(count, planes)) count++;
      await source.close();
      return count;
    }),
  );
  return { seconds: (performance.now() - started) / 1000, frames: counts.reduce((a, b) => a + b, 0) };
}

/**
 * @param bench `{ folder, frames, runs, model, source, median, report }`, where `source` is a
 * path to a 1080p Y4M file
 */
export async function benchDecode({ folder, frames, runs, model, source, median, report }) {
  if (spawnSync('ffmpeg', ['-version']).status !== 0) {
    report('decode', 'left out: there is no ffmpeg on PATH', '');
    return;
  }
  const { reference, distorted } = encodes(folder, source, frames);
  const nothing = (path) => ['ffmpeg', '-nostdin', '-v', 'error', '-i', path, '-f', 'null', '-'];
  const bare = [nothing(reference.encoded), nothing(distorted.encoded)];
  const ours = (kind, ...args) => [
    process.execPath,
    CLI,
    reference[kind],
    distorted[kind],
    ...['-m', model, '--json', '--output', join(folder, 'ours.json'), '--quiet'],
    ...args,
  ];
  const decoding = (id, ...paths) => [process.execPath, SELF, id, ...paths];
  const actions = {
    bare: () => together(...bare),
    decoder: () => together(decoding('ffmpeg', reference.encoded, distorted.encoded)),
    score: () => together(ours('stored')),
    both: () => together(...bare, ours('stored')),
    whole: () => together(ours('encoded')),
    unchecked: () => together(ours('encoded', '--no-preflight')),
  };
  const wall = Object.fromEntries(Object.keys(actions).map((name) => [name, []]));
  const cpu = Object.fromEntries(Object.keys(actions).map((name) => [name, []]));
  for (let turn = 0; turn < runs; turn++) {
    for (const [name, action] of Object.entries(actions)) {
      const [started, used] = [performance.now(), childrenTime()];
      await action();
      wall[name].push((performance.now() - started) / 1000);
      cpu[name].push(childrenTime() - used);
    }
  }
  const seconds = (name) =>
    `${median(wall[name]).toFixed(2)} s (${Math.min(...wall[name]).toFixed(2)} - ${Math.max(...wall[name]).toFixed(2)})` +
    (Number.isNaN(cpu[name][0]) ? '' : `, CPU ${median(cpu[name]).toFixed(2)} s`);
  // Alternate, so that changes of the machine's speed affect both.
  const over = (values, a, b) => median(values[a].map((value, turn) => value / values[b][turn])).toFixed(2);
  report('decode', 'both files, bare ffmpeg to null, at once', seconds('bare'));
  report('decode', 'both files, our ffmpeg decoder to nowhere, at once', seconds('decoder'));
  report('decode', 'the same frames as Y4M, scored', seconds('score'));
  report('decode', 'bare decodes and Y4M scoring at once, until the last ends', seconds('both'));
  report('decode', 'end to end, two H.264 files', seconds('whole'));
  report(
    'decode',
    'end to end over decodes and scoring at once',
    over(wall, 'whole', 'both'),
    'at most 1.25',
  );
  if (!Number.isNaN(cpu.whole[0])) {
    report('decode', 'the same in CPU time', over(cpu, 'whole', 'both'));
    report('decode', 'CPU time with preflight over without', over(cpu, 'whole', 'unchecked'));
  }
  await benchFirsts({ pair: [reference.encoded, distorted.encoded], runs, model, median, report });
}

/** Time to the first frame, and speed, of each decoder. */
async function benchFirsts({ pair, runs, model, median, report }) {
  const firsts = [];
  for (let turn = 0; turn < runs; turn++) {
    const lines = [process.execPath, CLI, ...pair, '-m', model, '--ndjson'];
    firsts.push(await firstOutput([...lines, '--quiet']));
  }
  report('decode', 'first frame of --ndjson after', `${median(firsts).toFixed(2)} s`, 'below 1 s');
  for (const [id, count] of [
    ['ffmpeg', undefined],
    ['mediabunny', undefined],
    ['wasm', FEW],
  ]) {
    const { seconds, frames: decoded, missing } = await decode(id, [pair[0]], count);
    const value = missing === undefined ? `${(decoded / seconds).toFixed(0)} frames a second` : missing;
    report('decode', `reference alone, decoder ${id}`, value);
  }
}

if (process.argv[1] === SELF) {
  const [id, ...paths] = process.argv.slice(2);
  const { missing } = await decode(id, paths);
  if (missing !== undefined) throw new Error(missing);
}
