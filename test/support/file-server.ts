/**
 * @module test/support/file-server
 * HTTP servers of files: one that counts what it sends and misbehaves on request, one for tests in a browser.
 */
import { readFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize, sep } from 'node:path';
import { afterAll, beforeEach } from 'vitest';

export interface Served {
  bytes: Uint8Array;
  etag?: string;
  modified?: string;
}

/** Answers in place of the server; false where it does not. */
export type Behaviour = (
  request: IncomingMessage,
  response: ServerResponse,
  file: Served | undefined,
) => boolean;

export class FileServer implements AsyncDisposable {
  readonly files = new Map<string, Served>();
  /** Bytes of bodies by path. */
  readonly sent = new Map<string, number>();
  /** Request lines, in order. */
  readonly requests: string[] = [];
  readonly put = new Map<string, Buffer>();
  behave: Behaviour = () => false;
  /** Whether PUT and DELETE work as in object storage. */
  keeps = false;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(host = '127.0.0.1'): Promise<FileServer> {
    const server = new FileServer();
    await new Promise<void>((resolve) => server.#server.listen(0, host, resolve));
    return server;
  }

  /** Serves the tests of a file; forgets behaviour and counts before each test. */
  static async forTests(): Promise<FileServer> {
    const server = await FileServer.start();
    beforeEach(() => {
      server.behave = () => false;
      server.sent.clear();
      server.requests.length = 0;
    });
    afterAll(() => server[Symbol.asyncDispose]());
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path: string): string {
    return `http://${this.host}${path}`;
  }

  /** `HOST:PORT`, as an allow-list takes it. */
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  add(path: string, bytes: Uint8Array, facts: Omit<Served, 'bytes'> = { etag: '"1"' }): string {
    this.files.set(path, { bytes, ...facts });
    return this.url(path);
  }

  send(
    request: IncomingMessage,
    response: ServerResponse,
    { bytes, etag, modified }: Served,
    most = Infinity,
  ): void {
    const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const [start, end] = [Number(from), Math.min(bytes.length, to === '' ? Infinity : Number(to) + 1)];
    if (start >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
      return;
    }
    const part = bytes.subarray(start, end);
    response.writeHead(206, {
      'content-range': `bytes ${start}-${end - 1}/${bytes.length}`,
      'content-length': part.length,
      ...(etag !== undefined && { etag }),
      ...(modified !== undefined && { 'last-modified': modified }),
    });
    const sent = part.subarray(0, most);
    this.#count(request, sent.length);
    if (sent.length === part.length) response.end(sent);
    else response.write(sent, () => response.destroy());
  }

  #count(request: IncomingMessage, bytes: number): void {
    const path = pathOf(request);
    this.sent.set(path, (this.sent.get(path) ?? 0) + bytes);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(`${request.method} ${request.url}`);
    const file = this.files.get(pathOf(request));
    if (this.behave(request, response, file)) return;
    if (request.method === 'PUT') {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const bytes = Buffer.concat(pieces);
        this.put.set(pathOf(request), bytes);
        if (this.keeps) this.add(pathOf(request), bytes);
        response.writeHead(201).end();
      });
    } else if (request.method === 'DELETE') {
      response.writeHead(this.keeps && this.files.delete(pathOf(request)) ? 204 : 404).end();
    } else if (!file) response.writeHead(404).end();
    else this.send(request, response, file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?')[0] ?? '';
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

export interface StaticServer {
  /** `http://127.0.0.1:PORT` without a final slash. */
  readonly origin: string;
  stop(): Promise<void>;
}

export interface ServeOptions {
  /** The path of the folder, with a final slash. Default `/`. */
  readonly under?: string;
  /** Further headers of the answer to a path within the folder. */
  readonly headers?: (path: string, request: IncomingMessage) => OutgoingHttpHeaders;
  /** Called with requested paths within the folder. */
  readonly onRequest?: (path: string) => void;
}

/**
 * Serves files below `folder`, the rest of one for `bytes=N-`.
 * @param extra contents by path, such as `/reference.y4m`, that come first
 */
export async function serve(
  folder: string,
  extra: Readonly<Record<string, string | Uint8Array>> = {},
  { under = '/', headers = () => ({}), onRequest = () => {} }: ServeOptions = {},
): Promise<StaticServer> {
  const server = createServer(async (request, response) => {
    const asked = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const path = asked.startsWith(under) ? asked.slice(under.length) : asked;
    onRequest(path);
    const file = normalize(join(folder, path === '' ? 'index.html' : path));
    try {
      const isInside = asked.startsWith(under) && file.startsWith(folder + sep);
      const body = extra[asked] ?? (isInside ? await readFile(file) : undefined);
      if (body === undefined) throw new Error('outside');
      const from = /^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1];
      response.writeHead(from === undefined ? 200 : 206, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        ...(from !== undefined && { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` }),
        ...headers(path, request),
      });
      response.end(from === undefined ? body : body.slice(Number(from)));
    } catch {
      response.writeHead(404).end();
    }
  });
  // A client may send a request just as an idle connection is closed, and sees a reset.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let open = true;
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      if (!open) return;
      open = false;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
