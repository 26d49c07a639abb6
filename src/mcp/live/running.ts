/**
 * @module mcp/live/running
 * Lists running live servers: each has a file in the user's cache. Removes files of ended processes.
 */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  cacheFolder,
  isAlive,
  machineMark,
  openPrivate,
  processMark,
  remember,
  removeScratch,
  writeWhole,
} from '../../files/folders.js';
import type { Hub } from './hub.js';

/** `MACHINE-PID-START-RANDOM.json`, the first three from `processMark`. */
const NAME = /^([0-9a-z]{1,12})-(\d{1,10})-([0-9a-z]{1,13})-[0-9a-z]{1,12}\.json$/;
/** Most bytes of a file, and most files to read. */
const MOST_BYTES = 64 << 10;
const MOST_FILES = 100;

const named = (): string => join(cacheFolder(), 'live');

function folder(): Promise<string> {
  return openPrivate(named(), 'where running measurements are listed', 'name another with ANYVMAF_CACHE');
}

/** The file of one server. Ignores failures to write it: the measurement matters more. */
export function runningFile(hub: Hub) {
  const started = new Date().toISOString();
  const addresses: string[] = [];
  let path: string | undefined;
  let [written, writing] = ['', Promise.resolve()];
  let forget = () => {};
  const save = async (text: string) => {
    if (path === undefined) {
      const random = Math.random().toString(36).slice(2, 12) || '0';
      path = join(await folder(), `${await processMark()}-${random}.json`);
      remember(path);
    }
    await writeWhole(path, text, 0o600);
  };
  const write = (): Promise<void> => {
    const measurements = hub.measurements.map(({ name, state, facts }) => ({
      ...{ name, state },
      ...(facts && { reference: basename(facts.reference), distorted: basename(facts.distorted) }),
    }));
    const text = JSON.stringify({ started, addresses, measurements });
    if (text !== written) writing = writing.then(() => save(text)).catch(() => {});
    written = text;
    return writing;
  };
  return {
    add(address: string): Promise<void> {
      if (addresses.push(address) === 1) forget = hub.listen(() => void write());
      return write();
    },
    async close(): Promise<void> {
      forget();
      await writing;
      if (path !== undefined) await removeScratch(path).catch(() => {});
    },
  };
}

/** Process ids and files of this user's live servers on this machine, oldest first. */
export async function readRunning(): Promise<readonly { readonly pid: number; readonly text: string }[]> {
  if (!(await lstat(named()).catch(() => undefined))) return [];
  const root = await folder();
  const names = (await readdir(root)).filter((name) => NAME.test(name)).slice(0, MOST_FILES);
  const machine = await machineMark();
  const all = await Promise.all(
    names.map(async (name) => {
      const [, on, pid, start = ''] = NAME.exec(name) ?? [];
      // Machines may share the cache, but an address on 127.0.0.1 belongs to one.
      if (on !== machine) return [];
      const path = join(root, name);
      if (!(await isAlive(Number(pid), start))) {
        await removeScratch(path).catch(() => {});
        return [];
      }
      const found = await lstat(path).catch(() => undefined);
      if (!found?.isFile() || (process.getuid && found.uid !== process.getuid())) return [];
      if (found.size > MOST_BYTES) return [];
      const text = await readFile(path, 'utf8').catch(() => undefined);
      return text === undefined ? [] : [{ pid: Number(pid), text, at: found.birthtimeMs }];
    }),
  );
  return all.flat().sort((a, b) => a.at - b.at);
}
