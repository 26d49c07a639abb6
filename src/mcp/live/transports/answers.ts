/**
 * @module mcp/live/transports/answers
 * HTTP: bodies of requests, answers in JSON, and event streams (Server-Sent Events) with numbered events, of which the latest are
 * kept for clients that come back.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MESSAGE_LIMIT } from '../framing.js';
import { CODE, failed } from '../session.js';
import { BACKLOG } from './connection.js';

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

/** Events that are kept. */
const KEPT = 512;
/** Bytes of events that are kept. */
const KEPT_BYTES = 4 << 20;
/** Streams at the same time. */
const MOST_STREAMS = 256;
/** Milliseconds between comments that keep connections open and reveal lost ones. */
const BEAT = 15_000;

interface Event {
  readonly id: number;
  readonly text: string;
}

/** The streams of a server. */
export class EventStreams {
  /** Each with the bytes of old events that it may have to read first. */
  readonly #streams = new Map<ServerResponse, number>();
  /** Streams that do not get answers to others. */
  readonly #spared = new WeakSet<ServerResponse>();
  readonly #events: Event[] = [];
  #bytes = 0;
  #next = 1;
  readonly #beat = setInterval(() => this.#write(':\n\n'), BEAT).unref();

  /**
   * Begins a stream.
   * @param hello its first event, which has no number
   * @param lastId the last event that the client has; later ones follow
   * @returns false where there are too many, and it was refused
   */
  open(response: ServerResponse, hello: string, lastId: string | undefined): boolean {
    if (this.#streams.size >= MOST_STREAMS) {
      response.writeHead(503, { 'content-type': 'text/plain' }).end('too many streams\n');
      return false;
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      connection: 'keep-alive',
    });
    response.write(hello);
    const after = /^\d{1,15}$/.test(lastId ?? '') ? Number(lastId) : undefined;
    if (after !== undefined)
      for (const event of this.#events) if (event.id > after) response.write(event.text);
    this.#streams.set(response, response.writableLength);
    response.on('drain', () => this.#streams.has(response) && this.#streams.set(response, 0));
    response.on('close', () => this.#streams.delete(response)).on('error', () => response.destroy());
    return true;
  }

  /** Keeps answers to others off a stream whose client would take them for its own. */
  spare(response: ServerResponse): void {
    this.#spared.add(response);
  }

  /** Sends a message to one stream only, without a number: it is not repeated. */
  sendTo(response: ServerResponse, data: string): void {
    if (!this.#streams.has(response)) return;
    this.#writeTo(response, `event: message\ndata: ${data}\n\n`);
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Sends an event to all streams. */
  send(name: string, data: string): void {
    const id = this.#next++;
    // Data of one line: JSON has no line ends of its own.
    const text = `event: ${name}\nid: ${id}\ndata: ${data}\n\n`;
    this.#events.push({ id, text });
    this.#bytes += text.length;
    while (this.#events.length > KEPT || this.#bytes > KEPT_BYTES)
      this.#bytes -= this.#events.shift()?.text.length ?? 0;
    this.#write(text, name === 'message');
  }

  close(): void {
    clearInterval(this.#beat);
    for (const stream of this.#streams.keys()) stream.end();
  }

  #write(text: string, isMessage = false): void {
    for (const stream of this.#streams.keys())
      if (!isMessage || !this.#spared.has(stream)) this.#writeTo(stream, text);
  }

  #writeTo(stream: ServerResponse, text: string): void {
    stream.write(text);
    // A client that does not read is dropped.
    if (stream.writableLength > BACKLOG + (this.#streams.get(stream) ?? 0)) stream.destroy();
  }
}
