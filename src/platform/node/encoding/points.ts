/**
 * @module platform/node/encoding/points
 * Points of earlier searches: a file of lines for each key, in the user's cache or a folder of the user's.
 */
import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AnyvmafError } from '../../../core/errors.js';
import { shown } from '../../../core/printable.js';
import { cacheFolder, makeFolders, writeReason } from '../../../files/folders.js';
import { ACTIVITY_KEY, type PointStore } from '../../../search/host.js';

const ENDING = '.points.jsonl';

/** @param folder default: the user's cache */
export function nodePoints(folder: string = join(cacheFolder(), 'search')): PointStore {
  const place = (key: string) => join(resolve(folder), key + ENDING);
  return {
    async read(key) {
      const text = await readFile(place(key), 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line !== '');
    },
    async add(key, line) {
      try {
        await makeFolders(resolve(folder));
        // One write, so that searches beside each other do not tear each other's lines.
        await appendFile(place(key), `${line}\n`);
      } catch (cause) {
        throw new AnyvmafError(
          'io',
          `The points of this search cannot be kept in ${shown(folder)}: ${writeReason(cause)}; name another folder, or keep none.`,
          { cause },
        );
      }
    },
    async clear() {
      const names = await readdir(resolve(folder)).catch((): string[] => []);
      const ours = names.filter((name) => name.endsWith(ENDING));
      for (const name of ours) await rm(join(resolve(folder), name), { force: true });
      return ours.filter((name) => !name.startsWith(ACTIVITY_KEY)).length;
    },
  };
}
