/**
 * @module remote/store
 * Whole small files on allowed hosts: what is put, fetched and removed one by one below a URL, as object storage has it.
 */
import { AnyvmafError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { AllowedHosts } from './allowed-hosts.js';
import { openPlace } from './put.js';
import { RemoteFile } from './remote-file.js';
import { exchange, PATIENCE, type Patience, Permanent } from './request.js';

/**
 * Fetches a whole file.
 * @param most bytes that it may have
 * @throws {AnyvmafError} `usage` for a URL that is not allowed; `io`, also for a larger file; the signal's reason
 */
export async function fetchWhole(
  url: string,
  hosts: readonly string[],
  most: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const file = await RemoteFile.open(url, new AllowedHosts(hosts), { signal });
  if (file.size > most)
    throw new AnyvmafError(
      'io',
      `${shown(url)} has ${file.size} bytes, more than the ${most} that are read.`,
    );
  const bytes = await contentOf(file);
  signal.throwIfAborted();
  return bytes;
}

async function contentOf(file: RemoteFile): Promise<Buffer> {
  const bytes = Buffer.alloc(file.size);
  await file.reader().read(0, [bytes]);
  return bytes;
}

/** A place for files, each known by its name. */
export class RemoteStore {
  readonly #root: URL;
  readonly #hosts: readonly string[];
  readonly #patience: Patience;

  /**
   * Connects to nothing.
   * @param root of which the path goes before names, and a query stays
   * @throws {AnyvmafError} `usage` for a URL that is not allowed
   */
  constructor(root: string, hosts: readonly string[], patience: Patience = PATIENCE) {
    openPlace(root, hosts);
    this.#root = new URL(root);
    this.#hosts = hosts;
    this.#patience = patience;
  }

  /** @throws {AnyvmafError} `io` */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    await openPlace(this.#at(name).href, this.#hosts, this.#patience).put(bytes);
  }

  /**
   * @param size bytes that it must have
   * @returns `undefined` if it is not there, or has another size
   * @throws {AnyvmafError} `io` for what may be there, but does not come
   */
  async get(name: string, size: number): Promise<Buffer | undefined> {
    try {
      const hosts = new AllowedHosts(this.#hosts);
      const file = await RemoteFile.open(this.#at(name).href, hosts, { patience: this.#patience });
      return file.size === size ? await contentOf(file) : undefined;
    } catch (error) {
      if (error instanceof AnyvmafError && error.cause instanceof Permanent) return undefined;
      throw error;
    }
  }

  /** Asks once, and never throws: what stays does no harm. */
  async remove(name: string): Promise<void> {
    try {
      const sent = { method: 'DELETE', headers: {} } as const;
      const answer = await exchange(this.#at(name), sent, new AllowedHosts(this.#hosts), this.#patience);
      answer.body.destroy();
    } catch {
      // The place may keep everything.
    }
  }

  #at(name: string): URL {
    const url = new URL(this.#root);
    url.pathname += `${url.pathname.endsWith('/') ? '' : '/'}${name}`;
    return url;
  }
}
