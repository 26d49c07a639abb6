/**
 * @module files/cache-folder
 * Where this user's programs keep what they can fetch or make again.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The cache folder: what `ANYVMAF_CACHE` says, else where this system's programs keep such files. */
export function cacheFolder(): string {
  const { ANYVMAF_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (ANYVMAF_CACHE) return resolve(ANYVMAF_CACHE);
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'anyvmaf');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'anyvmaf');
  if (process.platform === 'win32')
    return join(LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'anyvmaf', 'Cache');
  return join(homedir(), '.cache', 'anyvmaf');
}
