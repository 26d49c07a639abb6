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
  readonly #events: Event[] = [];
  #bytes = 0;
  #next = 1;
  readonly #beat = setInterval(() => this.#write(':\n\n'), BEAT).unref();

  /**
   * Begins a stream.
   * @param hello its first event, which has no number
   * @param lastId what the client says it got last; events after it follow
   */
  open(response: ServerResponse, hello: string, lastId: string | undefined): void {
    if (this.#streams.size >= MOST_STREAMS) {
      response.writeHead(503, { 'content-type': 'text/plain' }).end('too many streams\n');
      return;
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
    this.#write(text);
  }

  close(): void {
    clearInterval(this.#beat);
    for (const stream of this.#streams.keys()) stream.end();
  }

  #write(text: string): void {
    for (const [stream, old] of this.#streams) {
      stream.write(text);
      // A client that does not read is dropped.
      if (stream.writableLength > BACKLOG + old) stream.destroy();
    }
  }
}
