/**
 * @module queue/results-folder
 * Keeps results too large for Redis in a shared folder or below a URL, in files known by name and hash.
 */
import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { mkdir, readdir, realpath, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AnyvmafError, ioError, usageError } from '../core/errors.js';
import { isUrl } from '../core/names.js';
import { shown } from '../core/printable.js';
import { openChecked } from '../files/checked-file.js';
import { textDigest, writeReason, writeWhole } from '../files/folders.js';
import type { RemoteStore } from '../remote/remote-file.js';
import { INLINE_BYTES, type Stored } from './job.js';

/** A result file is missing or differs from its record. */
export class LostFile extends AnyvmafError {}

const JOB = /^[0-9a-f]{32}$/;

/** Keeps short results inline and longer ones in the folder, if there is one. */
export class ResultsFolder {
  readonly #root: string | undefined;
  readonly #store: RemoteStore | undefined;

  private constructor(root?: string, store?: RemoteStore) {
    this.#root = root;
    this.#store = store;
  }

  /**
   * @param path an existing folder, a URL, or neither
   * @param hosts allowed for a URL
   * @throws {AnyvmafError} `usage` for a path that is not a folder, or a URL on another host
   */
  static async open(path: string | undefined, hosts: readonly string[] = []): Promise<ResultsFolder> {
    if (path === undefined) return new ResultsFolder();
    if (isUrl(path)) {
      const { RemoteStore } = await import('../remote/remote-file.js');
      return new ResultsFolder(path, new RemoteStore(path, hosts));
    }
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || !(await stat(real)).isDirectory())
      throw usageError(
        `--results ${shown(path)} is not a folder; create it first, where all machines can access it`,
      );
    return new ResultsFolder(real);
  }

  get path(): string | undefined {
    return this.#root;
  }

  /**
   * @param name of the result, such as `part-2-7`
   * @throws {AnyvmafError} `resource` for a long result without a folder; `io`
   */
  async keep(key: string, name: string, text: string): Promise<Stored> {
    const bytes = Buffer.byteLength(text);
    if (bytes <= INLINE_BYTES) return { text };
    if (this.#root === undefined)
      throw new AnyvmafError(
        'resource',
        `a result of ${bytes} bytes exceeds the ${INLINE_BYTES} that are kept in Redis; start all workers and the ` +
          'batch with --results DIR, a folder that all of them share.',
      );
    const sha256 = textDigest(text);
    const file = `${name}-${sha256.slice(0, 16)}.json`;
    if (this.#store) {
      await this.#store.put(`${key}/${file}`, Buffer.from(text));
      return { file, bytes, sha256 };
    }
    try {
      await mkdir(join(this.#root, key), { recursive: true });
      await writeWhole(join(this.#root, key, file), text);
    } catch (cause) {
      throw ioError(`cannot write a result into "${shown(this.#root)}": ${writeReason(cause)}`, { cause });
    }
    return { file, bytes, sha256 };
  }

  /**
   * @throws {LostFile} if it is missing or differs from what was kept
   * @throws {AnyvmafError} `io` if its server does not deliver it
   */
  async read(key: string, stored: Stored): Promise<string> {
    if ('text' in stored) return stored.text;
    const { file, bytes, sha256 } = stored;
    if (this.#root === undefined)
      throw new LostFile(
        'io',
        `the result ${file} is in a folder of results; pass that folder with --results DIR.`,
      );
    const lost = (why: string, cause?: unknown) =>
      new LostFile('io', `the result ${file} in "${shown(this.#root ?? '')}" ${why}`, { cause });
    const found = this.#store
      ? await this.#store.get(`${key}/${file}`, bytes)
      : readWhole(join(this.#root, key, file), this.#root, bytes, lost);
    if (!found) throw lost('is missing, or has another size than it had');
    const text = found.toString();
    if (textDigest(text) !== sha256) throw lost('is damaged: its content is not what was written');
    return text;
  }

  /** Removes a file, and its job's folder if that is empty then. Never throws. */
  async discard(key: string, stored: Stored): Promise<void> {
    if (this.#root === undefined || !('file' in stored)) return;
    if (this.#store) return this.#store.remove(`${key}/${stored.file}`);
    await rm(join(this.#root, key, stored.file), { force: true }).catch(() => {});
    await rmdir(join(this.#root, key)).catch(() => {});
  }

  /**
   * Removes the parts of a job; with `all` also its results. Never throws.
   * @param known its known files, since a URL cannot be listed
   */
  async clear(key: string, all: boolean, known: readonly Stored[] = []): Promise<void> {
    if (this.#root === undefined || !JOB.test(key)) return;
    if (this.#store) {
      await Promise.all(known.map((stored) => this.discard(key, stored)));
      return;
    }
    const folder = join(this.#root, key);
    if (all) {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
      return;
    }
    for (const name of await readdir(folder).catch(() => []))
      if (/^(part-|\.anyvmaf-)/.test(name)) await rm(join(folder, name), { force: true }).catch(() => {});
    await rmdir(folder).catch(() => {});
  }

  /** Jobs with a folder; none for a URL, which cannot be listed. */
  async jobs(): Promise<readonly string[]> {
    if (this.#root === undefined || this.#store) return [];
    return (await readdir(this.#root).catch(() => [])).filter((name) => JOB.test(name));
  }
}

function readWhole(
  path: string,
  root: string,
  bytes: number,
  lost: (why: string, cause: unknown) => LostFile,
): Buffer | undefined {
  let fd: number;
  try {
    fd = openChecked(path, { by: 'foreign', folders: [root] });
  } catch (cause) {
    throw lost('cannot be read; check that all machines share the folder', cause);
  }
  try {
    return fstatSync(fd).size === bytes ? readFileSync(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}
