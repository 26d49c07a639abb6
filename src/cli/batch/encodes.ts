/**
 * @module cli/batch/encodes
 * Jobs without a table: the videos of folders, of patterns or by name, and a rule that names the reference of each.
 */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { AnyvmafError, usageError } from '../../core/errors.js';
import { quoted, shown } from '../../core/printable.js';
import { isUrl } from '../table-options.js';
import type { TableLine } from './table.js';

/** Endings of files that are taken from a folder. */
const VIDEOS: ReadonlySet<string> = new Set(
  '.mp4 .m4v .mov .mkv .webm .avi .ts .m2ts .mpg .mpeg .mxf .ivf .obu .264 .h264 .265 .hevc .y4m .yuv .wmv .flv .ogv'.split(
    ' ',
  ),
);

/** How the reference of an encode is found. */
export interface ReferenceRule {
  /**
   * A path with `{stem}` for the encode's name without ending, `{name}` for its name, `{folder}` for the name of its
   * folder, and `{1}` to `{9}` for what the groups of {@link match} found.
   */
  readonly reference: string;
  /** A regular expression that the encode's path must match. */
  readonly match?: RegExp;
}

/**
 * The jobs, in the order of the names. A folder gives its videos, but not those of folders in it.
 * @throws {AnyvmafError} `io` for a folder that cannot be read; `usage` if nothing is found, or the rule does not fit
 */
export async function encodeLines(
  names: readonly string[],
  rule: ReferenceRule,
): Promise<readonly TableLine[]> {
  const found: string[] = [];
  for (const name of names) found.push(...(await videosOf(name)));
  const lines = [...new Set(found)].map((distorted, i) => ({
    line: i + 1,
    reference: referenceOf(distorted, rule),
    distorted,
    options: [],
  }));
  // The folder may hold the reference too.
  const encodes = lines.filter(({ reference, distorted }) => reference !== distorted);
  if (encodes.length === 0) throw usageError(`there are no videos in ${shown(names.join(', '))}`);
  return encodes.map((line, i) => ({ ...line, line: i + 1 }));
}

async function videosOf(name: string): Promise<readonly string[]> {
  if (isUrl(name)) return [name];
  if (/[*?]/.test(basename(name)) && !(await stat(name).catch(() => undefined))) {
    const pattern = patternOf(basename(name));
    return (await filesOf(dirname(name))).filter((path) => pattern.test(basename(path)));
  }
  const isFolder = (await stat(name).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder) return [name];
  return (await filesOf(name)).filter((path) => VIDEOS.has(extname(path).toLowerCase()));
}

async function filesOf(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink());
    return files.map(({ name }) => join(folder, name)).sort();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AnyvmafError('io', `cannot read the folder "${shown(folder)}": ${why}`, { cause });
  }
}

/** `*` stands for any characters, `?` for one. */
function patternOf(glob: string): RegExp {
  const escaped = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`);
}

function referenceOf(distorted: string, { reference, match }: ReferenceRule): string {
  const groups = match?.exec(distorted);
  if (match && !groups) {
    throw usageError(
      `${shown(distorted)} does not match ${shown(match.source)}, so its reference is not known`,
    );
  }
  return reference.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    switch (name) {
      case 'stem':
        return basename(distorted, extname(distorted));
      case 'name':
        return basename(distorted);
      case 'folder':
        return basename(dirname(distorted));
    }
    const group = /^[1-9]$/.test(name) ? groups?.[Number(name)] : undefined;
    if (group !== undefined) return group;
    throw usageError(
      `--reference has ${quoted(`{${name}}`)}, but there are {stem}, {name}, {folder} and {1} to {9} for groups of --match`,
    );
  });
}
