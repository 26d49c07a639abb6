/**
 * @module test/support/encode
 * Encodes made with the installed ffmpeg from its synthetic sources, once per machine, and films of parts with known cuts, with
 * a number in every picture that tells which frame it is.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join } from 'node:path';
import { root } from './built.js';
import { processFolder } from './folders.js';

/** Encoder options that give small, quick encodes, and the container that holds them. */
const CODECS = {
  h264: { encoder: ['libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '25'], extension: 'mp4' },
  hevc: { encoder: ['libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'], extension: 'mp4' },
  vp9: { encoder: ['libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'], extension: 'webm' },
  av1: { encoder: ['libaom-av1', '-usage', 'realtime', '-cpu-used', '8'], extension: 'mkv' },
  mpeg2: { encoder: ['mpeg2video', '-q:v', '4', '-bf', '2'], extension: 'mkv' },
  prores: { encoder: ['prores_ks'], extension: 'mov' },
  mjpeg: { encoder: ['mjpeg', '-q:v', '4'], extension: 'avi' },
  ffv1: { encoder: ['ffv1', '-level', '3', '-slicecrc', '1'], extension: 'mkv' },
} as const;

export type EncodedCodec = keyof typeof CODECS;

export interface Encode {
  readonly codec: EncodedCodec;
  /** ffmpeg's name. Default `yuv420p`. */
  readonly pixelFormat?: string;
  /** `WxH`. Default `320x240`. */
  readonly size?: string;
  /** Default 30. */
  readonly frames?: number;
  /** Frames per second, a number or fraction. Default 25. */
  readonly rate?: string | number;
  /** A lavfi source without size and rate: `testsrc2`, `mandelbrot`, `life`. Default `testsrc2`. */
  readonly source?: string;
  /** More options of ffmpeg, after the encoder's. */
  readonly extra?: readonly string[];
  /** File extension of the container. Default: the codec's usual one. */
  readonly extension?: string;
}

const version = spawnSync('ffmpeg', ['-version'], { encoding: 'utf8' });

/** Whether encodes can be made here; otherwise skip with {@link needsFfmpeg} in the title. */
export const hasFfmpeg: boolean =
  version.status === 0 && spawnSync('ffprobe', ['-version'], { stdio: 'ignore' }).status === 0;

export const needsFfmpeg = 'needs ffmpeg';

/** NaN if its version does not begin with a number. */
export const FFMPEG_MAJOR = Number(/version n?(\d+)\./.exec(version.stdout ?? '')?.[1]);

/** Encodes made on this machine by this ffmpeg, named by {@link keyOf} their commands. */
export const CACHE = join(root, 'node_modules/.cache/anyvmaf-encodes', digest(version.stdout ?? ''));

/** A folder for the files of this process. */
export function encodeFolder(): string {
  return processFolder('encode');
}

/** Makes an encode, or finds an earlier one. */
export function encode(request: Encode): string {
  const { codec, pixelFormat = 'yuv420p', size = '320x240', frames = 30, rate = 25 } = request;
  const { source = 'testsrc2', extra = [] } = request;
  const { encoder, extension } = CODECS[codec];
  const input = `${source}${source.includes('=') ? ':' : '='}size=${size}:rate=${rate}`;
  const args = ['-f', 'lavfi', '-i', input, '-frames:v', String(frames), '-pix_fmt', pixelFormat];
  args.push('-c:v', ...encoder, ...extra);
  const key = digest(JSON.stringify(args));
  const path = join(encodeFolder(), `${codec}-${pixelFormat}-${key}.${request.extension ?? extension}`);
  return ffmpeg(path, args);
}

/** The keys of files that this process has made, by path. */
const made = new Map<string, string>();

/** Runs ffmpeg with `args` to make the file `path`, unless this machine has its result already. */
export function ffmpeg(path: string, args: readonly string[]): string {
  const key = keyOf(args);
  if (made.get(path) === key && existsSync(path)) return path;
  const kept = join(CACHE, `${key}${extname(path)}`);
  // A failed run must not leave a file that looks finished.
  const partial = join(dirname(kept), `${process.pid}-${basename(kept)}`);
  if (!existsSync(kept)) {
    mkdirSync(CACHE, { recursive: true });
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, `file:${partial}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    renameSync(partial, kept);
  }
  // A copy, because tests may damage it.
  copyFileSync(kept, path, constants.COPYFILE_FICLONE);
  made.set(path, key);
  return path;
}

/** What ffmpeg makes of `args`, under a name in the folder of this process's encodes. */
export function makeFile(name: string, ...args: readonly string[]): string {
  return ffmpeg(join(encodeFolder(), name), args);
}

/** A lossy copy of a video. @param options stand before those of the encoder */
export function copyOf(path: string, name: string, options: readonly string[] = [], crf = 34): string {
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', String(crf)];
  return makeFile(name, '-i', `file:${path}`, ...options, ...encoder);
}

/** A key of a command: files among its arguments count by their content, wherever they lie. */
function keyOf(args: readonly string[]): string {
  const parts = args.map((arg) => {
    const path = arg.replace(/^file:/, '');
    return isAbsolute(path) && existsSync(path) ? contentKey(path) : arg.replaceAll(encodeFolder(), '');
  });
  return digest(JSON.stringify(parts));
}

/** A digest of a file; in a list of files, of those that it names too. */
function contentKey(path: string): string {
  const content = readFileSync(path);
  if (!/\.(txt|ffconcat|m3u8)$/.test(path)) return digest(content);
  const text = content
    .toString()
    .replace(/(file '?)?(\/[^'\n]+)/g, (line, _, name: string) =>
      existsSync(name) ? digest(readFileSync(name)) : line,
    );
  return digest(text);
}

/** The first 16 hexadecimal digits of a SHA-256. */
export function digest(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

/** What ffmpeg itself writes as raw frames: planes one after another, in the given or the decoder's own format. */
export function rawFrames(path: string, options: readonly string[] = []): Buffer {
  const args = ['-nostdin', '-v', 'error', '-i', `file:${path}`, '-map', '0:V:0', ...options];
  return execFileSync('ffmpeg', [...args, '-f', 'rawvideo', '-'], { maxBuffer: 1 << 30 });
}

/** A part of a film, from one of ffmpeg's sources. */
export interface FilmPart {
  /** A lavfi source without size and rate: `testsrc2`, `mandelbrot=start_scale=1`. */
  readonly source: string;
  readonly frames: number;
  /** Filters, such as `fade=in:0:5`. */
  readonly filter?: string;
}

/** A film; cuts separate its parts. */
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
  /** Burns the number of each frame into the picture, as bits. */
  readonly counted?: boolean;
}

/** Bits of the counter, and the side of the square that shows one. */
const BITS = 8;
const SIDE = 8;

/** Makes a film, or finds the one made before. @returns its path */
export function film(request: Film): string {
  const { parts, size = '128x72', rate = '25', pixelFormat = 'yuv420p', filter = 'null' } = request;
  const { inputs = [], extra = [], counted = false } = request;
  const chains = parts.map(({ source, frames, filter: own = 'null' }, i) => {
    const input = `${source}${source.includes('=') ? ':' : '='}size=${size}:rate=${rate}`;
    return `${input},trim=end_frame=${frames},setpts=PTS-STARTPTS,${own},format=${pixelFormat},setsar=1[v${i}]`;
  });
  const joined = `${parts.map((_, i) => `[v${i}]`).join('')}concat=n=${parts.length}`;
  const graph = `${chains.join(';')};${joined},${counted ? counter() : 'null'},${filter}[v]`;
  const args = ['-filter_complex', graph, '-map', '[v]', '-c:v', 'ffv1', '-pix_fmt', pixelFormat, ...extra];
  return ffmpeg(join(encodeFolder(), `film-${digest(JSON.stringify([inputs, args]))}.mkv`), [
    ...inputs,
    ...args,
  ]);
}

/** Squares along the top, white where a bit of the frame's number is set. */
function counter(): string {
  const squares = Array.from({ length: BITS }, (_, bit) => {
    const place = `x=${bit * SIDE}:y=0:w=${SIDE}:h=${SIDE}:t=fill`;
    return `drawbox=${place}:color=black,drawbox=${place}:color=white:enable='mod(floor(n/${2 ** bit})\\,2)'`;
  });
  return squares.join(',');
}

/** The numbers that the frames of a film show, in decoding order. */
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
function decodedGrey(file: string): { readonly width: number; readonly frames: readonly Uint8Array[] } {
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

/** What ffprobe says of these entries, in its compact form. */
export function probed(file: string, entries: string): string {
  const args = ['-v', 'error', '-show_entries', entries, '-of', 'compact', file];
  return execFileSync('ffprobe', args, { encoding: 'utf8' });
}

/** Presentation times of the video's packets, in milliseconds from the first. */
export function packetTimes(file: string): readonly number[] {
  const args = '-v error -select_streams V:0 -show_entries packet=pts_time -of csv=p=0'.split(' ');
  const lines = execFileSync('ffprobe', [...args, file], { encoding: 'utf8' }).trim();
  const all = lines
    .split('\n')
    .map(Number.parseFloat)
    .sort((a, b) => a - b);
  return all.map((time) => Math.round((time - (all[0] as number)) * 1000));
}

/** Whether this ffmpeg (5.1 and later) can retime packets in another time base, which joining needs. */
export const canJoin = (): boolean =>
  hasFfmpeg &&
  spawnSync('ffmpeg', ['-hide_banner', '-h', 'bsf=setts'], { encoding: 'utf8' }).stdout.includes('time_base');
