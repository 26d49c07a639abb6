/**
 * @module mcp/live/transports/answers
 * Bodies of requests, and answers in JSON.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CODE } from '../failures.js';
import { MESSAGE_LIMIT } from '../framing.js';
import { failed } from '../session.js';

/** The body of a request; `undefined` where it was refused. */
export async function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<string | undefined> {
  const announced = Number(request.headers['content-length'] ?? 0);
  const parts: Buffer[] = [];
  let bytes = 0;
  if (announced <= MESSAGE_LIMIT) {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MESSAGE_LIMIT) break;
      parts.push(chunk);
    }
  }
  if (announced <= MESSAGE_LIMIT && bytes <= MESSAGE_LIMIT) return Buffer.concat(parts).toString('utf8');
  response.setHeader('connection', 'close');
  problem(response, 400, `The body has more than ${MESSAGE_LIMIT} bytes.`);
  return undefined;
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
