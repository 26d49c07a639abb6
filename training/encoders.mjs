/**
 * @module training/encoders
 * How training material is encoded and spoiled: arguments of ffmpeg, and ffmpeg itself.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';

/** Runs ffmpeg quietly; throws when it fails. */
export function ffmpeg(...args) {
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-threads', '2', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SVT_LOG: '1' },
  });
}

/** Writes a file whole or not at all, once. */
export function once(path, write) {
  if (existsSync(path)) return;
  const part = path.replace(/(\.\w+)$/, '.part$1');
  write(part);
  renameSync(part, path);
}

export const LOSSLESS = ['-c:v', 'ffv1'];
export const X264 = (crf, preset = 'medium') => ['-c:v', 'libx264', '-preset', preset, '-crf', `${crf}`];
export const X265 = (crf) => {
  const quiet = ['-x265-params', 'log-level=error'];
  return ['-c:v', 'libx265', '-preset', 'fast', '-crf', `${crf}`, ...quiet];
};
export const VP9 = (crf) => {
  const quick = ['-deadline', 'good', '-cpu-used', '5'];
  return ['-c:v', 'libvpx-vp9', '-b:v', '0', '-crf', `${crf}`, ...quick];
};
export const AV1 = (crf) => ['-c:v', 'libsvtav1', '-preset', '10', '-crf', `${crf}`];
export const MPEG2 = (q) => ['-c:v', 'mpeg2video', '-q:v', `${q}`];

/** Through a filter, then a codec. */
export const filtered = (filter, codec = LOSSLESS) => ['-vf', filter, ...codec];

/** Made smaller, to a part of its size such as '2/3', then encoded. */
export const scaled = (part, codec, kernel = 'bicubic') =>
  filtered(`scale=trunc(iw*${part}/2)*2:trunc(ih*${part}/2)*2:flags=${kernel}`, codec);
