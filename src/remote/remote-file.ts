/**
 * @module remote/remote-file
 * Files behind URLs: random access by range requests, with a cache that reads ahead and checks for changes; and small
 * files to fetch, put and remove whole.
 */
import { setMaxListeners } from 'node:events';
import { AnyvmafError, codeOf, ioError, messageOf, usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import type { Answer, Patience } from './request.js';
import { AllowedHosts, exchange, PATIENCE, Permanent, persist, refusedStatus, Transient } from './request.js';

/** Bytes of a block, the smallest unit to fetch. */
const BLOCK = 16 * 1024;
/** Size of the cache in bytes. */
const KEPT = 64 << 20;
/** Most bytes of one request and of the read-ahead. */
const MOST_AT_ONCE = 8 << 20;
/** Largest share of the file to read ahead, since reading may end anywhere. */
const AHEAD_SHARE = 1 / 256;

export interface RemoteOptions {
  readonly patience?: Patience;
  /** Aborts opening; later it only stops reading ahead. */
  readonly signal?: AbortSignal;
}

export interface RemoteReader {
  readonly size: number;
  /** Fills `parts` from a position; returns fewer bytes only at the end of the file. */
  read(position: number, parts: readonly Uint8Array[]): Promise<number>;
  close(): void;
}

interface Identity {
  readonly size: number;
  readonly etag: string | undefined;
  readonly modified: string | undefined;
}

export class RemoteFile {
  /** The URL without its credentials and signature, for messages. */
  readonly name: string;
  readonly #url: URL;
  readonly #hosts: AllowedHosts;
  readonly #patience: Patience;
  readonly #stopAhead = new AbortController();
  /** By number, least recently used first. */
  readonly #blocks = new Map<number, Promise<Uint8Array>>();
  #identity: Identity | undefined;
  /** Bytes received over the network, without headers. */
  transferred = 0;
  #failure: AnyvmafError | undefined;

  private constructor(url: URL, hosts: AllowedHosts, { patience = PATIENCE, signal }: RemoteOptions) {
    this.name = shown(url.href, url.href.length);
    this.#url = url;
    this.#hosts = hosts;
    this.#patience = patience;
    // Each request adds a listener.
    setMaxListeners(0, this.#stopAhead.signal);
    signal?.addEventListener('abort', () => this.#stopAhead.abort(), { once: true });
  }

  /** @throws {AnyvmafError} `usage` if it is not allowed; `io` if it cannot be read in parts; the signal's reason */
  static async open(text: string, hosts: AllowedHosts, options: RemoteOptions = {}): Promise<RemoteFile> {
    const file = new RemoteFile(urlOf(text), hosts, options);
    await file.#fetch(0, 1, options.signal);
    return file;
  }

  get size(): number {
    return this.#identity?.size ?? 0;
  }

  /** Changes with the content, as far as the server reveals it. */
  get version(): string {
    const { size, etag = '', modified = '' } = this.#identity ?? {};
    return `${size} ${etag} ${modified}`;
  }

  /** The first error while reading; later reads throw it again. */
  get failure(): AnyvmafError | undefined {
    return this.#failure;
  }

  /** A reader for one consumer; read-ahead follows its positions. */
  reader(): RemoteReader {
    let [next, ahead] = [0, 0];
    return {
      size: this.size,
      read: async (position, parts) => {
        const wanted = parts.reduce((sum, part) => sum + part.length, 0);
        const end = Math.min(this.size, position + wanted);
        if (end <= position) return 0;
        ahead =
          position === next
            ? Math.min(2 * ahead + (end - position), MOST_AT_ONCE, this.size * AHEAD_SHARE)
            : 0;
        next = end;
        const blocks = this.#blocksOf(position, end);
        const { signal } = this.#stopAhead;
        if (ahead >= BLOCK && !signal.aborted)
          this.#ensure(Math.ceil(end / BLOCK), lastBlock(Math.min(this.size, end + ahead)), signal);
        let at = position;
        let [part = 0, filled] = [0, 0];
        for (const [number, block] of blocks) {
          const bytes = await this.#settled(block);
          const from = bytes.subarray(at - number * BLOCK, end - number * BLOCK);
          for (let taken = 0; taken < from.length; ) {
            const into = parts[part] ?? new Uint8Array();
            const some = from.subarray(taken, taken + into.length - filled);
            into.set(some, filled);
            taken += some.length;
            filled += some.length;
            if (filled === into.length) [part, filled] = [part + 1, 0];
          }
          at += from.length;
        }
        return at - position;
      },
      close() {},
    };
  }

  /** @throws {AnyvmafError} the first failure */
  async #settled(block: Promise<Uint8Array>): Promise<Uint8Array> {
    try {
      if (this.#failure) throw this.#failure;
      return await block;
    } catch (error) {
      if (error instanceof AnyvmafError) this.#failure ??= error;
      throw this.#failure ?? error;
    }
  }

  #blocksOf(position: number, end: number): readonly (readonly [number, Promise<Uint8Array>])[] {
    const first = Math.floor(position / BLOCK);
    const last = lastBlock(end);
    this.#ensure(first, last, undefined);
    const found: [number, Promise<Uint8Array>][] = [];
    for (let number = first; number <= last; number++) {
      const block = this.#blocks.get(number);
      if (!block) throw new Error('a block is missing');
      this.#blocks.delete(number);
      this.#blocks.set(number, block);
      found.push([number, block]);
    }
    this.#forget(found.length);
    return found;
  }

  /** Fetches missing blocks; adjacent blocks share a request. */
  #ensure(first: number, last: number, signal: AbortSignal | undefined): void {
    const most = MOST_AT_ONCE / BLOCK;
    for (let number = first; number <= last; number++) {
      if (this.#blocks.has(number)) continue;
      let end = number + 1;
      while (end <= last && end - number < most && !this.#blocks.has(end)) end++;
      this.#fetch(number, end, signal).catch(() => {});
      number = end - 1;
    }
  }

  #forget(least: number): void {
    const most = Math.max(KEPT / BLOCK, least);
    for (const number of this.#blocks.keys()) {
      if (this.#blocks.size <= most) return;
      this.#blocks.delete(number);
    }
  }

  /** Fetches blocks from `first` to before `end`; each resolves when its bytes have arrived. */
  async #fetch(first: number, end: number, signal: AbortSignal | undefined): Promise<void> {
    const waiting = new Map<number, { take(bytes: Uint8Array): void; fail(error: unknown): void }>();
    for (let number = first; number < end; number++) {
      const block = new Promise<Uint8Array>((take, fail) => waiting.set(number, { take, fail }));
      block.catch(() => {
        if (this.#blocks.get(number) === block) this.#blocks.delete(number);
      });
      this.#blocks.set(number, block);
    }
    let done = first;
    let buffer = new Uint8Array(BLOCK);
    let filled = 0;
    const limit = () => (this.#identity ? Math.min(end * BLOCK, this.size) : end * BLOCK);
    const take = (chunk: Uint8Array) => {
      for (let at = 0; at < chunk.length; ) {
        const some = chunk.subarray(at, at + buffer.length - filled);
        buffer.set(some, filled);
        at += some.length;
        filled += some.length;
        if (filled < buffer.length && done * BLOCK + filled < limit()) continue;
        waiting.get(done)?.take(buffer.subarray(0, filled));
        waiting.delete(done++);
        buffer = new Uint8Array(BLOCK);
        filled = 0;
      }
    };
    try {
      // A server may send less than the requested range, and say so.
      while (done * BLOCK + filled < limit()) {
        await persist(`${this.name} could not be fetched`, this.#patience, async () => {
          if (signal?.aborted) throw signal.reason;
          await this.#request(done * BLOCK + filled, limit, take, signal);
        });
      }
    } catch (error) {
      for (const { fail } of waiting.values()) fail(error);
      throw error;
    }
  }

  async #request(from: number, limit: () => number, take: (chunk: Uint8Array) => void, signal?: AbortSignal) {
    const headers = { range: `bytes=${from}-${limit() - 1}`, 'accept-encoding': 'identity' };
    const answer = await exchange(this.#url, { method: 'GET', headers }, this.#hosts, this.#patience, signal);
    const { body } = answer;
    try {
      const end = this.#check(answer, from, limit());
      let at = from;
      for await (const chunk of paced(body, this.#patience)) {
        if (at + chunk.length > end) throw new Permanent('the server sends more than was requested');
        this.transferred += chunk.length;
        at += chunk.length;
        take(chunk);
      }
      if (at < end) throw cut(at - from, end - from);
    } finally {
      body.destroy();
    }
  }

  /** Checks that a response is the requested range of the opened file. @returns end of the range */
  #check(answer: Answer, from: number, limit: number): number {
    const { status, headers } = answer;
    if (status === 200) {
      throw new Permanent(
        'the server ignores range requests and sends the whole file, so it cannot be read in parts; download it and pass its path',
      );
    }
    const range = headers['content-range'] ?? '';
    if (status === 416 && from === 0 && /^bytes \*\/0$/.test(range)) throw new Permanent('the file is empty');
    // The file was longer when it was opened.
    if (status === 416 && this.#identity) throw this.#changed(`it no longer has byte ${from}`);
    if (status !== 206) throw refusedStatus(answer);
    const [, start = '', last = '', total = ''] =
      /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(range) ?? [];
    const size = Number(total);
    const found = { size, etag: headers.etag, modified: headers['last-modified'] };
    if (total === '' || size === 0) {
      throw new Permanent(
        `the server does not state which part of the file it sends (content-range: ${shown(range) || 'none'})`,
      );
    }
    const known = this.#identity;
    if (known) this.#requireSame(known, found);
    if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
      throw new Permanent(`the server sends it compressed (${shown(headers['content-encoding'])})`);
    const end = Math.min(limit, size);
    if (Number(start) !== from || Number(last) + 1 > end || Number(last) < from)
      throw new Permanent(`the server sends ${shown(range)} instead of bytes ${from}-${end - 1}`);
    // Only after every check.
    this.#identity ??= found;
    return Number(last) + 1;
  }

  #requireSame(known: Identity, found: Identity): void {
    if (found.size !== known.size) throw this.#changed(`it had ${known.size} bytes and has ${found.size}`);
    if (found.etag !== known.etag) {
      throw this.#changed(
        `its ETag was ${shown(known.etag ?? 'missing')} and is ${shown(found.etag ?? 'missing')}`,
      );
    }
    if (found.modified !== known.modified) {
      throw this.#changed(
        `its modification time was ${shown(known.modified ?? 'unknown')} and is ${shown(found.modified ?? 'unknown')}`,
      );
    }
  }

  #changed(how: string): AnyvmafError {
    return ioError(
      `${this.name} changed while it was read: ${how}; run it again once the file no longer changes.`,
    );
  }
}

