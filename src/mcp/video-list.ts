/**
 * @module mcp/video-list
 * Finds videos in folders, without following links, which may lead elsewhere.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { isScratch } from '../files/scratch.js';
import { VIDEO_ENDINGS } from './paths.js';

/** Most names to read, and most levels below an allowed folder. */
const MOST_NAMES = 20_000;
const MOST_DEPTH = 6;

export interface FoundVideo {
  readonly path: string;
  readonly bytes: number;
  readonly modified: Date;
}

/** Newest first. @param contains part of their path, in lower case */
export async function findVideos(
  folders: readonly string[],
  contains?: string,
  signal?: AbortSignal,
): Promise<{ readonly found: readonly FoundVideo[]; readonly complete: boolean }> {
  const found = new Map<string, FoundVideo>();
  let names = 0;
  const open: { readonly folder: string; readonly depth: number }[] = folders.map((folder) => ({
    folder,
    depth: 0,
  }));
  let complete = true;
  for (const { folder, depth } of open) {
    signal?.throwIfAborted();
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

function newestFirst(found: Iterable<FoundVideo>): FoundVideo[] {
  return [...found].sort((a, b) => b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? -1 : 1));
}

/** Entries of a folder; empty if its path has become a link, which may lead elsewhere. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // Checked afterwards: if it is no link now, it was none while it was read.
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
