/**
 * @module platform/node/ffmpeg/input
 * Turns an input into ffmpeg's form, so that ffmpeg cannot misread a file name.
 */
import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ioError, usageError } from '../../../core/errors.js';
import { hasScheme } from '../../../core/names.js';
import type { Origin } from '../../../core/origin.js';
import { shown, withoutAccess } from '../../../core/printable.js';
import { checkedStats, fileError, openChecked } from '../../../files/checked-file.js';
import { localPath } from '../../../files/file-url.js';
import { namesSequence, openSequence } from '../../../files/sequence.js';
import { FETCH_URL } from '../../../media/errors.js';
import { type RemoteContent, RemoteVideo, type VideoInput } from '../../../media/types.js';
import { accessOf, HANDED, HANDED_OPTIONS, type ToolSource } from '../../ffmpeg/commands.js';

export interface FfmpegInput extends ToolSource {
  readonly name: string;
  /** Opens and checks a foreign file, if tools inherit descriptors. @returns the descriptor, which the caller closes */
  readonly hold?: () => number;
  /** Whether ffmpeg fetches it. */
  readonly remote?: boolean;
  /** Content that this process fetches and serves to ffmpeg. */
  readonly content?: RemoteContent;
  /** Changes with the content; `undefined` if unknown. */
  readonly version?: string;
}

export interface InputAccess {
  /** `never` if no option can allow them. */
  readonly urls: boolean | 'never';
  /** Pictures per second of an image sequence: `24000/1001`. Default: 25. */
  readonly rate?: string;
  readonly origin: Origin;
}

/** Schemes that ffmpeg may fetch if allowed; others run programs, join files or read devices. */
const FETCHED = new Set(['http:', 'https:']);

/** A tool's fourth descriptor. Most systems, but not the BSDs, open the file again there. */
const HELD = existsSync('/proc/self/fd') ? 'file:/proc/self/fd/3' : 'file:/dev/fd/3';

/** @throws {AnyvmafError} `io` if a file cannot be read; `usage` for forbidden URLs and inputs that are not files */
export async function ffmpegInput(input: VideoInput, access: InputAccess): Promise<FfmpegInput> {
  if (input instanceof RemoteVideo) return handed(input.content);
  if (input instanceof URL) {
    return input.protocol === 'file:'
      ? file(localPath(input), input.href, access)
      : remote(input.href, access);
  }
  if (typeof input !== 'string' || input === '-') {
    throw usageError(
      `${input === '-' ? 'standard input (-)' : 'this input'} is not a file, and encoded video is read more than ` +
        'once by ffmpeg; give it as a file.',
    );
  }
  const path = localPath(input);
  if (path === input && hasScheme(input) && !(await exists(input))) return remote(input, access);
  if (access.origin.by === 'user' && namesSequence(input)) return sequence(input, access);
  return file(path, input, access);
}

function sequence(name: string, { origin, urls, rate = '25' }: InputAccess): FfmpegInput {
  const { options, version, url } = openSequence(name);
  return {
    ...{ name, url, options: [...options, '-framerate', rate] },
    access: accessOf(origin, false, urls === true),
    version: `${version} ${rate}`,
  };
}

async function file(path: string, name: string, { origin, urls }: InputAccess): Promise<FfmpegInput> {
  const foreign = origin.by === 'foreign';
  let version: string;
  try {
    if (!foreign) await access(path, constants.R_OK);
    const stats = foreign ? checkedStats(path, origin) : await stat(path);
    if (stats.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
    if (!stats.isFile()) {
      throw usageError(
        `${shown(name)} is a pipe or a device, and encoded video is read more than once by ffmpeg; give it as a file.`,
      );
    }
    if (stats.size === 0) throw ioError(`${shown(name)} is empty.`);
    version = `${stats.size} ${stats.mtimeMs} ${stats.ino}`;
  } catch (cause) {
    throw fileError(name, cause);
  }
  // ffmpeg takes the rest of a file: URL literally, without decoding, options or protocols.
  const url = `file:${resolve(path)}`;
  const common = { name, version, access: accessOf(origin, false, urls === true) };
  if (!foreign || process.platform === 'win32') return { ...common, url };
  return { ...common, url: HELD, hold: () => openForTool(path, name, origin) };
}

function openForTool(path: string, name: string, origin: Origin): number {
  try {
    return openChecked(path, origin);
  } catch (cause) {
    throw fileError(name, cause);
  }
}

/** Each opening of a URL counts as a new state, since its content may change. */
const openings = new WeakMap<RemoteContent, number>();
let opened = 0;

async function handed(content: RemoteContent): Promise<FfmpegInput> {
  const { loopbackUrl } = await import('./loopback.js');
  const opening = openings.get(content) ?? ++opened;
  openings.set(content, opening);
  const url = await loopbackUrl(content);
  const version = `${opening} ${content.version}`;
  return { url, name: content.name, version, content, access: HANDED, options: HANDED_OPTIONS };
}

function remote(href: string, { origin, urls }: InputAccess): FfmpegInput {
  const scheme = href.slice(0, href.indexOf(':') + 1).toLowerCase();
  if (!FETCHED.has(scheme)) {
    throw usageError(
      `${shown(href)} is a URL with a scheme that is never opened (${shown(scheme)}); give a file, or an http or ` +
        'https URL.',
    );
  }
  if (urls !== true) {
    throw usageError(`${shown(href)} is a URL, and URLs are fetched only on request`, {
      hints: ['download the video', ...(urls === 'never' ? [] : [FETCH_URL])],
    });
  }
  return { url: href, name: withoutAccess(href), remote: true, access: accessOf(origin, true, true) };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
