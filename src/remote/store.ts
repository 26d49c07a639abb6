/**
 * @module remote/store
 * Puts, fetches and removes whole small files on allowed hosts.
 */
import { AnyvmafError, usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { AllowedHosts } from './allowed-hosts.js';
import { RemoteFile } from './remote-file.js';
import { exchange, PATIENCE, type Patience, Permanent, persist, refusedStatus } from './request.js';

export interface RemotePlace {
  /** Retries, since a repeated PUT does no harm. @throws {AnyvmafError} `io`, also for a response without success */
  put(bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
}

/** Checks that a result may be put to a URL, without connecting to it. @throws {AnyvmafError} `usage` */
export function openPlace(
  text: string,
  hosts: readonly string[],
  patience: Patience = PATIENCE,
): RemotePlace {
  const allowed = new AllowedHosts(hosts);
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usageError(`${shown(text)} is not a URL.`);
  }
  allowed.require(url);
  return {
    async put(body, signal) {
      await persist(`${shown(text)} did not accept the result`, patience, async () => {
        signal?.throwIfAborted();
        const headers = { 'content-type': 'application/octet-stream' };
        const answer = await exchange(url, { method: 'PUT', headers, body }, allowed, patience, signal);
        answer.body.destroy();
        const { status } = answer;
        if (status >= 300 && status < 400)
          throw new Permanent(`the server answered ${status}, which a PUT does not follow`);
        if (status < 200 || status >= 300) throw refusedStatus(answer);
      });
    },
  };
}

/**
 * @param most largest size in bytes
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
    throw new AnyvmafError('io', `${shown(url)} has ${file.size} bytes, more than the limit of ${most}.`);
  const bytes = await contentOf(file);
  signal.throwIfAborted();
  return bytes;
}

async function contentOf(file: RemoteFile): Promise<Buffer> {
  const bytes = Buffer.alloc(file.size);
  await file.reader().read(0, [bytes]);
  return bytes;
}

export class RemoteStore {
  readonly #root: URL;
  readonly #hosts: readonly string[];
  readonly #patience: Patience;

  /**
   * Does not connect.
   * @param root its path is put before names, its query is kept
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
   * @param size expected size in bytes
   * @returns `undefined` if the file is missing or has another size
   * @throws {AnyvmafError} `io` if the file may exist but cannot be fetched
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

  /** Tries once and never throws: a file that stays does no harm. */
  async remove(name: string): Promise<void> {
    try {
      const sent = { method: 'DELETE', headers: {} } as const;
      const answer = await exchange(this.#at(name), sent, new AllowedHosts(this.#hosts), this.#patience);
      answer.body.destroy();
    } catch {
      // The store may refuse to delete.
    }
  }

  #at(name: string): URL {
    const url = new URL(this.#root);
    url.pathname += `${url.pathname.endsWith('/') ? '' : '/'}${name}`;
    return url;
  }
}
