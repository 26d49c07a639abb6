/**
 * @module platform/node/tiny/files
 * Folders of tiny models in Node. Nothing outside a folder is read, symbolic links included, and nothing larger than it
 * may be.
 */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AnyvmafError } from '../../../errors.js';
import type { TinyFiles, TinyFolder } from '../../../tiny/types.js';
import { fileError } from '../file-errors.js';

/** @param folder gives the folder of the built-in models, ending in `/` */
export function nodeTinyFiles(folder: () => URL): TinyFiles {
  return {
    get builtIn() {
      return folderAt(fileURLToPath(new URL('tiny/', folder())));
    },
    async locate(path) {
      const file = path.startsWith('file:') ? fileURLToPath(path) : resolve(path);
      await confine(file);
      const place = { folder: folderAt(dirname(file)), file: basename(file) };
      const [folder, target] = await Promise.all([real(dirname(file)), real(file)]);
      if (folder === null || target === null || target === join(folder, place.file)) return place;
      return { ...place, target: { folder: folderAt(dirname(target)), file: basename(target) } };
    },
  };
}

/** @throws {AnyvmafError} `usage` when paths are confined and this one lies outside */
async function confine(file: string): Promise<void> {
  const jail = process.env.VMAF_TINY_MODEL_DIR;
  if (jail === undefined || jail === '') return;
  const [root, target] = await Promise.all([real(jail), real(file)]);
  if (root !== null && target !== null && isWithin(root, target)) return;
  throw new AnyvmafError(
    'usage',
    `The tiny model ${file} lies outside ${jail}, to which VMAF_TINY_MODEL_DIR confines them; put it there.`,
  );
}

/** A folder by its path. */
function folderAt(path: string): TinyFolder {
  return {
    name: path,
    async read(file, limit) {
      const wanted = join(path, file);
      const [root, target] = await Promise.all([real(path), real(wanted)]);
      if (root === null || target === null) return null;
      if (!isWithin(root, target)) {
        throw new AnyvmafError('model', `${file} leads out of its folder ${path}, and is not read.`);
      }
      return readWhole(target, wanted, limit);
    },
  };
}

/** The path without symbolic links; `null` when there is nothing. */
async function real(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (cause) {
    if (isCode(cause, 'ENOENT') || isCode(cause, 'ENOTDIR')) return null;
    throw fileError(path, cause);
  }
}

function isWithin(root: string, target: string): boolean {
  const way = relative(root, target);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(root, way) === target;
}

async function readWhole(target: string, shown: string, limit: number): Promise<Uint8Array> {
  try {
    // Without waiting: a named pipe would keep us for ever.
    const handle = await open(target, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const status = await handle.stat();
      if (!status.isFile()) throw new AnyvmafError('io', `${shown} is not a file.`);
      if (status.size > limit) {
        throw new AnyvmafError(
          'model',
          `${shown} has ${status.size} bytes, but ${limit} are the most for a file of its kind.`,
        );
      }
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof AnyvmafError) throw cause;
    throw fileError(shown, cause);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
