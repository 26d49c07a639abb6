/**
 * @module test/support/native
 * Native programs for tests: Debian's ffmpeg makes content, and the ffprobe package has a native libvmaf 2.3.0 inside.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { CACHE } from './encode.js';

const FFMPEG = '/usr/bin/ffmpeg';

/** Why native comparisons cannot run here, or `undefined` when they can. */
export function nativeIsAbsent(): string | undefined {
  if (!existsSync(FFMPEG)) return `needs ${FFMPEG}`;
  if (ffprobePackage() === undefined)
    return 'needs the package @ffprobe-installer/ffprobe on a platform that it serves';
  return undefined;
}

function ffprobePackage(): string | undefined {
  try {
    const { path } = createRequire(import.meta.url)('@ffprobe-installer/ffprobe') as { path: string };
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Whether this ffmpeg has an encoder. */
export function hasEncoder(name: string): boolean {
  const { stdout } = spawnSync(FFMPEG, ['-v', 'quiet', '-h', `encoder=${name}`], { encoding: 'utf8' });
  return stdout.includes(`Encoder ${name}`);
}

/** libvmaf's log of one run. */
export interface NativeLog {
  readonly version: string;
  readonly frames: readonly {
    readonly frameNum: number;
    readonly metrics: Readonly<Record<string, number>>;
  }[];
  readonly pooled_metrics: Readonly<
    Record<string, { readonly mean: number; readonly harmonic_mean: number }>
  >;
}

/** Copies ffprobe into `folder`, because the package leaves it without the right to run. Returns the copy. */
export function copyFfprobe(folder: string): string {
  const source = ffprobePackage();
  if (source === undefined) throw new Error('the package @ffprobe-installer/ffprobe is not installed');
  const copy = join(folder, 'ffprobe');
  copyFileSync(source, copy);
  chmodSync(copy, 0o755);
  return copy;
}

/** Scores `distorted.y4m` against `reference.y4m` in `cwd` with the native libvmaf, one thread; once per machine. */
export function nativeVmaf(ffprobe: string, cwd: string, model: string): NativeLog {
  const hash = createHash('sha256').update(JSON.stringify([model, statSync(ffprobe).size]));
  for (const side of ['distorted', 'reference']) hash.update(readFileSync(join(cwd, `${side}.y4m`)));
  const kept = join(CACHE, `native-${hash.digest('hex').slice(0, 16)}.json`);
  if (!existsSync(kept)) {
    const log = join(cwd, 'native.json');
    measureNatively(ffprobe, cwd, model);
    mkdirSync(CACHE, { recursive: true });
    copyFileSync(log, `${kept}.${process.pid}`);
    renameSync(`${kept}.${process.pid}`, kept);
  }
  return JSON.parse(readFileSync(kept, 'utf8')) as NativeLog;
}

/** Leaves `native.json` in `cwd`. */
function measureNatively(ffprobe: string, cwd: string, model: string): void {
  const filter =
    'movie=distorted.y4m[d];movie=reference.y4m[r];' +
    `[d][r]libvmaf=log_fmt=json:log_path=native.json:n_threads=1:model=version=${model}`;
  const args = ['-v', 'error', '-f', 'lavfi', '-i', filter, '-show_entries', 'frame=pts', '-of', 'csv'];
  execFileSync(ffprobe, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
