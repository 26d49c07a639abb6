/**
 * @module platform/node/ffmpeg/input
 * What ffmpeg is told to open for a user's input, so that no file name means anything else to it.
 */
import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AnyvmafError } from '../../../errors.js';
import type { VideoInput } from '../../../media/types.js';
import { shown } from '../../../printable.js';
import { fileError } from '../file-errors.js';

/** An input as ffmpeg and as people call it. */
export interface FfmpegInput {
  /** The argument after `-i`. */
  readonly url: string;
  readonly name: string;
  /** It is fetched, not read. */
  readonly remote?: boolean;
  /** Changes when the content does; `undefined` where that cannot be told. */
  readonly version?: string;
}

/** Schemes that ffmpeg may fetch when the user allows it; others run programs, join files or read devices. */
const FETCHED = new Set(['http:', 'https:']);

/**
 * @throws {AnyvmafError} `io` when a file cannot be read; `usage` for URLs that are not allowed and for inputs that are
 * not files
 */
export async function ffmpegInput(input: VideoInput, allowUrl: boolean): Promise<FfmpegInput> {
  if (input instanceof URL) {
    return input.protocol === 'file:' ? file(fileURLToPath(input), input.href) : remote(input.href, allowUrl);
  }
  if (typeof input !== 'string' || input === '-') {
    throw new AnyvmafError(
      'usage',
      `${input === '-' ? 'standard input (-)' : 'this input'} is not a file, and encoded video is read more than ` +
        'once by ffmpeg; give it as a file.',
    );
  }
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(input) && !(await exists(input))) {
    return /^file:/i.test(input) ? file(fileURLToPath(input), input) : remote(input, allowUrl);
  }
  return file(input, input);
}

async function file(path: string, name: string): Promise<FfmpegInput> {
  let version: string;
  try {
    await access(path, constants.R_OK);
    const stats = await stat(path);
    if (stats.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
    if (!stats.isFile()) {
      throw new AnyvmafError(
        'usage',
        `${shown(name)} is a pipe or a device, and encoded video is read more than once by ffmpeg; give it as a file.`,
      );
    }
    if (stats.size === 0) throw new AnyvmafError('io', `${shown(name)} is empty.`);
    version = `${stats.size} ${stats.mtimeMs} ${stats.ino}`;
  } catch (cause) {
    throw fileError(name, cause);
  }
  // The rest of a file: URL is the path as it is: nothing in it is decoded or taken for an option or a protocol.
  return { url: `file:${resolve(path)}`, name, version };
}

function remote(href: string, allowUrl: boolean): FfmpegInput {
  const scheme = href.slice(0, href.indexOf(':') + 1).toLowerCase();
  if (!FETCHED.has(scheme)) {
    throw new AnyvmafError(
      'usage',
      `${shown(href)} is a URL of a kind that is never opened (${shown(scheme)}); give a file, or an http or https URL.`,
    );
  }
  if (!allowUrl) {
    throw new AnyvmafError(
      'usage',
      `${shown(href)} is a URL and nothing is fetched without being asked; download the video, or pass --allow-url.`,
    );
  }
  return { url: href, name: href, remote: true };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
