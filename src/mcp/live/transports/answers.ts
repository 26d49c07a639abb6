/**
 * @module mcp/live/transports/answers
 * Bodies of requests, and answers in JSON.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CODE } from '../failures.js';
import { MESSAGE_LIMIT } from '../framing.js';
import { failed } from '../session/session.js';

/** The body of a request; `undefined` where it was refused or never came. */
export function bodyOf(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let bytes = Number(request.headers['content-length'] ?? 0) > MESSAGE_LIMIT ? MESSAGE_LIMIT + 1 : 0;
    const refuse = () => {
      request.off('data', take);
      response.setHeader('connection', 'close');
      problem(response, 400, `The body has more than ${MESSAGE_LIMIT} bytes.`);
      resolve(undefined);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MESSAGE_LIMIT) refuse();
      else parts.push(chunk);
    };
    if (bytes > MESSAGE_LIMIT) {
      refuse();
      return;
    }
    // A listener each costs less than an iterator, and clients may ask often.
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    request.once('close', () => resolve(undefined));
  });
}

/** Aborts when the client of a request is gone before it has its answer. */
export function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

/** Answers with JSON. */
export function json(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
    })
    .end(text);
}

/** Answers with an error of JSON-RPC. */
export function problem(
  response: ServerResponse,
  status: number,
  message: string,
  code = CODE.request,
): void {
  json(response, status, JSON.stringify(failed(null, code, message)));
}
