/**
 * @module mcp/framing
 * Splits a client's bytes into messages: lines of bounded length, or `Content-Length` frames, as the first bytes tell.
 */

interface LineSink {
  /** @param text without its end of line */
  line(text: string): void;
  /** Called at the end of a line over the limit, with its first and last bytes. */
  tooLong(head: string, tail: string): void;
}

const NEWLINE = 0x0a;
/** Bytes of head and tail. */
const EDGE = 512;

export class LineSplitter {
  readonly #limit: number;
  readonly #sink: LineSink;
  #parts: Buffer[] = [];
  #length = 0;
  /** Both ends of a line over the limit. */
  #edges: { readonly head: string; tail: Buffer } | undefined;

  constructor(limit: number, sink: LineSink) {
    this.#limit = limit;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end));
      if (!this.#edges) this.#sink.line(Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, ''));
      this.end();
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
  }

  /** Ends the current line and discards its bytes. */
  end(): void {
    if (this.#edges) this.#sink.tooLong(this.#edges.head, this.#edges.tail.toString('utf8').trimEnd());
    this.#edges = undefined;
    this.#parts = [];
    this.#length = 0;
  }

  #take(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#edges) this.#edges.tail = Buffer.concat([this.#edges.tail, part]).subarray(-EDGE);
    else this.#parts.push(part);
    if (this.#edges || this.#length <= this.#limit) return;
    const whole = Buffer.concat(this.#parts);
    // Copied, since views would retain the whole line.
    this.#edges = { head: whole.toString('utf8', 0, EDGE), tail: Buffer.from(whole.subarray(-EDGE)) };
    this.#parts = [];
  }
}

export const MESSAGE_LIMIT = 64 << 10;
const HEADER_LIMIT = 1024;
const HEADER = 'content-length';
const TOO_LONG = `A message has more than ${MESSAGE_LIMIT} bytes.`;

export interface MessageSink {
  message(text: string): void;
  /** Called for malformed and oversized messages. */
  broken(problem: string): void;
}

export class Framing {
  readonly #sink: MessageSink;
  readonly #lines: LineSplitter;
  #kind: 'unknown' | 'lines' | 'headers';
  /** Bytes of unknown framing, or after the last whole message with a header. */
  #buffer: Buffer = Buffer.alloc(0);
  /** Bytes left of an oversized body that is being skipped. */
  #skip = 0;

  /** @param headers true to accept `Content-Length` framing, false for lines only */
  constructor(sink: MessageSink, headers: boolean) {
    this.#sink = sink;
    this.#kind = headers ? 'unknown' : 'lines';
    this.#lines = new LineSplitter(MESSAGE_LIMIT, {
      line: (text) => {
        if (text.trim() !== '') sink.message(text);
      },
      tooLong: () => sink.broken(TOO_LONG),
    });
  }

  push(chunk: Buffer): void {
    if (this.#kind === 'lines') return void this.#lines.push(chunk);
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    if (this.#kind === 'unknown') this.#kind = kindOf(this.#buffer);
    if (this.#kind === 'headers') while (this.#takeMessage());
    else if (this.#kind !== 'unknown') {
      this.#lines.push(this.#buffer);
      this.#buffer = Buffer.alloc(0);
    }
  }

  /** Formats a message in the detected framing. */
  wrap(json: string): string {
    if (this.#kind !== 'headers') return `${json}\n`;
    return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
  }

  /** Takes one complete message from the buffer. @returns true if another may follow */
  #takeMessage(): boolean {
    const skipped = Math.min(this.#skip, this.#buffer.length);
    this.#skip -= skipped;
    this.#buffer = this.#buffer.subarray(skipped);
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end < 0 || end > HEADER_LIMIT) {
      if (this.#buffer.length <= HEADER_LIMIT) return false;
      this.#sink.broken(`A header has more than ${HEADER_LIMIT} bytes.`);
      this.#buffer = Buffer.alloc(0);
      return false;
    }
    const header = this.#buffer.toString('latin1', 0, end);
    const stated = /^content-length:\s*(\d{1,10})\s*$/im.exec(header)?.[1];
    const [length, body] = [Number(stated ?? 0), end + 4];
    if (stated === undefined || length > MESSAGE_LIMIT) {
      this.#sink.broken(stated === undefined ? 'A header has no Content-Length.' : TOO_LONG);
      this.#skip = length;
      this.#buffer = this.#buffer.subarray(body);
      return true;
    }
    if (this.#buffer.length < body + length) return false;
    const text = this.#buffer.toString('utf8', body, body + length);
    this.#buffer = this.#buffer.subarray(body + length);
    this.#sink.message(text);
    return true;
  }
}

function kindOf(bytes: Buffer): 'unknown' | 'lines' | 'headers' {
  const start = bytes.toString('latin1').trimStart().slice(0, HEADER.length).toLowerCase();
  if (start === HEADER) return 'headers';
  // Still undecided after leading blanks or part of the header's name.
  return bytes.length <= HEADER_LIMIT && HEADER.startsWith(start) ? 'unknown' : 'lines';
}
