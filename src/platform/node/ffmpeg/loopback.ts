/**
 * @module platform/node/ffmpeg/loopback
 * Serves files behind URLs to ffmpeg, on this machine under unguessable names. ffmpeg connects to nothing else, so all checks
 * of URLs apply to it too.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ByteReader, RemoteContent } from '../../../media/types.js';

/** Bytes sent at once. */
const PIECE = 64 * 1024;
/** Bytes of a response: few, since ffmpeg may need no more; they grow while it reads on, up to a share of the file. */
const FIRST_ANSWER = 4 * PIECE;
const MOST_ANSWER = 4 << 20;
const ANSWER_SHARE = 1 / 256;

/** End and length of a file's last response. */
const answered = new WeakMap<RemoteContent, { readonly end: number; readonly length: number }>();

/** By name; weak, to release unused files. */
const shared = new Map<string, WeakRef<RemoteContent>>();
const names = new WeakMap<RemoteContent, string>();

let port: Promise<number> | undefined;

export async function loopbackUrl(content: RemoteContent): Promise<string> {
  port ??= startServer();
  let name = names.get(content);
  if (name === undefined) {
    name = randomBytes(24).toString('hex');
    names.set(content, name);
    for (const [old, reference] of shared) if (!reference.deref()) shared.delete(old);
    shared.set(name, new WeakRef(content));
  }
  return `http://127.0.0.1:${await port}/${name}`;
}

/** Starts a server that does not keep the process alive. */
async function startServer(): Promise<number> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return address.port;
}

async function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const content = shared.get(url.slice(1))?.deref();
  if (!content) {
    response.writeHead(404).end();
    return;
  }
  const reader = content.reader();
  const { size } = reader;
  const [, first = '0', last = ''] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(headers.range ?? '') ?? [];
  const start = Number(first);
  const before = answered.get(content);
  const grown = before?.end === start ? 2 * before.length : 0;
  const length = Math.max(FIRST_ANSWER, Math.min(grown, MOST_ANSWER, size * ANSWER_SHARE));
  const end = Math.min(size, start + Math.floor(length), last === '' ? size : Number(last) + 1);
  answered.set(content, { end, length });
  if (start >= size) {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
    return;
  }
  response.writeHead(206, {
    'accept-ranges': 'bytes',
    'content-range': `bytes ${start}-${end - 1}/${size}`,
    'content-length': end - start,
  });
  await send(reader, start, end, response);
}

/** Sends a part, at the client's pace. */
async function send(reader: ByteReader, start: number, end: number, response: ServerResponse): Promise<void> {
  const closed = once(response, 'close');
  for (let at = start; at < end && !response.destroyed; ) {
    const piece = new Uint8Array(Math.min(PIECE, end - at));
    const got = await reader.read(at, [piece]);
    if (got === 0) throw new Error('the file ends');
    at += got;
    if (!response.write(piece.subarray(0, got))) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
}
