/**
 * @module test/support/encode
 * Encodes made on the spot with the installed ffmpeg from its synthetic sources, once per run of a test file.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

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
  /** Container by its file extension, when it should not be the codec's usual one. */
  readonly extension?: string;
}

/** Whether encodes can be made here; say `needsFfmpeg` in the title of what is skipped otherwise. */
export const hasFfmpeg: boolean =
  spawnSync('ffmpeg', ['-version'], { stdio: 'ignore' }).status === 0 &&
  spawnSync('ffprobe', ['-version'], { stdio: 'ignore' }).status === 0;

export const needsFfmpeg = 'needs ffmpeg';

let folder: string | undefined;

afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

/** A folder for the files of this run; removed after the tests of the file that uses it. */
export function encodeFolder(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'anyvmaf-encode-'));
  return folder;
}

/** Makes an encode, or finds the one made before. */
export function encode(request: Encode): string {
  const { codec, pixelFormat = 'yuv420p', size = '320x240', frames = 30, rate = 25 } = request;
  const { source = 'testsrc2', extra = [] } = request;
  const { encoder, extension } = CODECS[codec];
  const input = `${source}${source.includes('=') ? ':' : '='}size=${size}:rate=${rate}`;
  const args = ['-f', 'lavfi', '-i', input, '-frames:v', String(frames), '-pix_fmt', pixelFormat];
  args.push('-c:v', ...encoder, ...extra);
  const key = createHash('sha256').update(JSON.stringify(args)).digest('hex').slice(0, 12);
  const path = join(encodeFolder(), `${codec}-${pixelFormat}-${key}.${request.extension ?? extension}`);
  return ffmpeg(path, args);
}

/** Runs ffmpeg with `args` to make the file `path`, unless it is there already. */
export function ffmpeg(path: string, args: readonly string[]): string {
  if (existsSync(path)) return path;
  // A run that fails half way must leave nothing that looks finished.
  const partial = path.replace(/\.(\w+)$/, '.part.$1');
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, `file:${partial}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  renameSync(partial, path);
  return path;
}

/** What ffmpeg itself writes as raw frames: planes one after another, in the given or the decoder's own format. */
export function rawFrames(path: string, options: readonly string[] = []): Buffer {
  const args = ['-nostdin', '-v', 'error', '-i', `file:${path}`, '-map', '0:V:0', ...options];
  return execFileSync('ffmpeg', [...args, '-f', 'rawvideo', '-'], { maxBuffer: 1 << 30 });
}
