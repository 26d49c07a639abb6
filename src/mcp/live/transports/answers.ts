/**
 * @module mcp/live/transports/answers
 * HTTP bodies, JSON responses, and event streams (SSE) that replay their latest events to clients that reconnect.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MESSAGE_LIMIT } from '../framing.js';
import { CODE, failed } from '../session.js';
import { BACKLOG } from './connection.js';

/** The body of a request; `undefined` if it was refused or the client left. */
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
    // Listeners cost less than an iterator, and clients may poll often.
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    request.once('close', () => resolve(undefined));
  });
}

/** Aborts when the client disconnects before its answer. */
export function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

export function json(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
    })
    .end(text);
}

export function problem(
  response: ServerResponse,
  status: number,
  message: string,
  code = CODE.request,
): void {
  json(response, status, JSON.stringify(failed(null, code, message)));
}

const KEPT = 512;
/** Most characters of events to keep. */
const KEPT_BYTES = 4 << 20;
const MOST_STREAMS = 256;
/** Milliseconds between comments that keep connections open and reveal lost ones. */
const BEAT = 15_000;

interface Event {
  readonly id: number;
  readonly text: string;
}

export class EventStreams {
  /** Streams, each with the bytes of replayed events that its client has yet to read. */
  readonly #streams = new Map<ServerResponse, number>();
  /** Streams that get no answers to other clients. */
  readonly #spared = new WeakSet<ServerResponse>();
  readonly #events: Event[] = [];
  #bytes = 0;
  #next = 1;
  readonly #beat = setInterval(() => this.#write(':\n\n'), BEAT).unref();

  /**
   * Opens a stream.
   * @param hello its first event, without a number
   * @param lastId the client's last event; later ones are replayed
   * @returns false if there are too many streams; the request is then refused
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

  /** Keeps answers to other clients off a stream whose client would take them for its own. */
  spare(response: ServerResponse): void {
    this.#spared.add(response);
  }

  /** Sends an unnumbered message to one stream only; it is not replayed. */
  sendTo(response: ServerResponse, data: string): void {
    if (!this.#streams.has(response)) return;
    this.#writeTo(response, `event: message\ndata: ${data}\n\n`);
  }

  get size(): number {
    return this.#streams.size;
  }

  send(name: string, data: string): void {
    const id = this.#next++;
    // One data line is enough: JSON has no line ends of its own.
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
    // Drop clients that do not read.
    if (stream.writableLength > BACKLOG + (this.#streams.get(stream) ?? 0)) stream.destroy();
  }
}
