/**
 * @module test/support/films
 * Films of parts with known cuts, and a number in every picture that tells which frame it is.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { encodeFolder, ffmpeg } from './encode.js';

/** A part of a film: pictures of one of ffmpeg's sources. */
export interface FilmPart {
  /** A lavfi source without size and rate: `testsrc2`, `mandelbrot=start_scale=1`. */
  readonly source: string;
  readonly frames: number;
  /** Filters, such as `fade=in:0:5`. */
  readonly filter?: string;
}

/** A film: its parts follow each other by cuts. */
export interface Film {
  readonly parts: readonly FilmPart[];
  /** Default `128x72`. */
  readonly size?: string;
  /** Frames per second. Default 25. */
  readonly rate?: string;
  readonly pixelFormat?: string;
  /** Filters over the whole. */
  readonly filter?: string;
  /** Inputs and options of ffmpeg before and after the video's own: sound, tags. */
  readonly inputs?: readonly string[];
  readonly extra?: readonly string[];
  /** By its extension. Default `mkv`. */
  readonly container?: string;
  /** Burns the number of each frame into the picture, as bits. */
  readonly counted?: boolean;
}

/** Bits of the counter, and the side of the square that shows one. */
const BITS = 8;
const SIDE = 8;

/** Makes a film, or finds the one made before. @returns its path */
export function film(request: Film): string {
  const { parts, size = '128x72', rate = '25', pixelFormat = 'yuv420p', filter = 'null' } = request;
  const { inputs = [], extra = [], container = 'mkv', counted = false } = request;
  const chains = parts.map(({ source, frames, filter: own = 'null' }, i) => {
    const input = `${source}${source.includes('=') ? ':' : '='}size=${size}:rate=${rate}`;
    return `${input},trim=end_frame=${frames},setpts=PTS-STARTPTS,${own},format=${pixelFormat},setsar=1[v${i}]`;
  });
  const joined = `${parts.map((_, i) => `[v${i}]`).join('')}concat=n=${parts.length}`;
  const graph = `${chains.join(';')};${joined},${counted ? counter() : 'null'},${filter}[v]`;
  const args = ['-filter_complex', graph, '-map', '[v]', '-c:v', 'ffv1', '-pix_fmt', pixelFormat, ...extra];
  const key = createHash('sha256')
    .update(JSON.stringify([inputs, args]))
    .digest('hex')
    .slice(0, 12);
  return ffmpeg(join(encodeFolder(), `film-${key}.${container}`), [...inputs, ...args]);
}

/** Squares along the top, white where a bit of the frame's number is set. */
function counter(): string {
  const squares = Array.from({ length: BITS }, (_, bit) => {
    const place = `x=${bit * SIDE}:y=0:w=${SIDE}:h=${SIDE}:t=fill`;
    return `drawbox=${place}:color=black,drawbox=${place}:color=white:enable='mod(floor(n/${2 ** bit})\\,2)'`;
  });
  return squares.join(',');
}

/** The numbers that the frames of a film show, in the order in which they are decoded. */
export function counters(file: string): readonly number[] {
  const { width, frames } = decodedGrey(file);
  return frames.map((luma) => {
    let number = 0;
    for (let bit = 0; bit < BITS; bit++) {
      const middle = luma[(SIDE / 2) * width + bit * SIDE + SIDE / 2] ?? 0;
      if (middle > 128) number += 2 ** bit;
    }
    return number;
  });
}

/** Luma of all frames of a file, as ffmpeg decodes it. @returns pictures in 8 bits */
function decodedGrey(file: string): {
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
