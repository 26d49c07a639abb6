/**
 * @module test/support/server
 * A static file server on the loopback interface, for tests in a browser. The test that starts it stops it.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize, sep } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** A running server. */
export interface StaticServer {
  /** `http://127.0.0.1:PORT` without a final slash. */
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * Serves files below `folder`, and `extra` by path before them.
 * @param extra contents by path, such as `/reference.y4m`
 */
export async function serve(
  folder: string,
  extra: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<StaticServer> {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const file = normalize(join(folder, path));
    try {
      const body = extra[path] ?? (file.startsWith(folder + sep) ? await readFile(file) : undefined);
      if (body === undefined) throw new Error('outside');
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