const lastBlock = (end: number): number => Math.floor((end - 1) / BLOCK);

function cut(got: number, wanted: number): Transient {
  return new Transient(`the server closed the connection after ${got} of ${wanted} bytes`);
}

/** Yields the chunks of a body; fails if the server stalls. */
async function* paced(body: Answer['body'], { stall }: Patience): AsyncGenerator<Uint8Array, void> {
  let timer: NodeJS.Timeout | undefined;
  const late = () => body.destroy(new Transient(`the server stalled: no data for ${stall / 1000} s`));
  const wind = () => {
    clearTimeout(timer);
    timer = setTimeout(late, stall);
  };
  wind();
  try {
    for await (const chunk of body) {
      // The consumer's time does not count.
      clearTimeout(timer);
      yield chunk as Uint8Array;
      wind();
    }
  } catch (cause) {
    if (cause instanceof Transient || cause instanceof Permanent || cause instanceof AnyvmafError)
      throw cause;
    // The caller counts the bytes and reports a broken connection.
    const code = codeOf(cause);
    if (code !== 'ECONNRESET' && code !== 'ERR_STREAM_PREMATURE_CLOSE' && code !== 'ABORT_ERR')
      throw new Transient(messageOf(cause));
  } finally {
    clearTimeout(timer);
  }
}

