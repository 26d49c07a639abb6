/**
 * @module test/support/decoded-grey
 * Luma of all frames of a file, as ffmpeg decodes it.
 */
import { execFileSync } from 'node:child_process';

/** @returns pictures in 8 bits */
export function decodedGrey(file: string): {
  readonly width: number;
  readonly frames: readonly Uint8Array[];
} {
  const probed = execFileSync(
    'ffprobe',
    ['-v', 'error', '-select_streams', 'V:0', '-show_entries', 'stream=width,height', '-of', 'csv=p=0', file],
    { encoding: 'utf8' },
  );
  const [width = 0, height = 0] = probed.trim().split(',').map(Number);
  // Even times, so that ffmpeg repeats and drops nothing, whatever its version does about times.
  const even = ['-vf', 'setpts=N/25/TB', '-r', '25'];
  const bytes = execFileSync(
    'ffmpeg',
    ['-v', 'error', '-i', file, '-map', '0:V:0', ...even, '-f', 'rawvideo', '-pix_fmt', 'gray', '-'],
    { maxBuffer: 1 << 28 },
  );
  const size = width * height;
  const count = Math.floor(bytes.length / size);
  return { width, frames: Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size)) };
}
