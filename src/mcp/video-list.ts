/**
 * @module mcp/video-list
 * Finds videos in the allowed folders, and what each is. Links are not followed: what they lead to may be elsewhere.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { isScratch } from '../files/scratch.js';
import { AnyvmafError, type SideFacts } from '../index.js';
import { inspect } from './checked-api.js';
import type { ToolContext } from './context.js';
import { type CheckedPath, checkFile } from './paths.js';
import { errorInParameters } from './scoring/wording.js';

const TOOL = 'list_videos';

/** Endings of files that are videos. */
const ENDINGS: ReadonlySet<string> = new Set(
  (
    '.3gp .264 .265 .av1 .avi .flv .h264 .h265 .hevc .ivf .m2ts .m2v .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .obu .ogv .ts ' +
    '.vob .webm .wmv .y4m .yuv'
  ).split(' '),
);

/** Raw video, which does not say what it is. */
const RAW = '.yuv';

/** Names that are looked at, and how deep below an allowed folder. */
const MOST_NAMES = 20_000;
const MOST_DEPTH = 6;

/** What to list. */
interface Wanted {
  readonly contains?: string | undefined;
  readonly limit: number;
  readonly details: boolean;
}

interface Found {
  readonly path: string;
  readonly bytes: number;
  readonly modified: Date;
}

/**
 * The videos of the allowed folders, the newest first.
 * @throws the signal's reason when the call is cancelled
 */
export async function listVideos({ contains, limit, details }: Wanted, context: ToolContext) {
  const { signal, files } = context;
  const all = files.origin.folders ?? [];
  const folders = all.filter((folder) => !isScratch(folder));
  const { found, complete } = await search(folders, contains?.toLowerCase(), signal);
  found.sort((a, b) => b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? -1 : 1));
  const videos = [];
  for (const [i, one] of found.slice(0, limit).entries()) {
    signal.throwIfAborted();
    const { path, bytes, modified } = one;
    context.progress({ done: i, total: Math.min(limit, found.length), message: 'opening videos' });
    const facts = details ? await context.pool.run(TOOL, 1, () => factsOf(path, context)) : {};
    videos.push({ path, bytes, modified: modified.toISOString(), ...facts });
  }
  return { folders: [...folders], videos, left_out: Math.max(0, found.length - limit), complete };
}

async function search(folders: readonly string[], contains: string | undefined, signal: AbortSignal) {
  const found = new Map<string, Found>();
  let names = 0;
  const open: { readonly folder: string; readonly depth: number }[] = folders.map((folder) => ({
    folder,
    depth: 0,
  }));
  let complete = true;
  for (const { folder, depth } of open) {
    signal.throwIfAborted();
    const entries = await entriesOf(folder);
    for (const entry of entries) {
      if (++names > MOST_NAMES) return { found: [...found.values()], complete: false };
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (entry.name.startsWith('.') || entry.name === 'node_modules' || isScratch(path)) continue;
        if (depth < MOST_DEPTH) open.push({ folder: path, depth: depth + 1 });
        else complete = false;
      } else if (entry.isFile() && isVideo(path, contains)) {
        const status = await lstat(path).catch(() => undefined);
        if (status?.isFile()) found.set(path, { path, bytes: status.size, modified: status.mtime });
      }
    }
  }
  return { found: [...found.values()], complete };
}

/** What a folder holds; nothing where its path has become a link, which may lead elsewhere. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // Afterwards: what it is now, it was then.
    return (await realpath(folder)) === folder ? entries : [];
  } catch {
    return [];
  }
}

function isVideo(path: string, contains: string | undefined): boolean {
  return (
    ENDINGS.has(extname(path).toLowerCase()) &&
    (contains === undefined || path.toLowerCase().includes(contains))
  );
}

/** What a video declares, or why that is not known. */
async function factsOf(path: string, { files, signal }: ToolContext) {
  if (extname(path).toLowerCase() === RAW)
    return { note: 'Raw YUV does not say its size: give width, height, pixfmt and bitdepth.' };
  try {
    const checked: CheckedPath = (await checkFile(path, files)).path;
    // Without a look at pictures, opening one video as both sides costs little.
    const request = { reference: checked, distorted: checked };
    const { reference } = await inspect(request, { origin: files.origin, signal });
    return known(reference);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AnyvmafError)) throw error;
    return { note: errorInParameters(error).message };
  }
}

function known({ container, codec, width, height, bitDepth, frameRate, frameCount, duration }: SideFacts) {
  const rate = frameRate && frameRate.den > 0 ? frameRate.num / frameRate.den : undefined;
  const seconds = duration ?? (rate && frameCount !== null ? frameCount / rate : undefined);
  return {
    ...(container !== undefined && { container }),
    ...(codec !== undefined && { codec }),
    width,
    height,
    bit_depth: bitDepth,
    ...(rate !== undefined && { frame_rate: Number(rate.toFixed(3)) }),
    ...(frameCount !== null && { frames: frameCount }),
    ...(seconds !== undefined && { seconds: Number(seconds.toFixed(3)) }),
  };
}
