/**
 * @module mcp/live/transports/streams
 * Event streams (Server-Sent Events) with numbered events, of which the latest are kept for clients that come back.
 */
import type { ServerResponse } from 'node:http';
import { BACKLOG } from './connection.js';

/** Events that are kept. */
const KEPT = 512;
/** Bytes of events that are kept. */
const KEPT_BYTES = 4 << 20;
/** Streams at the same time. */
const MOST_STREAMS = 256;
/** Milliseconds between comments that keep connections open, and find those that are gone. */
const BEAT = 15_000;

interface Event {
  readonly id: number;
  readonly text: string;
}

/** The streams of a server. */
export class EventStreams {
  /** Each with the bytes of old events that it may have to read first. */
  readonly #streams = new Map<ServerResponse, number>();
  /** Streams that get no answers to others. */
  readonly #spared = new WeakSet<ServerResponse>();
  readonly #events: Event[] = [];
  #bytes = 0;
  #next = 1;
  readonly #beat = setInterval(() => this.#write(':\n\n'), BEAT).unref();

  /**
   * Begins a stream.
   * @param hello its first event, which has no number
   * @param lastId what the client says it got last; events after it follow
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

  /** Keeps answers to others from a stream, whose client would take them for its own. */
  spare(response: ServerResponse): void {
    this.#spared.add(response);
  }

  /** Sends a message to one stream only, without a number: it is not told again. */
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
