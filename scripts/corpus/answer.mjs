/**
 * @module scripts/corpus/answer
 * The score of a careful person: both videos decoded by ffmpeg, filtered and paired as the case says, frame by frame.
 */
import { execFileSync } from 'node:child_process';

const LINE_FEED = 10;

/**
 * Luma of a video as ffmpeg shows it.
 * @param side `vf`: filters before luma is extracted; `input`: options before the file; `map`: the stream; `frames`: which
 *   of the output frames, in order; default all
 */
function decode(path, { vf, input = [], map = '0:V:0', frames } = {}) {
  const chain = [vf, 'extractplanes=y'].filter(Boolean).join(',');
  const bytes = execFileSync(
    'ffmpeg',
    [
      ...['-nostdin', '-v', 'error', ...input, '-i', `file:${path}`, '-map', map, '-vf', chain],
      ...['-fps_mode', 'passthrough', '-strict', '-1', '-f', 'yuv4mpegpipe', '-'],
    ],
    { maxBuffer: 1 << 30, stdio: 'pipe' },
  );
  const header = bytes.subarray(0, bytes.indexOf(LINE_FEED)).toString('latin1');
  const number = (pattern) => Number(pattern.exec(header)?.[1]);
  const [width, height] = [number(/ W(\d+)/), number(/ H(\d+)/)];
  const depth = number(/ Cmono(\d+)/) || 8;
  const length = width * height * (depth > 8 ? 2 : 1);
  const all = [];
  for (let start = header.length + 1; start < bytes.length; ) {
    const begin = bytes.indexOf(LINE_FEED, start) + 1;
    all.push(bytes.subarray(begin, begin + length));
    start = begin + length;
  }
  const chosen = frames ? frames.map((n) => all[n]) : all;
  if (chosen.includes(undefined)) throw new Error(`${path} has ${all.length} frames, not all of ${frames}`);
  return { width, height, depth, frames: chosen };
}

/** Adds bits of 0 to samples. */
function deepen({ depth, frames, ...rest }, wanted) {
  if (depth === wanted) return { ...rest, depth, frames };
  const deeper = frames.map((frame) => {
    const samples =
      depth === 8
        ? frame
        : new Uint16Array(frame.buffer.slice(frame.byteOffset, frame.byteOffset + frame.length));
    return Buffer.from(Uint16Array.from(samples, (sample) => sample << (wanted - depth)).buffer);
  });
  return { ...rest, depth: wanted, frames: deeper };
}

function y4m({ width, height, depth, frames }) {
  const head = `YUV4MPEG2 W${width} H${height} F25:1 Ip A1:1 Cmono${depth > 8 ? depth : ''}\n`;
  return new Uint8Array(
    Buffer.concat([Buffer.from(head), ...frames.flatMap((f) => [Buffer.from('FRAME\n'), f])]),
  );
}

/**
 * The mean VMAF of a pair as the case pairs it, `swap`ped if the two were mixed up, and the number of pairs.
 * @param score the library's
 * @param models default: the default model
 */
export async function careful(score, pair, { reference, distorted, swap = false }, models) {
  const sides = [decode(pair.reference, reference), decode(pair.distorted, distorted)];
  if (swap) sides.reverse();
  const depth = Math.max(...sides.map((side) => side.depth));
  const count = Math.min(...sides.map((side) => side.frames.length));
  const [a, b] = sides.map((side) => y4m(deepen({ ...side, frames: side.frames.slice(0, count) }, depth)));
  const report = await score({ reference: a, distorted: b }, { preflight: false, ...(models && { models }) });
  return { score: report.pooled_metrics.vmaf.mean, frames: count };
}
