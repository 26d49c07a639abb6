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
export class RunningFile {
  readonly #hub: Hub;
  readonly #started = new Date().toISOString();
  readonly #addresses: string[] = [];
  #path: string | undefined;
  #text = '';
  #writing: Promise<void> = Promise.resolve();
  #forget = () => {};

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  add(address: string): Promise<void> {
    if (this.#addresses.push(address) === 1) this.#forget = this.#hub.listen(() => void this.#write());
    return this.#write();
  }

  async close(): Promise<void> {
    this.#forget();
    await this.#writing;
    if (this.#path !== undefined) await removeScratch(this.#path).catch(() => {});
  }

  #write(): Promise<void> {
    const measurements = this.#hub.measurements.map(({ name, state, facts }) => ({
      ...{ name, state },
      ...(facts && { reference: basename(facts.reference), distorted: basename(facts.distorted) }),
    }));
    const text = JSON.stringify({ started: this.#started, addresses: this.#addresses, measurements });
    if (text === this.#text) return this.#writing;
    this.#text = text;
    this.#writing = this.#writing.then(() => this.#save(text)).catch(() => {});
    return this.#writing;
  }

  async #save(text: string): Promise<void> {
    if (this.#path === undefined) {
      const random = Math.random().toString(36).slice(2, 12) || '0';
      this.#path = join(await folder(), `${await processMark()}-${random}.json`);
      remember(this.#path);
    }
    await writeWhole(this.#path, text, 0o600);
  }
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
