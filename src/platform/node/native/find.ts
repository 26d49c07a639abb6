/**
 * @module platform/node/native/find
 * Finds installed programs: named by the caller or the environment, else on PATH.
 */
import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Candidate } from '../../../engine/backends/native/host.js';

/** Extensions of programs on PATH. */
const ENDINGS = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];

/**
 * Files that may be the program: the named one, else those of the environment and PATH.
 * @param named `vmafBin`; default: `VMAF_BIN`, or for ffmpeg `ANYVMAF_FFMPEG` and `ANYVMAF_FFPROBE`
 */
export function findPrograms(kind: 'vmaf' | 'ffmpeg', named?: string): readonly Candidate[] {
  if (named !== undefined) return [lookAt(named, 'vmafBin')];
  const { VMAF_BIN, ANYVMAF_FFMPEG } = process.env;
  return kind === 'vmaf'
    ? oneOf('vmaf', VMAF_BIN, 'VMAF_BIN')
    : [...oneOf('ffmpeg', ANYVMAF_FFMPEG, 'ANYVMAF_FFMPEG'), ...findFfprobe()];
}

export function findFfprobe(): readonly Candidate[] {
  return oneOf('ffprobe', process.env.ANYVMAF_FFPROBE, 'ANYVMAF_FFPROBE');
}

function oneOf(name: string, named: string | undefined, variable: string): readonly Candidate[] {
  if (named) return [lookAt(named, variable)];
  const found = onPath(name);
  return found === undefined ? [] : [lookAt(found, 'PATH')];
}

/** The first file of that name on PATH that this user may run. */
function onPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    // An empty entry would be the working directory: never run programs from there.
    if (folder === '' || !isAbsolute(folder)) continue;
    for (const ending of ENDINGS) {
      const path = join(folder, name + ending);
      if (lookAt(path, 'PATH').key !== undefined) return path;
    }
  }
  return undefined;
}

function lookAt(named: string, from: string): Candidate {
  // A bare name is looked up as by a shell.
  const bare = !/[\\/]/.test(named) && named !== '' ? onPath(named) : undefined;
  const path = bare ?? (named === '' ? named : resolve(named));
  const nothing = (problem: string): Candidate => ({ path, from, problem: `${problem} (${from})` });
  let stats: Stats;
  try {
    stats = statSync(path);
    if (!stats.isFile()) return nothing('is not a file');
    accessSync(path, constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return nothing('does not exist');
    return nothing(code === 'EACCES' ? 'is not executable by this user' : 'cannot be checked');
  }
  return { path, from, key: `${path}\n${stats.ino}\n${stats.size}\n${stats.mtimeMs}` };
}