/** @throws {AnyvmafError} `usage` */
function urlOf(text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw usageError(`${shown(text)} is not a URL.`);
}

export interface RemotePlace {
  /** Retries: PUT is idempotent. @throws {AnyvmafError} `io` */
  put(bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
}

/** Checks that a result may be put to a URL, without connecting. @throws {AnyvmafError} `usage` */
export function openPlace(text: string, hosts: readonly string[], patience = PATIENCE): RemotePlace {
  const allowed = new AllowedHosts(hosts);
  const url = urlOf(text);
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

/** @param most bytes @throws {AnyvmafError} `usage` if not allowed; `io`, also if larger; the signal's reason */
export async function fetchWhole(
  url: string,
  hosts: readonly string[],
  most: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const file = await RemoteFile.open(url, new AllowedHosts(hosts), { signal });
  if (file.size > most)
    throw ioError(`${shown(url)} has ${file.size} bytes, more than the limit of ${most}.`);
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

  /** @param root its path precedes names; its query is kept @throws {AnyvmafError} `usage` for a forbidden URL */
  constructor(root: string, hosts: readonly string[], patience: Patience = PATIENCE) {
    openPlace(root, hosts);
    this.#root = new URL(root);
    this.#hosts = hosts;
    this.#patience = patience;
  }

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
