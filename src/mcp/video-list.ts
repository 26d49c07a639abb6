/**
 * @module mcp/video-list
 * Finds videos in the allowed folders, and what each is. Links are not followed: what they lead to may be elsewhere.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { extname, join, parse } from 'node:path';
import { quotientOf } from '../core/rational.js';
import { isScratch } from '../files/scratch.js';
import { AnyvmafError, type SideFacts } from '../index.js';
import { describeVideo } from './checked-api.js';
import type { ToolContext } from './context.js';
import { type CheckedPath, checkFile, RAW_ENDING, VIDEO_ENDINGS } from './paths.js';
import { errorInParameters } from './wording.js';

/** Names that are looked at, and how deep below an allowed folder. */
const MOST_NAMES = 20_000;
const MOST_DEPTH = 6;

/** Files that are probed at the same time, and whose facts are kept. */
const AT_ONCE = 4;
const MOST_REMEMBERED = 5000;

/** What to list. */
interface Wanted {
  readonly contains?: string;
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
  const { allowed: folders } = files;
  const { found, complete } = await findVideos(folders, contains?.toLowerCase(), signal);
  const listed = found.slice(0, limit);
  const videos: Listed[] = [];
  // Probing takes a moment of one core: it waits for nobody's turn.
  for (let i = 0; i < listed.length; i += AT_ONCE) {
    signal.throwIfAborted();
    context.progress({ done: i, total: listed.length, message: 'opening videos' });
    const some = listed.slice(i, i + AT_ONCE);
    videos.push(...(await Promise.all(some.map((one) => listedAs(one, details, context)))));
  }
  return {
    folders,
    advice: adviceOf(folders),
    videos,
    left_out: Math.max(0, found.length - limit),
    complete,
  };
}

/** What to do where the folders are none, or all there are. */
function adviceOf(folders: readonly string[]): string | undefined {
  if (folders.length === 0)
    return 'No folder is allowed: hosts may start the server in /, which counts as none. Start it with --allow DIR, or set ANYVMAF_MCP_ALLOW.';
  if (folders.every((folder) => parse(folder).root === folder))
    return 'The whole file system is allowed, of which only a part is looked at. Start the server with --allow DIR of the videos, or give paths.';
  return undefined;
}

type Facts = ReturnType<typeof known> | { readonly note: string };
type Listed = { readonly path: string; readonly bytes: number; readonly modified: string } & Partial<
  ReturnType<typeof known> & { note: string }
>;

async function listedAs(one: Found, details: boolean, context: ToolContext): Promise<Listed> {
  const { path, bytes, modified } = one;
  return { path, bytes, modified: modified.toISOString(), ...(details && (await knownFacts(one, context))) };
}

/** Facts of files by path, size and time of their last change, the latest last. */
const remembered = new Map<string, Facts>();

async function knownFacts(one: Found, context: ToolContext): Promise<Facts> {
  const key = `${one.path}\n${one.bytes}\n${one.modified.getTime()}`;
  const facts = remembered.get(key) ?? (await factsOf(one.path, context));
  remembered.delete(key);
  remembered.set(key, facts);
  const [oldest] = remembered.keys();
  if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  return facts;
}

/**
 * Looks through folders for videos, the newest first.
 * @param contains in lower case, in their path
 */
export async function findVideos(
  folders: readonly string[],
  contains: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly found: readonly Found[]; readonly complete: boolean }> {
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
      if (++names > MOST_NAMES) return { found: newestFirst(found.values()), complete: false };
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
  return { found: newestFirst(found.values()), complete };
}

function newestFirst(found: Iterable<Found>): Found[] {
  return [...found].sort((a, b) => b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? -1 : 1));
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
    VIDEO_ENDINGS.has(extname(path).toLowerCase()) &&
    (contains === undefined || path.toLowerCase().includes(contains))
  );
}

/** What a video declares, or why that is not known. */
async function factsOf(path: string, { files, signal }: ToolContext): Promise<Facts> {
  if (extname(path).toLowerCase() === RAW_ENDING)
    return { note: 'Raw YUV does not say its size: give width, height, pixfmt and bitdepth.' };
  try {
    const checked: CheckedPath = (await checkFile(path, files)).path;
    return known(await describeVideo(checked, { origin: files.origin, signal }));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AnyvmafError)) throw error;
    return { note: errorInParameters(error).message };
  }
}

function known({ container, codec, width, height, bitDepth, frameRate, frameCount, duration }: SideFacts) {
  const rate = quotientOf(frameRate);
  const seconds = duration ?? (rate && frameCount !== null ? frameCount / rate : undefined);
  return {
    ...{ container, codec, width, height, bit_depth: bitDepth },
    frame_rate: rate && Number(rate.toFixed(3)),
    frames: frameCount ?? undefined,
    seconds: seconds && Number(seconds.toFixed(3)),
  };
}
