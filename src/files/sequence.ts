/**
 * @module files/sequence
 * Image sequences: `frame_%04d.png`, `shots/*.jpg`, or a folder of pictures; how ffmpeg reads them.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { ioError } from '../core/errors.js';
import { hasScheme } from '../core/names.js';
import { quoted, shown } from '../core/printable.js';
import { globTest, textDigest } from './folders.js';

export interface Sequence {
  /** The argument after `-i`. */
  readonly url: string;
  /** Options before it, without the rate. */
  readonly options: readonly string[];
  /** Changes with the names, sizes and times of the files. */
  readonly version: string;
}

/** Extensions of pictures that ffmpeg recognises. */
const ENDINGS = new Set(
  'png jpg jpeg webp bmp tif tiff dpx exr ppm pgm jp2 j2k tga jxl sgi gif'
    .split(' ')
    .map((ending) => `.${ending}`),
);

const NUMBER = /%(\d*)d/g;

/** Whether a name means an image sequence, not a file. */
export function namesSequence(name: string): boolean {
  // Standard input, even if a folder has that name.
  if (name === '-') return false;
  const stats = statOf(name);
  if (stats) return stats.isDirectory() && picturesIn(name).length > 0;
  return !hasScheme(name) && (basename(name).search(NUMBER) >= 0 || /[*?]/.test(basename(name)));
}

/** @throws {AnyvmafError} `io` if no file matches, one is missing, or the name is ambiguous */
export function openSequence(name: string): Sequence {
  if (statOf(name)?.isDirectory()) return folderOf(name);
  return basename(name).search(NUMBER) >= 0 ? numbered(name) : globbed(name);
}

function folderOf(name: string): Sequence {
  const pictures = picturesIn(name);
  const endings = [...new Set(pictures.map((file) => extname(file)))];
  const [ending = ''] = endings;
  if (endings.length > 1) {
    throw ioError(
      `${shown(name)} holds pictures of several kinds (${shown(endings.join(', '))}); name those to compare, such as ` +
        `${shown(join(name, `*${ending}`))}.`,
    );
  }
  return byGlob(name, name, pictures, `*${ending}`);
}

function globbed(name: string): Sequence {
  const [folder, pattern] = [dirname(name), basename(name)];
  return byGlob(name, folder, namesIn(folder).filter(globTest(pattern)), pattern);
}

function byGlob(name: string, folder: string, files: readonly string[], pattern: string): Sequence {
  requireAny(name, files);
  if (process.platform === 'win32') {
    throw ioError(
      `${shown(name)} names pictures by *, which ffmpeg cannot do on Windows; number them, and give frame_%04d.png.`,
    );
  }
  const literally = (text: string) => text.replace(/[\\*?[\]{}~]/g, '\\$&');
  // Brackets are literal, as in globTest.
  const last = pattern.replace(/[\\[\]{}~]/g, '\\$&');
  return {
    url: join(literally(resolve(folder)), last),
    options: ['-f', 'image2', '-pattern_type', 'glob'],
    version: versionOf(folder, files),
  };
}

function numbered(name: string): Sequence {
  const [folder, pattern] = [dirname(name), basename(name)];
  const found = [...pattern.matchAll(NUMBER)];
  const [match] = found;
  if (!match || found.length > 1)
    throw ioError(`${quoted(name)} has more than one number (%d); ffmpeg knows one.`);
  const [text, width = ''] = match;
  const [before, after] = [pattern.slice(0, match.index), pattern.slice(match.index + text.length)];
  // ffmpeg pads with zeros, for %4d as for %04d.
  const nameOf = (number: number) => `${before}${String(number).padStart(Number(width), '0')}${after}`;
  const own = namesIn(folder)
    .flatMap((file) => {
      const digits = file.slice(before.length, file.length - after.length);
      return /^\d{1,9}$/.test(digits) && nameOf(Number(digits)) === file ? [Number(digits)] : [];
    })
    .sort((a, b) => a - b);
  const files = own.map(nameOf);
  requireAny(name, files);
  const gap = own.findIndex((number, i) => i > 0 && number !== (own[i - 1] ?? Number.NaN) + 1);
  if (gap > 0) {
    throw ioError(
      `${shown(nameOf((own[gap - 1] ?? 0) + 1))} is missing between ${shown(nameOf(own[gap - 1] ?? 0))} and ` +
        `${shown(nameOf(own[gap] ?? 0))}, and ffmpeg would end ${shown(name)} there; add it, or name the pictures ` +
        'by *.',
    );
  }
  return {
    url: join(resolve(folder).replaceAll('%', '%%'), pattern),
    options: ['-f', 'image2', '-pattern_type', 'sequence', '-start_number', String(own[0] ?? 0)],
    version: versionOf(folder, files),
  };
}

function requireAny(name: string, files: readonly string[]): void {
  if (files.length > 0) return;
  throw ioError(`no file matches ${shown(name)}; check the folder and the pattern.`);
}

function picturesIn(folder: string): readonly string[] {
  return namesIn(folder).filter((file) => ENDINGS.has(extname(file).toLowerCase()) && !file.startsWith('.'));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function versionOf(folder: string, files: readonly string[]): string {
  const facts = files.map((file) => {
    const stats = statOf(join(folder, file));
    return [file, stats?.size, stats?.mtimeMs];
  });
  return textDigest(JSON.stringify(facts));
}

const statOf = (path: string) => statSync(path, { throwIfNoEntry: false });
