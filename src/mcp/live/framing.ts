/**
 * @module mcp/live/framing
 * Messages in a stream of bytes: one a line, or each behind a `Content-Length` header; the first bytes decide.
 */
import { LineSplitter } from '../lines.js';

export const MESSAGE_LIMIT = 64 << 10;
const HEADER_LIMIT = 1024;

const HEADER = 'content-length';

export interface MessageSink {
  message(text: string): void;
  /** Called for malformed and oversized messages. */
  broken(problem: string): void;
}

export class Framing {
  readonly #sink: MessageSink;
  readonly #headers: boolean;
  readonly #lines: LineSplitter;
  #start: Buffer = Buffer.alloc(0);
  #kind: 'unknown' | 'lines' | 'headers' = 'unknown';
  #buffer: Buffer = Buffer.alloc(0);
  /** Bytes left of an oversized body that is being skipped. */
  #skip = 0;

  /** @param headers true to accept `Content-Length` framing, false for lines only */
  constructor(sink: MessageSink, headers: boolean) {
    this.#sink = sink;
    this.#headers = headers;
    if (!headers) this.#kind = 'lines';
    this.#lines = new LineSplitter(MESSAGE_LIMIT, {
      line: (text) => {
        if (text.trim() !== '') sink.message(text);
      },
      tooLong: () => sink.broken(`A message has more than ${MESSAGE_LIMIT} bytes.`),
    });
  }

  push(chunk: Buffer): void {
    if (this.#kind === 'unknown') {
      this.#start = Buffer.concat([this.#start, chunk]);
      this.#kind = this.#guess();
      if (this.#kind === 'unknown') return;
      chunk = this.#start;
      this.#start = Buffer.alloc(0);
    }
    if (this.#kind === 'lines') this.#lines.push(chunk);
    else this.#pushHeaders(chunk);
  }

  /** Formats a message in the detected framing. */
  wrap(json: string): string {
    if (this.#kind !== 'headers') return `${json}\n`;
    return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
  }

  #guess(): 'unknown' | 'lines' | 'headers' {
    const start = this.#start.toString('latin1').trimStart().slice(0, HEADER.length).toLowerCase();
    if (start === HEADER) return 'headers';
    // Leading blanks decide nothing.
    const early = this.#start.length <= HEADER_LIMIT;
    return this.#headers && early && HEADER.startsWith(start) ? 'unknown' : 'lines';
  }

  #pushHeaders(chunk: Buffer): void {
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, chunk.length);
      this.#skip -= skipped;
      chunk = chunk.subarray(skipped);
    }
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    while (this.#takeMessage());
  }

  /** Takes one complete message from the buffer. @returns true if another may follow */
  #takeMessage(): boolean {
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end < 0 || end > HEADER_LIMIT) {
      if (this.#buffer.length <= HEADER_LIMIT) return false;
      this.#sink.broken(`A header has more than ${HEADER_LIMIT} bytes.`);
      this.#buffer = Buffer.alloc(0);
      return false;
    }
    const header = this.#buffer.toString('latin1', 0, end);
    const length = Number(/^content-length:\s*(\d{1,10})\s*$/im.exec(header)?.[1] ?? Number.NaN);
    const body = end + 4;
    if (!Number.isInteger(length) || length > MESSAGE_LIMIT) {
      const problem = Number.isInteger(length)
        ? `A message has more than ${MESSAGE_LIMIT} bytes.`
        : 'A header has no Content-Length.';
      this.#sink.broken(problem);
      const passed = Math.min(this.#buffer.length - body, Number.isInteger(length) ? length : 0);
      this.#skip = Number.isInteger(length) ? length - passed : 0;
      this.#buffer = this.#buffer.subarray(body + passed);
      return this.#buffer.length > 0;
    }
    if (this.#buffer.length < body + length) return false;
    const text = this.#buffer.toString('utf8', body, body + length);
    this.#buffer = this.#buffer.subarray(body + length);
    this.#sink.message(text);
    return this.#buffer.length > 0;
  }
}
