/**
 * @module test/support/programs
 * Programs for tests: stand-ins for vmaf (fake-vmaf.mjs in its modes) and for npm with its tarballs, and the native libvmaf
 * 2.3.0 in the ffprobe package.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { CACHE } from './encode.js';

const SCRIPT = fileURLToPath(new URL('./fake-vmaf.mjs', import.meta.url));

const STOCK = ['reference', 'distorted', 'width', 'model', 'gpumask', 'cpumask', 'threads', 'subsample'];
const GPU = ['no_cuda', 'no_sycl', 'no_hip', 'no_metal', 'sycl_device', 'hip_device', 'metal_device'];

/** Modes that fail on --help. */
const WITHOUT_HELP = ['hang-help', 'crash-help', 'garbage'];

/** The help text, for a shell's printf: starting Node.js takes longer than most tests. */
function helpOf(mode: string): string {
  const gpus = ['gpu', 'gpu-broken', 'liar', 'exclusive'].includes(mode);
  const options = [...STOCK, ...(gpus ? GPU : []), ...(mode === 'exclusive' ? ['backend', 'precision'] : [])];
  return `Usage: vmaf [options]\\n${options.map((option) => ` --${option} $x: text\\n`).join('')}`;
}

export interface FakeVmaf {
  readonly path: string;
  /** Arguments of its runs so far, without those that ask for help or the version. */
  runs(): readonly (readonly string[])[];
}

/** Makes a fake `vmaf` below `folder`: a shell script, like the wrappers of distributions, that answers --version and --help. */
export function fakeVmaf(folder: string, mode: string, name = 'vmaf'): FakeVmaf {
  const home = join(folder, `fake-${mode}`);
  mkdirSync(home, { recursive: true });
  const path = join(home, name);
  const record = join(home, 'runs');
  const recorded = `printf '["%s"]\\n' "$1" >> '${record}'`;
  const asked = WITHOUT_HELP.includes(mode)
    ? ''
    : `case "$1" in --help) ${recorded}; printf '${helpOf(mode)}' >&2; exit 1;; esac\n`;
  const script = `#!/bin/sh
case "$1" in --version) ${recorded}; echo 3.2.0 >&2; exit 0;; esac
${asked}FAKE_VMAF='${mode}' FAKE_VMAF_RECORD='${record}' '${process.execPath}' '${SCRIPT}' "$@"
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return {
    path,
    runs() {
      const lines = existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [];
      const all = lines.map((line): readonly string[] => JSON.parse(line));
      return all.filter((args) => args.includes('--reference'));
    },
  };
}

/** Ids of processes whose command line contains a text; Linux only, elsewhere none. */
export function processesWith(text: string): readonly string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc').filter((id) => {
    if (!/^\d+$/.test(id) || id === `${process.pid}`) return false;
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}

/** Writes an npm that runs `body`, where `folder` is where to install. @returns PATH with it */
export function fakeNpm(at: string, body: string): string {
  const folder = join(at, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'npm'),
    `#!${process.execPath}
const { mkdirSync, symlinkSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const [, , command, ...rest] = process.argv;
const folder = process.cwd();
if (command !== 'ci') process.exit(9);
${body}
`,
  );
  chmodSync(join(folder, 'npm'), 0o755);
  return `${folder}${delimiter}${process.env.PATH}`;
}

/** The body of an npm that installs files. @param files contents by path below `node_modules` */
export function delivering(files: Readonly<Record<string, string>>): string {
  return `for (const [path, content] of Object.entries(${JSON.stringify(files)})) {
  const to = join(folder, 'node_modules', path);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, content);
}`;
}

export interface Entry {
  readonly name: string;
  readonly content?: string | Uint8Array;
  /** A regular file by default. */
  readonly type?: string;
  readonly link?: string;
}

function tar(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ name, content = '', type = '0', link = '' }) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write('0000644\0', 100);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(link, 157, 100);
    header.write('ustar\u000000', 257);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export function tgz(entries: readonly Entry[]): Buffer {
  return gzipSync(tar(entries));
}

/** A digest in the notation of lock files. */
export function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

const FFMPEG = '/usr/bin/ffmpeg';

/** Why native comparisons cannot run here. */
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

/** libvmaf's log. */
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

/** Copies ffprobe into `folder`, because the package does not make it executable. @returns the copy */
export function copyFfprobe(folder: string): string {
  const source = ffprobePackage();
  if (source === undefined) throw new Error('the package @ffprobe-installer/ffprobe is not installed');
  const copy = join(folder, 'ffprobe');
  copyFileSync(source, copy);
  chmodSync(copy, 0o755);
  return copy;
}

/** Scores `distorted.y4m` against `reference.y4m` in `cwd` with native libvmaf on one thread; once per machine. */
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

function measureNatively(ffprobe: string, cwd: string, model: string): void {
  const filter =
    'movie=distorted.y4m[d];movie=reference.y4m[r];' +
    `[d][r]libvmaf=log_fmt=json:log_path=native.json:n_threads=1:model=version=${model}`;
  const args = ['-v', 'error', '-f', 'lavfi', '-i', filter, '-show_entries', 'frame=pts', '-of', 'csv'];
  execFileSync(ffprobe, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
